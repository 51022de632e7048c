package catalog

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// An update edits one record of type T.
type update[T interface{ Validate() error }, ID any] struct {
	name    string // labels the transaction
	id      ID
	find    func(b *pg.Batch, in tenant.TenantID, id ID, into **T)
	missing error // the record does not exist
	expect  *int  // the version that the caller has read; nil: any
	version func(*T) (version *int, updatedAt *time.Time)
	edit    func(*T) error
	// changes returns what differs, for the audit log. If it is nil nothing is written.
	changes func(before, after T) map[string]any
	save    func(ctx context.Context, tx *engine.Tx, before, after T, changes map[string]any) error
}

// run finds the record, edits it, and saves it under the next version.
func (u update[T, ID]) run(ctx context.Context, s *Service, caller tenant.Caller) (T, error) {
	return engine.Transact(ctx, s.engine, caller, engine.Transaction{Name: u.name, Replay: true},
		func(ctx context.Context, tx *engine.Tx) (T, error) {
			before, err := engine.Find(ctx, tx, u.missing, func(b *pg.Batch, into **T) {
				u.find(b, tx.Tenant, u.id, into)
			})
			if err != nil {
				return before, err
			}
			after := before
			version, updatedAt := u.version(&after)
			if err := fault.CheckVersion(u.expect, *version); err != nil {
				return before, err
			}
			next := *version + 1
			if err := u.edit(&after); err != nil {
				return before, err
			}
			changes := u.changes(before, after)
			if changes == nil {
				return after, nil
			}
			if err := after.Validate(); err != nil {
				return before, err
			}
			*version, *updatedAt = next, tx.Now
			return after, u.save(ctx, tx, before, after, changes)
		})
}

// nameTaken translates a rejection by the unique index of a name. Reading first would not help: another transaction
// can add the same name at the same time.
func nameTaken(err error, index, field, message string) error {
	if pg.IsUnique(err, index) {
		return catalog.NameTaken(field, message).WithCause(err)
	}
	return err
}
