package recurrence_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/recurrence"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

var zones = []string{
	"UTC", "America/New_York", "America/Los_Angeles", "America/Sao_Paulo", "America/St_Johns", "America/Havana",
	"America/Santiago", "Europe/London", "Europe/Berlin", "Europe/Dublin", "Africa/Casablanca", "Africa/Cairo",
	"Asia/Kolkata", "Asia/Kathmandu", "Asia/Tehran", "Asia/Beirut", "Asia/Tokyo", "Australia/Lord_Howe",
	"Australia/Sydney", "Pacific/Apia", "Pacific/Chatham", "Atlantic/Azores", "Antarctica/Troll",
}

func zone(t must.T, name string) *time.Location {
	t.Helper()
	return expect.Value(time.LoadLocation(name))(t)
}

func rule(t must.T, text string) recurrence.Rule {
	t.Helper()
	return expect.Value(recurrence.Parse(text))(t)
}

func series(t must.T, text, date, clock, zoneName string) recurrence.Series {
	t.Helper()
	return recurrence.Series{
		Rule:     rule(t, text),
		Date:     civiltest.Date(date),
		Time:     civiltest.TimeOfDay(clock),
		Zone:     zone(t, zoneName),
		Duration: time.Hour,
	}
}

// upTo returns the local starts of the first n occurrences.
func upTo(n int, s recurrence.Series) (starts []string) {
	for o := range s.All() {
		starts = append(starts, o.Start.Format("2006-01-02T15:04-07:00"))
		if len(starts) == n {
			break
		}
	}
	return starts
}

func TestAll_KeepsLocalTimeAcrossClockChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, rule, date, clock, zone string
		want                          []string
	}{
		{
			"New York forward", "FREQ=DAILY", "2026-03-07", "18:00", "America/New_York",
			[]string{"2026-03-07T18:00-05:00", "2026-03-08T18:00-04:00", "2026-03-09T18:00-04:00"},
		},
		{
			"New York in the gap", "FREQ=DAILY", "2026-03-07", "02:30", "America/New_York",
			[]string{"2026-03-07T02:30-05:00", "2026-03-08T03:30-04:00", "2026-03-09T02:30-04:00"},
		},
		{
			"New York shown twice", "FREQ=DAILY", "2026-10-31", "01:30", "America/New_York",
			[]string{"2026-10-31T01:30-04:00", "2026-11-01T01:30-04:00", "2026-11-02T01:30-05:00"},
		},
		{
			"Berlin week by week", "FREQ=WEEKLY;BYDAY=WE", "2026-03-25", "18:00", "Europe/Berlin",
			[]string{"2026-03-25T18:00+01:00", "2026-04-01T18:00+02:00", "2026-04-08T18:00+02:00"},
		},
		{
			"Berlin in the gap", "FREQ=WEEKLY", "2026-03-22", "02:15", "Europe/Berlin",
			[]string{"2026-03-22T02:15+01:00", "2026-03-29T03:15+02:00", "2026-04-05T02:15+02:00"},
		},
		{
			"Lord Howe by half an hour", "FREQ=DAILY", "2026-10-03", "02:10", "Australia/Lord_Howe",
			[]string{"2026-10-03T02:10+10:30", "2026-10-04T02:40+11:00", "2026-10-05T02:10+11:00"},
		},
		{
			"Casablanca into Ramadan", "FREQ=DAILY", "2026-02-14", "18:00", "Africa/Casablanca",
			[]string{"2026-02-14T18:00+01:00", "2026-02-15T18:00+00:00", "2026-02-16T18:00+00:00"},
		},
		{
			"Casablanca out of Ramadan", "FREQ=DAILY", "2026-03-21", "02:30", "Africa/Casablanca",
			[]string{"2026-03-21T02:30+00:00", "2026-03-22T03:30+01:00", "2026-03-23T02:30+01:00"},
		},
		{
			"Kolkata has none", "FREQ=MONTHLY", "2026-02-28", "06:30", "Asia/Kolkata",
			[]string{"2026-02-28T06:30+05:30", "2026-03-28T06:30+05:30", "2026-04-28T06:30+05:30"},
		},
		{
			"Toronto without half an hour before midnight", "FREQ=DAILY", "1919-03-29", "23:45", "America/Toronto",
			[]string{"1919-03-29T23:45-05:00", "1919-03-31T00:45-04:00", "1919-03-31T23:45-04:00"},
		},
		{
			"Apia skips a day", "FREQ=DAILY", "2011-12-29", "18:00", "Pacific/Apia",
			[]string{"2011-12-29T18:00-10:00", "2011-12-31T18:00+14:00", "2012-01-01T18:00+14:00"},
		},
		{
			"Apia skips the day of the week", "FREQ=WEEKLY;BYDAY=FR", "2011-12-23", "18:00", "Pacific/Apia",
			[]string{"2011-12-23T18:00-10:00", "2012-01-06T18:00+14:00", "2012-01-13T18:00+14:00"},
		},
		{
			"Sao Paulo without midnight", "FREQ=DAILY", "2018-11-03", "00:00", "America/Sao_Paulo",
			[]string{"2018-11-03T00:00-03:00", "2018-11-04T01:00-02:00", "2018-11-05T00:00-02:00"},
		},
		{
			"two times become one", "FREQ=DAILY;BYHOUR=2,3", "2026-03-08", "02:00", "America/New_York",
			[]string{"2026-03-08T03:00-04:00", "2026-03-09T02:00-04:00", "2026-03-09T03:00-04:00"},
		},
		{
			"a gap turns the order around", "FREQ=DAILY;BYMINUTE=10,35", "2026-10-04", "02:10",
			"Australia/Lord_Howe",
			[]string{"2026-10-04T02:35+11:00", "2026-10-04T02:40+11:00", "2026-10-05T02:10+11:00"},
		},
	} {
		s := series(t, c.rule, c.date, c.clock, c.zone)
		test.Eq(t, c.want, upTo(3, s), test.Sprint(c.name))
		s.Rule = rule(t, c.rule+";COUNT=3")
		test.Eq(t, c.want, upTo(9, s), test.Sprint(c.name, ", with COUNT"))
		second := take(2, s)[1]
		test.Eq(t, []recurrence.Occurrence{second}, expect.Value(s.Expand(second.Start, second.End, 1))(t))
	}
}

