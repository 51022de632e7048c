package web

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/rules/brand"
)

// accentPath is where pages find the sheet with a tenant's color. The color is the file's name: pages take no styles but from
// files, and this one is the same for all who ask.
const accentPath = app.ClaimPath + "accents/"

// The grounds of the pages that come nearest to what lies on them.
var (
	lightGround, _ = brand.ParseColor("#f4f1ea")
	darkGround, _  = brand.ParseColor("#1b2f45")
)

// head is what the head of a page says of the tenant.
type head struct {
	Studio string // its name
	Logo   string // address of a picture; empty: the name is shown
	Sheet  string // address of the sheet with its color; empty: it has none
}

func headOf(name string, look brand.Brand) head {
	h := head{Studio: name, Logo: look.LogoURL}
	if accent, ok := brand.ParseColor(look.Accent); ok {
		h.Sheet = accentPath + accent.String()[1:] + ".css"
	}
	return h
}

// serveAccent gives a color to a page's buttons and edges, light and dark.
func serveAccent(w http.ResponseWriter, r *http.Request) {
	name, css := strings.CutSuffix(r.PathValue("file"), ".css")
	accent, ok := brand.ParseColor("#" + name)
	if !css || !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	edge := func(ground brand.Color) brand.Color { return accent.Against(ground, brand.ForShapes) }
	sheet := fmt.Appendf(nil, `:root { --brand: %s; --brand-pressed: %s; --on-brand: %s; --brand-edge: %s; }
@media (prefers-color-scheme: dark) { :root { --brand-edge: %s; } }
`, accent, accent.Pressed(), accent.On(), edge(lightGround), edge(darkGround))
	_, _ = w.Write(sheet) //nolint:gosec // a color that was read writes nothing but digits; a browser that has left needs none
}
