package app_test

import (
	"context"
	"slices"
	"testing"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/credit"
	"github.com/berthhq/berth/internal/store"
)

// wantSound fails unless every invariant holds for every tenant of the database.
func (h *house) wantSound() {
	h.t.Helper()
	for _, v := range h.violations() {
		h.t.Errorf("%s: %s: %s", v.Check, v.Row, v.Detail)
	}
}

// violations are what breaks an invariant in any tenant of the database.
func (h *house) violations() []app.Violation {
	h.t.Helper()
	ctx := context.Background()
	tenants, err := h.app.Tenants(ctx)
	if err != nil {
		h.t.Fatal(err)
	}
	if !slices.Contains(tenants, h.Tenant) {
		h.t.Fatalf("the directory %v lacks %s", tenants, h.Tenant)
	}
	var all []app.Violation
	for _, id := range tenants {
		found, err := h.app.Verify(ctx, id)
		if err != nil {
			h.t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}

// Each check finds what it is there for: a house without fault is spoilt in one way at a time.
func TestVerifyFindsEachKindOfDamage(t *testing.T) {
	t.Parallel()
	for check, damage := range map[string][]string{
		"seats taken are those of the bookings":                          {`update sessions set seats_taken = 0`},
		"no session has more seats taken than it has":                    {`alter table sessions drop constraint sessions_capacity`, `update sessions set seats_taken = 11`},
		"no active booking is in a session that is cancelled or deleted": {`update sessions set state = 'CANCELLED'`},
		"the span of a booking is that of its session":                   {`update bookings set ends_at = ends_at + interval '1 hour'`},
		"holds are the bookings that are pending":                        {`update sessions set holds = 1`},
		"items are out with bookings that are on": {
			`insert into items (tenant_id, id, location_id, name, stock, created_at, updated_at)
			 select tenant_id, id, id as location, 'Cart', 1, created_at, updated_at from locations`,
			`insert into booking_items (tenant_id, id, booking_id, line_id, item_id, number, status, out_from, out_until)
			 select b.tenant_id, b.id, b.id as booking, b.id as line, i.id, 1, 'CONFIRMED', b.starts_at, b.ends_at from bookings b, items i where b.status = 'CANCELLED'`,
		},
		"waiting entries are those of the queue":                         {`update waitlist_entries set status = 'EXPIRED' where status = 'WAITING'`},
		"nobody has two places in one session":                           {`update waitlist_entries e set member_id = b.member_id from bookings b where e.status = 'WAITING' and b.session_id = e.session_id and b.status = 'CONFIRMED'`},
		"balances are the sums of their ledgers":                         {`update subscriptions set balance = balance + 1`},
		"each line's balance is that of the line before plus its amount": {`update credit_entries set balance = balance + 1`},
		"a booking holds what its lines moved":                           {`update bookings set credits = 3 where credits = 1`},
		"unlimited and course plans move no credits":                     {`update plans set kind = 'UNLIMITED', credits = 0`},
		"no booking is on a course plan":                                 {`update plans set kind = 'COURSE', credits = 0`},
		"a cancellation in time has given its credits back":              {`update bookings set status = 'CANCELLED', cancelled_at = created_at where credits = 1`},
		"quotas count the bookings that count against them":              {`update usage set used = used + 1`},
		"every promotion stands in a decision":                           {`delete from decisions`},
		"whoever was promoted has a booking":                             {`update waitlist_entries set booking_id = gen_random_uuid() where status = 'BOOKED'`},
	} {
		t.Run(check, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			mia, noa, leo := h.member("Mia"), h.member("Noa"), h.member("Leo")
			h.subscribe(noa, h.plan(credit.Plan{Kind: credit.Credits, Credits: 5, WeeklyLimit: new(5)}))
			class := h.session(slot{Capacity: 1, Waitlist: 3})
			place := h.mustBook(mia, class)
			h.mustWait(noa, class)
			h.mustWait(leo, class)
			if _, err := h.cancel(mia, place); err != nil {
				t.Fatal(err)
			}
			h.wantSound()
			for _, sql := range damage {
				h.exec(sql)
			}
			violations, err := h.app.Verify(context.Background(), h.Tenant)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(violations, func(v app.Violation) bool { return v.Check == check }) {
				t.Errorf("not found among %+v", violations)
			}
		})
	}
	if n := len(store.Checks); n != 17 {
		t.Errorf("there are %d checks, and damage for 17", n)
	}
}
