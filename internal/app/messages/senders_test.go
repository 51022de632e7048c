package messages_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/provider/fcm/fcmtest"
	"github.com/berthhq/berth/internal/provider/localbox"
	"github.com/berthhq/berth/internal/provider/smtp/smtptest"
	"github.com/berthhq/berth/internal/provider/twilio/twiliotest"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
	"github.com/berthhq/berth/internal/worker"
)

// Without credentials, every message is kept in the local outbox, with its whole text, and only there.
func TestLocalOutbox_KeepsMessages(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t, func(wc *worker.Config, ac *app.Config) {
		ac.PlatformSenders = nil
		wc.Platform = map[string]func(tenant.TenantID) worker.Sender{
			messages.LocalOutbox: func(tenant.TenantID) worker.Sender { return localbox.Sender{} },
		}
	})
	mia := studio.AddReachable("Mia")
	second(studio, mia)
	expect.OK(studio.T)(studio.App.Messages.UpdateNotificationPreferences(
		studio.T.Context(), mia,
		messages.PreferencesEdit{
			Chosen: notify.Preferences{
				{Topic: notify.Reminder, Channel: push}: false, {Topic: notify.Reminder, Channel: sms}: true,
			},
		},
	))
	start := testkit.Noon.Add(48 * time.Hour)
	booking := studio.MustPlace(mia, studio.SessionAt(start)).Booking.ID
	studio.Run()
	studio.RunAt(start.Add(-24 * time.Hour))
	studio.OtherTenant("Dock Pilates") // whose outbox is empty

	box := expect.Value(studio.App.Messages.ListNotificationDeliveries(
		studio.T.Context(), studio.Owner, messages.DeliveryQuery{Booking: booking, Outbox: true, Limit: 9},
	))(studio.T)
	found := make(map[delivery.Channel]messages.Delivery)
	for _, d := range box {
		test.EqOp(t, messages.LocalOutbox, d.Provider)
		test.EqOp(t, delivery.Sent, d.Status)
		test.EqOp(t, mia.Member, d.Member)
		test.NotEqOp(t, "", d.ProviderID)
		found[d.Channel] = d
		test.Eq(t, d, expect.Value(studio.App.Messages.GetNotificationDelivery(t.Context(), studio.Owner, d.ID))(t))
	}
	must.SliceLen(t, 3, box, must.Sprint("of two devices one has it whole"))
	must.MapLen(t, 3, found, must.Sprint("of two devices one has it whole"))
	m := found[email].Content
	test.EqOp(t, "Booked: Vinyasa, Wed 18 Mar, 13:00", m.Subject)
	test.True(t, contains(m.Text, "Hello Mia"), test.Sprintf("%+v", m))
	test.True(t, contains(m.HTML, "<p style="), test.Sprintf("%+v", m))
	test.True(t, contains(m.HTML, "/unsubscribe/"), test.Sprintf("%+v", m))
	test.True(t, contains(m.Calendar, "METHOD:REQUEST"), test.Sprintf("%+v", m))
	m = found[push].Content
	test.True(t, contains(m.Subject+m.Text, "Vinyasa"), test.Sprintf("%+v", m))
	test.NotEqOp(t, "", m.Link)
	if m := found[sms]; m.Segments != 1 || m.Content.Segments != 1 || !m.Content.GSM7 ||
		!contains(m.Content.Text, "13:00") {
		t.Errorf("%+v", m)
	}
	studio.ConfirmContacts(mia)
	test.StrContains(
		t, expect.Value(
			studio.App.Messages.SendTestNotification(t.Context(), mia, confirmed, email, "en"),
		)(t)[0].Content.Text, "Hello ",
	)
	other := studio.OtherTenant("Silent Golf")
	test.SliceEmpty(t, expect.Value(other.App.Messages.ListNotificationDeliveries(
		t.Context(), other.Owner, messages.DeliveryQuery{Outbox: true, Limit: 9},
	))(t), test.Sprint("another tenant's"))
	expect.Reason(t, fault.DeliveryNotFound)(other.App.Messages.GetNotificationDelivery(
		t.Context(), other.Owner, box[0].ID,
	))
	// Messages that a provider sends are not in the outbox.
	carried := messagetest.New(t)
	carried.MustPlace(carried.AddReachable("Mia"), carried.SessionAt(start))
	carried.Run()
	test.SliceEmpty(t, expect.Value(carried.App.Messages.ListNotificationDeliveries(
		t.Context(), carried.Owner, messages.DeliveryQuery{Outbox: true, Limit: 9},
	))(t))
}

