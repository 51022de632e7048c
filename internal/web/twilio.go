package web

import (
	"encoding/xml"
	"errors"
	"io"
	"log/slog"
	"net/http"

	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/twilio"
)

// twilioWebhook handles Twilio's calls.
type twilioWebhook struct{ Config }

// platformNumber replaces the tenant in the path for the number that tenants without their own share.
const platformNumber = "platform"

// read verifies a call. If the signature is wrong, the answer has no details.
func (h twilioWebhook) read(w http.ResponseWriter, r *http.Request) (in tenant.TenantID, call twilio.Callback, ok bool) {
	refuse := func(status int) (tenant.TenantID, twilio.Callback, bool) {
		http.Error(w, http.StatusText(status), status)
		return in, call, false
	}
	token := h.TwilioToken
	if name := r.PathValue("tenant"); name != platformNumber {
		var err error
		if in, err = tenant.Parse[tenant.TenantID](name); err != nil {
			return refuse(http.StatusNotFound)
		}
		senders, err := h.Services.Messages.SendersOf(r.Context(), in)
		if err != nil {
			h.Log.ErrorContext(r.Context(), "checking webhook failed", slog.Any("error", err))
			return refuse(http.StatusServiceUnavailable) // Twilio retries
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

// status handles a status change of a sent message.
func (h twilioWebhook) status(w http.ResponseWriter, r *http.Request) {
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
		err = h.Services.Messages.ReportDelivery(r.Context(), in, messages.DeliveryReport{
			Delivery: update.Delivery, ProviderID: update.ProviderID, Status: update.Status, Err: update.Failure,
		})
	}
	if err != nil {
		h.failed(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// inbound handles an inbound SMS.
func (h twilioWebhook) inbound(w http.ResponseWriter, r *http.Request) {
	in, call, ok := h.read(w, r)
	if !ok {
		return
	}
	sms, err := call.InboundSMS()
	if err != nil {
		http.Error(w, http.StatusText(http.StatusBadRequest), http.StatusBadRequest)
		return
	}
	text := sms.Text
	if sms.OptOut != "" {
		text = string(sms.OptOut) // as Twilio understood it, in any language
	}
	var answer string
	if in.IsZero() {
		answer, err = h.Services.Messages.AnswerSharedSMS(r.Context(), sms.From, text)
	} else {
		answer, err = h.Services.Messages.AnswerSMS(r.Context(), in, sms.From, text)
	}
	if err != nil {
		h.failed(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	if answer == "" || sms.OptOut != "" { // in the second case Twilio has answered
		_, _ = io.WriteString(w, twilio.EmptyReply)
		return
	}
	_ = xml.NewEncoder(w).Encode(struct { // if the connection is closed, Twilio retries
		XMLName xml.Name `xml:"Response"`
		Message string   `xml:"Message"`
	}{Message: answer})
}

func (h twilioWebhook) failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil {
		h.Log.ErrorContext(r.Context(), "handling a call of Twilio failed",
			slog.String("path", r.Pattern), slog.Any("error", err))
	}
	http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
}
