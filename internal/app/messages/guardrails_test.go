package messages_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// Each reason for which a message is not sent: from the action that causes it to the line in the log, and to what is
// sent once the reason no longer applies.
func TestGuardrails_LogTheReason(t *testing.T) {
	t.Parallel()
	start := testkit.Noon.Add(48 * time.Hour)
	wants := func(studio *messagetest.Studio, who tenant.Caller, preferences notify.Preferences) {
		studio.T.Helper()
		expect.OK(studio.T)(studio.App.Messages.UpdateNotificationPreferences(
			studio.T.Context(), who, messages.PreferencesEdit{Chosen: preferences},
		))
	}
	settings := func(studio *messagetest.Studio, edit func(*notify.Settings)) {
		studio.T.Helper()
		expect.OK(studio.T)(studio.App.Messages.UpdateNotificationSettings(studio.T.Context(), studio.Owner, nil, edit))
	}
	byMail := notify.Preferences{{Topic: confirmed, Channel: push}: false}
	bySMS := notify.Preferences{
		{Topic: confirmed, Channel: push}: false, {Topic: confirmed, Channel: email}: false,
		{Topic: confirmed, Channel: sms}: true,
	}
	// testkit.Noon is 13:00 in Berlin
	afternoon := notify.QuietHours{Start: civil.TimeOfDay{Hour: 13}, End: civil.TimeOfDay{Hour: 14, Minute: 30}}
	type row struct {
		topic notify.Topic
		does  func(studio *messagetest.Studio, mia tenant.Caller)
		log   []string // once it has fallen due
		later time.Duration
		then  []string // what the log has after that, too
	}
	messagetest.Each(t, map[string]row{
		"nothing is wanted": {confirmed, func(studio *messagetest.Studio, mia tenant.Caller) {
			wants(
				studio, mia, notify.Preferences{
					{Topic: confirmed, Channel: push}: false, {Topic: confirmed, Channel: email}: false,
				},
			)
			studio.MustPlace(mia, studio.SessionAt(start))
		}, []string{" DROPPED UNSUBSCRIBED"}, time.Hour, nil},
		"all mails are stopped": {confirmed, func(studio *messagetest.Studio, mia tenant.Caller) {
			wants(studio, mia, byMail)
			studio.StopMails(mia)
			studio.MustPlace(mia, studio.SessionAt(start))
		}, []string{" DROPPED UNSUBSCRIBED"}, time.Hour, nil},
		"the address has bounced": {confirmed, func(studio *messagetest.Studio, mia tenant.Caller) {
			wants(studio, mia, byMail)
			studio.BounceMail(mia)
			studio.MustPlace(mia, studio.SessionAt(start))
		}, []string{" DROPPED BOUNCED"}, time.Hour, nil},
		"STOP": {confirmed, func(studio *messagetest.Studio, mia tenant.Caller) {
			wants(studio, mia, bySMS)
			expect.OK(studio.T)(studio.App.Messages.AnswerSMS(studio.T.Context(), studio.Tenant, studio.PhoneOf(mia), "stop"))
			studio.MustPlace(mia, studio.SessionAt(start))
		}, []string{" DROPPED OPTED_OUT"}, time.Hour, nil},
		"another tenant's STOP is none": {confirmed, func(studio *messagetest.Studio, mia tenant.Caller) {
			wants(studio, mia, bySMS)
			expect.OK(studio.T)(studio.App.Messages.AnswerSMS(
				studio.T.Context(), studio.OtherTenant("Dock Pilates").Tenant, studio.PhoneOf(mia), "stop",
			))
			studio.MustPlace(mia, studio.SessionAt(start))
		}, []string{"SMS SENT"}, time.Hour, nil},
		"no address, no number, no device": {confirmed, func(studio *messagetest.Studio, _ tenant.Caller) {
			studio.MustPlace(studio.AddMember("Leo"), studio.SessionAt(start))
		}, []string{" DROPPED UNREACHABLE"}, time.Hour, nil},
		"the tenant's quiet hours": {confirmed, func(studio *messagetest.Studio, mia tenant.Caller) {
			settings(studio, func(s *notify.Settings) { s.QuietHours = afternoon })
			studio.MustPlace(mia, studio.SessionAt(start))
		}, []string{" DEFERRED QUIET_HOURS", "EMAIL SENT"}, 90 * time.Minute, []string{"PUSH SENT"}},
		"a member's own": {confirmed, func(studio *messagetest.Studio, mia tenant.Caller) {
			own := &afternoon
			expect.OK(studio.T)(studio.App.Messages.UpdateNotificationPreferences(
				studio.T.Context(), mia, messages.PreferencesEdit{Quiet: &own},
			))
			studio.MustPlace(mia, studio.SessionAt(start))
		}, []string{" DEFERRED QUIET_HOURS", "EMAIL SENT"}, 90 * time.Minute, []string{"PUSH SENT"}},
		"quiet on another clock": {confirmed, func(studio *messagetest.Studio, mia tenant.Caller) {
			livesIn(studio, mia, "Asia/Tokyo") // where it is 21:00
			studio.MustPlace(mia, studio.SessionAt(start))
		}, []string{" DEFERRED QUIET_HOURS", "EMAIL SENT"}, 11 * time.Hour, []string{"PUSH SENT"}},
		"enough mails for a day": {confirmed, func(studio *messagetest.Studio, mia tenant.Caller) {
			wants(studio, mia, byMail)
			settings(studio, func(s *notify.Settings) { s.PerDay[email] = 1 })
			studio.MustPlace(mia, studio.SessionAt(start))
			studio.Run()
			studio.Clock.Advance(time.Minute)
			studio.MustPlace(mia, studio.SessionAt(start.Add(2*time.Hour)))
		}, []string{"EMAIL SENT", " DEFERRED FREQUENCY_CAP"}, 24*time.Hour - time.Minute, []string{"EMAIL SENT"}},
		"enough for a day at once": {confirmed, func(studio *messagetest.Studio, mia tenant.Caller) {
			wants(studio, mia, byMail)
			settings(studio, func(s *notify.Settings) { s.PerDay[email] = 1 })
			studio.MustPlace(mia, studio.SessionAt(start))
			studio.MustPlace(mia, studio.SessionAt(start.Add(2*time.Hour)))
		}, []string{"EMAIL SENT", " DEFERRED FREQUENCY_CAP"}, 24 * time.Hour, []string{"EMAIL SENT"}},
		"no longer booked": {confirmed, func(studio *messagetest.Studio, mia tenant.Caller) {
			expect.OK(studio.T)(studio.App.Bookings.CancelBooking(
				studio.T.Context(), mia, bookings.CancelRequest{ID: studio.MustPlace(mia, studio.SessionAt(start)).Booking.ID},
			))
		}, []string{" DROPPED NOT_BOOKED", " DROPPED NOT_BOOKED"}, time.Hour, nil},
		"the session is gone": {confirmed, func(studio *messagetest.Studio, mia tenant.Caller) {
			class := studio.SessionAt(start)
			studio.MustPlace(mia, class)
			expect.OK(studio.T)(studio.App.Schedules.CancelSession(
				studio.T.Context(), studio.Owner, class, schedules.Removal{},
			))
		}, []string{" DROPPED NOT_BOOKED", " DROPPED NOT_BOOKED"}, time.Hour, nil},
		"moved before it was told": {confirmed, func(studio *messagetest.Studio, mia tenant.Caller) {
			class := studio.SessionAt(start)
			studio.MustPlace(mia, class)
			studio.Plan()
			to := start.Add(time.Hour)
			expect.OK(studio.T)(studio.App.Schedules.UpdateSession(
				studio.T.Context(), studio.Owner, class, nil, session.Input{
					StartsAt: to, EndsAt: to.Add(time.Hour),
				}, session.TimeFields,
			))
		}, []string{" DROPPED MOVED", " DROPPED MOVED"}, time.Hour, nil},
		"moved before the reminder": {notify.Reminder, func(studio *messagetest.Studio, mia tenant.Caller) {
			class := studio.SessionAt(start)
			studio.MustPlace(mia, class)
			studio.Run()
			to := start.Add(time.Hour)
			expect.OK(studio.T)(studio.App.Schedules.UpdateSession(
				studio.T.Context(), studio.Owner, class, nil, session.Input{
					StartsAt: to, EndsAt: to.Add(time.Hour),
				}, session.TimeFields,
			))
			studio.Run()
			studio.Clock.Set(start.Add(-24 * time.Hour))
		}, []string{" DROPPED MOVED"}, time.Hour, []string{"PUSH SENT"}},
		"no longer a member": {confirmed, func(studio *messagetest.Studio, mia tenant.Caller) {
			studio.MustPlace(mia, studio.SessionAt(start))
			expect.OK(studio.T)(studio.App.Accounts.DeactivateMember(studio.T.Context(), studio.Owner, mia.Member))
		}, []string{" DROPPED SUPERSEDED", " DROPPED SUPERSEDED"}, time.Hour, nil},
	}, func(studio *messagetest.Studio, c row) {
		c.does(studio, studio.AddReachable("Mia"))
		studio.Run()
		studio.WantLog("when it is due", c.topic, c.log...)
		studio.Clock.Advance(c.later)
		studio.Run()
		studio.WantLog("later", c.topic, slices.Concat(c.log, c.then)...)
		test.EqOp(studio.T, 0, studio.Count(`
select count(*) from deliveries where topic = $1 and (booking_id is null or session_id is null or notice_id is null
  or recipient_name not in ('Mia', 'Leo') or (status = 'DEFERRED') <> coalesce(retry_at > created_at, false)
  or channel = 'PUSH' and not address = any(array(select id::text from devices)))`, string(c.topic)),
			test.Sprint("lines that say less"))
	})
}

