package messages_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/catalog"
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

// limited returns a change that limits what the platform's accounts send.
func limited(limits notify.SendingLimits) func(*worker.Config, *app.Config) {
	return func(_ *worker.Config, ac *app.Config) { ac.SendingQuotas = limits }
}

// logOf counts the lines that the delivery log has about a topic, without push.
func logOf(studio *messagetest.Studio, topic notify.Topic) map[string]int {
	lines := make(map[string]int)
	for _, line := range studio.Log(topic) {
		if line != "PUSH SENT" {
			lines[line]++
		}
	}
	return lines
}

func quotasOf(studio *messagetest.Studio) []notify.SendingQuota {
	studio.T.Helper()
	return expect.Value(studio.App.Messages.ListSendingQuotas(studio.T.Context(), studio.Owner))(studio.T)
}

// Confirmations beyond the quota wait for the hour that has room for them, and are then sent, without being looked at
// in between. Cancellations go through at once, and make the others wait longer.
func TestSendingQuota_DefersWhatCanWait(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t, limited(notify.SendingLimits{delivery.Email: {Total: 5}}))
	class := studio.SessionAt(testkit.Noon.Add(200*time.Hour), func(in *session.Input) { in.Capacity = new(12) })
	other, leo := studio.SessionAt(testkit.Noon.Add(300*time.Hour)), studio.AddReachable("Leo")
	booking := studio.MustPlace(leo, other).Booking.ID
	studio.Deliver()
	for i := range 12 {
		studio.MustPlace(studio.AddReachable(fmt.Sprint("Mia", i)), class)
	}
	studio.Deliver()
	studio.Provider.Take()
	test.Eq(t, map[string]int{"EMAIL SENT": 5, "EMAIL DEFERRED SENDING_QUOTA": 8}, logOf(studio, confirmed))

	studio.Clock.Advance(75 * time.Minute)
	expect.OK(t)(studio.App.Bookings.CancelBooking(t.Context(), leo, bookings.CancelRequest{ID: booking, Notify: true}))
	test.Eq(t, []string{"BOOKING_CANCELLED EMAIL"}, studio.Run(), test.Sprint("beyond the quota"))
	test.Eq(t, []notify.SendingQuota{{
		Channel: email, Limit: 5, Used: 6, Waiting: 8, Growth: 1, RoomAt: quotasOf(studio)[0].RoomAt,
	}}, quotasOf(studio))

	// The cancellation takes the place of one that was deferred to the next day. It waits an hour longer.
	for day, want := range []map[string]int{
		{"EMAIL SENT": 10, "EMAIL DEFERRED SENDING_QUOTA": 9},
		{"EMAIL SENT": 13, "EMAIL DEFERRED SENDING_QUOTA": 9},
	} {
		for range 26 {
			studio.Clock.Advance(time.Hour)
			studio.Send()
		}
		test.Eq(t, want, logOf(studio, confirmed), test.Sprint("day ", day))
	}
}

// A reminder that would come too late uses another channel, or is dropped with the reason.
func TestSendingQuota_UsesAnotherChannelOrDrops(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t, limited(notify.SendingLimits{
		delivery.SMS: {Total: 1}, delivery.Email: {Total: 2},
	}))
	class := studio.SessionAt(testkit.Noon.Add(23*time.Hour + 45*time.Minute))
	for i, name := range []string{"Mia", "Noa", "Pia"} {
		who := studio.AddMemberWith(member.Member{
			Name: name, Email: name + "@example.com", Phone: fmt.Sprintf("+491511234567%d", i),
		})
		studio.Prefer(who, notify.Preferences{
			{Topic: notify.Reminder, Channel: sms}: true, {Topic: confirmed, Channel: email}: false,
		})
		studio.MustPlace(who, class)
	}
	studio.Run()
	studio.RunAt(testkit.Noon.Add(23*time.Hour + 15*time.Minute))
	test.Eq(t, map[string]int{"SMS SENT": 1, "EMAIL SENT": 2}, logOf(studio, notify.Reminder))

	zoe := studio.AddMemberWith(member.Member{Name: "Zoe", Email: "zoe@example.com"})
	studio.Prefer(zoe, notify.Preferences{{Topic: confirmed, Channel: email}: false})
	studio.MustPlace(zoe, studio.SessionAt(testkit.Noon.Add(26*time.Hour)))
	studio.Deliver()
	studio.RunAt(testkit.Noon.Add(25*time.Hour + 30*time.Minute))
	log := studio.Log(notify.Reminder)
	test.EqOp(t, "EMAIL DROPPED SENDING_QUOTA", log[len(log)-1])
}

