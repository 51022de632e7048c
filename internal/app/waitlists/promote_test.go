package waitlists_test

import (
	"context"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// promoting sets AUTO_PROMOTE over the defaults of a new tenant, quiet hours among them.
func promoting(studio *testkit.Studio) {
	studio.T.Helper()
	studio.SetRules(func(s *waitlist.Settings) { s.Mode, s.OffersInQuietHours = new(waitlist.AutoPromote), nil })
}

// freeAt cancels a booking at a time, as staff.
func freeAt(studio *testkit.Studio, at time.Time, id tenant.BookingID) {
	studio.T.Helper()
	studio.Clock.Set(at)
	expect.OK(studio.T)(studio.App.Bookings.CancelBooking(
		context.Background(), studio.Owner, bookings.CancelRequest{ID: id, OverrideWindow: true},
	))
}

// Berlin is an hour ahead of UTC, and two from 29 March on.
func TestFreedSeat_IsOfferedAtNightByDefault(t *testing.T) {
	t.Parallel()
	type row struct {
		freed, starts, ends string
		promote             bool
	}
	testkit.Each(t, map[string]row{
		"at 02:10 for 18:00": {"2026-03-17T01:10:00Z", "2026-03-17T17:00:00Z", "2026-03-17T07:30:00Z", false},
		"in the night in which clocks go forward": {
			"2026-03-29T01:10:00Z", "2026-03-29T16:00:00Z", "2026-03-29T06:30:00Z", false,
		},
		"in the night in which clocks go back": {
			"2026-10-25T00:10:00Z", "2026-10-25T17:00:00Z", "2026-10-25T07:30:00Z", false,
		},
		"also with automatic booking": {"2026-03-17T01:10:00Z", "2026-03-25T17:00:00Z", "2026-03-17T07:30:00Z", true},
	}, func(studio *testkit.Studio, tt row) {
		if tt.promote {
			promoting(studio)
		}
		starts := testkit.UTC(tt.starts)
		studio.SetPolicy(func(p *catalog.PolicyLayer) { p.AdvanceWindow = new(365 * 24 * time.Hour) })
		class, _, booked := studio.AddFullSession(1, testkit.StartingAt(starts))
		id := studio.MustJoin(studio.AddMember("Mia"), testkit.ForSessions(class)).ID
		freeAt(studio, testkit.UTC(tt.freed), booked[0])
		studio.WantEntries(map[tenant.EntryID]waitlist.Status{id: waitlist.Offered})
		o := studio.LiveOffer(id)
		test.EqOp(studio.T, tt.ends, o.ExpiresAt.UTC().Format(time.RFC3339))
	})
}

// With automatic booking and a cancellation window of a day.
func TestPromotion_SurprisesNoOne(t *testing.T) {
	t.Parallel()
	noon := testkit.Noon // 13:00 in Berlin
	type row struct {
		starts time.Time
		window string // 17:00 to this time
		want   waitlist.Status
	}
	evening := time.Date(2026, 3, 19, 16, 15, 0, 0, time.UTC) // 17:15 in Berlin
	testkit.Each(t, map[string]row{
		"three days ahead":          {noon.Add(72 * time.Hour), "", waitlist.Booked},
		"20 hours ahead":            {noon.Add(20 * time.Hour), "", waitlist.Offered},
		"17:15 for 17:00 to 18:00":  {evening, "18:00", waitlist.Booked},
		"17:15 for 16:00 to 17:00":  {evening, "17:00", waitlist.Offered},
		"on top of another booking": {noon.Add(96*time.Hour + 30*time.Minute), "", waitlist.Offered},
	}, func(studio *testkit.Studio, tt row) {
		promoting(studio)
		class, _, booked := studio.AddFullSession(1, testkit.StartingAt(tt.starts))
		mia := studio.AddMember("Mia")
		studio.MustBook(mia, studio.AddSession(testkit.Session{Starts: noon.Add(96 * time.Hour)}))
		ask := testkit.ForSessions(class)
		if tt.window == "17:00" {
			ask = studio.ForWindow("2026-03-19", "2026-03-19", "16:00", tt.window)
		} else if tt.window != "" {
			ask = studio.ForWindow("2026-03-19", "2026-03-19", "17:00", tt.window)
		}
		id := studio.MustJoin(mia, ask).ID
		mode := expect.Value(studio.App.Waitlists.GetWaitlistEntry(context.Background(), mia, id))(studio.T).Mode
		freeAt(studio, noon.Add(time.Minute), booked[0])
		studio.WantEntries(map[tenant.EntryID]waitlist.Status{id: tt.want})
		if ask.Window == nil {
			test.EqOp(studio.T, tt.want == waitlist.Booked, mode == waitlist.AutoPromote, test.Sprint("what was told before"))
		}
	})
}

// Three classes of one evening: the second and the third are offered, and the next day is booked.
func TestPromotion_HappensOnceADay(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	promoting(studio)
	mia := studio.AddMember("Mia")
	var freed []tenant.BookingID
	var waits []tenant.EntryID
	for _, hours := range []int{72, 74, 76, 96} {
		class, _, booked := studio.AddFullSession(
			1, testkit.StartingAt(testkit.Noon.Add(time.Duration(hours)*time.Hour)),
		)
		freed = append(freed, booked[0])
		waits = append(waits, studio.MustJoin(mia, waitlists.JoinRequest{Sessions: []tenant.SessionID{class}}).ID)
	}
	for _, id := range freed {
		freeAt(studio, studio.Clock.Now().Add(time.Minute), id)
	}
	studio.WantEntries(map[tenant.EntryID]waitlist.Status{
		waits[0]: waitlist.Booked, waits[1]: waitlist.Offered, waits[2]: waitlist.Offered, waits[3]: waitlist.Booked,
	})
}

// Unlimited seats are offered, too: to all who fit, at once.
func TestUnlimitedSeats_AreOfferedToAll(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class, _, _ := studio.AddFullSession(1)
	_, ids := studio.AddWaiters(3, testkit.ForSessions(class))
	studio.EditSession(class, session.Input{}, session.CapacityField)
	studio.WantEntries(map[tenant.EntryID]waitlist.Status{
		ids[0]: waitlist.Offered, ids[1]: waitlist.Offered, ids[2]: waitlist.Offered,
	})
	o := studio.LiveOffer(ids[1])
	expect.OK(t)(studio.App.Waitlists.DeclineWaitlistOffer(context.Background(), studio.Owner, o.ID, false, ""))
	o = studio.LiveOffer(ids[2])
	expect.OK(t)(studio.App.Waitlists.AcceptWaitlistOffer(
		context.Background(), studio.Owner, o.ID, tenant.SubscriptionID{},
	))
	studio.WantEntries(map[tenant.EntryID]waitlist.Status{
		ids[0]: waitlist.Offered, ids[1]: waitlist.Waiting, ids[2]: waitlist.Booked,
	})
}
