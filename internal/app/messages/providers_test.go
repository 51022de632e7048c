package messages_test

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/provider/fcm/fcmtest"
	"github.com/berthhq/berth/internal/provider/smtp/smtptest"
	"github.com/berthhq/berth/internal/provider/twilio/twiliotest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

func TestMail_HasAllParts(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	mia := p.AddReachable("Mia")
	expect.OK(p.T)(p.App.Messages.UpdateNotificationSettings(
		p.T.Context(), p.Owner, nil, func(s *notify.Settings) { s.ReplyTo = "front.desk@example.com" },
	))
	p.MustPlace(mia, p.SessionAt(testkit.Noon.Add(48*time.Hour)))
	p.Deliver()
	mails := p.Mail.Mails()
	must.EqOp(t, 1, len(mails), must.Sprintf("%d mails", len(mails)))
	m := mails[0]
	test.EqOp(t, "Booked: Vinyasa, Wed 18 Mar, 13:00", m.Text("Subject"), test.Sprint("subject"))
	calendar, ok := m.Part("text/calendar")
	must.True(t, ok, must.Sprintf("%+v", calendar))
	test.EqOp(t, "REQUEST", calendar.Params["method"])
	test.True(t, contains(calendar.Body, "DTSTART:20260318T120000Z"), test.Sprintf("%+v", calendar))
	test.True(t, contains(calendar.Body, "mailto:front.desk@example.com"), test.Sprintf("%+v", calendar))
	for kind, want := range map[string]string{"text/plain": "Hello Mia", "text/html": "Hello Mia,<"} {
		part, ok := m.Part(kind)
		test.True(t, ok, test.Sprintf("%s: %+v", kind, part))
		test.True(t, contains(part.Body, want), test.Sprintf("%s: %+v", kind, part))
		test.True(t, contains(part.Body, "/unsubscribe/"), test.Sprintf("%s: %+v", kind, part))
	}
	got := m.Text("Reply-To")
	test.True(t, contains(got, "front.desk@example.com"), test.Sprintf("reply-to %q", got))
	test.EqOp(t, "List-Unsubscribe=One-Click", m.Text("List-Unsubscribe-Post"), test.Sprint("List-Unsubscribe-Post"))
	link := expect.Value(url.Parse(strings.Trim(m.Text("List-Unsubscribe"), "<> ")))(p.T)

	// Scanners open links; that stops nothing. Mail programs post, and that does, however often.
	get := httptest.NewRecorder()
	p.Pages.ServeHTTP(get, httptest.NewRequest(http.MethodGet, link.Path, http.NoBody))
	test.EqOp(t, http.StatusOK, get.Code, test.Sprintf("GET: %d %s", get.Code, get.Body))
	test.EqOp(t, 0, p.Count(`select count(*) from notification_preferences`),
		test.Sprintf("GET: %d %s", get.Code, get.Body))
	for range 2 {
		post := httptest.NewRequest(http.MethodPost, link.Path, strings.NewReader("List-Unsubscribe=One-Click"))
		post.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer := httptest.NewRecorder()
		p.Pages.ServeHTTP(answer, post)
		test.EqOp(t, http.StatusOK, answer.Code, test.Sprint("POST"))
	}
	p.MustPlace(mia, p.SessionAt(testkit.Noon.Add(72*time.Hour)))
	p.Deliver()
	test.EqOp(t, 1, len(p.Mail.Mails()), test.Sprint("mails after unsubscribing"))
	forged := httptest.NewRecorder()
	p.Pages.ServeHTTP(forged, httptest.NewRequest(http.MethodPost, link.Path[:len(link.Path)-2]+"AA", http.NoBody))
	test.EqOp(t, http.StatusNotFound, forged.Code, test.Sprint("a forged link"))
}

