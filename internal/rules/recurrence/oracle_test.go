package recurrence_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/rules/recurrence"
)

// spec is a rule that is evaluated day by day, as simply as RFC 5545 allows, and without the library that the package
// under test uses.
type spec struct {
	freq                     string
	interval                 int
	weekStart                time.Weekday
	month, monthDay, yearDay []int
	day                      []nthDay
	setPos                   []int
}

type nthDay struct {
	nth int
	day time.Weekday
}

var codes = []string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

func (s spec) String() string {
	parts := []string{"FREQ=" + s.freq, fmt.Sprintf("INTERVAL=%d", s.interval), "WKST=" + codes[s.weekStart]}
	list := func(name string, values []int) {
		if len(values) > 0 {
			parts = append(parts, name+"="+strings.ReplaceAll(strings.Trim(fmt.Sprint(values), "[]"), " ", ","))
		}
	}
	list("BYMONTH", s.month)
	list("BYMONTHDAY", s.monthDay)
	list("BYYEARDAY", s.yearDay)
	list("BYSETPOS", s.setPos)
	var days []string
	for _, d := range s.day {
		text := codes[d.day]
		if d.nth != 0 {
			text = fmt.Sprint(d.nth) + text
		}
		days = append(days, text)
	}
	if days != nil {
		parts = append(parts, "BYDAY="+strings.Join(days, ","))
	}
	return strings.Join(parts, ";")
}

// days returns the rule's days from start to end, both included.
func (s spec) days(start, end civil.Date) []civil.Date {
	s = s.withDefaults(start)
	var days []civil.Date
	for first := s.periodStart(start); !first.After(end); {
		next := s.nextPeriod(first)
		if s.periodsBetween(s.periodStart(start), first)%s.interval == 0 {
			var set []civil.Date
			for d := first; d.Before(next); d = d.AddDays(1) {
				if s.matches(d) {
					set = append(set, d)
				}
			}
			days = append(days, s.pick(set)...)
		}
		first = next
	}
	return slices.DeleteFunc(days, func(d civil.Date) bool { return d.Before(start) || d.After(end) })
}

func (s spec) withDefaults(start civil.Date) spec {
	if len(s.yearDay)+len(s.monthDay)+len(s.day) == 0 {
		switch s.freq {
		case "YEARLY":
			if len(s.month) == 0 {
				s.month = []int{int(start.Month)}
			}
			s.monthDay = []int{start.Day}
		case "MONTHLY":
			s.monthDay = []int{start.Day}
		}
	}
	if len(s.day) == 0 && s.freq == "WEEKLY" {
		s.day = []nthDay{{day: start.Weekday()}}
	}
	return s
}

func (s spec) periodStart(d civil.Date) civil.Date {
	switch s.freq {
	case "YEARLY":
		return civil.Date{Year: d.Year, Month: 1, Day: 1}
	case "MONTHLY":
		return civil.Date{Year: d.Year, Month: d.Month, Day: 1}
	case "WEEKLY":
		return s.weekOf(d)
	default:
		return d
	}
}

func (s spec) weekOf(d civil.Date) civil.Date {
	for d.Weekday() != s.weekStart {
		d = d.AddDays(-1)
	}
	return d
}

func (s spec) nextPeriod(first civil.Date) civil.Date {
	switch s.freq {
	case "YEARLY":
		return civil.Date{Year: first.Year + 1, Month: 1, Day: 1}
	case "MONTHLY":
		return s.periodStart(first.AddDays(31))
	case "WEEKLY":
		return first.AddDays(7)
	default:
		return first.AddDays(1)
	}
}

func (s spec) periodsBetween(a, b civil.Date) int {
	switch s.freq {
	case "YEARLY":
		return b.Year - a.Year
	case "MONTHLY":
		return 12*(b.Year-a.Year) + int(b.Month) - int(a.Month)
	case "WEEKLY":
		return b.DaysSince(a) / 7
	default:
		return b.DaysSince(a)
	}
}

func (s spec) pick(set []civil.Date) []civil.Date {
	if len(s.setPos) == 0 {
		return set
	}
	var picked []civil.Date
	for n, d := range set {
		if slices.Contains(s.setPos, n+1) || slices.Contains(s.setPos, n-len(set)) {
			picked = append(picked, d)
		}
	}
	return picked
}

