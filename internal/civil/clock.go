package civil

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// ErrNotTimeOfDay says that a text is no time of day of the form 18:00 or 18:00:30.
var ErrNotTimeOfDay = errors.New("not a time of day of the form 18:00")

// TimeOfDay is what a wall clock shows, from 00:00:00 to 23:59:59. The zero
// TimeOfDay is midnight.
type TimeOfDay struct {
	Hour   int `json:"hour"` // it writes itself as text; linters do not see that
	Minute int `json:"minute"`
	Second int `json:"second"`
}

// TimeOf tells what a zone's clocks show at an instant, to the second.
func TimeOf(t time.Time, zone *time.Location) TimeOfDay {
	hour, minute, second := t.In(orUTC(zone)).Clock()
	return TimeOfDay{Hour: hour, Minute: minute, Second: second}
}

// ParseTimeOfDay reads 24 hour times, 18:00 or 18:00:30. The error is ErrNotTimeOfDay.
func ParseTimeOfDay(text string) (TimeOfDay, error) {
	layout := "15:04"
	if len(text) == len(time.TimeOnly) {
		layout = time.TimeOnly
	}
	// time.Parse takes 7:00 for 15:04, and a fraction after the seconds.
	if t, err := time.Parse(layout, text); err == nil && len(text) == len(layout) {
		return TimeOf(t, time.UTC), nil
	}
	return TimeOfDay{}, ErrNotTimeOfDay
}

// MustParseTimeOfDay is ParseTimeOfDay for constants; it panics on anything else.
func MustParseTimeOfDay(text string) TimeOfDay {
	c, err := ParseTimeOfDay(text)
	if err != nil {
		panic("civil: " + err.Error() + ": " + text)
	}
	return c
}

// Valid reports whether a clock can show it. 24:00 and leap seconds are no times of day.
func (c TimeOfDay) Valid() bool {
	return c.Hour >= 0 && c.Hour < 24 && c.Minute >= 0 && c.Minute < 60 && c.Second >= 0 && c.Second < 60
}

// String gives 18:00, or 18:00:30 where there are seconds.
func (c TimeOfDay) String() string {
	if c.Second == 0 {
		return fmt.Sprintf("%02d:%02d", c.Hour, c.Minute)
	}
	return fmt.Sprintf("%02d:%02d:%02d", c.Hour, c.Minute, c.Second)
}

// SinceMidnight gives what the clock has counted, which on a day of a clock
// change is not the time that has passed.
func (c TimeOfDay) SinceMidnight() time.Duration {
	return time.Duration(c.Hour)*time.Hour + time.Duration(c.Minute)*time.Minute + time.Duration(c.Second)*time.Second
}

// Compare orders times of day as Date.Compare orders days.
func (c TimeOfDay) Compare(other TimeOfDay) int {
	return cmp.Compare(c.SinceMidnight(), other.SinceMidnight())
}

// Before reports whether c comes earlier in the day.
func (c TimeOfDay) Before(other TimeOfDay) bool { return c.Compare(other) < 0 }

// MarshalText implements encoding.TextMarshaler.
func (c TimeOfDay) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *TimeOfDay) UnmarshalText(text []byte) error {
	parsed, err := ParseTimeOfDay(string(text))
	*c = parsed
	return err
}