func TestTwilio_TimeoutCountsAsPossiblySent(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	p.Timeout = 2 * time.Second
	p.Twilio.React(func(twiliotest.Message) twiliotest.Reaction { return twiliotest.Reaction{Silent: true} })
	p.MustPlace(p.AddTextOnly("Mia"), p.SessionAt(testkit.Noon.Add(48*time.Hour)))
	p.Deliver()
	p.WantLog("unknown outcome", confirmed, "SMS POSSIBLY_SENT")
	taken := p.Twilio.Messages()
	must.EqOp(t, 1, len(taken), must.Sprintf("%d messages", len(taken)))
	// Twilio's calls tell, in whatever order and however often they come.
	for _, status := range []string{"sent", "delivered", "queued", "sent", "delivered"} {
		answer := p.Call(p.Twilio.Update(p.T.Context(), taken[0], status, 0))
		must.EqOp(t, http.StatusNoContent, answer.Code, must.Sprintf("%s: %d %s", status, answer.Code, answer.Body))
	}
	p.Later(2 * time.Minute)
	p.Later(2 * time.Minute)
	p.WantLog("it arrived, and is not sent again", confirmed, "SMS DELIVERED")
	test.EqOp(t, 1, len(p.Twilio.Messages()), test.Sprint("messages"))
	forged := expect.Value(p.Twilio.Update(p.T.Context(), taken[0], "failed", 30005))(p.T)
	forged.Header.Set("X-Twilio-Signature", "bm8=")
	test.EqOp(t, http.StatusNotFound, p.Call(forged, nil).Code, test.Sprint("a forged call"))
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
	test.EqOp(t, 1, p.Twilio.Requests(), test.Sprint("asked times within the time that Twilio wants to be left alone"))
	for range 40 {
		p.Later(15 * time.Second)
	}
	test.EqOp(t, 1, len(p.Twilio.Messages()), test.Sprint("messages"))
	test.EqOp(t, 3, p.Count(
		`select count(*) from deliveries where topic = 'BOOKING_CONFIRMED' and status = 'FAILED'
			and reason = 'PROVIDER_UNAVAILABLE'`,
	), test.Sprint("refusals in the log"))
}

func TestProviders_StopInvalidAddresses(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	p.FCM.React(func(fcmtest.Message) fcmtest.Reaction { return fcmtest.Unregistered })
	p.Mail.React(func(string) smtptest.Reaction { return smtptest.Reaction{Rcpt: "550 5.1.1 no such user"} })
	mia := p.AddReachable("Mia")
	expect.OK(p.T)(p.App.Messages.UpdateNotificationPreferences(
		p.T.Context(), mia, messages.PreferencesEdit{Chosen: notify.Preferences{{Topic: confirmed, Channel: sms}: true}},
	))
	p.MustPlace(mia, p.SessionAt(testkit.Noon.Add(48*time.Hour)))
	p.Deliver()
	p.Later(time.Second)
	test.EqOp(t, 0, p.Count(`select count(*) from devices`), test.Sprint("devices"))
	got := expect.Value(p.App.Messages.GetNotificationPreferences(p.T.Context(), mia, tenant.MemberID{}))(p.T)
	must.SliceLen(t, 1, got.Stops)
	test.EqOp(t, email, got.Stops[0].Channel)
	test.EqOp(t, notify.Bounced, got.Stops[0].Reason)
	test.EqOp(t, 1, len(p.Twilio.Messages()), test.Sprint("SMS instead of the push"))
	// A new address begins anew.
	p.Mail.React(func(string) smtptest.Reaction { return smtptest.Reaction{} })
	p.EditMember(mia, func(m *memberValue) { m.Email = "new@example.com" })
	p.MustPlace(mia, p.SessionAt(testkit.Noon.Add(96*time.Hour)))
	p.Deliver()
	test.EqOp(t, 1, len(p.Mail.Mails()), test.Sprint("mails to the new address"))
}

