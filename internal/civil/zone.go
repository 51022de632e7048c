package civil

import (
	"sync"
	"time"
)

// loaded caches time zones: loading one takes longer than most decisions.
var loaded sync.Map

// Zone returns the time zone of a name that was checked when it was stored. It is UTC for a name that is unknown.
func Zone(name string) *time.Location {
	if zone, ok := loaded.Load(name); ok {
		return zone.(*time.Location)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	loaded.Store(name, zone)
	return zone
}
