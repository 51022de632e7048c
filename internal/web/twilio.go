package web

import (
	"encoding/xml"
	"io"
	"log/slog"
	"net/http"

	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/provider/twilio"
	"github.com/berthhq/berth/internal/tenant"
)

// twilioWebhook handles Twilio's callbacks.
type twilioWebhook struct{ Config }

// platformNumber replaces the tenant in the path of callbacks for the number that tenants without their own share.
const platformNumber = "platform"

// read verifies a callback. If the signature is wrong, the response has no details.
func (h twilioWebhook) read(
	w http.ResponseWriter, r *http.Request,
) (in tenant.TenantID, call twilio.Callback, ok bool) {
	reject := func(status int) (tenant.TenantID, twilio.Callback, bool) {
		http.Error(w, http.StatusText(status), status)
		return in, call, false
	}
	token := h.TwilioToken()
	if name := r.PathValue("tenant"); name != platformNumber {
		var err error
		if in, _, err = h.Services.Messages.ReadWebhook(name); err != nil || in.IsZero() {
			return reject(http.StatusNotFound)
		}
		senders, err := h.Services.Messages.SendersOf(r.Context(), in)
		if err != nil {
			h.Log.ErrorContext(r.Context(), "checking webhook failed", slog.Any("error", err))
			return reject(http.StatusServiceUnavailable) // Twilio retries
		}
		if senders.Twilio != nil {
			token = senders.Twilio.AuthToken
		}
	}
	call, err := h.webhook(token).Read(r)
	if err != nil { // Twilio would try again after another status
		return reject(http.StatusNotFound)
	}
	return in, call, true
}

func (c Config) webhook(token string) twilio.Webhook {
	return twilio.Webhook{AuthToken: token, PublicURL: c.PublicURL}
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
	var reply string
	if in.IsZero() {
		reply, err = h.Services.Messages.AnswerSharedSMS(r.Context(), sms.From, text)
	} else {
		reply, err = h.Services.Messages.AnswerSMS(r.Context(), in, sms.From, text)
	}
	if err != nil {
		h.failed(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	if reply == "" || sms.OptOut != "" { // Twilio itself replies to opt-outs
		_, _ = io.WriteString(w, twilio.EmptyReply) // if the connection is closed, Twilio retries
		return
	}
	_ = xml.NewEncoder(w).Encode(struct { // if the connection is closed, Twilio retries
		XMLName xml.Name `xml:"Response"`
		Message string   `xml:"Message"`
	}{Message: reply})
}

func (h twilioWebhook) failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil {
		h.Log.ErrorContext(r.Context(), "handling a Twilio callback failed",
			slog.String("path", r.Pattern), slog.Any("error", err))
	}
	http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
}
