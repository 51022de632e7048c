// Package twilio sends SMS through Twilio and reads what Twilio reports back.
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
	"github.com/berthhq/berth/internal/rules/notify"
)

const (
	defaultBaseURL = "https://api.twilio.com"
	defaultTimeout = 10 * time.Second

	// maxValidity is the longest that Twilio keeps a message in its queue, and its default.
	maxValidity = 36_000 * time.Second
)

// deliveryParam carries a message's id in its callbacks' address, so that they find it even
// where the answer with Twilio's own id was lost.
const deliveryParam = "delivery"

// Config is one Twilio account.
type Config struct {
	AccountSID string
	AuthToken  string // also what Twilio signs its webhooks with
	KeySID     string // an API key to send with instead of AuthToken; may be empty
	KeySecret  string

	MessagingServiceSID string // picks the sender; or else From
	From                string // E.164, a short code or an alphanumeric sender

	StatusCallback string            // public address that takes status callbacks; empty: none are asked for
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

// New makes a sender, or says what is missing in its configuration.
func New(c Config) (*Sender, error) {
	if c.AccountSID == "" || c.AuthToken == "" && c.KeySID == "" {
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
	s := &Sender{config: c, transport: provider.Transport{Base: provider.Pool(c.Transport)}}
	var err error
	if s.base, err = absolute(c.BaseURL); err != nil {
		return nil, fmt.Errorf("twilio: base address: %w", err)
	}
	if c.StatusCallback != "" {
		if s.callback, err = absolute(c.StatusCallback); err != nil {
			return nil, fmt.Errorf("twilio: status callback: %w", err)
		}
	}
	return s, nil
}

func absolute(text string) (*url.URL, error) {
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

// Send asks Twilio once to send a message. It gives a *notify.SendError; what may have been
// taken on without an answer is notify.Unknown, and a callback tells later.
func (s *Sender) Send(ctx context.Context, m notify.Message) (notify.Receipt, error) {
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
		left := m.ExpiresAt.Sub(s.config.Now())
		if left < time.Second {
			return notify.Receipt{}, notify.Expired()
		}
		if left < maxValidity {
			params.SetValidityPeriod(int(left / time.Second))
		}
	}

	ctx, exchange, done := provider.Begin(ctx, s.config.Timeout)
	defer done()
	got, err := s.api(ctx).CreateMessage(params)
	if err != nil || !exchange.Accepted() || got.Sid == nil {
		return notify.Receipt{}, failure(exchange, m.To, err)
	}
	if status := statuses[text(got.Status)]; status == notify.Failed || status == notify.Undelivered {
		return notify.Receipt{}, refusal(deref(got.ErrorCode))
	}
	return notify.Receipt{ProviderID: *got.Sid, Segments: segments(got, m), Status: notify.Queued}, nil
}

// api is a client for one message: Twilio's takes no context, so its transport brings it.
func (s *Sender) api(ctx context.Context) *api.ApiService {
	user, password := s.config.AccountSID, s.config.AuthToken
	if s.config.KeySID != "" {
		user, password = s.config.KeySID, s.config.KeySecret
	}
	c := &client.Client{
		Credentials: client.NewCredentials(user, password),
		HTTPClient:  provider.Client(route{ctx: ctx, base: s.base, next: s.transport}),
	}
	c.SetAccountSid(s.config.AccountSID)
	// Not NewRequestHandler, which takes a region from the process's environment.
	return api.NewApiService(&client.RequestHandler{Client: c})
}

// route sends a request to the configured address, for as long as the context lasts.
type route struct {
	ctx  context.Context //nolint:containedctx // it lives for one request, which has none of its own
	base *url.URL
	next http.RoundTripper
}

// RoundTrip makes the request.
func (r route) RoundTrip(req *http.Request) (*http.Response, error) {
	out := req.Clone(r.ctx)
	out.URL = r.base.JoinPath(req.URL.Path)
	out.URL.RawQuery = req.URL.RawQuery
	out.Host = ""
	return r.next.RoundTrip(out)
}

func callbackFor(u url.URL, m notify.Message) string {
	q := u.Query()
	q.Set(deliveryParam, m.ID.String())
	u.RawQuery = q.Encode()
	return u.String()
}

// segments takes Twilio's count, which is 0 while a messaging service has not picked a sender.
func segments(got *api.ApiV2010Message, m notify.Message) int {
	if n, err := strconv.Atoi(text(got.NumSegments)); err == nil && n > 0 {
		return n
	}
	n, _, _ := notify.GSM7(m.Text)
	return n
}

// failure tells why a message was refused, or got no answer.
func failure(exchange *provider.Exchange, to string, err error) *notify.SendError {
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
	} else if exchange.Unasked() {
		byHTTP.Kind = notify.Misconfigured // the library itself refused the credentials
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
