package brand

import (
	"encoding/hex"
	"math"
)

// Color is one that screens show (sRGB).
type Color struct{ R, G, B uint8 }

// Black and White are what is written on colors.
var (
	Black = Color{0, 0, 0}
	White = Color{255, 255, 255}
)

// What WCAG 2.2 asks of text, and of shapes that mean something.
const (
	ForText   = 4.5
	ForShapes = 3.0
)

// ParseColor reads #rrggbb, in either case.
func ParseColor(text string) (Color, bool) {
	if len(text) != len("#rrggbb") || text[0] != '#' {
		return Color{}, false
	}
	rgb, err := hex.DecodeString(text[1:])
	if err != nil {
		return Color{}, false
	}
	return Color{rgb[0], rgb[1], rgb[2]}, true
}

// String writes #rrggbb, in lower case.
func (c Color) String() string { return "#" + hex.EncodeToString([]byte{c.R, c.G, c.B}) }

// luminance is WCAG's relative luminance, from 0 to 1.
func (c Color) luminance() float64 {
	linear := func(part uint8) float64 {
		v := float64(part) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

// Contrast is WCAG's contrast ratio of two colors, from 1 to 21.
func Contrast(a, b Color) float64 {
	la, lb := a.luminance(), b.luminance()
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// On is the color of text on this one: white where that is readable, else black. One of the
// two always is, because their ratios multiply to 21.
func (c Color) On() Color {
	if Contrast(c, White) >= ForText {
		return White
	}
	return Black
}

// Pressed is the color a bit further from that of its text, so that what is written on it stays readable.
func (c Color) Pressed() Color {
	if c.On() == White {
		return c.mix(Black, 15)
	}
	return c.mix(White, 25)
}

// Against is the color itself where it stands out from the ground by a ratio of up to ForText, else the nearest tint of
// it that does: as text or edge it can be told from what it lies on.
func (c Color) Against(ground Color, least float64) Color {
	away := ground.On()
	for percent := 0; percent < 100; percent += 5 {
		if tint := c.mix(away, percent); Contrast(tint, ground) >= least {
			return tint
		}
	}
	return away
}

// mix adds so many percent of another color.
func (c Color) mix(other Color, percent int) Color {
	part := func(a, b uint8) uint8 { return uint8((int(a)*(100-percent) + int(b)*percent + 50) / 100) }
	return Color{part(c.R, other.R), part(c.G, other.G), part(c.B, other.B)}
}
