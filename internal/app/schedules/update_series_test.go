package schedules_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestUpdateSeries_DetachesEditedSession(t *testing.T) {
	t.Parallel()
	testkit.Each(t, map[string]func(studio *testkit.Studio, s session.Series, id tenant.SessionID) error{
		"by the series": func(studio *testkit.Studio, s session.Series, id tenant.SessionID) error {
			done, err := studio.App.Schedules.UpdateSeries(context.Background(), studio.Owner, schedules.SeriesEdit{
				Series: s.ID, Scope: schedules.One, Session: id, Template: session.Input{Title: "Special"},
				Fields:  session.TitleField,
				Pattern: clockOf("20:00"), PatternFields: session.TimeOfDayField,
			})
			studio.EditSeries(schedules.SeriesEdit{
				Series: s.ID, Scope: schedules.One, Session: id, Pattern: session.Pattern{Duration: 90 * time.Minute},
				PatternFields: session.DurationField,
			})
			test.False(
				studio.T, err == nil &&
					(!slices.Equal(done.Updated, []tenant.SessionID{id}) || done.Series.Version != s.Version),
				test.Sprintf("%+v", done),
			)
			return err
		},
		"by itself": func(studio *testkit.Studio, _ session.Series, id tenant.SessionID) error {
			at := time.Date(2026, 3, 31, 18, 0, 0, 0, time.UTC)
			return expect.Error(studio.App.Schedules.UpdateSession(context.Background(), studio.Owner, id, nil,
				session.Input{
					Title: "Special", StartsAt: at, EndsAt: at.Add(90 * time.Minute),
				}, session.TitleField|session.StartField|session.EndField))
		},
	}, func(studio *testkit.Studio, edit func(studio *testkit.Studio, s session.Series, id tenant.SessionID) error) {
		s, ids := studio.CreateSeries(studio.SeriesInput())
		must.NoError(studio.T, edit(studio, s, ids[4]))
		special := studio.GetSession(ids[4])
		test.EqOp(studio.T, "Special", special.Title)
		test.EqOp(studio.T, s.ID, special.Series)
		test.EqOp(studio.T, 90*time.Minute, special.EndsAt.Sub(special.StartsAt))
		want := []string{"03-17 18:00", "03-19 18:00", "03-24 18:00", "03-26 18:00", "03-31 20:00", "04-02 18:00"}
		wantStarts(studio, s.ID, want...)

		// The series decides about the others from now on.
		done := studio.EditSeries(schedules.SeriesEdit{
			Series: s.ID, Scope: schedules.All, Pattern: clockOf("17:00"), PatternFields: session.TimeOfDayField,
		})
		must.SliceLen(studio.T, 5, done.Updated)
		test.EqOp(studio.T, 0, len(done.Created)+len(done.Cancelled))
		wantStarts(studio, s.ID, "03-17 17:00", "03-19 17:00", "03-24 17:00", "03-26 17:00", "03-31 20:00", "04-02 17:00")
	})
}

