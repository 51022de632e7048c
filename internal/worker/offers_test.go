package worker_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/worker"
)

// oneOffer is a waitlist with one offer.
type oneOffer struct {
	mu         sync.Mutex
	offer      waitlists.OfferFacts
	closes     time.Time // nobody can answer from then on
	unsendable []tenant.OfferID
	answers    []bool
}

func (w *oneOffer) ReadOffers(b *pg.Batch, _ tenant.TenantID, ids []tenant.OfferID, into map[tenant.OfferID]*waitlists.OfferFacts) {
	b.Queue("select 1")
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.Contains(ids, w.offer.ID) {
		into[w.offer.ID] = new(w.offer)
	}
}

func (w *oneOffer) StartOffer(_ context.Context, _ *pg.Tx, _ tenant.TenantID, _ waitlists.OfferFacts, _ *time.Location, now, at time.Time) (time.Time, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ends := at.Add(40 * time.Minute)
	if at.Equal(now) {
		w.offer.ExpiresAt = ends
	}
	return ends, at.Before(w.closes), nil
}

func (w *oneOffer) WithdrawUnsendable(_ context.Context, _ tenant.TenantID, id tenant.OfferID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unsendable = append(w.unsendable, id)
	return nil
}

func (w *oneOffer) OffersByCode(_ context.Context, _ tenant.TenantID, _, code string) ([]waitlists.CodedOffer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if code != w.offer.Code {
		return nil, nil
	}
	return []waitlists.CodedOffer{{ID: w.offer.ID, Live: w.offer.Live}}, nil
}

func (w *oneOffer) AnswerOffer(_ context.Context, _ tenant.TenantID, _ waitlists.CodedOffer, accept bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.offer.Live {
		return fault.New(fault.FailedPrecondition, fault.OfferNotLive, "No.")
	}
	w.answers = append(w.answers, accept)
	w.offer.Live = false
	return nil
}

// offered is a house in which Noa gets an offer for a session, at a time.
func offered(t *testing.T, at, start time.Time, change func(*waitlists.OfferFacts)) (*house, *oneOffer, tenant.Caller) {
	t.Helper()
	w := &oneOffer{closes: start, offer: waitlists.OfferFacts{
		ID: tenant.New[tenant.OfferID](noon), Offer: notify.Offer{Live: true},
		ClaimURL: "https://berth.example/claim/Zk3vJ0c1QmW8sXyT4nLpBg", Code: "4821",
	}}
	if change != nil {
		change(&w.offer)
	}
	h := newHouse(t, func(_ *worker.Config, ac *app.Config) { ac.Offers = w })
	mia, noa := h.member("Mia"), h.member("Noa")
	class := h.session(start, func(in *session.Input) { in.Capacity = new(1) })
	h.book(mia, class)
	entry := h.book(noa, class).Entry.ID
	h.run()
	h.clock.Set(at)
	h.ok(h.db.InTx(h.ctx(), pg.Scope{Tenant: h.Tenant}, "test.offer", func(_ context.Context, tx *pg.Tx) error {
		outbox.Append(tx, h.Tenant, outbox.Event{
			ID: tenant.New[tenant.EventID](at), Type: outbox.OfferCreated, Session: class, Member: noa.Member, Actor: "system", At: at,
			Data: map[string]any{"offer_id": w.offer.ID.String(), "entry_id": entry.String()},
		})
		return nil
	}))
	return h, w, noa
}

func TestOffers(t *testing.T) {
	t.Parallel()
	night := time.Date(2026, 3, 16, 22, 0, 0, 0, time.UTC)  // 23:00 in Berlin
	morning := time.Date(2026, 3, 17, 7, 0, 0, 0, time.UTC) // 08:00
	midday := time.Date(2026, 3, 17, 11, 0, 0, 0, time.UTC)
	want := func(t *testing.T, what string, got []string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	t.Run("the window begins when it is sent, and its end is announced", func(t *testing.T) {
		t.Parallel()
		h, w, _ := offered(t, night, midday, nil)
		want(t, "at night", h.run())
		if !w.offer.ExpiresAt.IsZero() {
			t.Error("the night eats the window")
		}
		want(t, "in the morning", h.at(morning), "OFFER EMAIL", "OFFER PUSH")
		if !w.offer.ExpiresAt.Equal(morning.Add(40 * time.Minute)) {
			t.Errorf("it ends at %v", w.offer.ExpiresAt)
		}
		want(t, "before its last quarter", h.at(morning.Add(29*time.Minute)))
		want(t, "in its last quarter", h.at(morning.Add(30*time.Minute)), "OFFER_EXPIRING PUSH")
	})
	t.Run("an offer that must not wait", func(t *testing.T) {
		t.Parallel()
		h, _, _ := offered(t, night, midday, func(o *waitlists.OfferFacts) { o.EvenInQuiet = true })
		want(t, "at night", h.run(), "OFFER EMAIL", "OFFER PUSH")
	})
	t.Run("where the session begins first, the next person is asked", func(t *testing.T) {
		t.Parallel()
		h, w, _ := offered(t, night, morning.Add(-time.Minute), nil)
		want(t, "at night", h.run())
		if len(w.unsendable) == 0 || w.unsendable[0] != w.offer.ID {
			t.Errorf("the waitlist has heard of %v", w.unsendable)
		}
	})
	t.Run("taken before it was sent", func(t *testing.T) {
		t.Parallel()
		h, w, _ := offered(t, night, midday, nil)
		h.run()
		w.offer.Live = false
		want(t, "in the morning", h.at(morning))
		h.wantLines("the log", notify.Offered, " DEFERRED QUIET_HOURS", " DEFERRED QUIET_HOURS", " DROPPED OFFER_CLOSED", " DROPPED OFFER_CLOSED")
	})
	t.Run("by SMS, and answered by SMS", func(t *testing.T) {
		t.Parallel()
		h, w, noa := offered(t, morning, midday, nil)
		devices(h, noa)
		h.consume()
		h.ok(h.dispatcher.Deliver(h.ctx(), h.Tenant))
		text := ""
		for _, m := range h.post.take() {
			if m.Channel == sms {
				text = m.Text
				if !m.ExpiresAt.Equal(w.offer.ExpiresAt) {
					t.Errorf("the SMS may come until %v, the offer ends at %v", m.ExpiresAt, w.offer.ExpiresAt)
				}
			}
		}
		if !contains(text, "1 4821") || !contains(text, w.offer.ClaimURL) || !contains(text, "08:40") {
			t.Errorf("%q", text)
		}
		for _, c := range []struct{ text, answer string }{{"YES", ""}, {"1 9999", "no longer open"}, {"1 4821", "Booked"}, {"1 4821", "no longer open"}} {
			got, err := h.app.Messages.AnswerSMS(h.ctx(), h.Tenant, h.phone(noa), c.text)
			if err != nil || !contains(got, c.answer) {
				t.Errorf("%q is answered %q, %v", c.text, got, err)
			}
		}
		if len(w.answers) != 1 || !w.answers[0] {
			t.Errorf("%v", w.answers)
		}
	})
}
