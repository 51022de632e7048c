package messages_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/provider/twilio/twiliotest"
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

// oneOffer is a waitlist with one offer.
type oneOffer struct {
	mu         sync.Mutex
	offer      waitlists.OfferFacts
	closes     time.Time // no answer is accepted from then on
	unsendable []tenant.OfferID
	answers    []bool
	err        error // of every call
}

func (o *oneOffer) ReadOffers(
	b *pg.Batch, _ tenant.TenantID, ids []tenant.OfferID, into map[tenant.OfferID]*waitlists.OfferFacts,
) {
	b.Queue("select 1")
	o.mu.Lock()
	defer o.mu.Unlock()
	if slices.Contains(ids, o.offer.ID) {
		into[o.offer.ID] = new(o.offer)
	}
}

func (o *oneOffer) StartOffer(
	_ context.Context, tx *pg.Tx, _ tenant.TenantID, _ waitlists.OfferFacts, _ *time.Location, now, at time.Time,
) (time.Time, bool, error) {
	ends := at.Add(40 * time.Minute)
	if at.Equal(now) {
		tx.Write("select 1").Query(func(pgx.Rows) error { // once the transaction is durable
			o.mu.Lock()
			defer o.mu.Unlock()
			o.offer.ExpiresAt = ends
			return nil
		})
	}
	return ends, at.Before(o.closes), o.err
}

func (*oneOffer) StartGrace(
	context.Context, *pg.Tx, tenant.TenantID, tenant.BookingID, *time.Location, time.Time,
) (time.Time, error) {
	return time.Time{}, nil
}

func (*oneOffer) ModeOf(
	context.Context, *pg.Tx, tenant.TenantID, tenant.EntryID, time.Time,
) (waitlist.Mode, error) {
	return waitlist.OfferInTurn, nil
}

func (o *oneOffer) WithdrawUnsendable(_ context.Context, _ tenant.TenantID, id tenant.OfferID) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unsendable = append(o.unsendable, id)
	return nil
}

func (o *oneOffer) OffersByCode(_ context.Context, _ tenant.TenantID, _, code string) ([]waitlists.CodedOffer, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if code != o.offer.Code {
		return nil, nil
	}
	return []waitlists.CodedOffer{{ID: o.offer.ID, Live: o.offer.Live}}, nil
}

func (o *oneOffer) AnswerOffer(_ context.Context, _ tenant.TenantID, _ waitlists.CodedOffer, accept bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	if !o.offer.Live {
		return fault.New(fault.FailedPrecondition, fault.WaitlistOfferNotLive, "No.")
	}
	o.answers = append(o.answers, accept)
	o.offer.Live = false
	return nil
}

// offered creates a studio in which Noa gets an offer for a session, at a time.
func offered(
	t *testing.T, at, start time.Time, change func(*waitlists.OfferFacts),
) (*messagetest.Studio, *oneOffer, tenant.Caller) {
	t.Helper()
	w := &oneOffer{closes: start, offer: waitlists.OfferFacts{
		ID: tenant.New[tenant.OfferID](testkit.Noon), Offer: notify.Offer{Live: true},
		ClaimURL: "https://berth.example/claim/Zk3vJ0c1QmW8sXyT4nLpBg", Code: "4821",
	}}
	if change != nil {
		change(&w.offer)
	}
	studio := messagetest.New(t, func(_ *worker.Config, ac *app.Config) { ac.Offers = w })
	mia, noa := studio.AddReachable("Mia"), studio.AddReachable("Noa")
	class := studio.SessionAt(start, func(in *session.Input) { in.Capacity = new(1) })
	studio.MustPlace(mia, class)
	entry := studio.MustPlace(noa, class).Entry.ID
	studio.Run()
	studio.Clock.Set(at)
	studio.NoError(studio.DB.InTx(studio.T.Context(), pg.Scope{Tenant: studio.Tenant}, "test.offer",
		func(_ context.Context, tx *pg.Tx) error {
			outbox.Append(tx, studio.Tenant, outbox.Event{
				ID: tenant.New[tenant.EventID](at), Session: class, Member: noa.Member, Entry: entry, Offer: w.offer.ID,
				Actor: "system", Data: event.OfferCreated{}, At: at,
			})
			return nil
		}))
	return studio, w, noa
}

// noMailOfOffers are the preferences of who is told of offers by push or SMS alone, which wait for the morning.
var noMailOfOffers = notify.Preferences{{Topic: notify.Offered, Channel: email}: false}

