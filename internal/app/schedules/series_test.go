package schedules_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// starts lists a series' sessions in short, by start: when they begin in Berlin, and what became of them.
func starts(h *testkit.Studio, id tenant.SeriesID) []string {
	h.T.Helper()
	rows, err := h.DB.Owner.Query(context.Background(), `
select to_char(starts_at at time zone 'Europe/Berlin',
'MM-DD HH24:MI') || case when deleted_at is not null then ' deleted'
  when state = 'CANCELLED' then ' cancelled' when state = 'DRAFT' then ' draft' else '' end
from sessions where series_id = $1 order by starts_at, id`, id)
	if err != nil {
		h.T.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			h.T.Fatal(err)
		}
		all = append(all, text)
	}
	return all
}

func wantStarts(h *testkit.Studio, id tenant.SeriesID, want ...string) {
	h.T.Helper()
	if diff := cmp.Diff(want, starts(h, id)); diff != "" {
		h.T.Errorf("sessions (-want +got)\n%s", diff)
	}
}

func clockOf(text string) session.Pattern {
	return session.Pattern{Time: civil.MustParseTimeOfDay(text)}
}

func TestSeries_KeepsTimeOfDayAcrossClockChanges(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	in := h.SeriesInput()
	in.Template.Coach, in.Excluded = h.Coach.Member, []civil.Date{civil.MustParseDate("2026-03-26")}
	s, ids := h.CreateSeries(in)
	wantStarts(h, s.ID, "03-17 18:00", "03-19 18:00", "03-24 18:00", "03-31 18:00", "04-02 18:00")
	if len(ids) != 5 || s.Title != "Vinyasa" || s.Duration != time.Hour || s.OpenEnded ||
		s.MaterializedUntil.String() != "2026-04-02" {
		t.Errorf("%d sessions, %+v", len(ids), s)
	}
	winter, summer := h.GetSession(ids[0]), h.GetSession(ids[3])
	if winter.StartsAt.Hour() != 17 || summer.StartsAt.Hour() != 16 || summer.EndsAt.Sub(summer.StartsAt) != time.Hour {
		t.Errorf("%s, %s", winter.StartsAt, summer.StartsAt)
	}
	if winter.State != catalog.Published || winter.Coach != h.Coach.Member || winter.Series != s.ID ||
		winter.LocalDate.String() != "2026-03-17" {
		t.Errorf("%+v", winter)
	}
	read, err := h.App.Schedules.GetSeries(context.Background(), h.Owner, s.ID)
	if diff := cmp.Diff(s, read); err != nil || diff != "" {
		t.Errorf("%v (-made +read)\n%s", err, diff)
	}
	_, err = h.App.Schedules.GetSeries(context.Background(), h.OtherTenant().Owner, s.ID)
	testkit.WantReason(t, err, fault.SeriesNotFound)
	if h.SessionEvents(ids[4]) != "session.created" ||
		h.Count(`select count(*) from audit_entries where action = 'series.created'`) != 1 {
		t.Error("nobody was told")
	}
}

func TestCreateSeries_WithoutAnEndCoversAYear(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	in := h.SeriesInput()
	in.Rule, in.Publish = "FREQ=WEEKLY", false
	s, ids := h.CreateSeries(in)
	if len(ids) != 53 || !s.OpenEnded || s.MaterializedUntil.String() != "2027-03-17" {
		t.Errorf("%d sessions up to %s", len(ids), s.MaterializedUntil)
	}
	if got := h.GetSession(ids[0]); got.State != catalog.Draft {
		t.Errorf("state %s", got.State)
	}
}

