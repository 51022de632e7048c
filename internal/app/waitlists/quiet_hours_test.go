package waitlists_test

import (
	"context"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// nights are rules with the quiet hours of the defaults.
func nights(studio *testkit.Studio) {
	studio.T.Helper()
	studio.SetRules(func(s *waitlist.Settings) { s.Mode, s.OffersInQuietHours = new(waitlist.OfferInTurn), nil })
}

// The clock of an offer stands still at night, where the member lives: at the location, unless they say otherwise.
func TestOffer_WindowStartsAfterQuietHours(t *testing.T) {
	t.Parallel()
	type row struct {
		made, zone, ends string
	}
	testkit.Each(t, map[string]row{
		"by day":                      {"2026-03-16T14:00:00Z", "", "2026-03-16T14:30:00Z"},
		"ten minutes before it":       {"2026-03-16T19:50:00Z", "", "2026-03-17T07:20:00Z"}, // 20:50 and 08:20 in Berlin
		"at night":                    {"2026-03-17T01:00:00Z", "", "2026-03-17T07:30:00Z"},
		"in the minute of its end":    {"2026-03-17T07:00:00Z", "", "2026-03-17T07:30:00Z"},
		"where it is afternoon still": {"2026-03-16T19:50:00Z", "America/New_York", "2026-03-16T20:20:00Z"},
		// 23:00, and 08:30 the next day
		"where it is night already": {"2026-03-16T14:00:00Z", "Asia/Tokyo", "2026-03-16T23:30:00Z"},
	}, func(studio *testkit.Studio, tt row) {
		nights(studio)
		class, _, booked := studio.AddFullSession(1)
		waiters, entries := studio.AddWaiters(2, testkit.ForSessions(class))
		studio.EditMember(waiters[0], func(m *member.Member) { m.TimeZone = tt.zone })
		studio.Clock.Set(testkit.UTC(tt.made))
		expect.OK(studio.T)(studio.App.Bookings.CancelBooking(
			context.Background(), studio.Owner, bookings.CancelRequest{ID: booked[0], OverrideWindow: true},
		))
		o := studio.LiveOffer(entries[0])
		test.EqOp(studio.T, tt.ends, o.ExpiresAt.UTC().Format(time.RFC3339), test.Sprint("the offer ends at"))
		// It stands until then, and not a moment longer.
		studio.Clock.Set(o.ExpiresAt.Add(-time.Microsecond))
		expect.OK(studio.T)(studio.App.Housekeeping.ExpireDue(context.Background(), studio.Tenant))
		studio.WantEntries(map[tenant.EntryID]waitlist.Status{entries[0]: waitlist.Offered, entries[1]: waitlist.Waiting})
		studio.Clock.Set(o.ExpiresAt)
		expect.OK(studio.T)(studio.App.Housekeeping.ExpireDue(context.Background(), studio.Tenant))
		studio.WantEntries(map[tenant.EntryID]waitlist.Status{entries[0]: waitlist.Waiting, entries[1]: waitlist.Offered})
	})
}

// Who would wake up too late for a session is passed over for the next, for whom it is day; where it is night for all
// the seat is open.
func TestOffer_SkipsEntriesInQuietHoursUntilTooLate(t *testing.T) {
	t.Parallel()
	early := testkit.UTC("2026-03-18T05:30:00Z") // at 06:30 in Berlin
	type row struct {
		zone  string
		even  bool // offers in quiet hours
		first waitlist.Status
		next  waitlist.Status
		move  waitlist.Move
	}
	testkit.Each(t, map[string]row{
		"the next is awake": {
			zone: "America/New_York", first: waitlist.Waiting, next: waitlist.Offered, move: waitlist.MakeOffer,
		},
		"all have quiet hours": {
			zone: "Europe/Paris", first: waitlist.Waiting, next: waitlist.Waiting, move: waitlist.NobodyFits,
		},
		"offers do not wait": {
			zone: "Europe/Paris", even: true, first: waitlist.Offered, next: waitlist.Waiting, move: waitlist.MakeOffer,
		},
		"and the next is awake": {
			zone: "America/New_York", even: true, first: waitlist.Offered, next: waitlist.Waiting, move: waitlist.MakeOffer,
		},
	}, func(studio *testkit.Studio, tt row) {
		nights(studio)
		if tt.even {
			studio.SetRules(func(*waitlist.Settings) {})
		}
		class, _, booked := studio.AddFullSession(1, testkit.StartingAt(early))
		waiters, entries := studio.AddWaiters(2, testkit.ForSessions(class))
		studio.EditMember(waiters[1], func(m *member.Member) { m.TimeZone = tt.zone })
		studio.Clock.Set(testkit.UTC("2026-03-17T21:30:00Z"))
		expect.OK(studio.T)(studio.App.Bookings.CancelBooking(
			context.Background(), studio.Owner, bookings.CancelRequest{ID: booked[0], OverrideWindow: true},
		))
		studio.WantEntries(map[tenant.EntryID]waitlist.Status{entries[0]: tt.first, entries[1]: tt.next})
		last := studio.LastDecision(class)
		test.EqOp(studio.T, tt.move, last.Decision.Move)
		test.NotEqOp(studio.T, tt.even, (last.Decision.Verdicts[0].Reason == waitlist.InQuietHours))
		test.EqOp(studio.T, (tt.move == waitlist.NobodyFits), (last.Note != ""), test.Sprintf("staff are told %q", last.Note))
	})
}
