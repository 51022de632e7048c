package fcm_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/provider/fcm"
	"github.com/berthhq/berth/internal/provider/fcm/fcmtest"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

var now = time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)

func setup(t *testing.T) (*fcmtest.Server, fcm.Config) {
	t.Helper()
	s := expect.Value(fcmtest.Start())(t)
	t.Cleanup(s.Close)
	return s, fcm.Config{
		Credentials: s.Credentials, BaseURL: s.URL, TokenURL: s.TokenURL, Transport: &http.Transport{},
		Timeout: 20 * time.Second, Now: func() time.Time { return now },
	}
}

func sender(t *testing.T, c fcm.Config) *fcm.Sender {
	t.Helper()
	return expect.Value(fcm.New(t.Context(), c))(t)
}

const id = "018f5e6e-0000-7000-8000-000000000001"

func message() delivery.Message {
	return delivery.Message{
		ID: tenant.MustParse[tenant.DeliveryID](id), Channel: delivery.Push, To: "token-1",
		Title: "A place is free", Text: "Vinyasa, 18:00", Link: "https://berth.example/claim/x",
		Data: map[string]string{"session": "s1"}, ExpiresAt: now.Add(90*time.Second + 700*time.Millisecond),
		HighPriority: true,
	}
}

// fails sends a message, which must fail.
func fails(t *testing.T, s *fcm.Sender, m delivery.Message) *delivery.Error {
	t.Helper()
	return sendError(t, expect.Error(s.Send(t.Context(), m)))
}

func sendError(t *testing.T, err error) *delivery.Error {
	t.Helper()
	failure, ok := errors.AsType[*delivery.Error](err)
	must.True(t, ok, must.Sprintf("%v is not a SendError", err))
	return failure
}

func TestSend_DeliversMessage(t *testing.T) {
	t.Parallel()
	fake, c := setup(t)
	s := sender(t, c)
	got := expect.Value(s.Send(t.Context(), message()))(t)
	want := fcmtest.Message{Name: got.ProviderID, Token: "token-1"}
	want.Notification.Title, want.Notification.Body = "A place is free", "Vinyasa, 18:00"
	want.Data = map[string]string{"session": "s1", "delivery": id, "link": "https://berth.example/claim/x"}
	want.Android.Priority, want.Android.TTL, want.Android.Notification.Tag = "high", "90s", id
	want.APNS.Headers = map[string]string{
		"apns-push-type": "alert", "apns-priority": "10", "apns-collapse-id": id, "apns-expiration": "1774699290",
	}
	want.APNS.Payload = map[string]any{"aps": map[string]any{"sound": "default"}}
	want.Webpush.Headers = map[string]string{"Urgency": "high", "TTL": "90"}
	want.Webpush.FCMOptions.Link = "https://berth.example/claim/x"
	test.Eq(t, []fcmtest.Message{want}, fake.Messages())
	test.EqOp(t, delivery.Sent, got.Status, test.Sprintf("receipt %+v", got))
	expect.OK(t)(s.Send(t.Context(), message()))
	sends, tokens := fake.Requests()
	test.EqOp(t, 2, sends, test.Sprintf("%d sends took %d access tokens", sends, tokens))
	test.EqOp(t, 1, tokens, test.Sprintf("%d sends took %d access tokens", sends, tokens))
}

func TestSend_UsesCollapseKey(t *testing.T) {
	t.Parallel()
	fake, c := setup(t)
	m := message()
	m.CollapseKey = strings.Repeat("k", 70) // longer than APNs allows
	m.ExpiresAt, m.HighPriority, m.Link, m.Data = time.Time{}, false, "berth://claim/x", nil
	expect.OK(t)(sender(t, c).Send(t.Context(), m))
	got := fake.Messages()[0]
	android := got.Android
	test.EqOp(t, m.CollapseKey, android.CollapseKey, test.Sprintf("%+v", got.Android))
	test.EqOp(t, m.CollapseKey, android.Notification.Tag, test.Sprintf("%+v", got.Android))
	test.EqOp(t, "", android.TTL, test.Sprintf("%+v", got.Android))
	test.EqOp(t, "normal", android.Priority, test.Sprintf("%+v", got.Android))
	collapse := got.APNS.Headers["apns-collapse-id"]
	must.EqOp(t, 64, len(collapse), must.Sprintf("APNs collapse id %q", collapse))
	test.NotEqOp(t, m.CollapseKey[:64], collapse, test.Sprintf("APNs collapse id %q", collapse))
	test.EqOp(t, "", got.Webpush.FCMOptions.Link)
	test.EqOp(t, "berth://claim/x", got.Data["link"])
}

