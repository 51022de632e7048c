package coredb

import (
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
)

// Clock is a stretch of time in which a zone's clocks are ahead of UTC by the same span.
type Clock struct {
	Zone         string
	Since, Until time.Time // half-open
	Ahead        time.Duration
}

// Clocks tells how zones' clocks stand throughout a span. SQL computes local times from them rather than from the
// server's zone database: that may know less than the one by which sessions were put on their local days, and a zone
// that it lacks would be an error.
func Clocks(zones []string, over civil.Span) ([]Clock, error) {
	var clocks []Clock
	for _, name := range zones {
		zone, err := time.LoadLocation(name)
		if err != nil {
			return nil, fmt.Errorf("a stored time zone: %w", err)
		}
		for since := over.Start.In(zone); since.Before(over.End); {
			_, until := since.ZoneBounds()
			if until.IsZero() || until.After(over.End) {
				until = over.End
			}
			_, seconds := since.Zone()
			clocks = append(clocks, Clock{Zone: name, Since: since, Until: until, Ahead: time.Duration(seconds) * time.Second})
			since = until.In(zone)
		}
	}
	return clocks, nil
}

// ClockArguments are the arguments of LocalTime.
func ClockArguments(clocks []Clock) []any {
	return []any{
		pg.Array(clocks, func(c Clock) string { return c.Zone }),
		pg.Array(clocks, func(c Clock) time.Time { return c.Since }),
		pg.Array(clocks, func(c Clock) time.Time { return c.Until }),
		pg.Array(clocks, func(c Clock) time.Duration { return c.Ahead }),
	}
}

// LocalTime is what the clocks of a location `l` show at an instant, which is a column; the clocks are $8 to $11.
func LocalTime(instant string) string {
	return `(` + instant + ` at time zone 'UTC') + (
    select k.ahead * interval '1 second'
    from unnest($8::text[], $9::timestamptz[], $10::timestamptz[], $11::bigint[]) as k (zone, since, until, ahead)
    where k.zone = l.time_zone and ` + instant + ` >= k.since and ` + instant + ` < k.until)`
}
