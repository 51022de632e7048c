package twilio_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/provider/twilio"
	"github.com/berthhq/berth/internal/provider/twilio/twiliotest"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

var now = time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)

func setup(t *testing.T) (*twiliotest.Server, twilio.Config) {
	t.Helper()
	s := twiliotest.Start()
	t.Cleanup(s.Close)
	return s, twilio.Config{
		AccountSID: s.AccountSID, AuthToken: s.AuthToken, MessagingServiceSID: "MG1", BaseURL: s.URL,
		StatusCallback: "https://berth.example/webhooks/twilio/status?account=1", Transport: &http.Transport{},
		Timeout: 20 * time.Second, Now: func() time.Time { return now },
	}
}

func sender(t *testing.T, c twilio.Config) *twilio.Sender {
	t.Helper()
	return expect.Value(twilio.New(c))(t)
}

func message() delivery.Message {
	return delivery.Message{
		ID: tenant.MustParse[tenant.DeliveryID]("018f5e6e-0000-7000-8000-000000000001"), Channel: delivery.SMS,
		To: "+4915112345678", Text: "A place is free: Vinyasa, 18:00",
		ExpiresAt: now.Add(90*time.Second + 700*time.Millisecond),
	}
}

// fails sends a message, which must fail.
func fails(t *testing.T, c twilio.Config, m delivery.Message) *delivery.Error {
	t.Helper()
	return sendError(t, expect.Error(sender(t, c).Send(t.Context(), m)))
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
	got := expect.Value(sender(t, c).Send(t.Context(), message()))(t)
	want := []twiliotest.Message{{
		SID: got.ProviderID, To: "+4915112345678", Service: "MG1", Body: "A place is free: Vinyasa, 18:00",
		Validity:       90 * time.Second,
		StatusCallback: c.StatusCallback + "&delivery=018f5e6e-0000-7000-8000-000000000001",
	}}
	test.Eq(t, want, fake.Messages())
	test.EqOp(t, 1, got.Segments, test.Sprintf("receipt %+v", got))
	test.EqOp(t, delivery.Queued, got.Status, test.Sprintf("receipt %+v", got))
}

func TestSend_UsesNumberWithoutMessagingService(t *testing.T) {
	t.Parallel()
	fake, c := setup(t)
	c.MessagingServiceSID, c.From, c.StatusCallback = "", "+15005550006", ""
	m := message()
	m.ExpiresAt = now.Add(24 * time.Hour) // longer than Twilio keeps messages
	m.Text = strings.Repeat("ы", 71)
	got := expect.Value(sender(t, c).Send(t.Context(), m))(t)
	must.EqOp(t, 2, got.Segments, must.Sprintf("%+v", got))
	want := []twiliotest.Message{{To: m.To, From: "+15005550006", Body: m.Text}}
	test.Eq(t, want, fake.Messages(), test.Cmp(cmpopts.IgnoreFields(twiliotest.Message{}, "SID")))
}

