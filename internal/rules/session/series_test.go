package session_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/recurrence"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
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
	as := func(o session.Occurrence, change func(*session.Session)) session.Session {
		s := sessionOf(o)
		change(&s)
		return s
	}
	detached := func(s *session.Session) { s.Detached = true }
	cancelled := func(s *session.Session) { s.State = catalog.Cancelled }
	deleted := func(s *session.Session) { s.Deleted = true }
	for name, tt := range map[string]struct {
		sessions []session.Session
		pattern  []session.Occurrence
		results  []string
		free     []string
	}{
		"nothing changes": {
			[]session.Session{sessionOf(on(17, "18:00")), sessionOf(on(24, "18:00"))},
			[]session.Occurrence{on(17, "18:00"), on(24, "18:00")},
			[]string{"on 17 18:00", "on 24 18:00"},
			nil,
		},
		"another time of day": {
			[]session.Session{sessionOf(on(17, "18:00")), sessionOf(on(24, "18:00"))},
			[]session.Occurrence{on(17, "19:30"), on(24, "19:30")},
			[]string{"on 17 19:30", "on 24 19:30"},
			nil,
		},
		"a day less": {
			[]session.Session{sessionOf(on(17, "18:00")), sessionOf(on(24, "18:00"))},
			[]session.Occurrence{on(24, "18:00")},
			[]string{"dropped", "on 24 18:00"},
			nil,
		},
		"a day more": {
			[]session.Session{sessionOf(on(17, "18:00"))},
			[]session.Occurrence{on(17, "18:00"), on(18, "18:00")},
			[]string{"on 17 18:00"},
			[]string{"18 18:00"},
		},
		"other days: no session changes day": {
			[]session.Session{sessionOf(on(17, "18:00"))},
			[]session.Occurrence{on(18, "18:00")},
			[]string{"dropped"},
			[]string{"18 18:00"},
		},
		"all of a day an hour later": {
			[]session.Session{sessionOf(on(17, "08:00")), sessionOf(on(17, "09:00")), sessionOf(on(17, "10:00"))},
			[]session.Occurrence{on(17, "09:00"), on(17, "10:00"), on(17, "11:00")},
			[]string{"on 17 09:00", "on 17 10:00", "on 17 11:00"},
			nil,
		},
		"the first of a day goes": {
			[]session.Session{sessionOf(on(17, "08:00")), sessionOf(on(17, "09:00")), sessionOf(on(17, "10:00"))},
			[]session.Occurrence{on(17, "09:00"), on(17, "10:00")},
			[]string{"dropped", "on 17 09:00", "on 17 10:00"},
			nil,
		},
		"one comes in between": {
			[]session.Session{sessionOf(on(17, "08:00")), sessionOf(on(17, "10:00"))},
			[]session.Occurrence{on(17, "08:00"), on(17, "09:00"), on(17, "10:00")},
			[]string{"on 17 08:00", "on 17 10:00"},
			[]string{"17 09:00"},
		},
		"edited by itself": {
			[]session.Session{as(on(17, "18:00"), detached)},
			[]session.Occurrence{on(17, "19:00")},
			[]string{"fixed for 17 19:00"},
			nil,
		},
		"edited by itself, day dropped": {[]session.Session{as(on(17, "18:00"), detached)}, nil, []string{"fixed"}, nil},
		"cancelled: not made again": {
			[]session.Session{as(on(17, "18:00"), cancelled)},
			[]session.Occurrence{on(17, "19:00")},
			[]string{"fixed for 17 19:00"},
			nil,
		},
		"deleted: not made again": {
			[]session.Session{as(on(17, "18:00"), deleted)},
			[]session.Occurrence{on(17, "18:00")},
			[]string{"fixed for 17 18:00"},
			nil,
		},
		"started: stays": {
			[]session.Session{sessionOf(on(16, "11:00"))},
			[]session.Occurrence{on(16, "18:00")},
			[]string{"fixed for 16 18:00"},
			nil,
		},
		"not moved into the past": {
			[]session.Session{sessionOf(on(16, "18:00"))},
			[]session.Occurrence{on(16, "09:00")},
			[]string{"fixed for 16 09:00"},
			nil,
		},
		"nothing is made in the past": {
			nil,
			[]session.Occurrence{on(15, "18:00"), on(16, "12:00"), on(16, "12:01")},
			nil,
			[]string{"16 12:01"},
		},
		"the order given does not matter": {
			[]session.Session{sessionOf(on(24, "18:00")), sessionOf(on(17, "18:00"))},
			[]session.Occurrence{on(24, "19:00"), on(17, "19:00")},
			[]string{"on 24 19:00", "on 17 19:00"},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			results, free := summarize(session.Assign(tt.sessions, tt.pattern, noon), tt.sessions)
			test.Eq(t, tt.results, results, test.Sprint("sessions"))
			test.Eq(t, tt.free, free, test.Sprint("free"))
		})
	}
}

