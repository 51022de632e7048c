package worker_test

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
	"github.com/berthhq/berth/internal/worker"
)

func livesIn(h *house, who tenant.Caller, zone string) {
	h.t.Helper()
	_, err := h.app.Accounts.UpdateMe(h.ctx(), who, nil, func(m *memberValue) error { m.TimeZone = zone; return nil })
	h.ok(err)
}

// From the waitlist to the provider: the quiet hours of messages need not be those that the waitlist reckoned with when it made the
// offer. The seat is kept all the same until somebody was told, and for the whole window from then on.
func TestTheNightDoesNotEatAnOffer(t *testing.T) {
	t.Parallel()
	late := time.Date(2026, 3, 16, 22, 0, 0, 0, time.UTC)   // 23:00 in Berlin
	seven := time.Date(2026, 3, 17, 6, 0, 0, 0, time.UTC)   // 07:00: the rules' quiet hours are over
	morning := time.Date(2026, 3, 17, 7, 0, 0, 0, time.UTC) // 08:00: so are the tenant's
	otherwise := func(s *waitlist.Settings) {               // than messages, which have 21:00 to 08:00
		s.QuietHours = &waitlist.QuietHours{From: civil.TimeOfDay{Hour: 22}, Until: civil.TimeOfDay{Hour: 7}}
	}
	told := func(h *house, what string, got []string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			h.t.Errorf("%s (-want +got):\n%s", what, diff)
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
	tick := func(h *house, at time.Time) []string {
		t.Helper()
		h.clock.Set(at)
		_, err := h.app.Housekeeping.SweepTenant(h.ctx(), h.Tenant)
		h.ok(err)
		return only(h.run())
	}
	t.Run("the window begins in the morning", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.offering(otherwise)
		noa := h.member("Noa")
		h.clock.Set(late)
		class := h.freed(late.Add(24*time.Hour), noa)
		told(h, "at night", tick(h, late))
		told(h, "when the rules' night is over", tick(h, seven.Add(45*time.Minute)))
		told(h, "in the morning", tick(h, morning), "OFFER EMAIL", "OFFER PUSH")
		o := h.offers(class)[0]
		if o.Status != waitlist.Live || !o.ExpiresAt.Equal(morning.Add(30*time.Minute)) {
			t.Errorf("in the morning it is %s until %v", o.Status, o.ExpiresAt)
		}
		told(h, "in its last quarter", tick(h, morning.Add(23*time.Minute)), "OFFER_EXPIRING PUSH")
		told(h, "when it is over", tick(h, morning.Add(30*time.Minute)))
		if o := h.offers(class)[0]; o.Status != waitlist.RanOut {
			t.Errorf("in the end it is %s", o.Status)
		}
	})
	t.Run("a member's own quiet hours, far away", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.offering()
		noa := h.member("Noa")
		livesIn(h, noa, "Asia/Tokyo")
		h.clock.Set(noon) // 21:00 in Tokyo
		class := h.freed(noon.Add(48*time.Hour), noa)
		told(h, "in the evening", tick(h, noon))
		eight := time.Date(2026, 3, 16, 23, 0, 0, 0, time.UTC)
		told(h, "in the night", tick(h, eight.Add(-time.Minute)))
		told(h, "in the morning", tick(h, eight), "OFFER EMAIL", "OFFER PUSH")
		if o := h.offers(class)[0]; !o.ExpiresAt.Equal(eight.Add(30 * time.Minute)) {
			t.Errorf("it ends at %v", o.ExpiresAt)
		}
	})
	t.Run("a mail that may go out at night tells it", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.offering(func(s *waitlist.Settings) { s.QuietHours = &waitlist.QuietHours{} }) // none
		_, err := h.app.Messages.UpdateNotificationSettings(h.ctx(), h.Owner, nil, func(s *notify.Settings) { s.EmailInQuiet = true })
		h.ok(err)
		noa := h.member("Noa")
		h.clock.Set(late)
		class := h.freed(late.Add(24*time.Hour), noa)
		told(h, "at night", tick(h, late), "OFFER EMAIL")
		if o := h.offers(class)[0]; !o.ExpiresAt.Equal(late.Add(30 * time.Minute)) {
			t.Errorf("it ends at %v", o.ExpiresAt)
		}
		told(h, "in the morning", tick(h, morning))
	})
	t.Run("where the session begins first, the next person is asked at once", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.offering(otherwise)
		noa, kai := h.member("Noa"), h.member("Kai")
		livesIn(h, kai, "America/New_York") // where it is 18:00
		h.clock.Set(late)
		class := h.freed(seven.Add(55*time.Minute), noa, kai)
		told(h, "her phone is silent", tick(h, late))
		told(h, "his is not", tick(h, late), "OFFER EMAIL", "OFFER PUSH")
		for _, o := range h.offers(class) {
			if want := map[tenant.MemberID]waitlist.OfferStatus{noa.Member: waitlist.Withdrawn, kai.Member: waitlist.Live}[o.Member]; o.Status != want {
				t.Errorf("the offer to %s is %s", o.MemberName, o.Status)
			}
		}
		if n := h.count(`select count(*) from deliveries where member_id = $1 and topic = 'OFFER' and status = 'DROPPED' and reason = 'QUIET_HOURS'`, noa.Member); n != 2 {
			t.Errorf("%d lines tell why she was not asked", n)
		}
	})
	t.Run("a provider that was away", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.offering()
		noa := h.member("Noa")
		class := h.freed(noon.Add(48*time.Hour), noa)
		h.post.failing(push, &notify.SendError{Kind: notify.Transient})
		h.consume()
		_, err := h.app.Messages.UpdateNotificationPreferences(h.ctx(), noa, messages.PreferencesEdit{Chosen: notify.Preferences{{Topic: notify.Offered, Channel: email}: false, {Topic: notify.Offered, Channel: sms}: false}})
		h.ok(err)
		h.ok(h.dispatcher.Deliver(h.ctx(), h.Tenant))
		h.post.failing(push, nil)
		h.post.take()
		again := noon.Add(5 * time.Minute)
		told(h, "when it is back", tick(h, again), "OFFER PUSH")
		if o := h.offers(class)[0]; !o.ExpiresAt.Equal(again.Add(30 * time.Minute)) {
			t.Errorf("it ends at %v", o.ExpiresAt)
		}
	})
	t.Run("an end that staff have chosen stays", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		h.offering(otherwise)
		noa := h.member("Noa")
		h.clock.Set(late)
		class := h.freed(late.Add(24*time.Hour), noa)
		o := h.offers(class)[0]
		_, err := h.db.Owner.Exec(h.ctx(), `update waitlist_offers set by_hand = true, expires_at = $2 where id = $1`, o.ID, morning.Add(10*time.Minute))
		h.ok(err)
		told(h, "at night", tick(h, late))
		told(h, "in the morning", tick(h, morning), "OFFER EMAIL", "OFFER PUSH")
		if o := h.offers(class)[0]; !o.ExpiresAt.Equal(morning.Add(10 * time.Minute)) {
			t.Errorf("it ends at %v", o.ExpiresAt)
		}
	})
}

