package civil_test

import (
	"encoding/json"
	"testing"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// zones have offsets of whole, half and quarter hours, clock changes of an hour and of half an hour, at midnight and
// at other times, and moves across the date line.
var zones = []string{
	"UTC", "America/New_York", "America/Los_Angeles", "America/Sao_Paulo", "America/St_Johns", "America/Havana",
	"America/Santiago", "Europe/London", "Europe/Berlin", "Europe/Dublin", "Africa/Casablanca", "Africa/Cairo",
	"Asia/Kolkata", "Asia/Kathmandu", "Asia/Tehran", "Asia/Beirut", "Asia/Gaza", "Asia/Tokyo", "Australia/Lord_Howe",
	"Australia/Sydney", "Pacific/Apia", "Pacific/Chatham", "Pacific/Kiritimati", "Atlantic/Azores", "Antarctica/Troll",
}

func zone(t must.T, name string) *time.Location {
	t.Helper()
	return expect.Value(time.LoadLocation(name))(t)
}

// dayIn returns the span of a day in a zone; it is empty if the zone skipped the day.
func dayIn(d civil.Date, zone *time.Location) civil.Span {
	return civil.Span{Start: d.On(zone), End: d.AddDays(1).On(zone)}
}

// weekIn returns the span of the day's ISO week in a zone, Monday to Monday.
func weekIn(d civil.Date, zone *time.Location) civil.Span {
	monday := d.WeekStart()
	return civil.Span{Start: monday.On(zone), End: monday.AddDays(7).On(zone)}
}

func TestParseDate_AcceptsOnlyExtendedISO8601(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0001-01-01", "2024-02-29", "2026-03-29", "9999-12-31"} {
		d := expect.Value(civil.ParseDate(text))(t)
		test.EqOp(t, text, d.String(), test.Sprintf("ParseDate(%q) = %v", text, d))
		test.True(t, d.Valid(), test.Sprintf("ParseDate(%q) = %v", text, d))
	}
	for _, text := range []string{
		"", "2026-3-29", "2026-02-29", "2026-13-01", "0000-01-01", "10000-01-01", "2026-03-29T00:00:00Z", " 2026-03-29",
		"29.03.2026",
	} {
		d, err := civil.ParseDate(text)
		test.True(t, err == civil.ErrNotDate, test.Sprintf("ParseDate(%q) = %v, %v", text, d, err))
		test.True(t, d.IsZero(), test.Sprintf("ParseDate(%q) = %v, %v", text, d, err))
	}
}

func TestParseTimeOfDay_AcceptsOnly24HourTimes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]civil.TimeOfDay{
		"00:00":    {},
		"18:05":    {Hour: 18, Minute: 5},
		"23:59:59": {Hour: 23, Minute: 59, Second: 59},
	} {
		got := expect.Value(civil.ParseTimeOfDay(text))(t)
		test.EqOp(t, want, got, test.Sprintf("ParseTimeOfDay(%q) = %v", text, got))
		test.EqOp(t, text, got.String(), test.Sprintf("ParseTimeOfDay(%q) = %v", text, got))
	}
	for _, text := range []string{"", "24:00", "7:00", "07:60", "18", "18:00:60", "18:00:00.5", "6:00 PM", "18:00Z"} {
		got, err := civil.ParseTimeOfDay(text)
		test.EqOp(t, civil.ErrNotTimeOfDay, err, test.Sprintf("ParseTimeOfDay(%q) = %v", text, got))
	}
}

func TestDateAndTimeOfDay_RoundTripAsJSONText(t *testing.T) {
	t.Parallel()
	type pair struct {
		Date civil.Date
		Time civil.TimeOfDay
	}
	for _, want := range []pair{{}, {civiltest.Date("2026-03-29"), civiltest.TimeOfDay("18:00")}} {
		text := expect.Value(json.Marshal(want))(t)
		var got pair
		err := json.Unmarshal(text, &got)
		test.NoError(t, err, test.Sprintf("%s became %v, %v", text, got, err))
		test.EqOp(t, want, got, test.Sprintf("%s became %v, %v", text, got, err))
	}
	test.Error(t, json.Unmarshal([]byte(`{"Date":"29.3."}`), &pair{}), test.Sprint("a wrong date was read"))
}

