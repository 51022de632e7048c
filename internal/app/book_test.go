package app_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

func TestBookTakesASeatAndACredit(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia := h.member("Mia")
	pack := h.subscribe(mia, h.plan(credit.Plan{Kind: credit.Credits, Credits: 10}))
	class := h.session(slot{})

	id := h.mustBook(mia, class)

	b, err := h.app.GetBooking(context.Background(), own(mia), id)
	if err != nil {
		t.Fatal(err)
	}
	if b.Status != booking.Confirmed || b.Credits != 1 || b.Subscription != pack.ID || b.MemberName != "Mia" || b.Party != 1 {
		t.Errorf("booking is %+v", b)
	}
	if got := h.balance(pack); got != 9 {
		t.Errorf("balance %d, want 9", got)
	}
	h.wantSound()
}

func TestBookRefusals(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia := h.member("Mia")
	online := app.BookRequest{Party: 1, Channel: catalog.Online}
	ask := func(r app.BookRequest, session tenant.SessionID) app.BookRequest {
		r.Session = session
		return r
	}
	h.exec(`insert into policies (tenant_id, level, scope_id, booking_closes_seconds, updated_at) values ($1, 'LOCATION', $2, 3600, $3)`, h.Tenant, h.Location, noon)
	h.exec(`update locations set channels = '{ONLINE,WALK_IN}' where id = $1`, h.Location)
	deleted := h.session(slot{})
	h.exec(`update sessions set deleted_at = $2 where id = $1`, deleted, noon)

	for name, tt := range map[string]struct {
		as     tenant.Caller
		ask    app.BookRequest
		reason fault.Reason
		state  string
	}{
		"no such session":             {mia, ask(online, newID[tenant.SessionID]()), fault.SessionNotFound, ""},
		"deleted session":             {mia, ask(online, deleted), fault.SessionNotFound, ""},
		"draft":                       {mia, ask(online, h.session(slot{State: catalog.Draft})), fault.SessionNotOpen, "draft"},
		"cancelled":                   {mia, ask(online, h.session(slot{State: catalog.Cancelled})), fault.SessionNotOpen, "cancelled"},
		"blocked":                     {mia, ask(online, h.session(slot{Blocked: true})), fault.SessionNotOpen, "blocked"},
		"started":                     {mia, ask(online, h.session(slot{Starts: noon})), fault.SessionNotOpen, "started"},
		"closed an hour before":       {mia, ask(online, h.session(slot{Starts: noon.Add(time.Hour)})), fault.SessionNotOpen, "closed"},
		"too far ahead":               {mia, ask(online, h.session(slot{Starts: noon.Add(30*24*time.Hour + time.Second)})), fault.AdvanceWindow, ""},
		"channel off":                 {h.Owner, ask(app.BookRequest{Party: 1, Channel: catalog.Phone}, h.session(slot{})), fault.ChannelClosed, ""},
		"walk-in by a member":         {mia, ask(app.BookRequest{Party: 1, Channel: catalog.WalkIn}, h.session(slot{})), fault.ChannelClosed, ""},
		"party too large":             {mia, ask(app.BookRequest{Party: 5, Channel: catalog.Online}, h.session(slot{})), fault.PartySize, ""},
		"full without waitlist":       {mia, ask(app.BookRequest{Party: 2, Channel: catalog.Online}, h.session(slot{Capacity: 1})), fault.SessionFull, ""},
		"full, rather not wait":       {mia, ask(app.BookRequest{Party: 2, Channel: catalog.Online, NoWaitlist: true}, h.session(slot{Capacity: 1, Waitlist: 3})), fault.SessionFull, ""},
		"someone else's subscription": {mia, ask(app.BookRequest{Party: 1, Channel: catalog.Online, Subscription: newID[tenant.SubscriptionID]()}, h.session(slot{})), fault.SubscriptionNotFound, ""},
		"no such member":              {h.Owner, ask(app.BookRequest{Party: 1, Channel: catalog.Online, Member: newID[tenant.MemberID]()}, h.session(slot{})), fault.MemberNotFound, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := h.app.Book(context.Background(), tt.as, tt.ask)
			wantReason(t, err, tt.reason)
			if tt.state != "" && meta(t, err, "state") != tt.state {
				t.Errorf("state %q, want %q", meta(t, err, "state"), tt.state)
			}
			if n := h.count(`select count(*) from bookings where session_id = $1`, tt.ask.Session); n != 0 {
				t.Errorf("%d bookings were made", n)
			}
		})
	}
}

