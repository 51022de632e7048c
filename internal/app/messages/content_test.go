package messages_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
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

// What a provider gets of a booking, in full. Without a public URL and an address of the platform's, the calendar
// entry names this host.
func TestMessages_OfABooking(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t, func(_ *worker.Config, ac *app.Config) {
		ac.PublicURL, ac.MailFrom, ac.ReportTo = "", "", "abuse@berth.example"
	})
	pier := studio.AddLocation(catalog.Location{Name: "Pier 7", Address: "Quay Street 1", TimeZone: "Europe/Lisbon"})
	hall := studio.AddResource(catalog.Resource{Name: "Hall", Location: pier})
	start := testkit.Noon.Add(48 * time.Hour)
	class := studio.SessionAt(start, func(in *session.Input) {
		in.Location, in.Resource, in.Coach = pier, hall, studio.Coach.Member
	})
	mia := studio.AddReachable("Mia")
	booking := studio.MustPlace(mia, class).Booking.ID
	studio.Plan()
	taken := expect.Value(studio.App.Messages.TakeNotices(t.Context(), studio.Tenant))(t)
	must.SliceLen(t, 2, taken.Out)
	test.MapEmpty(t, taken.Unsent)
	device, mail := taken.Out[0].Message, taken.Out[1].Message
	data := map[string]string{"topic": "BOOKING_CONFIRMED", "booking_id": booking.String(), "session_id": class.String()}
	test.Eq(t, delivery.Message{
		ID: device.ID, Channel: push, To: "device-of-" + mia.Subject, Title: "Booked: Vinyasa",
		Text: "Wed 18 Mar, 13:00 (CET), Pier 7", Link: "/", CollapseKey: booking.String(), Data: data, ExpiresAt: start,
	}, device)
	test.Eq(t, delivery.Message{
		ID: mail.ID, Channel: email, To: "mia@example.com", ToName: "Mia", From: delivery.Mailbox{Name: "Harbour Yoga"},
		Subject: "Booked: Vinyasa, Wed 18 Mar, 13:00 (CET)", Text: mail.Text, HTML: mail.HTML, Calendar: mail.Calendar,
		Unsubscribe: mail.Unsubscribe, CollapseKey: booking.String(), Data: data, ExpiresAt: start,
	}, mail)
	for _, line := range []string{
		"UID:" + booking.String() + "@localhost", `LOCATION:Pier 7\, Hall\, Quay Street 1`, "DESCRIPTION:Carla Coach",
		"DTSTAMP:20260316T120000Z", "DTEND:20260318T130000Z", `ORGANIZER;CN="Harbour Yoga":mailto:noreply@localhost`,
		`ATTENDEE;CN="Mia";PARTSTAT=ACCEPTED;RSVP=FALSE:mailto:mia@example.com`,
	} {
		test.StrContains(t, string(mail.Calendar.Body), line+"\r\n")
	}
	test.StrContains(t, mail.Text, "abuse@berth.example")

	studio.ConfirmContacts(mia)
	tests := func(topic notify.Topic, c delivery.Channel) delivery.Message {
		expect.OK(t)(studio.App.Messages.SendTestNotification(t.Context(), mia, topic, c, "de"))
		return studio.Provider.Take()[0]
	}
	shown := tests(notify.Reminder, push)
	test.Eq(t, delivery.Message{
		ID: shown.ID, Channel: push, To: device.To, ToName: "Mia", Subject: shown.Title, Title: shown.Title,
		Text: shown.Text, Link: shown.Link, From: mail.From, CollapseKey: "test",
		Data: map[string]string{"topic": "REMINDER"}, HighPriority: true,
	}, shown)
	test.StrContains(t, shown.Text, "Sa, 23. Mai")
	test.Eq(t, map[string]any{"topic": "REMINDER", "channel": "PUSH", "messages": 1.0},
		studio.LastAudit("test_notification.sent"))
	test.NotEqOp(t, "", tests(notify.Reminder, email).Unsubscribe)
	test.EqOp(t, "", tests(notify.AccessChanged, email).Unsubscribe, test.Sprint("it cannot be turned off"))
}

