package messages_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/provider/smtp/smtptest"
	"github.com/berthhq/berth/internal/provider/twilio/twiliotest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// guest books by phone for a person who is not a member.
func guest(studio *messagetest.Studio, who contact, in tenant.SessionID) tenant.BookingID {
	studio.T.Helper()
	result := expect.Value(studio.App.Bookings.Book(
		studio.T.Context(), studio.Owner,
		bookings.BookRequest{Session: in, Party: 1, Channel: catalog.Phone, Hold: true, Guest: true, Contact: who},
	))(studio.T)
	expect.OK(studio.T)(studio.App.Bookings.ConfirmBooking(
		studio.T.Context(), studio.Owner, bookings.ConfirmRequest{ID: result.Booking.ID},
	))
	return result.Booking.ID
}

// What guests say holds as what members say, for every later booking with their number or address, however it is
// written there.
func TestGuests_CanStopMessages(t *testing.T) {
	t.Parallel()
	start := testkit.Noon.Add(48 * time.Hour)
	cancelled := func(p *messagetest.Servers, class tenant.SessionID) {
		p.T.Helper()
		expect.OK(p.T)(p.App.Schedules.CancelSession(p.T.Context(), p.Owner, class, schedules.Removal{Notify: true}))
		p.Deliver()
	}
	ida := contact{Name: "Ida", Email: "Ida@example.com", Phone: "+49 (1511) 234-5678"}
	t.Run("nothing: mails and SMS, to the number in its full form", func(t *testing.T) {
		t.Parallel()
		p := messagetest.WithServers(t)
		class := p.SessionAt(start)
		guest(p.Studio, ida, class)
		p.Deliver()
		cancelled(p, class)
		p.WantLog("the log", notify.SessionCancelled, "SMS QUEUED", "EMAIL SENT")
		sent := p.Twilio.Messages()
		must.SliceLen(t, 1, sent)
		test.EqOp(t, "+4915112345678", sent[0].To)
	})
	t.Run("STOP by SMS", func(t *testing.T) {
		t.Parallel()
		p := messagetest.WithServers(t)
		p.ReceiveSMS(p.App.Messages.TwilioInboundURL(p.Tenant), "+4915112345678", "STOP")
		class := p.SessionAt(start)
		guest(p.Studio, ida, class)
		p.Deliver()
		cancelled(p, class)
		p.WantLog("the log", notify.SessionCancelled, " DROPPED OPTED_OUT", "EMAIL SENT")
		p.ReceiveSMS(p.App.Messages.TwilioInboundURL(p.Tenant), "+4915112345678", "START")
		class = p.SessionAt(start.Add(time.Hour))
		guest(p.Studio, ida, class)
		p.Later(time.Second)
		cancelled(p, class)
		test.EqOp(t, 1, len(p.Twilio.Messages()), test.Sprint("SMS after START"))
	})
	t.Run("unsubscribed by a mail's link", func(t *testing.T) {
		t.Parallel()
		p := messagetest.WithServers(t)
		guest(p.Studio, ida, p.SessionAt(start))
		p.Deliver()
		mails := p.Mail.Mails()
		must.EqOp(t, 1, len(mails), must.Sprintf("%d mails", len(mails)))
		link := expect.Value(url.Parse(strings.Trim(mails[0].Text("List-Unsubscribe"), "<>")))(p.T)
		post := httptest.NewRequest(http.MethodPost, link.Path, strings.NewReader("List-Unsubscribe=One-Click"))
		post.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer := httptest.NewRecorder()
		p.Pages.ServeHTTP(answer, post)
		must.EqOp(t, http.StatusOK, answer.Code, must.Sprintf("%d %s", answer.Code, answer.Body))
		p.Clock.Set(start.Add(-24 * time.Hour))
		p.Deliver()
		p.WantLog("the reminder", notify.Reminder, " DROPPED UNSUBSCRIBED")
		guest(p.Studio, contact{Name: "Ida", Email: "ida@Example.com"}, p.SessionAt(start.Add(time.Hour)))
		p.Later(time.Second)
		test.EqOp(t, 1, len(p.Mail.Mails()), test.Sprint("mails after unsubscribing"))
	})
	t.Run("an address and a number that are gone", func(t *testing.T) {
		t.Parallel()
		p := messagetest.WithServers(t)
		p.Mail.React(func(string) smtptest.Reaction { return smtptest.Reaction{Rcpt: "550 5.1.1 no such user"} })
		p.Twilio.React(func(twiliotest.Message) twiliotest.Reaction { return twiliotest.Refuse(400, 21614) })
		for i, want := range [][]string{
			{"SMS FAILED UNREGISTERED", "EMAIL FAILED UNREGISTERED", " DROPPED BOUNCED", " DROPPED BOUNCED"},
			{" DROPPED BOUNCED", " DROPPED BOUNCED"},
		} {
			class := p.SessionAt(start.Add(time.Duration(i) * time.Hour))
			guest(p.Studio, ida, class)
			cancelled(p, class)
			p.Later(time.Second)
			test.Eq(t, want, p.Log(notify.SessionCancelled)[4*i:], test.Sprintf("booking %d", i+1))
		}
		test.EqOp(t, 1, p.Twilio.Requests(), test.Sprint("Twilio was asked times"))
	})
}
