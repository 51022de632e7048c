package worker_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fcm/fcmtest"
	"github.com/berthhq/berth/internal/localbox"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/smtp/smtptest"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/twilio"
	"github.com/berthhq/berth/internal/twilio/twiliotest"
	"github.com/berthhq/berth/internal/worker"
)

// Where nobody has given credentials, every message stands in the local outbox, whole, and nowhere else.
func TestTheLocalOutbox(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(wc *worker.Config, ac *app.Config) {
		ac.PlatformSenders = nil
		wc.Platform = map[string]func(tenant.TenantID) worker.Sender{messages.LocalOutbox: func(tenant.TenantID) worker.Sender { return localbox.Sender{} }}
	})
	mia := h.member("Mia")
	h.second(mia)
	_, err := h.app.Messages.UpdateNotificationPreferences(h.ctx(), mia, messages.PreferencesEdit{Chosen: notify.Preferences{{Topic: notify.Reminder, Channel: push}: false, {Topic: notify.Reminder, Channel: sms}: true}})
	h.ok(err)
	start := noon.Add(48 * time.Hour)
	booking := h.book(mia, h.session(start)).Booking.ID
	h.run()
	h.at(start.Add(-24 * time.Hour))
	h.neighbour("Dock Pilates") // whose outbox is empty

	box, err := h.app.Messages.ListDeliveries(h.ctx(), h.Owner, messages.DeliveryQuery{Booking: booking, Outbox: true, Limit: 9})
	h.ok(err)
	found := make(map[notify.Channel]messages.Delivery)
	for _, d := range box {
		if d.Provider != messages.LocalOutbox || d.Status != notify.Sent || d.Member != mia.Member || d.ProviderID == "" {
			t.Errorf("%+v", d)
		}
		found[d.Channel] = d
	}
	if len(box) != 3 || len(found) != 3 { // of two devices one has it whole
		t.Fatalf("%d messages", len(box))
	}
	if m := found[email].Content; m.Subject != "Booked: Vinyasa, Wed 18 Mar, 13:00" || !contains(m.Text, "Hello Mia") || !contains(m.HTML, "<p style=") ||
		!contains(m.HTML, "/unsubscribe/") || !contains(m.Calendar, "METHOD:REQUEST") {
		t.Errorf("%+v", m)
	}
	if m := found[push].Content; !contains(m.Subject+m.Text, "Vinyasa") || m.Link == "" {
		t.Errorf("%+v", m)
	}
	if m := found[sms]; m.Segments != 1 || m.Content.Segments != 1 || !m.Content.GSM7 || !contains(m.Content.Text, "13:00") {
		t.Errorf("%+v", m)
	}
	other := h.neighbour("Silent Golf")
	if box, err := other.app.Messages.ListDeliveries(h.ctx(), other.Owner, messages.DeliveryQuery{Outbox: true, Limit: 9}); err != nil || len(box) != 0 {
		t.Errorf("another tenant's: %+v, %v", box, err)
	}
	// What a provider carries is nobody's to read.
	carried := newHouse(t)
	carried.book(carried.member("Mia"), carried.session(start))
	carried.run()
	if box, err := carried.app.Messages.ListDeliveries(h.ctx(), carried.Owner, messages.DeliveryQuery{Outbox: true, Limit: 9}); err != nil || len(box) != 0 {
		t.Errorf("%+v, %v", box, err)
	}
}

