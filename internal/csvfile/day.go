package csvfile

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/civil"
)

// Day reads a cell with a day, or returns what is wrong with it. A time of midnight behind it is left out. Days with
// slashes are refused: countries read them differently.
func Day(cell string) (day civil.Date, problem string) {
	text := midnight.ReplaceAllString(cell, "")
	for _, layout := range []string{"2.1.2006", "2. 1. 2006"} {
		if dotted, err := time.Parse(layout, text); err == nil {
			return civil.DateOf(dotted, time.UTC), ""
		}
	}
	day, err := civil.ParseDate(text)
	if err != nil {
		return civil.Date{}, fmt.Sprintf("%s is not a day in the form 2026-12-31 or 31.12.2026.", Quote(cell))
	}
	return day, ""
}

var midnight = regexp.MustCompile(`[T ]00:00(:00(\.0+)?)?Z?$`)

// TimeOfDay reads a cell with a time of day to the minute, or returns what is wrong with it. It accepts the seconds
// that spreadsheets add, and the no-break space that some put before AM and PM.
func TimeOfDay(cell string) (clock civil.TimeOfDay, problem string) {
	plain := strings.ToUpper(strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace(cell))
	for _, layout := range []string{"15:04", "15:04:05", "3:04 PM", "3:04:05 PM", "3:04PM", "3 PM", "3PM"} {
		if t, err := time.Parse(layout, plain); err == nil && t.Second() == 0 && t.Nanosecond() == 0 {
			return civil.TimeOf(t, time.UTC), ""
		}
	}
	return civil.TimeOfDay{}, fmt.Sprintf("%s is not a time of day in the form 18:00.", Quote(cell))
}
