// Package recurrence computes the occurrences of a series. A series is an RFC 5545 rule with a local start in a zone.
// Its occurrences keep their local time of day: 18:00 stays 18:00 across clock changes, as package civil resolves local
// times. A day that the zone skipped has no occurrence and does not count toward COUNT.
package recurrence

import (
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
)

// MaxDuration is the longest duration of an occurrence.
const MaxDuration = 7 * 24 * time.Hour

// Series is a rule with a start, a zone and a duration.
type Series struct {
	Rule Rule
	// Date is the first day, local. Intervals are counted from it. It has an occurrence only if the rule matches it.
	Date civil.Date
	// Time is the local time of day of the start. BYHOUR and BYMINUTE override its parts.
	Time civil.TimeOfDay
	// Zone is the zone of the location.
	Zone *time.Location
	// Duration is the elapsed time from start to end of each occurrence.
	Duration time.Duration
	// Excluded are local days without occurrences. They still count toward COUNT.
	Excluded []civil.Date
}

// Occurrence is one occurrence of a series.
type Occurrence struct {
	// Date is the local day, by the rule.
	Date civil.Date
	// Start and End are instants, in the series' zone.
	Start, End time.Time
}

// Validate rejects a series with invalid fields or without any occurrence. The error is RECURRENCE_INVALID and names
// the field.
func (s Series) Validate() error {
	field := func(name, format string, args ...any) error {
		return fault.New(fault.InvalidArgument, fault.RecurrenceInvalid, format, args...).WithField(name)
	}
	switch {
	case s.Rule.interval == 0:
		return invalid("", "The rule is empty.")
	case !s.Date.Valid():
		return field("start_date", "%s is not a date.", s.Date)
	case !s.Time.Valid():
		return field("start_time_of_day", "%s is not a time of day.", s.Time)
	case s.Zone == nil:
		return field("time_zone", "The time zone is missing.")
	case s.Duration <= 0 || s.Duration > MaxDuration:
		return field("duration", "The duration must be above zero and at most %s.", MaxDuration)
	}
	if _, ok := s.First(); !ok {
		return invalid(s.Rule.String(), "The series has no occurrences.")
	}
	return nil
}

// All returns the occurrences, in strictly increasing order of start. Unless the rule is Bounded, they go on for a
// century from the series' first day.
func (s Series) All() iter.Seq[Occurrence] {
	return func(yield func(Occurrence) bool) {
		for o := range s.rule(s.Date) {
			if !slices.Contains(s.Excluded, o.Date) && !yield(o) {
				return
			}
		}
	}
}

// First returns the first occurrence, if there is one.
func (s Series) First() (Occurrence, bool) {
	for o := range s.All() {
		return o, true
	}
	return Occurrence{}, false
}

// Expand returns the occurrences that start at or after from and before to. More than limit occurrences are an error:
// RECURRENCE_INVALID, with `limit` in its metadata.
func (s Series) Expand(from, to time.Time, limit int) ([]Occurrence, error) {
	var found []Occurrence
	since := civil.DateOf(from, s.Zone).AddDays(-1) // a local time in a gap can belong to the day before
	for o := range s.rule(since) {
		switch {
		case !o.Start.Before(to):
			return found, nil
		case o.Start.Before(from) || slices.Contains(s.Excluded, o.Date):
			continue
		case len(found) == limit:
			return nil, invalid(s.Rule.String(), "The rule gives more than %d sessions.", limit).
				WithMetadata("limit", strconv.Itoa(limit))
		}
		found = append(found, o)
	}
	return found, nil
}

// SplitAt splits a series for an edit of an occurrence and all after it. Head has the occurrences before the day. Tail
// starts at the first occurrence on or after the day. Together they have the occurrences of the whole. If one of them
// would be empty, the error is RECURRENCE_INVALID: to edit from the first occurrence on, edit the whole series; after
// the last one there is nothing to edit.
func (s Series) SplitAt(date civil.Date) (head, tail Series, err error) {
	before, anchor := 0, civil.Date{}
	for o := range s.rule(s.Date) {
		if !o.Date.Before(date) {
			// Only a day of the rule keeps the phase of INTERVAL, and the days that the rule takes from its start.
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
		return Series{}, Series{}, noOccurrence(date, "before")
	}
	if !anchor.IsZero() {
		tail.Date = anchor
		tail.Time = s.Rule.times(s.Time)[0]
		tail.Rule.count = max(0, s.Rule.count-before)
		if _, ok := tail.First(); ok {
			return head, tail, nil
		}
	}
	return Series{}, Series{}, noOccurrence(date, "on or after")
}

// EndBefore returns the series without the occurrences on or after a local date, and whether it had any. Nothing else
// changes: it may have none left.
func (s Series) EndBefore(date civil.Date) (Series, bool) {
	for o := range s.rule(date) {
		if o.Date.Before(date) || slices.Contains(s.Excluded, o.Date) {
			continue
		}
		s.Rule = s.Rule.endingOn(date.AddDays(-1))
		s.Excluded = datesWhere(s.Excluded, func(d civil.Date) bool { return d.Before(date) })
		return s, true
	}
	return s, false
}

func noOccurrence(date civil.Date, where string) error {
	return fault.New(fault.InvalidArgument, fault.RecurrenceInvalid, "The series has no occurrence %s %s.", where, date).
		WithField(ruleField).WithMetadata("date", date.String())
}

// rule returns the occurrences of the rule, including excluded days. Without COUNT it skips the days before since.
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
					continue // clocks went forward, and two local times are the same instant
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

// on returns the occurrences of one day, sorted by start. In a gap, that order can differ from the order of local
// times.
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
