package worker_test

import (
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
)

// Each reason for which nothing is sent, from what somebody did to the line of the log that tells it, and to what leaves once it no longer holds.
func TestWhyNothingIsSent(t *testing.T) {
	t.Parallel()
	start := noon.Add(48 * time.Hour)
	wants := func(h *house, who tenant.Caller, chosen notify.Preferences) {
		h.t.Helper()
		_, err := h.app.Messages.UpdateNotificationPreferences(h.ctx(), who, messages.PreferencesEdit{Chosen: chosen})
		h.ok(err)
	}
	settings := func(h *house, edit func(*notify.Settings)) {
		h.t.Helper()
		_, err := h.app.Messages.UpdateNotificationSettings(h.ctx(), h.Owner, nil, edit)
		h.ok(err)
	}
	byMail := notify.Preferences{{Topic: confirmed, Channel: push}: false}
	bySMS := notify.Preferences{{Topic: confirmed, Channel: push}: false, {Topic: confirmed, Channel: email}: false, {Topic: confirmed, Channel: sms}: true}
	afternoon := notify.QuietHours{Start: civil.TimeOfDay{Hour: 13}, End: civil.TimeOfDay{Hour: 14, Minute: 30}} // noon is 13:00 in Berlin
	for name, c := range map[string]struct {
		topic notify.Topic
		does  func(h *house, mia tenant.Caller)
		log   []string // once it has fallen due
		later time.Duration
		then  []string // what the log has after that, too
	}{
		"nothing is wanted": {confirmed, func(h *house, mia tenant.Caller) {
			wants(h, mia, notify.Preferences{{Topic: confirmed, Channel: push}: false, {Topic: confirmed, Channel: email}: false})
			h.book(mia, h.session(start))
		}, []string{" DROPPED UNSUBSCRIBED"}, time.Hour, nil},
		"all mails are stopped": {confirmed, func(h *house, mia tenant.Caller) {
			wants(h, mia, byMail)
			h.exec(`insert into notification_stops (tenant_id, channel, address, reason, created_at) values ($1, 'EMAIL', 'mia@example.com', 'UNSUBSCRIBED', $2)`, h.Tenant, noon)
			h.book(mia, h.session(start))
		}, []string{" DROPPED UNSUBSCRIBED"}, time.Hour, nil},
		"the address has bounced": {confirmed, func(h *house, mia tenant.Caller) {
			wants(h, mia, byMail)
			h.exec(`insert into notification_stops (tenant_id, channel, address, reason, created_at) values ($1, 'EMAIL', 'mia@example.com', 'BOUNCED', $2)`, h.Tenant, noon)
			h.book(mia, h.session(start))
		}, []string{" DROPPED BOUNCED"}, time.Hour, nil},
		"STOP": {confirmed, func(h *house, mia tenant.Caller) {
			wants(h, mia, bySMS)
			_, err := h.app.Messages.AnswerSMS(h.ctx(), h.Tenant, h.phone(mia), "stop")
			h.ok(err)
			h.book(mia, h.session(start))
		}, []string{" DROPPED OPTED_OUT"}, time.Hour, nil},
		"another tenant's STOP is none": {confirmed, func(h *house, mia tenant.Caller) {
			wants(h, mia, bySMS)
			_, err := h.app.Messages.AnswerSMS(h.ctx(), h.neighbour("Dock Pilates").Tenant, h.phone(mia), "stop")
			h.ok(err)
			h.book(mia, h.session(start))
		}, []string{"SMS SENT"}, time.Hour, nil},
		"no address, no number, no device": {confirmed, func(h *house, _ tenant.Caller) {
			leo := h.nobody("Leo")
			h.book(leo, h.session(start))
		}, []string{" DROPPED UNREACHABLE"}, time.Hour, nil},
		"the tenant's quiet hours": {confirmed, func(h *house, mia tenant.Caller) {
			settings(h, func(s *notify.Settings) { s.Quiet = afternoon })
			h.book(mia, h.session(start))
		}, []string{" DEFERRED QUIET_HOURS", " DEFERRED QUIET_HOURS"}, 90 * time.Minute, []string{"PUSH SENT", "EMAIL SENT"}},
		"but not for mails": {confirmed, func(h *house, mia tenant.Caller) {
			settings(h, func(s *notify.Settings) { s.Quiet, s.EmailInQuiet = afternoon, true })
			h.book(mia, h.session(start))
		}, []string{" DEFERRED QUIET_HOURS", "EMAIL SENT"}, 90 * time.Minute, []string{"PUSH SENT"}},
		"a member's own": {confirmed, func(h *house, mia tenant.Caller) {
			own := &afternoon
			_, err := h.app.Messages.UpdateNotificationPreferences(h.ctx(), mia, messages.PreferencesEdit{Quiet: &own})
			h.ok(err)
			h.book(mia, h.session(start))
		}, []string{" DEFERRED QUIET_HOURS", " DEFERRED QUIET_HOURS"}, 90 * time.Minute, []string{"PUSH SENT", "EMAIL SENT"}},
		"a member's own come before the tenant's": {confirmed, func(h *house, mia tenant.Caller) {
			settings(h, func(s *notify.Settings) { s.Quiet = afternoon })
			own := new(notify.QuietHours{Start: civil.TimeOfDay{Hour: 1}, End: civil.TimeOfDay{Hour: 2}})
			_, err := h.app.Messages.UpdateNotificationPreferences(h.ctx(), mia, messages.PreferencesEdit{Quiet: &own})
			h.ok(err)
			h.book(mia, h.session(start))
		}, []string{"PUSH SENT", "EMAIL SENT"}, time.Hour, nil},
		"quiet on another clock": {confirmed, func(h *house, mia tenant.Caller) {
			livesIn(h, mia, "Asia/Tokyo") // where it is 21:00
			h.book(mia, h.session(start))
		}, []string{" DEFERRED QUIET_HOURS", " DEFERRED QUIET_HOURS"}, 11 * time.Hour, []string{"PUSH SENT", "EMAIL SENT"}},
		"enough mails for a day": {confirmed, func(h *house, mia tenant.Caller) {
			wants(h, mia, byMail)
			settings(h, func(s *notify.Settings) { s.PerDay[email] = 1 })
			h.book(mia, h.session(start))
			h.run()
			h.later(time.Minute)
			h.book(mia, h.session(start.Add(2*time.Hour)))
		}, []string{"EMAIL SENT", " DEFERRED FREQUENCY_CAP"}, 24*time.Hour - time.Minute, []string{"EMAIL SENT"}},
		"enough SMS for a day": {confirmed, func(h *house, mia tenant.Caller) {
			wants(h, mia, bySMS)
			settings(h, func(s *notify.Settings) { s.PerDay[sms] = 1 })
			h.book(mia, h.session(start))
			h.run()
			h.later(time.Minute)
			h.book(mia, h.session(start.Add(2*time.Hour)))
		}, []string{"SMS SENT", " DEFERRED FREQUENCY_CAP"}, 24*time.Hour - time.Minute, []string{"SMS SENT"}},
		"no longer booked": {confirmed, func(h *house, mia tenant.Caller) {
			_, err := h.app.Bookings.CancelBooking(h.ctx(), mia, bookings.CancelRequest{ID: h.book(mia, h.session(start)).Booking.ID})
			h.ok(err)
		}, []string{" DROPPED NOT_BOOKED", " DROPPED NOT_BOOKED"}, time.Hour, nil},
		"the session is gone": {confirmed, func(h *house, mia tenant.Caller) {
			class := h.session(start)
			h.book(mia, class)
			_, err := h.app.Schedules.CancelSession(h.ctx(), h.Owner, class, "", false)
			h.ok(err)
		}, []string{" DROPPED NOT_BOOKED", " DROPPED NOT_BOOKED"}, time.Hour, nil},
		"moved before it was told": {confirmed, func(h *house, mia tenant.Caller) {
			class := h.session(start)
			h.book(mia, class)
			h.consume()
			to := start.Add(time.Hour)
			_, _, err := h.app.Schedules.UpdateSession(h.ctx(), h.Owner, class, nil, session.Input{StartsAt: to, EndsAt: to.Add(time.Hour)}, session.TimeFields)
			h.ok(err)
		}, []string{" DROPPED MOVED", " DROPPED MOVED"}, time.Hour, nil},
		"moved before the reminder": {notify.Reminder, func(h *house, mia tenant.Caller) {
			class := h.session(start)
			h.book(mia, class)
			h.run()
			to := start.Add(time.Hour)
			_, _, err := h.app.Schedules.UpdateSession(h.ctx(), h.Owner, class, nil, session.Input{StartsAt: to, EndsAt: to.Add(time.Hour)}, session.TimeFields)
			h.ok(err)
			h.run()
			h.clock.Set(start.Add(-24 * time.Hour))
		}, []string{" DROPPED MOVED"}, time.Hour, []string{"PUSH SENT"}},
		"there already": {notify.Reminder, func(h *house, mia tenant.Caller) {
			booking := h.book(mia, h.session(noon.Add(50*time.Minute))).Booking.ID
			h.run()
			_, err := h.app.Bookings.CheckIn(h.ctx(), h.Owner, booking)
			h.ok(err)
			h.clock.Set(noon.Add(20 * time.Minute))
		}, []string{" DROPPED SUPERSEDED"}, 10 * time.Minute, nil},
		"no longer a member": {confirmed, func(h *house, mia tenant.Caller) {
			h.book(mia, h.session(start))
			_, err := h.app.Accounts.UpdateMember(h.ctx(), h.Owner, mia.Member, nil, func(m *member.Member) error { m.Status = member.Inactive; return nil })
			h.ok(err)
		}, []string{" DROPPED SUPERSEDED", " DROPPED SUPERSEDED"}, time.Hour, nil},
		"the session has begun": {confirmed, func(h *house, mia tenant.Caller) {
			h.book(mia, h.session(noon.Add(time.Hour)))
			h.consume()
			h.clock.Set(noon.Add(time.Hour))
		}, []string{" DROPPED TOO_LATE", " DROPPED TOO_LATE"}, time.Hour, nil},
		"nobody has planned for a day": {confirmed, func(h *house, mia tenant.Caller) {
			h.book(mia, h.session(start))
			h.clock.Set(noon.Add(24*time.Hour + time.Second))
		}, nil, time.Hour, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			c.does(h, h.member("Mia"))
			h.run()
			h.wantLines("when it is due", c.topic, c.log...)
			h.later(c.later)
			h.run()
			h.wantLines("later", c.topic, slices.Concat(c.log, c.then)...)
		})
	}
}

