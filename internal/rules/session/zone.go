package session

import (
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/rules/catalog"
)

// ZoneOf loads the time zone of a location.
func ZoneOf(l catalog.Location) (LocationReference, error) {
	zone, err := time.LoadLocation(l.TimeZone)
	if err != nil {
		return LocationReference{}, fmt.Errorf("time zone of location %s: %w", l.ID, err)
	}
	return LocationReference{Active: l.Active, TimeZone: l.TimeZone, Zone: zone}, nil
}