func (s spec) matches(d civil.Date) bool {
	year := civil.Date{Year: d.Year, Month: 1, Day: 1}
	month := civil.Date{Year: d.Year, Month: d.Month, Day: 1}
	nextYear, nextMonth := civil.Date{Year: d.Year + 1, Month: 1, Day: 1}, month.AddDays(31)
	nextMonth.Day = 1
	in := func(list []int, n, fromEnd int) bool {
		return len(list) == 0 || slices.Contains(list, n) || slices.Contains(list, -fromEnd)
	}
	return (len(s.month) == 0 || slices.Contains(s.month, int(d.Month))) &&
		in(s.monthDay, d.Day, nextMonth.DaysSince(d)) &&
		in(s.yearDay, d.DaysSince(year)+1, nextYear.DaysSince(d)) &&
		s.onDay(d, year, nextYear, month, nextMonth)
}

func (s spec) onDay(d, year, nextYear, month, nextMonth civil.Date) bool {
	from, to := year, nextYear
	if s.freq == "MONTHLY" || len(s.month) > 0 {
		from, to = month, nextMonth
	}
	return len(s.day) == 0 || slices.ContainsFunc(s.day, func(n nthDay) bool {
		return n.day == d.Weekday() &&
			(n.nth == 0 || n.nth == d.DaysSince(from)/7+1 || n.nth == -((to.DaysSince(d)-1)/7+1))
	})
}

// drawSpec draws a rule of whole days that Parse should accept.
func drawSpec(t *rapid.T) spec {
	s := spec{
		freq:      rapid.SampledFrom([]string{"DAILY", "WEEKLY", "MONTHLY", "YEARLY"}).Draw(t, "freq"),
		interval:  rapid.SampledFrom([]int{1, 1, 1, 2, 3, 5}).Draw(t, "interval"),
		weekStart: rapid.SampledFrom([]time.Weekday{1, 1, 0, 6, 3}).Draw(t, "wkst"),
	}
	list := func(name string, odds, high int, signs bool) []int {
		if rapid.IntRange(1, odds).Draw(t, name+" given") > 1 {
			return nil
		}
		value := rapid.OneOf(rapid.IntRange(1, high), rapid.IntRange(max(1, high-2), high), rapid.IntRange(1, 2))
		values := rapid.SliceOfNDistinct(value, 1, 4, rapid.ID).Draw(t, name)
		for n := range values {
			if signs && rapid.Bool().Draw(t, "negative") {
				values[n] = -values[n]
			}
		}
		return values
	}
	s.month = list("month", 3, 12, false)
	if s.freq != "WEEKLY" {
		s.monthDay = list("month day", 3, 31, true)
	}
	if s.freq == "YEARLY" {
		s.yearDay = list("year day", 4, 366, true)
	}
	if rapid.Bool().Draw(t, "day given") {
		limit := 0
		switch {
		case s.freq == "MONTHLY", s.freq == "YEARLY" && len(s.month) > 0:
			limit = 5
		case s.freq == "YEARLY":
			limit = 53
		}
		s.day = rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) nthDay {
			d := nthDay{day: time.Weekday(rapid.IntRange(0, 6).Draw(t, "weekday"))}
			if limit > 0 && rapid.Bool().Draw(t, "ordinal") {
				d.nth = rapid.IntRange(-limit, limit).Draw(t, "nth")
			}
			return d
		}), 1, 4, rapid.ID).Draw(t, "days")
	}
	if len(s.month)+len(s.monthDay)+len(s.yearDay)+len(s.day) > 0 {
		s.setPos = list("position", 4, 10, true)
	}
	return s
}

func TestSeries_DaysMatchRFC5545(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t)
		start := civiltest.Date("2020-01-01").AddDays(rapid.IntRange(0, 3000).Draw(t, "start"))
		end := start.AddDays(4 * 366)
		want := s.days(start, end)

		rule, err := recurrence.Parse(s.String())
		if err != nil {
			must.True(t, len(want) == 0, must.Sprintf("%s was rejected: %v", s, err))
			return
		}
		series := recurrence.Series{Rule: rule, Date: start, Zone: time.UTC, Duration: time.Hour}
		var got []civil.Date
		for o := range series.All() {
			if o.Date.After(end) {
				break
			}
			got = append(got, o.Date)
		}
		must.SliceEqOp(t, want, got, must.Sprintf("%s from %s", s, start))
	})
}