// From push to SMS to email, over what FCM, Twilio and a mail server say: a device that is gone is forgotten, one that
// another project knows is not.
func TestSenders_FallBackFromChannelToChannel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		push    fcmtest.Reaction
		sms     twiliotest.Reaction
		log     []string
		devices int
	}{
		"push arrives": {fcmtest.Reaction{}, twiliotest.Reaction{}, []string{"PUSH SENT"}, 1},
		"the device is gone": {
			fcmtest.Unregistered, twiliotest.Reaction{}, []string{"PUSH FAILED UNREGISTERED", "SMS QUEUED"}, 0,
		},
		"and so is the number": {
			fcmtest.Unregistered, twiliotest.Refuse(400, 21211),
			[]string{"PUSH FAILED UNREGISTERED", "SMS FAILED UNREGISTERED", "EMAIL SENT"}, 0,
		},
		"and the number has stopped": {
			fcmtest.BadToken, twiliotest.Refuse(400, 21610),
			[]string{"PUSH FAILED UNREGISTERED", "SMS FAILED OPTED_OUT", "EMAIL SENT"}, 0,
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
			p := messagetest.WithServers(t)
			p.FCM.React(func(fcmtest.Message) fcmtest.Reaction { return c.push })
			p.Twilio.React(func(twiliotest.Message) twiliotest.Reaction { return c.sms })
			mia := p.AddReachable("Mia")
			p.Prefer(mia, notify.Preferences{
				{Topic: notify.Reminder, Channel: sms}: true, {Topic: confirmed, Channel: push}: false,
				{Topic: confirmed, Channel: email}: false,
			})
			start := testkit.Noon.Add(48 * time.Hour)
			p.Clock.Set(start.Add(-24*time.Hour - time.Second))
			p.MustPlace(mia, p.SessionAt(start, func(in *session.Input) { in.Capacity = new(1) }))
			p.Plan()
			for range 4 {
				p.Later(time.Second)
			}
			p.WantLog("the log", notify.Reminder, c.log...)
			test.EqOp(t, c.devices, p.Count(`select count(*) from devices`))
		})
	}
}

// A text that needs two segments is paid for as two, and stays so in the log.
func TestSenders_CountSegments(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	expect.OK(p.T)(p.App.Messages.UpdateNotificationTemplate(
		p.T.Context(), p.Owner,
		content.Template{
			Topic: confirmed, Channel: sms, Locale: "en", Body: strings.Repeat("Long as it is. ", 12) + "{{.Title}}",
		},
		nil,
	))
	p.MustPlace(p.AddTextOnly("Mia"), p.SessionAt(testkit.Noon.Add(48*time.Hour)))
	p.Deliver()
	segments := func() int {
		return p.Count(`select segments from deliveries where channel = 'SMS' and topic = 'BOOKING_CONFIRMED'`)
	}
	test.EqOp(t, 2, segments(), test.Sprint("segments"))
	test.EqOp(t, http.StatusNoContent, p.Call(
		p.Twilio.Update(p.T.Context(), p.Twilio.Messages()[0], "delivered", 0),
	).Code)
	test.EqOp(t, 2, segments(), test.Sprint("segments once it was delivered"))
}

// A template that cannot be filled in is replaced by the default. The log says so, also once the message has arrived.
func TestSenders_ReplaceBadTemplates(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	text := content.Template{Topic: confirmed, Channel: sms, Locale: "en", Body: "See you"}
	expect.OK(t)(p.App.Messages.UpdateNotificationTemplate(t.Context(), p.Owner, text, nil))
	p.Exec(`update notification_templates set body = '{{.Nothing}}'`) // as no use case leaves it
	mia := p.AddTextOnly("Mia")
	p.MustPlace(mia, p.SessionAt(testkit.InTwoDays))
	p.Deliver()
	p.Call(p.Twilio.Update(t.Context(), p.Twilio.Messages()[0], "delivered", 0))
	p.WantLog("arrived", confirmed, "SMS DELIVERED TEMPLATE")
	test.StrContains(t, p.Twilio.Messages()[0].Body, "Vinyasa")
	p.ConfirmContacts(mia)
	expect.Reason(t, fault.TemplateInvalid)(p.App.Messages.SendTestNotification(t.Context(), mia, confirmed, sms, "en"))
}