// A consumer that reads the log again from the beginning sends nothing twice. The unique key guards this: without it
// messages are sent again.
func TestNotices_PlannedTwiceAreSentOnce(t *testing.T) {
	t.Parallel()
	messagetest.Each(t, map[string]bool{"guarded": true, "unguarded": false}, func(
		studio *messagetest.Studio, keyed bool,
	) {
		studio.BookMembers(3)
		must.EqOp(studio.T, 6, len(studio.Run()), must.Sprint("messages"))
		// By SQL, because no use case forgets how far the log was read.
		studio.Exec(`delete from event_consumers where tenant_id = $1`, studio.Tenant)
		if !keyed {
			studio.Exec(`update notices set revision = revision || '-'`) // as if each were about something else
		}
		again := studio.Run()
		test.False(studio.T, keyed && len(again) != 0, test.Sprintf("told again: %v", again))
		test.False(studio.T, !keyed && len(again) == 0, test.Sprint("the control tells nothing again"))
	})
}

// Notices are taken two hundred at a time, and what was not sent is counted by its reason.
func TestTakeNotices_TakesSome(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t)
	mia := studio.AddReachable("Mia")
	studio.RemoveDevices(mia)
	booking := studio.MustPlace(mia, studio.SessionAt(testkit.InTwoDays)).Booking.ID
	studio.Plan()
	expect.OK(t)(studio.Cancel(mia, booking))
	// By SQL, because members do not book so much.
	studio.Exec(`
insert into notices select (jsonb_populate_record(n, jsonb_build_object('id', gen_random_uuid(), 'revision', i))).*
from notices n, generate_series(1, 198) i where lane = 'MAIL'`)
	var counts []int
	for more := true; more; {
		taken := expect.Value(studio.App.Messages.TakeNotices(t.Context(), studio.Tenant))(t)
		more = taken.More
		counts = append(counts, taken.Unsent[messages.Unsent{Topic: confirmed, Status: "DROPPED", Reason: notify.NotBooked}])
	}
	test.Eq(t, []int{200, 0}, counts)
}