// nobody is a member whom nothing reaches.
func (h *house) nobody(name string) tenant.Caller {
	h.t.Helper()
	m, err := h.app.Accounts.CreateMember(h.ctx(), h.Owner, member.Member{Subject: "nobody", Name: name})
	h.ok(err)
	return tenant.Caller{Tenant: h.Tenant, Subject: "nobody", Member: m.ID, Roles: []string{tenant.RoleMember}}
}

func (h *house) exec(sql string, args ...any) {
	h.t.Helper()
	_, err := h.db.Owner.Exec(h.ctx(), sql, args...)
	h.ok(err)
}

// Whoever reads the log anew, from its beginning, tells nobody anything twice. That is the unique key's doing: without it they would.
func TestWhatIsPlannedTwiceLeavesOnce(t *testing.T) {
	t.Parallel()
	for name, keyed := range map[string]bool{"guarded": true, "unguarded": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.crowd(3)
			if n := len(h.run()); n != 6 {
				t.Fatalf("%d messages", n)
			}
			h.exec(`delete from event_consumers where tenant_id = $1`, h.Tenant)
			if !keyed {
				h.exec(`update notices set revision = revision || '-'`) // as if each were about something else
			}
			again := h.run()
			if keyed && len(again) != 0 {
				t.Errorf("told again: %v", again)
			}
			if !keyed && len(again) == 0 {
				t.Error("the control tells nothing again")
			}
		})
	}
}