// A tenant with an account of its own sends by that and no other, as soon as it has one and as it stands. Reports on its messages are signed by
// that account's token. What is wrong with it is its own trouble.
func TestATenantsOwnAccount(t *testing.T) {
	t.Parallel()
	own := twiliotest.Start()
	t.Cleanup(own.Close)
	own.AccountSID, own.AuthToken = "AC"+strings.Repeat("0b", 16), strings.Repeat("0dd5", 8)
	var p *providers
	p = withProviders(t, func(wc *worker.Config, ac *app.Config) {
		wc.Open = func(_ context.Context, in tenant.TenantID, provider string, s messages.Senders) (worker.Sender, error) {
			if provider != messages.ProviderTwilio || s.Twilio == nil {
				return nil, errors.New("no such account")
			}
			return twilio.New(twilio.Config{
				AccountSID: s.Twilio.AccountSID, AuthToken: s.Twilio.AuthToken, From: s.Twilio.From, BaseURL: own.URL,
				StatusCallback: p.app.Messages.TwilioStatusURL(in), Timeout: p.patience, Now: ac.Now,
			})
		}
	})
	other := p.neighbour("Dock Pilates")
	account := func(token, from string) {
		t.Helper()
		_, err := p.app.Messages.UpdateSenders(p.ctx(), p.Owner, nil, func(s *messages.Senders) {
			s.Twilio = &messages.TwilioAccount{AccountSID: own.AccountSID, AuthToken: token, From: from}
		})
		p.ok(err)
	}
	book := func(name string) {
		t.Helper()
		p.book(p.textOnlyTo(name), p.session(noon.Add(48*time.Hour)))
		p.later(time.Second)
	}
	book("Mia")
	account(strings.Repeat("bad0", 8), "+15005550001")
	book("Noa")
	p.wantLines("a token that is wrong", confirmed, "SMS QUEUED", "SMS FAILED MISCONFIGURED")
	account(own.AuthToken, "+15005550001")
	book("Zoe")
	account(own.AuthToken, "+15005550002")
	book("Leo")
	if n := len(p.twilio.Messages()); n != 1 {
		t.Errorf("%d messages by the platform's account", n)
	}
	sent := own.Messages()
	if len(sent) != 2 || sent[0].From != "+15005550001" || sent[1].From != "+15005550002" {
		t.Fatalf("%+v", sent)
	}
	// The neighbour has none.
	who := other.member("Ida")
	devices(other, who)
	_, err := other.app.Messages.UpdateNotificationPreferences(other.ctx(), who, messages.PreferencesEdit{Chosen: notify.Preferences{{Topic: confirmed, Channel: sms}: true}})
	other.ok(err)
	other.book(who, other.session(noon.Add(48*time.Hour)))
	other.consume()
	other.ok(other.dispatcher.Deliver(other.ctx(), other.Tenant))
	if n := len(p.twilio.Messages()); n != 2 {
		t.Errorf("%d messages by the platform's account", n)
	}
	// The platform's token signs nothing of the tenant's, and the tenant's nothing of the platform's.
	if answer := p.call(own.Update(p.ctx(), sent[1], "delivered", 0)); answer.Code != http.StatusNoContent {
		t.Errorf("signed by the tenant's account: %d", answer.Code)
	}
	if answer := p.call(p.twilio.Update(p.ctx(), sent[1], "failed", 30005)); answer.Code != http.StatusForbidden {
		t.Errorf("signed by the platform's: %d", answer.Code)
	}
	if answer := p.call(own.Update(p.ctx(), p.twilio.Messages()[1], "failed", 30005)); answer.Code != http.StatusForbidden {
		t.Errorf("the neighbour's message, signed by the tenant's account: %d", answer.Code)
	}
	p.wantLines("in the end", confirmed, "SMS QUEUED", "SMS FAILED MISCONFIGURED", "SMS QUEUED", "SMS DELIVERED")
	// What could go no other way has waited for the account to be mended.
	p.later(10 * time.Minute)
	if sent := own.Messages(); len(sent) != 3 {
		t.Errorf("%d messages once the account was mended", len(sent))
	}
}

// A tenant's account that is down opens a breaker of its own.
func TestOneAccountsTroubleIsNobodyElses(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	h := newHouse(t, func(wc *worker.Config, _ *app.Config) {
		wc.Concurrency = 1 // so that nothing is on its way when the breaker opens
		wc.Open = func(context.Context, tenant.TenantID, string, messages.Senders) (worker.Sender, error) {
			return down{&asked}, nil
		}
	})
	other := h.neighbour("Dock Pilates")
	_, err := h.app.Messages.UpdateSenders(h.ctx(), h.Owner, nil, func(s *messages.Senders) {
		s.SMTP = &messages.SMTPServer{Host: "mail.example.com", Port: 587, From: "desk@example.com"}
	})
	h.ok(err)
	const people = 12
	h.crowd(people)
	other.crowd(people)
	for _, each := range []*house{h, other} {
		each.consume()
		each.ok(each.dispatcher.Deliver(each.ctx(), each.Tenant))
	}
	sent := func(in *house, status string) int {
		return in.count(`select count(*) from deliveries where tenant_id = $1 and channel = 'EMAIL' and status = $2`, in.Tenant, status)
	}
	if n := sent(h, "FAILED"); n != people || asked.Load() != 5 {
		t.Errorf("%d of %d failed, after the account was asked %d times", n, people, asked.Load())
	}
	if n := sent(other, "SENT"); n != people {
		t.Errorf("%d of %d mails of the neighbour", n, people)
	}
}