func TestCreateSeries_ReturnsEachReason(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	room := h.AddResource(catalog.Resource{Name: "Studio"})
	taken := h.SessionInput(time.Date(2026, 3, 31, 16, 30, 0, 0, time.UTC)) // the fifth occurrence
	taken.Resource, taken.Coach = room, h.Coach.Member
	h.CreateSession(taken, true)
	for name, tt := range map[string]struct {
		change func(*schedules.SeriesInput)
		reason fault.Reason
		field  string
	}{
		"no rule at all": {func(in *schedules.SeriesInput) { in.Rule = "every day" }, fault.RecurrenceInvalid, "rule"},
		"nothing comes of it": {
			func(in *schedules.SeriesInput) { in.Rule = "FREQ=DAILY;UNTIL=20260301" }, fault.RecurrenceInvalid, "rule",
		},
		"too much comes of it": {func(in *schedules.SeriesInput) {
			in.Rule, in.Duration = "FREQ=DAILY;BYHOUR=8,9,10,11,12,13,14,15,16,17,18,19,20,21", time.Minute
			in.Rule += ";BYMINUTE=0,30"
		}, fault.RecurrenceInvalid, "rule"},
		"it never ends": {
			func(in *schedules.SeriesInput) { in.Rule = "FREQ=MONTHLY;COUNT=1000" }, fault.RecurrenceInvalid, "rule",
		},
		"no such day": {
			func(in *schedules.SeriesInput) { in.Date.Day = 32 }, fault.RecurrenceInvalid, "start_date",
		},
		"long ago": {
			func(in *schedules.SeriesInput) { in.Date.Year = 1999 }, fault.InvalidField, "start_date",
		},
		"not on the minute": {
			func(in *schedules.SeriesInput) { in.Time.Second = 1 }, fault.InvalidField, "start_time_of_day",
		},
		"no such hour": {
			func(in *schedules.SeriesInput) { in.Time.Hour = 24 }, fault.RecurrenceInvalid, "start_time_of_day",
		},
		"longer than a week": {
			func(in *schedules.SeriesInput) { in.Duration = 8 * 24 * time.Hour }, fault.RecurrenceInvalid, "duration",
		},
		"no such service": {
			func(in *schedules.SeriesInput) { in.Template.Service = testkit.NewID[tenant.ServiceID]() }, fault.ServiceNotFound,
			"template.service_id",
		},
		"no such location": {
			func(in *schedules.SeriesInput) { in.Template.Location = testkit.NewID[tenant.LocationID]() },
			fault.LocationNotFound, "template.location_id",
		},
		"a member cannot lead": {
			func(in *schedules.SeriesInput) { in.Template.Coach = h.AddMember("Mia").Member }, fault.CoachInvalid,
			"template.coach_id",
		},
		"the resource is taken once": {
			func(in *schedules.SeriesInput) { in.Template.Resource = room }, fault.ResourceBusy, "template.resource_id",
		},
		"the coach is taken once": {
			func(in *schedules.SeriesInput) { in.Template.Coach = h.Coach.Member }, fault.StaffBusy, "template.coach_id",
		},
		"it stands in its own way": {func(in *schedules.SeriesInput) {
			in.Rule, in.Duration, in.Template.Resource = "FREQ=DAILY;COUNT=3", 25*time.Hour, room
		}, fault.ResourceBusy, "template.resource_id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := h.SeriesInput()
			tt.change(&in)
			_, ids, err := h.App.Schedules.CreateSeries(context.Background(), h.Owner, in)
			testkit.WantReason(t, err, tt.reason)
			if got := testkit.FaultOf(err).Field; got != tt.field {
				t.Errorf("field %q, want %q: %v", got, tt.field, err)
			}
			if n := h.Count(`select count(*) from sessions where id = any($1)`, ids); n > 0 {
				t.Errorf("%d sessions were made all the same", n)
			}
		})
	}
}

func TestExtendSeries_CreatesWhatIsMissing(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	room := h.AddResource(catalog.Resource{Name: "Studio"})
	in := h.SeriesInput()
	in.Rule, in.Template.Resource = "FREQ=WEEKLY", room
	s, _ := h.CreateSeries(in)
	bounded, _ := h.CreateSeries(h.SeriesInput())
	extend := func() int {
		t.Helper()
		n, err := h.App.Schedules.ExtendSeries(ctx, h.Tenant)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := extend(); n != 0 {
		t.Errorf("%d sessions at once", n)
	}
	h.Clock.Set(testkit.Noon.AddDate(0, 0, 8*7))
	busy := h.SessionInput(time.Date(2027, 3, 30, 16, 30, 0, 0, time.UTC))
	busy.Resource = room
	h.CreateSession(busy, true)
	if n := extend(); n != 7 {
		t.Errorf("%d sessions after eight weeks, want 8 but for the one whose room is taken", n)
	}
	if left := h.LastAudit("series.extended")["left_out"]; !cmp.Equal(left, []any{"2027-03-30T16:00:00Z"}) {
		t.Errorf("left out: %v", left)
	}
	if n := extend(); n != 0 {
		t.Errorf("%d sessions the second time", n)
	}
	h.Clock.Set(testkit.Noon.AddDate(0, 0, 16*7))
	h.SetResourceActive(room, false)
	if n := extend(); n != 0 {
		t.Errorf("%d sessions in a room that is no more", n)
	}
	h.SetResourceActive(room, true)
	if n := extend(); n != 8 {
		t.Errorf("%d sessions when it is back, want 8", n)
	}
	if n := h.Count(`select count(*) from sessions where series_id = $1`, bounded.ID); n != 6 {
		t.Errorf("a series that ends has %d sessions", n)
	}
	if n := h.Count(`select count(*) - count(distinct occurs_at) from sessions where series_id = $1`, s.ID); n != 0 {
		t.Errorf("%d sessions are doubled", n)
	}
}
