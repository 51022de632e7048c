package brand

import (
	"encoding/hex"
	"math"
)

// Color is an sRGB color.
type Color struct{ R, G, B uint8 }

// Black and White are the text colors on a colored background.
var (
	Black = Color{0, 0, 0}
	White = Color{255, 255, 255}
)

// The contrast ratios that WCAG 2.2 requires for text, and for shapes that carry meaning.
const (
	MinTextContrast  = 4.5
	MinShapeContrast = 3.0
)

// ParseColor reads #rrggbb, in upper or lower case.
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

// String returns #rrggbb, in lower case.
func (c Color) String() string { return "#" + hex.EncodeToString([]byte{c.R, c.G, c.B}) }

// luminance returns the relative luminance by WCAG, from 0 to 1.
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

// Contrast returns the contrast ratio of two colors by WCAG, from 1 to 21.
func (c Color) Contrast(other Color) float64 {
	la, lb := c.luminance(), other.luminance()
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// TextColor returns the color of text on this background: white if that is readable, else black. One of the two always
// is, because the product of their ratios is 21.
func (c Color) TextColor() Color {
	if c.Contrast(White) >= MinTextContrast {
		return White
	}
	return Black
}

// Pressed returns the color of a pressed button: further away from the text color, so that its text stays readable.
func (c Color) Pressed() Color {
	if c.TextColor() == White {
		return c.mix(Black, 15)
	}
	return c.mix(White, 25)
}

// ReadableOn returns the color for text or an edge on a background: the color itself if its contrast is at least the
// given ratio, else the nearest shade or tint that has it. The ratio is at most MinTextContrast.
func (c Color) ReadableOn(background Color, ratio float64) Color {
	extreme := background.TextColor()
	for percent := 0; ; percent += 5 {
		if tint := c.mix(extreme, percent); tint == extreme || tint.Contrast(background) >= ratio {
			return tint
		}
	}
}

// mix adds a percentage of another color.
func (c Color) mix(other Color, percent int) Color {
	part := func(a, b uint8) uint8 { return uint8((int(a)*(100-percent) + int(b)*percent + 50) / 100) }
	return Color{part(c.R, other.R), part(c.G, other.G), part(c.B, other.B)}
}