// The topics that are told without a booking of one's own: credits that run low, and a note for those who run the house.
func TestTopicsOfTheirOwn(t *testing.T) {
	t.Parallel()
	t.Run("credits run low, and out", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		plan, err := h.app.Catalog.CreatePlan(h.ctx(), h.Owner, credit.Plan{Name: "Three", Kind: credit.Credits, Credits: 3, AllowOverlap: true, Active: true})
		h.ok(err)
		mia := h.member("Mia")
		_, err = h.app.Accounts.Subscribe(h.ctx(), h.Owner, accounts.SubscribeRequest{Member: mia.Member, Plan: plan.ID})
		h.ok(err)
		for i, want := range []string{"", "1 credit left on Three", "No credits left on Three"} {
			h.book(mia, h.session(noon.Add(time.Duration(48+i)*time.Hour)))
			got := ""
			for _, m := range h.mails() {
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
		h := newHouse(t)
		h.offering()
		h.second(h.Owner)
		ada, cai := h.member("Ada"), h.member("Cai")
		for who, role := range map[tenant.MemberID]string{ada.Member: tenant.RoleAdmin, cai.Member: tenant.RoleCoach} {
			_, err := h.app.Accounts.AssignRole(h.ctx(), h.Owner, who, role)
			h.ok(err)
		}
		noa := h.member("Noa")
		class := h.freed(noon.Add(48*time.Hour), noa)
		_, err := h.app.Waitlists.DeclineOffer(h.ctx(), noa, h.offers(class)[0].ID, false, "")
		h.ok(err)
		h.consume()
		h.ok(h.dispatcher.Deliver(h.ctx(), h.Tenant))
		var told []string
		for _, m := range h.post.take() {
			if m.Data["topic"] == string(notify.StaffNote) {
				told = append(told, string(m.Channel)+" "+m.To)
				if m.Text == "" || !contains(m.Title+m.Subject, "Vinyasa") {
					t.Errorf("%+v", m)
				}
			}
		}
		slices.Sort(told)
		want := []string{"EMAIL ada@example.com", "EMAIL olga@example.com", "PUSH device-of-" + ada.Subject, "PUSH tablet-of-" + h.Owner.Subject}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Error(diff)
		}
	})
}