func TestOffers_NoticesOfEachStep(t *testing.T) {
	t.Parallel()
	night := time.Date(2026, 3, 16, 22, 0, 0, 0, time.UTC)  // 23:00 in Berlin
	morning := time.Date(2026, 3, 17, 7, 0, 0, 0, time.UTC) // 08:00
	midday := time.Date(2026, 3, 17, 11, 0, 0, 0, time.UTC)
	want := func(t *testing.T, what string, got []string, want ...string) {
		t.Helper()
		test.Eq(t, want, got, test.Sprint(what))
	}
	t.Run("the window begins when it is sent, and its end is announced", func(t *testing.T) {
		t.Parallel()
		studio, w, noa := offered(t, night, midday, nil)
		studio.Prefer(noa, noMailOfOffers)
		want(t, "at night", studio.Run())
		test.True(t, w.offer.ExpiresAt.IsZero(), test.Sprint("the night eats the window"))
		want(t, "in the morning", studio.RunAt(morning), "OFFER PUSH")
		test.True(t, w.offer.ExpiresAt.Equal(morning.Add(40*time.Minute)), test.Sprintf("it ends at %v", w.offer.ExpiresAt))
		want(t, "before its last quarter", studio.RunAt(morning.Add(29*time.Minute)))
		w.offer.Kept, w.offer.ExpiresAt = w.offer.ExpiresAt, time.Time{} // as if no device had it
		studio.Clock.Advance(time.Minute)
		studio.Deliver()
		warned := studio.Provider.Take()
		must.SliceLen(t, 1, warned)
		test.True(t, warned[0].ExpiresAt.Equal(w.offer.Kept), test.Sprintf("%+v", warned))
		test.True(t, contains(warned[0].Text, "08:40"), test.Sprintf("%+v", warned))
		test.EqOp(t, "OFFER_EXPIRING", warned[0].Data["topic"])
	})
	t.Run("an offer that must not wait", func(t *testing.T) {
		t.Parallel()
		start := night.Add(20 * time.Minute)
		studio, _, _ := offered(t, night, start, func(o *waitlists.OfferFacts) { o.EvenInQuiet = true })
		studio.Deliver()
		sent := studio.Provider.Take()
		sent = slices.DeleteFunc(sent, func(m delivery.Message) bool { return m.Data["topic"] != string(notify.Offered) })
		must.SliceLen(t, 2, sent)
		for _, m := range sent {
			test.EqOp(t, start, m.ExpiresAt.UTC(), test.Sprint("the session begins before the offer ends"))
		}
	})
	t.Run("where the session begins first, the next person is asked", func(t *testing.T) {
		t.Parallel()
		studio, w, noa := offered(t, night, morning.Add(-time.Minute), nil)
		studio.Prefer(noa, noMailOfOffers)
		want(t, "at night", studio.Run())
		must.NotEqOp(t, 0, len(w.unsendable), must.Sprintf("the waitlist has heard of %v", w.unsendable))
		test.EqOp(t, w.offer.ID, w.unsendable[0], test.Sprintf("the waitlist has heard of %v", w.unsendable))
	})
	t.Run("and is not, if a mail may tell of it", func(t *testing.T) {
		t.Parallel()
		studio, w, _ := offered(t, night, morning.Add(-time.Minute), nil)
		want(t, "at night", studio.Run(), "OFFER EMAIL")
		test.SliceEmpty(t, w.unsendable)
		test.EqOp(t, 2, studio.Count(`select count(*) from deliveries where offer_id = $1`, w.offer.ID))
	})
	t.Run("taken before it was sent", func(t *testing.T) {
		t.Parallel()
		studio, w, noa := offered(t, night, midday, nil)
		studio.Prefer(noa, noMailOfOffers)
		studio.Run()
		w.offer.Live = false
		want(t, "in the morning", studio.RunAt(morning))
		studio.WantLog(
			"the log", notify.Offered, " DEFERRED QUIET_HOURS", " DROPPED OFFER_CLOSED",
		)
	})
	t.Run("closed before it was sent", func(t *testing.T) {
		t.Parallel()
		studio, w, _ := offered(t, morning, midday, nil)
		w.closes = morning
		want(t, "in the morning", studio.Run())
		studio.WantLog("the log", notify.Offered, " DROPPED OFFER_CLOSED", " DROPPED OFFER_CLOSED")
	})
	for name, at := range map[string]time.Time{"night": night, "day": morning} {
		t.Run("a window that cannot begin at "+name+" is no message", func(t *testing.T) {
			t.Parallel()
			studio, w, _ := offered(t, at, midday, nil)
			studio.Plan()
			w.err = errors.New("no")
			test.ErrorIs(t, expect.Error(studio.App.Messages.TakeNotices(t.Context(), studio.Tenant)), w.err)
			w.err = nil
			studio.RunAt(morning)
			test.False(t, w.offer.ExpiresAt.IsZero())
		})
	}
	t.Run("what an answer by SMS leads to", func(t *testing.T) {
		t.Parallel()
		studio, w, noa := offered(t, morning, midday, nil)
		for _, c := range []struct {
			err  error
			says string // "" if the error is returned
		}{
			{fault.New(fault.FailedPrecondition, fault.SessionFull, "No."), "could not be booked"},
			{fault.New(fault.NotFound, fault.WaitlistOfferNotFound, "No."), "no longer open"},
			{fault.New(fault.NotFound, fault.SessionNotFound, "No."), "no longer open"},
			{fault.New(fault.Internal, fault.InternalError, "No."), ""},
			{fault.New(fault.Unavailable, fault.Contention, "No."), ""},
			{fault.New(fault.DeadlineExceeded, fault.Contention, "No."), ""},
			{errors.New("no"), ""},
		} {
			w.err = c.err
			got, err := studio.App.Messages.AnswerSMS(t.Context(), studio.Tenant, studio.PhoneOf(noa), "1 4821")
			failed := c.says == ""
			test.True(t, contains(got, c.says), test.Sprintf("%v: %q, %v", c.err, got, err))
			test.EqOp(t, failed, (got == ""))
			test.EqOp(t, failed, (err != nil))
		}
	})
	t.Run("by SMS, and answered by SMS", func(t *testing.T) {
		t.Parallel()
		studio, w, noa := offered(t, morning, midday, nil)
		studio.RemoveDevices(noa)
		studio.Plan()
		studio.Send()
		text := ""
		for _, m := range studio.Provider.Take() {
			if m.Channel == sms {
				text = m.Text
				test.True(t, m.ExpiresAt.Equal(w.offer.ExpiresAt),
					test.Sprintf("the SMS may come until %v, the offer ends at %v", m.ExpiresAt, w.offer.ExpiresAt))
			}
		}
		test.True(t, contains(text, "1 4821"), test.Sprintf("%q", text))
		test.True(t, contains(text, w.offer.ClaimURL), test.Sprintf("%q", text))
		test.True(t, contains(text, "08:40"), test.Sprintf("%q", text))
		for _, c := range []struct{ text, answer string }{
			{"YES", ""}, {"1 9999", "no longer open"}, {"1 4821", "Booked"}, {"1 4821", "no longer open"},
		} {
			got := expect.Value(
				studio.App.Messages.AnswerSMS(studio.T.Context(), studio.Tenant, studio.PhoneOf(noa), c.text),
			)(t)
			test.True(t, contains(got, c.answer), test.Sprintf("%q is answered %q", c.text, got))
		}
		must.SliceLen(t, 1, w.answers)
		test.True(t, w.answers[0], test.Sprintf("%v", w.answers))
	})
}

