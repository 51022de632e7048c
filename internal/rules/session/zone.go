package session

import (
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/catalog"
)

// ZoneOf loads the time zone of a location.
func ZoneOf(l catalog.Location) LocationReference {
	return LocationReference{Active: l.Active, TimeZone: l.TimeZone, Zone: civil.Zone(l.TimeZone)}
}