// down is an account that does not answer.
type down struct{ asked *atomic.Int32 }

func (d down) Send(context.Context, notify.Message) (notify.Receipt, error) {
	d.asked.Add(1)
	return notify.Receipt{}, &notify.SendError{Kind: notify.Transient, Code: "DOWN"}
}

// From push to SMS to email, over what FCM, Twilio and a mail server say: a device that is gone is forgotten, one that another project knows
// is not.
func TestFromChannelToChannel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		push    fcmtest.Reaction
		sms     twiliotest.Reaction
		log     []string
		devices int
	}{
		"push arrives":         {fcmtest.Reaction{}, twiliotest.Reaction{}, []string{"PUSH SENT"}, 1},
		"the device is gone":   {fcmtest.Unregistered, twiliotest.Reaction{}, []string{"PUSH FAILED UNREGISTERED", "SMS QUEUED"}, 0},
		"and so is the number": {fcmtest.Unregistered, twiliotest.Refuse(400, 21211), []string{"PUSH FAILED UNREGISTERED", "SMS FAILED UNREGISTERED", "EMAIL SENT"}, 0},
		"and the number has stopped": {
			fcmtest.BadToken, twiliotest.Refuse(400, 21610), []string{"PUSH FAILED UNREGISTERED", "SMS FAILED OPTED_OUT", "EMAIL SENT"}, 0,
		},
		"another project's device": {
			fcmtest.Reaction{Status: 403, RPC: "PERMISSION_DENIED", Code: "SENDER_ID_MISMATCH"}, twiliotest.Refuse(400, 30007),
			[]string{"PUSH FAILED MISCONFIGURED", "SMS FAILED PROVIDER_REFUSED", "EMAIL SENT"}, 1,
		},
		"a key that Apple does not accept": {
			fcmtest.Reaction{Status: 401, RPC: "UNAUTHENTICATED", Code: "THIRD_PARTY_AUTH_ERROR"}, twiliotest.Refuse(401, 20003),
			[]string{"PUSH FAILED MISCONFIGURED", "SMS FAILED MISCONFIGURED", "EMAIL SENT"}, 1,
		},
		"what FCM does not take": {
			fcmtest.Reaction{Status: 400, RPC: "INVALID_ARGUMENT", Code: "INVALID_ARGUMENT"}, twiliotest.Refuse(400, 21408),
			[]string{"PUSH FAILED PROVIDER_REFUSED", "SMS FAILED MISCONFIGURED", "EMAIL SENT"}, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := withProviders(t)
			p.fcm.React(func(fcmtest.Message) fcmtest.Reaction { return c.push })
			p.twilio.React(func(twiliotest.Message) twiliotest.Reaction { return c.sms })
			mia := p.member("Mia")
			_, err := p.app.Messages.UpdateNotificationPreferences(p.ctx(), mia, messages.PreferencesEdit{Chosen: notify.Preferences{{Topic: notify.Reminder, Channel: sms}: true}})
			p.ok(err)
			start := noon.Add(48 * time.Hour)
			p.clock.Set(start.Add(-24*time.Hour - time.Second))
			p.book(mia, p.session(start, func(in *session.Input) { in.Capacity = new(1) }))
			p.consume()
			if _, err := p.db.Owner.Exec(p.ctx(), `update notices set done_at = $1 where topic <> 'REMINDER'`, noon); err != nil {
				t.Fatal(err)
			}
			for range 4 {
				p.later(time.Second)
			}
			p.wantLines("the log", notify.Reminder, c.log...)
			if n := p.count(`select count(*) from devices`); n != c.devices {
				t.Errorf("%d devices", n)
			}
		})
	}
}