// A tenant's own wording is what is sent, in the nearest language there is; one that cannot be used any more gives way to the default, and the log
// says so.
func TestATenantsOwnWording(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	start := noon.Add(48 * time.Hour)
	word := func(locale, subject, body, html string) {
		t.Helper()
		_, err := h.app.Messages.UpdateTemplate(h.ctx(), h.Owner, notify.Template{Topic: confirmed, Channel: email, Locale: locale, Subject: subject, Body: body, HTML: html}, nil)
		h.ok(err)
	}
	sent := func(locale string, party int) notify.Message {
		t.Helper()
		h.serial++
		who := h.member("Mia" + string(rune('a'+h.serial)))
		devices(h, who)
		speaks(h, who, locale)
		_, err := h.app.Bookings.Book(h.ctx(), who, bookings.BookRequest{Session: h.session(start), Party: party, Channel: catalog.Online})
		h.ok(err)
		mails := h.mails()
		if len(mails) != 1 {
			t.Fatalf("%d mails", len(mails))
		}
		return mails[0]
	}
	word("en", "See you at {{.Title}}", "We wait for you, {{.Name}}.", "<b>{{.Name}}</b> {{.When}}")
	word("pt", "Até já: {{.Title}}", "Esperamos por você.", "")
	if m := sent("en-GB", 1); m.Subject != "See you at Vinyasa" || !contains(m.Text, "We wait for you, Mia") || m.HTML[:6] != "<b>Mia" || m.Calendar == nil {
		t.Errorf("%+v", m)
	}
	if m := sent("pt-BR", 1); m.Subject != "Até já: Vinyasa" || !contains(m.HTML, "Esperamos por você.") {
		t.Errorf("%+v", m)
	}
	if m := sent("de", 1); !contains(m.Text, "Hallo Mia") {
		t.Errorf("%+v", m)
	}
	// It was saved before the topic lost a variable.
	h.exec(`update notification_templates set body = '{{.Gone}}' where locale = 'en'`)
	if m := sent("en", 1); !contains(m.Text, "Hello Mia") || contains(m.HTML, "<b>") {
		t.Errorf("%+v", m)
	}
	if n := h.count(`select count(*) from deliveries where reason = 'TEMPLATE'`); n != 1 {
		t.Errorf("%d lines say so", n)
	}
	_, had, err := h.app.Messages.ResetTemplate(h.ctx(), h.Owner, messages.TemplateQuery{Topic: confirmed, Channel: email, Locale: "en"}, nil)
	h.ok(err)
	if m := sent("en", 1); !had || !contains(m.Text, "Hello Mia") || h.count(`select count(*) from deliveries where reason = 'TEMPLATE'`) != 1 {
		t.Errorf("%+v", m)
	}
}
