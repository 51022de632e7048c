package schedules_test

import (
	"context"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func seriesTitle(id tenant.SeriesID, title string) schedules.SeriesEdit {
	return schedules.SeriesEdit{
		Series: id, Scope: schedules.All, Template: session.Input{Title: title}, Fields: session.TitleField,
	}
}

func endSeries(studio *testkit.Studio, id tenant.SeriesID, date string) schedules.SeriesEndResult {
	studio.T.Helper()
	return expect.Value(studio.App.Schedules.EndSeries(context.Background(), studio.Owner, schedules.SeriesEndRequest{
		Series: id, Date: civiltest.Date(date), Reason: "few came", Notify: true,
	}))(studio.T)
}

// Booked sessions are cancelled, others are deleted, and what staff changed or cancelled by itself stays.
func TestEndSeries_CancelsWhatIsBookedAndDeletesTheRest(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	series, ids := studio.CreateSeries(studio.SeriesInput()) // 17, 19, 24, 26, 31 March, and 2 April
	mia := studio.AddMember("Mia")
	pack := studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5}))
	studio.MustBook(mia, ids[0])
	studio.MustBook(mia, ids[2])
	studio.EditSeries(schedules.SeriesEdit{
		Series: series.ID, Scope: schedules.One, Session: ids[4], Template: session.Input{Title: "Special"},
		Fields: session.TitleField,
	})
	expect.OK(t)(studio.App.Schedules.CancelSession(t.Context(), studio.Owner, ids[5], schedules.Removal{}))
	done := endSeries(studio, series.ID, "2026-03-24")
	test.Eq(t, []tenant.SessionID{ids[2]}, done.Cancelled)
	test.Eq(t, []tenant.SessionID{ids[3]}, done.Deleted)
	test.EqOp(t, 1, done.Bookings)
	test.EqOp(t, 1, done.Credits)
	test.EqOp(t, 4, studio.Balance(pack))
	wantStarts(studio, series.ID,
		"03-17 18:00", "03-19 18:00", "03-24 18:00 cancelled", "03-26 18:00 deleted", "03-31 18:00", "04-02 18:00 cancelled")
	test.EqOp(t, "FREQ=WEEKLY;UNTIL=20260323;BYDAY=TU,TH", done.Series.Rule)
	test.EqOp(t, "2026-03-23", done.Series.MaterializedUntil.String())
	test.EqOp(t, session.SeriesActive, done.Series.Status)
	test.EqOp(t, 2, done.Series.Version)
	stored := done.Series
	stored.Excluded = []civil.Date{}
	test.Eq(t, stored, expect.Value(studio.App.Schedules.GetSeries(t.Context(), studio.Owner, series.ID))(t))
	test.EqOp(t, 1, studio.Count(
		`select count(*) from audit_entries where action = 'series.ended' and reason = 'few came'`))
	again := endSeries(studio, series.ID, "2026-03-24")
	test.EqOp(t, 2, again.Series.Version, test.Sprint("nothing was to end"))
	test.SliceEmpty(t, again.Deleted)
	studio.WantSound()
}

// A series that was ended can go on: its days are free for sessions again.
func TestEndSeries_CanBeTakenBack(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	series, _ := studio.CreateSeries(studio.SeriesInput())
	endSeries(studio, series.ID, "2026-03-16") // before its first session
	wantStarts(studio, series.ID, "03-17 18:00 deleted", "03-19 18:00 deleted", "03-24 18:00 deleted",
		"03-26 18:00 deleted", "03-31 18:00 deleted", "04-02 18:00 deleted")
	expect.Reason(t, fault.RecurrenceInvalid)(
		studio.App.Schedules.UpdateSeries(t.Context(), studio.Owner, seriesTitle(series.ID, "Other")))
	done := studio.EditSeries(schedules.SeriesEdit{
		Series: series.ID, Scope: schedules.All,
		Pattern: session.Pattern{Rule: "FREQ=WEEKLY;BYDAY=TU;COUNT=2"}, PatternFields: session.RuleField,
	})
	test.SliceLen(t, 2, done.Created)
}

