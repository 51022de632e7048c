// Package twilio sends SMS through Twilio and reads Twilio's callbacks.
package twilio

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/twilio/twilio-go/client"
	api "github.com/twilio/twilio-go/rest/api/v2010"

	"github.com/berthhq/berth/internal/provider"
	"github.com/berthhq/berth/internal/rules/delivery"
)

const (
	defaultBaseURL = "https://api.twilio.com"
	defaultTimeout = 10 * time.Second

	// maxValidity is how long Twilio keeps a message in its queue at most, and by default.
	maxValidity = 36_000 * time.Second
)

// deliveryParam carries a message's ID in the URL of its callbacks. A callback is matched to its message
// even if the response with Twilio's own ID was lost.
const deliveryParam = "delivery"

// Config is the configuration of one Twilio account.
type Config struct {
	AccountSID string
	AuthToken  string // Twilio also signs its webhooks with it

	MessagingServiceSID string // picks the sender; alternative to From
	From                string // E.164, a short code or an alphanumeric sender

	StatusCallback string            // public URL for status callbacks; empty: no callbacks
	BaseURL        string            // empty: Twilio's
	Transport      http.RoundTripper // nil: one that senders share
	Timeout        time.Duration     // for one message; 0: 10 s
	Now            func() time.Time  // nil: time.Now
}

// Sender sends SMS from one account. It is safe for concurrent use.
type Sender struct {
	config    Config
	base      *url.URL
	callback  *url.URL // nil: none
	transport http.RoundTripper
}

// New returns a sender, or an error that says what is missing in the configuration.
func New(c Config) (*Sender, error) {
	if c.AccountSID == "" || c.AuthToken == "" {
		return nil, errors.New("twilio: account and token are needed")
	}
	if c.MessagingServiceSID == "" && c.From == "" {
		return nil, errors.New("twilio: a messaging service or a sender number is needed")
	}
	if c.BaseURL == "" {
		c.BaseURL = defaultBaseURL
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	s := &Sender{config: c, transport: provider.Transport{Base: provider.SharedTransport(c.Transport)}}
	var err error
	if s.base, err = parseURL(c.BaseURL); err != nil {
		return nil, fmt.Errorf("twilio: base address: %w", err)
	}
	if c.StatusCallback != "" {
		if s.callback, err = parseURL(c.StatusCallback); err != nil {
			return nil, fmt.Errorf("twilio: status callback: %w", err)
		}
	}
	return s, nil
}

func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return nil, fmt.Errorf("%q is not an http address", text)
	}
	if u.Path == "" {
		u.Path = "/" // JoinPath would keep it relative
	}
	return u, nil
}

// Send makes one request to Twilio. Its error is a *notify.SendError. If Twilio may have accepted the message
// without an answer, the error is notify.Unknown, and a callback clarifies later.
func (s *Sender) Send(ctx context.Context, m delivery.Message) (delivery.Receipt, error) {
	params := (&api.CreateMessageParams{}).SetTo(m.To).SetBody(m.Text)
	if s.config.MessagingServiceSID != "" {
		params.SetMessagingServiceSid(s.config.MessagingServiceSID)
	}
	if s.config.From != "" {
		params.SetFrom(s.config.From)
	}
	if s.callback != nil {
		params.SetStatusCallback(callbackFor(*s.callback, m))
	}
	if !m.ExpiresAt.IsZero() {
		validity := m.ExpiresAt.Sub(s.config.Now())
		if validity < time.Second {
			return delivery.Receipt{}, delivery.Expired()
		}
		if validity < maxValidity {
			params.SetValidityPeriod(int(validity / time.Second))
		}
	}

	ctx, exchange, done := provider.NewExchange(ctx, s.config.Timeout)
	defer done()
	got, err := s.api(ctx).CreateMessage(params)
	if err != nil || !exchange.Accepted() || got.Sid == nil {
		return delivery.Receipt{}, failure(exchange, m.To, err)
	}
	if status := statuses[text(got.Status)]; status == delivery.Failed || status == delivery.Undelivered {
		return delivery.Receipt{}, refusal(deref(got.ErrorCode))
	}
	return delivery.Receipt{ProviderID: *got.Sid, Segments: segments(got, m), Status: delivery.Queued}, nil
}

// api returns a client for one message. Twilio's client takes no context, so the transport adds it.
func (s *Sender) api(ctx context.Context) *api.ApiService {
	c := &client.Client{
		Credentials: client.NewCredentials(s.config.AccountSID, s.config.AuthToken),
		HTTPClient:  provider.Client(route{ctx: ctx, base: s.base, next: s.transport}),
	}
	c.SetAccountSid(s.config.AccountSID)
	// Not NewRequestHandler, which reads a region from the environment.
	return api.NewApiService(&client.RequestHandler{Client: c})
}

// route is a transport that sends requests to the configured base URL with a context.
type route struct {
	ctx  context.Context //nolint:containedctx // it lives for one request, which has no context of its own
	base *url.URL
	next http.RoundTripper
}

// RoundTrip sends the request.
func (r route) RoundTrip(req *http.Request) (*http.Response, error) {
	out := req.Clone(r.ctx)
	out.URL = r.base.JoinPath(req.URL.Path)
	out.URL.RawQuery = req.URL.RawQuery
	out.Host = ""
	return r.next.RoundTrip(out)
}

func callbackFor(u url.URL, m delivery.Message) string {
	q := u.Query()
	q.Set(deliveryParam, m.ID.String())
	u.RawQuery = q.Encode()
	return u.String()
}

// segments returns Twilio's count. That is 0 until a messaging service has picked a sender, so it counts itself then.
func segments(got *api.ApiV2010Message, m delivery.Message) int {
	if n, err := strconv.Atoi(text(got.NumSegments)); err == nil && n > 0 {
		return n
	}
	n, _, _ := delivery.CountSegments(m.Text)
	return n
}

// failure says why a message was rejected, or got no answer.
func failure(exchange *provider.Exchange, to string, err error) *delivery.Error {
	byHTTP := exchange.Failure(err)
	var rest *client.TwilioRestError
	if !errors.As(err, &rest) || rest.Code == 0 {
		return byHTTP
	}
	byHTTP.Err = nil
	byHTTP.Code = strconv.Itoa(rest.Code)
	byHTTP.Reason = strings.ReplaceAll(rest.Message, to, "the recipient")
	if known, ok := codes[rest.Code]; ok {
		byHTTP.Kind, byHTTP.Reason = known.kind, known.reason
	} else if exchange.NotSent() {
		byHTTP.Kind = delivery.Misconfigured // the library rejected the credentials
	}
	return byHTTP
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func deref(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}