func TestAlreadyBookedForThisSession(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia, noa := h.member("Mia"), h.member("Noa")
	class := h.session(slot{Capacity: 1, Waitlist: 3})
	id := h.mustBook(mia, class)

	_, err := h.book(mia, class)
	wantReason(t, err, fault.AlreadyBooked)
	if got := meta(t, err, "booking_id"); got != id.String() {
		t.Errorf("booking_id %q, want %s", got, id)
	}
	entry := h.mustWait(noa, class)
	_, err = h.book(noa, class)
	wantReason(t, err, fault.AlreadyBooked)
	if got := meta(t, err, "entry_id"); got != entry.String() {
		t.Errorf("entry_id %q, want %s", got, entry)
	}

	// With a seat left, too, where a party does not fit: whoever has a place waits for no other.
	two := h.session(slot{Capacity: 2, Waitlist: 3})
	id = h.mustBook(mia, two)
	_, err = h.app.Book(context.Background(), mia, app.BookRequest{Session: two, Party: 2, Channel: catalog.Online})
	wantReason(t, err, fault.AlreadyBooked)
	if got := meta(t, err, "booking_id"); got != id.String() {
		t.Errorf("booking_id %q, want %s", got, id)
	}

	// Nor does it matter that their last credit is gone.
	zoe := h.member("Zoe")
	h.subscribe(zoe, h.plan(credit.Plan{Kind: credit.Credits, Credits: 1}))
	roomy := h.session(slot{Starts: noon.Add(80 * time.Hour)})
	id = h.mustBook(zoe, roomy)
	_, err = h.book(zoe, roomy)
	wantReason(t, err, fault.AlreadyBooked)
	if got := meta(t, err, "booking_id"); got != id.String() {
		t.Errorf("booking_id %q, want %s", got, id)
	}

	// On a plan that forbids overlaps, too.
	h.subscribe(mia, h.plan(credit.Plan{Kind: credit.Unlimited}))
	open := h.session(slot{Starts: noon.Add(72 * time.Hour)})
	id = h.mustBook(mia, open)
	_, err = h.book(mia, open)
	wantReason(t, err, fault.AlreadyBooked)
	if got := meta(t, err, "booking_id"); got != id.String() {
		t.Errorf("booking_id %q, want %s", got, id)
	}
	h.wantSound()
}

// A cancelled booking does not stand in the way of another.
func TestBookAgainAfterCancelling(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia := h.member("Mia")
	class := h.session(slot{})
	if _, err := h.cancel(mia, h.mustBook(mia, class)); err != nil {
		t.Fatal(err)
	}
	h.mustBook(mia, class)
	h.wantSound()
}