func TestUpdateSeries_KeepsBookings(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := studio.AddMember("Mia")
	studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Unlimited, DailyLimit: new(1)}))
	s, ids := studio.CreateSeries(studio.SeriesInput())
	var booked []tenant.BookingID
	for _, id := range ids {
		booked = append(booked, studio.MustBook(mia, id))
	}
	done := studio.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.All, Expect: new(1),
		Template:      session.Input{Title: "Flow", Coach: studio.Coach.Member},
		Fields:        session.TitleField | session.CoachField,
		Pattern:       session.Pattern{Time: civiltest.TimeOfDay("23:30"), Duration: 2 * time.Hour},
		PatternFields: session.TimeOfDayField | session.DurationField,
	})
	must.SliceLen(t, 6, done.Updated)
	test.EqOp(t, 0, len(done.Created)+len(done.Cancelled))
	test.EqOp(t, s.ID, done.Series.ID)
	test.EqOp(t, 2, done.Series.Version)
	wantStarts(studio, s.ID, "03-17 23:30", "03-19 23:30", "03-24 23:30", "03-26 23:30", "03-31 23:30", "04-02 23:30")
	for i, id := range booked {
		b, err := studio.App.Bookings.GetBooking(context.Background(), testkit.SelfOnly(mia), id)
		at := studio.GetSession(ids[i])
		must.NoError(t, err, must.Sprintf("booking %+v of %+v (%v)", b, at, err))
		test.EqOp(t, booking.Confirmed, b.Status, test.Sprintf("booking %+v of %+v (%v)", b, at, err))
		test.True(t, b.StartsAt.Equal(at.StartsAt), test.Sprintf("booking %+v of %+v (%v)", b, at, err))
		test.True(t, b.EndsAt.Equal(at.StartsAt.Add(2*time.Hour)), test.Sprintf("booking %+v of %+v (%v)", b, at, err))
		test.EqOp(t, "Flow", at.Title, test.Sprintf("booking %+v of %+v (%v)", b, at, err))
		test.EqOp(t, studio.Coach.Member, at.Coach, test.Sprintf("booking %+v of %+v (%v)", b, at, err))
	}
	test.EqOp(t, 6, studio.Count(`select count(*) from bookings where exclusive`),
		test.Sprint("bookings tolerate no overlap"))
	studio.WantSound()

	expect.Reason(t, fault.ETagMismatch)(studio.App.Schedules.UpdateSeries(
		context.Background(), studio.Owner,
		schedules.SeriesEdit{
			Series: s.ID, Scope: schedules.All, Expect: new(1), Template: session.Input{Title: "Old"},
			Fields: session.TitleField,
		},
	))
	again := studio.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.All, Template: session.Input{Title: "Flow"}, Fields: session.TitleField,
	})
	test.EqOp(t, 2, again.Series.Version, test.Sprintf("again: %+v", again))
	test.SliceEmpty(t, again.Updated, test.Sprintf("again: %+v", again))
}

func TestUpdateSeries_NewRuleAddsAndRemovesSessions(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia, noa := studio.AddMember("Mia"), studio.AddMember("Noa")
	sub := studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 6}))
	in := studio.SeriesInput()
	in.Template.Capacity = new(1)
	s, ids := studio.CreateSeries(in)
	tuesday, thursday := studio.MustBook(mia, ids[2]), studio.MustBook(mia, ids[3])
	studio.MustWaitlist(noa, ids[3])

	done := studio.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.All, Pattern: session.Pattern{Rule: "FREQ=WEEKLY;BYDAY=TU,FR;COUNT=6"},
		PatternFields: session.RuleField,
	})
	wantStarts(studio, s.ID, "03-17 18:00", "03-19 18:00 cancelled", "03-20 18:00", "03-24 18:00", "03-26 18:00 cancelled",
		"03-27 18:00",
		"03-31 18:00", "04-02 18:00 cancelled", "04-03 18:00")
	must.SliceEmpty(t, done.Updated)
	must.SliceLen(t, 3, done.Created)
	test.True(t, slices.Equal(done.Cancelled, []tenant.SessionID{ids[1], ids[3], ids[5]}), test.Sprintf("%+v", done))
	test.EqOp(t, "CONFIRMED", studio.BookingStatus(tuesday),
		test.Sprintf(
			"%s, %s, balance %d",
			studio.BookingStatus(tuesday), studio.BookingStatus(thursday), studio.Balance(sub),
		))
	test.EqOp(t, "CANCELLED", studio.BookingStatus(thursday),
		test.Sprintf(
			"%s, %s, balance %d",
			studio.BookingStatus(tuesday), studio.BookingStatus(thursday), studio.Balance(sub),
		))
	test.EqOp(t, 5, studio.Balance(sub),
		test.Sprintf(
			"%s, %s, balance %d",
			studio.BookingStatus(tuesday), studio.BookingStatus(thursday), studio.Balance(sub),
		))
	test.EqOp(t, 1, studio.Count(`select count(*) from waitlist_entries where status = 'CANCELLED'`),
		test.Sprint("who waited still waits"))
	studio.WantSound()

	// Back to the old pattern: dropped sessions are created again, because staff did not cancel these days individually.
	done = studio.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.All, Pattern: session.Pattern{Rule: "FREQ=WEEKLY;BYDAY=TU,TH;COUNT=6"},
		PatternFields: session.RuleField,
	})
	must.SliceLen(t, 3, done.Created, must.Sprintf("back again: %+v", done))
	test.SliceLen(t, 3, done.Cancelled, test.Sprintf("back again: %+v", done))
	open := slices.DeleteFunc(starts(studio, s.ID), func(s string) bool { return strings.Contains(s, "cancelled") })
	test.Eq(t, []string{"03-17 18:00", "03-19 18:00", "03-24 18:00", "03-26 18:00", "03-31 18:00", "04-02 18:00"}, open,
		test.Sprint("back again"))
}

