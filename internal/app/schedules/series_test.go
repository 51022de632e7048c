package schedules_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// starts lists a series' sessions in short, by start: when they begin in Berlin, and what became of them.
func starts(studio *testkit.Studio, id tenant.SeriesID) []string {
	studio.T.Helper()
	rows := expect.Value(studio.DB.Owner.Query(context.Background(), `
select to_char(starts_at at time zone 'Europe/Berlin',
'MM-DD HH24:MI') || case when deleted_at is not null then ' deleted'
  when state = 'CANCELLED' then ' cancelled' when state = 'DRAFT' then ' draft' else '' end
from sessions where series_id = $1 order by starts_at, id`, id))(studio.T)
	defer rows.Close()
	var all []string
	for rows.Next() {
		var text string
		must.NoError(studio.T, rows.Scan(&text))
		all = append(all, text)
	}
	return all
}

func wantStarts(studio *testkit.Studio, id tenant.SeriesID, want ...string) {
	studio.T.Helper()
	test.EqOp(studio.T, "", cmp.Diff(want, starts(studio, id)), test.Sprint("sessions (-want +got)\n"))
}

func clockOf(text string) session.Pattern {
	return session.Pattern{Time: civiltest.TimeOfDay(text)}
}

func TestSeries_KeepsTimeOfDayAcrossClockChanges(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	in := studio.SeriesInput()
	in.Template.Coach, in.Excluded = studio.Coach.Member, []civil.Date{civiltest.Date("2026-03-26")}
	s, ids := studio.CreateSeries(in)
	wantStarts(studio, s.ID, "03-17 18:00", "03-19 18:00", "03-24 18:00", "03-31 18:00", "04-02 18:00")
	test.SliceLen(t, 5, ids, test.Sprintf("%d sessions, %+v", len(ids), s))
	test.EqOp(t, "Vinyasa", s.Title, test.Sprintf("%d sessions, %+v", len(ids), s))
	test.EqOp(t, time.Hour, s.Duration, test.Sprintf("%d sessions, %+v", len(ids), s))
	test.False(t, s.OpenEnded, test.Sprintf("%d sessions, %+v", len(ids), s))
	test.EqOp(t, "2026-04-02", s.MaterializedUntil.String(), test.Sprintf("%d sessions, %+v", len(ids), s))
	winter, summer := studio.GetSession(ids[0]), studio.GetSession(ids[3])
	test.EqOp(t, 17, winter.StartsAt.Hour())
	test.EqOp(t, 16, summer.StartsAt.Hour())
	test.EqOp(t, time.Hour, summer.EndsAt.Sub(summer.StartsAt))
	test.EqOp(t, catalog.Published, winter.State)
	test.EqOp(t, studio.Coach.Member, winter.Coach)
	test.EqOp(t, s.ID, winter.Series)
	test.EqOp(t, "2026-03-17", winter.LocalDate.String())
	test.Eq(t, s, expect.Value(studio.App.Schedules.GetSeries(context.Background(), studio.Owner, s.ID))(t))
	expect.Reason(t, fault.SeriesNotFound)(
		studio.App.Schedules.GetSeries(context.Background(), studio.OtherTenant().Owner, s.ID),
	)
	test.EqOp(t, "session.created", studio.SessionEvents(ids[4]), test.Sprint("no one was notified"))
	test.EqOp(t, 1, studio.Count(`select count(*) from audit_entries where action = 'series.created'`),
		test.Sprint("no one was notified"))
}

func TestCreateSeries_WithoutAnEndCoversAYear(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	in := studio.SeriesInput()
	in.Rule, in.Publish = "FREQ=WEEKLY", false
	s, ids := studio.CreateSeries(in)
	test.SliceLen(t, 53, ids, test.Sprintf("%d sessions up to %s", len(ids), s.MaterializedUntil))
	test.True(t, s.OpenEnded, test.Sprintf("%d sessions up to %s", len(ids), s.MaterializedUntil))
	test.EqOp(t, "2027-03-17", s.MaterializedUntil.String(),
		test.Sprintf("%d sessions up to %s", len(ids), s.MaterializedUntil))
	test.EqOp(t, catalog.Draft, studio.GetSession(ids[0]).State)
}

