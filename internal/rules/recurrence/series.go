// Package recurrence decides when the sessions of a series take place. A series
// is an RFC 5545 rule with a local start in a zone; its occurrences keep their
// local time of day, so that 18:00 stays 18:00 across clock changes, as package
// civil resolves local times. A day that the zone skipped altogether has no
// occurrence and does not count.
package recurrence

import (
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
)

// MaxDuration is the longest that one occurrence may take.
const MaxDuration = 7 * 24 * time.Hour

// Series is a rule with what anchors it.
type Series struct {
	Rule Rule
	// Date is the first day, local. Intervals are counted from it; it has an
	// occurrence only if the rule matches it.
	Date civil.Date
	// Time is the local time of day, unless the rule has BYHOUR or BYMINUTE.
	Time civil.TimeOfDay
	// Zone is the location's.
	Zone *time.Location
	// Duration is the time that passes from start to end of each occurrence.
	Duration time.Duration
	// Excluded are local days without occurrences. They still count towards COUNT.
	Excluded []civil.Date
}

// Occurrence is one session's place in time.
type Occurrence struct {
	// Date is the local day that the rule names.
	Date civil.Date
	// Start and End are instants, in the series' zone.
	Start, End time.Time
}

// Validate refuses a series that cannot be held or has no occurrence at all.
// The error has reason RECURRENCE_INVALID and names the field.
func (s Series) Validate() error {
	field := func(name, format string, args ...any) error {
		return fault.New(fault.InvalidArgument, fault.RecurrenceInvalid, format, args...).In(name)
	}
	switch {
	case s.Rule.interval == 0:
		return invalid("", "The rule is empty.")
	case !s.Date.Valid():
		return field("start_date", "There is no day %s.", s.Date)
	case !s.Time.Valid():
		return field("start_time_of_day", "There is no time of day %s.", s.Time)
	case s.Zone == nil:
		return field("time_zone", "The time zone is missing.")
	case s.Duration <= 0 || s.Duration > MaxDuration:
		return field("duration", "The duration must be above zero and at most %s.", MaxDuration)
	}
	if _, ok := s.First(); !ok {
		return invalid(s.Rule.String(), "The series has no occurrence.")
	}
	return nil
}

// All gives the occurrences in strictly rising order of their starts. Unless the
// rule is Bounded, they go on for a century from the series' first day.
func (s Series) All() iter.Seq[Occurrence] {
	return func(yield func(Occurrence) bool) {
		for o := range s.rule(s.Date) {
			if !slices.Contains(s.Excluded, o.Date) && !yield(o) {
				return
			}
		}
	}
}

// First gives the first occurrence, if there is one.
func (s Series) First() (Occurrence, bool) {
	for o := range s.All() {
		return o, true
	}
	return Occurrence{}, false
}

// Expand gives the occurrences that start at or after from and before to. More
// than limit of them is an error with reason RECURRENCE_INVALID; `limit` is in
// its metadata.
func (s Series) Expand(from, to time.Time, limit int) ([]Occurrence, error) {
	var found []Occurrence
	since := civil.DateOf(from, s.Zone).AddDays(-1) // a local time in a gap may belong to the day before
	for o := range s.rule(since) {
		switch {
		case !o.Start.Before(to):
			return found, nil
		case o.Start.Before(from) || slices.Contains(s.Excluded, o.Date):
			continue
		case len(found) == limit:
			return nil, invalid(s.Rule.String(), "The rule gives more than %d sessions.", limit).With("limit", strconv.Itoa(limit))
		}
		found = append(found, o)
	}
	return found, nil
}

// SplitAt parts a series for an edit of one occurrence and all that follow:
// head keeps what lies before the day, tail starts at the first occurrence on
// or after it. Together they have the occurrences of the whole. A part without
// occurrences is an error with reason RECURRENCE_INVALID: from the first
// occurrence on, the whole series is meant, and after the last there is
// nothing to edit.
func (s Series) SplitAt(date civil.Date) (head, tail Series, err error) {
	before, anchor := 0, civil.Date{}
	for o := range s.rule(s.Date) {
		if !o.Date.Before(date) {
			// Only a day on which the rule fires keeps the phase of INTERVAL
			// and the days that the rule takes from its start.
			anchor = o.Date
			break
		}
		before++
	}
	head, tail = s, s
	head.Rule = s.Rule.endingOn(date.AddDays(-1))
	head.Excluded = datesWhere(s.Excluded, func(d civil.Date) bool { return d.Before(date) })
	tail.Excluded = datesWhere(s.Excluded, func(d civil.Date) bool { return !d.Before(date) })
	if _, ok := head.First(); !ok {
		return Series{}, Series{}, nothing(date, "before")
	}
	if !anchor.IsZero() {
		tail.Date = anchor
		tail.Time = s.Rule.times(s.Time)[0]
		tail.Rule.count = max(0, s.Rule.count-before)
		if _, ok := tail.First(); ok {
			return head, tail, nil
		}
	}
	return Series{}, Series{}, nothing(date, "on or after")
}

func nothing(date civil.Date, where string) error {
	return fault.New(fault.InvalidArgument, fault.RecurrenceInvalid, "The series has no occurrence %s %s.", where, date).
		In(ruleField).With("date", date.String())
}

// rule gives what the rule yields, excluded days and all. Without COUNT, days
// before since are passed over.
func (s Series) rule(since civil.Date) iter.Seq[Occurrence] {
	return func(yield func(Occurrence) bool) {
		var (
			last  time.Time
			count int
			next  = s.Rule.days(s.Date)
			times = s.Rule.times(s.Time)
		)
		for day, ok := next(); ok; day, ok = next() {
			if s.Rule.count == 0 && day.Before(since) {
				continue
			}
			ended := false
			for _, o := range s.on(day, times) {
				if s.Rule.until.passed(o.Occurrence, o.clock) {
					ended = true
					continue
				}
				if !o.Start.After(last) && count > 0 {
					continue // clocks went forward: two local times became one instant
				}
				last = o.Start
				count++
				if !yield(o.Occurrence) || count == s.Rule.count {
					return
				}
			}
			if ended {
				return
			}
		}
	}
}

type timed struct {
	Occurrence
	clock civil.TimeOfDay
}

// on gives the occurrences of one day in the order of their starts, which a
// gap can make differ from the order of their local times.
func (s Series) on(day civil.Date, times []civil.TimeOfDay) []timed {
	if !day.In(s.Zone) {
		return nil
	}
	found := make([]timed, 0, len(times))
	for _, clock := range times {
		if day == s.Date && clock.Before(s.Time) {
			continue
		}
		start := day.At(clock, s.Zone)
		found = append(found, timed{Occurrence{Date: day, Start: start, End: start.Add(s.Duration)}, clock})
	}
	slices.SortStableFunc(found, func(a, b timed) int { return a.Start.Compare(b.Start) })
	return found
}

func datesWhere(dates []civil.Date, keep func(civil.Date) bool) []civil.Date {
	var kept []civil.Date
	for _, d := range dates {
		if keep(d) {
			kept = append(kept, d)
		}
	}
	return kept
}
