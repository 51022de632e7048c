package messages

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// AttemptResult is a message with the result of sending it.
type AttemptResult struct {
	Outgoing
	Receipt delivery.Receipt
	Err     error // nil: it was sent
}

// failure returns the error as a SendError. After any other kind of error the message may have been sent.
func (a AttemptResult) failure() *delivery.Error {
	if a.Err == nil {
		return nil
	}
	if e, ok := errors.AsType[*delivery.Error](a.Err); ok {
		return e
	}
	return &delivery.Error{Kind: delivery.Unknown, Err: a.Err}
}

// SettleDeliveries writes the results of messages and what follows: another attempt, another channel, or nothing. It
// adds stops for numbers and addresses that refuse messages, and deletes devices that are gone. The attempts of a
// notice have to be passed together.
func (s *Service) SettleDeliveries(ctx context.Context, in tenant.TenantID, attempts []AttemptResult) error {
	if len(attempts) == 0 {
		return nil
	}
	now := s.engine.Now()
	byNotice := make(map[tenant.NoticeID][]AttemptResult)
	var order []tenant.NoticeID
	for _, a := range attempts {
		if byNotice[a.Notice.ID] == nil {
			order = append(order, a.Notice.ID)
		}
		byNotice[a.Notice.ID] = append(byNotice[a.Notice.ID], a)
	}
	var states []notify.NoticeState
	var outcomes []messagedb.DeliveryOutcome
	for _, id := range order {
		n, c := byNotice[id][0].Notice, byNotice[id][0].Message.Channel
		results := pg.Array(byNotice[id], func(a AttemptResult) notify.Attempt {
			return notify.Attempt{Receipt: a.Receipt, Err: a.failure()}
		})
		end := notify.AfterAttempt(n, c, results, now, rand.Float64()) //nolint:gosec // spreads retries over time
		states = append(states, n.AfterAttempt(c, end, now))
		for _, a := range byNotice[id] {
			o := outcomeOf(a)
			o.Unsent = end.NotSent()
			if !end.ChannelFailed { // otherwise another channel is next
				o.RetryAt = end.NextAt
			}
			outcomes = append(outcomes, o)
		}
	}
	if err := s.settle(ctx, in, attempts, outcomes, states, now); err != nil {
		return err
	}
	for _, state := range states {
		if !state.Done {
			s.Notices.Set(in, state.DueAt)
		}
	}
	return nil
}

// settle writes the results of attempts, and the states of their notices.
func (s *Service) settle(
	ctx context.Context, in tenant.TenantID, attempts []AttemptResult, outcomes []messagedb.DeliveryOutcome,
	states []notify.NoticeState, now time.Time,
) error {
	var stops []messagedb.NotificationStop
	var gone []tenant.DeviceID
	unsent := make(map[notify.SendingKey]int)
	for _, a := range attempts {
		if a.Counted != (notify.SendingKey{}) && a.failure().OfProvider() {
			unsent[a.Counted]++ // an outage must not use up the tenant's quota
		}
		switch why := notify.StopReason(a.failure()); {
		case why == "":
		case a.Message.Channel == delivery.Push:
			gone = append(gone, a.Device)
		default:
			stops = append(stops, messagedb.NotificationStop{
				Channel: a.Message.Channel, Address: a.Message.To, Reason: why, At: now,
			})
		}
	}
	t := engine.Transaction{Name: "delivery.settle", Quiet: true}
	return engine.Exec(ctx, s.engine, tenant.System(in), t, func(_ context.Context, tx *engine.Tx) error {
		messagedb.UpdateDeliveries(tx.Tx, in, outcomes, now)
		messagedb.UpdateNotices(tx.Tx, in, states, now)
		messagedb.PutStops(tx.Tx, in, stops...)
		accountdb.DeleteDevices(tx.Tx, in, gone)
		messagedb.ReturnSending(tx.Tx, in, unsent)
		return nil
	})
}

func outcomeOf(a AttemptResult) messagedb.DeliveryOutcome {
	o := messagedb.DeliveryOutcome{
		ID: a.Message.ID, Status: cmp.Or(a.Receipt.Status, delivery.Queued), ProviderID: a.Receipt.ProviderID,
		Segments: a.Receipt.Segments,
	}
	if e := a.failure(); e != nil {
		o.Status, o.ErrorCode, o.ErrorMessage = delivery.Failed, e.Code, e.Reason
		o.Reason = notify.WhyFailed(map[delivery.FailureKind]*delivery.Error{e.Kind: e})
		if e.Kind == delivery.Unknown {
			o.Status = delivery.PossiblySent
		}
	}
	return o
}
