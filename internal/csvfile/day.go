package csvfile

import (
	"fmt"
	"regexp"
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
