package messages_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// Each reason for which nothing is sent, from what somebody did to the line of the log that tells it, and to what
// leaves once it no longer holds.
func TestGuardrails_LogTheReason(t *testing.T) {
	t.Parallel()
	start := testkit.Noon.Add(48 * time.Hour)
	wants := func(h *messagetest.Studio, who tenant.Caller, chosen notify.Preferences) {
		h.T.Helper()
		_, err := h.App.Messages.UpdateNotificationPreferences(h.T.Context(), who, messages.PreferencesEdit{Chosen: chosen})
		h.NoError(err)
	}
	settings := func(h *messagetest.Studio, edit func(*notify.Settings)) {
		h.T.Helper()
		_, err := h.App.Messages.UpdateNotificationSettings(h.T.Context(), h.Owner, nil, edit)
		h.NoError(err)
	}
	byMail := notify.Preferences{{Topic: confirmed, Channel: push}: false}
	bySMS := notify.Preferences{
		{Topic: confirmed, Channel: push}: false, {Topic: confirmed, Channel: email}: false,
		{Topic: confirmed, Channel: sms}: true,
	}
	// testkit.Noon is 13:00 in Berlin
	afternoon := notify.QuietHours{Start: civil.TimeOfDay{Hour: 13}, End: civil.TimeOfDay{Hour: 14, Minute: 30}}
	for name, c := range map[string]struct {
		topic notify.Topic
		does  func(h *messagetest.Studio, mia tenant.Caller)
		log   []string // once it has fallen due
		later time.Duration
		then  []string // what the log has after that, too
	}{
		"nothing is wanted": {confirmed, func(h *messagetest.Studio, mia tenant.Caller) {
			wants(
				h, mia, notify.Preferences{{Topic: confirmed, Channel: push}: false, {Topic: confirmed, Channel: email}: false},
			)
			h.MustPlace(mia, h.SessionAt(start))
		}, []string{" DROPPED UNSUBSCRIBED"}, time.Hour, nil},
		"all mails are stopped": {confirmed, func(h *messagetest.Studio, mia tenant.Caller) {
			wants(h, mia, byMail)
			h.StopMails(mia)
			h.MustPlace(mia, h.SessionAt(start))
		}, []string{" DROPPED UNSUBSCRIBED"}, time.Hour, nil},
		"the address has bounced": {confirmed, func(h *messagetest.Studio, mia tenant.Caller) {
			wants(h, mia, byMail)
			h.BounceMail(mia)
			h.MustPlace(mia, h.SessionAt(start))
		}, []string{" DROPPED BOUNCED"}, time.Hour, nil},
		"STOP": {confirmed, func(h *messagetest.Studio, mia tenant.Caller) {
			wants(h, mia, bySMS)
			_, err := h.App.Messages.AnswerSMS(h.T.Context(), h.Tenant, h.PhoneOf(mia), "stop")
			h.NoError(err)
			h.MustPlace(mia, h.SessionAt(start))
		}, []string{" DROPPED OPTED_OUT"}, time.Hour, nil},
		"another tenant's STOP is none": {confirmed, func(h *messagetest.Studio, mia tenant.Caller) {
			wants(h, mia, bySMS)
			_, err := h.App.Messages.AnswerSMS(h.T.Context(), h.OtherTenant("Dock Pilates").Tenant, h.PhoneOf(mia), "stop")
			h.NoError(err)
			h.MustPlace(mia, h.SessionAt(start))
		}, []string{"SMS SENT"}, time.Hour, nil},
		"no address, no number, no device": {confirmed, func(h *messagetest.Studio, _ tenant.Caller) {
			leo := h.AddMember("Leo")
			h.MustPlace(leo, h.SessionAt(start))
		}, []string{" DROPPED UNREACHABLE"}, time.Hour, nil},
		"the tenant's quiet hours": {confirmed, func(h *messagetest.Studio, mia tenant.Caller) {
			settings(h, func(s *notify.Settings) { s.Quiet = afternoon })
			h.MustPlace(mia, h.SessionAt(start))
		}, []string{" DEFERRED QUIET_HOURS", " DEFERRED QUIET_HOURS"}, 90 * time.Minute, []string{"PUSH SENT", "EMAIL SENT"}},
		"but not for mails": {confirmed, func(h *messagetest.Studio, mia tenant.Caller) {
			settings(h, func(s *notify.Settings) { s.Quiet, s.EmailInQuiet = afternoon, true })
			h.MustPlace(mia, h.SessionAt(start))
		}, []string{" DEFERRED QUIET_HOURS", "EMAIL SENT"}, 90 * time.Minute, []string{"PUSH SENT"}},
		"a member's own": {confirmed, func(h *messagetest.Studio, mia tenant.Caller) {
			own := &afternoon
			_, err := h.App.Messages.UpdateNotificationPreferences(h.T.Context(), mia, messages.PreferencesEdit{Quiet: &own})
			h.NoError(err)
			h.MustPlace(mia, h.SessionAt(start))
		}, []string{" DEFERRED QUIET_HOURS", " DEFERRED QUIET_HOURS"}, 90 * time.Minute, []string{"PUSH SENT", "EMAIL SENT"}},
		"a member's own come before the tenant's": {confirmed, func(h *messagetest.Studio, mia tenant.Caller) {
			settings(h, func(s *notify.Settings) { s.Quiet = afternoon })
			own := new(notify.QuietHours{Start: civil.TimeOfDay{Hour: 1}, End: civil.TimeOfDay{Hour: 2}})
			_, err := h.App.Messages.UpdateNotificationPreferences(h.T.Context(), mia, messages.PreferencesEdit{Quiet: &own})
			h.NoError(err)
			h.MustPlace(mia, h.SessionAt(start))
		}, []string{"PUSH SENT", "EMAIL SENT"}, time.Hour, nil},
		"quiet on another clock": {confirmed, func(h *messagetest.Studio, mia tenant.Caller) {
			livesIn(h, mia, "Asia/Tokyo") // where it is 21:00
			h.MustPlace(mia, h.SessionAt(start))
		}, []string{" DEFERRED QUIET_HOURS", " DEFERRED QUIET_HOURS"}, 11 * time.Hour, []string{"PUSH SENT", "EMAIL SENT"}},
		"enough mails for a day": {confirmed, func(h *messagetest.Studio, mia tenant.Caller) {
			wants(h, mia, byMail)
			settings(h, func(s *notify.Settings) { s.PerDay[email] = 1 })
			h.MustPlace(mia, h.SessionAt(start))
			h.Run()
			h.Clock.Advance(time.Minute)
			h.MustPlace(mia, h.SessionAt(start.Add(2*time.Hour)))
		}, []string{"EMAIL SENT", " DEFERRED FREQUENCY_CAP"}, 24*time.Hour - time.Minute, []string{"EMAIL SENT"}},
		"enough SMS for a day": {confirmed, func(h *messagetest.Studio, mia tenant.Caller) {
			wants(h, mia, bySMS)
			settings(h, func(s *notify.Settings) { s.PerDay[sms] = 1 })
			h.MustPlace(mia, h.SessionAt(start))
			h.Run()
			h.Clock.Advance(time.Minute)
			h.MustPlace(mia, h.SessionAt(start.Add(2*time.Hour)))
		}, []string{"SMS SENT", " DEFERRED FREQUENCY_CAP"}, 24*time.Hour - time.Minute, []string{"SMS SENT"}},
		"no longer booked": {confirmed, func(h *messagetest.Studio, mia tenant.Caller) {
			_, err := h.App.Bookings.CancelBooking(
				h.T.Context(), mia, bookings.CancelRequest{ID: h.MustPlace(mia, h.SessionAt(start)).Booking.ID},
			)
			h.NoError(err)
		}, []string{" DROPPED NOT_BOOKED", " DROPPED NOT_BOOKED"}, time.Hour, nil},
		"the session is gone": {confirmed, func(h *messagetest.Studio, mia tenant.Caller) {
			class := h.SessionAt(start)
			h.MustPlace(mia, class)
			_, err := h.App.Schedules.CancelSession(h.T.Context(), h.Owner, class, "", false)
			h.NoError(err)
		}, []string{" DROPPED NOT_BOOKED", " DROPPED NOT_BOOKED"}, time.Hour, nil},
		"moved before it was told": {confirmed, func(h *messagetest.Studio, mia tenant.Caller) {
			class := h.SessionAt(start)
			h.MustPlace(mia, class)
			h.Plan()
			to := start.Add(time.Hour)
			_, _, err := h.App.Schedules.UpdateSession(
				h.T.Context(), h.Owner, class, nil, session.Input{StartsAt: to, EndsAt: to.Add(time.Hour)}, session.TimeFields,
			)
			h.NoError(err)
		}, []string{" DROPPED MOVED", " DROPPED MOVED"}, time.Hour, nil},
		"moved before the reminder": {notify.Reminder, func(h *messagetest.Studio, mia tenant.Caller) {
			class := h.SessionAt(start)
			h.MustPlace(mia, class)
			h.Run()
			to := start.Add(time.Hour)
			_, _, err := h.App.Schedules.UpdateSession(
				h.T.Context(), h.Owner, class, nil, session.Input{StartsAt: to, EndsAt: to.Add(time.Hour)}, session.TimeFields,
			)
			h.NoError(err)
			h.Run()
			h.Clock.Set(start.Add(-24 * time.Hour))
		}, []string{" DROPPED MOVED"}, time.Hour, []string{"PUSH SENT"}},
		"there already": {notify.Reminder, func(h *messagetest.Studio, mia tenant.Caller) {
			booking := h.MustPlace(mia, h.SessionAt(testkit.Noon.Add(50*time.Minute))).Booking.ID
			h.Run()
			_, err := h.App.Bookings.CheckIn(h.T.Context(), h.Owner, booking)
			h.NoError(err)
			h.Clock.Set(testkit.Noon.Add(20 * time.Minute))
		}, []string{" DROPPED SUPERSEDED"}, 10 * time.Minute, nil},
		"no longer a member": {confirmed, func(h *messagetest.Studio, mia tenant.Caller) {
			h.MustPlace(mia, h.SessionAt(start))
			_, err := h.App.Accounts.UpdateMember(
				h.T.Context(), h.Owner, mia.Member, nil, func(m *member.Member) error { m.Status = member.Inactive; return nil },
			)
			h.NoError(err)
		}, []string{" DROPPED SUPERSEDED", " DROPPED SUPERSEDED"}, time.Hour, nil},
		"the session has begun": {confirmed, func(h *messagetest.Studio, mia tenant.Caller) {
			h.MustPlace(mia, h.SessionAt(testkit.Noon.Add(time.Hour)))
			h.Plan()
			h.Clock.Set(testkit.Noon.Add(time.Hour))
		}, []string{" DROPPED TOO_LATE", " DROPPED TOO_LATE"}, time.Hour, nil},
		"nobody has planned for a day": {confirmed, func(h *messagetest.Studio, mia tenant.Caller) {
			h.MustPlace(mia, h.SessionAt(start))
			h.Clock.Set(testkit.Noon.Add(24*time.Hour + time.Second))
		}, nil, time.Hour, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := messagetest.New(t)
			c.does(h, h.AddReachable("Mia"))
			h.Run()
			h.WantLog("when it is due", c.topic, c.log...)
			h.Clock.Advance(c.later)
			h.Run()
			h.WantLog("later", c.topic, slices.Concat(c.log, c.then)...)
		})
	}
}