func TestEndSeries_StopsAnEndlessSeries(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	series := studio.CreateEndlessSeries("FREQ=WEEKLY")
	done := endSeries(studio, series.ID, "2026-04-01")
	test.False(t, done.Series.OpenEnded)
	test.SliceLen(t, 50, done.Deleted)
	studio.Clock.Advance(300 * 24 * time.Hour)
	test.EqOp(t, 0, expect.Value(studio.App.Schedules.ExtendSeries(t.Context(), studio.Tenant))(t))
	got := expect.Value(studio.App.Schedules.GetSeries(t.Context(), studio.Owner, series.ID))(t)
	test.EqOp(t, session.SeriesEnded, got.Status)
}

func TestEndSeries_ReturnsEachReason(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	series, _ := studio.CreateSeries(studio.SeriesInput())
	good := schedules.SeriesEndRequest{Series: series.ID, Date: civiltest.Date("2026-03-20")}
	for name, tt := range map[string]struct {
		by     tenant.Caller
		change func(*schedules.SeriesEndRequest)
		want   fault.Reason
	}{
		"no such day":     {studio.Owner, func(r *schedules.SeriesEndRequest) { r.Date.Day = 32 }, fault.InvalidField},
		"another version": {studio.Owner, func(r *schedules.SeriesEndRequest) { r.Expect = new(7) }, fault.ETagMismatch},
		"a bell in the reason": {
			studio.Owner, func(r *schedules.SeriesEndRequest) { r.Reason = "\a" }, fault.InvalidField,
		},
		"no such series": {
			studio.Owner, func(r *schedules.SeriesEndRequest) { r.Series = testkit.NewID[tenant.SeriesID]() },
			fault.SeriesNotFound,
		},
		"another tenant": {studio.OtherTenant().Owner, func(*schedules.SeriesEndRequest) {}, fault.SeriesNotFound},
	} {
		r := good
		tt.change(&r)
		_, err := studio.App.Schedules.EndSeries(t.Context(), tt.by, r)
		test.EqOp(t, tt.want, fault.ReasonOf(err), test.Sprint(name))
	}
}

func TestListSeries_FiltersAndPages(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	add := func(title, rule string, coach tenant.MemberID) tenant.SeriesID {
		in := studio.SeriesInput()
		in.Template.Title, in.Rule, in.Template.Coach = title, rule, coach
		made, _ := studio.CreateSeries(in)
		return made.ID
	}
	yoga := add("Yoga", "FREQ=DAILY;COUNT=2", studio.Coach.Member)
	boxing := add("boxing", "FREQ=DAILY;COUNT=3", tenant.MemberID{})
	cycling := add("Cycling", "FREQ=MONTHLY;BYMONTHDAY=1", tenant.MemberID{})
	studio.OtherTenant().CreateEndlessSeries("FREQ=WEEKLY")
	studio.Clock.Advance(3 * 24 * time.Hour) // to the 19th: yoga's last day was the 18th
	list := func(q schedules.SeriesQuery) (ids []tenant.SeriesID) {
		if q.Limit == 0 {
			q.Limit = 10
		}
		for _, s := range expect.Value(studio.App.Schedules.ListSeries(t.Context(), studio.Owner, q))(t) {
			ids = append(ids, s.ID)
		}
		return ids
	}
	only := func(f session.SeriesFilter) []tenant.SeriesID { return list(schedules.SeriesQuery{SeriesFilter: f}) }
	test.Eq(t, []tenant.SeriesID{boxing, cycling, yoga}, only(session.SeriesFilter{}))
	test.Eq(t, []tenant.SeriesID{boxing, cycling},
		only(session.SeriesFilter{Statuses: []session.SeriesStatus{session.SeriesActive}}))
	test.Eq(t, []tenant.SeriesID{yoga},
		only(session.SeriesFilter{Statuses: []session.SeriesStatus{session.SeriesEnded}}))
	test.Eq(t, []tenant.SeriesID{yoga}, only(session.SeriesFilter{Coaches: []tenant.MemberID{studio.Coach.Member}}))
	test.SliceEmpty(t, only(session.SeriesFilter{Resources: []tenant.ResourceID{testkit.NewID[tenant.ResourceID]()}}))
	test.SliceLen(t, 3, only(session.SeriesFilter{
		Locations: []tenant.LocationID{studio.Location}, Services: []tenant.ServiceID{studio.Service},
	}))
	first := list(schedules.SeriesQuery{Limit: 1})
	must.Eq(t, []tenant.SeriesID{boxing}, first)
	test.Eq(t, []tenant.SeriesID{cycling, yoga}, list(schedules.SeriesQuery{AfterTitle: "boxing", AfterID: boxing}))
}
