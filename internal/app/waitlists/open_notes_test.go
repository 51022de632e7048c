package waitlists_test

import (
	"testing"
	"time"

	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Staff see the note about a session while they can act on it: until the next decision without a note, the session's
// cancellation or its end.
func TestListWaitlistDecisions_OpenNotes(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetRules(func(s *waitlist.Settings) {
		s.Mode, s.AfterDecline = new(waitlist.OfferInTurn), new(waitlist.CloseEntry)
	})
	// leave makes a full session whose only waiter declines the first freed seat, so that it stays open.
	leave := func(at time.Time) (tenant.SessionID, tenant.BookingID, tenant.Caller) {
		t.Helper()
		class, who, booked := studio.AddFullSession(2, testkit.StartingAt(at))
		waiters, entries := studio.AddWaiters(1, testkit.ForSessions(class))
		studio.MustCancel(who[0], booked[0])
		expect.OK(t)(studio.Decline(waiters[0], studio.LiveOffer(entries[0]), true))
		return class, booked[1], who[1]
	}
	wantNotes := func(of ...tenant.SessionID) {
		t.Helper()
		decisions, _, err := studio.App.Waitlists.ListWaitlistDecisions(t.Context(), studio.Owner,
			waitlists.DecisionQuery{OpenNotes: true, Limit: 9})
		must.NoError(t, err)
		var got []tenant.SessionID
		for _, d := range decisions {
			must.NotEq(t, "", d.Note)
			got = append(got, d.Session.ID)
		}
		must.Eq(t, of, got)
	}
	first, _, _ := leave(testkit.InTwoDays)
	second, booking, holder := leave(testkit.InTwoDays.Add(2 * time.Hour))
	third, _, _ := leave(testkit.InTwoDays.Add(4 * time.Hour))
	wantNotes(third, second, first)

	studio.CancelSession(third)
	wantNotes(second, first)

	// A pair joins, and gets the open seat together with the next one that is freed.
	pair := testkit.ForSessions(second)
	pair.Party = 2
	studio.AddWaiters(1, pair)
	studio.MustCancel(holder, booking)
	wantNotes(first)

	studio.Clock.Set(testkit.InTwoDays.Add(time.Minute))
	wantNotes(first)
	studio.Clock.Set(testkit.InTwoDays.Add(time.Hour))
	wantNotes()
}
