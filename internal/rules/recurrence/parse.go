package recurrence

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/teambition/rrule-go"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
)

// Parse reads the value of an RRULE property, such as "FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20261218", with or without
// "RRULE:" before it. UNTIL is a local date (that day included), a local time, or a UTC time.
//
// The error is RECURRENCE_INVALID for the field `rule`, with the invalid part of the text as `part` in its metadata.
// Parse rejects what RFC 5545 forbids, and what makes no sense for a schedule: frequencies higher than daily, BYSECOND,
// BYWEEKNO, a COUNT above MaxOccurrences, a rule that no day satisfies, and other properties such as DTSTART, for which
// a series has its own fields.
func Parse(text string) (Rule, error) {
	rule, err := parse(text)
	if err != nil {
		return Rule{}, err
	}
	return rule, nil
}

func parse(text string) (Rule, *fault.Error) {
	if len(text) > MaxRuleLength {
		return Rule{}, invalid("", "The rule is longer than %d bytes.", MaxRuleLength)
	}
	text = strings.ToUpper(strings.TrimSpace(text))
	if part := otherProperty(text); part != "" {
		return Rule{}, invalid(part,
			"%q is not part of a rule. The start, zone and excluded dates have their own fields.", part)
	}
	rule := Rule{interval: 1, weekday: rrule.MO}
	given := map[string]string{}
	for part := range strings.SplitSeq(strings.TrimPrefix(text, "RRULE:"), ";") {
		name, value, _ := strings.Cut(part, "=")
		if _, repeated := given[name]; repeated {
			return Rule{}, invalid(part, "%s is given twice.", name)
		}
		given[name] = part
		if err := rule.set(name, value, part); err != nil {
			return Rule{}, err
		}
	}
	if err := rule.check(given); err != nil {
		return Rule{}, err
	}
	return rule, nil
}

// otherProperty finds text that belongs to another property of an iCalendar component.
func otherProperty(text string) string {
	for _, name := range []string{"DTSTART", "DTEND", "DURATION", "TZID", "RDATE", "EXDATE", "EXRULE"} {
		if strings.Contains(text, name) {
			return name
		}
	}
	_, rest, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(rest)
}

// set sets one part of the rule.
func (r *Rule) set(name, value, part string) (err *fault.Error) {
	switch name {
	case "FREQ":
		return r.setFrequency(value, part)
	case "INTERVAL":
		r.interval, err = number(part, value, 1, MaxInterval)
	case "COUNT":
		r.count, err = number(part, value, 1, MaxOccurrences)
	case "UNTIL":
		r.until, err = parseUntil(part, value)
	case "WKST":
		r.weekday, err = parseWeekday(part, value)
	case "BYDAY":
		r.day, err = parseDays(part, value)
	case "BYMONTH":
		r.month, err = numbers(part, value, 1, 12, false)
	case "BYMONTHDAY":
		r.monthDay, err = numbers(part, value, 1, 31, true)
	case "BYYEARDAY":
		r.yearDay, err = numbers(part, value, 1, 366, true)
	case "BYSETPOS":
		r.setPos, err = numbers(part, value, 1, 366, true)
	case "BYHOUR":
		r.hour, err = numbers(part, value, 0, 23, false)
	case "BYMINUTE":
		r.minute, err = numbers(part, value, 0, 59, false)
	case "BYWEEKNO":
		// The library omits days of a year's last week that are in the next year.
		return invalid(part, "BYWEEKNO is not supported. Use months or days.")
	case "BYSECOND":
		return invalid(part, "BYSECOND is not allowed: sessions start on the minute.")
	default:
		return invalid(part, "%q is not a part of a recurrence rule, NAME=value.", part)
	}
	return err
}

func (r *Rule) setFrequency(value, part string) *fault.Error {
	freq, err := rrule.StrToFreq(value)
	if err != nil {
		return invalid(part, "%q is not a frequency. Use DAILY, WEEKLY, MONTHLY or YEARLY.", value)
	}
	if freq > rrule.DAILY {
		return invalid(part, "%s is too frequent. For several sessions a day use DAILY with BYHOUR and BYMINUTE.", value)
	}
	r.freq = freq
	return nil
}

