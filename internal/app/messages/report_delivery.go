package messages

import (
	"cmp"
	"context"
	"math/rand/v2"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// DeliveryReport is what a provider reports about a message later.
type DeliveryReport struct {
	Delivery   tenant.DeliveryID // zero: use ProviderID
	ProviderID string            // the provider's id of the message
	Status     delivery.Status
	Segments   int
	Err        *delivery.Error // why it was not delivered
}

// ReportDelivery writes what a provider reports about a message. Reports can come twice, late, before the provider's
// answer, and in any order, so the status only advances. A message that the provider has is not sent again. An alert
// that was not delivered is sent over the next channel, or later over the same channel if the failure was transient, as
// long as it is still useful.
func (s *Service) ReportDelivery(ctx context.Context, in tenant.TenantID, r DeliveryReport) error {
	random := rand.Float64() //nolint:gosec // spreads retries over time
	t := engine.Transaction{Name: "delivery.report", Quiet: true}
	report := func(ctx context.Context, tx *engine.Tx) (next time.Time, err error) {
		var d *messagedb.Delivery
		var batch pg.Batch
		messagedb.FindDelivery(&batch, in, r.Delivery, r.ProviderID, &d)
		if err := tx.Load(ctx, &batch); err != nil || d == nil {
			return next, err
		}
		from := d.Status
		if from == delivery.Failed && d.ProviderID == "" {
			from = delivery.PossiblySent // the sender's answer said failed, but the report shows that the provider has it
		}
		status := delivery.Advance(from, r.Status)
		if status == d.Status && d.ProviderID != "" {
			return next, nil
		}
		failed := status.NotDelivered()
		d.Segments = max(d.Segments, r.Segments)
		d.ProviderID = cmp.Or(d.ProviderID, r.ProviderID)
		if failed && status != d.Status && !d.Notice.IsZero() {
			if next, err = reopen(ctx, tx, *d, r.Err, random); err != nil {
				return next, err
			}
			if next.After(tx.Now) {
				d.RetryAt = next
			}
		}
		if failed && r.Err != nil {
			d.ErrorCode, d.ErrorMessage = r.Err.Code, r.Err.Reason
			d.Reason = notify.WhyFailed(map[delivery.FailureKind]*delivery.Error{r.Err.Kind: r.Err})
		} else if !failed && d.Reason != notify.BadTemplate { // that the default replaced a bad template stays
			d.Reason = ""
		}
		if why := notify.StopReason(r.Err); failed && why != "" && d.Channel != delivery.Push {
			messagedb.PutStops(tx.Tx, in, messagedb.NotificationStop{
				Channel: d.Channel, Address: d.Address, Reason: why, At: tx.Now,
			})
		}
		if status.Accepted() && !d.Status.Accepted() && !d.Notice.IsZero() {
			// The provider's answer said otherwise, or has not come yet. It leads to no other attempt.
			messagedb.CloseNotice(tx.Tx, in, d.Notice, tx.Now)
			d.Counted, d.RetryAt = d.Counted || d.Channel != delivery.Push, time.Time{}
		}
		d.Status = status
		messagedb.ReportDelivery(tx.Tx, in, *d, tx.Now)
		return next, nil
	}
	next, err := engine.Transact(ctx, s.engine, tenant.System(in), t, report)
	if err == nil && !next.IsZero() {
		s.Notices.Set(in, next)
	}
	return err
}

// reopen reopens the notice of a message that was reported as not delivered, as if the sender had failed. It returns
// when the notice continues; zero if there is no notice. It does not wait for an operator to correct the sender's
// account or settings, because each attempt may cost money.
func reopen(
	ctx context.Context, tx *engine.Tx, d messagedb.Delivery, why *delivery.Error, random float64,
) (time.Time, error) {
	var n *notify.Notice
	var batch pg.Batch
	messagedb.FindNotice(&batch, tx.Tenant, d.Notice, &n)
	if err := tx.Load(ctx, &batch); err != nil || n == nil {
		return time.Time{}, err
	}
	if why == nil || why.Kind != delivery.Transient {
		why = &delivery.Error{Kind: delivery.Permanent}
	}
	n.Attempts = d.Attempt
	end := notify.AfterAttempt(*n, d.Channel, []notify.Attempt{{Err: why}}, tx.Now, random)
	messagedb.ReopenNotice(tx.Tx, tx.Tenant, d, n.AfterAttempt(d.Channel, end, tx.Now), tx.Now)
	return end.NextAt, nil
}