// The topics that are not about a booking: credits that run low, and notes for staff.
func TestPreferences_ByTopic(t *testing.T) {
	t.Parallel()
	messagetest.Subtests(t, map[string]func(*messagetest.Studio){
		"credits run low, and out": func(studio *messagetest.Studio) {
			plan := studio.AddPlan(credit.Plan{Name: "Three", Kind: credit.Credits, Credits: 3, AllowOverlap: true})
			mia := studio.AddReachable("Mia")
			studio.Subscribe(mia, plan)
			for i, want := range []string{"", "1 credit left on Three", "No credits left on Three"} {
				studio.MustPlace(mia, studio.SessionAt(testkit.Noon.Add(time.Duration(48+i)*time.Hour)))
				got := ""
				for _, m := range mails(studio) {
					if m.Data["topic"] == string(notify.CreditsLow) {
						got += m.Subject
					}
				}
				test.EqOp(studio.T, want, got, test.Sprintf("after booking %d", i+1))
			}
		},
		"staff take credits, and give some": func(studio *messagetest.Studio) {
			plan := studio.AddPlan(credit.Plan{Name: "Three", Kind: credit.Credits, Credits: 3})
			for name, amount := range map[string]int{"Mia": -2, "Noa": -3, "Pia": -1, "Zoe": 1} {
				expect.OK(studio.T)(studio.App.Accounts.GrantCredits(
					t.Context(), studio.Owner, studio.Subscribe(studio.AddReachable(name), plan).ID, amount, "Counted.",
				))
			}
			var told []string
			for _, m := range mails(studio) {
				told = append(told, m.To+": "+m.Subject)
			}
			slices.Sort(told)
			test.Eq(studio.T, []string{
				"mia@example.com: 1 credit left on Three", "noa@example.com: No credits left on Three",
			}, told)
		},
		"a note for owners and admins": func(studio *messagetest.Studio) {
			studio.MakeOffers()
			second(studio, studio.Owner)
			ada, cai := studio.AddReachable("Ada"), studio.AddReachable("Cai")
			for who, role := range map[tenant.MemberID]string{ada.Member: tenant.RoleAdmin, cai.Member: tenant.RoleCoach} {
				expect.OK(studio.T)(studio.App.Accounts.AssignRole(studio.T.Context(), studio.Owner, who, role))
			}
			noa := studio.AddReachable("Noa")
			expect.OK(studio.T)(
				studio.App.Waitlists.DeclineWaitlistOffer(
					studio.T.Context(), noa, studio.Offers(studio.FreeSeat(testkit.Noon.Add(48*time.Hour), noa))[0].ID, false, "",
				),
			)
			studio.Plan()
			studio.Send()
			var told []string
			for _, m := range studio.Provider.Take() {
				if m.Data["topic"] == string(notify.StaffNote) {
					told = append(told, string(m.Channel)+" "+m.To)
					test.NotEqOp(studio.T, "", m.Text)
					test.True(studio.T, contains(m.Title+m.Subject, "Vinyasa"), test.Sprintf("%+v", m))
				}
			}
			slices.Sort(told)
			want := []string{
				"EMAIL ada@example.com", "EMAIL olga@example.com", "PUSH device-of-" + ada.Subject,
				"PUSH tablet-of-" + studio.Owner.Subject,
			}
			test.Eq(studio.T, want, told)
		},
	})
}

