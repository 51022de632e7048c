package messages_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/events"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
	"github.com/berthhq/berth/internal/worker"
)

func livesIn(studio *messagetest.Studio, who tenant.Caller, zone string) {
	studio.T.Helper()
	expect.OK(studio.T)(studio.App.Accounts.UpdateMe(
		studio.T.Context(), who, nil, func(m *memberValue) error { m.TimeZone = zone; return nil },
	))
}

// From the waitlist to the provider: the quiet hours of messages may differ from those that the waitlist used when it
// made the offer. The seat is kept until the member was told, and for the whole window from then on.
func TestQuietHours_OfferWindowStartsInTheMorning(t *testing.T) {
	t.Parallel()
	late := time.Date(2026, 3, 16, 22, 0, 0, 0, time.UTC)   // 23:00 in Berlin
	seven := time.Date(2026, 3, 17, 6, 0, 0, 0, time.UTC)   // 07:00: the rules' quiet hours are over
	morning := time.Date(2026, 3, 17, 7, 0, 0, 0, time.UTC) // 08:00: so are the tenant's
	otherwise := func(s *waitlist.Settings) {               // than messages, which have 21:00 to 08:00
		s.QuietHours = &waitlist.QuietHours{From: civil.TimeOfDay{Hour: 22}, Until: civil.TimeOfDay{Hour: 7}}
	}
	told := func(studio *messagetest.Studio, what string, got []string, want ...string) {
		t.Helper()
		test.EqOp(studio.T, "", cmp.Diff(want, got), test.Sprintf("%s (-want +got):\n", what))
	}
	only := func(lines []string) []string { // offers are what it is about
		var offers []string
		for _, line := range lines {
			if contains(line, "OFFER") {
				offers = append(offers, line)
			}
		}
		return offers
	}
	tick := func(studio *messagetest.Studio, at time.Time) []string {
		t.Helper()
		studio.Clock.Set(at)
		expect.OK(studio.T)(studio.App.Housekeeping.SweepTenant(studio.T.Context(), studio.Tenant))
		return only(studio.Run())
	}
	messagetest.Subtests(t, map[string]func(*messagetest.Studio){
		"the window begins in the morning": func(studio *messagetest.Studio) {
			studio.MakeOffers(otherwise)
			noa := studio.AddReachable("Noa")
			studio.Prefer(noa, noMailOfOffers)
			studio.Clock.Set(late)
			class := studio.FreeSeat(late.Add(24*time.Hour), noa)
			told(studio, "at night", tick(studio, late))
			told(studio, "when the rules' night is over", tick(studio, seven.Add(45*time.Minute)))
			told(studio, "in the morning", tick(studio, morning), "OFFER PUSH")
			o := studio.Offers(class)[0]
			test.EqOp(studio.T, waitlist.Live, o.Status,
				test.Sprintf("in the morning it is %s until %v", o.Status, o.ExpiresAt))
			test.True(studio.T, o.ExpiresAt.Equal(morning.Add(30*time.Minute)),
				test.Sprintf("in the morning it is %s until %v", o.Status, o.ExpiresAt))
			told(studio, "in its last quarter", tick(studio, morning.Add(23*time.Minute)), "OFFER_EXPIRING PUSH")
			told(studio, "when it is over", tick(studio, morning.Add(30*time.Minute)))
			test.EqOp(studio.T, waitlist.RanOut, studio.Offers(class)[0].Status, test.Sprint("in the end it"))
		},
		"a member's own quiet hours, far away": func(studio *messagetest.Studio) {
			studio.MakeOffers()
			noa := studio.AddReachable("Noa")
			studio.Prefer(noa, noMailOfOffers)
			livesIn(studio, noa, "Asia/Tokyo")
			studio.Clock.Set(testkit.Noon) // 21:00 in Tokyo
			class := studio.FreeSeat(testkit.Noon.Add(48*time.Hour), noa)
			told(studio, "in the evening", tick(studio, testkit.Noon))
			eight := time.Date(2026, 3, 16, 23, 0, 0, 0, time.UTC)
			told(studio, "in the night", tick(studio, eight.Add(-time.Minute)))
			told(studio, "in the morning", tick(studio, eight), "OFFER PUSH")
			o := studio.Offers(class)[0]
			test.True(studio.T, o.ExpiresAt.Equal(eight.Add(30*time.Minute)), test.Sprintf("it ends at %v", o.ExpiresAt))
		},
		"a mail that may go out at night tells it": func(studio *messagetest.Studio) {
			studio.MakeOffers(func(s *waitlist.Settings) { s.QuietHours = &waitlist.QuietHours{} }) // none
			noa := studio.AddReachable("Noa")
			studio.Clock.Set(late)
			class := studio.FreeSeat(late.Add(24*time.Hour), noa)
			told(studio, "at night", tick(studio, late), "OFFER EMAIL")
			o := studio.Offers(class)[0]
			test.True(studio.T, o.ExpiresAt.Equal(late.Add(30*time.Minute)), test.Sprintf("it ends at %v", o.ExpiresAt))
			told(studio, "in the morning", tick(studio, morning))
		},
		"where the session begins first, the next person is asked at once": func(studio *messagetest.Studio) {
			studio.MakeOffers(otherwise)
			noa, kai := studio.AddReachable("Noa"), studio.AddReachable("Kai")
			studio.Prefer(noa, noMailOfOffers)
			livesIn(studio, kai, "America/New_York") // where it is 18:00
			studio.Clock.Set(late)
			class := studio.FreeSeat(seven.Add(55*time.Minute), noa, kai)
			told(studio, "her phone is silent", tick(studio, late))
			told(studio, "his is not", tick(studio, late), "OFFER EMAIL", "OFFER PUSH")
			for _, o := range studio.Offers(class) {
				test.EqOp(studio.T, map[tenant.MemberID]waitlist.OfferStatus{
					noa.Member: waitlist.Withdrawn, kai.Member: waitlist.Live,
				}[o.Member], o.Status, test.Sprintf("the offer to %s", o.MemberName))
			}
			test.EqOp(studio.T, 1, studio.Count(
				`select count(*) from deliveries where member_id = $1 and topic = 'OFFER' and status = 'DROPPED'
					and reason = 'QUIET_HOURS'`,
				noa.Member,
			), test.Sprint("lines tell why she was not asked"))
		},
		"a provider that was away": func(studio *messagetest.Studio) {
			studio.MakeOffers()
			noa := studio.AddReachable("Noa")
			class := studio.FreeSeat(testkit.Noon.Add(48*time.Hour), noa)
			studio.Provider.Fail(push, &delivery.Error{Kind: delivery.Transient})
			studio.Plan()
			expect.OK(studio.T)(studio.App.Messages.UpdateNotificationPreferences(
				studio.T.Context(), noa,
				messages.PreferencesEdit{
					Chosen: notify.Preferences{
						{Topic: notify.Offered, Channel: email}: false, {Topic: notify.Offered, Channel: sms}: false,
					},
				},
			))
			studio.Send()
			studio.Provider.Fail(push, nil)
			studio.Provider.Take()
			again := testkit.Noon.Add(5 * time.Minute)
			told(studio, "when it is back", tick(studio, again), "OFFER PUSH")
			o := studio.Offers(class)[0]
			test.True(studio.T, o.ExpiresAt.Equal(again.Add(30*time.Minute)), test.Sprintf("it ends at %v", o.ExpiresAt))
		},
		"an end that staff have chosen stays": func(studio *messagetest.Studio) {
			studio.MakeOffers(otherwise)
			noa := studio.AddReachable("Noa")
			studio.Prefer(noa, noMailOfOffers)
			full := studio.SessionAt(late.Add(72*time.Hour), func(in *session.Input) { in.Capacity = new(1) })
			studio.MustPlace(studio.AddReachable("Mia"), full)
			entry := studio.MustPlace(noa, full).Entry.ID
			studio.Run()
			studio.Clock.Set(late)
			class := studio.SessionAt(late.Add(24 * time.Hour))
			ask := waitlists.OfferRequest{Session: class, Entry: entry, Until: morning.Add(10 * time.Minute)}
			expect.OK(studio.T)(studio.App.Waitlists.CreateWaitlistOffer(studio.T.Context(), studio.Owner, ask))
			told(studio, "at night", tick(studio, late))
			told(studio, "in the morning", tick(studio, morning), "OFFER PUSH")
			o := studio.Offers(class)[0]
			test.True(studio.T, o.ExpiresAt.Equal(morning.Add(10*time.Minute)), test.Sprintf("it ends at %v", o.ExpiresAt))
		},
	})
}

