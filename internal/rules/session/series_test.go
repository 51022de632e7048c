package session_test

import (
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/recurrence"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// on returns an occurrence of an hour on a day of March 2026, in UTC.
func on(day int, clock string) session.Occurrence {
	date := civil.Date{Year: 2026, Month: time.March, Day: day}
	start := date.At(civiltest.TimeOfDay(clock), time.UTC)
	return session.Occurrence{On: date, Span: civil.Span{Start: start, End: start.Add(time.Hour)}}
}

// sessionOf returns the published session of an occurrence.
func sessionOf(o session.Occurrence) session.Session {
	return session.Session{
		ID: tenant.New[tenant.SessionID](noon), State: catalog.Published, OccursOn: o.On, OccursAt: o.Start,
		StartsAt: o.Start, EndsAt: o.End,
	}
}

// summarize returns the result of an assignment for each session, and the free occurrences.
func summarize(a session.Assignment, sessions []session.Session) (results []string, free []string) {
	const layout = "02 15:04"
	byID := make(map[tenant.SessionID]string)
	for i, s := range a.Assigned {
		byID[s.ID] = "on " + a.Occurrences[i].Start.Format(layout)
	}
	for _, s := range a.Unchanged {
		byID[s.ID] = "fixed"
		if !s.OccursAt.IsZero() {
			byID[s.ID] += " for " + s.OccursAt.Format(layout)
		}
	}
	for _, s := range a.Dropped {
		byID[s.ID] = "dropped"
	}
	for _, s := range sessions {
		results = append(results, byID[s.ID])
	}
	for _, o := range a.Unassigned {
		free = append(free, o.Start.Format(layout))
	}
	return results, free
}

func TestAssign_KeepsSessionsOnTheirDay(t *testing.T) {
	t.Parallel()
	type (
		sessions = []session.Session
		pattern  = []session.Occurrence
	)
	at := func(day int, clock string) session.Session { return sessionOf(on(day, clock)) }
	as := func(day int, clock string, differ set) session.Session { return vary.From(at(day, clock), differ) }
	for name, tt := range map[string]struct {
		sessions sessions
		pattern  pattern
		results  []string
		free     []string
	}{
		"nothing changes": {
			sessions{at(17, "18:00"), at(24, "18:00")},
			pattern{on(17, "18:00"), on(24, "18:00")},
			[]string{"on 17 18:00", "on 24 18:00"},
			nil,
		},
		"another time of day": {
			sessions{at(17, "18:00"), at(24, "18:00")},
			pattern{on(17, "19:30"), on(24, "19:30")},
			[]string{"on 17 19:30", "on 24 19:30"},
			nil,
		},
		"a day less": {
			sessions{at(17, "18:00"), at(24, "18:00")},
			pattern{on(24, "18:00")},
			[]string{"dropped", "on 24 18:00"},
			nil,
		},
		"a day more": {
			sessions{at(17, "18:00")},
			pattern{on(17, "18:00"), on(18, "18:00")},
			[]string{"on 17 18:00"},
			[]string{"18 18:00"},
		},
		"other days: no session changes day": {
			sessions{at(17, "18:00")},
			pattern{on(18, "18:00")},
			[]string{"dropped"},
			[]string{"18 18:00"},
		},
		"all of a day an hour later": {
			sessions{at(17, "08:00"), at(17, "09:00"), at(17, "10:00")},
			pattern{on(17, "09:00"), on(17, "10:00"), on(17, "11:00")},
			[]string{"on 17 09:00", "on 17 10:00", "on 17 11:00"},
			nil,
		},
		"the first of a day goes": {
			sessions{at(17, "08:00"), at(17, "09:00"), at(17, "10:00")},
			pattern{on(17, "09:00"), on(17, "10:00")},
			[]string{"dropped", "on 17 09:00", "on 17 10:00"},
			nil,
		},
		"one comes in between": {
			sessions{at(17, "08:00"), at(17, "10:00")},
			pattern{on(17, "08:00"), on(17, "09:00"), on(17, "10:00")},
			[]string{"on 17 08:00", "on 17 10:00"},
			[]string{"17 09:00"},
		},
		"edited by itself": {
			sessions{as(17, "18:00", set{"Detached": true})},
			pattern{on(17, "19:00")},
			[]string{"fixed for 17 19:00"},
			nil,
		},
		"edited by itself, day dropped": {sessions{as(17, "18:00", set{"Detached": true})}, nil, []string{"fixed"}, nil},
		"cancelled: not made again": {
			sessions{as(17, "18:00", set{"State": catalog.Cancelled})},
			pattern{on(17, "19:00")},
			[]string{"fixed for 17 19:00"},
			nil,
		},
		"deleted: not made again": {
			sessions{as(17, "18:00", set{"Deleted": true})},
			pattern{on(17, "18:00")},
			[]string{"fixed for 17 18:00"},
			nil,
		},
		"started: stays": {sessions{at(16, "11:00")}, pattern{on(16, "18:00")}, []string{"fixed for 16 18:00"}, nil},
		"not moved into the past": {
			sessions{at(16, "18:00")},
			pattern{on(16, "09:00")},
			[]string{"fixed for 16 09:00"},
			nil,
		},
		"nothing is made in the past": {
			nil,
			pattern{on(15, "18:00"), on(16, "12:00"), on(16, "12:01")},
			nil,
			[]string{"16 12:01"},
		},
		"the order given does not matter": {
			sessions{at(24, "18:00"), at(17, "18:00")},
			pattern{on(24, "19:00"), on(17, "19:00")},
			[]string{"on 24 19:00", "on 17 19:00"},
			nil,
		},
	} {
		results, free := summarize(session.Assign(tt.sessions, tt.pattern, noon), tt.sessions)
		test.Eq(t, tt.results, results, test.Sprint(name))
		test.Eq(t, tt.free, free, test.Sprint(name))
	}
}

// wantComplete fails if an assignment loses or duplicates a session or an occurrence.
func wantComplete(
	t *rapid.T, a session.Assignment, sessions []session.Session, occurrences []session.Occurrence, now time.Time,
) {
	seen := make(map[tenant.SessionID]int)
	holders := make(map[time.Time]int)
	for _, all := range [][]session.Session{a.Assigned, a.Unchanged, a.Dropped} {
		for _, s := range all {
			seen[s.ID]++
			if !s.OccursAt.IsZero() {
				holders[s.OccursAt]++
			}
		}
	}
	for _, o := range a.Unassigned {
		holders[o.Start.UTC()]++
	}
	for _, s := range sessions {
		must.EqOp(t, 1, seen[s.ID], must.Sprintf("the session of %s", s.OccursAt))
	}
	must.MapLen(t, len(sessions), seen)
	for _, o := range occurrences {
		n := holders[o.Start.UTC()]
		must.True(
			t, n == 1 || n == 0 && !o.Start.After(now), must.Sprintf("the occurrence at %s has %d sessions", o.Start, n),
		)
		delete(holders, o.Start.UTC())
	}
	must.MapEmpty(t, holders, must.Sprint("occurrences that are not in the pattern"))
	for i, s := range a.Assigned {
		must.False(t, s.Detached, must.Sprintf("%+v would be edited", s))
		must.False(t, s.Deleted, must.Sprintf("%+v would be edited", s))
		must.NotEqOp(t, catalog.Cancelled, s.State, must.Sprintf("%+v would be edited", s))
		must.False(t, s.Started(now), must.Sprintf("%+v would be edited", s))
		must.True(t, a.Occurrences[i].Start.After(now), must.Sprintf("%+v would be edited", s))
		must.EqOp(t, a.Occurrences[i].On, s.OccursOn)
	}
}

// drawSeries draws a series with at most a few hundred occurrences around now, in a zone whose clocks change.
func drawSeries(t *rapid.T) recurrence.Series {
	text := rapid.SampledFrom([]string{
		"FREQ=DAILY;COUNT=40", "FREQ=DAILY;INTERVAL=3;COUNT=20", "FREQ=WEEKLY;BYDAY=MO,WE,SU;COUNT=20",
		"FREQ=DAILY;UNTIL=20260415",
		"FREQ=DAILY;BYHOUR=8,9,10;COUNT=60", "FREQ=DAILY;BYHOUR=1,2,3,18;BYMINUTE=0,30;UNTIL=20260405",
		"FREQ=MONTHLY;BYDAY=-1SU;COUNT=5",
	}).Draw(t, "rule")
	s := recurrence.Series{
		Rule: expect.Value(recurrence.Parse(text))(t), Duration: time.Hour,
		Date: civiltest.Date("2026-03-01").AddDays(rapid.IntRange(0, 30).Draw(t, "start")),
		Time: civil.TimeOfDay{Hour: rapid.IntRange(0, 23).Draw(t, "hour")},
		Zone: zone(rapid.SampledFrom([]string{
			"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC",
		}).Draw(t, "zone")),
	}
	if s.Validate() != nil {
		t.Skip("no occurrence")
	}
	return s
}

func occurrences(s recurrence.Series) (all []session.Occurrence) {
	for o := range s.All() {
		all = append(all, session.Occurrence{On: o.Date, Span: civil.Span{Start: o.Start, End: o.End}})
	}
	return all
}

// drawSessions draws the sessions of a series: most as created, some detached, cancelled or deleted.
func drawSessions(t *rapid.T, s recurrence.Series) (all []session.Session) {
	for _, o := range occurrences(s) {
		one := sessionOf(o)
		one.OccursAt, one.StartsAt = one.OccursAt.UTC(), one.StartsAt.UTC()
		hours := time.Duration(rapid.IntRange(-200, 200).Draw(t, "hours")) * time.Hour
		all = append(all, vary.From(one, rapid.SampledFrom([]set{
			{"Detached": true, "StartsAt": one.StartsAt.Add(hours)}, {"State": catalog.Cancelled}, {"Deleted": true}, nil, nil,
			nil, nil, nil, nil, nil,
		}).Draw(t, "change")))
	}
	return all
}

func TestAssign_LosesAndDuplicatesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := drawSeries(t)
		sessions := drawSessions(t, before)
		after := drawSeries(t)
		after.Date = before.Date
		if after.Validate() != nil {
			t.Skip("no occurrence")
		}
		pattern := occurrences(after)
		a := session.Assign(slices.Clone(sessions), pattern, noon)
		wantComplete(t, a, sessions, pattern, noon)

		// An edit that reverts the first one finds everything too.
		var again []session.Session
		for _, s := range slices.Concat(a.Assigned, a.Unchanged) {
			if !s.OccursAt.IsZero() {
				again = append(again, s)
			}
		}
		for _, o := range a.Unassigned {
			span := civil.Span{Start: o.Start.UTC(), End: o.End.UTC()}
			again = append(again, sessionOf(session.Occurrence{On: o.On, Span: span}))
		}
		back := occurrences(before)
		wantComplete(t, session.Assign(slices.Clone(again), back, noon), again, back, noon)
	})
}