// A tenant's own wording is what is sent, in the nearest language there is; one that cannot be used any more gives way
// to the default, and the log says so.
func TestTemplates_OfTheTenant(t *testing.T) {
	t.Parallel()
	studio := withOwnMail(t)
	start := testkit.Noon.Add(48 * time.Hour)
	word := func(locale, subject, body, html string) {
		t.Helper()
		expect.OK(studio.T)(studio.App.Messages.UpdateNotificationTemplate(
			studio.T.Context(), studio.Owner,
			content.Template{Topic: confirmed, Channel: email, Locale: locale, Subject: subject, Body: body, HTML: html}, nil,
		))
	}
	wrote := 0
	sent := func(locale string, party int) delivery.Message {
		t.Helper()
		wrote++
		who := studio.AddReachable(fmt.Sprint("Mia", wrote))
		studio.RemoveDevices(who)
		speaks(studio, who, locale)
		expect.OK(studio.T)(studio.App.Bookings.Book(
			studio.T.Context(), who, bookings.BookRequest{
				Session: studio.SessionAt(start), Party: party, Channel: catalog.Online,
			},
		))
		mails := mails(studio)
		must.EqOp(t, 1, len(mails), must.Sprintf("%d mails", len(mails)))
		return mails[0]
	}
	word("en", "See you at {{.Title}}", "We wait for you, {{.Name}}.", "<b>{{.Name}}</b> {{.When}}")
	word("pt", "Até já: {{.Title}}", "Esperamos por você.", "")
	if m := sent("en-GB", 1); m.Subject != "See you at Vinyasa" || !contains(m.Text, "We wait for you, Mia") ||
		m.HTML[:6] != "<b>Mia" || m.Calendar == nil {
		t.Errorf("%+v", m)
	}
	m := sent("pt-BR", 1)
	test.EqOp(t, "Até já: Vinyasa", m.Subject)
	test.True(t, contains(m.HTML, "Esperamos por você."), test.Sprintf("%+v", m))
	m = sent("de", 1)
	test.True(t, contains(m.Text, "Hallo Mia"), test.Sprintf("%+v", m))
	// It was saved before the topic lost a variable, which no use case accepts now.
	studio.Exec(`update notification_templates set body = '{{.Gone}}' where locale = 'en'`)
	m = sent("en", 1)
	test.True(t, contains(m.Text, "Hello Mia"), test.Sprintf("%+v", m))
	test.False(t, contains(m.HTML, "<b>"), test.Sprintf("%+v", m))
	studio.NoError(studio.App.Messages.ReportDelivery(t.Context(), studio.Tenant, messages.DeliveryReport{
		Delivery: m.ID, Status: delivery.Delivered,
	}))
	test.EqOp(t, 1, studio.Count(`select count(*) from deliveries where reason = 'TEMPLATE'`), test.Sprint("lines say so"))
	studio.ConfirmContacts(studio.Owner)
	expect.Reason(t, fault.TemplateInvalid)(
		studio.App.Messages.SendTestNotification(t.Context(), studio.Owner, confirmed, email, "en"),
	)
	french := func(s *notify.Settings) { s.Locale = "fr" }
	expect.OK(t)(studio.App.Messages.UpdateNotificationSettings(t.Context(), studio.Owner, nil, french))
	m = sent("", 1)
	test.StrContains(t, m.Text, "Bonjour Mia")
	for locale, greets := range map[string]string{"": "Bonjour", "de": "Hallo"} {
		speaks(studio, studio.Owner, locale)
		expect.OK(t)(studio.App.Messages.SendTestNotification(t.Context(), studio.Owner, notify.Reminder, email, ""))
		test.StrContains(t, studio.Provider.Take()[0].Text, greets, test.Sprintf("a test in %q", locale))
	}
	_, had, err := studio.App.Messages.ResetNotificationTemplate(
		studio.T.Context(), studio.Owner, messages.TemplateQuery{Topic: confirmed, Channel: email, Locale: "en"}, nil,
	)
	studio.NoError(err)
	m = sent("en", 1)
	must.True(t, had, must.Sprintf("%+v", m))
	test.True(t, contains(m.Text, "Hello Mia"), test.Sprintf("%+v", m))
	test.EqOp(t, 1, studio.Count(`select count(*) from deliveries where reason = 'TEMPLATE'`))
}