// The codes are from https://www.twilio.com/docs/api/errors.
func TestSend_ClassifiesErrors(t *testing.T) {
	t.Parallel()
	html := "<html>Bad gateway</html>"
	is := func(kind delivery.FailureKind, code string) delivery.Error {
		return delivery.Error{Kind: kind, Code: code}
	}
	for name, tc := range map[string]struct {
		reaction twiliotest.Reaction
		want     delivery.Error
	}{
		"stopped":        {twiliotest.Refuse(400, 21610), is(delivery.OptedOut, "21610")},
		"invalid number": {twiliotest.Refuse(400, 21211), is(delivery.Unregistered, "21211")},
		"not a mobile":   {twiliotest.Refuse(400, 21614), is(delivery.Unregistered, "21614")},
		"landline":       {twiliotest.Refuse(400, 21635), is(delivery.Unregistered, "21635")},
		"country not on": {twiliotest.Refuse(400, 21408), is(delivery.Misconfigured, "21408")},
		"wrong sender":   {twiliotest.Refuse(400, 21606), is(delivery.Misconfigured, "21606")},
		"no route":       {twiliotest.Refuse(400, 21612), is(delivery.Permanent, "21612")},
		"too long":       {twiliotest.Refuse(400, 21617), is(delivery.Permanent, "21617")},
		"queue full":     {twiliotest.Refuse(429, 21611), is(delivery.Transient, "21611")},
		"rate limit": {
			twiliotest.Busy(7 * time.Second),
			delivery.Error{Kind: delivery.Transient, Code: "20429", RetryAfter: 7 * time.Second},
		},
		"rate limit, until a date": {
			twiliotest.Reaction{Status: 429, Code: 20429, RetryAfter: time.Minute, Date: true},
			delivery.Error{Kind: delivery.Transient, Code: "20429", RetryAfter: time.Minute},
		},
		"daily limit": {twiliotest.Refuse(429, 63038), is(delivery.Transient, "63038")},
		"credentials": {twiliotest.Refuse(401, 20003), is(delivery.Misconfigured, "20003")},
		"suspended":   {twiliotest.Refuse(403, 20005), is(delivery.Misconfigured, "20005")},
		// An unknown code is classified by the HTTP status.
		"new code, 400":      {twiliotest.Refuse(400, 29999), is(delivery.Permanent, "29999")},
		"new code, 401":      {twiliotest.Refuse(401, 29999), is(delivery.Misconfigured, "29999")},
		"new code, 403":      {twiliotest.Refuse(403, 29999), is(delivery.Misconfigured, "29999")},
		"new code, 404":      {twiliotest.Refuse(404, 29999), is(delivery.Misconfigured, "29999")},
		"new code, 409":      {twiliotest.Refuse(409, 29999), is(delivery.Permanent, "29999")},
		"new code, 429":      {twiliotest.Refuse(429, 29999), is(delivery.Transient, "29999")},
		"new code, 500":      {twiliotest.Refuse(500, 29999), is(delivery.Unknown, "29999")},
		"new code, 502":      {twiliotest.Refuse(502, 29999), is(delivery.Unknown, "29999")},
		"new code, 503":      {twiliotest.Refuse(503, 29999), is(delivery.Transient, "29999")},
		"new code, 504":      {twiliotest.Refuse(504, 29999), is(delivery.Unknown, "29999")},
		"server error":       {twiliotest.Refuse(500, 20500), is(delivery.Unknown, "20500")},
		"unavailable":        {twiliotest.Refuse(503, 20503), is(delivery.Transient, "20503")},
		"a proxy, 502":       {twiliotest.Reaction{Status: 502, Body: html}, is(delivery.Unknown, "HTTP 502")},
		"a proxy, 503":       {twiliotest.Reaction{Status: 503, Body: html}, is(delivery.Transient, "HTTP 503")},
		"a redirect":         {twiliotest.Reaction{Status: 302, Body: html}, is(delivery.Misconfigured, "HTTP 302")},
		"accepted, garbled":  {twiliotest.Reaction{Body: html}, is(delivery.Unknown, "")},
		"accepted, nameless": {twiliotest.Reaction{Body: "{}"}, is(delivery.Unknown, "")},
		"taken and failed": {
			twiliotest.Reaction{Status: 201, Body: `{"sid":"SM1","status":"failed","error_code":30007}`},
			is(delivery.Permanent, "30007"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake, c := setup(t)
			fake.React(func(twiliotest.Message) twiliotest.Reaction { return tc.reaction })
			got := fails(t, c, message())
			test.Eq(t, tc.want, *got, test.Cmp(cmpopts.IgnoreFields(delivery.Error{}, "Reason", "Err")))
			test.NotEqOp(t, "", got.Reason)
			test.StrNotContains(t, got.Error(), "+49", test.Sprint("the reason contains the number"))
			test.EqOp(t, 1, fake.Requests(), test.Sprint("requests"))
		})
	}
}