func TestAll_FollowsTheRule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, rule, date, clock string
		want                    []string
	}{
		{
			"start that the rule does not match", "FREQ=WEEKLY;BYDAY=MO,FR;COUNT=3", "2026-01-06", "18:00",
			[]string{"2026-01-09T18:00+01:00", "2026-01-12T18:00+01:00", "2026-01-16T18:00+01:00"},
		},
		{
			"every other week counts from the week of the start", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;COUNT=3",
			"2026-01-06", "18:00",
			[]string{"2026-01-09T18:00+01:00", "2026-01-19T18:00+01:00", "2026-01-23T18:00+01:00"},
		},
		{
			"and that week starts with WKST", "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,TU;WKST=SU;COUNT=3", "2026-01-06",
			"18:00",
			[]string{"2026-01-06T18:00+01:00", "2026-01-18T18:00+01:00", "2026-01-20T18:00+01:00"},
		},
		{
			"months without the day are left out", "FREQ=MONTHLY;COUNT=3", "2026-01-31", "18:00",
			[]string{"2026-01-31T18:00+01:00", "2026-03-31T18:00+02:00", "2026-05-31T18:00+02:00"},
		},
		{
			"last working day", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=2", "2026-01-01", "18:00",
			[]string{"2026-01-30T18:00+01:00", "2026-02-27T18:00+01:00"},
		},
		{
			"Mondays and the second Tuesday", "FREQ=MONTHLY;BYDAY=MO,2TU;COUNT=4", "2026-01-01", "18:00",
			[]string{
				"2026-01-05T18:00+01:00", "2026-01-12T18:00+01:00", "2026-01-13T18:00+01:00",
				"2026-01-19T18:00+01:00",
			},
		},
		{
			"first day of the first week is picked from the whole week",
			"FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=1;COUNT=1", "2026-01-07", "18:00",
			[]string{"2026-01-12T18:00+01:00"},
		},
		{
			"leap day", "FREQ=YEARLY;COUNT=2", "2024-02-29", "18:00",
			[]string{"2024-02-29T18:00+01:00", "2028-02-29T18:00+01:00"},
		},
		{
			"tee sheet, from its first time on", "FREQ=DAILY;BYHOUR=7,8;BYMINUTE=0,30;COUNT=5", "2026-01-06",
			"07:30",
			[]string{
				"2026-01-06T07:30+01:00", "2026-01-06T08:00+01:00", "2026-01-06T08:30+01:00",
				"2026-01-07T07:00+01:00", "2026-01-07T07:30+01:00",
			},
		},
		{
			"until a day, that day included", "FREQ=DAILY;UNTIL=20260107", "2026-01-06", "23:30",
			[]string{"2026-01-06T23:30+01:00", "2026-01-07T23:30+01:00"},
		},
		{
			"until a local time, that time included", "FREQ=DAILY;UNTIL=20260107T180000", "2026-01-06", "18:00",
			[]string{"2026-01-06T18:00+01:00", "2026-01-07T18:00+01:00"},
		},
		{
			"until a local time before that day's", "FREQ=DAILY;UNTIL=20260107T175959", "2026-01-06", "18:00",
			[]string{"2026-01-06T18:00+01:00"},
		},
		{
			"until an instant, that instant included", "FREQ=DAILY;UNTIL=20260107T170000Z", "2026-01-06", "18:00",
			[]string{"2026-01-06T18:00+01:00", "2026-01-07T18:00+01:00"},
		},
		{
			"until an instant before that day's", "FREQ=DAILY;UNTIL=20260107T165959Z", "2026-01-06", "18:00",
			[]string{"2026-01-06T18:00+01:00"},
		},
		{
			"for a century", "FREQ=YEARLY;INTERVAL=100", "2026-01-06", "18:00",
			[]string{"2026-01-06T18:00+01:00", "2126-01-06T18:00+01:00"},
		},
		{
			"no longer than a century", "FREQ=YEARLY;INTERVAL=101", "2026-01-06", "18:00",
			[]string{"2026-01-06T18:00+01:00"},
		},
		{
			"on the first day of all", "FREQ=DAILY;COUNT=1", "0001-01-01", "00:00", []string{"0001-01-01T00:00+00:53"},
		},
		{
			"days of the week in the last centuries", "FREQ=WEEKLY;BYDAY=MO;COUNT=1", "9600-01-01", "18:00",
			[]string{"9600-01-03T18:00+01:00"},
		},
	} {
		test.Eq(t, c.want, upTo(9, series(t, c.rule, c.date, c.clock, "Europe/Berlin")), test.Sprint(c.name))
	}
	test.SliceEmpty(t, upTo(9, recurrence.Series{Date: civiltest.Date("2026-01-06"), Zone: time.UTC}))
}

