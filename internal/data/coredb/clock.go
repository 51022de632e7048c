package coredb

import (
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
)

// Clock is a time zone's offset from UTC, and when it applies.
type Clock struct {
	Zone         string
	Since, Until time.Time     // half-open
	Ahead        time.Duration // of UTC
}

// Clocks returns the offsets of time zones in a span. SQL computes local times from them, and not from the time zone
// database of Postgres: that may be older than the one from which sessions got their local dates, and a zone that it
// lacks would be an error.
func Clocks(zones []string, over civil.Span) ([]Clock, error) {
	var clocks []Clock
	for _, name := range zones {
		zone, err := time.LoadLocation(name)
		if err != nil {
			return nil, fmt.Errorf("coredb: stored time zone: %w", err)
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

// LocalTime is the SQL expression for the local time at a location `l` at an instant, which is a column. Its arguments
// are $8 to $11.
func LocalTime(instant string) string {
	return `(` + instant + ` at time zone 'UTC') + (
    select k.ahead * interval '1 second'
    from unnest($8::text[], $9::timestamptz[], $10::timestamptz[], $11::bigint[]) as k (zone, since, until, ahead)
    where k.zone = l.time_zone and ` + instant + ` >= k.since and ` + instant + ` < k.until)`
}
