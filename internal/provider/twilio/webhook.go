package twilio

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/twilio/twilio-go/client"

	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/tenant"
)

// SignatureHeader is the header with the signature of a call.
const SignatureHeader = "X-Twilio-Signature"

const webhookLimit = 64 << 10 // bytes

// EmptyReply is the response to an inbound SMS that sends nothing back, as text/xml.
const EmptyReply = `<?xml version="1.0" encoding="UTF-8"?><Response></Response>`

// Why a call is rejected.
var (
	ErrSignature = errors.New("twilio: the signature does not match")
	ErrMalformed = errors.New("twilio: not a call that Twilio makes")
)

// Webhook reads Twilio's calls for one account.
type Webhook struct {
	AuthToken string // what Twilio signs with
	PublicURL string // scheme and host as Twilio knows them, without a path: proxies in between may change both
}

// Callback is a call with a valid signature.
type Callback struct {
	form  url.Values
	query url.Values
}

// Read verifies the signature of a call, which covers the URL that Twilio called and the body. It returns
// ErrMalformed, to be answered with 400, or ErrSignature, with 403.
func (w Webhook) Read(r *http.Request) (Callback, error) {
	if r.Method != http.MethodPost {
		return Callback{}, ErrMalformed
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, webhookLimit+1))
	if err != nil || len(body) > webhookLimit {
		return Callback{}, ErrMalformed
	}
	// The signature covers the exact URL, so do not build it from parsed parts.
	address := strings.TrimSuffix(w.PublicURL, "/") + r.RequestURI
	return w.Verify(address, r.Header.Get(SignatureHeader), body)
}

// Verify is like Read for the parts of a call.
func (w Webhook) Verify(address, signature string, body []byte) (Callback, error) {
	if w.AuthToken == "" {
		return Callback{}, ErrSignature // with an empty token anyone could sign
	}
	validator := client.NewRequestValidator(w.AuthToken)
	if !validator.ValidateBody(address, body, signature) {
		return Callback{}, ErrSignature
	}
	u, err := url.Parse(address)
	if err != nil {
		return Callback{}, ErrMalformed
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return Callback{}, ErrMalformed
	}
	// Signatures cover the first value of each name, and that is what Get returns.
	return Callback{form: form, query: u.Query()}, nil
}

// InboundSMS is an inbound SMS to one of the account's numbers. ProviderID identifies it: Twilio repeats calls that got
// no answer.
type InboundSMS struct {
	ProviderID string
	From       string // E.164
	To         string // the account's number, or short code
	Text       string
	OptOut     OptOut // what Twilio did by itself; empty if nothing
}

// OptOut is what Twilio did with a keyword before it passed the message on.
type OptOut string

// The values of OptOut.
const (
	Stopped OptOut = "STOP"  // Twilio sends the sender no more messages
	Started OptOut = "START" // it does again
	Helped  OptOut = "HELP"  // it answered
)

// InboundSMS reads the call as an inbound SMS.
func (c Callback) InboundSMS() (InboundSMS, error) {
	r := InboundSMS{
		ProviderID: c.form.Get("MessageSid"),
		From:       c.form.Get("From"),
		To:         c.form.Get("To"),
		Text:       c.form.Get("Body"),
		OptOut:     OptOut(strings.ToUpper(c.form.Get("OptOutType"))),
	}
	if r.ProviderID == "" || r.From == "" {
		return InboundSMS{}, ErrMalformed
	}
	return r, nil
}

// StatusUpdate is a status change of a sent message. Updates may come twice, late and in any order; notify.Advance
// handles that.
type StatusUpdate struct {
	Delivery   tenant.DeliveryID // zero if the message was not sent by a Sender
	ProviderID string
	Status     delivery.Status // empty if Twilio's status says nothing about delivery
	Failure    *delivery.Error // set for Failed and Undelivered
}

// Update reads the call as a status callback.
func (c Callback) Update() (StatusUpdate, error) {
	u := StatusUpdate{
		ProviderID: c.form.Get("MessageSid"),
		Status:     statuses[strings.ToLower(c.form.Get("MessageStatus"))],
	}
	if u.ProviderID == "" {
		return StatusUpdate{}, ErrMalformed
	}
	if id := c.query.Get(deliveryParam); id != "" {
		var err error
		if u.Delivery, err = tenant.Parse[tenant.DeliveryID](id); err != nil {
			return StatusUpdate{}, ErrMalformed
		}
	}
	if u.Status == delivery.Failed || u.Status == delivery.Undelivered {
		code, err := strconv.Atoi(c.form.Get("ErrorCode"))
		if err != nil {
			code = 0 // a cancelled message has no code
		}
		u.Failure = refusal(code)
	}
	return u, nil
}
