package imports

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/csvfile"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/fileimport"
	"github.com/berthhq/berth/internal/tenant"
)

// checkedRows is the number of rows between two reports of progress.
const checkedRows = 500

// RunDue works on the imports of a tenant that are due, and sets the alarm for the next one. All nodes may run it. A
// node that ends before its import leaves it to the others, after fileimport.Lease.
func (s *Service) RunDue(ctx context.Context, id tenant.TenantID) error {
	var failed error
	for {
		taken, err := s.take(ctx, id)
		if err != nil {
			return errors.Join(failed, err)
		}
		if taken == nil {
			break
		}
		if err := s.run(ctx, id, *taken); err != nil {
			failed = errors.Join(failed, fmt.Errorf("import %s: %w", taken.ID, err))
		}
	}
	var next *time.Time
	var batch pg.Batch
	coredb.FindNextImport(&batch, id, &next)
	if err := s.engine.Read(ctx, tenant.System(id), &batch); err != nil {
		return errors.Join(failed, err)
	}
	if next != nil {
		s.Due.Set(id, *next)
	}
	return failed
}

// take takes the import that has been due longest; nil if none is due.
func (s *Service) take(ctx context.Context, id tenant.TenantID) (*coredb.DueImport, error) {
	t := engine.Transaction{Name: "import.take", Quiet: true}
	return engine.Transact(ctx, s.engine, tenant.System(id), t,
		func(ctx context.Context, tx *engine.Tx) (*coredb.DueImport, error) {
			var found *coredb.DueImport
			var batch pg.Batch
			coredb.FindDueImport(&batch, tx.Tenant, tx.Now, &found)
			if err := tx.Load(ctx, &batch); err != nil || found == nil {
				return nil, err
			}
			found.Import = found.Take(tx.Now)
			coredb.UpdateImport(tx.Tx, tx.Tenant, found.Import)
			return found, nil
		})
}

// run works on an import that this node has taken.
func (s *Service) run(ctx context.Context, id tenant.TenantID, taken coredb.DueImport) error {
	switch {
	case taken.Status == fileimport.Undoing:
		return s.undo(ctx, id, taken.Import)
	case taken.Ended():
		return nil
	case taken.Kind == fileimport.Members:
		return runAs(ctx, s, id, taken, s.members())
	case taken.Kind == fileimport.Subscriptions:
		return runAs(ctx, s, id, taken, s.subscriptions())
	case taken.Kind == fileimport.Bookings:
		return runAs(ctx, s, id, taken, s.futureBookings())
	default:
		return runAs(ctx, s, id, taken, s.sessions(taken.MayPublish))
	}
}

// runAs checks the rows of an import, a part at a time so that its progress can be seen, and then creates all or
// none, or those without problems if the others may be left out.
func runAs[R any, P csvfile.RowPointer[R]](
	ctx context.Context, s *Service, id tenant.TenantID, taken coredb.DueImport, as kind[R, P],
) error {
	i, caller := taken.Import, taken.Caller(id)
	parsed, err := as.parse(taken.File, i.Columns...)
	if err != nil {
		return s.refuse(ctx, id, i, err)
	}
	checked := *parsed
	for done := 0; done < len(parsed.Rows); {
		rows := parsed.Rows[done:min(done+checkedRows, len(parsed.Rows))]
		if err := as.check(ctx, caller, rows); err != nil {
			return s.refuse(ctx, id, i, err)
		}
		done += len(rows)
		checked.Rows = parsed.Rows[:done]
		i = i.Checked(done, checked.InvalidRows(), checked.Problems(), checked.Notes(), s.engine.Now())
		if err := s.save(ctx, id, i); err != nil {
			return err
		}
	}
	if len(parsed.Rows) == 0 {
		i = i.Checked(0, checked.InvalidRows(), checked.Problems(), checked.Notes(), s.engine.Now())
	}
	for {
		// The file as it is now known, and the rows of it to create.
		file, rows := parsed, parsed
		if i.LeaveOut {
			rows = parsed.Good()
		}
		if i.Invalid > 0 && !i.LeaveOut {
			i.LeftOut = parsed.LeftOut()
			return s.save(ctx, id, i.End(0, nil, tenant.BatchID{}, nil, s.engine.Now()))
		}
		// What it creates and that it has ended is one transaction: a node that takes it again finds it ended.
		err = as.create(ctx, caller, rows, i.DryRun, func(ctx context.Context, tx *engine.Tx, result created[R, P]) error {
			if err := s.checkUnended(ctx, tx, i.ID); err != nil {
				return err
			}
			file = parsed.With(result.file.Rows)
			if i.LeaveOut && len(result.file.Good().Rows) < len(rows.Rows) {
				return errFewer
			}
			ended := i.Checked(i.Rows, file.InvalidRows(), file.Problems(), file.Notes(), tx.Now)
			ended.LeftOut = file.LeftOut()
			coredb.UpdateImport(tx.Tx, tx.Tenant, ended.End(len(rows.Rows), result.ids, result.batch, result.total, tx.Now))
			return nil
		})
		if !errors.Is(err, errFewer) {
			break
		}
		parsed = file
	}
	if errors.Is(err, errEnded) {
		return nil
	}
	return s.refuse(ctx, id, i, err)
}

// errFewer says that rows turned out to have problems as they were created: the others are created without them.
var errFewer = errors.New("fewer rows can be created")

// errEnded says that another node has ended the import.
var errEnded = errors.New("the import has ended")

func (s *Service) checkUnended(ctx context.Context, tx *engine.Tx, id tenant.ImportID) error {
	now, err := engine.Find(ctx, tx, noImport, func(b *pg.Batch, into **fileimport.Import) {
		coredb.FindImport(b, tx.Tenant, id, into)
	})
	if err == nil && now.Ended() {
		err = errEnded
	}
	return err
}

// save writes how far an import is, unless another node has ended it.
func (s *Service) save(ctx context.Context, id tenant.TenantID, i fileimport.Import) error {
	t := engine.Transaction{Name: "import.save", Quiet: true}
	err := engine.Exec(ctx, s.engine, tenant.System(id), t, func(ctx context.Context, tx *engine.Tx) error {
		if err := s.checkUnended(ctx, tx, i.ID); err != nil {
			return err
		}
		coredb.UpdateImport(tx.Tx, tx.Tenant, i)
		return nil
	})
	if errors.Is(err, errEnded) {
		return nil
	}
	return err
}

// refuse ends an import that a rule refused as a whole, such as one above a quota. Other errors are returned: a node
// takes the import again.
func (s *Service) refuse(ctx context.Context, id tenant.TenantID, i fileimport.Import, err error) error {
	if refusal := refusalOf(err); refusal != nil {
		return s.save(ctx, id, i.Refuse(refusal.Reason, refusal.Message, s.engine.Now()))
	}
	return err
}

// refusalOf returns the error of a rule that no other attempt would change; nil if it is none.
func refusalOf(err error) *fault.Error {
	var refusal *fault.Error
	if !errors.As(err, &refusal) {
		return nil
	}
	switch refusal.Kind {
	case fault.InvalidArgument, fault.FailedPrecondition, fault.NotFound, fault.AlreadyExists, fault.ResourceExhausted,
		fault.PermissionDenied:
		return refusal
	default:
		return nil
	}
}
