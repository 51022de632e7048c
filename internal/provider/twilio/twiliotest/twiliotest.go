// Package twiliotest is a fake Twilio server. It speaks Twilio's HTTP API, accepts messages,
// rejects them on request, and makes signed calls to webhooks.
package twiliotest

import (
	"context"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // Twilio signs with it
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Message is a message that the server accepted.
type Message struct {
	SID            string
	To             string
	From           string
	Service        string // messaging service
	Body           string
	Validity       time.Duration // 0: not given
	StatusCallback string
}

// Reaction is what the server does with a message. The zero value accepts it.
type Reaction struct {
	Status     int           // HTTP status of a rejection; 0: none
	Code       int           // Twilio's error code
	RetryAfter time.Duration // sent as a header, in seconds or, with Date, as a date
	Date       bool
	Body       string // replaces Twilio's body, with any status

	Silent bool // accepts the message and never answers
	Drop   bool // accepts the message and closes the connection
	Taken  bool // accepts the message, whatever the answer is

	Before func(Message) // is called before the answer, for example to make callbacks first
}

// Refuse is a rejection with one of Twilio's error codes.
func Refuse(status, code int) Reaction { return Reaction{Status: status, Code: code} }

// Busy is the rejection by a rate limit.
func Busy(after time.Duration) Reaction {
	return Reaction{Status: http.StatusTooManyRequests, Code: 20429, RetryAfter: after}
}

// Server is a Twilio account.
type Server struct {
	URL        string
	AccountSID string
	AuthToken  string

	http *httptest.Server
	stop chan struct{}

	mu       sync.Mutex
	react    func(Message) Reaction
	messages []Message
	requests int
}

// Start starts a server. Close stops it.
func Start() *Server {
	s := &Server{
		AccountSID: "AC" + strings.Repeat("0a", 16),
		AuthToken:  strings.Repeat("5ecd", 8),
		stop:       make(chan struct{}),
		react:      func(Message) Reaction { return Reaction{} },
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /2010-04-01/Accounts/{account}/Messages.json", s.create)
	s.http = httptest.NewServer(mux)
	s.URL = s.http.URL
	return s
}

// Close stops the server and ends all calls that wait for an answer.
func (s *Server) Close() {
	close(s.stop)
	s.http.Close()
}

// React sets what happens to later messages that are valid. It is called by one request at a time.
func (s *Server) React(react func(Message) Reaction) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.react = react
}

// Messages returns the accepted messages in order.
func (s *Server) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.messages)
}

// Requests returns the number of requests, including rejected ones.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

var (
	e164   = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
	maxTTL = 36_000
)

func (s *Server) create(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests++
	s.mu.Unlock()
	user, password, _ := r.BasicAuth()
	if user != s.AccountSID || password != s.AuthToken || r.PathValue("account") != s.AccountSID {
		refuse(w, http.StatusUnauthorized, 20003, "Authenticate")
		return
	}
	m, code := read(r)
	if code != 0 {
		refuse(w, http.StatusBadRequest, code, fmt.Sprintf("refused: '%s'", m.To))
		return
	}
	reaction := s.accept(&m)
	if reaction.Before != nil {
		reaction.Before(m)
	}
	switch {
	case reaction.Silent:
		select {
		case <-r.Context().Done():
		case <-s.stop:
		}
	case reaction.Drop:
		panic(http.ErrAbortHandler)
	default:
		reaction.answer(w, s.AccountSID, m)
	}
}

func read(r *http.Request) (Message, int) {
	if err := r.ParseForm(); err != nil {
		return Message{}, 20001
	}
	f := r.PostForm
	m := Message{
		To: f.Get("To"), From: f.Get("From"), Service: f.Get("MessagingServiceSid"),
		Body: f.Get("Body"), StatusCallback: f.Get("StatusCallback"),
	}
	if text := f.Get("ValidityPeriod"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxTTL {
			return m, 21624
		}
		m.Validity = time.Duration(n) * time.Second
	}
	switch {
	case m.To == "":
		return m, 21604
	case !e164.MatchString(m.To):
		return m, 21211
	case m.From == "" && m.Service == "":
		return m, 21603
	case m.Body == "":
		return m, 21602
	case len([]rune(m.Body)) > 1600:
		return m, 21617
	default:
		return m, 0
	}
}

