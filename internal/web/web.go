// Package web serves what people open by its address in a browser: plain HTTP,
// pages that work by themselves, no contract.
package web

import (
	"log/slog"
	"net/http"

	"github.com/berthhq/berth/internal/app"
)

// Config is what the pages need.
type Config struct {
	App *app.App
	Log *slog.Logger
	// PublicURL is scheme and host as browsers and providers were told them.
	PublicURL string
	// TwilioToken is what Twilio signs its calls with for the platform's account; empty: there is none.
	TwilioToken string
}

// Handler serves the pages. It wants to be mounted at app.DisplayPath, app.ClaimPath, app.CalendarPath, app.UnsubscribePath and
// app.TwilioPath.
func Handler(c Config) http.Handler {
	d := display{app: c.App, log: c.Log}
	offers := claim{app: c.App, log: c.Log}
	m := mail{app: c.App, log: c.Log}
	hook := webhook{Config: c}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+app.CalendarPath+"{file}", m.calendar)
	mux.HandleFunc("GET "+app.UnsubscribePath+"{link}", m.ask)
	mux.HandleFunc("POST "+app.UnsubscribePath+"{link}", m.stop)
	mux.HandleFunc("POST "+app.TwilioPath+"{tenant}/status", hook.status)
	mux.HandleFunc("POST "+app.TwilioPath+"{tenant}/inbound", hook.inbound)
	mux.HandleFunc("GET "+app.DisplayPath+"{token}", d.serve)
	mux.HandleFunc("GET "+app.ClaimPath+"{token}", offers.serve)
	mux.HandleFunc("POST "+app.ClaimPath+"{token}", offers.answer)
	mux.HandleFunc("GET "+assetPath+"{file}", serveAsset)
	mux.HandleFunc("GET "+claimAssetPath+"{file}", serveAsset)
	mux.HandleFunc("GET "+accentPath+"{file}", serveAccent)
	return shut(mux)
}

// policy lets a page load its own script, style and data from here, and nothing
// from anywhere else but the picture that is a tenant's logo. Nobody may frame it.
const (
	common = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data: https:; " +
		"base-uri 'none'; frame-ancestors 'none'; "
	policy = common + "form-action 'none'"
	// answerPolicy is for pages that people answer by a form.
	answerPolicy = common + "form-action 'self'"
)

// shut keeps what a link shows between the link and the page: out of caches,
// search engines, and the addresses that other sites are told of.
func shut(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Robots-Tag", "noindex, nofollow")
		next.ServeHTTP(w, r)
	})
}
