package imports

import (
	"context"
	"errors"
	"slices"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/fileimport"
	"github.com/berthhq/berth/internal/tenant"
)

// undoneAtOnce is how many rows are read and changed by one statement, because of the statement timeout.
const undoneAtOnce = 5000

// UndoImport asks for the undoing of an import, which RunDue does. It changes nothing if the import is being undone
// already. Errors: IMPORT_NOT_FOUND, IMPORT_STATE, IMPORT_UNDO_EXPIRED, IMPORT_IN_USE, QUOTA_EXCEEDED.
func (s *Service) UndoImport(
	ctx context.Context, caller tenant.Caller, id tenant.ImportID,
) (fileimport.Import, error) {
	t := engine.Transaction{Name: "import.undo", Replay: true}
	asked, err := engine.Transact(ctx, s.engine, caller, t,
		func(ctx context.Context, tx *engine.Tx) (fileimport.Import, error) {
			var unended int
			before, err := engine.Find(ctx, tx, noImport, func(b *pg.Batch, into **fileimport.Import) {
				coredb.FindImport(b, tx.Tenant, id, into)
				coredb.CountUnendedImports(b, tx.Tenant, &unended)
			})
			if err != nil {
				return before, err
			}
			after, asks, err := before.StartUndo(caller, tx.Now)
			if err != nil || !asks {
				return after, err
			}
			if err := fileimport.CheckUnended(unended); err != nil {
				return before, err
			}
			if err := checkUnused(ctx, tx, before); err != nil {
				return before, err
			}
			coredb.UpdateImport(tx.Tx, tx.Tenant, after)
			record.Audit(tx, "import.undo_started", "import", id.UUID, "", map[string]any{"kind": after.Kind})
			return after, nil
		})
	if err == nil {
		s.Due.Set(caller.Tenant, s.engine.Now())
	}
	return asked, err
}

func checkUnused(ctx context.Context, tx *engine.Tx, i fileimport.Import) error {
	var use fileimport.Use
	var batch pg.Batch
	coredb.FindUse(&batch, tx.Tenant, i, tx.Now, &use)
	if err := tx.Load(ctx, &batch); err != nil {
		return err
	}
	return use.CheckUnused()
}

// undo undoes an import that this node has taken: all that it created, or nothing. What it undoes and that it has ended
// is one transaction: a node that takes it again finds it ended.
func (s *Service) undo(ctx context.Context, in tenant.TenantID, taken fileimport.Import) error {
	reverse := func(ctx context.Context, tx *engine.Tx, now fileimport.Import) (fileimport.Import, error) {
		if err := checkUnused(ctx, tx, now); err != nil {
			return now, err
		}
		var ids []tenant.UUID
		var batch pg.Batch
		coredb.FindCreated(&batch, tx.Tenant, now.ID, &ids)
		if err := tx.Load(ctx, &batch); err != nil {
			return now, err
		}
		for some := range slices.Chunk(ids, undoneAtOnce) {
			if err := s.reverse(ctx, tx, now, some); err != nil {
				return now, err
			}
		}
		record.AuditEntry(tx, coredb.AuditEntry{
			Action: "import.reversed", TargetKind: "import", TargetID: now.ID.String(), Batch: now.Batch,
			Changes: map[string]any{"kind": now.Kind, "undone": len(ids)},
		})
		return now.EndUndo(tx.Now), nil
	}
	return s.endUndo(ctx, in, taken, reverse)
}

// endUndo writes what has become of the undoing of an import, unless another node has.
func (s *Service) endUndo(
	ctx context.Context, in tenant.TenantID, taken fileimport.Import,
	end func(context.Context, *engine.Tx, fileimport.Import) (fileimport.Import, error),
) error {
	t := engine.Transaction{Name: "import.reverse"}
	err := engine.Exec(ctx, s.engine, taken.Undo.By(in), t, func(ctx context.Context, tx *engine.Tx) error {
		now, err := engine.Find(ctx, tx, noImport, func(b *pg.Batch, into **fileimport.Import) {
			coredb.FindImport(b, tx.Tenant, taken.ID, into)
		})
		if err == nil && now.Status != fileimport.Undoing {
			err = errEnded
		}
		if err != nil {
			return err
		}
		now, err = end(ctx, tx, now)
		if err == nil {
			coredb.UpdateImport(tx.Tx, tx.Tenant, now)
		}
		return err
	})
	if errors.Is(err, errEnded) {
		return nil
	}
	if refusal := refusalOf(err); refusal != nil {
		return s.endUndo(ctx, in, taken,
			func(_ context.Context, _ *engine.Tx, now fileimport.Import) (fileimport.Import, error) {
				return now.RefuseUndo(refusal.Reason, refusal.Message), nil
			})
	}
	return err
}

// reverse undoes some of what an import created.
func (s *Service) reverse(ctx context.Context, tx *engine.Tx, i fileimport.Import, ids []tenant.UUID) error {
	switch i.Kind {
	case fileimport.Members:
		return s.accounts.UndoImport(ctx, tx,
			pg.Array(ids, func(id tenant.UUID) tenant.MemberID { return tenant.MemberID{UUID: id} }))
	case fileimport.Subscriptions:
		return s.undoSubscriptions(ctx, tx,
			pg.Array(ids, func(id tenant.UUID) tenant.SubscriptionID { return tenant.SubscriptionID{UUID: id} }))
	case fileimport.Bookings:
		return s.bookings.UndoImport(ctx, tx,
			pg.Array(ids, func(id tenant.UUID) tenant.BookingID { return tenant.BookingID{UUID: id} }))
	default:
		return s.schedules.UndoImport(ctx, tx, i.Batch,
			pg.Array(ids, func(id tenant.UUID) tenant.SessionID { return tenant.SessionID{UUID: id} }))
	}
}
