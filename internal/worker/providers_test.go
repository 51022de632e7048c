package worker_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/fcm"
	"github.com/berthhq/berth/internal/fcm/fcmtest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/smtp"
	"github.com/berthhq/berth/internal/smtp/smtptest"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/twilio"
	"github.com/berthhq/berth/internal/twilio/twiliotest"
	"github.com/berthhq/berth/internal/web"
	"github.com/berthhq/berth/internal/worker"
)

// providers are servers that speak what Twilio, FCM and mail servers speak; the real clients talk to them.
type providers struct {
	*house
	twilio *twiliotest.Server
	fcm    *fcmtest.Server
	mail   *smtptest.Server
	pages  http.Handler

	patience time.Duration // with Twilio's answer
}

func withProviders(t *testing.T, change ...func(*worker.Config, *app.Config)) *providers {
	t.Helper()
	p := &providers{twilio: twiliotest.Start(), patience: 20 * time.Second}
	t.Cleanup(p.twilio.Close)
	var err error
	if p.fcm, err = fcmtest.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.fcm.Close)
	if p.mail, err = smtptest.Start(smtptest.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.mail.Close)
	p.house = newHouse(t, func(wc *worker.Config, ac *app.Config) {
		now := ac.Now
		wc.Platform[messages.ProviderTwilio] = func(in tenant.TenantID) worker.Sender {
			s, err := twilio.New(twilio.Config{
				AccountSID: p.twilio.AccountSID, AuthToken: p.twilio.AuthToken, From: "+15005550006", BaseURL: p.twilio.URL,
				StatusCallback: p.app.Messages.TwilioStatusURL(in), Timeout: p.patience, Now: now,
			})
			if err != nil {
				t.Error(err)
			}
			return s
		}
		push, err := fcm.New(t.Context(), fcm.Config{Credentials: p.fcm.Credentials, BaseURL: p.fcm.URL, TokenURL: p.fcm.TokenURL, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		wc.Platform[messages.ProviderFCM] = func(tenant.TenantID) worker.Sender { return push }
		mails, err := smtp.New(smtp.Config{
			Host: p.mail.Host, Port: p.mail.Port, Security: smtp.Plaintext, From: notify.Mailbox{Address: "hello@berth.example"}, HostName: "berth.example", Now: now,
		})
		if err != nil {
			t.Fatal(err)
		}
		wc.Platform[messages.ProviderSMTP] = func(tenant.TenantID) worker.Sender { return mails }
		ac.MailFrom = "hello@berth.example"
		for _, f := range change {
			f(wc, ac)
		}
	})
	p.pages = web.Handler(web.Config{Services: p.app, Log: p.log(), PublicURL: "https://berth.example", TwilioToken: p.twilio.AuthToken})
	return p
}

// call hands a provider's call to the pages, as a proxy would.
func (p *providers) call(r *http.Request, err error) *httptest.ResponseRecorder {
	p.t.Helper()
	p.ok(err)
	incoming := httptest.NewRequest(r.Method, r.URL.String(), r.Body)
	incoming.Header = r.Header
	incoming.RequestURI = r.URL.RequestURI()
	incoming.Host = "10.0.0.7:8080" // behind a proxy, this is anybody's guess
	answer := httptest.NewRecorder()
	p.pages.ServeHTTP(answer, incoming)
	return answer
}

// deliver plans and sends what is due.
func (p *providers) deliver() {
	p.t.Helper()
	p.consume()
	p.ok(p.dispatcher.Deliver(p.ctx(), p.Tenant))
}

func (p *providers) later(d time.Duration) {
	p.t.Helper()
	p.clock.Set(p.clock.Now().Add(d))
	p.deliver()
}

// textOnly is a member who is told by SMS alone.
func (p *providers) textOnly() tenant.Caller {
	p.t.Helper()
	return p.textOnlyTo("Mia")
}

func (p *providers) textOnlyTo(name string) tenant.Caller {
	p.t.Helper()
	who := p.member(name)
	devices(p.house, who)
	_, err := p.app.Messages.UpdateNotificationPreferences(p.ctx(), who, messages.PreferencesEdit{Chosen: notify.Preferences{
		{Topic: confirmed, Channel: email}: false, {Topic: confirmed, Channel: sms}: true,
		{Topic: notify.Reminder, Channel: email}: false, {Topic: notify.Reminder, Channel: sms}: true,
	}})
	p.ok(err)
	return who
}

func TestAMailIsWhole(t *testing.T) {
	t.Parallel()
	p := withProviders(t)
	mia := p.member("Mia")
	_, err := p.app.Messages.UpdateNotificationSettings(p.ctx(), p.Owner, nil, func(s *notify.Settings) { s.ReplyTo = "front.desk@example.com" })
	p.ok(err)
	p.book(mia, p.session(noon.Add(48*time.Hour)))
	p.deliver()
	mails := p.mail.Mails()
	if len(mails) != 1 {
		t.Fatalf("%d mails", len(mails))
	}
	m := mails[0]
	if got := m.Text("Subject"); got != "Booked: Vinyasa, Wed 18 Mar, 13:00" {
		t.Errorf("subject %q", got)
	}
	calendar, ok := m.Part("text/calendar")
	if !ok || calendar.Params["method"] != "REQUEST" || !contains(calendar.Body, "DTSTART:20260318T120000Z") || !contains(calendar.Body, "mailto:front.desk@example.com") {
		t.Errorf("%+v", calendar)
	}
	for kind, want := range map[string]string{"text/plain": "Hello Mia", "text/html": "Hello Mia,<"} {
		if part, ok := m.Part(kind); !ok || !contains(part.Body, want) || !contains(part.Body, "/unsubscribe/") {
			t.Errorf("%s: %+v", kind, part)
		}
	}
	if got := m.Text("Reply-To"); !contains(got, "front.desk@example.com") {
		t.Errorf("reply-to %q", got)
	}
	if got := m.Text("List-Unsubscribe-Post"); got != "List-Unsubscribe=One-Click" {
		t.Errorf("List-Unsubscribe-Post %q", got)
	}
	link, err := url.Parse(strings.Trim(m.Text("List-Unsubscribe"), "<> "))
	p.ok(err)

	// Scanners open links; that stops nothing. Mail programs post, and that does, however often.
	get := httptest.NewRecorder()
	p.pages.ServeHTTP(get, httptest.NewRequest(http.MethodGet, link.Path, http.NoBody))
	if get.Code != http.StatusOK || p.count(`select count(*) from notification_preferences`) != 0 {
		t.Errorf("GET: %d %s", get.Code, get.Body)
	}
	for range 2 {
		post := httptest.NewRequest(http.MethodPost, link.Path, strings.NewReader("List-Unsubscribe=One-Click"))
		post.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer := httptest.NewRecorder()
		p.pages.ServeHTTP(answer, post)
		if answer.Code != http.StatusOK {
			t.Errorf("POST: %d", answer.Code)
		}
	}
	p.book(mia, p.session(noon.Add(72*time.Hour)))
	p.deliver()
	if n := len(p.mail.Mails()); n != 1 {
		t.Errorf("%d mails after unsubscribing", n)
	}
	forged := httptest.NewRecorder()
	p.pages.ServeHTTP(forged, httptest.NewRequest(http.MethodPost, link.Path[:len(link.Path)-2]+"AA", http.NoBody))
	if forged.Code != http.StatusNotFound {
		t.Errorf("a forged link: %d", forged.Code)
	}
}

func TestTwilioTakesAMessageAndDoesNotAnswer(t *testing.T) {
	t.Parallel()
	p := withProviders(t)
	p.patience = 2 * time.Second
	p.twilio.React(func(twiliotest.Message) twiliotest.Reaction { return twiliotest.Reaction{Silent: true} })
	p.book(p.textOnly(), p.session(noon.Add(48*time.Hour)))
	p.deliver()
	p.wantLines("nobody knows", confirmed, "SMS POSSIBLY_SENT")
	taken := p.twilio.Messages()
	if len(taken) != 1 {
		t.Fatalf("%d messages", len(taken))
	}
	// Twilio's calls tell, in whatever order and however often they come.
	for _, status := range []string{"sent", "delivered", "queued", "sent", "delivered"} {
		if answer := p.call(p.twilio.Update(p.ctx(), taken[0], status, 0)); answer.Code != http.StatusNoContent {
			t.Fatalf("%s: %d %s", status, answer.Code, answer.Body)
		}
	}
	p.later(2 * time.Minute)
	p.later(2 * time.Minute)
	p.wantLines("it arrived, and is not sent again", confirmed, "SMS DELIVERED")
	if n := len(p.twilio.Messages()); n != 1 {
		t.Errorf("%d messages", n)
	}
	forged, err := p.twilio.Update(p.ctx(), taken[0], "failed", 30005)
	p.ok(err)
	forged.Header.Set("X-Twilio-Signature", "bm8=")
	if answer := p.call(forged, nil); answer.Code != http.StatusForbidden {
		t.Errorf("a forged call: %d", answer.Code)
	}
}

func TestAStormOfRefusals(t *testing.T) {
	t.Parallel()
	p := withProviders(t)
	var refused atomic.Int32
	p.twilio.React(func(twiliotest.Message) twiliotest.Reaction {
		if refused.Add(1) <= 3 {
			return twiliotest.Busy(5 * time.Second)
		}
		return twiliotest.Reaction{}
	})
	p.book(p.textOnly(), p.session(noon.Add(48*time.Hour)))
	p.deliver()
	p.later(4 * time.Second)
	if n := p.twilio.Requests(); n != 1 {
		t.Errorf("asked %d times within the time that Twilio wants to be left alone", n)
	}
	for range 40 {
		p.later(15 * time.Second)
	}
	if n := len(p.twilio.Messages()); n != 1 {
		t.Errorf("%d messages", n)
	}
	if n := p.count(`select count(*) from deliveries where topic = 'BOOKING_CONFIRMED' and status = 'FAILED' and reason = 'PROVIDER_UNAVAILABLE'`); n != 3 {
		t.Errorf("%d refusals in the log", n)
	}
}

func TestAddressesThatAreGone(t *testing.T) {
	t.Parallel()
	p := withProviders(t)
	p.fcm.React(func(fcmtest.Message) fcmtest.Reaction { return fcmtest.Unregistered })
	p.mail.React(func(string) smtptest.Reaction { return smtptest.Reaction{Rcpt: "550 5.1.1 no such user"} })
	mia := p.member("Mia")
	_, err := p.app.Messages.UpdateNotificationPreferences(p.ctx(), mia, messages.PreferencesEdit{Chosen: notify.Preferences{{Topic: confirmed, Channel: sms}: true}})
	p.ok(err)
	p.book(mia, p.session(noon.Add(48*time.Hour)))
	p.deliver()
	p.later(time.Second)
	if n := p.count(`select count(*) from devices`); n != 0 {
		t.Errorf("%d devices", n)
	}
	got, err := p.app.Messages.GetNotificationPreferences(p.ctx(), mia, tenant.MemberID{})
	p.ok(err)
	if len(got.Stops) != 1 || got.Stops[0].Channel != email || got.Stops[0].Reason != notify.BouncedReason {
		t.Errorf("%+v", got.Stops)
	}
	if n := len(p.twilio.Messages()); n != 1 {
		t.Errorf("%d SMS instead of the push", n)
	}
	// A new address begins anew.
	p.mail.React(func(string) smtptest.Reaction { return smtptest.Reaction{} })
	_, err = p.app.Accounts.UpdateMe(p.ctx(), mia, nil, func(m *memberValue) error { m.Email = "new@example.com"; return nil })
	p.ok(err)
	p.book(mia, p.session(noon.Add(96*time.Hour)))
	p.deliver()
	if n := len(p.mail.Mails()); n != 1 {
		t.Errorf("%d mails to the new address", n)
	}
}

func TestStopAndStartBySMS(t *testing.T) {
	t.Parallel()
	p := withProviders(t)
	mia := p.textOnly()
	inbound := p.app.Messages.TwilioInboundURL(p.Tenant)
	say := func(text string) string {
		t.Helper()
		answer := p.call(p.twilio.Reply(p.ctx(), inbound, "SM1", p.phone(mia), "+15005550006", text))
		if answer.Code != http.StatusOK {
			t.Fatalf("%q: %d %s", text, answer.Code, answer.Body)
		}
		return answer.Body.String()
	}
	say("Stop.")
	say("Stop.")
	p.book(mia, p.session(noon.Add(48*time.Hour)))
	p.deliver()
	p.wantLines("after STOP", confirmed, " DROPPED OPTED_OUT")
	if got := say("1 4821"); !contains(got, "no longer open") {
		t.Errorf("an answer to no offer: %s", got)
	}
	say("START")
	p.book(mia, p.session(noon.Add(72*time.Hour)))
	p.clock.Set(noon.Add(time.Second))
	p.deliver()
	p.wantLines("after START", confirmed, " DROPPED OPTED_OUT", "SMS QUEUED")
	other := p.app.Messages.TwilioInboundURL(tenant.New[tenant.TenantID](noon))
	if answer := p.call(p.twilio.Reply(p.ctx(), other, "SM2", p.phone(mia), "+15005550006", "STOP")); answer.Code != http.StatusOK && answer.Code != http.StatusServiceUnavailable {
		t.Errorf("a tenant that is none: %d", answer.Code)
	}
}

func TestACalendarFeed(t *testing.T) {
	t.Parallel()
	p := withProviders(t)
	mia := p.member("Mia")
	booking := p.book(mia, p.session(noon.Add(48*time.Hour))).Booking.ID
	p.book(p.member("Noa"), p.session(noon.Add(50*time.Hour)))
	address, err := p.app.Messages.CreateCalendarFeed(p.ctx(), mia)
	p.ok(err)
	fetch := func(address string) *httptest.ResponseRecorder {
		u, err := url.Parse(address)
		p.ok(err)
		answer := httptest.NewRecorder()
		p.pages.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, u.Path, http.NoBody))
		return answer
	}
	if a := fetch(address); a.Code != http.StatusOK || strings.Count(a.Body.String(), "BEGIN:VEVENT") != 1 || !contains(a.Body.String(), booking.String()) {
		t.Errorf("%d\n%s", a.Code, a.Body)
	}
	second, err := p.app.Messages.CreateCalendarFeed(p.ctx(), mia)
	p.ok(err)
	if a := fetch(address); a.Code != http.StatusNotFound {
		t.Errorf("the address before: %d", a.Code)
	}
	_, err = p.app.Bookings.CancelBooking(p.ctx(), mia, bookings.CancelRequest{ID: booking})
	p.ok(err)
	if a := fetch(second); a.Code != http.StatusOK || contains(a.Body.String(), "VEVENT") {
		t.Errorf("after the cancellation: %d\n%s", a.Code, a.Body)
	}
	p.ok(p.app.Messages.DeleteCalendarFeed(p.ctx(), mia))
	if a := fetch(second); a.Code != http.StatusNotFound {
		t.Errorf("after its end: %d", a.Code)
	}
}

func TestGuestsAreTold(t *testing.T) {
	t.Parallel()
	p := withProviders(t)
	place, err := p.app.Bookings.Book(p.ctx(), p.Owner, bookings.BookRequest{
		Session: p.session(noon.Add(48 * time.Hour)), Party: 2, Channel: catalog.Phone, Hold: true, Guest: true,
		Contact: contact{Name: "Ida", Email: "ida@example.com"},
	})
	p.ok(err)
	_, err = p.app.Bookings.ConfirmBooking(p.ctx(), p.Owner, bookings.ConfirmRequest{ID: place.Booking.ID})
	p.ok(err)
	p.deliver()
	mails := p.mail.Mails()
	if len(mails) != 1 || mails[0].To[0] != "ida@example.com" {
		t.Fatalf("%d mails", len(mails))
	}
	p.later(47*time.Hour + 30*time.Minute)
	if n := len(p.mail.Mails()); n < 2 {
		t.Errorf("a guest is reminded by mail: %d mails", n)
	}
}
