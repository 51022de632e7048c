package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/internal/app/signins"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/signin"
	"github.com/berthhq/berth/internal/token"
	"github.com/berthhq/berth/internal/traffic"
)

// AuthPath is the path of the requests with which the browser apps sign people in and out.
const AuthPath = "/auth/"

// Issuer issues Berth's own access tokens.
type Issuer interface {
	Issue(claims token.Claims, ttl time.Duration) (raw string, expires time.Time, err error)
}

// accessTokenTTL is how long a browser's access token is good, also after its sign-in has ended.
const accessTokenTTL = 15 * time.Minute

// auth serves the requests with which the browser apps sign people in and out: JSON, from pages of this service only.
type auth struct {
	signIns *signins.Service
	issuer  Issuer
	cookie  signInCookie
	browser browserCookie
	codes   *traffic.Addresses
	time    time.Duration
	origin  string // of the service's URL
	events  *prometheus.CounterVec
	log     *slog.Logger
}

func newAuth(c Config) *auth {
	return &auth{
		signIns: c.Services.SignIns, issuer: c.Issuer, cookie: newSignInCookie(c.PublicURL, c.Services.SignIns),
		browser: newBrowserCookie(c.PublicURL, c.Services.SignIns), codes: c.Codes,
		time:   cmp.Or(c.AuthTime, DefaultAuthTime),
		origin: originOf(c.PublicURL), events: securityEvents(c.Metrics), log: c.Log,
	}
}

func (a *auth) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+AuthPath+"token", a.token)
	mux.HandleFunc("POST "+AuthPath+"sign-out", a.signOut)
	mux.HandleFunc("POST "+AuthPath+"code", a.sendCode)
	mux.HandleFunc("POST "+AuthPath+"sign-in", a.signIn)
	mux.HandleFunc("POST "+AuthPath+"passkey/options", a.askPasskey)
	mux.HandleFunc("POST "+AuthPath+"passkey", a.signInWithPasskey)
	mux.HandleFunc("POST "+AuthPath+"passkeys/options", a.askToAdd)
	mux.HandleFunc("POST "+AuthPath+"passkeys", a.addPasskey)
	return a.ownPages(mux)
}

// ownPages refuses what no page of this service sends. The cookie goes along with whatever a browser sends here, so
// other origins must not be able to use it, also those that may call the RPCs, and other hosts of the same site. All
// browsers state the origin of such a request.
func (a *auth) ownPages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !a.isOwnPage(r) {
			a.events.WithLabelValues("sign_in_refused", "origin").Inc()
			writeError(w, http.StatusForbidden, errOrigin)
			return
		}
		if r.URL.Path == AuthPath+"token" && a.cookie.text(r) == "" {
			writeError(w, http.StatusUnauthorized, signin.ErrEnded) // nobody has signed in here, which is no attempt
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 8<<10)
		next.ServeHTTP(w, r)
	})
}

var errTooManyTries = fault.New(fault.ResourceExhausted, fault.RateLimited,
	"There were too many attempts from your network. Try again in a while.")

var errOrigin = fault.New(fault.PermissionDenied, fault.PermissionDeniedReason,
	"Only pages of this service may send this: JSON, with the header Origin.")

func (a *auth) isOwnPage(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	scheme, _, _ := strings.Cut(a.origin, ":")
	site := r.Header.Get("Sec-Fetch-Site")
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return (origin == a.origin || origin == scheme+"://"+r.Host) &&
		(site == "" || site == "same-origin") && kind == "application/json"
}

// originOf returns the origin of pages with a URL.
func originOf(text string) string {
	at, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return at.Scheme + "://" + at.Host
}

// accessToken is the answer to a browser that is signed in.
type accessToken struct {
	AccessToken string    `json:"access_token"`
	ExpiresAt   time.Time `json:"expires_at"`
}

// token gives a browser that is signed in an access token, and renews its sign-in.
func (a *auth) token(w http.ResponseWriter, r *http.Request) {
	secret, err := a.cookie.read(r)
	if err != nil {
		a.refuse(w, r, "cookie", err)
		return
	}
	used, err := a.signIns.Use(r.Context(), secret)
	if err != nil {
		a.refuse(w, r, "ended", err)
		return
	}
	raw, expires, err := a.issuer.Issue(used.Claims, accessTokenTTL)
	if err != nil {
		a.failed(w, r, err)
		return
	}
	a.cookie.set(w, used.Secret, used.ExpiresAt)
	writeJSON(w, http.StatusOK, accessToken{raw, expires})
}

// signOut ends the browser's sign-in. It is no error if there is none.
func (a *auth) signOut(w http.ResponseWriter, r *http.Request) {
	if secret, err := a.cookie.read(r); err == nil {
		if err := a.signIns.End(r.Context(), secret); err != nil {
			a.failed(w, r, err)
			return
		}
	}
	a.cookie.clear(w)
	w.WriteHeader(http.StatusNoContent)
}

// refuse answers a browser whose sign-in is no longer good, so that it forgets it.
func (a *auth) refuse(w http.ResponseWriter, r *http.Request, reason string, err error) {
	if fault.ReasonOf(err) != fault.SignInEnded {
		a.failed(w, r, err)
		return
	}
	a.events.WithLabelValues("sign_in_refused", reason).Inc()
	a.cookie.clear(w)
	writeError(w, http.StatusUnauthorized, err)
}

func (a *auth) failed(w http.ResponseWriter, r *http.Request, err error) {
	unavailable(w, r, a.log, err)
}

// writeError answers with an error as the RPCs do in JSON.
func writeError(w http.ResponseWriter, status int, err error) {
	answer := struct {
		Message string `json:"message"`
		Reason  string `json:"reason"`
	}{Reason: string(fault.ReasonOf(err))}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		answer.Message = f.Message
	}
	writeJSON(w, status, answer)
}

// writeTooMany refuses a request that can be sent again after a time.
func writeTooMany(w http.ResponseWriter, wait time.Duration, err error) {
	setRetryAfter(w, wait)
	writeError(w, http.StatusTooManyRequests, err)
}

func setRetryAfter(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a closed connection needs no answer
}