func TestCalendarFeed_ListsBookings(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	mia := p.AddReachable("Mia")
	booking := p.MustPlace(mia, p.SessionAt(testkit.Noon.Add(48*time.Hour))).Booking.ID
	p.MustPlace(p.AddReachable("Noa"), p.SessionAt(testkit.Noon.Add(50*time.Hour)))
	address := expect.Value(p.App.Messages.CreateCalendarFeed(p.T.Context(), mia))(p.T)
	fetch := func(address string) *httptest.ResponseRecorder {
		u := expect.Value(url.Parse(address))(p.T)
		answer := httptest.NewRecorder()
		p.Pages.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, u.Path, http.NoBody))
		return answer
	}
	a := fetch(address)
	test.EqOp(t, http.StatusOK, a.Code)
	test.EqOp(t, 1, strings.Count(a.Body.String(), "BEGIN:VEVENT"))
	test.True(t, contains(a.Body.String(), booking.String()), test.Sprintf("%d\n%s", a.Code, a.Body))
	for _, line := range []string{
		"NAME:Harbour Yoga", "UID:" + booking.String() + "@berth.example", "DTSTAMP:20260316T120000Z",
	} {
		test.StrContains(t, a.Body.String(), line+"\r\n")
	}
	second := expect.Value(p.App.Messages.CreateCalendarFeed(p.T.Context(), mia))(p.T)
	test.EqOp(t, http.StatusNotFound, fetch(address).Code, test.Sprint("the address before"))
	encode, text := base64.RawURLEncoding.EncodeToString, strings.TrimSuffix(path.Base(second), ".ics")
	raw := expect.Value(base64.RawURLEncoding.DecodeString(text))(t)
	for _, other := range []string{
		"", "?" + text[1:], text + "=", encode(raw[:15]), encode(raw[:31]), encode(append(raw, 0)),
		encode(append(make([]byte, 16), raw[16:]...)), encode(append(p.Tenant.UUID[:], make([]byte, 16)...)),
	} {
		expect.Reason(t, fault.LinkInvalid)(p.App.Messages.GetCalendarFeed(t.Context(), other))
	}
	p.Clock.Set(testkit.Noon.Add((48 + 90*24) * time.Hour))
	test.StrContains(t, fetch(second).Body.String(), "VEVENT")
	p.Clock.Advance(time.Second)
	test.StrNotContains(t, fetch(second).Body.String(), "VEVENT", test.Sprint("it goes back 90 days"))
	p.Clock.Set(testkit.Noon)
	expect.OK(p.T)(p.App.Bookings.CancelBooking(p.T.Context(), mia, bookings.CancelRequest{ID: booking}))
	a = fetch(second)
	test.EqOp(t, http.StatusOK, a.Code, test.Sprintf("after the cancellation: %d\n%s", a.Code, a.Body))
	test.False(t, contains(a.Body.String(), "VEVENT"), test.Sprintf("after the cancellation: %d\n%s", a.Code, a.Body))
	p.Deactivate(mia)
	test.EqOp(t, http.StatusNotFound, fetch(second).Code, test.Sprint("no longer a member"))
	expect.OK(p.T)(p.App.Accounts.ReactivateMember(p.T.Context(), p.Owner, mia.Member))
	p.NoError(p.App.Messages.DeleteCalendarFeed(p.T.Context(), mia))
	test.EqOp(t, http.StatusNotFound, fetch(second).Code, test.Sprint("after its end"))
}

func TestGuests_GetMessages(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	result := expect.Value(p.App.Bookings.Book(p.T.Context(), p.Owner, bookings.BookRequest{
		Session: p.SessionAt(testkit.Noon.Add(48 * time.Hour)), Party: 2, Channel: catalog.Phone, Hold: true, Guest: true,
		Contact: contact{Name: "Ida", Email: "ida@example.com"},
	}))(p.T)
	expect.OK(p.T)(p.App.Bookings.ConfirmBooking(p.T.Context(), p.Owner, bookings.ConfirmRequest{ID: result.Booking.ID}))
	p.Deliver()
	mails := p.Mail.Mails()
	must.SliceLen(t, 1, mails, must.Sprintf("%d mails", len(mails)))
	must.EqOp(t, "ida@example.com", mails[0].To[0], must.Sprintf("%d mails", len(mails)))
	p.Later(47*time.Hour + 30*time.Minute)
	n := len(p.Mail.Mails())
	test.True(t, n >= 2, test.Sprintf("a guest is reminded by mail: %d mails", n))
}
