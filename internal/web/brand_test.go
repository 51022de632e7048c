package web

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
)

// setBrand sets the tenant's brand.
func (s *studio) setBrand(b brand.Brand) {
	s.T.Helper()
	s.EditTenant(func(t *catalog.Tenant) { t.Brand = b })
}

const logoMarkup = `<img class="logo" src="https://cdn.example.com/logo.svg?a=1&amp;b=2" alt="Harbour Yoga">`

func TestPages_ShowBrand(t *testing.T) {
	t.Parallel()
	c := newClaimStudio(t, waitlist.OfferInTurn)
	_, link := c.offered()
	wall := c.link()
	b := brand.Brand{LogoURL: "https://cdn.example.com/logo.svg?a=1&b=2", Accent: "#FFD400"}
	const name = `"studio">Harbour Yoga</p>`
	for title, step := range map[string]struct {
		look        brand.Brand
		claim, wall []string
	}{
		"1 none": {
			brand.Brand{}, []string{name, "-<img", "-accents"}, []string{name, "-<img", "-<rect"}},
		"2 color": {
			brand.Brand{Accent: b.Accent}, []string{name, "/claim/accents/ffd400.css"},
			[]string{name, `fill="#ffd400"`}},
		"3 both": {b, []string{logoMarkup, "/claim/accents/ffd400.css"}, []string{logoMarkup, `fill="#ffd400"`}},
	} {
		c.setBrand(step.look)
		answer, body := c.send(http.MethodGet, link, nil)
		wantTexts(t, body, append(step.claim, "-style=")...)
		wantTexts(t, answer.Header.Get("Content-Security-Policy"), "img-src data: https:;", "style-src 'self';",
			"script-src 'self';", "connect-src 'self';", "-unsafe")
		_, body = c.get(wall, 0)
		wantTexts(t, body, append(step.wall, "-style=")...)
		must.False(t, t.Failed(), must.Sprint(title))
	}
	// On the display, which is dark, a dark color is lightened.
	c.setBrand(brand.Brand{Accent: "#1d4f91"})
	_, body := c.get(wall, 0)
	wantTexts(t, body, `fill="#`, "-1d4f91")
}

func TestAccent_HasEnoughContrast(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	value := regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`)
	for _, accent := range []string{"000000", "ffffff", "FFD400", "0b6e4f", "777777"} {
		answer, body := s.get(accentPath+accent+".css", 0)
		test.EqOp(t, http.StatusOK, answer.StatusCode, test.Sprint(accent, answer.Status, answer.Header))
		test.EqOp(t, "text/css; charset=utf-8", answer.Header.Get("Content-Type"),
			test.Sprint(accent, answer.Status, answer.Header))
		test.StrContains(t, answer.Header.Get("Cache-Control"), "immutable",
			test.Sprint(accent, answer.Status, answer.Header))
		colors := make(map[string][]brand.Color)
		for _, found := range value.FindAllStringSubmatch(body, -1) {
			c, _ := brand.ParseColor(found[2])
			colors[found[1]] = append(colors[found[1]], c)
		}
		got := fmt.Sprint(colors["brand"])
		must.EqOp(t, "["+strings.ToLower("#"+accent)+"]", got, must.Sprint(accent, body))
		must.SliceLen(t, 2, colors["brand-edge"], must.Sprint(accent, body))
		for _, ground := range []string{"brand", "brand-pressed"} {
			got := colors[ground][0].Contrast(colors["on-brand"][0])
			test.True(t, got >= brand.MinTextContrast, test.Sprintf("%s: the contrast on %s is %.2f", accent, ground, got))
		}
		for i, grounds := range [][]string{{"#ffffff", "#f4f1ea"}, {"#0d1b2a", "#16283c", "#1b1f24"}} {
			for _, ground := range grounds {
				under, _ := brand.ParseColor(ground)
				got := colors["brand-edge"][i].Contrast(under)
				test.True(
					t, got >= brand.MinShapeContrast,
					test.Sprintf("%s: the contrast of its edge on %s is %.2f", accent, ground, got),
				)
			}
		}
	}
	for _, path := range []string{"0b6e4f", "0b6e4.css", "0b6e4f.css.css", "}*{x:y.css", "..%2f000000.css", ".css"} {
		answer, _ := s.get(accentPath+path, 0)
		test.EqOp(t, http.StatusNotFound, answer.StatusCode, test.Sprintf("%q: %s", path, answer.Status))
	}
}