// An invalid message, or one that is too late, is found before it is sent.
func TestSend_DoesNotSendInvalidMessage(t *testing.T) {
	t.Parallel()
	fake, c := setup(t)
	s := sender(t, c)
	for name, tt := range map[string]struct {
		spoilt vary.Fields
		code   string
	}{
		"expired":      {vary.Fields{"ExpiresAt": now.Add(time.Second - 1)}, "EXPIRED"},
		"no token":     {vary.Fields{"To": ""}, "INVALID_ARGUMENT"},
		"reserved key": {vary.Fields{"Data": map[string]string{"google.x": "1"}}, "INVALID_ARGUMENT"},
		"also":         {vary.Fields{"Data": map[string]string{"from": "1"}}, "INVALID_ARGUMENT"},
	} {
		got := fails(t, s, vary.From(message(), tt.spoilt))
		test.EqOp(t, delivery.Permanent, got.Kind, test.Sprint(name))
		test.EqOp(t, tt.code, got.Code, test.Sprint(name))
	}
	sends, _ := fake.Requests()
	test.EqOp(t, 0, sends, test.Sprint("requests"))
}

// The codes are from https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode.
func TestSend_ClassifiesErrors(t *testing.T) {
	t.Parallel()
	refuse := func(status int, rpc, code string) fcmtest.Reaction {
		return fcmtest.Reaction{Status: status, RPC: rpc, Code: code}
	}
	is := func(kind delivery.FailureKind, code string) delivery.Error {
		return delivery.Error{Kind: kind, Code: code}
	}
	later := func(kind delivery.FailureKind, code string, after time.Duration) delivery.Error {
		return delivery.Error{Kind: kind, Code: code, RetryAfter: after}
	}
	for name, tc := range map[string]struct {
		reaction fcmtest.Reaction
		want     delivery.Error
	}{
		"unregistered": {fcmtest.Unregistered, is(delivery.Unregistered, "UNREGISTERED")},
		"not a token":  {fcmtest.BadToken, is(delivery.Unregistered, "INVALID_ARGUMENT")},
		"invalid":      {refuse(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"), is(delivery.Permanent, "INVALID_ARGUMENT")},
		"another project": {
			refuse(403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH"), is(delivery.Misconfigured, "SENDER_ID_MISMATCH"),
		},
		"Apple's key": {
			refuse(401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR"), is(delivery.Misconfigured, "THIRD_PARTY_AUTH_ERROR"),
		},
		"the vendor's key": {
			refuse(401, "UNAUTHENTICATED", "APNS_AUTH_ERROR"), is(delivery.Misconfigured, "APNS_AUTH_ERROR"),
		},
		"not allowed":      {refuse(403, "PERMISSION_DENIED", ""), is(delivery.Misconfigured, "PERMISSION_DENIED")},
		"no such project":  {refuse(404, "NOT_FOUND", ""), is(delivery.Misconfigured, "NOT_FOUND")},
		"quota":            {fcmtest.Busy(90 * time.Second), later(delivery.Transient, "QUOTA_EXCEEDED", 90*time.Second)},
		"quota, no header": {fcmtest.Busy(0), later(delivery.Transient, "QUOTA_EXCEEDED", time.Minute)},
		"internal":         {refuse(500, "INTERNAL", "INTERNAL"), is(delivery.Transient, "INTERNAL")},
		"internal, later": {
			fcmtest.Reaction{Status: 500, RPC: "INTERNAL", Code: "INTERNAL", RetryAfter: 9 * time.Second},
			later(delivery.Transient, "INTERNAL", 9*time.Second),
		},
		"internal, without FCM's code": {refuse(500, "INTERNAL", ""), is(delivery.Transient, "INTERNAL")},
		"a proxy, 502":                 {fcmtest.Reaction{Status: 502, Body: "<html>"}, is(delivery.Unknown, "HTTP 502")},
		"unavailable": {
			fcmtest.Reaction{Status: 503, RPC: "UNAVAILABLE", Code: "UNAVAILABLE", RetryAfter: 3 * time.Second},
			later(delivery.Transient, "UNAVAILABLE", 3*time.Second),
		},
		"a proxy, 503":       {fcmtest.Reaction{Status: 503, Body: "<html>"}, is(delivery.Transient, "HTTP 503")},
		"a code that is new": {refuse(400, "FAILED_PRECONDITION", "NEWS"), is(delivery.Permanent, "NEWS")},
		"a redirect":         {fcmtest.Reaction{Status: 302, Body: "{}"}, is(delivery.Misconfigured, "HTTP 302")},
		"accepted, garbled":  {fcmtest.Reaction{Body: "<html>"}, is(delivery.Unknown, "")},
		"accepted, nameless": {fcmtest.Reaction{Body: "{}"}, is(delivery.Unknown, "")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake, c := setup(t)
			fake.React(func(fcmtest.Message) fcmtest.Reaction { return tc.reaction })
			got := fails(t, sender(t, c), message())
			test.Eq(t, tc.want, *got, test.Cmp(cmpopts.IgnoreFields(delivery.Error{}, "Reason", "Err")))
			test.NotEqOp(t, "", got.Reason)
			sends, _ := fake.Requests()
			test.EqOp(t, 1, sends, test.Sprintf("%d requests: the library retried by itself", sends))
		})
	}
}

func TestSend_UnregisteredDeviceDoesNotAffectOthers(t *testing.T) {
	t.Parallel()
	fake, c := setup(t)
	fake.React(func(m fcmtest.Message) fcmtest.Reaction {
		if m.Token == "gone" {
			return fcmtest.Unregistered
		}
		return fcmtest.Reaction{}
	})
	s := sender(t, c)
	for _, to := range []string{"a", "gone", "b"} {
		m := message()
		m.To = to
		test.EqOp(t, to == "gone", expect.Error(s.Send(t.Context(), m)) != nil, test.Sprint(to))
	}
}

// A request without an answer may have had an effect, and here it has.
// The library alone would have sent it four more times.
func TestSend_WithoutAnswerIsUnknown(t *testing.T) {
	t.Parallel()
	for name, reaction := range map[string]fcmtest.Reaction{"timeout": {Silent: true}, "cut": {Drop: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake, c := setup(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			fake.React(func(fcmtest.Message) fcmtest.Reaction {
				if reaction.Silent {
					cancel() // like a timeout at this moment
				}
				return reaction
			})
			got := sendError(t, expect.Error(sender(t, c).Send(ctx, message())))
			test.EqOp(t, delivery.Unknown, got.Kind, test.Sprint(got))
			test.EqOp(t, 1, len(fake.Messages()), test.Sprint("messages were accepted"))
		})
	}
}

// unusedURL is a URL where no server ever listens. A port that was just closed could be reused.
const unusedURL = "http://127.0.0.1:1"

func TestSend_WithoutConnectionIsTransient(t *testing.T) {
	t.Parallel()
	_, c := setup(t)
	other := c
	c.BaseURL, other.TokenURL = unusedURL, unusedURL
	test.EqOp(t, delivery.Transient, fails(t, sender(t, c), message()).Kind, test.Sprint("refused connection"))
	test.EqOp(t, delivery.Transient, fails(t, sender(t, other), message()).Kind, test.Sprint("no token server"))
}

func TestSend_ClassifiesAccessTokenErrors(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]delivery.FailureKind{
		400: delivery.Misconfigured, 401: delivery.Misconfigured, 429: delivery.Transient, 503: delivery.Transient,
	} {
		fake, c := setup(t)
		fake.RefuseTokens(status)
		s := sender(t, c)
		test.EqOp(t, want, fails(t, s, message()).Kind, test.Sprint(status))
		sends, tokens := fake.Requests()
		test.EqOp(t, 0, sends, test.Sprint("sends"))
		test.EqOp(t, 1, tokens, test.Sprint("requests for access tokens"))
		fake.RefuseTokens(0)
		expect.OK(t)(s.Send(t.Context(), message())) // the key works again
	}
}

func TestNew_RejectsInvalidCredentials(t *testing.T) {
	t.Parallel()
	fake, good := setup(t)
	for name, credentials := range map[string][]byte{
		"nothing":        nil,
		"not JSON":       []byte("x"),
		"another kind":   bytes.Replace(fake.Credentials, []byte("service_account"), []byte("external_account"), 1),
		"no project":     bytes.Replace(fake.Credentials, []byte(`"project_id"`), []byte(`"project"`), 1),
		"no key":         bytes.Replace(fake.Credentials, []byte(`"private_key"`), []byte(`"key"`), 1),
		"not an RSA key": ellipticKey(t, fake.Credentials),
		"a damaged key":  bytes.Replace(fake.Credentials, []byte(`KEY-----\nMII`), []byte(`KEY-----\nMIJ`), 1),
	} {
		c := good
		c.Credentials = credentials
		err := expect.Error(fcm.New(t.Context(), c))
		must.Error(t, err, must.Sprint(name))
		test.StrNotContains(t, err.Error(), "MII", test.Sprint(name, ": the error shows the key"))
	}
}

// ellipticKey returns credentials with a key that FCM's tokens cannot be signed with.
func ellipticKey(t *testing.T, credentials []byte) []byte {
	t.Helper()
	private := expect.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	der := expect.Value(x509.MarshalPKCS8PrivateKey(private))(t)
	var fields map[string]string
	must.NoError(t, json.Unmarshal(credentials, &fields))
	fields["private_key"] = string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	return expect.Value(json.Marshal(fields))(t)
}

func BenchmarkSend(b *testing.B) {
	fake := expect.Value(fcmtest.Start())(b)
	b.Cleanup(fake.Close)
	s := expect.Value(fcm.New(b.Context(), fcm.Config{
		Credentials: fake.Credentials, BaseURL: fake.URL, TokenURL: fake.TokenURL, Now: func() time.Time { return now },
	}))(b)
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			expect.OK(b)(s.Send(b.Context(), message()))
		}
	})
}