// Staff may offer a place at night, until before the morning: they have called. It stands, though no message tells it.
// A reminder comes by push, or else by mail. Its mail is no way around the night: it is sent in quiet hours only if the
// morning is too late for the push notification.
func TestQuietHours_MailInsteadOfPushOnlyIfTheMorningIsTooLate(t *testing.T) {
	t.Parallel()
	night := time.Date(2026, 3, 16, 22, 0, 0, 0, time.UTC) // 23:00 in Berlin
	morning := night.Add(9 * time.Hour)
	type row struct {
		start  time.Time // the reminder is due at night
		device bool      // the member has one
		want   []string  // at night
		then   []string  // in the morning
	}
	messagetest.Each(t, map[string]row{
		"a session of tomorrow":   {night.Add(24 * time.Hour), true, nil, []string{"REMINDER PUSH"}},
		"a session of this night": {night.Add(30 * time.Minute), true, []string{"REMINDER EMAIL"}, nil},
		"nothing comes before it": {night.Add(24 * time.Hour), false, []string{"REMINDER EMAIL"}, nil},
	}, func(studio *messagetest.Studio, c row) {
		studio.Clock.Set(night.Add(-10 * time.Hour))
		mia := studio.AddReachable("Mia")
		if !c.device {
			studio.RemoveDevices(mia)
		}
		studio.Prefer(mia, notify.Preferences{{Topic: notify.CheckInOpen, Channel: push}: false})
		studio.MustPlace(mia, studio.SessionAt(c.start))
		studio.Run()
		studio.RunAt(night.Add(-time.Minute))
		test.Eq(studio.T, c.want, studio.RunAt(night), test.Sprint("at night"))
		test.Eq(studio.T, c.then, studio.RunAt(morning), test.Sprint("in the morning"))
	})
}