// A storm must not carry offers past their end: what comes too late is not sent at all.
func TestOffers_ExpireDuringAnOutage(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	p.MakeOffers()
	var storm atomic.Bool
	storm.Store(true)
	p.Twilio.React(func(m twiliotest.Message) twiliotest.Reaction {
		test.Greater(t, 0, m.Validity, test.Sprintf("it may be delivered for %v", m.Validity))
		test.LessEq(t, 30*time.Minute, m.Validity, test.Sprintf("it may be delivered for %v", m.Validity))
		if storm.Load() {
			return twiliotest.Busy(time.Minute)
		}
		return twiliotest.Reaction{}
	})
	noa := p.AddReachable("Noa")
	p.RemoveDevices(noa)
	expect.OK(p.T)(p.App.Messages.UpdateNotificationPreferences(
		p.T.Context(), noa,
		messages.PreferencesEdit{Chosen: notify.Preferences{{Topic: notify.Offered, Channel: email}: false}},
	))
	class := p.FreeSeat(testkit.Noon.Add(72*time.Hour), noa)
	p.Deliver()
	for range 40 {
		p.Later(time.Minute)
		expect.OK(p.T)(p.App.Housekeeping.SweepTenant(p.T.Context(), p.Tenant))
	}
	storm.Store(false)
	for range 10 {
		p.Later(time.Minute)
	}
	offers := p.Offers(class)
	test.True(t, offers[0].Status != waitlist.Live, test.Sprintf("%+v", offers[0]))
	test.EqOp(t, 0, len(p.Twilio.Messages()), test.Sprint("messages about an offer that is over"))
}
