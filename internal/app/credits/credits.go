// Package credits writes the balances of subscriptions, and what events say about them.
package credits

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
)

// Write writes a subscription's new balance together with the ledger lines that led to it, so that the balance is
// always the sum of its lines. Without lines it writes nothing.
func Write(tx *engine.Tx, s credit.Subscription, ledger []credit.Line) {
	if len(ledger) == 0 {
		return
	}
	for i := range ledger {
		ledger[i].ID = tenant.NextID[tenant.CreditLineID](tx.IDs)
	}
	bookingdb.UpdateSubscription(tx.Tx, tx.Tenant, s, tx.Now)
	bookingdb.AppendLedger(tx.Tx, tx.Tenant, ledger)
	if slices.ContainsFunc(ledger, func(l credit.Line) bool { return l.Amount > 0 }) {
		record.Recheck(tx, s.Member)
	}
}

// RecordChange records that a subscription started, of which there is no before, or that it changed.
func RecordChange(tx *engine.Tx, before, after credit.Subscription) {
	record.Event(tx, Changed(before, after))
	record.Recheck(tx, after.Member)
}

// Changed returns the event that a subscription started, of which there is no before, or that it changed.
func Changed(before, after credit.Subscription) outbox.Event {
	return outbox.Event{
		Member: after.Member,
		Facts:  event.Facts{Status: string(after.Status), Party: 0, ExternalRef: "", Payment: event.NoPayment},
		Data: event.SubscriptionChanged{
			Subscription: after.ID, Plan: after.Plan.ID, End: endOf(after), StatusBefore: string(before.Status),
			EndBefore: endOf(before),
		},
	}
}

func endOf(s credit.Subscription) time.Time {
	if s.EndsAt == nil {
		return time.Time{}
	}
	return s.EndsAt.UTC()
}

// Insert writes new subscriptions together with the ledger lines that led to their balances.
func Insert(tx *engine.Tx, all []credit.Subscription, ledger []credit.Line) {
	for i := range ledger {
		ledger[i].ID = tenant.NextID[tenant.CreditLineID](tx.IDs)
	}
	bookingdb.InsertSubscriptions(tx.Tx, tx.Tenant, all)
	bookingdb.AppendLedger(tx.Tx, tx.Tenant, ledger)
}
