// Package fcmtest is a fake Firebase Cloud Messaging server. It speaks FCM's HTTP API, issues access tokens
// for a service account's key, accepts messages, and rejects them on request.
package fcmtest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Message is a message that the server accepted.
type Message struct {
	Name  string `json:"-"` // assigned by the server
	Token string `json:"token"`

	Notification struct {
		Title string `json:"title"`
		Body  string `json:"body"`
	} `json:"notification"`
	Data    map[string]string `json:"data"`
	Android struct {
		CollapseKey  string `json:"collapse_key"`
		Priority     string `json:"priority"`
		TTL          string `json:"ttl"`
		Notification struct {
			Tag string `json:"tag"`
		} `json:"notification"`
	} `json:"android"`
	APNS struct {
		Headers map[string]string `json:"headers"`
		Payload map[string]any    `json:"payload"`
	} `json:"apns"`
	Webpush struct {
		Headers    map[string]string `json:"headers"`
		FCMOptions struct {
			Link string `json:"link"`
		} `json:"fcm_options"`
	} `json:"webpush"`
}

// Reaction is what the server does with a message. The zero value accepts it.
type Reaction struct {
	Status     int           // HTTP status of a rejection; 0: none
	Code       string        // FCM's error code; empty: none
	RPC        string        // Google's status
	Field      string        // the invalid field
	RetryAfter time.Duration // sent as a header, in seconds
	Body       string        // replaces FCM's body, with any status

	Silent bool // accepts the message and never answers
	Drop   bool // accepts the message and closes the connection
}

// Some of FCM's rejections.
var (
	Unregistered = Reaction{Status: http.StatusNotFound, RPC: "NOT_FOUND", Code: "UNREGISTERED"}
	BadToken     = Reaction{
		Status: http.StatusBadRequest, RPC: "INVALID_ARGUMENT", Code: "INVALID_ARGUMENT", Field: "message.token",
	}
	Unavailable = Reaction{Status: http.StatusServiceUnavailable, RPC: "UNAVAILABLE", Code: "UNAVAILABLE"}
)

// Busy is the rejection when the quota is used up.
func Busy(after time.Duration) Reaction {
	return Reaction{
		Status: http.StatusTooManyRequests, RPC: "RESOURCE_EXHAUSTED", Code: "QUOTA_EXCEEDED", RetryAfter: after,
	}
}

// Server is a Firebase project.
type Server struct {
	URL         string
	TokenURL    string
	ProjectID   string
	Credentials []byte // a service account's key

	http *httptest.Server
	key  *rsa.PrivateKey
	stop chan struct{}

	mu            sync.Mutex
	react         func(Message) Reaction
	refuse        int // HTTP status of the answers to token requests; 0: issues tokens
	messages      []Message
	requests      int
	tokenRequests int
}

const email = "berth@project.iam.gserviceaccount.example"

// Start starts a server. Close stops it.
func Start() (*Server, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	s := &Server{
		ProjectID: "berth-test", key: key, stop: make(chan struct{}),
		react: func(Message) Reaction { return Reaction{} },
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", s.token)
	mux.HandleFunc("POST /v1/projects/{project}/messages:send", s.send)
	s.http = httptest.NewServer(mux)
	s.URL, s.TokenURL = s.http.URL, s.http.URL+"/token"
	s.Credentials, err = json.Marshal(map[string]string{ //nolint:gosec // a new key that is used nowhere else
		"type": "service_account", "project_id": s.ProjectID, "client_email": email, "private_key_id": "k1",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"token_uri":   "https://attacker.example/token",
	})
	return s, err
}

// Close stops the server and ends all calls that wait for an answer.
func (s *Server) Close() {
	close(s.stop)
	s.http.Close()
}

// React sets what happens to later messages. It is called by one request at a time.
func (s *Server) React(react func(Message) Reaction) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.react = react
}

// RefuseTokens sets the HTTP status of the answers to later token requests; 0 issues tokens again.
func (s *Server) RefuseTokens(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = status
}

// Messages returns the accepted messages in order.
func (s *Server) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.messages)
}

// Requests returns the number of send requests and of token requests, including rejected ones.
func (s *Server) Requests() (sends, tokens int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests, s.tokenRequests
}

// token exchanges a signed assertion for an access token (RFC 7523).
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.tokenRequests++
	status := s.refuse
	s.mu.Unlock()
	var claims jwt.RegisteredClaims
	_, err := jwt.ParseWithClaims(r.PostFormValue("assertion"), &claims,
		func(*jwt.Token) (any, error) { return &s.key.PublicKey, nil }, jwt.WithValidMethods([]string{"RS256"}),
		jwt.WithIssuer(email), jwt.WithAudience(s.TokenURL), jwt.WithExpirationRequired())
	if status == 0 && err != nil {
		status = http.StatusBadRequest
	}
	if status != 0 {
		write(w, status, map[string]any{"error": "invalid_grant", "error_description": "Invalid JWT"})
		return
	}
	write(w, http.StatusOK, map[string]any{"access_token": s.access(), "token_type": "Bearer", "expires_in": 3599})
}

func (s *Server) access() string { return "ya29." + s.ProjectID }

func (s *Server) send(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests++
	s.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+s.access() {
		Reaction{Status: http.StatusUnauthorized, RPC: "UNAUTHENTICATED"}.answer(w, "")
		return
	}
	if r.PathValue("project") != s.ProjectID {
		Reaction{Status: http.StatusNotFound, RPC: "NOT_FOUND"}.answer(w, "")
		return
	}
	var body struct {
		Message Message `json:"message"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		Reaction{Status: http.StatusBadRequest, RPC: "INVALID_ARGUMENT"}.answer(w, "")
		return
	}
	reaction := s.accept(&body.Message)
	switch {
	case reaction.Silent:
		select {
		case <-r.Context().Done():
		case <-s.stop:
		}
	case reaction.Drop:
		panic(http.ErrAbortHandler)
	default:
		reaction.answer(w, body.Message.Name)
	}
}

// accept stores the message unless it is rejected.
func (s *Server) accept(m *Message) Reaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	reaction := s.react(*m)
	if reaction.Status == 0 || reaction.Status/100 == 2 {
		m.Name = fmt.Sprintf("projects/%s/messages/%d", s.ProjectID, len(s.messages)+1)
		s.messages = append(s.messages, *m)
	}
	return reaction
}

func (re Reaction) answer(w http.ResponseWriter, name string) {
	if re.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(re.RetryAfter/time.Second)))
	}
	if re.Body != "" {
		if re.Status != 0 {
			w.WriteHeader(re.Status)
		}
		_, _ = io.WriteString(w, re.Body)
		return
	}
	if re.Status == 0 {
		write(w, http.StatusOK, map[string]any{"name": name})
		return
	}
	details := []any{}
	if re.Code != "" {
		details = append(details, map[string]any{
			"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": re.Code,
		})
	}
	if re.Field != "" {
		details = append(details, map[string]any{
			"@type":           "type.googleapis.com/google.rpc.BadRequest",
			"fieldViolations": []any{map[string]any{"field": re.Field, "description": "not valid"}},
		})
	}
	write(w, re.Status, map[string]any{"error": map[string]any{
		"code": re.Status, "message": "refused", "status": re.RPC, "details": details,
	}})
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) //nolint:errchkjson // maps of text and numbers
}
