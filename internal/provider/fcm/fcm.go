// Package fcm sends push messages through Firebase Cloud Messaging.
package fcm

import (
	"context"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"firebase.google.com/go/v4/messaging"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
	"golang.org/x/oauth2/jwt"
	"google.golang.org/api/option"

	"github.com/berthhq/berth/internal/provider"
	"github.com/berthhq/berth/internal/rules/delivery"
)

const (
	defaultBaseURL = "https://fcm.googleapis.com"
	defaultTimeout = 10 * time.Second
	scope          = "https://www.googleapis.com/auth/firebase.messaging"

	maxTTL        = 28 * 24 * time.Hour // FCM's limit and default
	maxCollapseID = 64                  // bytes, the limit of APNs
)

// Keys that are added to a message's data for the app.
const (
	linkKey     = "link"
	deliveryKey = "delivery"
)

// Config is the configuration of one Firebase project.
type Config struct {
	Credentials []byte // a service account's key, as JSON
	ProjectID   string // empty: the key's
	BaseURL     string // empty: Google's
	// TokenURL is where the key is exchanged for access tokens; empty: Google's. The URL in the key is ignored.
	TokenURL  string
	Transport http.RoundTripper // nil: one that senders share
	Timeout   time.Duration     // for one message; 0: 10 s
	Now       func() time.Time  // nil: time.Now
}

// Sender sends to the devices of one project. It is safe for concurrent use.
type Sender struct {
	messages *messaging.Client
	timeout  time.Duration
	now      func() time.Time
}

// New returns a sender, or an error that says what is wrong with the configuration. ctx is only used by New itself.
func New(ctx context.Context, c Config) (*Sender, error) {
	key, project, err := readKey(c.Credentials)
	if err != nil {
		return nil, fmt.Errorf("fcm: %w", err)
	}
	if c.ProjectID != "" {
		project = c.ProjectID
	}
	if c.BaseURL == "" {
		c.BaseURL = defaultBaseURL
	}
	c.Transport = provider.SharedTransport(c.Transport)
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	source := tokens(key, c) //nolint:contextcheck // its requests outlive this one
	authorized := &oauth2.Transport{Base: c.Transport, Source: source}
	messages, err := open(ctx, project,
		option.WithEndpoint(strings.TrimSuffix(c.BaseURL, "/")+"/v1"),
		option.WithHTTPClient(provider.Client(provider.Transport{Base: authorized})))
	if err != nil {
		return nil, fmt.Errorf("fcm: %w", err)
	}
	return &Sender{messages: messages, timeout: c.Timeout, now: c.Now}, nil
}

// CheckKey returns an error if a service account's key, as JSON, cannot be used. The error does not quote the key.
func CheckKey(credentials []byte) error {
	_, _, err := readKey(credentials)
	return err
}

// readKey accepts only service accounts: other kinds of credentials may name URLs to call and commands to run, and
// tenants bring their own. Its errors have no cause, which might quote the key.
func readKey(credentials []byte) (key *jwt.Config, project string, err error) {
	key, err = google.JWTConfigFromJSON(credentials, scope)
	if err != nil {
		return nil, "", errors.New("the credentials are not a service account's key")
	}
	block, _ := pem.Decode(key.PrivateKey)
	if key.Email == "" || block == nil {
		return nil, "", errors.New("the service account's key is not complete")
	}
	if private, err := x509.ParsePKCS8PrivateKey(block.Bytes); err != nil {
		return nil, "", errors.New("the service account's key cannot be read")
	} else if _, ok := private.(*rsa.PrivateKey); !ok {
		return nil, "", errors.New("the service account's key is not an RSA key")
	}
	var about struct {
		ProjectID string `json:"project_id"`
	}
	if json.Unmarshal(credentials, &about) != nil {
		return nil, "", errors.New("the project's id cannot be read")
	}
	return key, about.ProjectID, nil
}

// tokens returns a source of access tokens, which outlive the request that first needs one.
func tokens(key *jwt.Config, c Config) oauth2.TokenSource {
	key.TokenURL = c.TokenURL
	if key.TokenURL == "" {
		key.TokenURL = google.JWTTokenURL
	}
	client := provider.Client(c.Transport)
	client.Timeout = c.Timeout
	return key.TokenSource(context.WithValue(context.Background(), oauth2.HTTPClient, client))
}