// A text that needs two segments is paid for as two, and stays so in the log.
func TestSegmentsAreCounted(t *testing.T) {
	t.Parallel()
	p := withProviders(t)
	_, err := p.app.Messages.UpdateTemplate(p.ctx(), p.Owner, notify.Template{Topic: confirmed, Channel: sms, Locale: "en", Body: strings.Repeat("Long as it is. ", 12) + "{{.Title}}"}, nil)
	p.ok(err)
	p.book(p.textOnly(), p.session(noon.Add(48*time.Hour)))
	p.deliver()
	segments := func() int {
		return p.count(`select segments from deliveries where channel = 'SMS' and topic = 'BOOKING_CONFIRMED'`)
	}
	if n := segments(); n != 2 {
		t.Errorf("%d segments", n)
	}
	if answer := p.call(p.twilio.Update(p.ctx(), p.twilio.Messages()[0], "delivered", 0)); answer.Code != http.StatusNoContent {
		t.Error(answer.Code)
	}
	if n := segments(); n != 2 {
		t.Errorf("%d segments once it was delivered", n)
	}
}

// A test goes to whoever asks for it, at once, and tells what the provider says. It counts against nobody's day.
func TestATestIsSentAtOnce(t *testing.T) {
	t.Parallel()
	p := withProviders(t)
	ask := func(c notify.Channel, locale string) ([]messages.Delivery, error) {
		return p.app.Messages.SendTest(p.ctx(), p.Owner, notify.Offered, c, locale)
	}
	for _, c := range []notify.Channel{sms, push} {
		_, err := ask(c, "en")
		if fault.ReasonOf(err) != fault.Unreachable {
			t.Errorf("%s without a number and a device: %v", c, err)
		}
	}
	_, err := p.app.Accounts.UpdateMe(p.ctx(), p.Owner, nil, func(m *memberValue) error { m.Phone = "+4915112345678"; return nil })
	p.ok(err)
	p.second(p.Owner)
	for c, text := range map[notify.Channel]string{sms: "frei bis", push: "Ein Platz für Sie", email: "Wann: "} {
		lines, err := ask(c, "de")
		if err != nil || len(lines) != 1 || lines[0].ProviderID == "" || lines[0].Channel != c || lines[0].Counted || !lines[0].Notice.IsZero() {
			t.Fatalf("%s: %+v, %v", c, lines, err)
		}
		got := ""
		switch c {
		case sms:
			got = p.twilio.Messages()[0].Body
		case push:
			got = p.fcm.Messages()[0].Notification.Title + p.fcm.Messages()[0].Notification.Body
		case email:
			part, _ := p.mail.Mails()[0].Part("text/plain")
			got = part.Body
		}
		if !contains(got, text) {
			t.Errorf("%s says %q", c, got)
		}
	}
	p.mail.React(func(string) smtptest.Reaction { return smtptest.Reaction{Mail: "550 5.7.1 not you"} })
	lines, err := ask(email, "en")
	if err != nil || len(lines) != 1 || lines[0].Status != notify.Failed || lines[0].Reason != notify.MisconfiguredSender || lines[0].ErrorCode != "550 5.7.1" {
		t.Errorf("%+v, %v", lines, err)
	}
	// A device that is gone is forgotten, as after any message.
	p.fcm.React(func(fcmtest.Message) fcmtest.Reaction { return fcmtest.Unregistered })
	if lines, err = ask(push, "en"); err != nil || len(lines) != 1 || lines[0].Reason != notify.NotRegistered || p.count(`select count(*) from devices`) != 0 {
		t.Errorf("%+v, %v", lines, err)
	}
	// What Twilio reports of a test is in the log; nothing follows from it.
	if answer := p.call(p.twilio.Update(p.ctx(), p.twilio.Messages()[0], "undelivered", 30003)); answer.Code != http.StatusNoContent {
		t.Error(answer.Code)
	}
	p.later(time.Hour)
	if n := p.count(`select count(*) from deliveries where status = 'UNDELIVERED' and error_code = '30003'`); n != 1 || len(p.twilio.Messages()) != 1 {
		t.Errorf("%d lines, %d messages", n, len(p.twilio.Messages()))
	}
	_, err = p.app.Messages.AnswerSMS(p.ctx(), p.Tenant, "+4915112345678", "STOP")
	p.ok(err)
	if _, err := ask(sms, "en"); fault.ReasonOf(err) != fault.Unreachable {
		t.Errorf("after STOP: %v", err)
	}
}
