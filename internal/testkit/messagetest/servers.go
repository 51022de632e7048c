package messagetest

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/provider"
	"github.com/berthhq/berth/internal/provider/dnstest"
	"github.com/berthhq/berth/internal/provider/fcm"
	"github.com/berthhq/berth/internal/provider/fcm/fcmtest"
	"github.com/berthhq/berth/internal/provider/smtp"
	"github.com/berthhq/berth/internal/provider/smtp/smtptest"
	"github.com/berthhq/berth/internal/provider/twilio"
	"github.com/berthhq/berth/internal/provider/twilio/twiliotest"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/web"
	"github.com/berthhq/berth/internal/worker"
)

// Servers is a studio whose messages go through the real clients to fake servers of Twilio, FCM and mail. The servers
// call back to its pages.
type Servers struct {
	*Studio
	Twilio *twiliotest.Server
	FCM    *fcmtest.Server
	Mail   *smtptest.Server
	DNS    *dnstest.Server
	Pages  http.Handler
	// Timeout is how long Twilio's client waits for an answer.
	Timeout time.Duration
}

// Number is the number from which the platform sends SMS.
const Number = "+15005550006"

// WithServers creates a studio in a database of its own, and the servers.
func WithServers(t *testing.T, change ...func(*worker.Config, *app.Config)) *Servers {
	t.Helper()
	s := &Servers{Twilio: twiliotest.Start(), Timeout: 20 * time.Second}
	t.Cleanup(s.Twilio.Close)
	s.FCM = expect.Value(fcmtest.Start())(t)
	t.Cleanup(s.FCM.Close)
	s.Mail = expect.Value(smtptest.Start(smtptest.Options{}))(t)
	t.Cleanup(s.Mail.Close)
	s.DNS = expect.Value(dnstest.Start())(t)
	t.Cleanup(s.DNS.Close)
	s.Studio = New(t, func(wc *worker.Config, ac *app.Config) {
		s.connect(t, wc, ac)
		for _, f := range change {
			f(wc, ac)
		}
	})
	s.Pages = web.Handler(web.Config{
		Services: s.App, Log: slog.New(slog.DiscardHandler), PublicURL: "https://berth.example",
		TwilioToken: func() string { return s.Twilio.AuthToken },
	})
	return s
}

// connect makes the clients of the servers the platform's senders.
func (s *Servers) connect(t *testing.T, wc *worker.Config, ac *app.Config) {
	t.Helper()
	wc.Platform[messages.ProviderTwilio] = func(in tenant.TenantID) worker.Sender {
		sms := expect.Value(twilio.New(twilio.Config{
			AccountSID: s.Twilio.AccountSID, AuthToken: s.Twilio.AuthToken, From: Number, BaseURL: s.Twilio.URL,
			StatusCallback: s.App.Messages.TwilioStatusURL(in), Timeout: s.Timeout, Now: ac.Now,
		}))(t)
		return sms
	}
	push := expect.Value(fcm.New(t.Context(), fcm.Config{
		Credentials: s.FCM.Credentials, BaseURL: s.FCM.URL, TokenURL: s.FCM.TokenURL, Now: ac.Now,
	}))(t)
	wc.Platform[messages.ProviderFCM] = func(tenant.TenantID) worker.Sender { return push }
	mails := expect.Value(smtp.New(smtp.Config{
		Host: s.Mail.Host, Port: s.Mail.Port, Security: smtp.Plaintext, HostName: "berth.example", Now: ac.Now,
		From: delivery.Mailbox{Address: "hello@berth.example"},
	}))(t)
	wc.Platform[messages.ProviderSMTP] = func(tenant.TenantID) worker.Sender { return mails }
	ac.MailFrom = "hello@berth.example"
	ac.LookupTXT = provider.TXT(s.DNS.Address)
}

// Call hands a server's callback to the pages, as a proxy does.
func (s *Servers) Call(r *http.Request, err error) *httptest.ResponseRecorder {
	s.T.Helper()
	s.NoError(err)
	incoming := httptest.NewRequestWithContext(r.Context(), r.Method, r.URL.String(), r.Body)
	incoming.Header = r.Header
	incoming.RequestURI = r.URL.RequestURI()
	incoming.Host = "10.0.0.7:8080" // behind a proxy, the host can be anything
	answer := httptest.NewRecorder()
	s.Pages.ServeHTTP(answer, incoming)
	return answer
}

// ReceiveSMS sends an SMS from a number to the address of a webhook, and returns the answer.
func (s *Servers) ReceiveSMS(address, from, text string) string {
	s.T.Helper()
	answer := s.Call(s.Twilio.Reply(s.T.Context(), address, "SM1", from, Number, text))
	must.EqOp(s.T, http.StatusOK, answer.Code, must.Sprintf("%q: %d %s", text, answer.Code, answer.Body))
	return answer.Body.String()
}

// Later moves the clock and delivers what is due.
func (s *Servers) Later(d time.Duration) {
	s.T.Helper()
	s.Clock.Advance(d)
	s.Deliver()
}

// AddTextOnly creates a member who is told of bookings and reminded by SMS only.
func (s *Servers) AddTextOnly(name string) tenant.Caller {
	s.T.Helper()
	who := s.AddReachable(name)
	s.RemoveDevices(who)
	s.Prefer(who, notify.Preferences{
		{Topic: notify.BookingConfirmed, Channel: delivery.Email}: false,
		{Topic: notify.BookingConfirmed, Channel: delivery.SMS}:   true,
		{Topic: notify.Reminder, Channel: delivery.Email}:         false,
		{Topic: notify.Reminder, Channel: delivery.SMS}:           true,
	})
	return who
}
