package checkin_test

import (
	"math"
	"testing"

	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestDistance_MatchesKnownDistances(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		a, b checkin.Point
		want float64 // meters
	}{
		{"no distance", studio, studio, 0},
		{"a degree of a meridian", checkin.Point{}, checkin.Point{Latitude: 1}, 111195.08},
		{"a degree of the equator", checkin.Point{}, checkin.Point{Longitude: 1}, 111195.08},
		{"across the date line", checkin.Point{Longitude: 179.5}, checkin.Point{Longitude: -179.5}, 111195.08},
		{"pole to pole", checkin.Point{Latitude: 90}, checkin.Point{Latitude: -90, Longitude: 120}, 20015114.5},
		{
			"all meridians meet at a pole",
			checkin.Point{Latitude: 90, Longitude: 10}, checkin.Point{Latitude: 90, Longitude: -170}, 0,
		},
		{
			"antipodes",
			checkin.Point{Latitude: 30, Longitude: 40}, checkin.Point{Latitude: -30, Longitude: -140}, 20015114.5,
		},
		{
			"Berlin to Paris",
			checkin.Point{Latitude: 52.5200, Longitude: 13.4050}, checkin.Point{Latitude: 48.8566, Longitude: 2.3522}, 877_464,
		},
		{
			"a meter",
			checkin.Point{Latitude: 52.52, Longitude: 13.405}, checkin.Point{Latitude: 52.520009, Longitude: 13.405}, 1.0,
		},
	} {
		test.InDelta(t, c.want, expect.Value(checkin.Distance(c.a, c.b))(t), max(0.01, c.want*1e-6), test.Sprint(c.name))
	}
}

func TestDistance_RejectsPositionsThatDoNotExist(t *testing.T) {
	t.Parallel()
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 180.0000001, -181, math.MaxFloat64} {
		for _, p := range []checkin.Point{{Latitude: bad}, {Longitude: bad}} {
			test.False(t, p.Valid(), test.Sprint(p))
			expect.Fault(t, "INVALID_FIELD @point", "to ", p)(checkin.Distance(studio, p))
			expect.Fault(t, "INVALID_FIELD @point", "from ", p)(checkin.Distance(p, studio))
		}
	}
	test.False(t, (checkin.Point{Latitude: 90.0000001}).Valid(), test.Sprint("north of the pole"))
}

func TestDistance_IsAMetric(t *testing.T) {
	t.Parallel()
	point := rapid.Custom(func(t *rapid.T) checkin.Point {
		return checkin.Point{
			Latitude:  rapid.Float64Range(-90, 90).Draw(t, "latitude"),
			Longitude: rapid.Float64Range(-180, 180).Draw(t, "longitude"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := point.Draw(t, "a"), point.Draw(t, "b"), point.Draw(t, "c")
		distance := func(a, b checkin.Point) float64 {
			d := expect.Value(checkin.Distance(a, b))(t)
			must.GreaterEq(t, 0, d, must.Sprintf("%v to %v: %g", a, b, d))
			must.LessEq(t, 20_015_115, d, must.Sprintf("%v to %v: %g", a, b, d))
			return d
		}
		const rounding = 1 // meter, near antipodes
		ab := distance(a, b)
		must.LessEq(t, rounding, math.Abs(ab-distance(b, a)))
		must.LessEq(t, distance(a, c)+distance(c, b)+rounding, ab)
	})
}
