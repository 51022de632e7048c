package app_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// Whatever people do with their bookings, and in whatever order: each act answers with what is so afterwards, every invariant
// holds after each, and once all is over every seat, item, credit and count against a limit is back.
func TestAnyLifeKeepsTheInvariants(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	rapid.Check(t, func(rt *rapid.T) {
		l := newLife(h.another())
		acts := l.acts()
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(slices.Sorted(maps.Keys(acts))), 6, 24).Draw(rt, "acts") {
			err := acts[name](rt)
			if f := faultOf(err); err != nil && (f == nil || f.Kind == fault.Internal || f.Kind == fault.Unavailable) {
				rt.Fatalf("%s: %v", name, err)
			}
			l.wantSound(rt, name)
		}
		l.wantStatuses(rt)
		l.end(rt)
		l.wantSound(rt, "the end")
		l.wantNothingTaken(rt)
	})
}

// life is a small tenant of its own: three people with five credits each, a partner, two carts and three sessions.
type life struct {
	*house
	people   []tenant.Caller
	packs    []credit.Subscription
	gateway  tenant.Caller
	cart     booking.Item
	sessions []tenant.SessionID
	told     map[tenant.BookingID]booking.Status // what the last answer about each said
	who      map[tenant.BookingID]tenant.Caller
	made     []tenant.BookingID // in order, so that what is drawn does not depend on chance
}

const credits = 5

func newLife(h *house) *life {
	h.clock.Set(noon)
	l := &life{
		house: h, gateway: h.partner("Gateway"), cart: h.item("Cart", 2, nil),
		told: make(map[tenant.BookingID]booking.Status), who: make(map[tenant.BookingID]tenant.Caller),
	}
	pack := h.plan(credit.Plan{Kind: credit.Credits, Credits: credits, DailyLimit: new(2)})
	for i := range 3 {
		l.people = append(l.people, h.member(fmt.Sprint("Member ", i)))
		l.packs = append(l.packs, h.subscribe(l.people[i], pack))
	}
	for i, starts := range []time.Duration{3 * time.Hour, 30 * time.Hour, 31 * time.Hour} { // the first is past its window
		l.sessions = append(l.sessions, h.session(slot{Starts: noon.Add(starts), Capacity: 3, Waitlist: i % 2}))
	}
	return l
}

// acts are what may happen. Each draws what it is about, and keeps what it was told.
func (l *life) acts() map[string]func(*rapid.T) error {
	ctx := context.Background()
	session := func(t *rapid.T) tenant.SessionID { return one(t, "session", l.sessions) }
	person := func(t *rapid.T) tenant.Caller { return one(t, "person", l.people) }
	party := func(t *rapid.T) int { return rapid.IntRange(1, 2).Draw(t, "party") }
	items := func(t *rapid.T) []booking.Choice {
		if n := rapid.IntRange(0, 2).Draw(t, "carts"); n > 0 {
			return []booking.Choice{{Item: l.cart.ID, Quantity: n}}
		}
		return nil
	}
	place := func(who tenant.Caller, p seats.Place, err error) error {
		if err == nil && p.Booking != nil {
			l.tell(*p.Booking)
			l.who[p.Booking.ID] = who
		}
		return err
	}
	// some is an act on one of the bookings there are, by whose it is or by staff.
	some := func(act func(t *rapid.T, by tenant.Caller, id tenant.BookingID) (booking.Booking, error)) func(*rapid.T) error {
		return func(t *rapid.T) error {
			if len(l.made) == 0 {
				return nil
			}
			id := one(t, "booking", l.made)
			by := own(l.who[id])
			if rapid.Bool().Draw(t, "staff") {
				by = l.Owner
			}
			b, err := act(t, by, id)
			if err == nil {
				l.tell(b)
			}
			return err
		}
	}
	held := func(p seats.Place, err error) (booking.Booking, error) {
		if err != nil {
			return booking.Booking{}, err
		}
		return *p.Booking, nil
	}
	return map[string]func(*rapid.T) error{
		"book": func(t *rapid.T) error {
			who := person(t)
			p, err := l.app.Book(ctx, who, app.BookRequest{Session: session(t), Party: party(t), Channel: catalog.Online})
			return place(who, p, err)
		},
		"hold": func(t *rapid.T) error {
			who := person(t)
			p, err := l.app.Book(ctx, who, app.BookRequest{Session: session(t), Party: party(t), Channel: catalog.Online, Hold: true, Items: items(t)})
			return place(who, p, err)
		},
		"hold for a guest": func(t *rapid.T) error {
			r := app.BookRequest{Session: session(t), Party: party(t), Channel: catalog.Online, Hold: true, Items: items(t)}
			guest("Pat", "")(&r)
			p, err := l.app.Book(ctx, l.gateway, r)
			return place(l.gateway, p, err)
		},
		"confirm": some(func(t *rapid.T, by tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
			r := app.ConfirmRequest{ID: id}
			if rapid.Bool().Draw(t, "money") {
				r.Paid = fifty
			}
			if rapid.Bool().Draw(t, "no items") {
				r.Keep = []tenant.LineID{}
			}
			return held(l.app.ConfirmBooking(ctx, by, r))
		}),
		"release": some(func(_ *rapid.T, by tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
			return held(l.app.ReleaseHold(ctx, by, id))
		}),
		"cancel": some(func(_ *rapid.T, by tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
			up, err := l.app.CancelBooking(ctx, by, app.CancelRequest{ID: id})
			return held(up.Place, err)
		}),
		"reschedule": some(func(t *rapid.T, by tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
			moved, err := l.app.RescheduleBooking(ctx, by, app.RescheduleRequest{ID: id, To: session(t), MoveItems: rapid.Bool().Draw(t, "with items")})
			return held(moved.Place, err)
		}),
		"no-show": some(func(_ *rapid.T, _ tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
			return l.app.MarkNoShow(ctx, l.Coach, id)
		}),
		"undo no-show": some(func(_ *rapid.T, _ tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
			return l.app.UndoNoShow(ctx, l.Coach, id)
		}),
		"time goes by": func(t *rapid.T) error {
			by := rapid.SampledFrom([]time.Duration{4 * time.Minute, 10 * time.Minute, 4 * time.Hour, 26 * time.Hour}).Draw(t, "by")
			l.clock.Set(l.clock.Now().Add(by))
			return nil
		},
		"holds expire": func(*rapid.T) error {
			_, err := l.app.ExpireHolds(ctx, l.Tenant)
			return err
		},
	}
}