func TestCreateSeries_ReturnsEachReason(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	room := studio.AddResource(catalog.Resource{Name: "Studio"})
	taken := studio.SessionInput(time.Date(2026, 3, 31, 16, 30, 0, 0, time.UTC)) // the fifth occurrence
	taken.Resource, taken.Coach = room, studio.Coach.Member
	studio.CreateSession(taken, true)
	for name, tt := range map[string]struct {
		change func(*schedules.SeriesInput)
		reason fault.Reason
		field  string
	}{
		"no rule at all": {func(in *schedules.SeriesInput) { in.Rule = "every day" }, fault.RecurrenceInvalid, "series.rule"},
		"nothing comes of it": {
			func(in *schedules.SeriesInput) { in.Rule = "FREQ=DAILY;UNTIL=20260301" }, fault.RecurrenceInvalid, "series.rule",
		},
		"too much comes of it": {func(in *schedules.SeriesInput) {
			in.Rule, in.Duration = "FREQ=DAILY;BYHOUR=8,9,10,11,12,13,14,15,16,17,18,19,20,21", time.Minute
			in.Rule += ";BYMINUTE=0,30"
		}, fault.RecurrenceInvalid, "series.rule"},
		"it never ends": {
			func(in *schedules.SeriesInput) { in.Rule = "FREQ=MONTHLY;COUNT=1000" }, fault.RecurrenceInvalid, "series.rule",
		},
		"no such day": {
			func(in *schedules.SeriesInput) { in.Date.Day = 32 }, fault.RecurrenceInvalid, "series.start_date",
		},
		"long ago": {
			func(in *schedules.SeriesInput) { in.Date.Year = 1999 }, fault.InvalidField, "series.start_date",
		},
		"not on the minute": {
			func(in *schedules.SeriesInput) { in.Time.Second = 1 }, fault.InvalidField, "series.start_time_of_day",
		},
		"no such hour": {
			func(in *schedules.SeriesInput) { in.Time.Hour = 24 }, fault.RecurrenceInvalid, "series.start_time_of_day",
		},
		"longer than a week": {
			func(in *schedules.SeriesInput) { in.Duration = 8 * 24 * time.Hour }, fault.RecurrenceInvalid, "series.duration",
		},
		"no such service": {
			func(in *schedules.SeriesInput) { in.Template.Service = testkit.NewID[tenant.ServiceID]() }, fault.ServiceNotFound,
			"series.service_id",
		},
		"no such location": {
			func(in *schedules.SeriesInput) { in.Template.Location = testkit.NewID[tenant.LocationID]() },
			fault.LocationNotFound, "series.location_id",
		},
		"a member cannot lead": {
			func(in *schedules.SeriesInput) { in.Template.Coach = studio.AddMember("Mia").Member }, fault.CoachInvalid,
			"series.coach_id",
		},
		"the resource is taken once": {
			func(in *schedules.SeriesInput) { in.Template.Resource = room }, fault.ResourceBusy, "series.resource_id",
		},
		"the coach is taken once": {
			func(in *schedules.SeriesInput) { in.Template.Coach = studio.Coach.Member }, fault.StaffBusy, "series.coach_id",
		},
		"its sessions clash with each other": {func(in *schedules.SeriesInput) {
			in.Rule, in.Duration, in.Template.Resource = "FREQ=DAILY;COUNT=3", 25*time.Hour, room
		}, fault.ResourceBusy, "series.resource_id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := studio.SeriesInput()
			tt.change(&in)
			test.EqOp(t, tt.field,
				expect.Reason(t, tt.reason)(studio.App.Schedules.CreateSeries(t.Context(), studio.Owner, in)).Field)
		})
	}
}

