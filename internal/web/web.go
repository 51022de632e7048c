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
	// PublicURL has the scheme and host that browsers and providers use.
	PublicURL string
	// TwilioToken is the secret with which Twilio signs callbacks of the platform's account; empty if there is none.
	TwilioToken string
}

// Handler serves the pages. Mount it at bookings.DisplayPath, waitlists.ClaimPath, messages.CalendarPath,
// messages.UnsubscribePath and messages.TwilioPath.
func Handler(c Config) http.Handler {
	displays := displayPages{bookings: c.Services.Bookings, log: c.Log}
	offers := claimPages{waitlists: c.Services.Waitlists, log: c.Log}
	mails := mailPages{messages: c.Services.Messages, log: c.Log}
	hook := twilioWebhook{Config: c}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+messages.CalendarPath+"{file}", mails.calendar)
	mux.HandleFunc("GET "+messages.UnsubscribePath+"{link}", mails.showUnsubscribe)
	mux.HandleFunc("POST "+messages.UnsubscribePath+"{link}", mails.unsubscribe)
	mux.HandleFunc("POST "+messages.TwilioPath+"{tenant}/status", hook.status)
	mux.HandleFunc("POST "+messages.TwilioPath+"{tenant}/inbound", hook.inbound)
	mux.HandleFunc("GET "+bookings.DisplayPath+"{token}", displays.serve)
	mux.HandleFunc("GET "+waitlists.ClaimPath+"{token}", offers.serve)
	mux.HandleFunc("POST "+waitlists.ClaimPath+"{token}", offers.answer)
	mux.HandleFunc("GET "+assetPath+"{file}", serveAsset)
	mux.HandleFunc("GET "+claimAssetPath+"{file}", serveAsset)
	mux.HandleFunc("GET "+accentPath+"{file}", serveAccent)
	return protect(mux)
}

// The content security policies let a page load its script, style and data only from this server, and images such as a
// tenant's logo from any https URL. No page can be framed.
const (
	commonPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data: https:; " +
		"base-uri 'none'; frame-ancestors 'none'; "
	policy = commonPolicy + "form-action 'none'"
	// formPolicy is the policy of pages with a form.
	formPolicy = commonPolicy + "form-action 'self'"
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