// What cannot be sent, or not any more, is told from what can be sent later. Nothing is accepted.
func TestSend_FailsBeforeItIsSent(t *testing.T) {
	t.Parallel()
	type input struct {
		Config  twilio.Config
		Message delivery.Message
	}
	expired := delivery.Error{Kind: delivery.Permanent, Code: "EXPIRED"}
	for name, tt := range map[string]struct {
		differ   vary.Fields
		want     delivery.Error
		requests int
	}{
		"expired":                {vary.Fields{"Message.ExpiresAt": now.Add(-time.Hour)}, expired, 0},
		"expires now":            {vary.Fields{"Message.ExpiresAt": now}, expired, 0},
		"expires within seconds": {vary.Fields{"Message.ExpiresAt": now.Add(999 * time.Millisecond)}, expired, 0},
		"wrong token": {
			vary.Fields{"Config.AuthToken": "wrong"}, delivery.Error{Kind: delivery.Misconfigured, Code: "20003"}, 1,
		},
		"no token": {
			vary.Fields{"Config.AuthToken": "not a token"},
			delivery.Error{Kind: delivery.Misconfigured, Code: "21224"}, 0,
		},
		// Not a port that was just closed, which could be reused.
		"no server": {
			vary.Fields{"Config.BaseURL": "http://127.0.0.1:1"}, delivery.Error{Kind: delivery.Transient}, 0,
		},
	} {
		fake, c := setup(t)
		in := vary.From(input{c, message()}, tt.differ)
		got := fails(t, in.Config, in.Message)
		test.Eq(t, tt.want, *got, test.Cmp(cmpopts.IgnoreFields(delivery.Error{}, "Reason", "Err")), test.Sprint(name))
		test.EqOp(t, tt.requests, fake.Requests(), test.Sprint(name, ": requests"))
		test.SliceEmpty(t, fake.Messages(), test.Sprint(name))
		_, network := errors.AsType[*net.OpError](error(got))
		test.EqOp(t, name == "no server", network, test.Sprint(name))
	}
}

// With many rate limit rejections every message is sent once, and no request is early.
func TestSend_SendsOnceAfterManyRateLimits(t *testing.T) {
	t.Parallel()
	fake, c := setup(t)
	refusals := make(map[string]int)
	fake.React(func(m twiliotest.Message) twiliotest.Reaction {
		if refusals[m.To]++; refusals[m.To] <= 4 {
			return twiliotest.Busy(3 * time.Second)
		}
		return twiliotest.Reaction{}
	})
	s := sender(t, c)
	backoff := delivery.Backoff{Base: time.Second, Max: 30 * time.Second}
	const many = 20
	for i := range many {
		m := message()
		m.To = fmt.Sprintf("+49151123456%02d", i)
		at := now
		for attempt := 1; ; attempt++ {
			_, err := s.Send(t.Context(), m)
			if err == nil {
				break
			}
			next, ok := backoff.Next(at, attempt, rand.Float64(), sendError(t, err).RetryAfter, m.ExpiresAt)
			must.True(t, ok, must.Sprintf("attempt %d: %s later, %t", attempt+1, next.Sub(at), ok))
			must.GreaterEq(t, 3*time.Second, next.Sub(at),
				must.Sprintf("attempt %d: %s later, %t", attempt+1, next.Sub(at), ok))
			at = next
		}
	}
	n := len(fake.Messages())
	test.EqOp(t, many, n, test.Sprintf("%d messages, %d requests", n, fake.Requests()))
	test.EqOp(t, 5*many, fake.Requests(), test.Sprintf("%d messages, %d requests", n, fake.Requests()))
}

