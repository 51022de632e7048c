package schedules_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// TestCoachLeaves covers what happens to the sessions of somebody who loses the role that leads them, or leaves.
func TestCoachLeaves(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	var (
		ctx     = t.Context()
		app     = studio.App
		start   = testkit.InTwoDays
		ana     = studio.AddPerson("Ana", tenant.RoleCoach)
		bea     = studio.AddPerson("bea", tenant.RoleCoach)
		mia     = studio.AddMember("Mia")
		morning = studio.AddSession(testkit.Session{Starts: start, Coach: ana})
		noon    = studio.AddSession(testkit.Session{Starts: start.Add(4 * time.Hour), Coach: ana})
		draft   = studio.AddSession(testkit.Session{Starts: start.Add(6 * time.Hour), Coach: ana, State: catalog.Draft})
		all     = []tenant.SessionID{morning, noon, draft}
		idsOf   = func(found []catalog.SessionSummary) []tenant.SessionID {
			ids := make([]tenant.SessionID, 0, len(found))
			for _, s := range found {
				ids = append(ids, s.ID)
			}
			return ids
		}
		search = func(from, until time.Time) schedules.Substitutes {
			return expect.Value(app.Schedules.FindSubstitutes(ctx, studio.Owner, ana.Member, from, until))(t)
		}
		none time.Time
	)
	studio.AddSession(testkit.Session{Starts: start.Add(8 * time.Hour), Coach: ana, State: catalog.Cancelled})
	for after, state := range map[time.Duration]catalog.SessionState{
		30 * time.Minute: catalog.Published, // overlaps the morning
		4 * time.Hour:    catalog.Cancelled, // is not held
		5 * time.Hour:    catalog.Published, // begins as noon ends
	} {
		studio.AddSession(testkit.Session{Starts: start.Add(after), Coach: bea, State: state})
	}

	// Somebody who is an admin, too, goes on leading them.
	expect.OK(t)(app.Accounts.AssignRole(ctx, studio.Owner, ana.Member, tenant.RoleAdmin))
	left := expect.Value(app.Accounts.RevokeRole(ctx, studio.Owner, ana.Member, tenant.RoleCoach))(t)
	test.EqOp(t, 0, left.WithoutCoach.Count)
	for range 2 { // again: the same answer
		left = expect.Value(app.Accounts.RevokeRole(ctx, studio.Owner, ana.Member, tenant.RoleAdmin))(t)
		test.Eq(t, []string{tenant.RoleMember}, left.Roles)
		test.EqOp(t, 3, left.WithoutCoach.Count)
		test.Eq(t, all, idsOf(left.WithoutCoach.Sessions))
	}

	names := func(list []session.Substitute) map[string]int {
		count := make(map[string]int)
		for _, one := range list {
			count[one.Name] = len(one.Sessions)
		}
		return count
	}
	found := search(none, none)
	test.EqOp(t, 3, found.Count)
	test.Eq(t, all, idsOf(found.Sessions))
	test.Eq(t, map[string]int{"Olga Owner": 3, "Carla Coach": 3, "bea": 2}, names(found.Substitutes))
	must.SliceLen(t, 3, found.Substitutes)
	test.EqOp(t, "Carla Coach", found.Substitutes[0].Name)
	test.Eq(t, []tenant.SessionID{noon, draft}, found.Substitutes[2].Sessions)
	test.Eq(t, []tenant.SessionID{noon}, idsOf(search(start.Add(time.Hour), start.Add(6*time.Hour)).Sessions))
	test.EqOp(t, 0, search(start.Add(time.Hour), start).Count)

	// A coach without session.read_drafts is told of no draft.
	reads := studio.Coach
	reads.May = tenant.Permissions{"session.update": true}
	hidden := expect.Value(app.Schedules.FindSubstitutes(ctx, reads, ana.Member, none, none))(t)
	test.Eq(t, []tenant.SessionID{morning, noon}, idsOf(hidden.Sessions))

	// Members see who leads while that person is with the studio, and then no more.
	named := func() string {
		views := expect.Value(app.Schedules.ListSessions(ctx, mia, schedules.SessionQuery{
			Filter: session.Filter{From: start, Until: start.Add(time.Minute)}, Limit: 10,
		}))(t)
		must.SliceLen(t, 1, views)
		one := expect.Value(app.Schedules.GetSession(ctx, mia, morning))(t)
		test.EqOp(t, views[0].CoachName, one.CoachName)
		return one.CoachName
	}
	test.EqOp(t, "Ana", named())
	gone := expect.Value(app.Accounts.DeactivateMember(ctx, studio.Owner, ana.Member))(t)
	test.EqOp(t, 3, gone.WithoutCoach.Count)
	test.Eq(t, all, idsOf(gone.WithoutCoach.Sessions))
	test.EqOp(t, "", named())
	booked := studio.MustBook(mia, morning)
	test.EqOp(t, "", expect.Value(app.Bookings.GetBooking(ctx, mia, booked))(t).CoachName)

	// The substitute takes over, and what is past stays as it was.
	studio.EditSession(morning, session.Input{Coach: studio.Coach.Member}, session.CoachField)
	test.EqOp(t, "Carla Coach", named())
	test.Eq(t, []tenant.SessionID{noon, draft}, idsOf(search(none, none).Sessions))
	studio.Clock.Advance(7 * 24 * time.Hour)
	test.EqOp(t, 0, search(none, none).Count)
	gone = expect.Value(app.Accounts.DeactivateMember(ctx, studio.Owner, ana.Member))(t)
	test.EqOp(t, 0, gone.WithoutCoach.Count)
}

func TestFindSubstitutes_OfAnotherTenant(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	other := studio.OtherTenant()
	studio.AddSession(testkit.Session{Coach: studio.Coach})
	other.AddSession(testkit.Session{Coach: other.Coach})
	found := expect.Value(studio.App.Schedules.FindSubstitutes(
		t.Context(), other.Owner, studio.Coach.Member, time.Time{}, time.Time{}))(t)
	test.EqOp(t, 0, found.Count)
	test.SliceEmpty(t, found.Sessions)
}