// wantComplete fails if an assignment loses or duplicates a session or an occurrence.
func wantComplete(
	t *rapid.T, a session.Assignment, sessions []session.Session, pattern []session.Occurrence, now time.Time,
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
		must.EqOp(t, 1, seen[s.ID], must.Sprintf("the assignment has the session of %s %d times", s.OccursAt, seen[s.ID]))
	}
	must.EqOp(t, len(sessions), len(seen), must.Sprintf("%d sessions became %d", len(sessions), len(seen)))
	for _, o := range pattern {
		n := holders[o.Start.UTC()]
		if delete(holders, o.Start.UTC()); n > 1 || n == 0 && o.Start.After(now) {
			t.Fatalf("the occurrence at %s has %d sessions", o.Start, n)
		}
	}
	must.True(t, len(holders) == 0, must.Sprintf("sessions have occurrences that are not in the pattern: %v", holders))
	for i, s := range a.Assigned {
		must.True(
			t, !s.Detached && !s.Deleted && s.State != catalog.Cancelled && !s.Started(now) &&
				a.Occurrences[i].Start.After(now),
			must.Sprintf("%+v would be edited", s),
		)
		must.EqOp(t, a.Occurrences[i].On, s.OccursOn, must.Sprintf("the session of %s left its day", s.OccursOn))
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
	rule := expect.Value(recurrence.Parse(text))(t)
	zones := []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"}
	zone := expect.Value(time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone")))(t)
	s := recurrence.Series{
		Rule: rule, Date: civiltest.Date("2026-03-01").AddDays(rapid.IntRange(0, 30).Draw(t, "start")),
		Time: civil.TimeOfDay{Hour: rapid.IntRange(0, 23).Draw(t, "hour")}, Zone: zone, Duration: time.Hour,
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
		switch rapid.IntRange(0, 9).Draw(t, "change") {
		case 0:
			one.Detached = true
			one.StartsAt = one.StartsAt.Add(time.Duration(rapid.IntRange(-200, 200).Draw(t, "hours")) * time.Hour)
		case 1:
			one.State = catalog.Cancelled
		case 2:
			one.Deleted = true
		}
		all = append(all, one)
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
		must.True(
			t, len(a.Dropped) == 0 && len(a.Unassigned) == 0,
			must.Sprintf("%d dropped, %d free", len(a.Dropped), len(a.Unassigned)),
		)
		for i, h := range a.Assigned {
			must.True(
				t, h.OccursAt.Equal(a.Occurrences[i].Start) && h.StartsAt.Equal(a.Occurrences[i].Start),
				must.Sprintf("the session at %s was given %s", h.StartsAt, a.Occurrences[i].Start),
			)
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
			must.False(
				t, countAfter[s.OccursOn] >= countBefore[s.OccursOn] && !s.OccursOn.IsZero(),
				must.Sprintf("the session of %s was dropped", s.OccursOn),
			)
		}
		removed := 0
		for day, n := range countBefore {
			removed += max(0, n-countAfter[day])
		}
		must.True(
			t, len(a.Dropped) <= removed,
			must.Sprintf("%d sessions were dropped for %d removed occurrences", len(a.Dropped), removed),
		)
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
		var kept, reached []session.Session
		for _, s := range sessions {
			if s.OccursOn.Before(from) {
				kept = append(kept, s)
			} else {
				reached = append(reached, s)
			}
		}
		same := session.Assign(slices.Clone(reached), occurrences(tail), noon)
		wantComplete(t, same, reached, occurrences(tail), noon)
		must.True(
			t, len(same.Dropped) == 0 && len(same.Unassigned) == 0,
			must.Sprintf("splitting dropped %d and made %d", len(same.Dropped), len(same.Unassigned)),
		)
		before := session.Assign(slices.Clone(kept), occurrences(head), noon)
		must.True(
			t, len(before.Dropped) == 0 && len(before.Unassigned) == 0,
			must.Sprintf("the head lost %d and lacks %d", len(before.Dropped), len(before.Unassigned)),
		)
		edited := tail
		edited.Time = civil.TimeOfDay{Hour: rapid.IntRange(0, 23).Draw(t, "new hour")}
		if edited.Validate() != nil {
			t.Skip("no occurrence")
		}
		a := session.Assign(slices.Clone(reached), occurrences(edited), noon)
		wantComplete(t, a, reached, occurrences(edited), noon)
	})
}

func TestSeriesEdit_SetsOnlyGivenFieldsOfThePattern(t *testing.T) {
	t.Parallel()
	at := session.ServiceReference{Duration: 45 * time.Minute}
	may := civiltest.Date("2026-05-01")
	got, err := session.Series{}.Edit(session.Pattern{
		Rule: "FREQ=DAILY", Time: civiltest.TimeOfDay("18:00"), Excluded: []civil.Date{may.AddDays(1), may, may},
	}, session.AllPatternFields, at)
	want := session.Series{
		Rule: "FREQ=DAILY", Time: civiltest.TimeOfDay("18:00"), Duration: 45 * time.Minute,
		Excluded: []civil.Date{may, may.AddDays(1)},
	}
	diff := cmp.Diff(want, got)
	test.True(t, err == nil && diff == "", test.Sprintf("%v (-want +got)\n%s", err, diff))
	for field, p := range map[string]session.Pattern{
		"start_time_of_day": {Time: civiltest.TimeOfDay("18:00:30")},
		"duration":          {Duration: time.Minute + time.Millisecond},
		"excluded_dates":    {Excluded: []civil.Date{{Year: 2026, Month: time.February, Day: 30}}},
	} {
		_, err := session.Series{}.Edit(p, session.AllPatternFields, at)
		wantReason(t, err, fault.InvalidField)
		test.EqOp(t, field, err.(*fault.Error).Field)
	}
	got = expect.Value(want.Edit(session.Pattern{Rule: "FREQ=WEEKLY", Duration: time.Hour}, session.RuleField, at))(t)
	test.True(t, got.Duration == want.Duration && got.Rule == "FREQ=WEEKLY", test.Sprintf("%+v", got))
}
