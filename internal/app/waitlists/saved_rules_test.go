package waitlists_test

import (
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Saved rules that no longer compile, as after an update of the library, are an error of the server, and no caller's.
func TestSavedRules_ThatNoLongerCompileAreAnError(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetRules(func(s *waitlist.Settings) { s.EligibilityExpression = new("true") })
	class, who, booked := studio.AddFullSession(1)
	waiting, entries := studio.AddWaiters(2, testkit.ForSessions(class))
	late := studio.AddMember("Late")
	studio.Exec(`update policies set waitlist_rules = replace(waitlist_rules::text, '"true"', '"no_longer_known"')::jsonb
		where tenant_id = $1`, studio.Owner.Tenant)
	app, ctx, owner := studio.App, t.Context(), studio.Owner
	for call, err := range map[string]error{
		"cancel":  expect.Error(studio.Cancel(who[0], booked[0])),
		"join":    expect.Error(studio.Join(late, testkit.ForSessions(class))),
		"move":    expect.Error(app.Waitlists.MoveWaitlistEntry(ctx, owner, entries[1], entries[0], "first")),
		"explain": expect.Error(app.Waitlists.ExplainSessionWaitlist(ctx, owner, class)),
		"entries": expect.Error(app.Waitlists.ListWaitlistEntries(ctx, owner, waitlistdb.EntryQuery{Limit: 9})),
		"roster":  expect.Error(app.Bookings.GetSessionRoster(ctx, owner, class)),
		"session": expect.Error(app.Schedules.GetSession(ctx, waiting[0], class)),
		"sessions": expect.Error(app.Schedules.ListSessions(ctx, waiting[0], schedules.SessionQuery{
			Filter: session.Filter{From: testkit.Noon.AddDate(0, 0, -1)}, Limit: 9,
		})),
	} {
		test.ErrorContains(t, err, "saved rules do not compile", test.Sprint(call))
		test.EqOp(t, "", fault.ReasonOf(err), test.Sprint(call))
	}
}
