package schedules_test

import (
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestFaults_FailTheCall(t *testing.T) {
	t.Parallel()
	s := testkit.NewFaults(t)
	app, ctx, owner := s.App.Schedules, t.Context(), s.Owner
	room := s.AddResource(catalog.Resource{Name: "Studio"})
	series, ids := s.CreateSeries(s.SeriesInput())
	class := s.AddSession(testkit.Session{Starts: testkit.Noon.Add(100 * time.Hour), Capacity: 1, Waitlist: 3})
	mia, leo := s.AddMember("Mia"), s.AddMember("Leo")
	full, open := s.AddSession(testkit.Session{Starts: testkit.Noon.Add(110 * time.Hour), Capacity: 1, Waitlist: 1}),
		s.AddSession(testkit.Session{Starts: testkit.Noon.Add(112 * time.Hour)})
	s.MustBook(s.AddMember("Zoe"), full)
	expect.OK(t)(s.App.Waitlists.CreateWaitlistOffer(ctx, owner, waitlists.OfferRequest{
		Session: open, Entry: s.MustWaitlist(leo, full),
	}))
	s.MustBook(s.AddMember("Noa"), class)
	s.MustWaitlist(mia, class)
	squats := workout(s.Studio, "Squats")
	led := s.SessionInput(testkit.Noon.Add(130 * time.Hour))
	led.Coach, led.Resource = s.Coach.Member, room
	week := schedules.BulkRequest{Filter: testkit.WeekFilter(), IncludeBooked: true}
	drafts := testkit.ImportHeader + "Vinyasa,Pier 1,2026-03-18,18:00,,60,,,2,3,,,published\n"
	all := func(e schedules.SeriesEdit) schedules.SeriesEdit {
		e.Series, e.Scope = series.ID, schedules.All
		return e
	}
	s.WantErrors(
		func() error { return expect.Error(app.CreateSession(ctx, owner, led, true)) },
		func() error {
			return expect.Error(app.UpdateSession(
				ctx, owner, class, nil, session.Input{Capacity: new(2), Resource: room},
				session.CapacityField|session.ResourceField,
			))
		},
		func() error { return expect.Error(app.BlockSession(ctx, owner, class, "")) },
		func() error { return expect.Error(app.UnblockSession(ctx, owner, class)) },
		func() error { return expect.Error(app.UnpublishSession(ctx, owner, ids[0], nil)) },
		func() error { return expect.Error(app.PublishSession(ctx, owner, ids[0], nil)) },
		func() error { return expect.Error(app.GetSession(ctx, mia, class)) },
		func() error { return expect.Error(app.ListSessions(ctx, mia, testkit.WeekQuery())) },
		func() error { return expect.Error(app.ListSessions(ctx, leo, testkit.WeekQuery())) }, // who has an entry
		func() error {
			return expect.Error(editWorkout(s.Studio, squats, nil, func(w *session.Workout) { w.Name = "Rows" }))
		},
		func() error { return expect.Error(app.CreateWorkout(ctx, owner, "Runs", "")) },
		func() error { return expect.Error(app.AddInlineWorkout(ctx, owner, class, "AMRAP", "")) },
		func() error {
			return expect.Error(app.SetWorkouts(ctx, owner, class, nil, []tenant.WorkoutID{squats}))
		},
		func() error { return expect.Error(app.ListSessionWorkouts(ctx, owner, class)) },
		func() error {
			return expect.Error(app.ListWorkouts(ctx, owner, schedules.WorkoutQuery{Limit: 9}))
		},
		func() error { return expect.Error(app.DeleteWorkout(ctx, owner, squats, nil)) },
		func() error { return expect.Error(app.GetSeries(ctx, owner, series.ID)) },
		func() error {
			return expect.Error(app.UpdateSeries(ctx, owner, schedules.SeriesEdit{
				Series: series.ID, Scope: schedules.One, Session: ids[0],
				Template: session.Input{Title: "Flow"}, Fields: session.TitleField,
			}))
		},
		func() error {
			in := s.SeriesInput()
			in.Template.Coach = s.Coach.Member
			return expect.Error(app.CreateSeries(ctx, owner, in))
		},
		func() error {
			return expect.Error(app.UpdateSeries(ctx, owner, all(schedules.SeriesEdit{
				Pattern: session.Pattern{Rule: "FREQ=WEEKLY;BYDAY=TU,WE;COUNT=9"}, PatternFields: session.RuleField,
				Template: session.Input{Title: "Flow"}, Fields: session.TitleField,
			})))
		},
		func() error {
			return expect.Error(app.ImportSessions(
				ctx, owner, expect.Value(session.ParseImport([]byte(drafts)))(t), false, nil))
		},
		func() error {
			return expect.Error(app.UpdateSeries(ctx, owner, schedules.SeriesEdit{
				Series: series.ID, Scope: schedules.Following, Session: ids[1],
				Pattern: session.Pattern{Rule: "FREQ=WEEKLY;BYDAY=TU,TH;COUNT=3"}, PatternFields: session.RuleField,
			}))
		},
		func() error {
			_, _, err := app.PreviewBulkSessions(ctx, owner, session.BulkCancel, week)
			return err
		},
		func() error {
			return expect.Error(app.CancelSession(ctx, owner, class, schedules.Removal{Notify: true}))
		},
		func() error {
			return expect.Error(app.CancelSession(ctx, owner, full, schedules.Removal{Notify: true}))
		},
		func() error { return expect.Error(app.BulkCancelSessions(ctx, owner, week)) },
		func() error { return expect.Error(app.BulkDeleteSessions(ctx, owner, week)) },
		func() error { return expect.Error(app.BulkPublishSessions(ctx, owner, week)) },
	)
	s.CreateEndlessSeries("FREQ=WEEKLY")
	s.Clock.Advance(30 * 24 * time.Hour)
	s.WantErrors(func() error { return expect.Error(app.ExtendSeries(ctx, s.Tenant)) })
}