func TestAt_FollowsRFC5545AtClockChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, zone, date, clock, want string }{
		{"gap of an hour", "America/New_York", "2026-03-08", "02:30", "2026-03-08T03:30:00-04:00"},
		{"first minute of a gap", "America/New_York", "2026-03-08", "02:00", "2026-03-08T03:00:00-04:00"},
		{"before a gap", "America/New_York", "2026-03-08", "01:59", "2026-03-08T01:59:00-05:00"},
		{"after a gap", "America/New_York", "2026-03-08", "03:00", "2026-03-08T03:00:00-04:00"},
		{"shown twice", "America/New_York", "2026-11-01", "01:30", "2026-11-01T01:30:00-04:00"},
		{"after it was shown twice", "America/New_York", "2026-11-01", "02:00", "2026-11-01T02:00:00-05:00"},
		{"gap east of UTC", "Europe/Berlin", "2026-03-29", "02:30", "2026-03-29T03:30:00+02:00"},
		{"shown twice east of UTC", "Europe/Berlin", "2026-10-25", "02:30", "2026-10-25T02:30:00+02:00"},
		{"gap from offset zero", "Europe/London", "2026-03-29", "01:30", "2026-03-29T02:30:00+01:00"},
		{"gap of half an hour", "Australia/Lord_Howe", "2026-10-04", "02:10", "2026-10-04T02:40:00+11:00"},
		{"shown twice for half an hour", "Australia/Lord_Howe", "2026-04-05", "01:45", "2026-04-05T01:45:00+11:00"},
		{"summer time off for Ramadan", "Africa/Casablanca", "2026-02-15", "02:30", "2026-02-15T02:30:00+01:00"},
		{"and on again", "Africa/Casablanca", "2026-03-22", "02:30", "2026-03-22T03:30:00+01:00"},
		{"no clock changes", "Asia/Kolkata", "2026-03-29", "02:30", "2026-03-29T02:30:00+05:30"},
		{"gap at midnight", "America/Sao_Paulo", "2018-11-04", "00:00", "2018-11-04T01:00:00-02:00"},
		{"midnight shown twice", "America/Havana", "2026-11-01", "00:00", "2026-11-01T00:00:00-04:00"},
		{"gap of a day", "Pacific/Apia", "2011-12-30", "18:00", "2011-12-31T18:00:00+14:00"},
		{"gap of two hours", "Antarctica/Troll", "2026-03-29", "01:30", "2026-03-29T03:30:00+02:00"},
		{
			"last day of a leap year beyond the table", "America/New_York", "2040-12-31", "18:00",
			"2040-12-31T18:00:00-05:00",
		},
		{"gap beyond the table", "Australia/Lord_Howe", "2044-10-02", "02:10", "2044-10-02T02:40:00+11:00"},
		{"no zone is UTC", "", "2026-03-29", "02:30", "2026-03-29T02:30:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var loc *time.Location
			if c.zone != "" {
				loc = zone(t, c.zone)
			}
			test.Eq(t, c.want, civiltest.Date(c.date).At(civiltest.TimeOfDay(c.clock), loc).Format(time.RFC3339))
		})
	}
}

func TestIn_ReportsDaysSkippedByZone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, zone, date string
		hours            float64
		exists           bool
	}{
		{"common", "Europe/Berlin", "2026-06-01", 24, true},
		{"clocks forward", "Europe/Berlin", "2026-03-29", 23, true},
		{"clocks back", "Europe/Berlin", "2026-10-25", 25, true},
		{"half an hour back", "Australia/Lord_Howe", "2026-04-05", 24.5, true},
		{"forward at midnight", "America/Sao_Paulo", "2018-11-04", 23, true},
		{"skipped", "Pacific/Apia", "2011-12-30", 0, false},
		{"the day before", "Pacific/Apia", "2011-12-29", 24, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			loc, date := zone(t, c.zone), civiltest.Date(c.date)
			test.EqOp(t, c.exists, date.In(loc), test.Sprint("In"))
			test.EqOp(t, c.hours, dayIn(date, loc).Length().Hours(), test.Sprintf("hours, want %g", c.hours))
		})
	}
	week := weekIn(civiltest.Date("2026-03-25"), zone(t, "Europe/Berlin"))
	test.EqOp(t, 7*24*time.Hour-time.Hour, week.Length(), test.Sprint("the week of the clock change"))
}

// drawDate draws from years in which the tested zones follow rules, not decrees.
func drawDate(t *rapid.T) civil.Date {
	return civiltest.Date("1985-01-01").AddDays(rapid.IntRange(0, 70*365).Draw(t, "day"))
}

