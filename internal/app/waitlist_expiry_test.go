package app_test

import (
	"context"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// An offer that nobody answers sends its entry back in line or ends it, as the rules say; either way the next is asked.
func TestOffersThatRunOut(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		after waitlist.After
		most  int
		want  waitlist.Status
	}{
		"goes back in line":        {waitlist.ReturnEntry, 3, waitlist.Waiting},
		"closes, if rules say so":  {waitlist.CloseEntry, 3, waitlist.Expired},
		"closes after the last":    {waitlist.ReturnEntry, 1, waitlist.Expired},
		"goes back without a most": {waitlist.ReturnEntry, 0, waitlist.Waiting},
	} {
		for by, end := range map[string]func(*house, waitlist.Offer) error{
			"in time": func(h *house, o waitlist.Offer) error {
				h.clock.Set(o.ExpiresAt)
				_, err := h.app.ExpireOffers(context.Background(), h.Tenant)
				return err
			},
			"by hand": func(h *house, o waitlist.Offer) error {
				h.tick()
				for range 2 { // once is enough
					if _, err := h.app.ExpireOffer(context.Background(), h.Owner, o.ID, "no answer"); err != nil {
						return err
					}
				}
				return nil
			},
		} {
			t.Run(name+", "+by, func(t *testing.T) {
				t.Parallel()
				h := newHouse(t)
				h.rules(func(s *waitlist.Settings) {
					s.Mode, s.AfterExpiry, s.MaxOffersPerEntry = new(waitlist.OfferInTurn), &tt.after, &tt.most
				})
				class, waiters, o := h.offered()
				if err := end(h, o); err != nil {
					t.Fatal(err)
				}
				offers := h.offers(class)
				if len(offers) != 2 || offers[0].Status != waitlist.RanOut || offers[1].Status != waitlist.Live || h.entry(o.Entry).Status != tt.want {
					t.Fatalf("%+v, the entry is %s", offers, h.entry(o.Entry).Status)
				}
				_, err := h.accept(waiters[0], o)
				wantReason(t, err, fault.OfferNotLive)
				if _, err := h.accept(waiters[1], offers[1]); err != nil {
					t.Fatal(err)
				}
				_, err = h.app.ExpireOffer(context.Background(), h.Owner, offers[1].ID, "")
				wantReason(t, err, fault.OfferNotLive)
				h.wantSound()
			})
		}
	}
}

// Offers become shorter towards the close of booking, and none outlives it; after it nobody is asked.
func TestOffersEndBeforeBookingCloses(t *testing.T) {
	t.Parallel()
	closes := noon.Add(46 * time.Hour) // two hours before the start
	for name, tt := range map[string]struct {
		before time.Duration // of the close
		window time.Duration // 0: there is no offer
	}{
		"long before": {5 * time.Hour, 30 * time.Minute},
		"an hour":     {time.Hour, 15 * time.Minute},
		"six minutes": {6 * time.Minute, 5 * time.Minute},
		"too little":  {4 * time.Minute, 0},
		"closed":      {0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.mode(waitlist.OfferInTurn)
			h.exec(`update policies set booking_closes_seconds = 7200 where tenant_id = $1 and level = 'TENANT'`, h.Tenant)
			class, _, booked := h.full(1)
			_, entries := h.waiters(1, names(class))
			h.clock.Set(closes.Add(-tt.before))
			if _, err := h.app.CancelBooking(context.Background(), h.Owner, app.CancelRequest{ID: booked[0]}); err != nil {
				t.Fatal(err)
			}
			offers := h.offers(class)
			if tt.window == 0 {
				if len(offers) > 0 || h.entry(entries[0]).PassedOver != waitlist.NoTime {
					t.Errorf("%+v, %q", offers, h.entry(entries[0]).PassedOver)
				}
				return
			}
			if len(offers) != 1 || offers[0].ExpiresAt.Sub(offers[0].CreatedAt) != tt.window {
				t.Errorf("%+v", offers)
			}
			h.wantSound()
		})
	}
}