func TestUpdateSeries_CancelsAndRefundsExcludedDays(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := studio.AddMember("Mia")
	sub := studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 6}))
	s, ids := studio.CreateSeries(studio.SeriesInput())
	studio.MustBook(mia, ids[1])
	done := studio.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.All,
		Pattern:       session.Pattern{Excluded: []civil.Date{civiltest.Date("2026-03-19")}},
		PatternFields: session.ExcludedField,
	})
	test.True(t, slices.Equal(done.Cancelled, []tenant.SessionID{ids[1]}),
		test.Sprintf("%+v, balance %d", done, studio.Balance(sub)))
	test.EqOp(t, 0, len(done.Updated)+len(done.Created), test.Sprintf("%+v, balance %d", done, studio.Balance(sub)))
	test.EqOp(t, 6, studio.Balance(sub), test.Sprintf("%+v, balance %d", done, studio.Balance(sub)))
}

func TestUpdateSeries_KeepsStartedAndCancelledSessions(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	s, ids := studio.CreateSeries(studio.SeriesInput())
	studio.Clock.Set(time.Date(2026, 3, 24, 17, 30, 0, 0, time.UTC)) // the third has begun
	expect.OK(t)(studio.App.Schedules.CancelSession(t.Context(), studio.Owner, ids[3], schedules.Removal{
		Reason: "ill", Notify: true,
	}))
	expect.OK(t)(studio.App.Schedules.BulkDeleteSessions(
		t.Context(), studio.Owner, schedules.BulkRequest{Filter: session.Filter{Sessions: []tenant.SessionID{ids[4]}}},
	))
	done := studio.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.All, Template: session.Input{Title: "Flow"}, Fields: session.TitleField,
		Pattern: clockOf("19:30"), PatternFields: session.TimeOfDayField,
	})
	test.True(t, slices.Equal(done.Updated, []tenant.SessionID{ids[5]}), test.Sprintf("%+v", done))
	test.EqOp(t, 0, len(done.Created)+len(done.Cancelled))
	wantStarts(
		studio, s.ID, "03-17 18:00", "03-19 18:00", "03-24 18:00", "03-26 18:00 cancelled", "03-31 18:00 deleted",
		"04-02 19:30",
	)
	got := studio.GetSession(ids[2])
	test.EqOp(t, "Vinyasa", got.Title, test.Sprintf("what has begun was edited: %+v", got))
	test.EqOp(t, 1, got.Version, test.Sprintf("what has begun was edited: %+v", got))
}

