package messages

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// AttemptResult is a message and what its sender gave.
type AttemptResult struct {
	Outgoing
	Receipt notify.Receipt
	Err     error // nil: it was sent
}

// failure reads what a sender gave; what is no error of its own kind may have been sent.
func (s AttemptResult) failure() *notify.SendError {
	if s.Err == nil {
		return nil
	}
	if e, ok := errors.AsType[*notify.SendError](s.Err); ok {
		return e
	}
	return &notify.SendError{Kind: notify.Unknown, Err: s.Err}
}

// SettleDeliveries writes what became of messages, and what follows: another try, another channel, or nothing. Numbers that
// said stop are not written to again, and devices that are gone are forgotten. The messages of one notice belong together.
func (s *Service) SettleDeliveries(ctx context.Context, in tenant.TenantID, attempts []AttemptResult) error {
	if len(attempts) == 0 {
		return nil
	}
	now := s.engine.Now()
	byNotice := make(map[tenant.NoticeID][]notify.Attempt)
	first := make(map[tenant.NoticeID]Outgoing)
	var order []tenant.NoticeID
	for _, s := range attempts {
		if _, seen := first[s.Notice.ID]; !seen {
			first[s.Notice.ID] = s.Outgoing
			order = append(order, s.Notice.ID)
		}
		byNotice[s.Notice.ID] = append(byNotice[s.Notice.ID], notify.Attempt{Receipt: s.Receipt, Err: s.failure()})
	}
	ends := make(map[tenant.NoticeID]notify.Outcome, len(order))
	var states []notify.NoticeState
	for _, id := range order {
		n, c := first[id].Notice, first[id].Message.Channel
		end := notify.AfterAttempt(n, c, byNotice[id], now, rand.Float64()) //nolint:gosec // it spreads retries out in time
		ends[id] = end
		states = append(states, n.AfterAttempt(c, end, now))
	}
	var outcomes []messagedb.DeliveryOutcome
	for _, s := range attempts {
		o, end := outcomeOf(s), ends[s.Notice.ID]
		o.Unsent = end.NotSent()
		if s.Err != nil && !end.Done && !end.ChannelFailed {
			o.RetryAt = end.NextAt
		}
		outcomes = append(outcomes, o)
	}
	stops, gone := unusable(attempts, now)
	err := engine.Exec(ctx, s.engine, tenant.System(in), engine.Spec[struct{}]{Name: "delivery.settle", Quiet: true}, func(_ context.Context, tx *engine.Tx) error {
		messagedb.UpdateDeliveries(tx.Tx, in, outcomes, now)
		messagedb.UpdateNotices(tx.Tx, in, states, now)
		messagedb.PutStops(tx.Tx, in, stops...)
		accountdb.DeleteDevices(tx.Tx, in, gone)
		return nil
	})
	if err != nil {
		return err
	}
	for _, standing := range states {
		if !standing.Done {
			s.Notices.Set(in, standing.DueAt)
		}
	}
	return nil
}

// unusable gives the numbers and addresses that are not to be written to again after these attempts, and the devices that are gone.
func unusable(attempts []AttemptResult, now time.Time) (stops []messagedb.NotificationStop, gone []tenant.DeviceID) {
	for _, s := range attempts {
		switch why := s.failure().StopReason(); {
		case why == "":
		case s.Message.Channel == notify.Push:
			gone = append(gone, s.Device)
		default:
			stops = append(stops, messagedb.NotificationStop{Channel: s.Message.Channel, Address: s.Message.To, Reason: why, At: now})
		}
	}
	return stops, gone
}

func outcomeOf(s AttemptResult) messagedb.DeliveryOutcome {
	o := messagedb.DeliveryOutcome{ID: s.Message.ID, Status: s.Receipt.Status, ProviderID: s.Receipt.ProviderID, Segments: s.Receipt.Segments}
	if o.Status == "" {
		o.Status = notify.Queued
	}
	if e := s.failure(); e != nil {
		o.Status, o.ErrorCode, o.ErrorMessage = notify.Failed, e.Code, e.Reason
		o.Reason = notify.WhyFailed(map[notify.FailureKind]*notify.SendError{e.Kind: e})
		if e.Kind == notify.Unknown {
			o.Status = notify.PossiblySent
		}
	}
	return o
}

