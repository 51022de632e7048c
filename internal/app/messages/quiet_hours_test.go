package messages_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/events"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/messagetest"
	"github.com/berthhq/berth/internal/worker"
)

func livesIn(h *messagetest.Studio, who tenant.Caller, zone string) {
	h.T.Helper()
	_, err := h.App.Accounts.UpdateMe(
		h.T.Context(), who, nil, func(m *memberValue) error { m.TimeZone = zone; return nil },
	)
	h.NoError(err)
}

// From the waitlist to the provider: the quiet hours of messages need not be those that the waitlist reckoned with when
// it made the offer. The seat is kept all the same until somebody was told, and for the whole window from then on.
func TestQuietHours_OfferWindowStartsInTheMorning(t *testing.T) {
	t.Parallel()
	late := time.Date(2026, 3, 16, 22, 0, 0, 0, time.UTC)   // 23:00 in Berlin
	seven := time.Date(2026, 3, 17, 6, 0, 0, 0, time.UTC)   // 07:00: the rules' quiet hours are over
	morning := time.Date(2026, 3, 17, 7, 0, 0, 0, time.UTC) // 08:00: so are the tenant's
	otherwise := func(s *waitlist.Settings) {               // than messages, which have 21:00 to 08:00
		s.QuietHours = &waitlist.QuietHours{From: civil.TimeOfDay{Hour: 22}, Until: civil.TimeOfDay{Hour: 7}}
	}
	told := func(h *messagetest.Studio, what string, got []string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			h.T.Errorf("%s (-want +got):\n%s", what, diff)
		}
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
	tick := func(h *messagetest.Studio, at time.Time) []string {
		t.Helper()
		h.Clock.Set(at)
		_, err := h.App.Housekeeping.SweepTenant(h.T.Context(), h.Tenant)
		h.NoError(err)
		return only(h.Run())
	}
	t.Run("the window begins in the morning", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		h.MakeOffers(otherwise)
		noa := h.AddReachable("Noa")
		h.Clock.Set(late)
		class := h.FreeSeat(late.Add(24*time.Hour), noa)
		told(h, "at night", tick(h, late))
		told(h, "when the rules' night is over", tick(h, seven.Add(45*time.Minute)))
		told(h, "in the morning", tick(h, morning), "OFFER EMAIL", "OFFER PUSH")
		o := h.Offers(class)[0]
		if o.Status != waitlist.Live || !o.ExpiresAt.Equal(morning.Add(30*time.Minute)) {
			t.Errorf("in the morning it is %s until %v", o.Status, o.ExpiresAt)
		}
		told(h, "in its last quarter", tick(h, morning.Add(23*time.Minute)), "OFFER_EXPIRING PUSH")
		told(h, "when it is over", tick(h, morning.Add(30*time.Minute)))
		if o := h.Offers(class)[0]; o.Status != waitlist.RanOut {
			t.Errorf("in the end it is %s", o.Status)
		}
	})
	t.Run("a member's own quiet hours, far away", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		h.MakeOffers()
		noa := h.AddReachable("Noa")
		livesIn(h, noa, "Asia/Tokyo")
		h.Clock.Set(testkit.Noon) // 21:00 in Tokyo
		class := h.FreeSeat(testkit.Noon.Add(48*time.Hour), noa)
		told(h, "in the evening", tick(h, testkit.Noon))
		eight := time.Date(2026, 3, 16, 23, 0, 0, 0, time.UTC)
		told(h, "in the night", tick(h, eight.Add(-time.Minute)))
		told(h, "in the morning", tick(h, eight), "OFFER EMAIL", "OFFER PUSH")
		if o := h.Offers(class)[0]; !o.ExpiresAt.Equal(eight.Add(30 * time.Minute)) {
			t.Errorf("it ends at %v", o.ExpiresAt)
		}
	})
	t.Run("a mail that may go out at night tells it", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		h.MakeOffers(func(s *waitlist.Settings) { s.QuietHours = &waitlist.QuietHours{} }) // none
		_, err := h.App.Messages.UpdateNotificationSettings(
			h.T.Context(), h.Owner, nil, func(s *notify.Settings) { s.EmailInQuiet = true },
		)
		h.NoError(err)
		noa := h.AddReachable("Noa")
		h.Clock.Set(late)
		class := h.FreeSeat(late.Add(24*time.Hour), noa)
		told(h, "at night", tick(h, late), "OFFER EMAIL")
		if o := h.Offers(class)[0]; !o.ExpiresAt.Equal(late.Add(30 * time.Minute)) {
			t.Errorf("it ends at %v", o.ExpiresAt)
		}
		told(h, "in the morning", tick(h, morning))
	})
	t.Run("where the session begins first, the next person is asked at once", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		h.MakeOffers(otherwise)
		noa, kai := h.AddReachable("Noa"), h.AddReachable("Kai")
		livesIn(h, kai, "America/New_York") // where it is 18:00
		h.Clock.Set(late)
		class := h.FreeSeat(seven.Add(55*time.Minute), noa, kai)
		told(h, "her phone is silent", tick(h, late))
		told(h, "his is not", tick(h, late), "OFFER EMAIL", "OFFER PUSH")
		for _, o := range h.Offers(class) {
			if want := map[tenant.MemberID]waitlist.OfferStatus{
				noa.Member: waitlist.Withdrawn, kai.Member: waitlist.Live,
			}[o.Member]; o.Status != want {
				t.Errorf("the offer to %s is %s", o.MemberName, o.Status)
			}
		}
		if n := h.Count(
			`select count(*) from deliveries where member_id = $1 and topic = 'OFFER' and status = 'DROPPED'
				and reason = 'QUIET_HOURS'`,
			noa.Member,
		); n != 2 {
			t.Errorf("%d lines tell why she was not asked", n)
		}
	})
	t.Run("a provider that was away", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		h.MakeOffers()
		noa := h.AddReachable("Noa")
		class := h.FreeSeat(testkit.Noon.Add(48*time.Hour), noa)
		h.Provider.Fail(push, &notify.SendError{Kind: notify.Transient})
		h.Plan()
		_, err := h.App.Messages.UpdateNotificationPreferences(
			h.T.Context(), noa,
			messages.PreferencesEdit{
				Chosen: notify.Preferences{
					{Topic: notify.Offered, Channel: email}: false, {Topic: notify.Offered, Channel: sms}: false,
				},
			},
		)
		h.NoError(err)
		h.Send()
		h.Provider.Fail(push, nil)
		h.Provider.Take()
		again := testkit.Noon.Add(5 * time.Minute)
		told(h, "when it is back", tick(h, again), "OFFER PUSH")
		if o := h.Offers(class)[0]; !o.ExpiresAt.Equal(again.Add(30 * time.Minute)) {
			t.Errorf("it ends at %v", o.ExpiresAt)
		}
	})
	t.Run("an end that staff have chosen stays", func(t *testing.T) {
		t.Parallel()
		h := messagetest.New(t)
		h.MakeOffers(otherwise)
		noa := h.AddReachable("Noa")
		full := h.SessionAt(late.Add(72*time.Hour), func(in *session.Input) { in.Capacity = new(1) })
		h.MustPlace(h.AddReachable("Mia"), full)
		entry := h.MustPlace(noa, full).Entry.ID
		h.Run()
		h.Clock.Set(late)
		class := h.SessionAt(late.Add(24 * time.Hour))
		_, err := h.App.Waitlists.OfferPlace(t.Context(), h.Owner, waitlists.OfferRequest{
			Session: class, Entry: entry, Until: morning.Add(10 * time.Minute),
		})
		h.NoError(err)
		told(h, "at night", tick(h, late))
		told(h, "in the morning", tick(h, morning), "OFFER EMAIL", "OFFER PUSH")
		if o := h.Offers(class)[0]; !o.ExpiresAt.Equal(morning.Add(10 * time.Minute)) {
			t.Errorf("it ends at %v", o.ExpiresAt)
		}
	})
}