func TestUpdateSeries_FollowingSplitsTheSeries(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia, in := studio.AddMember("Mia"), studio.SeriesInput()
	in.Excluded = []civil.Date{civiltest.Date("2026-03-19"), civiltest.Date("2026-04-02")}
	s, ids := studio.CreateSeries(in) // 17, 24, 26, 31
	booked := studio.MustBook(mia, ids[3])

	done := studio.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.Following, Session: ids[2], Template: session.Input{Capacity: new(20)},
		Fields:  session.CapacityField,
		Pattern: clockOf("19:00"), PatternFields: session.TimeOfDayField,
	})
	tail := done.Series
	test.NotEqOp(t, s.ID, tail.ID)
	test.EqOp(t, 1, tail.Version)
	test.EqOp(t, 20, *tail.Capacity)
	test.EqOp(t, "2026-03-26", tail.Date.String())
	must.SliceLen(t, 2, done.Updated)
	test.EqOp(t, 0, len(done.Created)+len(done.Cancelled))
	wantStarts(studio, s.ID, "03-17 18:00", "03-24 18:00")
	wantStarts(studio, tail.ID, "03-26 19:00", "03-31 19:00")
	got := studio.GetSession(ids[3])
	test.EqOp(t, tail.ID, got.Series)
	test.EqOp(t, 20, *got.Capacity)
	test.EqOp(t, "CONFIRMED", studio.BookingStatus(booked))
	head := expect.Value(studio.App.Schedules.GetSeries(context.Background(), studio.Owner, s.ID))(t)
	test.EqOp(t, 2, head.Version, test.Sprintf("head %+v", head))
	must.SliceLen(t, 1, head.Excluded, must.Sprintf("head %+v", head))
	test.SliceLen(t, 1, tail.Excluded, test.Sprintf("head %+v", head))
	test.EqOp(t, "2026-03-25", head.MaterializedUntil.String(), test.Sprintf("head %+v", head))

	// The parts are series of their own: neither edit reaches the other, and none makes what is there already.
	done = studio.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.All, Pattern: clockOf("17:00"), PatternFields: session.TimeOfDayField,
	})
	must.SliceLen(t, 2, done.Updated, must.Sprintf("the head: %+v", done))
	test.EqOp(t, 0, len(done.Created)+len(done.Cancelled), test.Sprintf("the head: %+v", done))
	done = studio.EditSeries(schedules.SeriesEdit{
		Series: tail.ID, Scope: schedules.All, Pattern: session.Pattern{Excluded: []civil.Date{}},
		PatternFields: session.ExcludedField,
	})
	must.SliceEmpty(t, done.Updated, must.Sprintf("the tail: %+v", done))
	must.SliceLen(t, 1, done.Created, must.Sprintf("the tail: %+v", done))
	test.SliceEmpty(t, done.Cancelled, test.Sprintf("the tail: %+v", done))
	wantStarts(studio, s.ID, "03-17 17:00", "03-24 17:00")
	wantStarts(studio, tail.ID, "03-26 19:00", "03-31 19:00", "04-02 19:00")
}

func TestUpdateSeries_FollowingFromTheFirstEditsAll(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	s, ids := studio.CreateSeries(studio.SeriesInput())
	done := studio.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.Following, Session: ids[0], Pattern: clockOf("19:00"),
		PatternFields: session.TimeOfDayField, Fields: session.LocationField,
		Template: session.Input{Location: studio.AddLocation(catalog.Location{Name: "Quay", TimeZone: "Europe/Lisbon"})},
	})
	test.EqOp(t, s.ID, done.Series.ID)
	test.EqOp(t, "Europe/Lisbon", done.Series.TimeZone)
	test.SliceLen(t, 6, done.Updated)
	test.EqOp(t, 1, studio.Count(`select count(*) from series`))
	same := studio.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.Following, Session: ids[3], Pattern: clockOf("19:00"),
		PatternFields: session.TimeOfDayField,
	})
	test.EqOp(t, s.ID, same.Series.ID, test.Sprintf("an edit that changes nothing split the series: %+v", same))
	test.EqOp(t, 1, studio.Count(`select count(*) from series`),
		test.Sprintf("an edit that changes nothing split the series: %+v", same))
}

