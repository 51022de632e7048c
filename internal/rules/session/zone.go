package session

import (
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/rules/catalog"
)

// ZoneOf loads the time zone of a location.
func ZoneOf(l catalog.Location) (LocationSetting, error) {
	zone, err := time.LoadLocation(l.TimeZone)
	if err != nil {
		return LocationSetting{}, fmt.Errorf("time zone of location %s: %w", l.ID, err)
	}
	return LocationSetting{Active: l.Active, TimeZone: l.TimeZone, Zone: zone}, nil
}