// Send makes one request to FCM. Its error is a *notify.SendError. If a message is sent twice,
// a device shows it once, because both have the same tag.
func (s *Sender) Send(ctx context.Context, m delivery.Message) (delivery.Receipt, error) {
	now := s.now()
	if !m.ExpiresAt.IsZero() && m.ExpiresAt.Sub(now) < time.Second {
		return delivery.Receipt{}, delivery.Expired()
	}
	if key, ok := reserved(m.Data); ok {
		return delivery.Receipt{}, &delivery.Error{
			Kind: delivery.Permanent, Code: "INVALID_ARGUMENT", Reason: "the data key " + key + " is reserved",
		}
	}
	ctx, exchange, done := provider.NewExchange(ctx, s.timeout)
	defer done()
	name, err := s.messages.Send(ctx, compose(m, now))
	if err != nil || !exchange.Accepted() || name == "" {
		return delivery.Receipt{}, failure(exchange, err)
	}
	return delivery.Receipt{ProviderID: name, Status: delivery.Sent}, nil
}

// reserved returns a data key that FCM reserves for itself, if there is one.
func reserved(data map[string]string) (string, bool) {
	for key := range data {
		if key == "from" || key == "message_type" || strings.HasPrefix(key, "google.") || strings.HasPrefix(key, "gcm.") {
			return key, true
		}
	}
	return "", false
}

// compose builds the message for Android, iOS and browsers.
func compose(m delivery.Message, now time.Time) *messaging.Message {
	data := maps.Clone(m.Data)
	if data == nil {
		data = make(map[string]string, 2)
	}
	data[deliveryKey] = m.ID.String()
	if m.Link != "" {
		data[linkKey] = m.Link
	}

	// For a device that is offline FCM keeps four collapse keys and drops the other messages,
	// so only set one if the message has one. Tags have no such limit.
	tag := m.CollapseKey
	if tag == "" {
		tag = m.ID.String()
	}
	android := &messaging.AndroidConfig{
		CollapseKey: m.CollapseKey, Priority: "normal", Notification: &messaging.AndroidNotification{Tag: tag},
	}
	apns := map[string]string{"apns-push-type": "alert", "apns-priority": "5", "apns-collapse-id": shorten(tag)}
	web := &messaging.WebpushConfig{
		Headers:      map[string]string{"Urgency": "normal"},
		Notification: &messaging.WebpushNotification{Tag: tag},
	}
	if m.HighPriority {
		android.Priority, apns["apns-priority"], web.Headers["Urgency"] = "high", "10", "high"
	}
	if !m.ExpiresAt.IsZero() {
		ttl := min(m.ExpiresAt.Sub(now).Truncate(time.Second), maxTTL)
		android.TTL = &ttl
		apns["apns-expiration"] = strconv.FormatInt(m.ExpiresAt.Unix(), 10)
		web.Headers["TTL"] = strconv.Itoa(int(ttl / time.Second))
	}
	if strings.HasPrefix(m.Link, "https://") {
		web.FCMOptions = &messaging.WebpushFCMOptions{Link: m.Link}
	}
	return &messaging.Message{
		Token:        m.To,
		Notification: &messaging.Notification{Title: m.Title, Body: m.Text},
		Data:         data,
		Android:      android,
		APNS: &messaging.APNSConfig{
			Headers: apns, Payload: &messaging.APNSPayload{Aps: &messaging.Aps{Sound: "default"}},
		},
		Webpush: web,
	}
}

// shorten hashes keys that exceed the limit of APNs, so that they stay distinct.
func shorten(key string) string {
	if len(key) <= maxCollapseID {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// open creates Firebase's client for messages only. firebase.NewApp would also link the clients for databases, storage
// and accounts, 23 MB in total, and the type of messaging.NewClient's parameter is internal to that module.
func open(ctx context.Context, project string, options ...option.ClientOption) (*messaging.Client, error) {
	create := reflect.ValueOf(messaging.NewClient)
	config := reflect.New(create.Type().In(1).Elem())
	config.Elem().FieldByName("ProjectID").SetString(project)
	config.Elem().FieldByName("Opts").Set(reflect.ValueOf(options))
	config.Elem().FieldByName("Version").SetString("4")
	made := create.Call([]reflect.Value{reflect.ValueOf(ctx), config})
	if err, failed := reflect.TypeAssert[error](made[1]); failed {
		return nil, err
	}
	return made[0].Interface().(*messaging.Client), nil
}
