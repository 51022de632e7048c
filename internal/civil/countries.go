package civil

import (
	_ "embed"
	"strings"
	"sync"
)

// zonesText has a line for each time zone, with its country: those of zone.tab of the time zone database, which is in
// the public domain.
//
//go:embed zones.txt
var zonesText string

var zones = sync.OnceValue(func() map[string]string {
	countries := make(map[string]string)
	for line := range strings.Lines(zonesText) {
		zone, country, _ := strings.Cut(strings.TrimSpace(line), " ")
		countries[zone] = country
	}
	return countries
})

// CountryOf returns the country (ISO 3166-1 alpha-2) of an IANA time zone; "" for a zone of none, such as UTC, and for
// old names of zones.
func CountryOf(zone string) string { return zones()[zone] }