func TestAssign_UnchangedPatternKeepsEverySession(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawSeries(t)
		sessions := drawSessions(t, s)
		a := session.Assign(slices.Clone(sessions), occurrences(s), noon)
		must.EqOp(t, 0, len(a.Dropped)+len(a.Unassigned))
		for i, s := range a.Assigned {
			start := a.Occurrences[i].Start.UTC()
			must.Eq(t, []time.Time{start, start}, []time.Time{s.OccursAt, s.StartsAt})
		}
	})
}

// In any zone and across clock changes, another time of day drops no session.
func TestAssign_AnotherTimeOfDayKeepsEverySession(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := drawSeries(t)
		after := before
		after.Time = civil.TimeOfDay{
			Hour: rapid.IntRange(0, 23).Draw(t, "new hour"), Minute: rapid.IntRange(0, 59).Draw(t, "new minute"),
		}
		if after.Validate() != nil {
			t.Skip("no occurrence")
		}
		sessions := drawSessions(t, before)
		perDay := func(all []session.Occurrence) map[civil.Date]int {
			n := make(map[civil.Date]int)
			for _, o := range all {
				n[o.On]++
			}
			return n
		}
		countBefore, countAfter := perDay(occurrences(before)), perDay(occurrences(after))
		a := session.Assign(slices.Clone(sessions), occurrences(after), noon)
		for _, s := range a.Dropped {
			must.True(t, countAfter[s.OccursOn] < countBefore[s.OccursOn] || s.OccursOn.IsZero(), must.Sprint(s.OccursOn))
		}
		removed := 0
		for day, n := range countBefore {
			removed += max(0, n-countAfter[day])
		}
		must.LessEq(t, removed, len(a.Dropped))
		byStart := func(x, y session.Session) int { return x.StartsAt.Compare(y.StartsAt) }
		must.True(t, slices.IsSortedFunc(a.Assigned, byStart), must.Sprint("sessions changed their order"))
	})
}

