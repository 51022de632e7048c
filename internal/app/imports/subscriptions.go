package imports

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/credits"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/fileimport"
	"github.com/berthhq/berth/internal/tenant"
)

// checkSubscriptions adds the problems of rows that can be seen without the others, and without what their members
// have. The members of the rows have been looked up, and the caller has the roles of now. It writes nothing.
func (s *Service) checkSubscriptions(
	ctx context.Context, read engine.Reader, caller tenant.Caller, rows []credit.ImportRow,
) error {
	plans, err := loadPlans(ctx, read, caller, rows)
	if err != nil {
		return err
	}
	for i := range rows {
		plans.Start(&rows[i], tenant.SubscriptionID{}, caller.Actor(), s.engine.Now())
	}
	return nil
}

// subscriptionImport has the subscriptions that the rows of a file become.
type subscriptionImport struct {
	rows    []credit.ImportRow
	started []credit.Subscription
	lines   [][]credit.Line
	ledger  []int // the credits that the ledger has for each, or would have
}

// startSubscriptions makes a subscription of every row of a file, which checkSubscriptions has checked, or adds the
// problem to the row. It writes nothing.
func startSubscriptions(
	ctx context.Context, tx *engine.Tx, caller tenant.Caller, rows []credit.ImportRow,
) (*subscriptionImport, error) {
	plans, err := loadPlans(ctx, tx.Load, caller, rows)
	if err != nil {
		return nil, err
	}
	// Read here, so that of two imports of one file at the same time, the second finds what the first created.
	var held []credit.Subscription
	var batch pg.Batch
	members := pg.Array(rows, func(r credit.ImportRow) tenant.MemberID { return r.Member })
	bookingdb.ListHeldSubscriptions(&batch, tx.Tenant, pg.Distinct(members), plans.IDs(), &held)
	if err := tx.Load(ctx, &batch); err != nil {
		return nil, err
	}
	credit.RejectHeld(rows, held)
	imported := &subscriptionImport{rows: rows}
	for i := range rows {
		id := tenant.NextID[tenant.SubscriptionID](tx.IDs)
		if sub, ledger, ok := plans.Start(&rows[i], id, tx.Caller.Actor(), tx.Now); ok {
			imported.started, imported.lines = append(imported.started, sub), append(imported.lines, ledger)
		}
	}
	imported.ledger = pg.Array(imported.started, func(s credit.Subscription) int { return s.Balance })
	return imported, nil
}

// IDs returns the ids of the subscriptions.
func (i *subscriptionImport) IDs() []tenant.UUID {
	return pg.Array(i.started, func(s credit.Subscription) tenant.UUID { return s.ID.UUID })
}

// Insert writes the subscriptions.
func (i *subscriptionImport) Insert(ctx context.Context, tx *engine.Tx) (err error) {
	i.ledger, err = credits.InsertImported(ctx, tx, i.started, i.lines)
	return err
}

// Sums returns the credits of the rows, and those that the ledger has for them. Rows that differ are IMPORT_MISMATCH.
func (i *subscriptionImport) Sums() (file, ledger int, err error) {
	return credit.CheckImported(i.rows, i.ledger)
}

// loadPlans reads the plans that rows name, and what the rows are judged by.
func loadPlans(
	ctx context.Context, read engine.Reader, caller tenant.Caller, rows []credit.ImportRow,
) (credit.ImportPlans, error) {
	names := pg.Array(rows, func(r credit.ImportRow) string { return r.Plan })
	var plans []credit.Plan
	var zone string
	var batch pg.Batch
	catalogdb.ListNamedPlans(&batch, caller.Tenant, pg.Distinct(names), &plans)
	accountdb.FindTimeZone(&batch, caller.Tenant, &zone)
	if err := read(ctx, &batch); err != nil {
		return credit.ImportPlans{}, err
	}
	in, err := time.LoadLocation(zone)
	return credit.NewImportPlans(plans, in, caller), err
}

// undoSubscriptions ends the subscriptions that an import created, with lines that take what is left.
func (s *Service) undoSubscriptions(ctx context.Context, tx *engine.Tx, ids []tenant.SubscriptionID) error {
	caller, err := withRoles(ctx, tx.Load, tx.Caller)
	if err != nil {
		return err
	}
	var found []credit.Subscription
	var batch pg.Batch
	bookingdb.FindSubscriptions(&batch, tx.Tenant, ids, &found)
	if err := tx.Load(ctx, &batch); err != nil {
		return err
	}
	for _, before := range found {
		if !caller.CanSettle(before.Member) {
			return credit.ErrOwnCredits
		}
		after, lines := credit.Advance(before, tx.Now)
		lines, changed := after.UndoImported(lines, tx.Caller.Actor(), fileimport.UndoReason, tx.Now)
		if !changed {
			continue
		}
		credits.Write(tx, after, lines)
		bookingdb.UpdateSubscription(tx.Tx, tx.Tenant, after, tx.Now)
		credits.RecordChange(tx, before, after)
	}
	return nil
}