// check rejects invalid combinations. All but the last are from RFC 5545, section 3.3.10.
func (r *Rule) check(given map[string]string) *fault.Error {
	ordinal := slices.ContainsFunc(r.day, isOrdinal)
	selects := func(name string) bool { return strings.HasPrefix(name, "BY") && name != "BYSETPOS" }
	several := len(r.hour) > 1 || len(r.minute) > 1
	switch {
	case given["FREQ"] == "":
		return invalid("", "The rule has no FREQ.")
	case r.count > 0 && r.until.form != untilNone:
		return invalid(given["COUNT"], "A rule ends by COUNT or UNTIL, not both.")
	case len(r.yearDay) > 0 && r.freq != rrule.YEARLY:
		return invalid(given["BYYEARDAY"], "BYYEARDAY works only with FREQ=YEARLY.")
	case len(r.monthDay) > 0 && r.freq == rrule.WEEKLY:
		return invalid(given["BYMONTHDAY"], "BYMONTHDAY does not work with FREQ=WEEKLY.")
	case ordinal && (r.freq == rrule.WEEKLY || r.freq == rrule.DAILY):
		return invalid(given["BYDAY"], "A day such as 2MO works only with FREQ=MONTHLY and FREQ=YEARLY.")
	case len(r.setPos) > 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(given)), selects):
		return invalid(given["BYSETPOS"], "BYSETPOS needs another BY part to select from.")
	case len(r.setPos) > 0 && several:
		return invalid(given["BYSETPOS"], "BYSETPOS selects days, so it does not work with several times a day.")
	}
	if err := r.checkOrdinals(given["BYDAY"]); err != nil {
		return err
	}
	return r.checkSatisfiable()
}

// checkOrdinals checks that the period has that many of the weekday. The library uses ordinals as an index without a
// bounds check.
func (r *Rule) checkOrdinals(part string) *fault.Error {
	limit := r.maxOrdinal()
	for _, day := range r.day {
		if day.N() > limit || day.N() < -limit {
			return invalid(part, "%s does not exist: the number of a day is at most %d here.", day, limit)
		}
	}
	return nil
}

// checkSatisfiable rejects a rule that no day satisfies, whatever the start. It ignores INTERVAL, which depends on the
// start; Series.Validate checks the result. Any 28 years without a skipped leap year have every kind of year: each day
// of the week that it can begin with, with and without a leap day. It looks at the last ones that the library knows.
func (r *Rule) checkSatisfiable() *fault.Error {
	every := *r
	every.interval = 1
	if _, ok := every.days(civil.Date{Year: rrule.MAXYEAR - 27, Month: time.January, Day: 1})(); !ok {
		return invalid(r.String(), "No day satisfies this rule.")
	}
	return nil
}

// number reads a whole number without a sign.
func number(part, value string, low, high int) (int, *fault.Error) {
	n, err := strconv.Atoi(value)
	if err != nil || value[0] == '+' || n < low || n > high {
		return 0, invalid(part, "%q is not a number from %d to %d.", value, low, high)
	}
	return n, nil
}

// numbers reads a list of whole numbers. If signs are allowed, -n counts from the end of the period.
func numbers(part, list string, low, high int, signs bool) ([]int, *fault.Error) {
	var values []int
	for value := range strings.SplitSeq(list, ",") {
		digits, negative := strings.CutPrefix(value, "-")
		if !negative {
			digits, _ = strings.CutPrefix(value, "+")
		}
		n, err := strconv.ParseUint(digits, 10, 16)
		if err != nil || int(n) < low || int(n) > high || !signs && digits != value {
			return nil, invalid(part, "%q is not a number from %d to %d.", value, low, high)
		}
		if negative {
			values = append(values, -int(n))
		} else {
			values = append(values, int(n))
		}
	}
	return sortedSet(values), nil
}

func parseUntil(part, value string) (until, *fault.Error) {
	for _, format := range []struct {
		layout string
		form   untilForm
	}{{dateLayout, untilDate}, {localLayout, untilLocal}, {utcLayout, untilUTC}} {
		t, err := time.Parse(format.layout, value)
		if err != nil || len(value) != len(format.layout) || t.Year() < civil.MinYear {
			continue
		}
		u := until{form: format.form}
		switch format.form {
		case untilUTC:
			u.instant = t
		case untilLocal:
			u.date, u.clock = civil.DateOf(t, time.UTC), civil.TimeOf(t, time.UTC)
		default:
			u.date = civil.DateOf(t, time.UTC)
		}
		return u, nil
	}
	return until{}, invalid(part, "%q is neither a date such as 20261218 nor a time such as 20261218T170000Z.", value)
}

func parseWeekday(part, value string) (rrule.Weekday, *fault.Error) {
	for _, day := range weekdays {
		if day.String() == value {
			return day, nil
		}
	}
	return rrule.Weekday{}, invalid(part, "%q is not a day of the week. Use MO, TU, WE, TH, FR, SA or SU.", value)
}

func parseDays(part, list string) ([]rrule.Weekday, *fault.Error) {
	var days []rrule.Weekday
	for value := range strings.SplitSeq(list, ",") {
		split := max(0, len(value)-2)
		day, err := parseWeekday(part, value[split:])
		if err != nil {
			return nil, err
		}
		if split > 0 {
			nth, err := numbers(part, value[:split], 1, 53, true)
			if err != nil {
				return nil, err
			}
			day = day.Nth(nth[0])
		}
		days = append(days, day)
	}
	return sortedDays(days), nil
}

func sortedDays(days []rrule.Weekday) []rrule.Weekday {
	slices.SortFunc(days, func(a, b rrule.Weekday) int {
		return cmp.Or(cmp.Compare(a.N(), b.N()), cmp.Compare(a.Day(), b.Day()))
	})
	return slices.Compact(days)
}
