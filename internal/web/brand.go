package web

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/rules/brand"
)

// accentPath is the path of the style sheets with a tenant's color. The color is the file name: the policy allows
// styles from files only, and the file is the same for all visitors.
const accentPath = waitlists.ClaimPath + "accents/"

// The background colors of the pages that have the least contrast with buttons and edges.
var (
	lightBackground, _ = brand.ParseColor("#f4f1ea")
	darkBackground, _  = brand.ParseColor("#1b2f45")
)

// pageHead is the part of a page that shows the tenant's brand.
type pageHead struct {
	Studio string // the tenant's name
	Logo   string // URL of an image; empty: show the name
	Sheet  string // URL of the style sheet with the color; empty: none
}

func newPageHead(name string, b brand.Brand) pageHead {
	h := pageHead{Studio: name, Logo: b.LogoURL}
	if accent, ok := brand.ParseColor(b.Accent); ok {
		h.Sheet = accentPath + accent.String()[1:] + ".css"
	}
	return h
}

// serveAccent serves the color of a page's buttons and edges, light and dark.
func serveAccent(w http.ResponseWriter, r *http.Request) {
	name, css := strings.CutSuffix(r.PathValue("file"), ".css")
	accent, ok := brand.ParseColor("#" + name)
	if !css || !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	edge := func(ground brand.Color) brand.Color { return accent.ReadableOn(ground, brand.MinShapeContrast) }
	sheet := fmt.Appendf(nil, `:root { --brand: %s; --brand-pressed: %s; --on-brand: %s; --brand-edge: %s; }
@media (prefers-color-scheme: dark) { :root { --brand-edge: %s; } }
`, accent, accent.Pressed(), accent.TextColor(), edge(lightBackground), edge(darkBackground))
	_, _ = w.Write(sheet) // a closed connection needs no page
}