// Only members have choices, feeds and tests.
func TestMessages_AreForMembers(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t)
	s, ctx := studio.App.Messages, t.Context()
	robot := studio.AddPartner("Robot")
	mia, noa := studio.AddMember("Mia"), studio.AddMember("Noa")
	expect.OK(t)(s.CreateCalendarFeed(ctx, mia))
	for name, err := range map[string]error{
		"choices":        expect.Error(s.GetNotificationPreferences(ctx, robot, tenant.MemberID{})),
		"no one's":       expect.Error(s.GetNotificationPreferences(ctx, studio.Owner, testkit.NewID[tenant.MemberID]())),
		"another's":      expect.Error(s.GetNotificationPreferences(ctx, testkit.SelfOnly(mia), noa.Member)),
		"to choose":      expect.Error(s.UpdateNotificationPreferences(ctx, robot, messages.PreferencesEdit{})),
		"a feed":         expect.Error(s.CreateCalendarFeed(ctx, robot)),
		"to end a feed":  s.DeleteCalendarFeed(ctx, robot),
		"a test message": expect.Error(s.SendTestNotification(ctx, robot, confirmed, email, "en")),
	} {
		test.EqOp(t, fault.MemberNotFound, fault.ReasonOf(err), test.Sprint(name))
	}
	expect.OK(t)(s.GetNotificationPreferences(ctx, studio.Owner, noa.Member))
	quiet := &notify.QuietHours{Start: civil.TimeOfDay{Hour: 1}, End: civil.TimeOfDay{Hour: 2}}
	changed := expect.Value(s.UpdateNotificationPreferences(ctx, mia, messages.PreferencesEdit{Quiet: &quiet}))(t)
	test.True(t, changed.HasFeed, test.Sprintf("%+v", changed))
	test.EqOp(t, *quiet, *changed.Quiet)
	test.EqOp(t, 1, changed.Version)
	expect.Reason(t, fault.ETagMismatch)(s.UpdateNotificationPreferences(ctx, mia, messages.PreferencesEdit{
		Version: new(0),
	}))
	again := expect.Value(s.UpdateNotificationPreferences(ctx, mia, messages.PreferencesEdit{Version: new(1)}))(t)
	test.EqOp(t, *quiet, *again.Quiet)
	test.EqOp(t, 2, again.Version)
	expect.Reason(t, fault.InvalidField)(s.UpdateNotificationPreferences(ctx, mia, messages.PreferencesEdit{
		Quiet: new(&notify.QuietHours{Start: civil.TimeOfDay{Second: 1}}),
	}))
}

// Settings and templates change only from the version that their editor knows, and the audit log has what changed.
func TestSettingsAndTemplates_HaveVersions(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t)
	s, ctx := studio.App.Messages, t.Context()
	edit := func(version, most int) (notify.Settings, error) {
		return s.UpdateNotificationSettings(ctx, studio.Owner, &version, func(n *notify.Settings) { n.PerDay[sms] = most })
	}
	before := expect.Value(s.GetNotificationSettings(ctx, studio.Owner))(t)
	test.EqOp(t, 0, expect.Value(edit(0, before.PerDay[sms]))(t).Version, test.Sprint("nothing has changed"))
	test.EqOp(t, 1, expect.Value(edit(0, 3))(t).Version)
	expect.Reason(t, fault.ETagMismatch)(edit(0, 4))
	expect.Reason(t, fault.InvalidField)(edit(1, -1))
	after := expect.Value(s.GetNotificationSettings(ctx, studio.Owner))(t)
	test.EqOp(t, 3, after.PerDay[sms])
	test.EqOp(t, 1, after.Version)
	test.True(t, after.UpdatedAt.Equal(testkit.Noon))
	test.Eq(t, map[string]any{
		"before": map[string]any{"sms_per_day": float64(before.PerDay[sms])}, "after": map[string]any{"sms_per_day": 3.0},
	}, studio.LastAudit("notification_settings.updated"))

	at := messages.TemplateQuery{Topic: confirmed, Channel: sms, Locale: "PT-br"}
	own := content.Template{Topic: confirmed, Channel: sms, Locale: "pt-BR", Body: "Até já"}
	list := func() (all []string) {
		for _, of := range expect.Value(s.ListNotificationTemplates(
			ctx, studio.Owner, messages.TemplateQuery{Topic: confirmed},
		))(t) {
			all = append(all, fmt.Sprint(of.Channel, " ", of.Locale, " ", of.Version))
		}
		return all
	}
	save := func(version int) (messages.Template, error) {
		return s.UpdateNotificationTemplate(ctx, studio.Owner, own, &version)
	}
	read := func(locale string) (messages.Template, error) {
		return s.GetNotificationTemplate(
			ctx, studio.Owner, messages.TemplateQuery{Topic: confirmed, Channel: sms, Locale: locale},
		)
	}
	expect.Reason(t, fault.TemplateNotFound)(read("pt-BR"))
	saved := messages.Template{Template: own, Version: 1, UpdatedAt: testkit.Noon}
	test.Eq(t, saved, expect.Value(save(0))(t))
	test.Eq(t, saved, expect.Value(read("PT-br"))(t))
	standard, _ := content.DefaultTemplate(confirmed, sms, "de")
	test.Eq(t, messages.Template{Template: standard}, expect.Value(read("de"))(t))
	expect.Reason(t, fault.ETagMismatch)(save(0))
	own.Locale = "de"
	studio.Tick()
	expect.OK(t)(save(0))
	test.Eq(t, []string{
		"SMS de 1", "SMS en 0", "SMS fr 0", "SMS pt-BR 1", "PUSH de 0", "PUSH en 0", "PUSH fr 0", "EMAIL de 0", "EMAIL en 0",
		"EMAIL fr 0",
	}, list())
	test.SliceLen(t, 1, expect.Value(s.ListNotificationTemplates(ctx, studio.Owner, at))(t))
	expect.Reason(t, fault.ETagMismatch)(s.ResetNotificationTemplate(ctx, studio.Owner, at, new(0)))
	for range 2 { // the second time there is nothing to do
		_, standard, err := s.ResetNotificationTemplate(ctx, studio.Owner, at, nil)
		test.NoError(t, err)
		test.False(t, standard, test.Sprint(err))
	}
	test.SliceLen(t, 9, list())
	kept := map[string]any{"subject": "", "body": "Até já", "html": ""}
	test.Eq(t, map[string]any{"topic": "BOOKING_CONFIRMED", "channel": "SMS", "locale": "pt-BR", "before": kept},
		studio.LastAudit("notification_template.reset"))
	test.Eq(t, map[string]any{
		"topic": "BOOKING_CONFIRMED", "channel": "SMS", "locale": "de", "before": nil, "after": kept,
	}, studio.LastAudit("notification_template.updated"))
	test.EqOp(t, 1, studio.Count(`select count(*) from audit_entries where action = 'notification_template.reset'`))
}