func TestExtendSeries_CreatesWhatIsMissing(t *testing.T) {
	t.Parallel()
	tracer := new(pgtest.Tracer)
	studio := testkit.New(t, func(c *pg.Config) { c.Tracer = tracer })
	room, in := studio.AddResource(catalog.Resource{Name: "Studio"}), studio.SeriesInput()
	in.Rule, in.Template.Resource = "FREQ=WEEKLY", room
	s, _ := studio.CreateSeries(in)
	bounded, _ := studio.CreateSeries(studio.SeriesInput())
	extend := func() int {
		t.Helper()
		return expect.Value(studio.App.Schedules.ExtendSeries(t.Context(), studio.Tenant))(t)
	}
	test.EqOp(t, 0, extend(), test.Sprint("sessions at once"))
	studio.Clock.Set(testkit.Noon.AddDate(0, 0, 8*7))
	busy := studio.SessionInput(time.Date(2027, 3, 30, 16, 30, 0, 0, time.UTC))
	busy.Resource = room
	studio.CreateSession(busy, true)
	test.EqOp(t, 7, extend(), test.Sprint("sessions after eight weeks, want 8 but for the one whose room is taken"))
	test.EqOp(t, 0, extend(), test.Sprint("sessions the second time"))
	studio.Clock.Set(testkit.Noon.AddDate(0, 0, 8*7+30))
	test.EqOp(t, 0, extend(), test.Sprint("sessions thirty days later"))
	studio.Clock.Set(testkit.Noon.AddDate(0, 0, 8*7+31))
	studio.SetResourceActive(room, false)
	test.EqOp(t, 0, extend(), test.Sprint("sessions in a room that is no more"))
	studio.SetResourceActive(room, true)
	test.EqOp(t, 4, extend(), test.Sprint("sessions when it is back, want 4"))
	left := studio.LastAudit("series.extended")["left_out"]
	test.True(t, cmp.Equal(left, []any{"2027-03-30T16:00:00Z"}), test.Sprintf("left out: %v", left))
	daily := studio.CreateEndlessSeries("FREQ=DAILY")
	studio.Exec(`update series set rule = 'NEVER' where id = $1`, s.ID)
	for _, step := range []struct{ days, want int }{{24 * 7, 24*7 - (8*7 + 31)}, {600, 366}} { // none in the past
		studio.Clock.Set(testkit.Noon.AddDate(0, 0, step.days))
		made, err := studio.App.Schedules.ExtendSeries(t.Context(), studio.Tenant)
		test.EqOp(t, step.want, made,
			test.Sprintf("%d sessions of %s, while another series fails: %v", made, daily.ID, err))
		test.Error(t, err, test.Sprintf("%d sessions of %s, while another series fails: %v", made, daily.ID, err))
		test.StrContains(t, err.Error(), s.ID.String(),
			test.Sprintf("%d sessions of %s, while another series fails: %v", made, daily.ID, err))
	}
	test.EqOp(t, 6, studio.Count(`select count(*) from sessions where series_id = $1`, bounded.ID),
		test.Sprint("a series that ends has sessions"))
	test.EqOp(t, 0, studio.Count(`select count(*) - count(distinct occurs_at) from sessions where series_id = $1`, s.ID),
		test.Sprint("sessions are doubled"))
	studio.Clock.Set(testkit.Noon.AddDate(0, 0, 700))
	tracer.Batch = func(_ context.Context, _ *pgx.Conn, statements []*pgx.QueuedQuery) {
		if strings.Contains(statements[len(statements)-1].SQL, "from series r\n  join") { // it was listed
			tracer.Batch = nil
			studio.Exec(`update series set open_ended = false`)
		}
	}
	test.EqOp(t, 0, extend(), test.Sprint("sessions of series that got an end since they were listed"))
}