// A session that was edited by itself stays when the rule gives its day no more. The series can be split at its day.
func TestUpdateSeries_SplitsAtADetachedSession(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	s, ids := studio.CreateSeries(studio.SeriesInput())
	studio.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.One, Session: ids[2], Template: session.Input{Title: "Guest"},
		Fields: session.TitleField,
	})
	studio.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.All, Pattern: session.Pattern{Rule: "FREQ=WEEKLY;BYDAY=TH;COUNT=3"},
		PatternFields: session.RuleField,
	})
	expect.OK(t)(studio.App.Schedules.CancelSession(t.Context(), studio.Owner, ids[5], schedules.Removal{Notify: true}))
	done := studio.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.Following, Session: ids[2], Pattern: clockOf("19:00"),
		PatternFields: session.TimeOfDayField,
	})
	wantStarts(studio, s.ID, "03-17 18:00 cancelled", "03-19 18:00", "03-24 18:00", "03-31 18:00 cancelled")
	wantStarts(studio, done.Series.ID, "03-26 19:00", "04-02 18:00 cancelled")
}

func TestUpdateSeries_SplitsByDay(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	in := studio.SeriesInput()
	in.Rule = "FREQ=DAILY;BYHOUR=8,9,10;COUNT=6"
	in.Time = civiltest.TimeOfDay("08:00")
	in.Template.Resource = studio.AddResource(catalog.Resource{Name: "Tee 1"})
	s, ids := studio.CreateSeries(in)
	done := studio.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.Following, Session: ids[4],
		Pattern: session.Pattern{Rule: "FREQ=DAILY;BYHOUR=9,10,11;COUNT=3"}, PatternFields: session.RuleField,
	})
	wantStarts(studio, s.ID, "03-17 08:00", "03-17 09:00", "03-17 10:00")
	// each took the next one's place, on the same tee
	wantStarts(studio, done.Series.ID, "03-18 09:00", "03-18 10:00", "03-18 11:00")
	test.Eq(t, ids[3:], done.Updated)
}

