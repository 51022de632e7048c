package civil

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// ErrNotTimeOfDay means that a text is not a time of day in the form 18:00 or 18:00:30.
var ErrNotTimeOfDay = errors.New("not a time of day of the form 18:00")

// TimeOfDay is a local time of day, from 00:00:00 to 23:59:59. The zero TimeOfDay is midnight.
type TimeOfDay struct {
	Hour   int `json:"hour"` // MarshalText writes the JSON; the tags are for the linter
	Minute int `json:"minute"`
	Second int `json:"second"`
}

// TimeOf returns the local time of an instant in a zone, to the second.
func TimeOf(t time.Time, zone *time.Location) TimeOfDay {
	hour, minute, second := t.In(orUTC(zone)).Clock()
	return TimeOfDay{Hour: hour, Minute: minute, Second: second}
}

// ParseTimeOfDay reads 24-hour times, 18:00 or 18:00:30. The error is ErrNotTimeOfDay.
func ParseTimeOfDay(text string) (TimeOfDay, error) {
	layout := "15:04"
	if len(text) == len(time.TimeOnly) {
		layout = time.TimeOnly
	}
	// time.Parse accepts 7:00 for the layout 15:04, and a fraction after the seconds. The length rejects both.
	if t, err := time.Parse(layout, text); err == nil && len(text) == len(layout) {
		return TimeOf(t, time.UTC), nil
	}
	return TimeOfDay{}, ErrNotTimeOfDay
}

// Valid reports whether it is a time of day. 24:00 and leap seconds are not.
func (t TimeOfDay) Valid() bool {
	return t.Hour >= 0 && t.Hour < 24 && t.Minute >= 0 && t.Minute < 60 && t.Second >= 0 && t.Second < 60
}

// String returns 18:00, or 18:00:30 if there are seconds.
func (t TimeOfDay) String() string {
	if t.Second == 0 {
		return fmt.Sprintf("%02d:%02d", t.Hour, t.Minute)
	}
	return fmt.Sprintf("%02d:%02d:%02d", t.Hour, t.Minute, t.Second)
}

// SinceMidnight returns the time on the clock since 00:00. On a day with a clock change, less or more time has passed.
func (t TimeOfDay) SinceMidnight() time.Duration {
	return time.Duration(t.Hour)*time.Hour + time.Duration(t.Minute)*time.Minute + time.Duration(t.Second)*time.Second
}

// Compare orders times of day: -1 if c is earlier than other, 0 if it is the same, +1 if later.
func (t TimeOfDay) Compare(other TimeOfDay) int {
	return cmp.Compare(t.SinceMidnight(), other.SinceMidnight())
}

// Before reports whether c is earlier in the day.
func (t TimeOfDay) Before(other TimeOfDay) bool { return t.Compare(other) < 0 }

// MarshalText implements encoding.TextMarshaler.
func (t TimeOfDay) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *TimeOfDay) UnmarshalText(text []byte) error {
	parsed, err := ParseTimeOfDay(string(text))
	*t = parsed
	return err
}
