package imports

import (
	"context"
	"slices"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/csvfile"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/fileimport"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// peopleKind is a kind of file whose rows say what somebody has, and whose sum is that of what has it here.
type peopleKind[R any, P csvfile.RowPointer[R]] struct {
	what string // what a row becomes, as the audit log calls it
	sum  string // what is added up, as the audit log calls it
	// races are those with which the transaction is tried again.
	races []engine.Race
	parse func(file []byte, columns ...csvfile.Match) (*csvfile.Table[R, P], error)
	// person gives whom a row names, and where the member goes, as findPeople takes it.
	person func(*R) (*csvfile.Row, *member.Person, *tenant.MemberID)
	// check adds the problems of rows that can be seen without the others.
	check func(context.Context, engine.Reader, tenant.Caller, []R) error
	// take makes what the rows become, or adds the problems of the rows.
	take func(context.Context, *engine.Tx, tenant.Caller, []R) (taken, error)
}

// taken is what the rows of a file become. It is not written yet.
type taken interface {
	IDs() []tenant.UUID
	Insert(context.Context, *engine.Tx) error
	// Sums returns the sum of the file, and that of what has it here, or would have. The error is IMPORT_MISMATCH.
	Sums() (file, total int, err error)
}

// kindOfPeople returns how the rows of such a file are read, checked and created.
func kindOfPeople[R any, P csvfile.RowPointer[R]](s *Service, as peopleKind[R, P]) kind[R, P] {
	return kind[R, P]{
		parse: as.parse,
		check: func(ctx context.Context, caller tenant.Caller, rows []R) error {
			err := s.findPeople(ctx, caller, len(rows), func(n int) (*csvfile.Row, *member.Person, *tenant.MemberID) {
				return as.person(&rows[n])
			})
			if err != nil {
				return err
			}
			read := func(ctx context.Context, b *pg.Batch) error { return s.engine.Read(ctx, caller, b) }
			current, err := withRoles(ctx, read, caller)
			if err != nil {
				return err
			}
			return as.check(ctx, read, current, rows)
		},
		create: func(
			ctx context.Context, caller tenant.Caller, file *csvfile.Table[R, P], dryRun bool,
			ended func(context.Context, *engine.Tx, created[R, P]) error,
		) error {
			t := engine.Transaction{Name: as.what + ".import", Races: as.races}
			return engine.Exec(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) error {
				// A copy, so that each attempt starts with the file's own problems.
				done := created[R, P]{file: *file, total: &fileimport.Total{}}
				done.file.Rows = slices.Clone(file.Rows)
				if err := as.create(ctx, tx, &done, dryRun); err != nil {
					return err
				}
				return ended(ctx, tx, done)
			})
		},
	}
}

// create creates what all rows become, or nothing if any has a problem, or in a dry run.
func (as peopleKind[R, P]) create(ctx context.Context, tx *engine.Tx, done *created[R, P], dryRun bool) error {
	caller, err := withRoles(ctx, tx.Load, tx.Caller)
	if err != nil {
		return err
	}
	rows, err := as.take(ctx, tx, caller, done.file.Rows)
	if err != nil {
		return err
	}
	ids := rows.IDs()
	if done.file.InvalidRows() > 0 || len(ids) == 0 {
		return nil
	}
	if !dryRun {
		done.ids, done.batch = ids, tenant.NextID[tenant.BatchID](tx.IDs)
		if err := rows.Insert(ctx, tx); err != nil {
			return err
		}
	}
	if done.total.File, done.total.Ledger, err = rows.Sums(); err != nil || dryRun {
		return err
	}
	record.AuditEntry(tx, coredb.AuditEntry{
		Action: as.what + ".imported", TargetKind: as.what, Batch: done.batch,
		Changes: map[string]any{as.what + "s": len(ids), as.sum: done.total.Ledger},
	})
	return nil
}

// withRoles returns a caller with the roles that they have now: whoever imports or undoes may have others than when
// they asked.
func withRoles(ctx context.Context, read engine.Reader, caller tenant.Caller) (tenant.Caller, error) {
	caller.Roles = nil
	var batch pg.Batch
	accountdb.ListMemberRoles(&batch, caller.Tenant, caller.Member, tenant.ServiceAccountID{}, &caller.Roles)
	err := read(ctx, &batch)
	return caller, err
}
