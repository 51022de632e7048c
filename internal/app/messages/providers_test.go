package messages_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/fcm/fcmtest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/smtp/smtptest"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/messagetest"
	"github.com/berthhq/berth/internal/twilio/twiliotest"
)

func TestMail_HasAllParts(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	mia := p.AddReachable("Mia")
	_, err := p.App.Messages.UpdateNotificationSettings(
		p.T.Context(), p.Owner, nil, func(s *notify.Settings) { s.ReplyTo = "front.desk@example.com" },
	)
	p.NoError(err)
	p.MustPlace(mia, p.SessionAt(testkit.Noon.Add(48*time.Hour)))
	p.Deliver()
	mails := p.Mail.Mails()
	if len(mails) != 1 {
		t.Fatalf("%d mails", len(mails))
	}
	m := mails[0]
	if got := m.Text("Subject"); got != "Booked: Vinyasa, Wed 18 Mar, 13:00" {
		t.Errorf("subject %q", got)
	}
	calendar, ok := m.Part("text/calendar")
	if !ok || calendar.Params["method"] != "REQUEST" || !contains(calendar.Body, "DTSTART:20260318T120000Z") ||
		!contains(calendar.Body, "mailto:front.desk@example.com") {
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
	p.NoError(err)

	// Scanners open links; that stops nothing. Mail programs post, and that does, however often.
	get := httptest.NewRecorder()
	p.Pages.ServeHTTP(get, httptest.NewRequest(http.MethodGet, link.Path, http.NoBody))
	if get.Code != http.StatusOK || p.Count(`select count(*) from notification_preferences`) != 0 {
		t.Errorf("GET: %d %s", get.Code, get.Body)
	}
	for range 2 {
		post := httptest.NewRequest(http.MethodPost, link.Path, strings.NewReader("List-Unsubscribe=One-Click"))
		post.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer := httptest.NewRecorder()
		p.Pages.ServeHTTP(answer, post)
		if answer.Code != http.StatusOK {
			t.Errorf("POST: %d", answer.Code)
		}
	}
	p.MustPlace(mia, p.SessionAt(testkit.Noon.Add(72*time.Hour)))
	p.Deliver()
	if n := len(p.Mail.Mails()); n != 1 {
		t.Errorf("%d mails after unsubscribing", n)
	}
	forged := httptest.NewRecorder()
	p.Pages.ServeHTTP(forged, httptest.NewRequest(http.MethodPost, link.Path[:len(link.Path)-2]+"AA", http.NoBody))
	if forged.Code != http.StatusNotFound {
		t.Errorf("a forged link: %d", forged.Code)
	}
}

func TestTwilio_TimeoutCountsAsPossiblySent(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	p.Timeout = 2 * time.Second
	p.Twilio.React(func(twiliotest.Message) twiliotest.Reaction { return twiliotest.Reaction{Silent: true} })
	p.MustPlace(p.AddTextOnly("Mia"), p.SessionAt(testkit.Noon.Add(48*time.Hour)))
	p.Deliver()
	p.WantLog("nobody knows", confirmed, "SMS POSSIBLY_SENT")
	taken := p.Twilio.Messages()
	if len(taken) != 1 {
		t.Fatalf("%d messages", len(taken))
	}
	// Twilio's calls tell, in whatever order and however often they come.
	for _, status := range []string{"sent", "delivered", "queued", "sent", "delivered"} {
		if answer := p.Call(p.Twilio.Update(p.T.Context(), taken[0], status, 0)); answer.Code != http.StatusNoContent {
			t.Fatalf("%s: %d %s", status, answer.Code, answer.Body)
		}
	}
	p.Later(2 * time.Minute)
	p.Later(2 * time.Minute)
	p.WantLog("it arrived, and is not sent again", confirmed, "SMS DELIVERED")
	if n := len(p.Twilio.Messages()); n != 1 {
		t.Errorf("%d messages", n)
	}
	forged, err := p.Twilio.Update(p.T.Context(), taken[0], "failed", 30005)
	p.NoError(err)
	forged.Header.Set("X-Twilio-Signature", "bm8=")
	if answer := p.Call(forged, nil); answer.Code != http.StatusForbidden {
		t.Errorf("a forged call: %d", answer.Code)
	}
}

func TestTwilio_RetriesWhenRateLimited(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	var refused atomic.Int32
	p.Twilio.React(func(twiliotest.Message) twiliotest.Reaction {
		if refused.Add(1) <= 3 {
			return twiliotest.Busy(5 * time.Second)
		}
		return twiliotest.Reaction{}
	})
	p.MustPlace(p.AddTextOnly("Mia"), p.SessionAt(testkit.Noon.Add(48*time.Hour)))
	p.Deliver()
	p.Later(4 * time.Second)
	if n := p.Twilio.Requests(); n != 1 {
		t.Errorf("asked %d times within the time that Twilio wants to be left alone", n)
	}
	for range 40 {
		p.Later(15 * time.Second)
	}
	if n := len(p.Twilio.Messages()); n != 1 {
		t.Errorf("%d messages", n)
	}
	if n := p.Count(
		`select count(*) from deliveries where topic = 'BOOKING_CONFIRMED' and status = 'FAILED'
			and reason = 'PROVIDER_UNAVAILABLE'`,
	); n != 3 {
		t.Errorf("%d refusals in the log", n)
	}
}

func TestProviders_StopInvalidAddresses(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	p.FCM.React(func(fcmtest.Message) fcmtest.Reaction { return fcmtest.Unregistered })
	p.Mail.React(func(string) smtptest.Reaction { return smtptest.Reaction{Rcpt: "550 5.1.1 no such user"} })
	mia := p.AddReachable("Mia")
	_, err := p.App.Messages.UpdateNotificationPreferences(
		p.T.Context(), mia, messages.PreferencesEdit{Chosen: notify.Preferences{{Topic: confirmed, Channel: sms}: true}},
	)
	p.NoError(err)
	p.MustPlace(mia, p.SessionAt(testkit.Noon.Add(48*time.Hour)))
	p.Deliver()
	p.Later(time.Second)
	if n := p.Count(`select count(*) from devices`); n != 0 {
		t.Errorf("%d devices", n)
	}
	got, err := p.App.Messages.GetNotificationPreferences(p.T.Context(), mia, tenant.MemberID{})
	p.NoError(err)
	if len(got.Stops) != 1 || got.Stops[0].Channel != email || got.Stops[0].Reason != notify.BouncedReason {
		t.Errorf("%+v", got.Stops)
	}
	if n := len(p.Twilio.Messages()); n != 1 {
		t.Errorf("%d SMS instead of the push", n)
	}
	// A new address begins anew.
	p.Mail.React(func(string) smtptest.Reaction { return smtptest.Reaction{} })
	_, err = p.App.Accounts.UpdateMe(
		p.T.Context(), mia, nil, func(m *memberValue) error { m.Email = "new@example.com"; return nil },
	)
	p.NoError(err)
	p.MustPlace(mia, p.SessionAt(testkit.Noon.Add(96*time.Hour)))
	p.Deliver()
	if n := len(p.Mail.Mails()); n != 1 {
		t.Errorf("%d mails to the new address", n)
	}
}

func TestReplies_StopAndStart(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	mia := p.AddTextOnly("Mia")
	inbound := p.App.Messages.TwilioInboundURL(p.Tenant)
	say := func(text string) string {
		t.Helper()
		answer := p.Call(p.Twilio.Reply(p.T.Context(), inbound, "SM1", p.PhoneOf(mia), "+15005550006", text))
		if answer.Code != http.StatusOK {
			t.Fatalf("%q: %d %s", text, answer.Code, answer.Body)
		}
		return answer.Body.String()
	}
	say("Stop.")
	say("Stop.")
	p.MustPlace(mia, p.SessionAt(testkit.Noon.Add(48*time.Hour)))
	p.Deliver()
	p.WantLog("after STOP", confirmed, " DROPPED OPTED_OUT")
	if got := say("1 4821"); !contains(got, "no longer open") {
		t.Errorf("an answer to no offer: %s", got)
	}
	say("START")
	p.MustPlace(mia, p.SessionAt(testkit.Noon.Add(72*time.Hour)))
	p.Clock.Set(testkit.Noon.Add(time.Second))
	p.Deliver()
	p.WantLog("after START", confirmed, " DROPPED OPTED_OUT", "SMS QUEUED")
	other := p.App.Messages.TwilioInboundURL(tenant.New[tenant.TenantID](testkit.Noon))
	if answer := p.Call(
		p.Twilio.Reply(p.T.Context(), other, "SM2", p.PhoneOf(mia), "+15005550006", "STOP"),
	); answer.Code != http.StatusOK && answer.Code != http.StatusServiceUnavailable {
		t.Errorf("a tenant that is none: %d", answer.Code)
	}
}

func TestCalendarFeed_ListsBookings(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	mia := p.AddReachable("Mia")
	booking := p.MustPlace(mia, p.SessionAt(testkit.Noon.Add(48*time.Hour))).Booking.ID
	p.MustPlace(p.AddReachable("Noa"), p.SessionAt(testkit.Noon.Add(50*time.Hour)))
	address, err := p.App.Messages.CreateCalendarFeed(p.T.Context(), mia)
	p.NoError(err)
	fetch := func(address string) *httptest.ResponseRecorder {
		u, err := url.Parse(address)
		p.NoError(err)
		answer := httptest.NewRecorder()
		p.Pages.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, u.Path, http.NoBody))
		return answer
	}
	if a := fetch(address); a.Code != http.StatusOK || strings.Count(a.Body.String(), "BEGIN:VEVENT") != 1 ||
		!contains(a.Body.String(), booking.String()) {
		t.Errorf("%d\n%s", a.Code, a.Body)
	}
	second, err := p.App.Messages.CreateCalendarFeed(p.T.Context(), mia)
	p.NoError(err)
	if a := fetch(address); a.Code != http.StatusNotFound {
		t.Errorf("the address before: %d", a.Code)
	}
	_, err = p.App.Bookings.CancelBooking(p.T.Context(), mia, bookings.CancelRequest{ID: booking})
	p.NoError(err)
	if a := fetch(second); a.Code != http.StatusOK || contains(a.Body.String(), "VEVENT") {
		t.Errorf("after the cancellation: %d\n%s", a.Code, a.Body)
	}
	p.NoError(p.App.Messages.DeleteCalendarFeed(p.T.Context(), mia))
	if a := fetch(second); a.Code != http.StatusNotFound {
		t.Errorf("after its end: %d", a.Code)
	}
}

func TestGuests_GetMessages(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	place, err := p.App.Bookings.Book(p.T.Context(), p.Owner, bookings.BookRequest{
		Session: p.SessionAt(testkit.Noon.Add(48 * time.Hour)), Party: 2, Channel: catalog.Phone, Hold: true, Guest: true,
		Contact: contact{Name: "Ida", Email: "ida@example.com"},
	})
	p.NoError(err)
	_, err = p.App.Bookings.ConfirmBooking(p.T.Context(), p.Owner, bookings.ConfirmRequest{ID: place.Booking.ID})
	p.NoError(err)
	p.Deliver()
	mails := p.Mail.Mails()
	if len(mails) != 1 || mails[0].To[0] != "ida@example.com" {
		t.Fatalf("%d mails", len(mails))
	}
	p.Later(47*time.Hour + 30*time.Minute)
	if n := len(p.Mail.Mails()); n < 2 {
		t.Errorf("a guest is reminded by mail: %d mails", n)
	}
}