// Whoever reads the log anew, from its beginning, tells nobody anything twice. That is the unique key's doing: without
// it they would.
func TestNotices_PlannedTwiceAreSentOnce(t *testing.T) {
	t.Parallel()
	for name, keyed := range map[string]bool{"guarded": true, "unguarded": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := messagetest.New(t)
			h.BookMembers(3)
			if n := len(h.Run()); n != 6 {
				t.Fatalf("%d messages", n)
			}
			// By SQL, because no use case forgets how far the log was read.
			h.Exec(`delete from event_consumers where tenant_id = $1`, h.Tenant)
			if !keyed {
				h.Exec(`update notices set revision = revision || '-'`) // as if each were about something else
			}
			again := h.Run()
			if keyed && len(again) != 0 {
				t.Errorf("told again: %v", again)
			}
			if !keyed && len(again) == 0 {
				t.Error("the control tells nothing again")
			}
		})
	}
}

// The topics that are not about a booking: credits that run low, and notes for staff.
func TestPreferences_ByTopic(t *testing.T) {
	t.Parallel()
	t.Run("credits run low, and out", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		plan, err := h.App.Catalog.CreatePlan(
			h.T.Context(), h.Owner,
			credit.Plan{Name: "Three", Kind: credit.Credits, Credits: 3, AllowOverlap: true, Active: true},
		)
		h.NoError(err)
		mia := h.AddReachable("Mia")
		_, err = h.App.Accounts.Subscribe(
			h.T.Context(), h.Owner, accounts.SubscribeRequest{Member: mia.Member, Plan: plan.ID},
		)
		h.NoError(err)
		for i, want := range []string{"", "1 credit left on Three", "No credits left on Three"} {
			h.MustPlace(mia, h.SessionAt(testkit.Noon.Add(time.Duration(48+i)*time.Hour)))
			got := ""
			for _, m := range mails(h) {
				if m.Data["topic"] == string(notify.CreditsLow) {
					got += m.Subject
				}
			}
			if got != want {
				t.Errorf("after booking %d: %q, want %q", i+1, got, want)
			}
		}
	})
	t.Run("a note for owners and admins", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		h.MakeOffers()
		second(h, h.Owner)
		ada, cai := h.AddReachable("Ada"), h.AddReachable("Cai")
		for who, role := range map[tenant.MemberID]string{ada.Member: tenant.RoleAdmin, cai.Member: tenant.RoleCoach} {
			_, err := h.App.Accounts.AssignRole(h.T.Context(), h.Owner, who, role)
			h.NoError(err)
		}
		noa := h.AddReachable("Noa")
		class := h.FreeSeat(testkit.Noon.Add(48*time.Hour), noa)
		_, err := h.App.Waitlists.DeclineOffer(h.T.Context(), noa, h.Offers(class)[0].ID, false, "")
		h.NoError(err)
		h.Plan()
		h.Send()
		var told []string
		for _, m := range h.Provider.Take() {
			if m.Data["topic"] == string(notify.StaffNote) {
				told = append(told, string(m.Channel)+" "+m.To)
				if m.Text == "" || !contains(m.Title+m.Subject, "Vinyasa") {
					t.Errorf("%+v", m)
				}
			}
		}
		slices.Sort(told)
		want := []string{
			"EMAIL ada@example.com", "EMAIL olga@example.com", "PUSH device-of-" + ada.Subject,
			"PUSH tablet-of-" + h.Owner.Subject,
		}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Error(diff)
		}
	})
}

