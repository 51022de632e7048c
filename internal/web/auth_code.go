package web

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/berthhq/berth/internal/app/signins"
	"github.com/berthhq/berth/internal/fault"
)

// DefaultAuthTime is a value for Config.AuthTime.
const DefaultAuthTime = 300 * time.Millisecond

// browserLife is how long a browser is known that has signed in: the longest that browsers keep a cookie (RFC 6265bis,
// section 5.5).
const browserLife = 400 * 24 * time.Hour

// sendCode sends a code to an email address. The answer, and when it comes, is the same for addresses of nobody.
func (a *auth) sendCode(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	var asked struct{ Email string }
	if !a.read(w, r, &asked) {
		return
	}
	browser := a.browser.read(r)
	if !browser.Knows(asked.Email) && a.tooMany(w, r) {
		return
	}
	request, err := a.signIns.SendCode(r.Context(), asked.Email, browser)
	switch {
	case fault.ReasonOf(err) == fault.InvalidField:
		writeError(w, http.StatusBadRequest, err)
	case err != nil:
		a.failed(w, r, err)
	default:
		a.wait(r.Context(), began)
		writeJSON(w, http.StatusOK, map[string]string{"request": request})
	}
}

// tooMany refuses a browser whose network has asked for too many codes: each may be a mail to a stranger.
func (a *auth) tooMany(w http.ResponseWriter, r *http.Request) bool {
	if a.codes == nil {
		return false
	}
	wait, _ := a.codes.Take(a.codes.Proxies.Client(r))
	if wait == 0 {
		return false
	}
	a.events.WithLabelValues("sign_in_refused", "too_many_codes").Inc()
	writeTooMany(w, wait, errTooManyCodes)
	return true
}

var errTooManyCodes = fault.New(fault.ResourceExhausted, fault.RateLimited,
	"Too many codes were asked for from your network. Try again in a while.")

// signIn signs a browser in with the code that a mail brought.
func (a *auth) signIn(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	var entered struct{ Request, Code string }
	if !a.read(w, r, &entered) {
		return
	}
	in, err := a.signIns.SignIn(r.Context(), entered.Request, entered.Code, a.browser.read(r))
	switch {
	case fault.ReasonOf(err) == fault.SignInCodeInvalid:
		a.events.WithLabelValues("sign_in_refused", "code").Inc()
		a.wait(r.Context(), began)
		writeError(w, http.StatusUnauthorized, err)
	case err != nil:
		a.failed(w, r, err)
	default:
		a.signedIn(w, r, in)
		w.WriteHeader(http.StatusNoContent)
	}
}

// signedIn gives a browser the cookies of a new sign-in. It ends the one that the browser had.
func (a *auth) signedIn(w http.ResponseWriter, r *http.Request, in signins.SignedIn) {
	a.cookie.set(w, in.Secret, in.ExpiresAt)
	a.browser.set(w, in.Browser, in.At)
	if before, err := a.cookie.read(r); err == nil {
		if err := a.signIns.End(r.Context(), before); err != nil {
			a.log.WarnContext(r.Context(), "a sign-in that was replaced goes on", slog.Any("error", err))
		}
	}
}

// read reads the JSON of a request.
func (a *auth) read(w http.ResponseWriter, r *http.Request, into any) bool {
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		writeError(w, http.StatusBadRequest, errNotJSON)
		return false
	}
	return true
}

var errNotJSON = fault.New(fault.InvalidArgument, fault.InvalidField, "The request is not JSON of the expected fields.")

// wait returns when a whole number of a.time has passed since a time. How long an answer takes shall not tell what was
// found.
func (a *auth) wait(ctx context.Context, since time.Time) {
	select {
	case <-time.After(a.time - time.Since(since)%a.time):
	case <-ctx.Done():
	}
}

// browserCookie is the cookie by which a browser is known that has signed in before.
type browserCookie struct{ signInCookie }

func newBrowserCookie(publicURL string, signIns *signins.Service) browserCookie {
	cookie := newSignInCookie(publicURL, signIns)
	cookie.name = map[bool]string{false: "berth_browser", true: "__Host-berth_browser"}[cookie.secure]
	return browserCookie{cookie}
}

// read returns the browser that sent a request; zero if it is not known.
func (c browserCookie) read(r *http.Request) signins.Browser { return c.signIns.ReadBrowser(c.text(r)) }

// made returns the cookie of a browser that has signed in before, whether or not it is signed in now, and otherwise "".
func (c browserCookie) made(r *http.Request) string {
	if !c.read(r).KnowsAny() {
		return ""
	}
	return c.text(r)
}

func (c browserCookie) set(w http.ResponseWriter, b signins.Browser, now time.Time) {
	c.write(w, c.signIns.WriteBrowser(b), now.Add(browserLife))
}