func TestWhichSubscriptionPays(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	pack := h.plan(credit.Plan{Kind: credit.Credits, Credits: 1})
	unlimited := h.plan(credit.Plan{Kind: credit.Unlimited})
	course := h.plan(credit.Plan{Kind: credit.Course})

	t.Run("none, and the tenant takes no payments: booked without accounting", func(t *testing.T) {
		t.Parallel()
		mia := h.member("Mia")
		b, err := h.app.GetBooking(context.Background(), own(mia), h.mustBook(mia, h.session(slot{})))
		if err != nil || !b.Subscription.IsZero() || b.Credits != 0 {
			t.Errorf("booking is %+v (%v)", b, err)
		}
	})
	t.Run("several: one must be named", func(t *testing.T) {
		t.Parallel()
		mia := h.member("Mia")
		one, two := h.subscribe(mia, pack), h.subscribe(mia, unlimited)
		class := h.session(slot{})
		_, err := h.book(mia, class)
		wantReason(t, err, fault.PlanChoiceRequired)
		if got := meta(t, err, "subscription_ids"); !strings.Contains(got, one.ID.String()) || !strings.Contains(got, two.ID.String()) {
			t.Errorf("subscription_ids %q", got)
		}
		if _, err := h.app.Book(context.Background(), mia, app.BookRequest{Session: class, Party: 1, Channel: catalog.Online, Subscription: two.ID}); err != nil {
			t.Fatal(err)
		}
		if got := h.balance(one); got != 1 {
			t.Errorf("the other's balance is %d", got)
		}
	})
	t.Run("unlimited moves no credits", func(t *testing.T) {
		t.Parallel()
		mia := h.member("Mia")
		s := h.subscribe(mia, unlimited)
		h.mustBook(mia, h.session(slot{}))
		if n := h.count(`select count(*) from credit_entries where subscription_id = $1`, s.ID); n != 0 {
			t.Errorf("%d ledger lines", n)
		}
	})
	t.Run("a course is never picked, nor taken when named", func(t *testing.T) {
		t.Parallel()
		mia := h.member("Mia")
		c := h.subscribe(mia, course)
		one := h.subscribe(mia, pack)
		h.mustBook(mia, h.session(slot{}))
		if got := h.balance(one); got != 0 {
			t.Errorf("the pack's balance is %d, so something else paid", got)
		}
		_, err := h.app.Book(context.Background(), mia, app.BookRequest{
			Session: h.session(slot{}), Party: 1, Channel: catalog.Online, Subscription: c.ID})
		wantReason(t, err, fault.NoActivePlan)
	})
	t.Run("debt", func(t *testing.T) {
		t.Parallel()
		mia := h.member("Mia")
		s := h.subscribe(mia, unlimited)
		if _, err := h.app.SetSubscriptionStatus(context.Background(), h.Owner, s.ID, credit.Debt, "unpaid"); err != nil {
			t.Fatal(err)
		}
		_, err := h.book(mia, h.session(slot{}))
		wantReason(t, err, fault.OutstandingBalance)
	})
	t.Run("no credits remaining", func(t *testing.T) {
		t.Parallel()
		mia := h.member("Mia")
		h.subscribe(mia, pack)
		h.mustBook(mia, h.session(slot{}))
		_, err := h.book(mia, h.session(slot{Starts: noon.Add(50 * time.Hour)}))
		wantReason(t, err, fault.NoCredits)
	})
	t.Run("staff bypass credits", func(t *testing.T) {
		t.Parallel()
		mia := h.member("Mia")
		s := h.subscribe(mia, pack)
		if _, err := h.app.Book(context.Background(), h.Coach, app.BookRequest{
			Session: h.session(slot{}), Member: mia.Member, Party: 1, Channel: catalog.Phone}); err != nil {
			t.Fatal(err)
		}
		if got := h.balance(s); got != 1 {
			t.Errorf("balance %d, want 1", got)
		}
	})
	t.Run("staff who name a subscription book on it", func(t *testing.T) {
		t.Parallel()
		mia := h.member("Mia")
		s := h.subscribe(mia, pack)
		if _, err := h.app.Book(context.Background(), h.Coach, app.BookRequest{
			Session: h.session(slot{}), Member: mia.Member, Party: 1, Channel: catalog.Phone, Subscription: s.ID}); err != nil {
			t.Fatal(err)
		}
		if got := h.balance(s); got != 0 {
			t.Errorf("balance %d, want 0", got)
		}
	})
}

func TestNoActivePlanWhereTheTenantTakesPayments(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.exec(`update tenants set takes_payments = true where tenant_id = $1`, h.Tenant)
	mia := h.member("Mia")
	_, err := h.book(mia, h.session(slot{}))
	wantReason(t, err, fault.NoActivePlan)

	paused := h.subscribe(mia, h.plan(credit.Plan{Kind: credit.Unlimited}))
	if _, err := h.app.SetSubscriptionStatus(context.Background(), h.Owner, paused.ID, credit.Paused, ""); err != nil {
		t.Fatal(err)
	}
	_, err = h.book(mia, h.session(slot{}))
	wantReason(t, err, fault.NoActivePlan)
}

// Staff bypass credits and quotas, never capacity.
func TestStaffDoNotBypassCapacity(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	class := h.session(slot{Capacity: 1})
	h.mustBook(h.member("Mia"), class)
	_, err := h.book(h.Owner, class)
	wantReason(t, err, fault.SessionFull)
}

