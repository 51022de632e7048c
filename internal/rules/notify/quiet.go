package notify

import (
	"sort"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
)

// QuietHours is a span of the day in which nobody is disturbed. Where both ends are the same there is none.
type QuietHours struct{ Start, End civil.TimeOfDay }

// Validate refuses times that no clock shows, and seconds: INVALID_FIELD.
func (q QuietHours) Validate(field string) error {
	for _, t := range []civil.TimeOfDay{q.Start, q.End} {
		if !t.Valid() || t.Second != 0 {
			return fault.Invalid(field, "Quiet hours begin and end at a minute of the day.")
		}
	}
	return nil
}

// contains reports whether a clock that shows t is within.
func (q QuietHours) contains(t civil.TimeOfDay) bool {
	if q.Start.Before(q.End) {
		return !t.Before(q.Start) && t.Before(q.End)
	}
	return q.Start != q.End && (!t.Before(q.Start) || t.Before(q.End))
}

// Until gives the end of the quiet hours in which now lies, or false where it lies in none. What counts is what
// the clock in the zone shows: where it goes back over their end, quiet begins once more, and where it
// leaps over it, they end with the leap.
func (q QuietHours) Until(now time.Time, zone *time.Location) (time.Time, bool) {
	if !q.contains(civil.TimeOf(now, zone)) {
		return time.Time{}, false
	}
	end := now
	// Each round ends at a moment of the day after the one before: three are enough for the longest
	// quiet hours with a change of clocks within.
	for q.contains(civil.TimeOf(end, zone)) {
		end = q.next(end, zone)
	}
	return end, true
}

// next gives the first moment after from at which the clock shows the end.
func (q QuietHours) next(from time.Time, zone *time.Location) time.Time {
	day := civil.DateOf(from, zone)
	for {
		if at := day.At(q.End, zone); at.After(from) {
			if civil.TimeOf(at, zone) == q.End {
				return at
			}
			// The clock leaps over the end: quiet ends with the leap.
			minutes := int(at.Sub(from)/time.Minute) + 1
			first := sort.Search(minutes, func(i int) bool {
				return !q.contains(civil.TimeOf(from.Add(time.Duration(i)*time.Minute).Truncate(time.Minute), zone))
			})
			return from.Add(time.Duration(first) * time.Minute).Truncate(time.Minute)
		}
		// The clock went back: it shows the end a second time, later on the same day.
		clock := civil.TimeOf(from, zone)
		if left := q.End.SinceMidnight() - clock.SinceMidnight(); left > 0 {
			if at := from.Add(left).Truncate(time.Second); civil.TimeOf(at, zone) == q.End {
				return at
			}
		}
		day = day.AddDays(1)
	}
}