// Each thing that happens to an entry or an offer is an event, with what those who watch need to find it.
func TestTheWaitlistsEvents(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHouse(t)
	h.mode(waitlist.OfferInTurn)
	class, who, booked := h.full(1)
	waiters, entries := h.waiters(5, names(class))
	last := func(event string, member tenant.Caller, keys ...string) {
		t.Helper()
		n := h.count(`select count(*) from events where type = $1 and session_id = $2 and member_id = $3 and data ?& $4`, event, class, member.Member, keys)
		if n != 1 {
			t.Errorf("%d events %s with %v", n, event, keys)
		}
	}
	for i := range waiters {
		last("waitlist.joined", waiters[i], "entry_id", "position")
	}
	if _, err := h.app.SetPriority(ctx, h.Owner, entries[0], app.PriorityEdit{Flagged: new(true)}); err != nil {
		t.Fatal(err)
	}
	last("waitlist.changed", waiters[0], "entry_id", "flagged", "position", "position_before")
	if n := h.count(`select count(*) from events where type = 'rules.changed' and data @> '{"version": 1, "level": "TENANT"}'`); n != 1 {
		t.Errorf("%d events of the rules", n)
	}
	h.mustCancel(who[0], booked[0])
	last("offer.created", waiters[0], "offer_id", "entry_id", "expire_time", "seats", "try")
	if _, err := h.decline(waiters[0], h.live(entries[0]), true); err != nil {
		t.Fatal(err)
	}
	last("offer.declined", waiters[0], "offer_id", "entry_id")
	last("waitlist.left", waiters[0], "entry_id")
	h.clock.Set(h.live(entries[1]).ExpiresAt)
	if _, err := h.app.ExpireOffers(ctx, h.Tenant); err != nil {
		t.Fatal(err)
	}
	last("offer.expired", waiters[1], "offer_id", "entry_id")
	answered, err := h.accept(waiters[2], h.live(entries[2]))
	if err != nil {
		t.Fatal(err)
	}
	last("offer.accepted", waiters[2], "offer_id", "entry_id")
	if n := h.count(`select count(*) from events where type = 'offer.accepted' and booking_id = $1`, answered.Booking.ID); n != 1 {
		t.Error("the event does not name the booking")
	}
	h.tick()
	if _, err := h.app.LeaveWaitlist(ctx, own(waiters[1]), entries[1], "No longer needed.", true); err != nil {
		t.Fatal(err)
	}
	if n := h.count(`select count(*) from events where type = 'waitlist.left' and member_id = $1 and data @> '{"reason": "No longer needed.", "status": "CANCELLED"}'`, waiters[1].Member); n != 1 {
		t.Errorf("%d events say why she left", n)
	}
	h.mustCancel(waiters[2], answered.Booking.ID)
	h.tick()
	if _, err := h.app.LeaveWaitlist(ctx, own(waiters[3]), entries[3], "", true); err != nil {
		t.Fatal(err)
	}
	last("offer.withdrawn", waiters[3], "offer_id", "entry_id")
	h.mode(waitlist.AutoPromote)
	if _, err := h.decline(waiters[4], h.live(entries[4]), false); err != nil {
		t.Fatal(err)
	}
	late := h.member("Late")
	h.mustBook(h.member("Holder"), class)
	h.mustJoin(late, names(class))
	h.tick()
	if _, err := h.app.LeaveWaitlist(ctx, own(waiters[4]), entries[4], "", true); err != nil {
		t.Fatal(err)
	}
	h.tick()
	h.resize(class, 2)
	last("waitlist.promoted", late, "entry_id")
	h.wantSound()
}

// Two who join an empty queue at the same moment stand at 1 and at 2, and so do those after them.
func TestTheFirstTwoToJoin(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for round := range 3 {
		class, _, _ := h.full(1, starting(noon.Add(time.Duration(48+24*round)*time.Hour)))
		const people = 6
		who := make([]tenant.Caller, people)
		for i := range who {
			who[i] = h.member("Mia")
		}
		positions := make(map[int]bool)
		got := make([]int, people)
		together(people, func(i int) {
			place, err := h.join(who[i], names(class))
			if err != nil {
				t.Error(err)
				return
			}
			got[i] = place.Entry.Position
		})
		for _, p := range got {
			positions[p] = true
		}
		for p := range people {
			if !positions[p+1] {
				t.Fatalf("they stand at %v", got)
			}
		}
	}
	h.wantSound()
}
