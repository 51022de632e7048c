package recurrence

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/teambition/rrule-go"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
)

// Limits of a rule.
const (
	// MaxOccurrences is the highest COUNT.
	MaxOccurrences = 10_000
	// MaxInterval is the highest INTERVAL, in units of FREQ.
	MaxInterval = 1000
	// MaxRuleLength is the length limit of a rule's text, in bytes. The contract allows half of it, because the
	// canonical form can be longer than the input.
	MaxRuleLength = 1000
)

// ruleField is the request's field with the rule's text.
const ruleField = "rule"

// Rule is the value of an RFC 5545 RRULE property that makes sense for a schedule. Make it with Parse. The zero Rule
// has no occurrences.
type Rule struct {
	freq     rrule.Frequency
	interval int // 0 in the zero Rule only
	weekday  rrule.Weekday
	count    int // 0: no COUNT
	until    until

	month, monthDay, yearDay, setPos []int
	hour, minute                     []int
	day                              []rrule.Weekday
}

// until is the latest start of an occurrence.
type until struct {
	form    untilForm
	date    civil.Date      // local
	clock   civil.TimeOfDay // local; unused for a date
	instant time.Time
}

type untilForm uint8

const (
	untilNone untilForm = iota
	untilDate
	untilLocal
	untilUTC
)

const (
	dateLayout  = "20060102"
	localLayout = "20060102T150405"
	utcLayout   = "20060102T150405Z"
)

// Bounded reports whether the rule ends, by COUNT or UNTIL.
func (r Rule) Bounded() bool { return r.count > 0 || r.until.form != untilNone }

// String returns the canonical form of the rule, which Parse can read. Texts with the same parts and values have the
// same canonical form. The zero Rule is "".
func (r Rule) String() string {
	if r.interval == 0 {
		return ""
	}
	parts := []string{"FREQ=" + r.freq.String()}
	if r.interval > 1 {
		parts = append(parts, "INTERVAL="+strconv.Itoa(r.interval))
	}
	if r.weekday != rrule.MO {
		parts = append(parts, "WKST="+r.weekday.String())
	}
	if r.count > 0 {
		parts = append(parts, "COUNT="+strconv.Itoa(r.count))
	}
	if r.until.form != untilNone {
		parts = append(parts, "UNTIL="+r.until.String())
	}
	for _, list := range []struct {
		name   string
		values []int
	}{
		{"BYMONTH", r.month},
		{"BYYEARDAY", r.yearDay},
		{"BYMONTHDAY", r.monthDay},
	} {
		parts = appendList(parts, list.name, list.values, strconv.Itoa)
	}
	parts = appendList(parts, "BYDAY", r.day, rrule.Weekday.String)
	parts = appendList(parts, "BYHOUR", r.hour, strconv.Itoa)
	parts = appendList(parts, "BYMINUTE", r.minute, strconv.Itoa)
	parts = appendList(parts, "BYSETPOS", r.setPos, strconv.Itoa)
	return strings.Join(parts, ";")
}

func appendList[T any](parts []string, name string, values []T, text func(T) string) []string {
	if len(values) == 0 {
		return parts
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = text(v)
	}
	return append(parts, name+"="+strings.Join(texts, ","))
}

func (u until) String() string {
	switch u.form {
	case untilDate:
		return u.date.At(civil.TimeOfDay{}, time.UTC).Format(dateLayout)
	case untilLocal:
		return u.date.At(u.clock, time.UTC).Format(localLayout)
	case untilUTC:
		return u.instant.UTC().Format(utcLayout)
	default:
		return ""
	}
}

// passed reports whether an occurrence starts after UNTIL.
func (u until) passed(o Occurrence, clock civil.TimeOfDay) bool {
	switch u.form {
	case untilDate:
		return o.Date.After(u.date)
	case untilLocal:
		return o.Date.After(u.date) || o.Date == u.date && u.clock.Before(clock)
	case untilUTC:
		return o.Start.After(u.instant)
	default:
		return false
	}
}

// endingOn returns the rule with another end: date is the last day.
func (r Rule) endingOn(date civil.Date) Rule {
	r.count = 0
	r.until = until{form: untilDate, date: date}
	return r
}