// Splitting a series and editing the tail does not change the head, and both together have every session and
// occurrence.
func TestAssign_AfterSplitLosesAndDuplicatesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		whole := drawSeries(t)
		sessions := drawSessions(t, whole)
		from := sessions[rapid.IntRange(0, len(sessions)-1).Draw(t, "named")].OccursOn
		head, tail, err := whole.SplitAt(from)
		if err != nil {
			t.Skip("nothing before")
		}
		within := func(s session.Session) bool { return !s.OccursOn.Before(from) }
		kept := slices.DeleteFunc(slices.Clone(sessions), within)
		reached := slices.DeleteFunc(sessions, func(s session.Session) bool { return !within(s) })
		same := session.Assign(slices.Clone(reached), occurrences(tail), noon)
		wantComplete(t, same, reached, occurrences(tail), noon)
		before := session.Assign(slices.Clone(kept), occurrences(head), noon)
		must.Eq(t, make([]int, 4), []int{
			len(same.Dropped), len(same.Unassigned), len(before.Dropped), len(before.Unassigned),
		})
		edited := tail
		edited.Time = civil.TimeOfDay{Hour: rapid.IntRange(0, 23).Draw(t, "new hour")}
		if edited.Validate() != nil {
			t.Skip("no occurrence")
		}
		a := session.Assign(slices.Clone(reached), occurrences(edited), noon)
		wantComplete(t, a, reached, occurrences(edited), noon)
	})
}

