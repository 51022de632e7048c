package notify

import (
	"sort"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
)

// QuietHours are the hours of the day in which no messages are sent. If Start equals End, there are none.
type QuietHours struct{ Start, End civil.TimeOfDay }

// Validate rejects invalid times of day, and times with seconds: INVALID_FIELD.
func (q QuietHours) Validate(field string) error {
	for _, t := range []civil.TimeOfDay{q.Start, q.End} {
		if !t.Valid() || t.Second != 0 {
			return fault.Invalid(field, "Quiet hours begin and end at a time of day in full minutes.")
		}
	}
	return nil
}

// contains reports whether a local time is within the quiet hours.
func (q QuietHours) contains(t civil.TimeOfDay) bool {
	if q.Start.Before(q.End) {
		return !t.Before(q.Start) && t.Before(q.End)
	}
	return q.Start != q.End && (!t.Before(q.Start) || t.Before(q.End))
}

// Until returns the end of the quiet hours that contain now, or false if none do. It follows the local time in the
// zone: if the clock goes back over the end, the quiet hours resume; if it goes forward over the end, they end with the
// clock change.
func (q QuietHours) Until(now time.Time, zone *time.Location) (time.Time, bool) {
	if !q.contains(civil.TimeOf(now, zone)) {
		return time.Time{}, false
	}
	end := now
	// Each iteration ends on a later day than the one before. Three are enough for the longest quiet hours with a clock
	// change.
	for q.contains(civil.TimeOf(end, zone)) {
		end = q.next(end, zone)
	}
	return end, true
}

// next returns the first instant after from at which the local time is End, or has jumped over it.
func (q QuietHours) next(from time.Time, zone *time.Location) time.Time {
	day := civil.DateOf(from, zone)
	for {
		if at := day.At(q.End, zone); at.After(from) {
			if civil.TimeOf(at, zone) == q.End {
				return at
			}
			// The clock goes forward over the end: quiet hours end with the clock change.
			minutes := int(at.Sub(from)/time.Minute) + 1
			first := sort.Search(minutes, func(i int) bool {
				return !q.contains(civil.TimeOf(from.Add(time.Duration(i)*time.Minute).Truncate(time.Minute), zone))
			})
			return from.Add(time.Duration(first) * time.Minute).Truncate(time.Minute)
		}
		// The clock went back: the end comes a second time, later on the same day.
		clock := civil.TimeOf(from, zone)
		if left := q.End.SinceMidnight() - clock.SinceMidnight(); left > 0 {
			if at := from.Add(left).Truncate(time.Second); civil.TimeOf(at, zone) == q.End {
				return at
			}
		}
		day = day.AddDays(1)
	}
}
