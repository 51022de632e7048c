package testkit

import (
	"context"
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Life is a small studio for random tests: three people with five credits each, a partner, two carts and three
// sessions.
type Life struct {
	*Studio
	People   []tenant.Caller
	packs    []credit.Subscription
	gateway  tenant.Caller
	cart     booking.Item
	Sessions []tenant.SessionID
	Statuses map[tenant.BookingID]booking.Status // of each booking, as the last answer said
	Callers  map[tenant.BookingID]tenant.Caller
	made     []tenant.BookingID // in order, so that only rapid decides what is drawn
}

// LifeCredits is the balance of each subscription at the start.
const LifeCredits = 5

// NewLife creates what the actions need in a studio.
func NewLife(s *Studio) *Life {
	s.Clock.Set(Noon)
	l := &Life{
		Studio: s, gateway: s.AddPartner("Gateway"), cart: s.AddItem("Cart", 2, nil),
		Statuses: make(map[tenant.BookingID]booking.Status), Callers: make(map[tenant.BookingID]tenant.Caller),
	}
	pack := s.AddPlan(credit.Plan{Kind: credit.Credits, Credits: LifeCredits, DailyLimit: new(2)})
	for i := range 3 {
		l.People = append(l.People, s.AddMember(fmt.Sprint("Member ", i)))
		l.packs = append(l.packs, s.Subscribe(l.People[i], pack))
	}
	for i, starts := range []time.Duration{3 * time.Hour, 30 * time.Hour, 31 * time.Hour} { // the first is past its window
		l.Sessions = append(l.Sessions, s.AddSession(Session{Starts: Noon.Add(starts), Capacity: 3, Waitlist: i % 2}))
	}
	return l
}

// Actions are what can happen. Each draws its arguments and records the answer.
func (l *Life) Actions() map[string]func(*rapid.T) error {
	ctx := context.Background()
	session := func(t *rapid.T) tenant.SessionID { return Pick(t, "session", l.Sessions) }
	person := func(t *rapid.T) tenant.Caller { return Pick(t, "person", l.People) }
	party := func(t *rapid.T) int { return rapid.IntRange(1, 2).Draw(t, "party") }
	items := func(t *rapid.T) []booking.ItemChoice {
		if n := rapid.IntRange(0, 2).Draw(t, "carts"); n > 0 {
			return []booking.ItemChoice{{Item: l.cart.ID, Quantity: n}}
		}
		return nil
	}
	place := func(who tenant.Caller, p seats.Result, err error) error {
		if err == nil && p.Booking != nil {
			l.Record(*p.Booking)
			l.Callers[p.Booking.ID] = who
		}
		return err
	}
	// some is an action on one of the bookings, by its owner or by staff.
	type act func(t *rapid.T, by tenant.Caller, id tenant.BookingID) (booking.Booking, error)
	some := func(do act) func(*rapid.T) error {
		return func(t *rapid.T) error {
			if len(l.made) == 0 {
				return nil
			}
			id := Pick(t, "booking", l.made)
			by := SelfOnly(l.Callers[id])
			if rapid.Bool().Draw(t, "staff") {
				by = l.Owner
			}
			b, err := do(t, by, id)
			if err == nil {
				l.Record(b)
			}
			return err
		}
	}
	held := func(p seats.Result, err error) (booking.Booking, error) {
		if err != nil {
			return booking.Booking{}, err
		}
		return *p.Booking, nil
	}
	return map[string]func(*rapid.T) error{
		"book": func(t *rapid.T) error {
			who := person(t)
			r := bookings.BookRequest{Session: session(t), Party: party(t), Channel: catalog.Online}
			p, err := l.App.Bookings.Book(ctx, who, r)
			return place(who, p, err)
		},
		"hold": func(t *rapid.T) error {
			who := person(t)
			r := bookings.BookRequest{Session: session(t), Party: party(t), Channel: catalog.Online, Hold: true, Items: items(t)}
			p, err := l.App.Bookings.Book(ctx, who, r)
			return place(who, p, err)
		},
		"hold for a guest": func(t *rapid.T) error {
			r := bookings.BookRequest{Session: session(t), Party: party(t), Channel: catalog.Online, Hold: true, Items: items(t)}
			ForGuest("Pat", "")(&r)
			p, err := l.App.Bookings.Book(ctx, l.gateway, r)
			return place(l.gateway, p, err)
		},
		"confirm": some(func(t *rapid.T, by tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
			r := bookings.ConfirmRequest{ID: id}
			if rapid.Bool().Draw(t, "money") {
				r.Paid = FiftyEuros
				if !by.Member.IsZero() { // members do not record what they pay
					by = l.Owner
				}
			}
			if rapid.Bool().Draw(t, "no items") {
				r.Keep = []tenant.ItemLineID{}
			}
			return held(l.App.Bookings.ConfirmBooking(ctx, by, r))
		}),
		"release": some(func(_ *rapid.T, by tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
			return held(l.App.Bookings.ReleaseHold(ctx, by, id))
		}),
		"cancel": some(func(_ *rapid.T, by tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
			result, err := l.App.Bookings.CancelBooking(ctx, by, bookings.CancelRequest{ID: id, OverrideWindow: !by.SelfOnly})
			return held(result.Result, err)
		}),
		"reschedule": some(func(t *rapid.T, by tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
			r := bookings.RescheduleRequest{ID: id, To: session(t), MoveItems: rapid.Bool().Draw(t, "with items")}
			moved, err := l.App.Bookings.RescheduleBooking(ctx, by, r)
			return held(moved.Result, err)
		}),
		"no-show": some(func(_ *rapid.T, _ tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
			return l.App.Bookings.MarkNoShow(ctx, l.Coach, id)
		}),
		"undo no-show": some(func(_ *rapid.T, _ tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
			return l.App.Bookings.UndoNoShow(ctx, l.Coach, id)
		}),
		"time goes by": func(t *rapid.T) error {
			steps := []time.Duration{4 * time.Minute, 10 * time.Minute, 4 * time.Hour, 26 * time.Hour}
			l.Clock.Advance(rapid.SampledFrom(steps).Draw(t, "by"))
			return nil
		},
		"holds expire": func(*rapid.T) error {
			_, err := l.App.Waitlists.ExpireHolds(ctx, l.Tenant)
			return err
		},
	}
}

// Pick draws one of several by its index, which says more in a report than an id.
func Pick[T any](t *rapid.T, label string, of []T) T {
	return of[rapid.IntRange(0, len(of)-1).Draw(t, label)]
}

// Record records the answer about a booking.
func (l *Life) Record(b booking.Booking) {
	if _, known := l.Statuses[b.ID]; !known {
		l.made = append(l.made, b.ID)
	}
	l.Statuses[b.ID] = b.Status
}

// WantSound fails the test if an invariant is violated.
func (l *Life) WantSound(t *rapid.T, after string) {
	violations := expect.Value(l.App.Housekeeping.Verify(context.Background(), l.Tenant))(t)
	for _, v := range violations {
		t.Errorf("after %s: %s: %s: %s", after, v.Check, v.Row, v.Detail)
	}
	if len(violations) > 0 {
		t.FailNow()
	}
}

// End takes attendance back, cancels all bookings and sessions, and refunds what was lost by cancelling late.
func (l *Life) End(t *rapid.T) {
	ctx := context.Background()
	cancel := func(id tenant.BookingID) {
		_, err := l.App.Bookings.CancelBooking(ctx, l.Owner, bookings.CancelRequest{ID: id, OverrideWindow: true})
		must.True(t, err == nil || fault.ReasonOf(err) == fault.BookingState, must.Sprint(err))
	}
	for _, id := range l.made {
		_, err := l.App.Bookings.UndoCheckIn(ctx, l.Owner, id)
		reason := fault.ReasonOf(err)
		must.True(t, err == nil || reason == fault.NotConfirmed || reason == fault.BookingGone, must.Sprint(err))
		cancel(id)
	}
	for _, id := range l.made {
		if _, err := l.App.Bookings.UndoNoShow(ctx, l.Owner, id); err == nil {
			cancel(id)
		}
	}
	for _, id := range l.Sessions {
		expect.OK(t)(l.App.Schedules.CancelSession(ctx, l.Owner, id, schedules.Removal{IncludeEnded: true}))
	}
	for _, id := range l.made {
		_, _, err := l.App.Accounts.RefundCredit(ctx, l.Owner, id, "the end")
		must.False(t, err != nil && fault.ReasonOf(err) != fault.NothingToRefund, must.Sprint(err))
	}
}

// WantNothingTaken fails the test if a seat, an item or a credit is still in use.
func (l *Life) WantNothingTaken(t *rapid.T) {
	for what, sql := range map[string]string{ //nolint:gosec // no credential: it counts credits
		"seats": `select coalesce(sum(seats_taken + holds + waiting), 0) from sessions where tenant_id = $1`,
		"items": `select count(*) from booking_items where tenant_id = $1 and status <> 'CANCELLED'`,
		"places": `select count(*) from bookings
			where tenant_id = $1 and status in ('PENDING', 'CONFIRMED', 'ATTENDED')`,
		"counted": `select coalesce(sum(used), 0) from usage where tenant_id = $1`,
		"credits": `select coalesce(sum(credits), 0) from bookings where tenant_id = $1`,
		"missing credit": fmt.Sprintf(
			`select count(*) from subscriptions where tenant_id = $1 and balance <> %d`, LifeCredits),
	} {
		test.EqOp(t, 0, l.Count(sql, l.Tenant), test.Sprint(what))
	}
}