// one draws one of several by its number, which says more in a report than an id.
func one[T any](t *rapid.T, label string, of []T) T {
	return of[rapid.IntRange(0, len(of)-1).Draw(t, label)]
}

func (l *life) tell(b booking.Booking) {
	if _, known := l.told[b.ID]; !known {
		l.made = append(l.made, b.ID)
	}
	l.told[b.ID] = b.Status
}

func (l *life) wantSound(t *rapid.T, after string) {
	violations, err := l.app.Verify(context.Background(), l.Tenant)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range violations {
		t.Errorf("after %s: %s: %s: %s", after, v.Check, v.Row, v.Detail)
	}
	if len(violations) > 0 {
		t.FailNow()
	}
}

// wantStatuses fails where a booking is not what the last answer about it said. A hold may have run out since.
func (l *life) wantStatuses(t *rapid.T) {
	for id, told := range l.told {
		if is := booking.Status(l.status(id)); is != told && (told != booking.Pending || is != booking.Expired) {
			t.Errorf("%s is %s, and was said to be %s", id, is, told)
		}
	}
}

// end calls everything off, and gives back what was lost by being late.
func (l *life) end(t *rapid.T) {
	ctx := context.Background()
	for _, id := range l.sessions {
		if _, err := l.app.CancelSession(ctx, l.Owner, id, "", false); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range l.made {
		if _, _, err := l.app.RefundCredit(ctx, l.Owner, id, "the end"); err != nil && fault.ReasonOf(err) != fault.NothingToRefund {
			t.Fatal(err)
		}
	}
}

func (l *life) wantNothingTaken(t *rapid.T) {
	for what, sql := range map[string]string{
		"seats":          `select coalesce(sum(seats_taken + holds + waiting), 0) from sessions where tenant_id = $1`,
		"items":          `select count(*) from booking_items where tenant_id = $1 and status <> 'CANCELLED'`,
		"places":         `select count(*) from bookings where tenant_id = $1 and status in ('PENDING', 'CONFIRMED', 'ATTENDED')`,
		"counted":        `select coalesce(sum(used), 0) from usage where tenant_id = $1`,
		"credits":        `select coalesce(sum(credits), 0) from bookings where tenant_id = $1`,
		"missing credit": fmt.Sprintf(`select count(*) from subscriptions where tenant_id = $1 and balance <> %d`, credits),
	} {
		if n := l.count(sql, l.Tenant); n != 0 {
			t.Errorf("%s: %d", what, n)
		}
	}
}