// Texts abroad have a quota of their own. The tenant's own countries are those of its locations, not those of its
// settings.
func TestSendingQuota_LimitsEachOtherCountry(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t, limited(notify.SendingLimits{delivery.SMS: {Total: 9, Abroad: 1}}))
	class := studio.SessionAt(testkit.Noon.Add(200*time.Hour), func(in *session.Input) { in.Capacity = new(12) })
	for i, phone := range []string{
		"+4915112345678", "+4915112345679", "+351912345678", "+351912345679", "+33612345678", "+870301234567",
	} {
		who := studio.AddMemberWith(member.Member{Name: fmt.Sprint("Mia", i), Phone: phone})
		studio.Prefer(who, notify.Preferences{{Topic: confirmed, Channel: sms}: true})
		studio.MustPlace(who, class)
	}
	studio.Deliver()
	test.Eq(t, map[string]int{"SMS SENT": 5, "SMS DEFERRED SENDING_QUOTA": 1, " DROPPED UNREACHABLE": 6},
		logOf(studio, confirmed))
	var seen []string
	for _, q := range quotasOf(studio) {
		seen = append(seen, fmt.Sprintf("%s %s %d/%d", q.Channel, q.Country, q.Used, q.Limit))
	}
	test.Eq(t, []string{"SMS  5/9", "SMS FR 1/1", "SMS PT 1/1", "SMS ZZ 1/1"}, seen)
	expect.OK(t)(studio.App.Messages.UpdateNotificationSettings(
		t.Context(), studio.Owner, nil, func(s *notify.Settings) { s.PhoneCountries = []string{"DE", "PT"} },
	))
	test.EqOp(t, 4, len(quotasOf(studio)), test.Sprint("a list of countries lifts no limit"))
	expect.OK(t)(studio.App.Catalog.CreateLocation(t.Context(), studio.Owner, catalog.Location{
		Name: "Cais", TimeZone: "Europe/Lisbon", Active: true,
	}))
	test.EqOp(t, 3, len(quotasOf(studio)), test.Sprint("Portugal is one of the tenant's own"))
}

// What a tenant's own account sends has no quota, and does not count.
func TestSendingQuota_IsForThePlatformsAccounts(t *testing.T) {
	t.Parallel()
	studio := withOwnMail(t, limited(notify.SendingLimits{delivery.Email: {Total: 1}}))
	studio.BookMembers(4)
	studio.Deliver()
	test.Eq(t, map[string]int{"EMAIL SENT": 4}, logOf(studio, confirmed))
	test.SliceEmpty(t, quotasOf(studio))
	test.EqOp(t, 0, studio.Count(`select count(*) from sending_counts`))
	test.EqOp(t, 0, studio.Count(`select count(*) from deliveries where platform and channel = 'EMAIL'`))
	mia := studio.AddReachable("Mia")
	studio.ConfirmContacts(mia)
	for shared, account := range []*messages.TwilioAccount{{AccountSID: "AC1", AuthToken: "x"}, nil} {
		expect.OK(t)(studio.App.Messages.UpdateNotificationSenders(t.Context(), studio.Owner, nil, func(s *messages.Senders) {
			s.Twilio = account
		}))
		expect.OK(t)(studio.App.Messages.SendTestNotification(t.Context(), mia, confirmed, sms, "en"))
		test.EqOp(t, shared, studio.Count(`select count(*) from shared_contacts`), test.Sprint("can be answered there"))
		test.EqOp(t, shared, studio.Count(`select count(*) from deliveries where platform and channel = 'SMS'`))
	}
	setMail(studio, nil)
	test.EqOp(t, 0, quotasOf(studio)[0].Used)
}