// A request without an answer may have had an effect, and here it has.
func TestSend_WithoutAnswerIsUnknown(t *testing.T) {
	t.Parallel()
	for name, reaction := range map[string]twiliotest.Reaction{"timeout": {Silent: true}, "cut": {Drop: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake, c := setup(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			fake.React(func(twiliotest.Message) twiliotest.Reaction {
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

func TestSend_TimesOut(t *testing.T) {
	t.Parallel()
	fake, c := setup(t)
	c.Timeout = 50 * time.Millisecond
	fake.React(func(twiliotest.Message) twiliotest.Reaction { return twiliotest.Reaction{Silent: true} })
	got := fails(t, c, message())
	test.ErrorIs(t, got, context.DeadlineExceeded)
	test.NotEqOp(t, delivery.Permanent, got.Kind)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := fake.Requests()
	got = sendError(t, expect.Error(sender(t, c).Send(ctx, message())))
	test.ErrorIs(t, got, context.Canceled, test.Sprint("cancelled before: ", got))
	test.EqOp(t, delivery.Transient, got.Kind, test.Sprint("cancelled before: ", got))
	test.EqOp(t, before, fake.Requests())
}

func TestNew_RejectsInvalidConfig(t *testing.T) {
	t.Parallel()
	good := twilio.Config{AccountSID: "AC1", AuthToken: "t", From: "+15005550006"}
	expect.OK(t)(twilio.New(good))
	for name, spoilt := range map[string]vary.Fields{
		"no account":  {"AccountSID": ""},
		"no token":    {"AuthToken": ""},
		"no sender":   {"From": ""},
		"base":        {"BaseURL": "api.twilio.com"},
		"callback":    {"StatusCallback": "/webhooks/status"},
		"no such url": {"BaseURL": "http://[::1"},
	} {
		test.Error(t, expect.Error(twilio.New(vary.From(good, spoilt))), test.Sprint(name))
	}
}

func TestWebhook_ReadsUpdatesAndReplies(t *testing.T) {
	t.Parallel()
	fake, c := setup(t)
	var updates []twilio.StatusUpdate
	var replies []twilio.InboundSMS
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call, err := twilio.Webhook{AuthToken: fake.AuthToken, PublicURL: "http://" + r.Host + "/"}.Read(r)
		if err != nil {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		if strings.HasPrefix(r.URL.Path, "/status") {
			if u, err := call.Update(); err == nil {
				updates = append(updates, u)
			}
			return
		}
		if m, err := call.InboundSMS(); err == nil {
			replies = append(replies, m)
		}
	}))
	defer hook.Close()

	c.StatusCallback = hook.URL + "/status?tenant=a%2Fb"
	m := message()
	receipt := expect.Value(sender(t, c).Send(t.Context(), m))(t)
	sent := fake.Messages()[0]
	call := func(r *http.Request, err error) {
		t.Helper()
		must.NoError(t, err)
		res := expect.Value(hook.Client().Do(r))(t)
		must.EqOp(t, http.StatusOK, res.StatusCode, must.Sprintf("%v", res))
	}
	// Late, twice and out of order.
	for _, status := range []string{"sent", "undelivered", "sending", "sent", "undelivered", "receiving"} {
		code := 0
		if status == "undelivered" {
			code = 30005
		}
		call(fake.Update(t.Context(), sent, status, code))
	}
	failure := &delivery.Error{Kind: delivery.Unregistered, Code: "30005", Reason: "the number is not in service"}
	update := func(status delivery.Status, failure *delivery.Error) twilio.StatusUpdate {
		return twilio.StatusUpdate{Delivery: m.ID, ProviderID: receipt.ProviderID, Status: status, Failure: failure}
	}
	want := []twilio.StatusUpdate{
		update(delivery.Sent, nil), update(delivery.Undelivered, failure), update(delivery.Queued, nil),
		update(delivery.Sent, nil), update(delivery.Undelivered, failure), update("", nil),
	}
	test.Eq(t, want, updates)
	status := receipt.Status
	for _, u := range updates {
		status = delivery.Advance(status, u.Status)
	}
	test.EqOp(t, delivery.Undelivered, status, test.Sprint("ended as"))

	call(fake.Reply(t.Context(), hook.URL+"/sms", "SM9", m.To, "+15005550006", "1 K7QX & more"))
	stop := url.Values{
		"MessageSid": {"SM10"}, "From": {m.To}, "To": {"+15005550006"}, "Body": {"Stop"}, "OptOutType": {"STOP"},
	}
	call(fake.Call(t.Context(), hook.URL+"/sms", stop))
	wantReplies := []twilio.InboundSMS{
		{ProviderID: "SM9", From: m.To, To: "+15005550006", Text: "1 K7QX & more"},
		{ProviderID: "SM10", From: m.To, To: "+15005550006", Text: "Stop", OptOut: twilio.Stopped},
	}
	test.Eq(t, wantReplies, replies)
}

func TestWebhook_RejectsWrongSignatures(t *testing.T) {
	t.Parallel()
	const token, address = "12345", "https://berth.example/webhooks/twilio/sms?a=b%20c"
	form := url.Values{"MessageSid": {"SM1"}, "From": {"+14155550000"}, "Body": {"é 1 & 2"}}
	type input struct {
		Method, URI, Signature, Body string
		Hook                         twilio.Webhook
	}
	good := input{
		http.MethodPost, "/webhooks/twilio/sms?a=b%20c", twiliotest.Sign(token, address, form), form.Encode(),
		twilio.Webhook{AuthToken: token, PublicURL: "https://berth.example"},
	}
	bad, malformed := twilio.ErrSignature, twilio.ErrMalformed
	for name, tc := range map[string]struct {
		differ vary.Fields
		want   error
	}{
		"valid":         {nil, nil},
		"another body":  {vary.Fields{"Body": good.Body + "1"}, bad},
		"one more":      {vary.Fields{"Body": good.Body + "&To=x"}, bad},
		"no body":       {vary.Fields{"Body": ""}, bad},
		"not a form":    {vary.Fields{"Body": "%zz"}, bad},
		"huge":          {vary.Fields{"Body": strings.Repeat("a", 70_000)}, malformed},
		"unsigned":      {vary.Fields{"Signature": ""}, bad},
		"another path":  {vary.Fields{"URI": "/webhooks/twilio/status?a=b%20c"}, bad},
		"another query": {vary.Fields{"URI": good.URI + "&x"}, bad},
		"escaped other": {vary.Fields{"URI": "/webhooks/twilio/sms?a=b+c"}, bad},
		"other host":    {vary.Fields{"Hook.PublicURL": "https://evil.example"}, bad},
		"plain http":    {vary.Fields{"Hook.PublicURL": "http://berth.example"}, bad},
		"other account": {vary.Fields{"Hook.AuthToken": "54321"}, bad},
		"get":           {vary.Fields{"Method": http.MethodGet}, malformed},
		"no token": {
			vary.Fields{"Hook.AuthToken": "", "Signature": twiliotest.Sign("", address, form)}, bad,
		},
	} {
		in := vary.From(good, tc.differ)
		r := httptest.NewRequest(http.MethodPost, good.URI, strings.NewReader(in.Body))
		r.Method, r.RequestURI = in.Method, in.URI
		r.Header.Set("X-Twilio-Signature", in.Signature)
		test.ErrorIs(t, expect.Error(in.Hook.Read(r)), tc.want, test.Sprint(name))
	}
}

// The example of Twilio's documentation, in case the fake and the validator have the same bug.
func TestSign_MatchesDocumentation(t *testing.T) {
	t.Parallel()
	form := url.Values{
		"CallSid": {"CA1234567890ABCDE"}, "Caller": {"+12349013030"}, "Digits": {"1234"}, "From": {"+12349013030"},
		"To": {"+18005551212"},
	}
	const want = "0/KCTR6DLpKmkAf8muzZqo1nDgQ="
	test.EqOp(t, want, twiliotest.Sign("12345", "https://mycompany.com/myapp.php?foo=1&bar=2", form))
}

func TestCall_RejectsMalformed(t *testing.T) {
	t.Parallel()
	hook := twilio.Webhook{AuthToken: "t"}
	verify := func(address string, form url.Values) twilio.Callback {
		return expect.Value(hook.Verify(address, twiliotest.Sign("t", address, form), []byte(form.Encode())))(t)
	}
	const address = "https://a.example/"
	form := url.Values{"MessageSid": {"SM1"}, "MessageStatus": {"canceled"}}
	for name, err := range map[string]error{
		"a reply without a sender":    expect.Error(verify(address, url.Values{"Body": {"x"}}).InboundSMS()),
		"an update without a message": expect.Error(verify(address, url.Values{"MessageStatus": {"sent"}}).Update()),
		"an invalid delivery ID":      expect.Error(verify(address+"?delivery=7", form).Update()),
	} {
		test.ErrorIs(t, err, twilio.ErrMalformed, test.Sprint(name))
	}
	test.Eq(t, twilio.StatusUpdate{
		ProviderID: "SM1", Status: delivery.Failed,
		Failure: &delivery.Error{Kind: delivery.Permanent, Reason: "it could not be delivered"},
	}, expect.Value(verify(address, form).Update())(t))
}

func BenchmarkSend(b *testing.B) {
	fake := twiliotest.Start()
	b.Cleanup(fake.Close)
	s := expect.Value(twilio.New(twilio.Config{
		AccountSID: fake.AccountSID, AuthToken: fake.AuthToken, From: "+15005550006", BaseURL: fake.URL,
		Now: func() time.Time { return now },
	}))(b)
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			test.NoError(b, expect.Error(s.Send(b.Context(), message())))
		}
	})
}
