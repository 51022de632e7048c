package waitlists_test

import (
	"context"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// An offer that nobody answers sends its entry back in line or ends it, as the rules say; either way the next is asked.
func TestOffers_ExpireAndGoToTheNext(t *testing.T) {
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
		for by, end := range map[string]func(*testkit.Studio, waitlist.Offer) error{
			"in time": func(h *testkit.Studio, o waitlist.Offer) error {
				h.Clock.Set(o.ExpiresAt)
				_, _, err := h.App.Waitlists.ExpireDueOffers(context.Background(), h.Tenant)
				return err
			},
			"by hand": func(h *testkit.Studio, o waitlist.Offer) error {
				h.Tick()
				for range 2 { // once is enough
					if _, err := h.App.Waitlists.ExpireOffer(context.Background(), h.Owner, o.ID, "no answer"); err != nil {
						return err
					}
				}
				return nil
			},
		} {
			t.Run(name+", "+by, func(t *testing.T) {
				t.Parallel()
				h := testkit.New(t)
				h.SetRules(func(s *waitlist.Settings) {
					s.Mode, s.AfterExpiry, s.MaxOffersPerEntry = new(waitlist.OfferInTurn), &tt.after, &tt.most
				})
				class, waiters, o := offered(h)
				if err := end(h, o); err != nil {
					t.Fatal(err)
				}
				offers := h.Offers(class)
				if len(offers) != 2 || offers[0].Status != waitlist.RanOut || offers[1].Status != waitlist.Live ||
					h.Entry(o.Entry).Status != tt.want {
					t.Fatalf("%+v, the entry is %s", offers, h.Entry(o.Entry).Status)
				}
				_, err := h.Accept(waiters[0], o)
				testkit.WantReason(t, err, fault.OfferNotLive)
				if _, err := h.Accept(waiters[1], offers[1]); err != nil {
					t.Fatal(err)
				}
				_, err = h.App.Waitlists.ExpireOffer(context.Background(), h.Owner, offers[1].ID, "")
				testkit.WantReason(t, err, fault.OfferNotLive)
				h.WantSound()
			})
		}
	}
}

// Offers become shorter towards the close of booking, and none outlives it; after it nobody is asked.
func TestOffers_EndBeforeBookingCloses(t *testing.T) {
	t.Parallel()
	closes := testkit.Noon.Add(46 * time.Hour) // two hours before the start
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
			h := testkit.New(t)
			h.SetMode(waitlist.OfferInTurn)
			h.SetPolicy(func(p *catalog.Policy) { p.BookingCloses = new(2 * time.Hour) })
			class, _, booked := h.AddFullSession(1)
			_, entries := h.AddWaiters(1, testkit.ForSessions(class))
			h.Clock.Set(closes.Add(-tt.before))
			if _, err := h.App.Bookings.CancelBooking(
				context.Background(), h.Owner, bookings.CancelRequest{ID: booked[0]},
			); err != nil {
				t.Fatal(err)
			}
			offers := h.Offers(class)
			if tt.window == 0 {
				if len(offers) > 0 || h.Entry(entries[0]).PassedOver != waitlist.NoTime {
					t.Errorf("%+v, %q", offers, h.Entry(entries[0]).PassedOver)
				}
				return
			}
			if len(offers) != 1 || offers[0].ExpiresAt.Sub(offers[0].CreatedAt) != tt.window {
				t.Errorf("%+v", offers)
			}
			h.WantSound()
		})
	}
}

