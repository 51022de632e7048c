package checkin

import (
	"math"

	"github.com/berthhq/berth/internal/fault"
)

// earthRadius is the mean radius R1 of the GRS 80 ellipsoid in metres, as
// adopted by the IUGG (H. Moritz, Geodetic Reference System 1980).
const earthRadius = 6371008.8

// Point is a place on Earth in degrees, WGS 84.
type Point struct {
	Latitude  float64 // -90 to 90
	Longitude float64 // -180 to 180
}

// Valid reports whether there is such a place. Infinities and NaN are nowhere.
func (p Point) Valid() bool {
	// Written so that NaN, which no comparison holds for, is refused.
	return p.Latitude >= -90 && p.Latitude <= 90 && p.Longitude >= -180 && p.Longitude <= 180
}

// Distance gives the great-circle distance in metres by the haversine formula,
// which stays exact for the small distances that check-in is about. A point
// that is not Valid is an error with reason INVALID_FIELD.
func Distance(a, b Point) (float64, error) {
	if !a.Valid() || !b.Valid() {
		return 0, fault.Invalid("point", "A point has a latitude from -90 to 90 and a longitude from -180 to 180 degrees.")
	}
	lat1, lat2 := radians(a.Latitude), radians(b.Latitude)
	dLat, dLon := lat2-lat1, radians(b.Longitude-a.Longitude)
	h := haversine(dLat) + math.Cos(lat1)*math.Cos(lat2)*haversine(dLon)
	// Rounding can carry h a hair above 1 for antipodes.
	return 2 * earthRadius * math.Asin(math.Sqrt(min(1, h))), nil
}

func haversine(angle float64) float64 {
	s := math.Sin(angle / 2)
	return s * s
}

func radians(degrees float64) float64 { return degrees * math.Pi / 180 }