// Staff may offer a place at night, until before the morning: they have called. It stands, though no message tells it.
func TestAnOfferByHandStandsAtNight(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.offering()
	noa, kai := h.member("Noa"), h.member("Kai")
	full := h.session(noon.Add(72*time.Hour), func(in *session.Input) { in.Capacity = new(1) })
	h.book(h.member("Mia"), full)
	entry := h.book(noa, full).Entry.ID
	h.book(kai, full)
	h.run()
	late := noon.Add(10 * time.Hour) // 23:00 in Berlin
	h.clock.Set(late)
	class := h.session(noon.Add(48 * time.Hour))
	o, err := h.app.Waitlists.OfferPlace(h.ctx(), h.Owner, waitlists.OfferRequest{Session: class, Entry: entry, Until: late.Add(10 * time.Minute)})
	h.ok(err)
	if sent := h.run(); len(sent) > 0 {
		t.Errorf("at night: %v", sent)
	}
	if all := h.offers(class); len(all) != 1 || all[0].Status != waitlist.Live || !all[0].ExpiresAt.Equal(o.ExpiresAt) {
		t.Errorf("%+v", all)
	}
	_, err = h.app.Waitlists.AcceptOffer(h.ctx(), noa, o.ID, tenant.SubscriptionID{})
	h.ok(err)
}

// Whoever watches a countdown hears of an end that moves, once and at once, and until when it runs since.
func TestWhoWatchesAnOfferHearsThatItsEndMoves(t *testing.T) {
	t.Parallel()
	var committed atomic.Int64
	h := newHouse(t, func(_ *worker.Config, ac *app.Config) { ac.Committed = func(tenant.TenantID) { committed.Add(1) } })
	h.offering(func(s *waitlist.Settings) { // which end before those of messages
		s.QuietHours = &waitlist.QuietHours{From: civil.TimeOfDay{Hour: 22}, Until: civil.TimeOfDay{Hour: 7}}
	})
	noa := h.member("Noa")
	h.clock.Set(noon.Add(10 * time.Hour)) // 23:00 in Berlin
	class := h.freed(noon.Add(48*time.Hour), noa)
	before := h.offers(class)[0]
	h.consume()
	so := committed.Load()
	h.ok(h.dispatcher.Deliver(h.ctx(), h.Tenant))
	o := h.offers(class)[0]
	if moved := o.ExpiresAt.Sub(before.ExpiresAt); moved != time.Hour || committed.Load() == so {
		t.Errorf("the end moves by %v, and %d times something was committed", moved, committed.Load()-so)
	}
	h.at(noon.Add(19 * time.Hour)) // in the morning it is told, and stays as it is
	noa.SelfOnly = true
	for name, who := range map[string]tenant.Caller{"staff": h.Owner, "the member": noa} {
		page, err := h.app.Events.ListEvents(h.ctx(), who, events.EventQuery{Filter: events.EventFilter{Types: []events.EventType{outbox.OfferExtended}}, Limit: 10})
		h.ok(err)
		if len(page.Events) != 1 {
			t.Fatalf("%s: %d events", name, len(page.Events))
		}
		e := page.Events[0]
		if e.Session != class || e.Member != noa.Member || e.Offer != o.ID.UUID || e.Entry != o.Entry || e.Actor != "system" ||
			e.Data["expire_time"] != o.ExpiresAt.UTC().Format(time.RFC3339Nano) {
			t.Errorf("%s: %+v, want the end %s", name, e, o.ExpiresAt)
		}
	}
}