// woken reports whether the alarm for a studio's notices has gone off.
func woken(studio *messagetest.Studio) (rung bool) {
	ctx, stop := context.WithCancel(studio.T.Context())
	stop() // it rings, and does not wait for the next
	studio.App.Messages.RunNotices(ctx, func(id tenant.TenantID) { rung = rung || id == studio.Tenant })
	return rung
}

// A node wakes up for what it planned, for the next attempt, and for what others left behind.
func TestNotices_WakeTheNode(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t)
	noa := studio.Promote()
	studio.RemoveDevices(noa)
	studio.Clock.Advance(24 * time.Hour)
	woken(studio)
	wakes := func(what string, after time.Duration) {
		t.Helper()
		if after > 0 {
			studio.Clock.Advance(after - time.Second)
			test.False(t, woken(studio), test.Sprint(what, ", too soon"))
			studio.Clock.Advance(time.Second)
		}
		test.True(t, woken(studio), test.Sprint(what))
		test.False(t, woken(studio), test.Sprint(what, ", again"))
	}
	studio.Plan()
	wakes("planned", 0)
	studio.NoError(studio.App.Messages.LoadNoticeAlarm(t.Context(), studio.Tenant))
	wakes("left behind", 0)
	taken(studio, sms)
	wakes("a lost attempt", 2*time.Minute)
	settle(studio, &delivery.Error{Kind: delivery.Transient}, taken(studio, sms)...)
	studio.Clock.Advance(2*time.Minute - time.Second)
	wakes("busy", 0)
	studio.App.Messages.SetNoticeAlarm(studio.Tenant, time.Minute)
	wakes("a failure", time.Minute)
	expect.OK(t)(studio.App.Accounts.UpdateMe(t.Context(), testkit.SelfOnly(noa), nil, func(m *memberValue) error {
		m.Email = "new@example.com"
		return nil
	}))
	studio.Plan()
	wakes("a code", 0)
}

// A code goes to those who unsubscribed, but not to a number that replied STOP or an address that bounced. Only the
// newest is sent, while it can be used. One that no key opens holds nothing else up.
func TestContactCodes_GoToWhoMayBeWrittenTo(t *testing.T) {
	t.Parallel()
	for reason, want := range map[notify.Reason]int{
		notify.Unsubscribed: 1, notify.Bounced: 0, notify.OptedOut: 0, "guessed": 0, "unreadable": 0,
	} {
		studio := messagetest.New(t)
		mia := testkit.SelfOnly(studio.AddMember("Mia"))
		studio.Exec(`
insert into notification_stops (tenant_id, channel, address, reason, created_at)
select $1, 'EMAIL', 'new@example.com', $2, now() where $2 not in ('guessed', 'unreadable')`,
			studio.Tenant, string(reason))
		expect.OK(t)(studio.App.Accounts.UpdateMe(t.Context(), mia, nil, func(m *memberValue) error {
			m.Email = "New@example.com"
			return nil
		}))
		expect.OK(t)(studio.App.Accounts.ResendContactCode(t.Context(), mia, member.ByEmail))
		for range member.MaxGuesses {
			if reason == "guessed" {
				expect.Reason(t, fault.ContactCodeInvalid)(
					studio.App.Accounts.ConfirmContact(t.Context(), mia, member.ByEmail, "no code"),
				)
			}
		}
		if reason == "unreadable" {
			studio.Exec(`update notices set details = jsonb_set(details, '{sealed}', '"AAAA"')`)
		}
		sent := mails(studio)
		test.SliceLen(t, want, sent, test.Sprint(reason))
		for _, m := range sent {
			test.EqOp(t, "", m.Unsubscribe)
		}
	}
}
