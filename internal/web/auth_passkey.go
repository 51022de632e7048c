package web

import (
	"encoding/json"
	"net/http"

	"github.com/berthhq/berth/internal/app/signins"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/signin"
	"github.com/berthhq/berth/internal/tenant"
)

// passkeyAnswer is what a browser answers to the options that it got.
type passkeyAnswer struct {
	Request    string          `json:"request"`
	Credential json.RawMessage `json:"credential"` // of navigator.credentials, in the JSON form of the standard
}

// askPasskey gives a page what the browser needs to sign in with a passkey.
func (a *auth) askPasskey(w http.ResponseWriter, r *http.Request) {
	options, err := a.signIns.AskPasskey()
	a.answerPasskey(w, r, options, err)
}

// signInWithPasskey signs a browser in with a passkey.
func (a *auth) signInWithPasskey(w http.ResponseWriter, r *http.Request) {
	var answer passkeyAnswer
	if !a.read(w, r, &answer) {
		return
	}
	in, err := a.signIns.SignInWithPasskey(r.Context(), answer.Request, answer.Credential, a.browser.read(r))
	if err != nil {
		a.refusePasskey(w, r, err)
		return
	}
	a.signedIn(w, r, in)
	w.WriteHeader(http.StatusNoContent)
}

// askToAdd gives a page what the browser needs to make a passkey.
func (a *auth) askToAdd(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Tenant string }
	if !a.read(w, r, &asked) {
		return
	}
	in, err := tenant.Parse[tenant.TenantID](asked.Tenant)
	secret, missing := a.cookie.read(r)
	if err != nil || missing != nil {
		a.refusePasskey(w, r, signin.ErrEnded)
		return
	}
	options, err := a.signIns.AskToAdd(r.Context(), secret, in)
	a.answerPasskey(w, r, options, err)
}

// addPasskey adds the passkey that the browser has made.
func (a *auth) addPasskey(w http.ResponseWriter, r *http.Request) {
	var answer passkeyAnswer
	if !a.read(w, r, &answer) {
		return
	}
	secret, err := a.cookie.read(r)
	if err == nil {
		err = a.signIns.AddPasskey(r.Context(), secret, answer.Request, answer.Credential)
	}
	if err != nil {
		a.refusePasskey(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (a *auth) answerPasskey(w http.ResponseWriter, r *http.Request, options signins.PasskeyOptions, err error) {
	if err != nil {
		a.refusePasskey(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, options)
}

// refusePasskey answers with an error. None of them ends the sign-in that the browser has. Too many passkeys are no
// matter of time.
func (a *auth) refusePasskey(w http.ResponseWriter, r *http.Request, err error) {
	status, ok := map[fault.Reason]int{
		fault.PasskeyInvalid: http.StatusUnauthorized, fault.SignInEnded: http.StatusUnauthorized,
		fault.StepUpRequired: http.StatusForbidden, fault.QuotaExceeded: http.StatusConflict,
	}[fault.ReasonOf(err)]
	if !ok {
		a.failed(w, r, err)
		return
	}
	a.events.WithLabelValues("sign_in_refused", "passkey").Inc()
	writeError(w, status, err)
}