func TestAll_ExcludedDaysCountTowardCount(t *testing.T) {
	t.Parallel()
	s := series(t, "FREQ=DAILY;COUNT=3", "2026-01-06", "18:00", "UTC")
	s.Excluded = []civil.Date{civiltest.Date("2026-01-07"), civiltest.Date("2027-01-01")}
	test.Eq(t, []string{"2026-01-06T18:00+00:00", "2026-01-08T18:00+00:00"}, upTo(9, s))
}

func TestValidate_NamesTheInvalidField(t *testing.T) {
	t.Parallel()
	good := series(t, "FREQ=WEEKLY;BYDAY=TU;COUNT=2", "2026-01-05", "18:00", "Europe/Berlin")
	must.NoError(t, good.Validate())
	day := civiltest.Date
	for field, all := range map[string][]vary.Fields{
		"rule": {{"Rule": recurrence.Rule{}}},
		// It ends before it starts, its interval misses the day, and every day is excluded.
		"rule part=FREQ=DAILY;UNTIL=20260104":      {{"Rule": rule(t, "FREQ=DAILY;UNTIL=20260104")}},
		"rule part=FREQ=DAILY;INTERVAL=7;BYDAY=TU": {{"Rule": rule(t, "FREQ=DAILY;INTERVAL=7;BYDAY=TU")}},
		"rule part=FREQ=WEEKLY;COUNT=2;BYDAY=TU":   {{"Excluded": []civil.Date{day("2026-01-06"), day("2026-01-13")}}},
		"start_date":                               {{"Date": nil}},
		"start_time_of_day":                        {{"Time.Hour": 24}},
		"time_zone":                                {{"Zone": nil}},
		"duration":                                 {{"Duration": 0}, {"Duration": 7*24*time.Hour + 1}},
	} {
		for _, differ := range all {
			expect.Fault(t, "RECURRENCE_INVALID @"+field, differ)(vary.From(good, differ).Validate())
		}
	}
	for _, length := range []time.Duration{1, 7 * 24 * time.Hour} {
		test.NoError(t, vary.From(good, vary.Fields{"Duration": length}).Validate())
	}
}

func TestExpand_RejectsMoreThanLimit(t *testing.T) {
	t.Parallel()
	s := series(t, "FREQ=DAILY", "2026-01-05", "18:00", "Europe/Berlin")
	from := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	test.Len(t, 10, expect.Value(s.Expand(from, from.AddDate(0, 0, 10), 10))(t))
	_, err := s.Expand(from, from.AddDate(0, 0, 11), 10)
	test.StrContains(t, faulttest.Text(err), "limit=10")
	test.Nil(t, expect.Value(s.Expand(from, from, 10))(t), test.Sprint("of an empty span"))
}

