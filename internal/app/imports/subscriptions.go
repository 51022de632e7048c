package imports

import (
	"context"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/credits"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/fileimport"
	"github.com/berthhq/berth/internal/tenant"
)

// subscriptionImport is the report on an imported file of plans.
type subscriptionImport struct {
	credit.Import

	Subscriptions []tenant.SubscriptionID // created: of all rows; none if a row has a problem, or in a dry run
	Batch         tenant.BatchID          // the import's id in the audit log; zero if nothing was created
	// File and Ledger are the sums of credits: of the rows, and of what the ledger has for them, or would have.
	File, Ledger int
}

// checkSubscriptions adds the problems of rows that can be seen without the others, and without what their members
// have. The members of the rows have been looked up. It writes nothing.
func (s *Service) checkSubscriptions(ctx context.Context, caller tenant.Caller, rows []credit.ImportRow) error {
	read := func(ctx context.Context, b *pg.Batch) error { return s.engine.Read(ctx, caller, b) }
	plans, err := loadPlans(ctx, read, caller, rows)
	if err != nil {
		return err
	}
	for i := range rows {
		plans.Start(&rows[i], tenant.SubscriptionID{}, caller.Actor(), s.engine.Now())
	}
	return nil
}

// createSubscriptions creates a subscription for every row of a file, which checkSubscriptions has checked. If any row
// has a problem, or in a dry run, it creates none. In the same transaction it calls ended.
func (s *Service) createSubscriptions(
	ctx context.Context, caller tenant.Caller, parsed *credit.Import, dryRun bool,
	ended func(context.Context, *engine.Tx, subscriptionImport) error,
) error {
	t := engine.Transaction{Name: "subscription.import"}
	return engine.Exec(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) error {
		// A copy, so that each attempt starts with the file's own problems.
		imported := subscriptionImport{Import: *parsed}
		imported.Rows = slices.Clone(parsed.Rows)
		plans, err := loadPlans(ctx, tx.Load, tx.Caller, imported.Rows)
		if err != nil {
			return err
		}
		// Read here, so that of two imports of one file at the same time, the second finds what the first created.
		var held []credit.Subscription
		var batch pg.Batch
		members := pg.Array(imported.Rows, func(r credit.ImportRow) tenant.MemberID { return r.Member })
		bookingdb.ListHeldSubscriptions(&batch, tx.Tenant, pg.Distinct(members), plans.IDs(), &held)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		credit.RejectHeld(imported.Rows, held)
		var started []credit.Subscription
		var lines [][]credit.Line
		for i := range imported.Rows {
			id := tenant.NextID[tenant.SubscriptionID](tx.IDs)
			if sub, ledger, ok := plans.Start(&imported.Rows[i], id, tx.Caller.Actor(), tx.Now); ok {
				started, lines = append(started, sub), append(lines, ledger)
			}
		}
		if imported.InvalidRows() > 0 || len(started) == 0 {
			return ended(ctx, tx, imported)
		}
		sums := pg.Array(started, func(s credit.Subscription) int { return s.Balance })
		if !dryRun {
			imported.Subscriptions = pg.Array(started, func(s credit.Subscription) tenant.SubscriptionID { return s.ID })
			imported.Batch = tenant.NextID[tenant.BatchID](tx.IDs)
			if sums, err = credits.InsertImported(ctx, tx, started, lines); err != nil {
				return err
			}
		}
		if imported.File, imported.Ledger, err = credit.CheckImported(imported.Rows, sums); err != nil {
			return err
		}
		if !dryRun {
			record.AuditEntry(tx, coredb.AuditEntry{
				Action: "subscription.imported", TargetKind: "subscription", Batch: imported.Batch,
				Changes: map[string]any{"subscriptions": len(started), "credits": imported.Ledger},
			})
		}
		return ended(ctx, tx, imported)
	})
}

// loadPlans reads the plans that rows name, and what the rows are judged by.
func loadPlans(
	ctx context.Context, read engine.Reader, caller tenant.Caller, rows []credit.ImportRow,
) (credit.ImportPlans, error) {
	names := pg.Array(rows, func(r credit.ImportRow) string { return r.Plan })
	var plans []credit.Plan
	var zone string
	var batch pg.Batch
	caller.Roles = nil
	catalogdb.ListNamedPlans(&batch, caller.Tenant, pg.Distinct(names), &plans)
	accountdb.FindTimeZone(&batch, caller.Tenant, &zone)
	listRoles(&batch, caller, &caller.Roles)
	if err := read(ctx, &batch); err != nil {
		return credit.ImportPlans{}, err
	}
	in, err := time.LoadLocation(zone)
	return credit.NewImportPlans(plans, in, caller), err
}

// listRoles reads the roles that a caller has now: whoever imports or undoes may have others than when they asked.
func listRoles(b *pg.Batch, caller tenant.Caller, into *[]string) {
	accountdb.ListMemberRoles(b, caller.Tenant, caller.Member, tenant.ServiceAccountID{}, into)
}

// undoSubscriptions ends the subscriptions that an import created, with lines that take what is left.
func (s *Service) undoSubscriptions(ctx context.Context, tx *engine.Tx, ids []tenant.SubscriptionID) error {
	caller := tx.Caller
	caller.Roles = nil
	var found []credit.Subscription
	var batch pg.Batch
	listRoles(&batch, caller, &caller.Roles)
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
		record.Event(tx, credits.Changed(before, after))
	}
	return nil
}
