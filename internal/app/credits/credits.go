// Package credits writes the balances of subscriptions.
package credits

import (
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/rules/credit"
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
}
