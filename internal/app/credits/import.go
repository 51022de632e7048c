package credits

import (
	"context"
	"slices"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// insertLimit is the maximum number of rows in one statement, because of the statement timeout.
const insertLimit = 5000

// InsertImported writes subscriptions with their first lines and events, and returns what the ledger then has for
// each.
func InsertImported(
	ctx context.Context, tx *engine.Tx, started []credit.Subscription, lines [][]credit.Line,
) ([]int, error) {
	var sums []int
	for len(started) > 0 {
		n := min(len(started), insertLimit)
		Insert(tx, started[:n], slices.Concat(lines[:n]...))
		var some []int
		var batch pg.Batch
		ids := pg.Array(started[:n], func(s credit.Subscription) tenant.SubscriptionID { return s.ID })
		bookingdb.ListLedgerSums(&batch, tx.Tenant, ids, &some)
		if err := tx.Load(ctx, &batch); err != nil {
			return nil, err
		}
		sums = append(sums, some...)
		for _, s := range started[:n] {
			RecordChange(tx, credit.Subscription{}, s)
		}
		started, lines = started[n:], lines[n:]
	}
	return sums, nil
}