// A tenant's own wording is what is sent, in the nearest language there is; one that cannot be used any more gives way
// to the default, and the log says so.
func TestTemplates_OfTheTenant(t *testing.T) {
	t.Parallel()
	h := messagetest.New(t)
	start := testkit.Noon.Add(48 * time.Hour)
	word := func(locale, subject, body, html string) {
		t.Helper()
		_, err := h.App.Messages.UpdateTemplate(
			h.T.Context(), h.Owner,
			notify.Template{Topic: confirmed, Channel: email, Locale: locale, Subject: subject, Body: body, HTML: html}, nil,
		)
		h.NoError(err)
	}
	wrote := 0
	sent := func(locale string, party int) notify.Message {
		t.Helper()
		wrote++
		who := h.AddReachable(fmt.Sprint("Mia", wrote))
		h.RemoveDevices(who)
		speaks(h, who, locale)
		_, err := h.App.Bookings.Book(
			h.T.Context(), who, bookings.BookRequest{Session: h.SessionAt(start), Party: party, Channel: catalog.Online},
		)
		h.NoError(err)
		mails := mails(h)
		if len(mails) != 1 {
			t.Fatalf("%d mails", len(mails))
		}
		return mails[0]
	}
	word("en", "See you at {{.Title}}", "We wait for you, {{.Name}}.", "<b>{{.Name}}</b> {{.When}}")
	word("pt", "Até já: {{.Title}}", "Esperamos por você.", "")
	if m := sent("en-GB", 1); m.Subject != "See you at Vinyasa" || !contains(m.Text, "We wait for you, Mia") ||
		m.HTML[:6] != "<b>Mia" || m.Calendar == nil {
		t.Errorf("%+v", m)
	}
	if m := sent("pt-BR", 1); m.Subject != "Até já: Vinyasa" || !contains(m.HTML, "Esperamos por você.") {
		t.Errorf("%+v", m)
	}
	if m := sent("de", 1); !contains(m.Text, "Hallo Mia") {
		t.Errorf("%+v", m)
	}
	// It was saved before the topic lost a variable, which no use case accepts now.
	h.Exec(`update notification_templates set body = '{{.Gone}}' where locale = 'en'`)
	if m := sent("en", 1); !contains(m.Text, "Hello Mia") || contains(m.HTML, "<b>") {
		t.Errorf("%+v", m)
	}
	if n := h.Count(`select count(*) from deliveries where reason = 'TEMPLATE'`); n != 1 {
		t.Errorf("%d lines say so", n)
	}
	_, had, err := h.App.Messages.ResetTemplate(
		h.T.Context(), h.Owner, messages.TemplateQuery{Topic: confirmed, Channel: email, Locale: "en"}, nil,
	)
	h.NoError(err)
	if m := sent("en", 1); !had || !contains(m.Text, "Hello Mia") ||
		h.Count(`select count(*) from deliveries where reason = 'TEMPLATE'`) != 1 {
		t.Errorf("%+v", m)
	}
}