// Staff may offer a place at night, until before the morning: they have called. It stands, though no message tells it.
func TestQuietHours_OfferByHandStays(t *testing.T) {
	t.Parallel()
	h := messagetest.New(t)
	h.MakeOffers()
	noa, kai := h.AddReachable("Noa"), h.AddReachable("Kai")
	full := h.SessionAt(testkit.Noon.Add(72*time.Hour), func(in *session.Input) { in.Capacity = new(1) })
	h.MustPlace(h.AddReachable("Mia"), full)
	entry := h.MustPlace(noa, full).Entry.ID
	h.MustPlace(kai, full)
	h.Run()
	late := testkit.Noon.Add(10 * time.Hour) // 23:00 in Berlin
	h.Clock.Set(late)
	class := h.SessionAt(testkit.Noon.Add(48 * time.Hour))
	o, err := h.App.Waitlists.OfferPlace(
		h.T.Context(), h.Owner, waitlists.OfferRequest{Session: class, Entry: entry, Until: late.Add(10 * time.Minute)},
	)
	h.NoError(err)
	if sent := h.Run(); len(sent) > 0 {
		t.Errorf("at night: %v", sent)
	}
	if all := h.Offers(class); len(all) != 1 || all[0].Status != waitlist.Live || !all[0].ExpiresAt.Equal(o.ExpiresAt) {
		t.Errorf("%+v", all)
	}
	_, err = h.App.Waitlists.AcceptOffer(h.T.Context(), noa, o.ID, tenant.SubscriptionID{})
	h.NoError(err)
}

