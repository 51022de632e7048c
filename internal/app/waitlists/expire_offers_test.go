package waitlists_test

import (
	"context"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// An offer without an answer returns its entry to the queue or closes it, depending on the rules. In both cases the
// next entry gets an offer.
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
			"in time": func(studio *testkit.Studio, o waitlist.Offer) error {
				studio.Clock.Set(o.ExpiresAt)
				return expect.Error(studio.App.Waitlists.ExpireDueOffers(context.Background(), studio.Tenant))
			},
			"by hand": func(studio *testkit.Studio, o waitlist.Offer) error {
				studio.Tick()
				for range 2 { // once is enough
					_, err := studio.App.Waitlists.ExpireWaitlistOffer(context.Background(), studio.Owner, o.ID, "no answer")
					if err != nil {
						return err
					}
				}
				return nil
			},
		} {
			t.Run(name+", "+by, func(t *testing.T) {
				t.Parallel()
				studio := testkit.New(t)
				studio.SetRules(func(s *waitlist.Settings) {
					s.Mode, s.AfterExpiry, s.MaxOffersPerEntry = new(waitlist.OfferInTurn), &tt.after, &tt.most
				})
				class, waiters, o := offered(studio)
				must.NoError(t, end(studio, o))
				offers := studio.Offers(class)
				must.SliceLen(t, 2, offers, must.Sprintf("%+v, the entry is %s", offers, studio.Entry(o.Entry).Status))
				must.EqOp(t, waitlist.RanOut, offers[0].Status,
					must.Sprintf("%+v, the entry is %s", offers, studio.Entry(o.Entry).Status))
				must.EqOp(t, waitlist.Live, offers[1].Status,
					must.Sprintf("%+v, the entry is %s", offers, studio.Entry(o.Entry).Status))
				must.EqOp(t, tt.want, studio.Entry(o.Entry).Status,
					must.Sprintf("%+v, the entry is %s", offers, studio.Entry(o.Entry).Status))
				expect.Reason(t, fault.WaitlistOfferNotLive)(studio.Accept(waiters[0], o))
				expect.OK(t)(studio.Accept(waiters[1], offers[1]))
				expect.Reason(t, fault.WaitlistOfferNotLive)(
					studio.App.Waitlists.ExpireWaitlistOffer(context.Background(), studio.Owner, offers[1].ID, ""),
				)
			})
		}
	}
}

// An offer becomes shorter towards the close of booking, which is a setting.
func TestOffers_EndBeforeBookingCloses(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetMode(waitlist.OfferInTurn)
	studio.SetPolicy(func(p *catalog.PolicyLayer) { p.BookingClosesBefore = new(2 * time.Hour) })
	class, _, booked := studio.AddFullSession(1)
	studio.AddWaiters(1, testkit.ForSessions(class))
	studio.Clock.Set(testkit.Noon.Add(45 * time.Hour)) // an hour before the close, three before the start
	expect.OK(t)(studio.App.Bookings.CancelBooking(
		context.Background(), studio.Owner, bookings.CancelRequest{ID: booked[0], OverrideWindow: true},
	))
	offers := studio.Offers(class)
	must.SliceLen(t, 1, offers)
	test.EqOp(t, 15*time.Minute, offers[0].ExpiresAt.Sub(offers[0].CreatedAt))
}

