package web

import (
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/berthhq/berth/internal/app/signins"
)

// signInCookie is the cookie in which browsers keep a sign-in. Only this service gets it, and no script reads it.
type signInCookie struct {
	name    string
	secure  bool
	signIns *signins.Service
}

// newSignInCookie makes the cookie of a service with a URL. It travels over https only, except on a developer's own
// machine. The prefix keeps other hosts of the domain from setting one (RFC 6265bis, section 4.1.3.2).
func newSignInCookie(publicURL string, signIns *signins.Service) signInCookie {
	if isLocalHTTP(publicURL) {
		return signInCookie{"berth_sign_in", false, signIns}
	}
	return signInCookie{"__Host-berth_sign_in", true, signIns}
}

func isLocalHTTP(publicURL string) bool {
	at, err := url.Parse(publicURL)
	if err != nil || at.Scheme != "http" {
		return false
	}
	address, err := netip.ParseAddr(at.Hostname())
	return at.Hostname() == "localhost" || err == nil && address.IsLoopback()
}

// text returns what a request has as the cookie, or "".
func (c signInCookie) text(r *http.Request) string {
	cookie, err := r.Cookie(c.name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// read returns the secret of the browser's sign-in. Errors: SIGN_IN_ENDED.
func (c signInCookie) read(r *http.Request) (signins.Secret, error) { return c.signIns.Read(c.text(r)) }

// set gives the browser the secret of a sign-in, instead of the one that it has.
func (c signInCookie) set(w http.ResponseWriter, secret signins.Secret, expires time.Time) {
	c.write(w, c.signIns.Write(secret), expires)
}

// clear makes the browser forget its sign-in.
func (c signInCookie) clear(w http.ResponseWriter) { c.write(w, "", time.Unix(0, 0)) }

func (c signInCookie) write(w http.ResponseWriter, value string, expires time.Time) {
	cookie := &http.Cookie{ //nolint:gosec // only a developer's own machine has no https
		Name: c.name, Value: value, Path: "/", Expires: expires, HttpOnly: true, Secure: c.secure,
		SameSite: http.SameSiteLaxMode,
	}
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, cookie)
}
