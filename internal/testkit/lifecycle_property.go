package testkit

import (
	"context"
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// Life is a small tenant of its own: three people with five credits each, a partner, two carts and three sessions.
type Life struct {
	*House
	People   []tenant.Caller
	packs    []credit.Subscription
	gateway  tenant.Caller
	cart     booking.Item
	Sessions []tenant.SessionID
	Told     map[tenant.BookingID]booking.Status // what the last answer about each said
	Who      map[tenant.BookingID]tenant.Caller
	made     []tenant.BookingID // in order, so that what is drawn does not depend on chance
}

// Credits is the balance that a life begins with.
const Credits = 5

// NewLife makes the world of one random life.
func NewLife(h *House) *Life {
	h.Clock.Set(Noon)
	l := &Life{
		House: h, gateway: h.Partner("Gateway"), cart: h.Item("Cart", 2, nil),
		Told: make(map[tenant.BookingID]booking.Status), Who: make(map[tenant.BookingID]tenant.Caller),
	}
	pack := h.Plan(credit.Plan{Kind: credit.Credits, Credits: Credits, DailyLimit: new(2)})
	for i := range 3 {
		l.People = append(l.People, h.Member(fmt.Sprint("Member ", i)))
		l.packs = append(l.packs, h.Subscribe(l.People[i], pack))
	}
	for i, starts := range []time.Duration{3 * time.Hour, 30 * time.Hour, 31 * time.Hour} { // the first is past its window
		l.Sessions = append(l.Sessions, h.Session(Slot{Starts: Noon.Add(starts), Capacity: 3, Waitlist: i % 2}))
	}
	return l
}

// Acts are what may happen. Each draws what it is about, and keeps what it was told.
func (l *Life) Acts() map[string]func(*rapid.T) error {
	ctx := context.Background()
	session := func(t *rapid.T) tenant.SessionID { return One(t, "session", l.Sessions) }
	person := func(t *rapid.T) tenant.Caller { return One(t, "person", l.People) }
	party := func(t *rapid.T) int { return rapid.IntRange(1, 2).Draw(t, "party") }
	items := func(t *rapid.T) []booking.ItemChoice {
		if n := rapid.IntRange(0, 2).Draw(t, "carts"); n > 0 {
			return []booking.ItemChoice{{Item: l.cart.ID, Quantity: n}}
		}
		return nil
	}
	place := func(who tenant.Caller, p seats.Place, err error) error {
		if err == nil && p.Booking != nil {
			l.Tell(*p.Booking)
			l.Who[p.Booking.ID] = who
		}
		return err
	}
	// some is an act on one of the bookings there are, by whose it is or by staff.
	some := func(act func(t *rapid.T, by tenant.Caller, id tenant.BookingID) (booking.Booking, error)) func(*rapid.T) error {
		return func(t *rapid.T) error {
			if len(l.made) == 0 {
				return nil
			}
			id := One(t, "booking", l.made)
			by := Own(l.Who[id])
			if rapid.Bool().Draw(t, "staff") {
				by = l.Owner
			}
			b, err := act(t, by, id)
			if err == nil {
				l.Tell(b)
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
			p, err := l.App.Bookings.Book(ctx, who, bookings.BookRequest{Session: session(t), Party: party(t), Channel: catalog.Online})
			return place(who, p, err)
		},
		"hold": func(t *rapid.T) error {
			who := person(t)
			p, err := l.App.Bookings.Book(ctx, who, bookings.BookRequest{Session: session(t), Party: party(t), Channel: catalog.Online, Hold: true, Items: items(t)})
			return place(who, p, err)
		},
		"hold for a guest": func(t *rapid.T) error {
			r := bookings.BookRequest{Session: session(t), Party: party(t), Channel: catalog.Online, Hold: true, Items: items(t)}
			Guest("Pat", "")(&r)
			p, err := l.App.Bookings.Book(ctx, l.gateway, r)
			return place(l.gateway, p, err)
		},
		"confirm": some(func(t *rapid.T, by tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
			r := bookings.ConfirmRequest{ID: id}
			if rapid.Bool().Draw(t, "money") {
				r.Paid = Fifty
			}
			if rapid.Bool().Draw(t, "no items") {
				r.Keep = []tenant.LineID{}
			}
			return held(l.App.Bookings.ConfirmBooking(ctx, by, r))
		}),
		"release": some(func(_ *rapid.T, by tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
			return held(l.App.Bookings.ReleaseHold(ctx, by, id))
		}),
		"cancel": some(func(_ *rapid.T, by tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
			up, err := l.App.Bookings.CancelBooking(ctx, by, bookings.CancelRequest{ID: id})
			return held(up.Place, err)
		}),
		"reschedule": some(func(t *rapid.T, by tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
			moved, err := l.App.Bookings.RescheduleBooking(ctx, by, bookings.RescheduleRequest{ID: id, To: session(t), MoveItems: rapid.Bool().Draw(t, "with items")})
			return held(moved.Place, err)
		}),
		"no-show": some(func(_ *rapid.T, _ tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
			return l.App.Bookings.MarkNoShow(ctx, l.Coach, id)
		}),
		"undo no-show": some(func(_ *rapid.T, _ tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
			return l.App.Bookings.UndoNoShow(ctx, l.Coach, id)
		}),
		"time goes by": func(t *rapid.T) error {
			by := rapid.SampledFrom([]time.Duration{4 * time.Minute, 10 * time.Minute, 4 * time.Hour, 26 * time.Hour}).Draw(t, "by")
			l.Clock.Set(l.Clock.Now().Add(by))
			return nil
		},
		"holds expire": func(*rapid.T) error {
			_, err := l.App.Waitlists.ExpireHolds(ctx, l.Tenant)
			return err
		},
	}
}

// One draws one of several by its number, which says more in a report than an id.
func One[T any](t *rapid.T, label string, of []T) T {
	return of[rapid.IntRange(0, len(of)-1).Draw(t, label)]
}

// Tell logs a step.
func (l *Life) Tell(b booking.Booking) {
	if _, known := l.Told[b.ID]; !known {
		l.made = append(l.made, b.ID)
	}
	l.Told[b.ID] = b.Status
}

// WantSound fails if an invariant does not hold.
func (l *Life) WantSound(t *rapid.T, after string) {
	violations, err := l.App.Housekeeping.Verify(context.Background(), l.Tenant)
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

// End calls everything off, and gives back what was lost by being late.
func (l *Life) End(t *rapid.T) {
	ctx := context.Background()
	for _, id := range l.Sessions {
		if _, err := l.App.Schedules.CancelSession(ctx, l.Owner, id, "", false); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range l.made {
		if _, _, err := l.App.Accounts.RefundCredit(ctx, l.Owner, id, "the end"); err != nil && fault.ReasonOf(err) != fault.NothingToRefund {
			t.Fatal(err)
		}
	}
}

// WantNothingTaken fails if a seat, an item or a credit is still in use.
func (l *Life) WantNothingTaken(t *rapid.T) {
	for what, sql := range map[string]string{ //nolint:gosec // no credential: it counts credits
		"seats":          `select coalesce(sum(seats_taken + holds + waiting), 0) from sessions where tenant_id = $1`,
		"items":          `select count(*) from booking_items where tenant_id = $1 and status <> 'CANCELLED'`,
		"places":         `select count(*) from bookings where tenant_id = $1 and status in ('PENDING', 'CONFIRMED', 'ATTENDED')`,
		"counted":        `select coalesce(sum(used), 0) from usage where tenant_id = $1`,
		"credits":        `select coalesce(sum(credits), 0) from bookings where tenant_id = $1`,
		"missing credit": fmt.Sprintf(`select count(*) from subscriptions where tenant_id = $1 and balance <> %d`, Credits),
	} {
		if n := l.Count(sql, l.Tenant); n != 0 {
			t.Errorf("%s: %d", what, n)
		}
	}
}