func TestCheckOneSession_RejectsFieldsOfSeries(t *testing.T) {
	t.Parallel()
	for fields, want := range map[session.SeriesFields]string{
		session.TimeOfDayField | session.DurationField: "",
		session.RuleField:        "INVALID_FIELD @rule",
		session.ExcludedField:    "INVALID_FIELD @excluded_dates",
		session.AllPatternFields: "INVALID_FIELD @rule",
	} {
		expect.Fault(t, want, fields)(fields.CheckOneSession())
	}
}

// daily yields an occurrence on each of a number of days, or without end.
func daily(from civil.Date, days int) iter.Seq[session.Occurrence] {
	return func(yield func(session.Occurrence) bool) {
		for i := 0; days < 0 || i < days; i++ {
			if !yield(session.Occurrence{On: from.AddDays(i)}) {
				return
			}
		}
	}
}

func TestExpand_EndsWithTheRuleOrAYearAhead(t *testing.T) {
	t.Parallel()
	today := civil.DateOf(noon, time.UTC)
	const long, start = "RECURRENCE_INVALID @rule", "INVALID_FIELD @start_date"
	for name, tt := range map[string]struct {
		date  int // of the first day of the series, from today
		days  int // of the pattern; negative: no end
		known int // how far sessions have been created, from today
		from  int // from today
		want  int // occurrences
		until int // from today
		err   string
	}{
		"a rule that ends":      {days: 10, want: 10, until: 9},
		"from a day on":         {days: 10, from: 7, want: 3, until: 9},
		"all before that":       {days: 10, from: 10, until: 9},
		"none":                  {},
		"as many as may be":     {date: -2000, days: 5000, from: -2000, want: 5000, until: 2999},
		"one more":              {date: -2000, days: 5001, from: -2000, err: long + " limit=5000"},
		"up to ten years":       {date: 3655, days: 6, from: 3655, want: 6, until: 3660},
		"beyond ten years":      {date: 3655, days: 7, from: 3655, err: long},
		"starting beyond that":  {date: 3661, days: 1, err: start},
		"starting long ago":     {date: -3661, days: 1, err: start},
		"without an end":        {days: -1, want: 366, until: 365},
		"that starts in a week": {date: 7, days: -1, want: 366, until: 372},
		"that reached further":  {days: -1, known: 400, want: 401, until: 400},
	} {
		series := session.Series{Date: today.AddDays(tt.date), OpenEnded: tt.days < 0}
		if tt.known > 0 {
			series.MaterializedUntil = today.AddDays(tt.known)
		}
		want := series
		if tt.err == "" {
			want.MaterializedUntil = today.AddDays(tt.until)
		}
		got, found, err := series.Expand(daily(series.Date, tt.days), time.UTC, today.AddDays(tt.from), noon)
		expect.Fault(t, tt.err, name)(err)
		test.Len(t, tt.want, found, test.Sprint(name))
		test.Eq(t, want, got, test.Sprint(name))
	}
}