func drawClock(t *rapid.T) civil.TimeOfDay {
	return civil.TimeOf(time.Unix(int64(rapid.IntRange(0, 24*60*60-1).Draw(t, "second")), 0), time.UTC)
}

// The promise of At, computed from the zone's view of instants: the result has the local time and no earlier instant
// does, or no instant has it and the result is the one that the offset before the gap gives.
func TestAt_ReturnsFirstInstantWithThatLocalTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		loc := zone(t, rapid.SampledFrom(zones).Draw(t, "zone"))
		date, clock := drawDate(t), drawClock(t)
		shows := func(at time.Time) bool {
			return civil.DateOf(at, loc) == date && civil.TimeOf(at, loc) == clock
		}
		wall := time.Date(date.Year, date.Month, date.Day, clock.Hour, clock.Minute, clock.Second, 0, time.UTC)
		var first time.Time
		for offset := 16 * 60; offset >= -16*60 && first.IsZero(); offset -= 15 {
			if at := wall.Add(-time.Duration(offset) * time.Minute); shows(at) {
				first = at
			}
		}
		got := date.At(clock, loc)
		if !first.IsZero() {
			must.True(t, got.Equal(first), must.Sprintf("%s %s in %s is %s, want %s", date, clock, loc, got, first.In(loc)))
			return
		}
		_, before := got.Add(-3 * time.Hour).Zone()
		if day := date.AddDays(-1); !date.In(loc) {
			_, before = day.On(loc).Zone()
		}
		want := wall.Add(-time.Duration(before) * time.Second)
		must.True(t, got.Equal(want),
			must.Sprintf("%s %s, skipped in %s, is %s, want %s", date, clock, loc, got, want.In(loc)))
		must.False(t, shows(got),
			must.Sprintf("%s %s, skipped in %s, is %s, want %s", date, clock, loc, got, want.In(loc)))
	})
}

func TestDateOf_EveryInstantIsInExactlyOneDayAndWeek(t *testing.T) {
	t.Parallel()
	// St. John's moved its clocks back from 00:01 to 23:01 until 2011, so its days overlapped.
	after := time.Date(2012, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	rapid.Check(t, func(t *rapid.T) {
		loc := zone(t, rapid.SampledFrom(zones).Draw(t, "zone"))
		at := time.Unix(after+rapid.Int64Range(0, 40*365*24*60*60).Draw(t, "at"), 0)
		date := civil.DateOf(at, loc)
		must.True(t, date.In(loc), must.Sprintf("%s is not in %s of %s", at, date, loc))
		must.True(t, dayIn(date, loc).Contains(at), must.Sprintf("%s is not in %s of %s", at, date, loc))
		must.True(t, weekIn(date, loc).Contains(at), must.Sprintf("%s is not in %s of %s", at, date, loc))
		next := dayIn(date.AddDays(1), loc)
		must.False(t, next.Contains(at), must.Sprintf("%s is also in the day after %s of %s", at, date, loc))
		must.False(t, next.Overlaps(dayIn(date, loc)),
			must.Sprintf("%s is also in the day after %s of %s", at, date, loc))
	})
}

func TestDate_ArithmeticOrderAndTextAgree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d, n := drawDate(t), rapid.IntRange(-10_000, 10_000).Draw(t, "n")
		moved := d.AddDays(n)
		got := moved.DaysSince(d)
		must.EqOp(t, n, got, must.Sprintf("%s + %d days = %s, which is %d days on", d, n, moved, got))
		must.True(t, moved.Valid(), must.Sprintf("%s + %d days = %s, which is %d days on", d, n, moved, got))
		must.EqOp(t, (n > 0), d.Before(moved), must.Sprintf("%s and %s are out of order", d, moved))
		must.EqOp(t, (n < 0), d.After(moved), must.Sprintf("%s and %s are out of order", d, moved))
		must.EqOp(t, (n == 0), (d.Compare(moved) == 0), must.Sprintf("%s and %s are out of order", d, moved))
		back := expect.Value(civil.ParseDate(d.String()))(t)
		must.EqOp(t, d, back, must.Sprintf("%s was read as %s", d, back))
		monday := d.WeekStart()
		year, week := d.On(time.UTC).ISOWeek()
		mondayYear, mondayWeek := monday.On(time.UTC).ISOWeek()
		sameWeek := year == mondayYear && week == mondayWeek
		since := d.DaysSince(monday)
		must.EqOp(t, time.Monday, monday.Weekday(), must.Sprintf("the week of %s starts on %s", d, monday))
		must.GreaterEq(t, 0, since, must.Sprintf("the week of %s starts on %s", d, monday))
		must.LessEq(t, 6, since, must.Sprintf("the week of %s starts on %s", d, monday))
		must.True(t, sameWeek, must.Sprintf("the week of %s starts on %s", d, monday))
	})
}

