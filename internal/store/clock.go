package store

import (
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/civil"
)

// Clock is a stretch of time in which a zone's clocks are ahead of UTC by the same span.
type Clock struct {
	Zone         string
	Since, Until time.Time // half-open
	Ahead        time.Duration
}

// Clocks tells how zones' clocks stand throughout a span. SQL reckons local times with them rather
// than with the server's zone database: that may know less than the one by which sessions were put
// on their local days, and a zone that it lacks would be an error.
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

// clockColumns are the arguments of localTime.
func clockColumns(clocks []Clock) (zones []string, since, until []time.Time, ahead []int64) {
	zones, ahead = make([]string, len(clocks)), make([]int64, len(clocks))
	since, until = make([]time.Time, len(clocks)), make([]time.Time, len(clocks))
	for i, c := range clocks {
		zones[i], since[i], until[i], ahead[i] = c.Zone, c.Since, c.Until, int64(c.Ahead/time.Second)
	}
	return zones, since, until, ahead
}

// localTime is what the clocks of a location `l` show at an instant, which is a column; the clocks are $8 to $11.
func localTime(instant string) string {
	return `(` + instant + ` at time zone 'UTC') + (
    select k.ahead * interval '1 second'
    from unnest($8::text[], $9::timestamptz[], $10::timestamptz[], $11::bigint[]) as k (zone, since, until, ahead)
    where k.zone = l.time_zone and ` + instant + ` >= k.since and ` + instant + ` < k.until)`
}