// accept stores the message unless it is rejected.
func (s *Server) accept(m *Message) Reaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	reaction := s.react(*m)
	if reaction.Status == 0 || reaction.Status/100 == 2 || reaction.Taken {
		m.SID = fmt.Sprintf("SM%032x", len(s.messages)+1)
		s.messages = append(s.messages, *m)
	}
	return reaction
}

func (re Reaction) answer(w http.ResponseWriter, account string, m Message) {
	switch {
	case re.RetryAfter > 0 && re.Date:
		now := time.Now()
		w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
		w.Header().Set("Retry-After", now.Add(re.RetryAfter).UTC().Format(http.TimeFormat))
	case re.RetryAfter > 0:
		w.Header().Set("Retry-After", strconv.Itoa(int(re.RetryAfter/time.Second)))
	}
	switch {
	case re.Body != "":
		if re.Status != 0 {
			w.WriteHeader(re.Status)
		}
		_, _ = io.WriteString(w, re.Body)
	case re.Status != 0:
		refuse(w, re.Status, re.Code, fmt.Sprintf("refused: '%s'", m.To))
	default:
		write(w, http.StatusCreated, map[string]any{
			"sid": m.SID, "account_sid": account, "to": m.To, "from": m.From, "body": m.Body,
			"messaging_service_sid": m.Service, "status": "accepted", "num_segments": "0", "num_media": "0",
			"direction": "outbound-api", "error_code": nil, "date_created": time.Now().UTC().Format(time.RFC1123Z),
			"price": nil, "price_unit": "USD", "api_version": "2010-04-01",
		})
	}
}

func refuse(w http.ResponseWriter, status, code int, message string) {
	write(w, status, map[string]any{
		"code": code, "message": message, "status": status,
		"more_info": "https://www.twilio.com/docs/errors/" + strconv.Itoa(code),
	})
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) //nolint:errchkjson // maps of text and numbers
}

// Update returns the status callback of a message. It may be sent twice and in any order.
func (s *Server) Update(ctx context.Context, m Message, status string, code int) (*http.Request, error) {
	form := url.Values{
		"AccountSid": {s.AccountSID}, "ApiVersion": {"2010-04-01"}, "From": {m.From}, "To": {m.To},
		"MessageSid": {m.SID}, "SmsSid": {m.SID}, "MessageStatus": {status}, "SmsStatus": {status},
	}
	if code != 0 {
		form.Set("ErrorCode", strconv.Itoa(code))
	}
	return s.Call(ctx, m.StatusCallback, form)
}

// Reply returns the call for an inbound SMS.
func (s *Server) Reply(ctx context.Context, address, sid, from, to, body string) (*http.Request, error) {
	return s.Call(ctx, address, url.Values{
		"AccountSid": {s.AccountSID}, "ApiVersion": {"2010-04-01"}, "MessageSid": {sid}, "SmsMessageSid": {sid},
		"SmsStatus": {"received"}, "From": {from}, "To": {to}, "Body": {body}, "NumMedia": {"0"}, "NumSegments": {"1"},
	})
}

// Call returns a signed call to a webhook, with the address that Twilio knows.
func (s *Server) Call(ctx context.Context, address string, form url.Values) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8")
	r.Header.Set("X-Twilio-Signature", Sign(s.AuthToken, address, form))
	r.Header.Set("User-Agent", "TwilioProxy/1.1")
	return r, nil
}

// Sign returns Twilio's signature (https://www.twilio.com/docs/usage/security#validating-requests).
func Sign(token, address string, form url.Values) string {
	mac := hmac.New(sha1.New, []byte(token))
	_, _ = io.WriteString(mac, address)
	for _, name := range slices.Sorted(maps.Keys(form)) {
		_, _ = io.WriteString(mac, name+form.Get(name))
	}
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
