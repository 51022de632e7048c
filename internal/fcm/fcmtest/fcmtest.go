// Package fcmtest is a Firebase Cloud Messaging for tests: a server that speaks its HTTP, hands out
// access tokens for a service account's key, takes messages, and refuses them as told.
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

// Message is a message that the server took.
type Message struct {
	Name  string `json:"-"` // what the server called it
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

// Reaction is what the server does with a message. The zero value takes it.
type Reaction struct {
	Status     int           // of a refusal, over HTTP; 0: none
	Code       string        // FCM's error code with it; empty: none
	RPC        string        // Google's status with it
	Field      string        // the field that is wrong
	RetryAfter time.Duration // a header, in seconds
	Body       string        // instead of FCM's own, with any status

	Silent bool // takes the message and never answers
	Drop   bool // takes the message and cuts the connection
}

// Some of FCM's refusals.
var (
	Unregistered = Reaction{Status: http.StatusNotFound, RPC: "NOT_FOUND", Code: "UNREGISTERED"}
	BadToken     = Reaction{Status: http.StatusBadRequest, RPC: "INVALID_ARGUMENT", Code: "INVALID_ARGUMENT", Field: "message.token"}
	Unavailable  = Reaction{Status: http.StatusServiceUnavailable, RPC: "UNAVAILABLE", Code: "UNAVAILABLE"}
)

// Busy is what comes when the quota is used up.
func Busy(after time.Duration) Reaction {
	return Reaction{Status: http.StatusTooManyRequests, RPC: "RESOURCE_EXHAUSTED", Code: "QUOTA_EXCEEDED", RetryAfter: after}
}

// Server is one project at Firebase.
type Server struct {
	URL         string
	TokenURL    string
	ProjectID   string
	Credentials []byte // a service account's key

	http *httptest.Server
	key  *rsa.PrivateKey
	stop chan struct{}

	mu       sync.Mutex
	react    func(Message) Reaction
	refuse   int // HTTP status for token requests; 0: tokens are given
	messages []Message
	asked    int
	tokens   int
}

const email = "berth@project.iam.gserviceaccount.example"

// Start starts a server. Close ends it.
func Start() (*Server, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	s := &Server{ProjectID: "berth-test", key: key, stop: make(chan struct{}), react: func(Message) Reaction { return Reaction{} }}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", s.token)
	mux.HandleFunc("POST /v1/projects/{project}/messages:send", s.send)
	s.http = httptest.NewServer(mux)
	s.URL, s.TokenURL = s.http.URL, s.http.URL+"/token"
	s.Credentials, err = json.Marshal(map[string]string{ //nolint:gosec // the key was made just now
		"type": "service_account", "project_id": s.ProjectID, "client_email": email, "private_key_id": "k1",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"token_uri":   "https://attacker.example/token",
	})
	return s, err
}

// Close ends the server, and every call that waits for it.
func (s *Server) Close() {
	close(s.stop)
	s.http.Close()
}

// React sets what happens to further messages. It is asked for one at a time.
func (s *Server) React(react func(Message) Reaction) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.react = react
}

// RefuseTokens answers further requests for access tokens with an HTTP status; 0 gives them again.
func (s *Server) RefuseTokens(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = status
}

// Messages are those that were taken, in order.
func (s *Server) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.messages)
}

// Asked counts the requests to send, and those for access tokens; refused ones included.
func (s *Server) Asked() (sends, tokens int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked, s.tokens
}

// token exchanges what the key signed for an access token (RFC 7523).
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.tokens++
	status := s.refuse
	s.mu.Unlock()
	var claims jwt.RegisteredClaims
	_, err := jwt.ParseWithClaims(r.PostFormValue("assertion"), &claims, func(*jwt.Token) (any, error) { return &s.key.PublicKey, nil },
		jwt.WithValidMethods([]string{"RS256"}), jwt.WithIssuer(email), jwt.WithAudience(s.TokenURL), jwt.WithExpirationRequired())
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
	s.asked++
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
	reaction := s.take(&body.Message)
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

// take keeps the message, unless it is refused.
func (s *Server) take(m *Message) Reaction {
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
		details = append(details, map[string]any{"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": re.Code})
	}
	if re.Field != "" {
		details = append(details, map[string]any{
			"@type":           "type.googleapis.com/google.rpc.BadRequest",
			"fieldViolations": []any{map[string]any{"field": re.Field, "description": "not valid"}},
		})
	}
	write(w, re.Status, map[string]any{"error": map[string]any{"code": re.Status, "message": "refused", "status": re.RPC, "details": details}})
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) //nolint:errchkjson // maps of text and numbers
}
