package worker_test

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
	"github.com/berthhq/berth/internal/twilio/twiliotest"
)

// guest books by telephone for somebody who is no member.
func (h *house) guest(who contact, in tenant.SessionID) tenant.BookingID {
	h.t.Helper()
	place, err := h.app.Bookings.Book(h.ctx(), h.Owner, bookings.BookRequest{Session: in, Party: 1, Channel: catalog.Phone, Hold: true, Guest: true, Contact: who})
	h.ok(err)
	_, err = h.app.Bookings.ConfirmBooking(h.ctx(), h.Owner, bookings.ConfirmRequest{ID: place.Booking.ID})
	h.ok(err)
	return place.Booking.ID
}

// What guests say holds as what members say, for every later booking with their number or address, however it is written there.
func TestGuestsWhoStop(t *testing.T) {
	t.Parallel()
	start := noon.Add(48 * time.Hour)
	cancelled := func(p *providers, class tenant.SessionID) {
		p.t.Helper()
		_, err := p.app.Schedules.CancelSession(p.ctx(), p.Owner, class, "", true)
		p.ok(err)
		p.deliver()
	}
	ida := contact{Name: "Ida", Email: "Ida@example.com", Phone: "+49 (1511) 234-5678"}
	t.Run("nothing: mails and SMS, to the number in its full form", func(t *testing.T) {
		t.Parallel()
		p := withProviders(t)
		class := p.session(start)
		p.guest(ida, class)
		p.deliver()
		cancelled(p, class)
		p.wantLines("the log", notify.SessionCancelled, "SMS QUEUED", "EMAIL SENT")
		if sent := p.twilio.Messages(); len(sent) != 1 || sent[0].To != "+4915112345678" {
			t.Errorf("%+v", sent)
		}
	})
	t.Run("a number that does not say its country is written to by nobody", func(t *testing.T) {
		t.Parallel()
		p := withProviders(t)
		class := p.session(start)
		p.guest(contact{Name: "Ida", Phone: "01511 2345678"}, class)
		p.deliver()
		cancelled(p, class)
		p.wantLines("the log", notify.SessionCancelled, " DROPPED UNREACHABLE")
		if n := p.twilio.Requests(); n != 0 {
			t.Errorf("Twilio was asked %d times", n)
		}
	})
	t.Run("STOP by SMS", func(t *testing.T) {
		t.Parallel()
		p := withProviders(t)
		p.sayTo(p.app.Messages.TwilioInboundURL(p.Tenant), "+4915112345678", "STOP")
		class := p.session(start)
		p.guest(ida, class)
		p.deliver()
		cancelled(p, class)
		p.wantLines("the log", notify.SessionCancelled, " DROPPED OPTED_OUT", "EMAIL SENT")
		p.sayTo(p.app.Messages.TwilioInboundURL(p.Tenant), "+4915112345678", "START")
		class = p.session(start.Add(time.Hour))
		p.guest(ida, class)
		p.later(time.Second)
		cancelled(p, class)
		if n := len(p.twilio.Messages()); n != 1 {
			t.Errorf("%d SMS after START", n)
		}
	})
	t.Run("unsubscribed by a mail's link", func(t *testing.T) {
		t.Parallel()
		p := withProviders(t)
		p.guest(ida, p.session(start))
		p.deliver()
		mails := p.mail.Mails()
		if len(mails) != 1 {
			t.Fatalf("%d mails", len(mails))
		}
		link, err := url.Parse(strings.Trim(mails[0].Text("List-Unsubscribe"), "<>"))
		p.ok(err)
		post := httptest.NewRequest(http.MethodPost, link.Path, strings.NewReader("List-Unsubscribe=One-Click"))
		post.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer := httptest.NewRecorder()
		p.pages.ServeHTTP(answer, post)
		if answer.Code != http.StatusOK {
			t.Fatalf("%d %s", answer.Code, answer.Body)
		}
		p.clock.Set(start.Add(-24 * time.Hour))
		p.deliver()
		p.wantLines("the reminder", notify.Reminder, " DROPPED UNSUBSCRIBED")
		p.guest(contact{Name: "Ida", Email: "ida@Example.com"}, p.session(start.Add(time.Hour)))
		p.later(time.Second)
		if n := len(p.mail.Mails()); n != 1 {
			t.Errorf("%d mails after unsubscribing", n)
		}
	})
	t.Run("an address and a number that are gone", func(t *testing.T) {
		t.Parallel()
		p := withProviders(t)
		p.mail.React(func(string) smtptest.Reaction { return smtptest.Reaction{Rcpt: "550 5.1.1 no such user"} })
		p.twilio.React(func(twiliotest.Message) twiliotest.Reaction { return twiliotest.Refuse(400, 21614) })
		for i, want := range [][]string{
			{"SMS FAILED UNREGISTERED", "EMAIL FAILED UNREGISTERED", " DROPPED BOUNCED", " DROPPED BOUNCED"},
			{" DROPPED BOUNCED", " DROPPED BOUNCED"},
		} {
			class := p.session(start.Add(time.Duration(i) * time.Hour))
			p.guest(ida, class)
			cancelled(p, class)
			p.later(time.Second)
			lines := p.lines(notify.SessionCancelled)
			if diff := cmp.Diff(want, lines[4*i:]); diff != "" {
				t.Errorf("booking %d: %s", i+1, diff)
			}
		}
		if n := p.twilio.Requests(); n != 1 {
			t.Errorf("Twilio was asked %d times", n)
		}
	})
}
