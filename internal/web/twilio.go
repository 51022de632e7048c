package web

import (
	"encoding/xml"
	"errors"
	"io"
	"log/slog"
	"net/http"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/twilio"
)

// webhook takes Twilio's calls.
type webhook struct{ Config }

// platformNumber stands for the tenant where a number is shared by all that have none of their own.
const platformNumber = "platform"

// read verifies a call. Whoever is not believed is told nothing more.
func (h webhook) read(w http.ResponseWriter, r *http.Request) (in tenant.TenantID, call twilio.Call, ok bool) {
	refuse := func(status int) (tenant.TenantID, twilio.Call, bool) {
		http.Error(w, http.StatusText(status), status)
		return in, call, false
	}
	token := h.TwilioToken
	if name := r.PathValue("tenant"); name != platformNumber {
		var err error
		if in, err = tenant.Parse[tenant.TenantID](name); err != nil {
			return refuse(http.StatusNotFound)
		}
		senders, err := h.App.SendersOf(r.Context(), in)
		if err != nil {
			h.Log.ErrorContext(r.Context(), "webhook not checked", slog.Any("error", err))
			return refuse(http.StatusServiceUnavailable) // Twilio tries again
		}
		if senders.Twilio != nil {
			token = senders.Twilio.AuthToken
		}
	}
	call, err := twilio.Webhook{AuthToken: token, PublicURL: h.PublicURL}.Read(r)
	switch {
	case errors.Is(err, twilio.ErrSignature):
		return refuse(http.StatusForbidden)
	case err != nil:
		return refuse(http.StatusBadRequest)
	}
	return in, call, true
}

// status takes news of a message that was sent.
func (h webhook) status(w http.ResponseWriter, r *http.Request) {
	in, call, ok := h.read(w, r)
	if !ok {
		return
	}
	update, err := call.Update()
	if err != nil {
		http.Error(w, http.StatusText(http.StatusBadRequest), http.StatusBadRequest)
		return
	}
	if update.Status != "" {
		err = h.App.ReportDelivery(r.Context(), in, app.DeliveryReport{
			Delivery: update.Delivery, ProviderID: update.ProviderID, Status: update.Status, Err: update.Failure,
		})
	}
	if err != nil {
		h.failed(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// inbound takes an SMS that somebody has sent.
func (h webhook) inbound(w http.ResponseWriter, r *http.Request) {
	in, call, ok := h.read(w, r)
	if !ok {
		return
	}
	sms, err := call.Reply()
	if err != nil {
		http.Error(w, http.StatusText(http.StatusBadRequest), http.StatusBadRequest)
		return
	}
	text := sms.Text
	if sms.OptOut != "" {
		text = string(sms.OptOut) // as Twilio understood it, in whatever language
	}
	var answer string
	if in.IsZero() {
		answer, err = h.App.AnswerSharedSMS(r.Context(), sms.From, text)
	} else {
		answer, err = h.App.AnswerSMS(r.Context(), in, sms.From, text)
	}
	if err != nil {
		h.failed(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	if answer == "" || sms.OptOut != "" { // Twilio has answered
		_, _ = io.WriteString(w, twilio.EmptyReply)
		return
	}
	_ = xml.NewEncoder(w).Encode(struct { // Twilio that has left tries again
		XMLName xml.Name `xml:"Response"`
		Message string   `xml:"Message"`
	}{Message: answer})
}

func (h webhook) failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil {
		h.Log.ErrorContext(r.Context(), "call of Twilio not dealt with", slog.String("path", r.Pattern), slog.Any("error", err))
	}
	http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
}