func TestSeriesEdit_SetsOnlyGivenFieldsOfThePattern(t *testing.T) {
	t.Parallel()
	at := session.ServiceReference{Duration: 45 * time.Minute}
	six, may := civiltest.TimeOfDay("18:00"), civiltest.Date("2026-05-01")
	before := session.Series{
		Rule: "FREQ=DAILY", Time: six, Duration: 45 * time.Minute, Excluded: []civil.Date{may, may.AddDays(1)},
	}
	for name, tt := range map[string]struct {
		pattern session.Pattern
		fields  session.SeriesFields
		want    set // how it differs from the series before
		err     string
	}{
		"all": {
			session.Pattern{Rule: "FREQ=DAILY", Time: six, Excluded: []civil.Date{may.AddDays(1), may, may}},
			session.AllPatternFields, nil, "",
		},
		"the rule": {
			session.Pattern{Rule: "FREQ=WEEKLY", Duration: time.Hour}, session.RuleField, set{"Rule": "FREQ=WEEKLY"}, "",
		},
		"an odd duration": {
			session.Pattern{Duration: 61 * time.Second}, session.DurationField, set{"Duration": 61 * time.Second}, "",
		},
		"seconds": {
			session.Pattern{Time: civiltest.TimeOfDay("18:00:30")}, session.AllPatternFields, nil,
			"INVALID_FIELD @start_time_of_day",
		},
		"part of a second": {
			session.Pattern{Duration: time.Minute + time.Millisecond}, session.AllPatternFields, nil, "INVALID_FIELD @duration",
		},
		"no such day": {
			session.Pattern{Excluded: []civil.Date{{Year: 2026, Month: time.February, Day: 30}}}, session.AllPatternFields, nil,
			"INVALID_FIELD @excluded_dates",
		},
	} {
		got, err := before.Edit(tt.pattern, tt.fields, at)
		test.EqOp(t, tt.err, faulttest.Text(err), test.Sprint(name))
		if err == nil {
			test.Eq(t, vary.From(before, tt.want), got, test.Sprint(name))
		}
	}
}
