// Package web serves the pages and links that people open in a browser: plain HTTP, outside the API contract.
package web

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/traffic"
)

// Config configures the pages.
type Config struct {
	Services *app.Services
	Log      *slog.Logger
	// PublicURL has the scheme and host that browsers and providers use.
	PublicURL string
	// Metrics is where the metrics of the pages are registered. Optional.
	Metrics prometheus.Registerer
	// Addresses limits requests with links that do not exist. Optional.
	Addresses *traffic.Addresses
	// Passkeys limits wrong answers of passkeys. It is a limit of its own, so that those who use up Addresses or Codes
	// shut out nobody who has a passkey. Optional.
	Passkeys *traffic.Addresses
	// HoldBack holds back the answers to requests above a limit. Optional.
	HoldBack *traffic.HoldBack
	// Codes limits the codes that a network asks for, from browsers that have never signed in. Optional.
	Codes *traffic.Addresses
	// AuthTime is the time by which answers about codes come: after it, or a multiple of it, whatever was found. Default:
	// DefaultAuthTime.
	AuthTime time.Duration
	// Issuer issues access tokens to people who sign in with Berth itself; nil if nobody does.
	Issuer Issuer
	// Provider says that people can sign in at an identity provider in the browser apps, too.
	Provider bool
	// TwilioToken gives the secret with which Twilio signs callbacks of the platform's account; empty if there is none.
	TwilioToken func() string
}

// Handler serves the pages. Mount it at bookings.DisplayPath, waitlists.ClaimPath, accounts.ConfirmPath,
// accounts.AddressPath, accounts.InvitePath, messages.CalendarPath, messages.UnsubscribePath, messages.TwilioPath and,
// for POST alone, AuthPath: below it the console has a page to which providers return. It panics if Metrics has the
// metrics of other pages.
func Handler(c Config) http.Handler {
	displays := displayPages{bookings: c.Services.Bookings, log: c.Log}
	offers := claimPages{waitlists: c.Services.Waitlists, log: c.Log}
	mails := mailPages{messages: c.Services.Messages, log: c.Log}
	confirmations := confirmPages{accounts: c.Services.Accounts, log: c.Log}
	invitations := newInvitePages(c)
	addresses := addressPages{accounts: c.Services.Accounts, log: c.Log}
	hook := twilioWebhook{Config: c}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+messages.CalendarPath+"{file}", mails.calendar)
	mux.HandleFunc("GET "+messages.UnsubscribePath+"{link}", mails.showUnsubscribe)
	mux.HandleFunc("POST "+messages.UnsubscribePath+"{link}", ownForms(mails.unsubscribe))
	mux.HandleFunc("GET "+accounts.ConfirmPath+"{link}", confirmations.show)
	mux.HandleFunc("POST "+accounts.ConfirmPath+"{link}", ownForms(confirmations.confirm))
	mux.HandleFunc("GET "+accounts.InvitePath+"{link}", invitations.show)
	mux.HandleFunc("POST "+accounts.InvitePath+"{link}", invitations.ownPage(invitations.accept))
	mux.HandleFunc("GET "+accounts.AddressPath+"{link}", addresses.show)
	mux.HandleFunc("POST "+accounts.AddressPath+"{link}", ownForms(addresses.decide))
	mux.HandleFunc("POST "+messages.TwilioPath+"{tenant}/status", hook.status)
	mux.HandleFunc("POST "+messages.TwilioPath+"{tenant}/inbound", hook.inbound)
	mux.HandleFunc("GET "+bookings.DisplayPath+"{token}", displays.serve)
	mux.HandleFunc("GET "+waitlists.ClaimPath+"{token}", offers.serve)
	mux.HandleFunc("POST "+waitlists.ClaimPath+"{token}", ownForms(offers.answer))
	all := http.NewServeMux()
	if c.Issuer != nil {
		signIn := newAuth(c)
		routes := signIn.routes()
		all.Handle("POST "+AuthPath, signIn.ownPages(limitInvalid(c, c.Addresses, c.made, routes)))
		for _, path := range []string{"passkey", "passkey/options"} {
			all.Handle("POST "+AuthPath+path, signIn.ownPages(limitInvalid(c, c.Passkeys, c.made, routes)))
		}
	}
	all.HandleFunc("GET "+assetPath+"{file}", serveAsset)
	all.HandleFunc("GET "+claimAssetPath+"{file}", serveAsset)
	all.HandleFunc("GET "+accentPath+"{file}", serveAccent)
	all.Handle("/", limitInvalid(c, c.Addresses, c.made, mux))
	return protect(withRequest(c.Addresses, countInvalid(c.Metrics, all)))
}