func TestQuotasCountLocalDaysAndWeeks(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	berlin, _ := time.LoadLocation("Europe/Berlin")
	at := func(day, hour, minute int) tenant.SessionID {
		return h.session(slot{Starts: time.Date(2026, 3, day, hour, minute, 0, 0, berlin), Minutes: 20})
	}
	t.Run("day", func(t *testing.T) {
		t.Parallel()
		mia := h.member("Mia")
		h.subscribe(mia, h.plan(credit.Plan{Kind: credit.Unlimited, DailyLimit: new(2)}))
		h.mustBook(mia, at(18, 0, 15)) // still the 17th in UTC
		second := h.mustBook(mia, at(18, 23, 30))
		third := at(18, 12, 0)
		_, err := h.book(mia, third)
		wantReason(t, err, fault.DailyLimit)
		if meta(t, err, "limit") != "2" || meta(t, err, "date") != "2026-03-18" {
			t.Errorf("metadata of %v", err)
		}
		h.mustBook(mia, at(19, 0, 15))
		if _, err := h.cancel(mia, second); err != nil {
			t.Fatal(err)
		}
		h.mustBook(mia, third)
	})
	t.Run("week", func(t *testing.T) {
		t.Parallel()
		mia := h.member("Mia")
		h.subscribe(mia, h.plan(credit.Plan{Kind: credit.Unlimited, WeeklyLimit: new(2)}))
		h.mustBook(mia, at(17, 10, 0)) // Tuesday
		h.mustBook(mia, at(22, 23, 0)) // Sunday
		_, err := h.book(mia, at(20, 10, 0))
		wantReason(t, err, fault.WeeklyLimit)
		if meta(t, err, "limit") != "2" || meta(t, err, "week") != "2026-03-16" {
			t.Errorf("metadata of %v", err)
		}
		h.mustBook(mia, at(23, 0, 10)) // Monday, still Sunday in UTC
	})
	t.Run("a limit set later counts what is there", func(t *testing.T) {
		t.Parallel()
		mia := h.member("Mia")
		p := h.plan(credit.Plan{Kind: credit.Unlimited})
		h.subscribe(mia, p)
		first := h.mustBook(mia, at(18, 10, 0))
		if _, err := h.app.UpdatePlan(context.Background(), h.Owner, p.ID, nil, func(p *credit.Plan) error {
			p.DailyLimit = new(1)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		again := at(18, 11, 0)
		_, err := h.book(mia, again)
		wantReason(t, err, fault.DailyLimit)
		if _, err := h.cancel(mia, first); err != nil {
			t.Fatal(err)
		}
		h.mustBook(mia, again)
	})
	t.Cleanup(h.wantSound)
}

func TestOverlapIsRefusedUnlessThePlanAllowsIt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	strict := h.plan(credit.Plan{Kind: credit.Unlimited})
	lax := h.plan(credit.Plan{Kind: credit.Unlimited, AllowOverlap: true})
	start := noon.Add(48 * time.Hour)

	mia := h.member("Mia")
	h.subscribe(mia, strict)
	h.mustBook(mia, h.session(slot{Starts: start}))
	_, err := h.book(mia, h.session(slot{Starts: start.Add(59 * time.Minute)}))
	wantReason(t, err, fault.Overlap)
	h.mustBook(mia, h.session(slot{Starts: start.Add(time.Hour)})) // back to back is no overlap

	noa := h.member("Noa")
	h.subscribe(noa, lax)
	h.mustBook(noa, h.session(slot{Starts: start}))
	h.mustBook(noa, h.session(slot{Starts: start}))
	h.wantSound()
}

func TestExternalRef(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia := h.member("Mia")
	class := h.session(slot{Capacity: 1, Waitlist: 2})
	ask := app.BookRequest{Session: class, Party: 1, Channel: catalog.Online, ExternalRef: "order-1"}
	ctx := context.Background()

	first, err := h.app.Book(ctx, mia, ask)
	if err != nil || first.Repeated {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := h.app.Book(ctx, mia, ask)
	if err != nil || !again.Repeated || again.Booking.ID != first.Booking.ID {
		t.Fatalf("%+v, %v", again, err)
	}
	other := ask
	other.Note = "by the window"
	_, err = h.app.Book(ctx, mia, other)
	wantReason(t, err, fault.ExternalRefConflict)

	// The reference of an entry goes over to its booking.
	noa := h.member("Noa")
	wait := app.BookRequest{Session: class, Party: 1, Channel: catalog.Online, ExternalRef: "order-2"}
	waits, err := h.app.Book(ctx, noa, wait)
	if err != nil || waits.Entry == nil {
		t.Fatalf("%+v, %v", waits, err)
	}
	if again, err := h.app.Book(ctx, noa, wait); err != nil || !again.Repeated || again.Entry.ID != waits.Entry.ID {
		t.Fatalf("%+v, %v", again, err)
	}
	if _, err := h.cancel(mia, first.Booking.ID); err != nil {
		t.Fatal(err)
	}
	if again, err := h.app.Book(ctx, noa, wait); err != nil || !again.Repeated || again.Booking == nil {
		t.Fatalf("%+v, %v", again, err)
	}

	// In another tenant the same reference means something else.
	there := h.another()
	leo := there.member("Leo")
	ask.Session = there.session(slot{})
	if place, err := there.app.Book(ctx, leo, ask); err != nil || place.Repeated {
		t.Fatalf("%+v, %v", place, err)
	}
	h.wantSound()
}

func TestTheSameExternalRefAtTheSameMomentMakesOneBooking(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia := h.member("Mia")
	ask := app.BookRequest{Session: h.session(slot{}), Party: 1, Channel: catalog.Online, ExternalRef: "order-1"}
	ids := make([]tenant.BookingID, 20)
	together(len(ids), func(i int) {
		place, err := h.app.Book(context.Background(), mia, ask)
		if err != nil {
			t.Errorf("%d: %v", i, err)
			return
		}
		ids[i] = place.Booking.ID
	})
	for _, id := range ids {
		if id != ids[0] {
			t.Errorf("%s and %s", id, ids[0])
		}
	}
	h.wantSound()
}

// together runs n functions at once.
func together(n int, do func(i int)) {
	var start, done sync.WaitGroup
	start.Add(1)
	for i := range n {
		done.Go(func() {
			start.Wait()
			do(i)
		})
	}
	start.Done()
	done.Wait()
}

func TestTheLastSeatGoesToOne(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	const seats, people = 3, 60
	class := h.session(slot{Capacity: seats})
	members := make([]tenant.Caller, people)
	for i := range members {
		members[i] = h.member(fmt.Sprintf("Member %d", i))
	}
	outcomes := make([]string, people)
	together(people, func(i int) {
		_, err := h.book(members[i], class)
		outcomes[i] = string(fault.ReasonOf(err))
		if err != nil && outcomes[i] == "" {
			t.Errorf("%d: %v", i, err)
		}
	})
	got := strings.Count(strings.Join(outcomes, ",")+",", ",") - strings.Count(strings.Join(outcomes, " "), "SESSION_FULL")
	if got != seats {
		t.Errorf("%d of %d got one of %d seats: %v", got, people, seats, outcomes)
	}
	h.wantSound()
}

// Book one's last credit in two sessions at the same moment.
func TestTheLastCreditBooksOneSession(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia := h.member("Mia")
	pack := h.subscribe(mia, h.plan(credit.Plan{Kind: credit.Credits, Credits: 1, AllowOverlap: true}))
	classes := make([]tenant.SessionID, 10)
	for i := range classes {
		classes[i] = h.session(slot{})
	}
	booked := make([]bool, len(classes))
	together(len(classes), func(i int) {
		_, err := h.book(mia, classes[i])
		booked[i] = err == nil
		if err != nil {
			wantReason(t, err, fault.NoCredits)
		}
	})
	n := 0
	for _, b := range booked {
		if b {
			n++
		}
	}
	if n != 1 || h.balance(pack) != 0 {
		t.Errorf("%d sessions booked with one credit, balance %d", n, h.balance(pack))
	}
	h.wantSound()
}