// times returns the rule's times of day, sorted, for a series that starts at the given time of day.
func (r Rule) times(start civil.TimeOfDay) []civil.TimeOfDay {
	hours, minutes := r.hour, r.minute
	if len(hours) == 0 {
		hours = []int{start.Hour}
	}
	if len(minutes) == 0 {
		minutes = []int{start.Minute}
	}
	var times []civil.TimeOfDay
	for _, hour := range hours {
		for _, minute := range minutes {
			times = append(times, civil.TimeOfDay{Hour: hour, Minute: minute, Second: start.Second})
		}
	}
	return times
}

// horizon is how many years a series is expanded.
const horizon = 100

// days returns an iterator over the rule's days, from a series' first day on, for a century.
//
// The library only gets days in UTC, so clock changes do not affect it. It gets no times, COUNT or UNTIL, because those
// apply after the days that the zone skipped are removed. For a rule without matching days, the library searches up to
// the year 9999. The calendar repeats every 400 years, including the days of the week, so days moves the start to the
// latest such year that leaves a century.
func (r Rule) days(start civil.Date) func() (civil.Date, bool) {
	const cycle = 400
	ahead := max(0, (rrule.MAXYEAR-horizon-start.Year)/cycle*cycle)
	start.Year += ahead
	option := rrule.ROption{
		Freq:       r.freq,
		Interval:   r.interval,
		Wkst:       r.weekday,
		Dtstart:    start.On(time.UTC),
		Bymonth:    r.month,
		Bymonthday: r.monthDay,
		Byyearday:  r.yearDay,
		Byweekday:  r.weekdays(),
		Bysetpos:   r.setPos,
	}
	if r.freq == rrule.WEEKLY {
		if len(r.day) == 0 {
			option.Byweekday = []rrule.Weekday{weekdays[weekdayIndex(start)]}
		}
		// In the first week the library applies BYSETPOS from DTSTART on, instead of from the start of the week.
		option.Dtstart = start.AddDays(-((weekdayIndex(start) - r.weekday.Day() + 7) % 7)).On(time.UTC)
	}
	rule, err := rrule.NewRRule(option)
	if err != nil || r.interval == 0 {
		return func() (civil.Date, bool) { return civil.Date{}, false }
	}
	next := rule.Iterator()
	return func() (civil.Date, bool) {
		for {
			day, ok := next()
			date := civil.DateOf(day, time.UTC)
			if !ok || date.Year > start.Year+horizon {
				return civil.Date{}, false
			}
			if !date.Before(start) {
				date.Year -= ahead
				return date, true
			}
		}
	}
}

// weekdays returns BYDAY for the library. If plain days and ordinals are mixed, the library would require a day to
// match both, so plain days are replaced by all their ordinals.
func (r Rule) weekdays() []rrule.Weekday {
	if !slices.ContainsFunc(r.day, isOrdinal) {
		return r.day
	}
	var days []rrule.Weekday
	for _, day := range r.day {
		if isOrdinal(day) {
			days = append(days, day)
			continue
		}
		for nth := range r.maxOrdinal() {
			days = append(days, day.Nth(nth+1))
		}
	}
	return days
}

// maxOrdinal is the most times that a weekday can occur in the period of BYDAY's ordinals: the year if FREQ is YEARLY
// and the rule has no BYMONTH, else the month.
func (r Rule) maxOrdinal() int {
	if r.freq == rrule.YEARLY && len(r.month) == 0 {
		return 53
	}
	return 5
}

func isOrdinal(d rrule.Weekday) bool { return d.N() != 0 }

// weekdayIndex counts from Monday, like the library.
func weekdayIndex(d civil.Date) int { return (int(d.Weekday()) + 6) % 7 }

var weekdays = [...]rrule.Weekday{rrule.MO, rrule.TU, rrule.WE, rrule.TH, rrule.FR, rrule.SA, rrule.SU}

// invalid rejects a rule. Part is the invalid part of its text.
func invalid(part, format string, args ...any) *fault.Error {
	e := fault.New(fault.InvalidArgument, fault.RecurrenceInvalid, format, args...).WithField(ruleField)
	if part != "" {
		e = e.WithMetadata("part", part)
	}
	return e
}

// sortedSet sorts a list and removes duplicates, which have no meaning.
func sortedSet(values []int) []int {
	slices.Sort(values)
	return slices.Compact(values)
}