// An outage of the provider does not use up the quota: messages that were not sent do not count.
func TestSendingQuota_CountsWhatWasSent(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t, limited(notify.SendingLimits{delivery.Email: {Total: 9}}))
	mia := studio.AddReachable("Mia")
	for _, c := range []struct {
		kind delivery.FailureKind
		used int
	}{{delivery.Transient, 0}, {delivery.Misconfigured, 0}, {delivery.Permanent, 1}, {delivery.Unknown, 2}} {
		studio.Provider.Fail(email, &delivery.Error{Kind: c.kind})
		studio.MustPlace(mia, studio.SessionAt(testkit.InTwoDays.Add(time.Duration(studio.Count(
			`select count(*) from sessions`))*2*time.Hour)))
		studio.Deliver()
		studio.Clock.Advance(0)
		test.EqOp(t, c.used, quotasOf(studio)[0].Used, test.Sprint(c.kind))
		studio.Count(`with x as (update notices set done_at = due_at returning 1) select count(*) from x`)
	}
}

// Test messages and codes are sent beyond the quota, and count.
func TestSendingQuota_CountsTestsAndCodes(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t, limited(notify.SendingLimits{delivery.Email: {Total: 1}}))
	studio.ConfirmContacts(studio.Owner)
	for range 2 {
		expect.OK(t)(studio.App.Messages.SendTestNotification(t.Context(), studio.Owner, confirmed, email, "en"))
	}
	test.EqOp(t, 2, quotasOf(studio)[0].Used)
	expect.OK(t)( // it sends a code instead
		studio.App.Messages.SendTestNotification(t.Context(), studio.AddReachable("Mia"), confirmed, email, "en"),
	)
	studio.Deliver()
	test.EqOp(t, 3, quotasOf(studio)[0].Used)
	test.EqOp(t, 3, len(studio.Provider.Take()))
}

// At three times the quota no codes and tests are sent, and the owners are told. So it is for each channel.
func TestSendingQuota_StopsCodesAtThreeTimes(t *testing.T) {
	t.Parallel()
	for channel, edit := range map[delivery.Channel]func(m *member.Member, n int){
		sms:   func(m *member.Member, n int) { m.Phone = fmt.Sprintf("+491511234567%d", n) },
		email: func(m *member.Member, n int) { m.Email = fmt.Sprintf("new%d@example.com", n) },
	} {
		t.Run(string(channel), func(t *testing.T) {
			t.Parallel()
			studio := messagetest.New(t, limited(notify.SendingLimits{channel: {Total: 2}}))
			asks := func(n int) string {
				who := testkit.SelfOnly(studio.AddMember(fmt.Sprint("Mia", n)))
				_, err := studio.App.Accounts.UpdateMe(t.Context(), who, nil, func(m *member.Member) error {
					edit(m, n)
					return nil
				})
				return faulttest.Text(err)
			}
			codes := func() int {
				studio.Deliver()
				return logOf(studio, notify.ContactCode)[string(channel)+" SENT"]
			}
			for n := range 4 {
				test.EqOp(t, "", asks(n))
			}
			test.EqOp(t, 4, codes())
			for n := range 4 { // as many at once, before any is sent
				test.EqOp(t, "", asks(4+n))
			}
			test.EqOp(t, 6, codes())
			test.Eq(t, map[string]int{string(channel) + " SENT": 6, string(channel) + " DROPPED SENDING_QUOTA": 2},
				logOf(studio, notify.ContactCode))
			test.EqOp(t, "QUOTA_EXCEEDED limit=6 quota=sent_messages", asks(8))
			ada := studio.AddPerson("Ada", tenant.RoleAdmin)
			studio.EditMember(ada, func(m *member.Member) { m.Email, m.Phone = "ada@example.com", "+4915112345600" })
			studio.ConfirmContacts(ada)
			_, err := studio.App.Messages.SendTestNotification(t.Context(), ada, confirmed, channel, "en")
			test.EqOp(t, "QUOTA_EXCEEDED limit=6 quota=sent_messages", faulttest.Text(err))

			studio.Deliver()
			told := ""
			for _, m := range studio.Provider.Take() {
				if m.Subject == "Codes are no longer sent" {
					told += m.To
				}
			}
			test.EqOp(t, "olga@example.com", told)
			studio.Clock.Advance(25 * time.Hour)
			test.EqOp(t, "", asks(9))
		})
	}
}

