package brand_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func color(t *testing.T, text string) brand.Color {
	t.Helper()
	c, ok := brand.ParseColor(text)
	must.True(t, ok, must.Sprintf("%q is not a color", text))
	return c
}

// The browser apps compute the same colors; their tests read the same table.
func TestColor_MatchesTableSharedWithBrowserApps(t *testing.T) {
	t.Parallel()
	raw := expect.Value(os.ReadFile("testdata/colors.json"))(t)
	var table []struct{ Color, On, Pressed, OnWhite, OnDark, EdgeOnWhite, EdgeOnDark string }
	err := json.Unmarshal(raw, &table)
	must.NoError(t, err)
	must.NotEqOp(t, 0, len(table))
	dark := color(t, "#1a2127")
	for _, want := range table {
		c := color(t, want.Color)
		got := want
		got.On, got.Pressed = c.TextColor().String(), c.Pressed().String()
		got.OnWhite = c.ReadableOn(brand.White, brand.MinTextContrast).String()
		got.OnDark = c.ReadableOn(dark, brand.MinTextContrast).String()
		got.EdgeOnWhite = c.ReadableOn(brand.White, brand.MinShapeContrast).String()
		got.EdgeOnDark = c.ReadableOn(dark, brand.MinShapeContrast).String()
		test.Eq(t, want, got)
	}
}

func TestContrast_MatchesW3CExamples(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want float64 // from the examples and checkers of the W3C
	}{
		{"#000000", "#ffffff", 21},
		{"#ffffff", "#ffffff", 1},
		{"#777777", "#ffffff", 4.48},
		{"#767676", "#ffffff", 4.54},
		{"#ff0000", "#ffffff", 4.00},
		{"#0000ff", "#000000", 2.44},
		{"#ffff00", "#ffffff", 1.07},
		{"#0a0a0a", "#ffffff", 19.80},
	} {
		a, b := color(t, c.a), color(t, c.b)
		got := a.Contrast(b)
		test.LessEq(t, 0.005, math.Abs(got-c.want),
			test.Sprintf("%s on %s: got %.3f, want %.2f", c.a, c.b, got, c.want))
		test.EqOp(t, b.Contrast(a), got, test.Sprintf("%s on %s: got %.3f, want %.2f", c.a, c.b, got, c.want))
	}
}

var colors = rapid.Custom(func(t *rapid.T) brand.Color {
	part := rapid.Uint8()
	return brand.Color{R: part.Draw(t, "r"), G: part.Draw(t, "g"), B: part.Draw(t, "b")}
})

func TestColor_TextStaysReadableOnEveryColor(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c, background := colors.Draw(t, "color"), colors.Draw(t, "background")
		ratio := rapid.Float64Range(1, brand.MinTextContrast).Draw(t, "ratio")
		parsed, ok := brand.ParseColor(c.String())
		test.True(t, ok, test.Sprintf("%v became %v", c, parsed))
		test.EqOp(t, c, parsed, test.Sprintf("%v became %v", c, parsed))
		got := c.Contrast(c.TextColor())
		test.True(t, got >= brand.MinTextContrast, test.Sprintf("text on %s has a contrast of %.2f", c, got))
		got = c.Pressed().Contrast(c.TextColor())
		test.True(
			t, got >= c.Contrast(c.TextColor()),
			test.Sprintf("text on %s has a contrast of %.2f when it is pressed", c, got),
		)
		test.EqOp(t, c, c.ReadableOn(background, min(c.Contrast(background), brand.MinTextContrast)),
			test.Sprintf("%s is as readable on %s as it must be, and became", c, background))
		tint := c.ReadableOn(background, ratio)
		got = tint.Contrast(background)
		test.True(
			t, got >= ratio,
			test.Sprintf("%s for %s on %s has a contrast of %.2f, want %.2f", tint, c, background, got, ratio),
		)
		test.False(
			t, c.Contrast(background) >= ratio && tint != c,
			test.Sprintf("%s was readable on %s, and became %s", c, background, tint),
		)
	})
}
