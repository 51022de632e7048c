package messages_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/smtp/smtptest"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/messagetest"
	"github.com/berthhq/berth/internal/twilio/twiliotest"
)

// guest books by telephone for somebody who is no member.
func guest(h *messagetest.Studio, who contact, in tenant.SessionID) tenant.BookingID {
	h.T.Helper()
	place, err := h.App.Bookings.Book(
		h.T.Context(), h.Owner,
		bookings.BookRequest{Session: in, Party: 1, Channel: catalog.Phone, Hold: true, Guest: true, Contact: who},
	)
	h.NoError(err)
	_, err = h.App.Bookings.ConfirmBooking(h.T.Context(), h.Owner, bookings.ConfirmRequest{ID: place.Booking.ID})
	h.NoError(err)
	return place.Booking.ID
}

// What guests say holds as what members say, for every later booking with their number or address, however it is
// written there.
func TestGuests_CanStopMessages(t *testing.T) {
	t.Parallel()
	start := testkit.Noon.Add(48 * time.Hour)
	cancelled := func(p *messagetest.Servers, class tenant.SessionID) {
		p.T.Helper()
		_, err := p.App.Schedules.CancelSession(p.T.Context(), p.Owner, class, "", true)
		p.NoError(err)
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
		if sent := p.Twilio.Messages(); len(sent) != 1 || sent[0].To != "+4915112345678" {
			t.Errorf("%+v", sent)
		}
	})
	t.Run("a number that does not say its country is written to by nobody", func(t *testing.T) {
		t.Parallel()
		p := messagetest.WithServers(t)
		class := p.SessionAt(start)
		guest(p.Studio, contact{Name: "Ida", Phone: "01511 2345678"}, class)
		p.Deliver()
		cancelled(p, class)
		p.WantLog("the log", notify.SessionCancelled, " DROPPED UNREACHABLE")
		if n := p.Twilio.Requests(); n != 0 {
			t.Errorf("Twilio was asked %d times", n)
		}
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
		if n := len(p.Twilio.Messages()); n != 1 {
			t.Errorf("%d SMS after START", n)
		}
	})
	t.Run("unsubscribed by a mail's link", func(t *testing.T) {
		t.Parallel()
		p := messagetest.WithServers(t)
		guest(p.Studio, ida, p.SessionAt(start))
		p.Deliver()
		mails := p.Mail.Mails()
		if len(mails) != 1 {
			t.Fatalf("%d mails", len(mails))
		}
		link, err := url.Parse(strings.Trim(mails[0].Text("List-Unsubscribe"), "<>"))
		p.NoError(err)
		post := httptest.NewRequest(http.MethodPost, link.Path, strings.NewReader("List-Unsubscribe=One-Click"))
		post.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer := httptest.NewRecorder()
		p.Pages.ServeHTTP(answer, post)
		if answer.Code != http.StatusOK {
			t.Fatalf("%d %s", answer.Code, answer.Body)
		}
		p.Clock.Set(start.Add(-24 * time.Hour))
		p.Deliver()
		p.WantLog("the reminder", notify.Reminder, " DROPPED UNSUBSCRIBED")
		guest(p.Studio, contact{Name: "Ida", Email: "ida@Example.com"}, p.SessionAt(start.Add(time.Hour)))
		p.Later(time.Second)
		if n := len(p.Mail.Mails()); n != 1 {
			t.Errorf("%d mails after unsubscribing", n)
		}
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
			lines := p.Log(notify.SessionCancelled)
			if diff := cmp.Diff(want, lines[4*i:]); diff != "" {
				t.Errorf("booking %d: %s", i+1, diff)
			}
		}
		if n := p.Twilio.Requests(); n != 1 {
			t.Errorf("Twilio was asked %d times", n)
		}
	})
}