// withRequest tells use cases who sends a request, for the audit log.
func withRequest(addresses *traffic.Addresses, next http.Handler) http.Handler {
	var proxies traffic.Proxies
	if addresses != nil {
		proxies = addresses.Proxies
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent := engine.Request{ID: rand.Text(), Client: traffic.ClientName(r.UserAgent())}
		if client := proxies.Client(r); client.IsValid() {
			sent.Address = client.String()
		}
		next.ServeHTTP(w, r.WithContext(engine.WithRequest(r.Context(), sent)))
	})
}

// securityEvents returns the counter of events of security.
func securityEvents(to prometheus.Registerer) *prometheus.CounterVec {
	if to == nil {
		to = prometheus.NewRegistry()
	}
	events, err := traffic.SecurityEvents(to)
	if err != nil {
		panic(err)
	}
	return events
}

// countInvalid counts the links that do not exist, which people rarely open and attackers often.
func countInvalid(to prometheus.Registerer, next http.Handler) http.Handler {
	invalid := promauto.With(to).NewCounterVec(prometheus.CounterOpts{
		Name: "berth_invalid_links_total",
		Help: "Requests to links and webhooks that do not exist or are not signed, by kind.",
	}, []string{"kind"})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &statusWriter{ResponseWriter: w}
		next.ServeHTTP(seen, r)
		if seen.status == http.StatusNotFound {
			kind, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
			invalid.WithLabelValues(kind).Inc()
		}
	})
}

// limitInvalid limits the requests of an address to links that do not exist. Those to links that exist count for
// nothing, since many people may open theirs behind one address. If the address has no request left, what the service
// made itself passes nevertheless: see made.
func limitInvalid(
	c Config, addresses *traffic.Addresses, made func(*http.Request) string, next http.Handler,
) http.Handler {
	if addresses == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client := addresses.Proxies.Client(r)
		wait, proven := addresses.Take(client)
		if wait > 0 {
			if text := made(r); text != "" {
				wait, proven = addresses.TakeMade(client, text)
			}
		}
		if wait > 0 {
			status := http.StatusTooManyRequests
			if strings.HasPrefix(r.URL.Path, messages.TwilioPath) {
				status = http.StatusServiceUnavailable // Twilio retries: it calls for all tenants from the same addresses
			}
			c.HoldBack.Wait(r.Context().Done())
			if strings.HasPrefix(r.URL.Path, AuthPath) {
				writeTooMany(w, wait, errTooManyTries)
				return
			}
			setRetryAfter(w, wait)
			http.Error(w, "Too many links that do not exist were opened from your address. Try again in a while.", status)
			return
		}
		seen := &statusWriter{ResponseWriter: w}
		next.ServeHTTP(seen, r)
		if !isUnknown(seen.status) && r.Context().Err() == nil { // who left at once has proven nothing
			proven()
		}
	})
}

// isUnknown reports whether a response says that there is no such link, or no such sign-in.
func isUnknown(status int) bool {
	return status == http.StatusNotFound || status == http.StatusUnauthorized
}

// statusWriter keeps the status of a response.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets a http.ResponseController use the writer.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

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