func TestQuietHours_OfferByHandStays(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t)
	studio.MakeOffers()
	noa, kai := studio.AddReachable("Noa"), studio.AddReachable("Kai")
	studio.Prefer(noa, noMailOfOffers)
	full := studio.SessionAt(testkit.Noon.Add(72*time.Hour), func(in *session.Input) { in.Capacity = new(1) })
	studio.MustPlace(studio.AddReachable("Mia"), full)
	entry := studio.MustPlace(noa, full).Entry.ID
	studio.MustPlace(kai, full)
	studio.Run()
	late := testkit.Noon.Add(10 * time.Hour) // 23:00 in Berlin
	studio.Clock.Set(late)
	class := studio.SessionAt(testkit.Noon.Add(48 * time.Hour))
	o := expect.Value(studio.App.Waitlists.CreateWaitlistOffer(
		studio.T.Context(), studio.Owner, waitlists.OfferRequest{
			Session: class, Entry: entry, Until: late.Add(10 * time.Minute),
		},
	))(studio.T)
	sent := studio.Run()
	test.True(t, len(sent) == 0, test.Sprintf("at night: %v", sent))
	all := studio.Offers(class)
	must.SliceLen(t, 1, all)
	test.EqOp(t, waitlist.Live, all[0].Status)
	test.True(t, all[0].ExpiresAt.Equal(o.ExpiresAt), test.Sprintf("%+v", all))
	expect.OK(studio.T)(studio.App.Waitlists.AcceptWaitlistOffer(studio.T.Context(), noa, o.ID, tenant.SubscriptionID{}))
}

// An offer whose end moves gives one event, immediately, with the new end, so that apps can update their countdown.
func TestQuietHours_ExtendedOfferIsAnEvent(t *testing.T) {
	t.Parallel()
	var committed atomic.Int64
	studio := messagetest.New(
		t, func(_ *worker.Config, ac *app.Config) { ac.Committed = func(tenant.TenantID) { committed.Add(1) } },
	)
	studio.MakeOffers(func(s *waitlist.Settings) { // which end before those of messages
		s.QuietHours = &waitlist.QuietHours{From: civil.TimeOfDay{Hour: 22}, Until: civil.TimeOfDay{Hour: 7}}
	})
	noa := studio.AddReachable("Noa")
	studio.Prefer(noa, noMailOfOffers)
	studio.Clock.Set(testkit.Noon.Add(10 * time.Hour)) // 23:00 in Berlin
	class := studio.FreeSeat(testkit.Noon.Add(48*time.Hour), noa)
	before := studio.Offers(class)[0]
	studio.Plan()
	so := committed.Load()
	studio.Send()
	o := studio.Offers(class)[0]
	moved := o.ExpiresAt.Sub(before.ExpiresAt)
	test.EqOp(t, time.Hour, moved,
		test.Sprintf("the end moves by %v, and %d times something was committed", moved, committed.Load()-so))
	test.NotEqOp(t, so, committed.Load(),
		test.Sprintf("the end moves by %v, and %d times something was committed", moved, committed.Load()-so))
	studio.RunAt(testkit.Noon.Add(19 * time.Hour)) // in the morning it is told, and stays as it is
	noa.SelfOnly = true
	for name, who := range map[string]tenant.Caller{"staff": studio.Owner, "the member": noa} {
		page := expect.Value(studio.App.Events.ListEvents(
			studio.T.Context(), testkit.ReaderOfAll(who),
			events.EventQuery{Filter: events.EventFilter{Types: []events.EventType{event.OfferExtended{}.Type()}}, Limit: 10},
		))(studio.T)
		must.EqOp(t, 1, len(page.Events), must.Sprintf("%s: %d events", name, len(page.Events)))
		e := page.Events[0]
		test.EqOp(t, class, e.Session, test.Sprintf("%s: %+v, want the end %s", name, e, o.ExpiresAt))
		test.EqOp(t, noa.Member, e.Member, test.Sprintf("%s: %+v, want the end %s", name, e, o.ExpiresAt))
		test.EqOp(t, o.ID, e.Offer, test.Sprintf("%s: %+v, want the end %s", name, e, o.ExpiresAt))
		test.EqOp(t, o.Entry, e.Entry, test.Sprintf("%s: %+v, want the end %s", name, e, o.ExpiresAt))
		test.EqOp(t, "system", e.Actor, test.Sprintf("%s: %+v, want the end %s", name, e, o.ExpiresAt))
		test.EqOp(t, event.Facts{Status: string(waitlist.Live), Party: 1}, e.Facts, test.Sprint(name))
		test.Eq[event.Data](t, event.OfferExtended{Expires: o.ExpiresAt}, e.Data, test.Sprint(name))
	}
}