func TestUpdateSeries_ConflictRejectsTheWholeEdit(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	in := studio.SeriesInput()
	in.Template.Resource, in.Template.Capacity = studio.AddResource(catalog.Resource{Name: "Studio"}), new(2)
	s, ids := studio.CreateSeries(in)
	other := studio.SessionInput(time.Date(2026, 3, 31, 17, 30, 0, 0, time.UTC)) // half past seven, that day
	other.Resource = in.Template.Resource
	studio.CreateSession(other, true)
	mia := studio.AddMember("Mia")
	studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Unlimited}))
	studio.MustBook(mia, ids[5])
	// nine o'clock, that day
	studio.MustBook(mia, studio.AddSession(testkit.Session{Starts: time.Date(2026, 4, 2, 19, 0, 0, 0, time.UTC)}))
	studio.MustBook(studio.AddMember("Noa"), ids[5])
	before := starts(studio, s.ID)

	for name, tt := range map[string]struct {
		edit schedules.SeriesEdit
		want string
	}{
		"the resource is taken on one day": {
			schedules.SeriesEdit{Scope: schedules.All, Pattern: clockOf("19:00"), PatternFields: session.TimeOfDayField},
			"RESOURCE_BUSY @series.resource_id",
		},
		"for what follows": {
			schedules.SeriesEdit{
				Scope: schedules.Following, Session: ids[1], Pattern: clockOf("19:00"), PatternFields: session.TimeOfDayField,
			},
			"RESOURCE_BUSY @series.resource_id",
		},
		"capacity below what one has taken": {
			schedules.SeriesEdit{Scope: schedules.All, Template: session.Input{Capacity: new(1)}, Fields: session.CapacityField},
			"CAPACITY_BELOW_TAKEN @series.capacity seats_taken=2 session_id=" + ids[5].String(),
		},
		"a member's bookings would overlap": {
			schedules.SeriesEdit{Scope: schedules.All, Pattern: clockOf("21:00"), PatternFields: session.TimeOfDayField},
			"OVERLAP",
		},
		"no such rule": {
			schedules.SeriesEdit{Scope: schedules.All, Pattern: session.Pattern{Rule: "x"}, PatternFields: session.RuleField},
			"RECURRENCE_INVALID @series.rule part=X",
		},
		"no such coach": {
			schedules.SeriesEdit{Scope: schedules.All, Template: session.Input{Coach: mia.Member}, Fields: session.CoachField},
			"COACH_INVALID @series.coach_id",
		},
		"a session of another series": {
			schedules.SeriesEdit{
				Scope: schedules.Following, Session: studio.AddSession(testkit.Session{}), Pattern: clockOf("19:00"),
				PatternFields: session.TimeOfDayField,
			},
			"SESSION_NOT_FOUND",
		},
		"no session": {
			schedules.SeriesEdit{Scope: schedules.One, Template: session.Input{Title: "x"}, Fields: session.TitleField},
			"SESSION_NOT_FOUND",
		},
		"one session has no rule": {
			schedules.SeriesEdit{
				Scope: schedules.One, Session: ids[0], Pattern: session.Pattern{Rule: "FREQ=DAILY"},
				PatternFields: session.RuleField,
			},
			"INVALID_FIELD @series.rule",
		},
		"one session excludes no days": {
			schedules.SeriesEdit{Scope: schedules.One, Session: ids[0], PatternFields: session.ExcludedField},
			"INVALID_FIELD @series.excluded_dates",
		},
		"one session, to the second": {
			schedules.SeriesEdit{
				Scope: schedules.One, Session: ids[0], Pattern: session.Pattern{Time: civil.TimeOfDay{Second: 1}},
				PatternFields: session.TimeOfDayField,
			},
			"INVALID_FIELD @series.start_time_of_day",
		},
		"one session, the resource is taken": {
			schedules.SeriesEdit{
				Scope: schedules.One, Session: ids[4], Pattern: clockOf("19:00"), PatternFields: session.TimeOfDayField,
			},
			"RESOURCE_BUSY @series.resource_id",
		},
		"someone edited the series before": {
			schedules.SeriesEdit{
				Scope: schedules.All, Template: session.Input{Title: "x"}, Fields: session.TitleField, Expect: new(2),
			},
			"ETAG_MISMATCH @etag",
		},
		"someone edited the series before what follows": {
			schedules.SeriesEdit{
				Scope: schedules.Following, Session: ids[1], Template: session.Input{Title: "x"}, Fields: session.TitleField,
				Expect: new(2),
			},
			"ETAG_MISMATCH @etag",
		},
		"no such series": {
			schedules.SeriesEdit{
				Series: testkit.NewID[tenant.SeriesID](), Scope: schedules.All, Template: session.Input{Title: "x"},
				Fields: session.TitleField,
			},
			"SERIES_NOT_FOUND",
		},
	} {
		if tt.edit.Series.IsZero() {
			tt.edit.Series = s.ID
		}
		expect.Fault(t, tt.want, name)(studio.App.Schedules.UpdateSeries(t.Context(), studio.Owner, tt.edit))
	}
	diff := cmp.Diff(before, starts(studio, s.ID))
	test.EqOp(t, "", diff, test.Sprintf("a refused edit left traces (-before +after)\n%s", diff))
	test.EqOp(t, 1, studio.Count(`select count(*) from series`),
		test.Sprintf("a refused edit left traces (-before +after)\n%s", diff))
	test.EqOp(t, 1, studio.Count(`select max(version) from series`),
		test.Sprintf("a refused edit left traces (-before +after)\n%s", diff))
	expect.Reason(t, fault.SeriesNotFound)(studio.App.Schedules.UpdateSeries(
		t.Context(), studio.OtherTenant().Owner,
		schedules.SeriesEdit{
			Series: s.ID, Scope: schedules.All, Template: session.Input{Title: "x"}, Fields: session.TitleField,
		},
	))
}

