// Package civil speaks of days and hours as a wall calendar and a wall clock
// show them, without saying where. A zone turns them into instants:
//
//   - a wall time that a zone skips (clocks go forward) is read with the offset
//     before the gap, so it lands as much later as the gap is long: 02:30 becomes
//     03:30 where 02:00 to 03:00 is missing (RFC 5545, section 3.3.5);
//   - a wall time that a zone shows twice (clocks go back) means the first.
//
// Unlike time.Date, which promises neither, this holds for every zone. Zones
// are always *time.Location; nil means UTC.
package civil

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// ErrNotDate says that a text is no date of the form 2026-03-29.
var ErrNotDate = errors.New("not a date of the form 2026-03-29")

// The years that a Date may have; they are those of google.type.Date and ISO 8601.
const (
	MinYear = 1
	MaxYear = 9999
)

// Date is a day of the proleptic Gregorian calendar in no particular zone. The
// zero Date is not a day: it means "none".
type Date struct {
	Year  int        `json:"year"` // as with TimeOfDay
	Month time.Month `json:"month"`
	Day   int        `json:"day"`
}

// DateOf tells which day an instant falls on in a zone.
func DateOf(t time.Time, zone *time.Location) Date {
	year, month, day := t.In(orUTC(zone)).Date()
	return Date{Year: year, Month: month, Day: day}
}

// ParseDate reads ISO 8601's extended form, 2026-03-29, and nothing else. The
// error is ErrNotDate.
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

// MustParseDate is ParseDate for constants; it panics on anything else.
func MustParseDate(text string) Date {
	d, err := ParseDate(text)
	if err != nil {
		panic("civil: " + err.Error() + ": " + text)
	}
	return d
}

// Valid reports whether the calendar has such a day, in the years 1 to 9999.
func (d Date) Valid() bool {
	return d.Year >= MinYear && d.Year <= MaxYear && DateOf(d.utc(), time.UTC) == d
}

// IsZero reports whether no date was given.
func (d Date) IsZero() bool { return d == Date{} }

// String gives ISO 8601's extended form.
func (d Date) String() string {
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, int(d.Month), d.Day)
}

// AddDays gives the day n days later, or earlier where n is negative.
func (d Date) AddDays(n int) Date {
	return DateOf(time.Date(d.Year, d.Month, d.Day+n, 0, 0, 0, 0, time.UTC), time.UTC)
}

// DaysSince counts the days from an earlier day to this one; it is negative
// when the other day is the later one.
func (d Date) DaysSince(earlier Date) int {
	return int((d.utc().Unix() - earlier.utc().Unix()) / secondsPerDay)
}

// Weekday gives the day of the week.
func (d Date) Weekday() time.Weekday { return d.utc().Weekday() }

// WeekStart gives the Monday of the day's ISO 8601 week.
func (d Date) WeekStart() Date {
	return d.AddDays(-(int(d.Weekday()) + 6) % 7)
}

// Compare orders days: -1 when d is earlier than other, 0 when it is the same, +1 when later.
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

// At gives the instant at which a zone's clocks show this day and that time,
// by the rules in the package comment.
func (d Date) At(clock TimeOfDay, zone *time.Location) time.Time {
	return resolve(d.utc().Unix()+int64(clock.SinceMidnight()/time.Second), orUTC(zone))
}

// On gives the first instant of the day in a zone. That is not midnight where
// clocks go forward at midnight.
func (d Date) On(zone *time.Location) time.Time { return d.At(TimeOfDay{}, zone) }

// In reports whether the day happens in a zone at all. Zones that moved across
// the date line skipped one: Pacific/Apia had no 2011-12-30.
func (d Date) In(zone *time.Location) bool { return DateOf(d.On(zone), zone) == d }

// DaySpan gives the day in a zone: 24 hours, an hour or so more or less when
// clocks change, and empty where the zone skipped the day.
func (d Date) DaySpan(zone *time.Location) Span {
	return Span{Start: d.On(zone), End: d.AddDays(1).On(zone)}
}

// WeekSpan gives the day's ISO week, Monday to Monday, in a zone.
func (d Date) WeekSpan(zone *time.Location) Span {
	monday := d.WeekStart()
	return Span{Start: monday.On(zone), End: monday.AddDays(7).On(zone)}
}

// MarshalText implements encoding.TextMarshaler; a zero date is empty.
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

// utc is the day's midnight in UTC: arithmetic on days is done there, where
// every day has 24 hours.
func (d Date) utc() time.Time {
	return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC)
}

const secondsPerDay = 24 * 60 * 60

// resolve finds the instant for a wall time, given as the Unix second at which
// UTC's clocks would show it. No offset in the time zone database is as much as
// a day, so the offsets a day to either side are those before and after a clock
// change, if there is one near.
//
// Time.ZoneBounds would tell of the change itself, but beyond the last one on
// record, in 2037, it takes every year to end after 365 days.
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
