package schedules_test

import (
	"context"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/testkit"
)

func TestCancelSession_IsFinal(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	id := h.AddSession(testkit.Session{State: catalog.Cancelled})
	_, err := h.App.Schedules.PublishSession(ctx, h.Owner, id, nil)
	testkit.WantReason(t, err, fault.SessionState)
	_, err = h.App.Schedules.UnpublishSession(ctx, h.Owner, id, nil)
	testkit.WantReason(t, err, fault.SessionState)
	_, err = h.App.Schedules.BlockSession(ctx, h.Owner, id, "")
	testkit.WantReason(t, err, fault.SessionState)
	_, _, err = h.App.Schedules.UnblockSession(ctx, h.Owner, id)
	testkit.WantReason(t, err, fault.SessionState)
	c, err := h.App.Schedules.CancelSession(ctx, h.Owner, id, "again", true)
	if err != nil || c.Session.Version != 2 || c.Bookings != 0 ||
		h.SessionEvents(id) != "session.created session.cancelled" {
		t.Errorf("cancelling again: %+v, events %q (%v)", c, h.SessionEvents(id), err)
	}
}

func TestCancelSession_CancelsAllBookings(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]catalog.SessionState{"published": catalog.Published, "draft": catalog.Draft} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			ctx := context.Background()
			// long past the window for cancelling
			class := h.AddSession(testkit.Session{Capacity: 2, Waitlist: 3, Starts: testkit.Noon.Add(time.Hour)})
			pack := h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5})
			mia, noa, ole := h.AddMember("Mia"), h.AddMember("Noa"), h.AddMember("Ole")
			sub := h.Subscribe(mia, pack)
			first, second := h.MustBook(mia, class), h.MustBook(noa, class)
			h.MustWaitlist(ole, class)
			h.Exec(`update sessions set state = $2 where id = $1`, class, state) // damage: a draft has no bookings

			c, err := h.App.Schedules.CancelSession(ctx, h.Owner, class, "coach is ill", false)
			if err != nil {
				t.Fatal(err)
			}
			if c.Bookings != 2 || c.Entries != 1 || c.Credits != 1 {
				t.Errorf("%+v", c)
			}
			got := h.GetSession(class)
			if got.State != catalog.Cancelled || got.StateReason != "coach is ill" || got.SeatsTaken != 0 || got.Waiting != 0 {
				t.Errorf("%+v", got)
			}
			if h.BookingStatus(first) != string(booking.Cancelled) || h.BookingStatus(second) != string(booking.Cancelled) ||
				h.Balance(sub) != 5 {
				t.Errorf("%s, %s, balance %d", h.BookingStatus(first), h.BookingStatus(second), h.Balance(sub))
			}
			if n := h.Count(
				`select count(*) from waitlist_entries where session_id = $1 and status = 'CANCELLED'`, class,
			); n != 1 {
				t.Errorf("%d entries were cancelled", n)
			}
			// Nobody is to be told, and whoever tells people can read that.
			if n := h.Count(
				`select count(*) from events where session_id = $1 and type in ('session.cancelled', 'booking.cancelled',
					'waitlist.left') and data->>'notify' = 'false'`,
				class,
			); n != 4 {
				t.Errorf("%d events say that nobody is told", n)
			}
			if again, err := h.App.Schedules.CancelSession(ctx, h.Owner, class, "again", true); err != nil ||
				again.Bookings != 0 || again.Session.StateReason != "coach is ill" {
				t.Errorf("again: %+v (%v)", again, err)
			}
			h.WantSound()
		})
	}
}