// Whoever watches a countdown hears of an end that moves, once and at once, and until when it runs since.
func TestQuietHours_ExtendedOfferIsAnEvent(t *testing.T) {
	t.Parallel()
	var committed atomic.Int64
	h := messagetest.New(
		t, func(_ *worker.Config, ac *app.Config) { ac.Committed = func(tenant.TenantID) { committed.Add(1) } },
	)
	h.MakeOffers(func(s *waitlist.Settings) { // which end before those of messages
		s.QuietHours = &waitlist.QuietHours{From: civil.TimeOfDay{Hour: 22}, Until: civil.TimeOfDay{Hour: 7}}
	})
	noa := h.AddReachable("Noa")
	h.Clock.Set(testkit.Noon.Add(10 * time.Hour)) // 23:00 in Berlin
	class := h.FreeSeat(testkit.Noon.Add(48*time.Hour), noa)
	before := h.Offers(class)[0]
	h.Plan()
	so := committed.Load()
	h.Send()
	o := h.Offers(class)[0]
	if moved := o.ExpiresAt.Sub(before.ExpiresAt); moved != time.Hour || committed.Load() == so {
		t.Errorf("the end moves by %v, and %d times something was committed", moved, committed.Load()-so)
	}
	h.RunAt(testkit.Noon.Add(19 * time.Hour)) // in the morning it is told, and stays as it is
	noa.SelfOnly = true
	for name, who := range map[string]tenant.Caller{"staff": h.Owner, "the member": noa} {
		page, err := h.App.Events.ListEvents(
			h.T.Context(), who,
			events.EventQuery{Filter: events.EventFilter{Types: []events.EventType{outbox.OfferExtended}}, Limit: 10},
		)
		h.NoError(err)
		if len(page.Events) != 1 {
			t.Fatalf("%s: %d events", name, len(page.Events))
		}
		e := page.Events[0]
		if e.Session != class || e.Member != noa.Member || e.Offer != o.ID.UUID || e.Entry != o.Entry ||
			e.Actor != "system" ||
			e.Data["expire_time"] != o.ExpiresAt.UTC().Format(time.RFC3339Nano) {
			t.Errorf("%s: %+v, want the end %s", name, e, o.ExpiresAt)
		}
	}
}
