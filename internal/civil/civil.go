// Package civil has local dates and times of day, without a time zone. A zone turns them into instants:
//
//   - A local time that the zone skips (clocks go forward) is read with the offset before the gap, so it moves
//     later by the length of the gap: 02:30 becomes 03:30 where 02:00 to 03:00 is missing (RFC 5545, section 3.3.5).
//   - A local time that the zone has twice (clocks go back) means the first one.
//
// This holds for every zone; time.Date promises neither. A nil *time.Location means UTC.
package civil

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// ErrNotDate means that a text is not a date in the form 2026-03-29.
var ErrNotDate = errors.New("not a date of the form 2026-03-29")

// The years that a Date may have, as in google.type.Date and ISO 8601.
const (
	MinYear = 1
	MaxYear = 9999
)

// Date is a day of the proleptic Gregorian calendar, without a zone. The zero Date means "none".
type Date struct {
	Year  int        `json:"year"` // MarshalText writes the JSON; the tags are for the linter
	Month time.Month `json:"month"`
	Day   int        `json:"day"`
}

// DateOf returns the day of an instant in a zone.
func DateOf(t time.Time, zone *time.Location) Date {
	year, month, day := t.In(orUTC(zone)).Date()
	return Date{Year: year, Month: month, Day: day}
}

// ParseDate reads the extended form of ISO 8601, 2026-03-29, and nothing else. The error is ErrNotDate.
func ParseDate(text string) (Date, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return Date{}, ErrNotDate
	}
	d := DateOf(t, time.UTC)
	if !d.Valid() {
		return Date{}, ErrNotDate
	}
	return d, nil
}

// Valid reports whether the calendar has this day, in the years 1 to 9999.
func (d Date) Valid() bool {
	return d.Year >= MinYear && d.Year <= MaxYear && DateOf(d.utc(), time.UTC) == d
}

// IsZero reports whether no date was given.
func (d Date) IsZero() bool { return d == Date{} }

// String returns the extended form of ISO 8601.
func (d Date) String() string {
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, int(d.Month), d.Day)
}

// AddDays returns the day n days later, or earlier if n is negative.
func (d Date) AddDays(n int) Date {
	return DateOf(d.utc().AddDate(0, 0, n), time.UTC)
}

// DaysSince counts the days from an earlier day to this one. It is negative if the other day is later.
func (d Date) DaysSince(earlier Date) int {
	return int((d.utc().Unix() - earlier.utc().Unix()) / secondsPerDay)
}

// Weekday returns the day of the week.
func (d Date) Weekday() time.Weekday { return d.utc().Weekday() }

// WeekStart returns the Monday of the day's ISO 8601 week.
func (d Date) WeekStart() Date {
	return d.AddDays(-(int(d.Weekday()) + 6) % 7)
}

// Compare orders days: -1 if d is earlier than other, 0 if it is the same, +1 if later.
func (d Date) Compare(other Date) int {
	return cmp.Or(
		cmp.Compare(d.Year, other.Year),
		cmp.Compare(d.Month, other.Month),
		cmp.Compare(d.Day, other.Day),
	)
}

// Before reports whether d is an earlier day.
func (d Date) Before(other Date) bool { return d.Compare(other) < 0 }

// After reports whether d is a later day.
func (d Date) After(other Date) bool { return d.Compare(other) > 0 }

// At returns the instant of this day and time of day in a zone, by the rules in the package comment.
func (d Date) At(clock TimeOfDay, zone *time.Location) time.Time {
	return resolve(d.utc().Unix()+int64(clock.SinceMidnight()/time.Second), orUTC(zone))
}

// On returns the first instant of the day in a zone. It is not midnight if clocks go forward at midnight.
func (d Date) On(zone *time.Location) time.Time { return d.At(TimeOfDay{}, zone) }

// In reports whether the zone has this day. Zones that moved across the date line skipped one: Pacific/Apia had no
// 2011-12-30.
func (d Date) In(zone *time.Location) bool { return DateOf(d.On(zone), zone) == d }

// MarshalText implements encoding.TextMarshaler. A zero date is empty.
func (d Date) MarshalText() ([]byte, error) {
	if d.IsZero() {
		return []byte{}, nil
	}
	return []byte(d.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Date) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*d = Date{}
		return nil
	}
	parsed, err := ParseDate(string(text))
	*d = parsed
	return err
}

// utc returns midnight of the day in UTC. Arithmetic on days uses UTC, because every day there has 24 hours.
func (d Date) utc() time.Time {
	return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC)
}

const secondsPerDay = 24 * 60 * 60

// resolve returns the instant of a local time, given as the Unix second at which clocks in UTC show that time. No
// offset in the time zone database is as large as a day, so the offsets one day before and one day after are those
// before and after a nearby clock change.
//
// Time.ZoneBounds would name the change, but after the last recorded one, in 2037, it assumes that every year has
// 365 days.
func resolve(wall int64, zone *time.Location) time.Time {
	before, after := offsetAt(wall-secondsPerDay, zone), offsetAt(wall+secondsPerDay, zone)
	instant := wall - before
	if before != after && offsetAt(instant, zone) != before && offsetAt(wall-after, zone) == after {
		instant = wall - after
	}
	return time.Unix(instant, 0).In(zone)
}

func offsetAt(instant int64, zone *time.Location) int64 {
	_, offset := time.Unix(instant, 0).In(zone).Zone()
	return int64(offset)
}

func orUTC(zone *time.Location) *time.Location {
	if zone == nil {
		return time.UTC
	}
	return zone
}