func TestSplitAt_DividesRuleAtDay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, rule, at, head, tail, tailDate string }{
		{
			"between occurrences keeps every other week", "FREQ=WEEKLY;INTERVAL=2", "2026-01-13",
			"FREQ=WEEKLY;INTERVAL=2;UNTIL=20260112", "FREQ=WEEKLY;INTERVAL=2", "2026-01-19",
		},
		{
			"count continues", "FREQ=WEEKLY;COUNT=5", "2026-01-19",
			"FREQ=WEEKLY;UNTIL=20260118", "FREQ=WEEKLY;COUNT=3", "2026-01-19",
		},
		{
			"until stays with the tail", "FREQ=WEEKLY;UNTIL=20260301", "2026-01-19",
			"FREQ=WEEKLY;UNTIL=20260118", "FREQ=WEEKLY;UNTIL=20260301", "2026-01-19",
		},
	} {
		head, tail, err := series(t, c.rule, "2026-01-05", "18:00", "Europe/Berlin").SplitAt(civiltest.Date(c.at))
		must.NoError(t, err)
		test.EqOp(t, c.head, head.Rule.String(), test.Sprint(c.name))
		test.EqOp(t, "2026-01-05", head.Date.String(), test.Sprint(c.name))
		test.EqOp(t, c.tail, tail.Rule.String(), test.Sprint(c.name))
		test.EqOp(t, c.tailDate, tail.Date.String(), test.Sprint(c.name))
	}
	s := series(t, "FREQ=WEEKLY;COUNT=3", "2026-01-05", "18:00", "Europe/Berlin")
	for _, date := range []string{"2026-01-05", "2025-12-01", "2026-01-20", "2027-01-01"} {
		expect.Fault(t, "RECURRENCE_INVALID @rule date="+date)(s.SplitAt(civiltest.Date(date)))
	}
	s = series(t, "FREQ=DAILY;BYHOUR=7,9;COUNT=40", "2026-01-05", "06:00", "Europe/Berlin")
	s.Excluded = []civil.Date{civiltest.Date("2026-01-06"), civiltest.Date("2026-01-07"), civiltest.Date("2026-01-08")}
	head, tail, err := s.SplitAt(s.Excluded[1])
	must.NoError(t, err)
	test.Eq(t, s.Excluded[:1], head.Excluded)
	test.Eq(t, s.Excluded[1:], tail.Excluded)
	test.EqOp(t, "07:00", tail.Time.String())
}

// drawSeries draws a series, most of them with an end. It returns false if Validate rejects it.
func drawSeries(t *rapid.T) (recurrence.Series, bool) {
	text := drawSpec(t).String()
	switch rapid.IntRange(0, 4).Draw(t, "end") {
	case 0, 1:
		text += ";COUNT=" + rapid.StringMatching(`[1-9][0-9]?`).Draw(t, "count")
	case 2:
		text += ";UNTIL=203" + rapid.StringMatching(`[0-9]1[0-2]2[0-8]`).Draw(t, "until")
	case 3:
		text += ";UNTIL=203" + rapid.StringMatching(`[0-9]1[0-2]2[0-8]T1[0-9]3000Z`).Draw(t, "until")
	}
	r, err := recurrence.Parse(text)
	if err != nil {
		return recurrence.Series{}, false
	}
	s := recurrence.Series{
		Rule: r,
		Date: civiltest.Date("2012-01-01").AddDays(rapid.IntRange(0, 25*365).Draw(t, "date")),
		Time: civil.TimeOfDay{
			Hour: rapid.IntRange(0, 23).Draw(t, "hour"), Minute: rapid.SampledFrom([]int{0, 15, 30, 45}).Draw(t, "minute"),
		},
		Zone:     zone(t, rapid.SampledFrom(zones).Draw(t, "zone")),
		Duration: time.Duration(rapid.IntRange(1, 300).Draw(t, "duration")) * time.Minute,
	}
	for range rapid.IntRange(0, 3).Draw(t, "excluded") {
		if o, ok := s.First(); ok {
			s.Excluded = append(s.Excluded, o.Date)
		}
	}
	return s, s.Validate() == nil
}

// take returns at most n occurrences.
func take(n int, s recurrence.Series) []recurrence.Occurrence {
	var taken []recurrence.Occurrence
	for o := range s.All() {
		if taken = append(taken, o); len(taken) == n {
			break
		}
	}
	return taken
}

func TestAll_OccurrencesKeepTimeDurationAndOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, ok := drawSeries(t)
		if !ok {
			return
		}
		last := time.Time{}
		for _, o := range take(300, s) {
			must.True(t, o.Start.After(last), must.Sprintf("%s does not come after %s", o.Start, last))
			last = o.Start
			must.EqOp(t, s.Duration, o.End.Sub(o.Start), must.Sprintf("from %s to %s it is not", o.Start, o.End))
			must.False(t, o.Date.Before(s.Date), must.Sprintf("unexpected occurrence on %s", o.Date))
			must.False(t, slices.Contains(s.Excluded, o.Date), must.Sprintf("unexpected occurrence on %s", o.Date))
			must.True(t, o.Date.In(s.Zone), must.Sprintf("unexpected occurrence on %s", o.Date))
			must.True(t, o.Start.Equal(o.Date.At(s.Time, s.Zone)), must.Sprintf("%s is not %s on %s", o.Start, s.Time, o.Date))
			// The local time is the same, unless the zone skipped it.
			if got := civil.TimeOf(o.Start, s.Zone); got != s.Time {
				_, before := o.Start.Add(-3 * time.Hour).Zone()
				_, after := o.Start.Zone()
				must.True(t, before < after, must.Sprintf("%s on %s instead of %s, without a gap", got, o.Date, s.Time))
			}
		}
	})
}

func TestAll_HasExactlyCountOccurrences(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, 200).Draw(t, "count")
		freq := rapid.SampledFrom([]string{"DAILY", "WEEKLY;BYDAY=MO,TH", "MONTHLY"}).Draw(t, "rule")
		s := recurrence.Series{
			Rule:     rule(t, "FREQ="+freq+";COUNT="+strconv.Itoa(count)),
			Date:     civiltest.Date("2011-01-01").AddDays(rapid.IntRange(0, 9000).Draw(t, "date")),
			Time:     civil.TimeOfDay{Hour: rapid.IntRange(0, 23).Draw(t, "hour")},
			Zone:     zone(t, rapid.SampledFrom(zones).Draw(t, "zone")),
			Duration: time.Hour,
		}
		must.EqOp(t, count, len(take(1000, s)), must.Sprintf("occurrences, want %d", count))
	})
}

func TestSplitAt_PartsHaveTheOccurrencesOfTheWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, ok := drawSeries(t)
		if !ok {
			return
		}
		whole := take(60, s)
		at := rapid.SampledFrom(whole).Draw(t, "at").Date.AddDays(rapid.IntRange(-2, 2).Draw(t, "off"))
		head, tail, err := s.SplitAt(at)
		if err != nil {
			follows := func(o recurrence.Occurrence) bool { return !o.Date.Before(at) }
			must.False(t, whole[0].Date.Before(at) && slices.ContainsFunc(whole, follows), must.Sprint(err))
			return
		}
		for _, part := range []recurrence.Series{head, tail} {
			must.NoError(t, part.Validate())
		}
		parts := append(take(1000, head), take(60, tail)...)
		parts = slices.DeleteFunc(parts, func(o recurrence.Occurrence) bool { return o.Date.Year > s.Date.Year+100 })
		must.Eq(t, whole, parts[:min(60, len(parts))],
			must.Sprintf("%s split at %s into %s and %s from %s (-whole +parts)", s.Rule, at, head.Rule, tail.Rule, tail.Date))
	})
}

func TestExpand_ReturnsTheSpanOfAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, ok := drawSeries(t)
		if !ok {
			return
		}
		all := take(100, s)
		last := all[len(all)-1].Start
		if len(all) < 100 {
			last = last.AddDate(1, 0, 0) // nothing follows
		}
		minutes := rapid.Int64Range(-1000, int64(last.Sub(all[0].Start)/time.Minute)).Draw(t, "from")
		from := all[0].Start.Add(time.Duration(minutes) * time.Minute)
		to := from.Add(min(last.Sub(from), time.Duration(rapid.Int64Range(0, 500_000).Draw(t, "length"))*time.Minute))
		got := expect.Value(s.Expand(from, to, 100))(t)
		want := slices.DeleteFunc(all, func(o recurrence.Occurrence) bool {
			return o.Start.Before(from) || !o.Start.Before(to)
		})
		must.Eq(t, want, got, must.Cmp(cmpopts.EquateEmpty()), must.Sprintf("from %s to %s", from, to))
	})
}