func TestUpdateSeries_RaisedCapacityPromotes(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetPromoting()
	in := studio.SeriesInput()
	in.Template.Capacity = new(1)
	s, ids := studio.CreateSeries(in)
	mia, noa := studio.AddMember("Mia"), studio.AddMember("Noa")
	for _, id := range ids[:3] {
		studio.MustBook(mia, id)
		studio.MustWaitlist(noa, id)
	}
	studio.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.All, Template: session.Input{Capacity: new(2)}, Fields: session.CapacityField,
	})
	test.EqOp(t, 3, studio.Count(
		`select count(*) from bookings where member_id = $1 and status = 'CONFIRMED' and promoted`, noa.Member,
	), test.Sprint("promoted, want 3"))
}

// A year of which half has passed: an edit of all neither shortens nor doubles what is to come.
func TestUpdateSeries_WithoutAnEndKeepsItsLastDay(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	in := studio.SeriesInput()
	in.Rule = "FREQ=WEEKLY;COUNT=100"
	s, ids := studio.CreateSeries(in)
	done := studio.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.All, Pattern: session.Pattern{Rule: "FREQ=WEEKLY"}, PatternFields: session.RuleField,
	})
	must.SliceEmpty(t, done.Cancelled, must.Sprintf("%d cancelled, %d created", len(done.Cancelled), len(done.Created)))
	must.SliceEmpty(t, done.Created, must.Sprintf("%d cancelled, %d created", len(done.Cancelled), len(done.Created)))
	test.True(t, done.Series.OpenEnded,
		test.Sprintf("%d cancelled, %d created", len(done.Cancelled), len(done.Created)))
	test.EqOp(t, len(ids), studio.Count(
		`select count(*) from sessions where series_id = $1 and state <> 'CANCELLED'`, s.ID,
	), test.Sprintf("sessions, want %d", len(ids)))
}

// People book, one of the staff edits all, another what follows: nothing is lost or doubled.
func TestUpdateSeries_ConcurrentEditsConflict(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	s, ids := studio.CreateSeries(studio.SeriesInput())
	var all sync.WaitGroup
	try := func(do func() error) {
		all.Go(func() {
			expect.OKOr(t, fault.Contention, fault.SessionNotFound, fault.RecurrenceInvalid)(do())
		})
	}
	for i, id := range ids {
		who := studio.AddMember(fmt.Sprintf("Member %d", i))
		try(func() error { return expect.Error(studio.Book(who, id)) })
	}
	for _, clock := range []string{"17:00", "19:00", "20:00"} {
		try(func() error {
			return expect.Error(studio.App.Schedules.UpdateSeries(
				t.Context(), studio.Owner,
				schedules.SeriesEdit{
					Series: s.ID, Scope: schedules.All, Pattern: clockOf(clock), PatternFields: session.TimeOfDayField,
				},
			))
		})
		try(func() error {
			return expect.Error(studio.App.Schedules.UpdateSeries(
				t.Context(), studio.Owner,
				schedules.SeriesEdit{
					Series: s.ID, Scope: schedules.Following, Session: ids[3], Pattern: clockOf(clock),
					PatternFields: session.TimeOfDayField,
				},
			))
		})
	}
	all.Wait()
	test.EqOp(t, 6, studio.Count(`select count(*) from sessions where state = 'PUBLISHED'`),
		test.Sprint("sessions, want 6"))
	test.EqOp(t, 6, studio.Count(`select count(distinct local_date) from sessions`),
		test.Sprint("sessions on days, want 6"))
	test.EqOp(t, 0, studio.Count(
		`select count(*) from bookings b join sessions s on s.id = b.session_id where b.starts_at <> s.starts_at
			or b.ends_at <> s.ends_at`,
	), test.Sprint("bookings stayed behind"))
}