// DeliveryReport is what a provider tells about a message later.
type DeliveryReport struct {
	Delivery   tenant.DeliveryID // zero: as the provider calls it
	ProviderID string
	Status     notify.DeliveryStatus
	Segments   int
	Err        *notify.SendError // why it was not delivered
}

// ReportDelivery writes what a provider tells about a message. Reports may come twice, late, before the answer to the sending, and in any
// order: the status moves one way only. What the provider has is not sent again. An alert that did not arrive goes by the next
// channel, or where that was for the moment only by the same one later, if it still is worth it.
func (s *Service) ReportDelivery(ctx context.Context, in tenant.TenantID, r DeliveryReport) error {
	var again time.Time
	random := rand.Float64() //nolint:gosec // it spreads retries out in time
	err := engine.Exec(ctx, s.engine, tenant.System(in), engine.Spec[struct{}]{Name: "delivery.report", Quiet: true}, func(ctx context.Context, tx *engine.Tx) error {
		again = time.Time{}
		var d *messagedb.Delivery
		var batch pg.Batch
		messagedb.FindDelivery(&batch, in, r.Delivery, r.ProviderID, &d)
		if err := tx.Load(ctx, &batch); err != nil || d == nil {
			return err
		}
		from := d.Status
		if from == notify.Failed && d.ProviderID == "" {
			from = notify.PossiblySent // so said the answer to the sending, and the provider knows better
		}
		status := notify.Advance(from, r.Status)
		if status == d.Status && d.ProviderID != "" {
			return nil
		}
		failed := status.NotDelivered()
		d.Segments = max(d.Segments, r.Segments)
		if d.ProviderID == "" {
			d.ProviderID = r.ProviderID
		}
		if failed && status != d.Status && !d.Notice.IsZero() {
			var err error
			if again, err = lost(ctx, tx, *d, r.Err, random); err != nil {
				return err
			}
			if again.After(tx.Now) {
				d.RetryAt = again
			}
		}
		if failed && r.Err != nil {
			d.ErrorCode, d.ErrorMessage = r.Err.Code, r.Err.Reason
			d.Reason = notify.WhyFailed(map[notify.FailureKind]*notify.SendError{r.Err.Kind: r.Err})
		} else if !failed && d.Reason != notify.BadTemplate { // which wording it was stays of interest
			d.Reason = ""
		}
		if why := r.Err.StopReason(); failed && why != "" && d.Channel != notify.Push {
			messagedb.PutStops(tx.Tx, in, messagedb.NotificationStop{Channel: d.Channel, Address: d.Address, Reason: why, At: tx.Now})
		}
		if status.Accepted() && !d.Status.Accepted() && !d.Notice.IsZero() {
			// The answer said otherwise, or is yet to come: no further attempt follows from it.
			messagedb.CloseNotice(tx.Tx, in, d.Notice, tx.Now)
			d.Counted, d.RetryAt = d.Counted || d.Channel != notify.Push, time.Time{}
		}
		d.Status = status
		messagedb.ReportDelivery(tx.Tx, in, *d, tx.Now)
		return nil
	})
	if err == nil && !again.IsZero() {
		s.Notices.Set(in, again)
	}
	return err
}

// lost lets follow from a report that a message did not arrive what would from such an answer, and gives when its notice is to be looked
// at again; zero: it is gone. What whoever runs the account has to mend first is not waited for: that each attempt may cost.
func lost(ctx context.Context, tx *engine.Tx, d messagedb.Delivery, why *notify.SendError, random float64) (time.Time, error) {
	var n *notify.Notice
	var batch pg.Batch
	messagedb.FindNotice(&batch, tx.Tenant, d.Notice, &n)
	if err := tx.Load(ctx, &batch); err != nil || n == nil {
		return time.Time{}, err
	}
	if why == nil || why.Kind != notify.Transient {
		why = &notify.SendError{Kind: notify.Permanent}
	}
	n.Attempts = d.Attempt
	end := notify.AfterAttempt(*n, d.Channel, []notify.Attempt{{Err: why}}, tx.Now, random)
	messagedb.ReopenNotice(tx.Tx, tx.Tenant, d, n.AfterAttempt(d.Channel, end, tx.Now), tx.Now)
	return end.NextAt, nil
}
