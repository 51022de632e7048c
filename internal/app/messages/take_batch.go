package messages

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// takeBatch decides about due notices in a transaction, and writes what follows.
func (s *Service) takeBatch(ctx context.Context, tx *engine.Tx, due []tenant.NoticeID) (*noticeOutcome, error) {
	batch, err := s.loadNotices(ctx, tx, due)
	if err != nil {
		return nil, err
	}
	taker := noticeTaker{service: s, tx: tx, batch: batch}
	for i := range batch.notices {
		if err := taker.decide(ctx, &batch.notices[i]); err != nil {
			return nil, err
		}
	}
	if err := taker.deferOffers(ctx); err != nil {
		return nil, err
	}
	outcome := &taker.outcome
	if outcome.alarms, err = s.tellAlarms(ctx, tx, batch.sending); err != nil {
		return nil, err
	}
	messagedb.AddSendingHours(tx.Tx, tx.Tenant, batch.sending.Changes())
	outcome.write(tx, func(at time.Time) { s.Notices.Set(tx.Tenant, at) })
	return outcome, nil
}

// noticeTaker takes a batch of notices in one transaction: it has the rules decide about each, starts the windows of
// offers whose members are told, composes messages, and notes what to write.
type noticeTaker struct {
	service *Service
	tx      *engine.Tx
	batch   *noticeBatch
	held    []heldOffer
	outcome noticeOutcome
}

// heldOffer is a notice of an offer that quiet hours hold back.
type heldOffer struct {
	notify.Step
	offer *waitlists.OfferFacts
}

// decide decides about one notice, and notes what follows.
func (t *noticeTaker) decide(ctx context.Context, n *noticeFacts) error {
	step := t.batch.usage.Next(n.due(), t.batch.settings, t.tx.Now)
	if step.Reminder {
		t.outcome.remind(t.tx, step.Notice, n.subject.Says)
	}
	switch {
	case n.offer != nil && step.HoldsOffer():
		t.held = append(t.held, heldOffer{step, n.offer})
	case step.Kind == notify.Send:
		return t.send(ctx, n, step)
	case step.Kind == notify.Defer:
		t.outcome.wait(t.tx, step)
	case step.Kind == notify.Drop:
		t.outcome.drop(t.tx, step)
	case step.Kind == notify.Close:
		t.outcome.end(t.tx, step.Notice)
	}
	return nil
}

// deferOffers extends the offers that quiet hours hold back until those end. If that is too late for an offer, and no
// other lane has told its member either, the offer goes to the next entry.
func (t *noticeTaker) deferOffers(ctx context.Context) error {
	extended := make(map[tenant.OfferID]bool)
	for _, h := range t.held {
		inTime := h.Kind == notify.Defer
		if inTime && h.offer.ExpiresAt.IsZero() && !extended[h.offer.ID] {
			var err error
			if _, inTime, err = t.startWindow(ctx, h.offer, h.To.Zone, h.Until); err != nil {
				return err
			}
		}
		if inTime {
			extended[h.offer.ID] = true
			t.outcome.wait(t.tx, h.Step)
		} else {
			t.outcome.drop(t.tx, h.Step)
		}
	}
	for _, h := range t.held {
		if !extended[h.offer.ID] && h.offer.Live && h.offer.ExpiresAt.IsZero() {
			t.outcome.unsendable = append(t.outcome.unsendable, h.offer.ID)
		}
	}
	return nil
}

// startWindow returns the end of an offer's window if its member is told at a time. It returns false if that leaves no
// time to answer.
func (t *noticeTaker) startWindow(
	ctx context.Context, offer *waitlists.OfferFacts, zone *time.Location, at time.Time,
) (ends time.Time, inTime bool, err error) {
	ends, inTime, err = t.service.offers.StartOffer(ctx, t.tx.Tx, t.tx.Tenant, *offer, zone, t.tx.Now, at)
	t.outcome.extended = t.outcome.extended || !ends.Equal(offer.Kept)
	return ends, inTime, err
}

// send makes the messages of one attempt.
func (t *noticeTaker) send(ctx context.Context, n *noticeFacts, step notify.Step) error {
	if offer := n.offer; offer != nil && offer.ExpiresAt.IsZero() {
		if inTime, err := t.tell(ctx, offer, step); err != nil || !inTime {
			return err
		}
	}
	if err := t.addWaitlistFacts(ctx, n, step); err != nil {
		return err
	}
	c, service := step.Channel, t.service
	text := composer{
		service: service, tenant: t.tx.Tenant, now: t.tx.Now, facts: t.batch.tenantFacts, notice: n, to: step.To, channel: c,
	}
	message, rendered, reason, err := text.compose()
	if err != nil {
		return err
	}
	step.Notice.Attempts++
	provider, own := service.provider(t.batch.senders, c)
	line := messagedb.Delivery{
		Channel: c, Status: delivery.PossiblySent, Reason: reason, Provider: provider, Attempt: step.Notice.Attempts,
		Platform: service.platform(ChannelSender{c, provider, own}), Counted: step.Notice.Topic.Counted(),
	}
	if provider == LocalOutbox {
		line.Content = &rendered
	}
	t.outcome.attempt(t.tx, step, line, Outgoing{
		Message: message, Provider: provider, Own: own,
		Counted: t.batch.usage.Count(step.Notice, step.To, c, t.tx.Now),
	})
	return nil
}

// addWaitlistFacts adds what a message tells of the waitlist as it is now. It starts the grace of a promotion.
func (t *noticeTaker) addWaitlistFacts(ctx context.Context, n *noticeFacts, step notify.Step) (err error) {
	offers, in := t.service.offers, t.tx.Tenant
	switch n.Topic {
	case notify.Promoted:
		n.cancelBy, err = offers.StartGrace(ctx, t.tx.Tx, in, n.Booking, step.To.Zone, t.tx.Now)
	case notify.Waitlisted:
		n.mode, err = offers.ModeOf(ctx, t.tx.Tx, in, n.Entry, t.tx.Now)
	default:
	}
	return err
}

// tell starts the window of an offer whose member is told now. It returns false, and drops the notice, if that leaves
// no time to answer.
func (t *noticeTaker) tell(ctx context.Context, offer *waitlists.OfferFacts, step notify.Step) (bool, error) {
	if step.Notice.Topic != notify.Offered {
		offer.ExpiresAt = offer.Kept // the member was not told of the offer, and it is about to end
		return true, nil
	}
	ends, inTime, err := t.startWindow(ctx, offer, step.To.Zone, t.tx.Now)
	if err != nil {
		return false, err
	}
	if !inTime {
		step.Action = notify.Action{Kind: notify.Drop, Reason: notify.OfferClosed}
		t.outcome.drop(t.tx, step)
		return false, nil
	}
	offer.ExpiresAt = ends
	if warning, ok := step.Notice.ExpiryWarning(t.tx.Now, ends); ok {
		warning.ID = tenant.NextID[tenant.NoticeID](t.tx.IDs)
		t.outcome.planned = append(t.outcome.planned, warning)
	}
	return true, nil
}