// A test message goes to its caller, immediately, and the response has the provider's answer. It does not count toward
// the frequency cap.
func TestSendTest_SendsImmediately(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	ada := p.AddMember("Ada")
	p.EditMember(ada, func(m *memberValue) { m.Email = "ada@example.com" })
	ask := func(c delivery.Channel, locale string) ([]messages.Delivery, error) {
		return p.App.Messages.SendTestNotification(p.T.Context(), ada, notify.Offered, c, locale)
	}
	for _, c := range []delivery.Channel{sms, push} {
		expect.Reason(t, fault.RecipientUnreachable, c)(ask(c, "en"))
	}
	p.EditMember(ada, func(m *memberValue) { m.Phone = "+4915112345678" })
	p.ConfirmContacts(ada)
	second(p.Studio, ada)
	for c, text := range map[delivery.Channel]string{sms: "frei bis", push: "Ein Platz für Sie", email: "Wann: "} {
		deliveries := expect.Value(ask(c, "de"))(t)
		must.SliceLen(t, 1, deliveries)
		must.NotEqOp(t, "", deliveries[0].ProviderID)
		must.EqOp(t, c, deliveries[0].Channel)
		must.False(t, deliveries[0].Counted, must.Sprintf("%s: %+v", c, deliveries))
		must.True(t, deliveries[0].Notice.IsZero(), must.Sprintf("%s: %+v", c, deliveries))
		got := ""
		switch c {
		case sms:
			got = p.Twilio.Messages()[0].Body
		case push:
			got = p.FCM.Messages()[0].Notification.Title + p.FCM.Messages()[0].Notification.Body
		case email:
			part, _ := p.Mail.Mails()[0].Part("text/plain")
			got = part.Body
		}
		test.True(t, contains(got, text), test.Sprintf("%s says %q", c, got))
	}
	p.Mail.React(func(string) smtptest.Reaction { return smtptest.Reaction{Mail: "550 5.7.1 not you"} })
	deliveries := expect.Value(ask(email, "en"))(t)
	must.SliceLen(t, 1, deliveries)
	test.EqOp(t, delivery.Failed, deliveries[0].Status)
	test.EqOp(t, notify.Misconfigured, deliveries[0].Reason)
	test.EqOp(t, "550 5.7.1", deliveries[0].ErrorCode)
	// A device that is gone is forgotten, as after any message.
	p.FCM.React(func(fcmtest.Message) fcmtest.Reaction { return fcmtest.Unregistered })
	deliveries, err := ask(push, "en")
	if err != nil || len(deliveries) != 1 || deliveries[0].Reason != notify.Unregistered ||
		p.Count(`select count(*) from devices`) != 0 {
		t.Errorf("%+v, %v", deliveries, err)
	}
	// What Twilio reports of a test is in the log; nothing follows from it.
	test.EqOp(t, http.StatusNoContent, p.Call(
		p.Twilio.Update(p.T.Context(), p.Twilio.Messages()[0], "undelivered", 30003),
	).Code)
	p.Later(time.Hour)
	const inbound = "https://berth.example/twilio/platform/inbound"
	test.StrContains(t, p.ReceiveSMS(inbound, "+4915112345678", "HELP"), "<Message>")
	n := p.Count(`select count(*) from deliveries where status = 'UNDELIVERED' and error_code = '30003'`)
	test.EqOp(t, 1, n, test.Sprintf("%d lines, %d messages", n, len(p.Twilio.Messages())))
	test.SliceLen(t, 1, p.Twilio.Messages(), test.Sprintf("%d lines, %d messages", n, len(p.Twilio.Messages())))
	expect.OK(p.T)(p.App.Messages.AnswerSMS(p.T.Context(), p.Tenant, "+4915112345678", "STOP"))
	expect.Reason(t, fault.RecipientUnreachable, "after STOP")(ask(sms, "en"))
}

// A test message goes to confirmed contacts only. Others get the code that confirms them, and a day has its limit.
func TestSendTest_GoesToConfirmedContacts(t *testing.T) {
	t.Parallel()
	s := messagetest.New(t)
	ada := s.AddMember("Ada")
	ask := func(c delivery.Channel) ([]messages.Delivery, error) {
		return s.App.Messages.SendTestNotification(t.Context(), ada, notify.Reminder, c, "en")
	}
	s.EditMember(ada, func(m *memberValue) { m.Email, m.Phone = "ada@example.com", "+351912345678" })
	expect.Reason(t, fault.ContactCountry)(ask(sms))
	for range 2 { // the second test needs no second code
		test.SliceEmpty(t, expect.Value(ask(email))(t))
	}
	s.Deliver()
	sent := s.Provider.Take()
	must.SliceLen(t, 1, sent)
	must.EqOp(t, "ada@example.com", sent[0].To)
	must.True(t, contains(sent[0].Subject, "is your code"), must.Sprintf("%+v", sent))

	verified := ada
	verified.Email = "ada@example.com"
	must.SliceLen(t, 1, expect.Value(s.App.Messages.SendTestNotification(
		t.Context(), verified, notify.Reminder, email, "en",
	))(t))

	code, _, _ := strings.Cut(sent[0].Subject, " ")
	expect.OK(t)(s.App.Accounts.ConfirmContact(t.Context(), ada, member.ByEmail, code))
	for range 19 {
		must.SliceLen(t, 1, expect.Value(ask(email))(t))
	}
	_, err := ask(email)
	test.EqOp(t, "QUOTA_EXCEEDED limit=20 quota=test_messages", faulttest.Text(err))
	test.EqOp(t, 20, s.Count(`select count(*) from audit_entries where action = 'test_notification.sent'`))
	s.Clock.Advance(24 * time.Hour)
	must.SliceLen(t, 1, expect.Value(ask(email))(t))
}
