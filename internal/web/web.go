// Package web serves the pages and links that people open in a browser: plain HTTP, outside the API contract.
package web

import (
	"log/slog"
	"net/http"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/app/waitlists"
)

// Config configures the pages.
type Config struct {
	Services *app.Services
	Log      *slog.Logger
	// PublicURL is scheme and host as browsers and providers know them.
	PublicURL string
	// TwilioToken is what Twilio signs calls for the platform's account with; empty if there is none.
	TwilioToken string
}

// Handler serves the pages. Mount it at app.DisplayPath, app.ClaimPath, app.CalendarPath, app.UnsubscribePath and
// app.TwilioPath.
func Handler(c Config) http.Handler {
	d := displayPages{bookings: c.Services.Bookings, log: c.Log}
	offers := claimPages{waitlists: c.Services.Waitlists, log: c.Log}
	m := mailPages{messages: c.Services.Messages, log: c.Log}
	hook := twilioWebhook{Config: c}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+messages.CalendarPath+"{file}", m.calendar)
	mux.HandleFunc("GET "+messages.UnsubscribePath+"{link}", m.showUnsubscribe)
	mux.HandleFunc("POST "+messages.UnsubscribePath+"{link}", m.unsubscribe)
	mux.HandleFunc("POST "+messages.TwilioPath+"{tenant}/status", hook.status)
	mux.HandleFunc("POST "+messages.TwilioPath+"{tenant}/inbound", hook.inbound)
	mux.HandleFunc("GET "+bookings.DisplayPath+"{token}", d.serve)
	mux.HandleFunc("GET "+waitlists.ClaimPath+"{token}", offers.serve)
	mux.HandleFunc("POST "+waitlists.ClaimPath+"{token}", offers.answer)
	mux.HandleFunc("GET "+assetPath+"{file}", serveAsset)
	mux.HandleFunc("GET "+claimAssetPath+"{file}", serveAsset)
	mux.HandleFunc("GET "+accentPath+"{file}", serveAccent)
	return protect(mux)
}

// The policies let a page load its script, style and data only from this server, and images such as
// a tenant's logo from any https URL. No page can be framed.
const (
	commonPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data: https:; " +
		"base-uri 'none'; frame-ancestors 'none'; "
	policy = commonPolicy + "form-action 'none'"
	// answerPolicy is for pages with a form.
	answerPolicy = commonPolicy + "form-action 'self'"
)

// protect keeps private links and pages out of caches, search engines, and the referrers that other sites get.
func protect(next http.Handler) http.Handler {
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