// Each thing that happens to an entry or an offer is an event, with what those who watch need to find it.
func TestEvents_OfTheWaitlist(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := testkit.New(t)
	h.SetMode(waitlist.OfferInTurn)
	class, who, booked := h.AddFullSession(1)
	waiters, entries := h.AddWaiters(5, testkit.ForSessions(class))
	last := func(event string, member tenant.Caller, keys ...string) {
		t.Helper()
		n := h.Count(
			`select count(*) from events where type = $1 and session_id = $2 and member_id = $3 and data ?& $4`, event, class,
			member.Member, keys,
		)
		if n != 1 {
			t.Errorf("%d events %s with %v", n, event, keys)
		}
	}
	for i := range waiters {
		last("waitlist.joined", waiters[i], "entry_id", "position")
	}
	if _, err := h.App.Waitlists.SetPriority(
		ctx, h.Owner, entries[0], waitlists.PriorityEdit{Flagged: new(true)},
	); err != nil {
		t.Fatal(err)
	}
	last("waitlist.changed", waiters[0], "entry_id", "flagged", "position", "position_before")
	if n := h.Count(
		`select count(*) from events where type = 'rules.changed' and data @> '{"version": 1, "level": "TENANT"}'`,
	); n != 1 {
		t.Errorf("%d events of the rules", n)
	}
	h.MustCancel(who[0], booked[0])
	last("offer.created", waiters[0], "offer_id", "entry_id", "expire_time", "seats", "try")
	if _, err := h.Decline(waiters[0], h.LiveOffer(entries[0]), true); err != nil {
		t.Fatal(err)
	}
	last("offer.declined", waiters[0], "offer_id", "entry_id")
	last("waitlist.left", waiters[0], "entry_id")
	h.Clock.Set(h.LiveOffer(entries[1]).ExpiresAt)
	if _, _, err := h.App.Waitlists.ExpireDueOffers(ctx, h.Tenant); err != nil {
		t.Fatal(err)
	}
	last("offer.expired", waiters[1], "offer_id", "entry_id")
	answered, err := h.Accept(waiters[2], h.LiveOffer(entries[2]))
	if err != nil {
		t.Fatal(err)
	}
	last("offer.accepted", waiters[2], "offer_id", "entry_id")
	if n := h.Count(
		`select count(*) from events where type = 'offer.accepted' and booking_id = $1`, answered.Booking.ID,
	); n != 1 {
		t.Error("the event does not name the booking")
	}
	h.Tick()
	if _, err := h.App.Waitlists.LeaveWaitlist(
		ctx, testkit.SelfOnly(waiters[1]), entries[1], "No longer needed.", true,
	); err != nil {
		t.Fatal(err)
	}
	if n := h.Count(
		`select count(*) from events where type = 'waitlist.left' and member_id = $1
			and data @> '{"reason": "No longer needed.", "status": "CANCELLED"}'`,
		waiters[1].Member,
	); n != 1 {
		t.Errorf("%d events say why she left", n)
	}
	h.MustCancel(waiters[2], answered.Booking.ID)
	h.Tick()
	if _, err := h.App.Waitlists.LeaveWaitlist(ctx, testkit.SelfOnly(waiters[3]), entries[3], "", true); err != nil {
		t.Fatal(err)
	}
	last("offer.withdrawn", waiters[3], "offer_id", "entry_id")
	h.SetMode(waitlist.AutoPromote)
	if _, err := h.Decline(waiters[4], h.LiveOffer(entries[4]), false); err != nil {
		t.Fatal(err)
	}
	late := h.AddMember("Late")
	h.MustBook(h.AddMember("Holder"), class)
	h.MustJoin(late, testkit.ForSessions(class))
	h.Tick()
	if _, err := h.App.Waitlists.LeaveWaitlist(ctx, testkit.SelfOnly(waiters[4]), entries[4], "", true); err != nil {
		t.Fatal(err)
	}
	h.Tick()
	resize(h, class, 2)
	last("waitlist.promoted", late, "entry_id")
	h.WantSound()
}

// Two who join an empty queue at the same moment stand at 1 and at 2, and so do those after them.
func TestJoinWaitlist_FirstTwoGetDifferentPositions(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	for round := range 3 {
		class, _, _ := h.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(time.Duration(48+24*round)*time.Hour)))
		const people = 6
		who := make([]tenant.Caller, people)
		for i := range who {
			who[i] = h.AddMember("Mia")
		}
		positions := make(map[int]bool)
		got := make([]int, people)
		testkit.Parallel(people, func(i int) {
			place, err := h.Join(who[i], testkit.ForSessions(class))
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
	h.WantSound()
}