// Text messages go to mobile numbers only, also to numbers that staff entered.
func TestSending_TextsGoToMobileNumbersOnly(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t)
	for phone, want := range map[string]int{
		"+4915112345678": 1, "+12125550123": 1, // Americans take their numbers with them
		"+4930123456": 0, "+49900112345": 0, // Berlin; premium
	} {
		who := studio.AddMemberWith(member.Member{Name: "Mia" + phone, Phone: phone})
		studio.Prefer(who, notify.Preferences{{Topic: notify.SessionCancelled, Channel: sms}: true})
		class := studio.SessionAt(testkit.Noon.Add(200 * time.Hour))
		studio.MustPlace(who, class)
		studio.Deliver()
		expect.OK(t)(studio.App.Schedules.CancelSession(t.Context(), studio.Owner, class, schedules.Removal{Notify: true}))
		studio.Deliver()
		texts := 0
		for _, m := range studio.Provider.Take() {
			if m.Channel == sms && m.To == phone {
				texts++
			}
		}
		test.EqOp(t, want, texts, test.Sprint(phone))
	}
}

// The audit log has each share that is reached, once a day.
func TestSendingQuota_TellsWhenItIsReached(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t, limited(notify.SendingLimits{delivery.Email: {Total: 5}}))
	var alarms []notify.SendingAlarm
	class := studio.SessionAt(testkit.InTwoDays, func(in *session.Input) { in.Capacity = new(12) })
	book := func(n int) {
		for range n {
			studio.MustPlace(studio.AddReachable(fmt.Sprint("Mia", studio.Count(`select count(*) from members`))), class)
		}
		studio.Plan()
		alarms = append(alarms, expect.Value(studio.App.Messages.TakeNotices(t.Context(), studio.Tenant))(t).Alarms...)
	}
	book(3)
	test.SliceEmpty(t, alarms)
	book(1)
	book(2)
	book(1)
	test.Eq(t, []notify.SendingAlarm{
		{Channel: email, Percent: 80, Limit: 5, Used: 4}, {Channel: email, Percent: 100, Limit: 5, Used: 5},
	}, alarms)
	test.EqOp(t, 2, studio.Count(`select count(*) from audit_entries where action = 'sending_quota.reached'`))
	test.Eq(t, map[string]any{"channel": "EMAIL", "country": "", "percent": 100.0, "limit": 5.0, "used": 5.0},
		studio.LastAudit("sending_quota.reached"))
}

