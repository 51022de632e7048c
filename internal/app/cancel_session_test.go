package app_test

import (
	"context"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
)

func TestACancelledSessionStaysCancelled(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	id := h.session(slot{State: catalog.Cancelled})
	_, err := h.app.PublishSession(ctx, h.Owner, id, nil)
	wantReason(t, err, fault.SessionState)
	_, err = h.app.UnpublishSession(ctx, h.Owner, id, nil)
	wantReason(t, err, fault.SessionState)
	_, err = h.app.BlockSession(ctx, h.Owner, id, "")
	wantReason(t, err, fault.SessionState)
	_, _, err = h.app.UnblockSession(ctx, h.Owner, id)
	wantReason(t, err, fault.SessionState)
	c, err := h.app.CancelSession(ctx, h.Owner, id, "again", true)
	if err != nil || c.Session.Version != 1 || c.Bookings != 0 || h.sessionEvents(id) != "" {
		t.Errorf("cancelling again: %+v, events %q (%v)", c, h.sessionEvents(id), err)
	}
}

func TestCancellingASessionCancelsAllItsBookings(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]catalog.SessionState{"published": catalog.Published, "draft": catalog.Draft} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			ctx := context.Background()
			class := h.session(slot{Capacity: 2, Waitlist: 3, Starts: noon.Add(time.Hour)}) // long past the window for cancelling
			pack := h.plan(credit.Plan{Kind: credit.Credits, Credits: 5})
			mia, noa, ole := h.member("Mia"), h.member("Noa"), h.member("Ole")
			sub := h.subscribe(mia, pack)
			first, second := h.mustBook(mia, class), h.mustBook(noa, class)
			h.mustWait(ole, class)
			h.exec(`update sessions set state = $2 where id = $1`, class, state)

			c, err := h.app.CancelSession(ctx, h.Owner, class, "coach is ill", false)
			if err != nil {
				t.Fatal(err)
			}
			if c.Bookings != 2 || c.Entries != 1 || c.Credits != 1 {
				t.Errorf("%+v", c)
			}
			got := h.getSession(class)
			if got.State != catalog.Cancelled || got.StateReason != "coach is ill" || got.SeatsTaken != 0 || got.Waiting != 0 {
				t.Errorf("%+v", got)
			}
			if h.status(first) != string(booking.Cancelled) || h.status(second) != string(booking.Cancelled) || h.balance(sub) != 5 {
				t.Errorf("%s, %s, balance %d", h.status(first), h.status(second), h.balance(sub))
			}
			if n := h.count(`select count(*) from waitlist_entries where session_id = $1 and status = 'CANCELLED'`, class); n != 1 {
				t.Errorf("%d entries were cancelled", n)
			}
			// Nobody is to be told, and whoever tells people can read that.
			if n := h.count(`select count(*) from events where session_id = $1 and type in ('session.cancelled', 'booking.cancelled', 'waitlist.left') and data->>'notify' = 'false'`, class); n != 4 {
				t.Errorf("%d events say that nobody is told", n)
			}
			if again, err := h.app.CancelSession(ctx, h.Owner, class, "again", true); err != nil || again.Bookings != 0 || again.Session.StateReason != "coach is ill" {
				t.Errorf("again: %+v (%v)", again, err)
			}
			h.wantSound()
		})
	}
}