func TestSpan_ContainsStartButNotEnd(t *testing.T) {
	t.Parallel()
	at := func(hour int) time.Time { return time.Date(2026, 3, 29, hour, 0, 0, 0, time.UTC) }
	span := civil.Span{Start: at(10), End: at(12)}
	test.True(t, span.Contains(at(10)), test.Sprint("a span contains its start and not its end"))
	test.True(t, span.Contains(at(11)), test.Sprint("a span contains its start and not its end"))
	test.False(t, span.Contains(at(12)), test.Sprint("a span contains its start and not its end"))
	test.False(t, span.Contains(at(9)), test.Sprint("a span contains its start and not its end"))
	for _, c := range []struct {
		start, end int
		want       bool
	}{{8, 10, false}, {8, 11, true}, {11, 12, true}, {9, 13, true}, {12, 13, false}} {
		other := civil.Span{Start: at(c.start), End: at(c.end)}
		test.EqOp(t, c.want, span.Overlaps(other), test.Sprintf("%d to %d overlaps: want %t", c.start, c.end, c.want))
		test.EqOp(t, c.want, other.Overlaps(span), test.Sprintf("%d to %d overlaps: want %t", c.start, c.end, c.want))
	}
}

func TestValid_RejectsDaysAndTimesThatDoNotExist(t *testing.T) {
	t.Parallel()
	for _, d := range []civil.Date{
		{}, {2026, 2, 29}, {2026, 0, 1}, {2026, 13, 1}, {2026, 1, 0}, {2026, 4, 31}, {10_000, 1, 1}, {-1, 1, 1},
	} {
		test.False(t, d.Valid(), test.Sprintf("%v is valid", d))
	}
	for _, c := range []civil.TimeOfDay{{24, 0, 0}, {-1, 0, 0}, {0, 60, 0}, {0, 0, 60}, {0, -1, 0}, {0, 0, -1}} {
		test.False(t, c.Valid(), test.Sprintf("%v is valid", c))
	}
}

func BenchmarkAt(b *testing.B) {
	loc := zone(b, "America/New_York")
	date, clock := civiltest.Date("2040-03-29"), civiltest.TimeOfDay("18:00")
	for b.Loop() {
		date.At(clock, loc)
	}
}

func TestTimeOfDay_IsOrderedByTheClock(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		clock := func(name string) civil.TimeOfDay {
			number := rapid.IntRange(-1, 60)
			return civil.TimeOfDay{
				Hour: rapid.IntRange(-1, 24).Draw(t, name), Minute: number.Draw(t, name), Second: number.Draw(t, name),
			}
		}
		a, b := clock("a"), clock("b")
		within := func(n, end int) bool { return 0 <= n && n < end }
		must.EqOp(t, within(a.Hour, 24) && within(a.Minute, 60) && within(a.Second, 60), a.Valid())
		must.EqOp(t, a.SinceMidnight() < b.SinceMidnight(), a.Before(b))
		must.EqOp(t, a.SinceMidnight() < b.SinceMidnight(), a.Compare(b) < 0)
		must.EqOp(t, a.Compare(b), -b.Compare(a))
		must.False(t, a.Before(a))
		must.Zero(t, civil.TimeOfDay.Compare(a, a))
	})
	for _, c := range []civil.TimeOfDay{{}, {Hour: 23, Minute: 59, Second: 59}} {
		test.True(t, c.Valid())
	}
}

func TestUnmarshalText_ReplacesTheValueOrFails(t *testing.T) {
	t.Parallel()
	d, c := civiltest.Date("2026-03-29"), civiltest.TimeOfDay("18:00")
	test.NoError(t, d.UnmarshalText(nil))
	test.True(t, d.IsZero())
	test.ErrorIs(t, d.UnmarshalText([]byte("tomorrow")), civil.ErrNotDate)
	test.ErrorIs(t, c.UnmarshalText([]byte("noon")), civil.ErrNotTimeOfDay)
}
