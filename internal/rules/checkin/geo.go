package checkin

import (
	"math"

	"github.com/berthhq/berth/internal/fault"
)

// earthRadius is the mean radius R1 of the GRS 80 ellipsoid in meters, as adopted by the IUGG (H. Moritz, Geodetic
// Reference System 1980).
const earthRadius = 6371008.8

// Point is a geographic position in degrees (WGS 84).
type Point struct {
	Latitude  float64 // -90 to 90
	Longitude float64 // -180 to 180
}

// Valid reports whether the position exists. Infinities and NaN do not.
func (p Point) Valid() bool {
	// Comparisons with NaN are false, so this form rejects it.
	return p.Latitude >= -90 && p.Latitude <= 90 && p.Longitude >= -180 && p.Longitude <= 180
}

// Distance returns the great-circle distance in meters by the haversine formula, which is precise for the small
// distances of check-in. A position that is not Valid is an error: INVALID_FIELD.
func Distance(a, b Point) (float64, error) {
	if !a.Valid() || !b.Valid() {
		return 0, fault.Invalid("point", "The latitude is -90 to 90 degrees, the longitude -180 to 180.")
	}
	lat1, lat2 := radians(a.Latitude), radians(b.Latitude)
	dLat, dLon := lat2-lat1, radians(b.Longitude-a.Longitude)
	h := haversine(dLat) + math.Cos(lat1)*math.Cos(lat2)*haversine(dLon)
	// For antipodes, rounding can make h slightly larger than 1.
	return 2 * earthRadius * math.Asin(math.Sqrt(min(1, h))), nil
}

func haversine(angle float64) float64 {
	s := math.Sin(angle / 2)
	return s * s
}

func radians(degrees float64) float64 { return degrees * math.Pi / 180 }