// Two nodes take different notices at the same moment. Serializable transactions keep both within the quota. Without
// those, both take what is left of it.
func TestSendingQuota_HoldsForTwoNodes(t *testing.T) {
	t.Parallel()
	for name, careless := range map[string]bool{"guarded": false, "unguarded": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			barrier, base := testkit.NewRace(t)
			studio := messagetest.On(base, limited(notify.SendingLimits{delivery.Email: {Total: 2}}))
			studio.BookMembers(4)
			studio.Plan()
			barrier.ReadCommitted = careless
			var lists atomic.Int32
			barrier.Rewrite = func(sql string) string { // one node finds the first mails, the other one the last
				order := "order by due_at, id limit $3"
				if !strings.Contains(sql, order) {
					return sql
				}
				half := "and lane = 'MAIL' order by id limit least($3, 2)"
				if lists.Add(1) > 1 {
					half = "and lane = 'MAIL' order by id desc limit least($3, 2)"
				}
				return strings.Replace(sql, order, half, 1)
			}
			sent := make([]int, 2)
			take := func(i int, node *messagetest.Studio) func() {
				return func() {
					sent[i] = len(expect.Value(node.App.Messages.TakeNotices(t.Context(), studio.Tenant))(t).Out)
				}
			}
			barrier.Run(take(0, studio), take(1, studio.OtherNode()))
			test.EqOp(t, map[bool]int{false: 2, true: 4}[careless], sent[0]+sent[1])
			test.EqOp(t, 4, studio.Count(`select count(distinct notice_id) from deliveries`), test.Sprint("were taken"))
		})
	}
}

// The quota doubles after a week of good messages, at a sweep, and halves as soon as many bounce.
func TestSendingQuota_GrowsWithGoodStanding(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t, limited(notify.SendingLimits{delivery.Email: {Total: 20}}))
	sweep := func() { expect.OK(t)(studio.App.Housekeeping.SweepTenant(t.Context(), studio.Tenant)) }
	growth := func() int { return quotasOf(studio)[0].Growth }
	var everyone []tenant.Caller
	for i := range 20 {
		everyone = append(everyone, studio.AddReachable(fmt.Sprint("Mia", i)))
	}
	book := func() {
		class := studio.SessionAt(studio.Clock.Now().Add(72*time.Hour), func(in *session.Input) { in.Capacity = new(20) })
		for _, who := range everyone {
			studio.MustPlace(who, class)
		}
		studio.Deliver()
	}
	book()
	sweep()
	test.EqOp(t, 1, growth())
	studio.Clock.Advance(3 * 24 * time.Hour)
	book()
	sweep()
	test.EqOp(t, 1, growth(), test.Sprint("not a week yet"))
	studio.Clock.Advance(4 * 24 * time.Hour)
	book()
	sweep()
	test.EqOp(t, 2, growth())
	sweep()
	test.EqOp(t, 2, growth(), test.Sprint("once a day"))
	studio.Clock.Advance(25 * time.Hour)
	studio.Provider.Fail(email, &delivery.Error{Kind: delivery.Unregistered})
	book()
	studio.Clock.Advance(time.Minute)
	sweep()
	test.EqOp(t, 1, growth())
	test.EqOp(t, 0, studio.Count(`select (select count(*) from sending_counts where hour < $1) +
  (select count(*) from sending_standings where channel = 'SMS')`, // no text message was sent
		notify.SendingSince(studio.Clock.Now())))
	test.EqOp(t, 2, studio.Count(`select count(*) from audit_entries where action = 'sending_quota.changed'`))
	test.Eq(t, map[string]any{"channel": "EMAIL", "before": 2.0, "after": 1.0, "sent": 40.0, "bad": 20.0},
		studio.LastAudit("sending_quota.changed"))
}

// Only what was sent within the last week earns more.
func TestSendingQuota_DoesNotGrowByWaiting(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t, limited(notify.SendingLimits{delivery.Email: {Total: 5}}))
	mia := studio.AddReachable("Mia")
	for _, n := range []int{5, 4} {
		for i := range n {
			studio.MustPlace(mia, studio.SessionAt(studio.Clock.Now().Add(time.Duration(48+i)*time.Hour)))
		}
		studio.Deliver()
		expect.OK(t)(studio.App.Housekeeping.SweepTenant(t.Context(), studio.Tenant))
		test.EqOp(t, 1, quotasOf(studio)[0].Growth)
		studio.Clock.Advance(7*24*time.Hour + time.Second)
	}
}