// Each thing that happens to an entry or an offer is an event, with what those who watch need to find it.
func TestEvents_OfTheWaitlist(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetMode(waitlist.OfferInTurn)
	class, who, booked := studio.AddFullSession(1)
	waiters, entries := studio.AddWaiters(5, testkit.ForSessions(class))
	last := func(event string, member tenant.Caller, keys ...string) {
		t.Helper()
		test.EqOp(t, 1, studio.Count(
			`select count(*) from events where type = $1 and session_id = $2 and member_id = $3 and data ?& $4`, event, class,
			member.Member, keys,
		), test.Sprintf("events %s with %v", event, keys))
	}
	for i := range waiters {
		last("waitlist.joined", waiters[i], "entry_id", "position")
	}
	expect.OK(t)(studio.App.Waitlists.SetWaitlistPriority(
		t.Context(), studio.Owner, entries[0], waitlists.PriorityEdit{Flagged: new(true)},
	))
	last("waitlist.changed", waiters[0], "entry_id", "flagged", "position", "position_before")
	test.EqOp(t, 1, studio.Count(
		`select count(*) from events where type = 'rules.changed' and data @> '{"version": 1, "level": "TENANT"}'`,
	), test.Sprint("events of the rules"))
	studio.MustCancel(who[0], booked[0])
	last("offer.created", waiters[0], "offer_id", "entry_id", "expire_time", "party_size", "try")
	expect.OK(t)(studio.Decline(waiters[0], studio.LiveOffer(entries[0]), true))
	last("offer.declined", waiters[0], "offer_id", "entry_id")
	last("waitlist.left", waiters[0], "entry_id")
	studio.Clock.Set(studio.LiveOffer(entries[1]).ExpiresAt)
	expect.OK(t)(studio.App.Waitlists.ExpireDueOffers(t.Context(), studio.Tenant))
	last("offer.expired", waiters[1], "offer_id", "entry_id")
	answered := expect.Value(studio.Accept(waiters[2], studio.LiveOffer(entries[2])))(t)
	last("offer.accepted", waiters[2], "offer_id", "entry_id")
	test.EqOp(t, 1, studio.Count(
		`select count(*) from events where type = 'offer.accepted' and booking_id = $1`, answered.Booking.ID,
	), test.Sprint("the event does not name the booking"))
	studio.Tick()
	expect.OK(t)(studio.App.Waitlists.LeaveWaitlist(
		t.Context(), testkit.SelfOnly(waiters[1]), entries[1], "No longer needed.", true,
	))
	test.EqOp(t, 1, studio.Count(
		`select count(*) from events where type = 'waitlist.left' and member_id = $1
			and data @> '{"reason": "No longer needed.", "status": "CANCELLED"}'`,
		waiters[1].Member,
	), test.Sprint("events say why she left"))
	studio.MustCancel(waiters[2], answered.Booking.ID)
	studio.Tick()
	expect.OK(t)(studio.App.Waitlists.LeaveWaitlist(t.Context(), testkit.SelfOnly(waiters[3]), entries[3], "", true))
	last("offer.withdrawn", waiters[3], "offer_id", "entry_id")
	studio.SetMode(waitlist.AutoPromote)
	expect.OK(t)(studio.Decline(waiters[4], studio.LiveOffer(entries[4]), false))
	late := studio.AddMember("Late")
	studio.MustBook(studio.AddMember("Holder"), class)
	studio.MustJoin(late, testkit.ForSessions(class))
	studio.Tick()
	expect.OK(t)(studio.App.Waitlists.LeaveWaitlist(t.Context(), testkit.SelfOnly(waiters[4]), entries[4], "", true))
	studio.Tick()
	resize(studio, class, 2)
	last("waitlist.promoted", late, "entry_id")
}

// Two who join an empty queue at the same moment stand at 1 and at 2, and so do those after them.
func TestJoinWaitlist_FirstTwoGetDifferentPositions(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	for round := range 3 {
		class, _, _ := studio.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(time.Duration(48+24*round)*time.Hour)))
		const people = 6
		who := make([]tenant.Caller, people)
		for i := range who {
			who[i] = studio.AddMember("Mia")
		}
		positions, got := make(map[int]bool), make([]int, people)
		testkit.Parallel(people, func(i int) {
			result, err := studio.Join(who[i], testkit.ForSessions(class))
			if err != nil {
				t.Error(err)
				return
			}
			got[i] = result.Entry.Position
		})
		for _, p := range got {
			positions[p] = true
		}
		for p := range people {
			must.True(t, positions[p+1], must.Sprintf("they stand at %v", got))
		}
	}
}
