// Package imports holds the use cases about imports of files. They answer at once, and nodes work on them in the
// background.
package imports

import (
	"context"

	"github.com/berthhq/berth/internal/alarm"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/fileimport"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// Config is what a Service needs.
type Config struct {
	Engine    *engine.Engine
	Accounts  *accounts.Service
	Schedules *schedules.Service
	Bookings  *bookings.Service
}

// Service holds the use cases about imports. It is safe for concurrent use.
type Service struct {
	engine    *engine.Engine
	accounts  *accounts.Service
	schedules *schedules.Service
	bookings  *bookings.Service
	// Due has an alarm for each tenant with an import that this node knows of.
	Due alarm.Clock
}

// New makes a Service.
func New(c Config) *Service {
	return &Service{engine: c.Engine, accounts: c.Accounts, schedules: c.Schedules, bookings: c.Bookings}
}

var noImport = fault.Missing(fault.ImportNotFound, "Import")

// Request is a file to import.
type Request struct {
	File   []byte
	DryRun bool
	// LeaveOut leaves out rows with problems. Without it, one ends the import.
	LeaveOut bool
	// Columns says what becomes of some of its columns, the others are known by their names.
	Columns []fileimport.Match
}

// ImportSessions starts an import of a file of sessions, which RunDue works on. The error is IMPORT_INVALID if the file
// as a whole cannot be read, and INVALID_FIELD if it does not have the columns of the request.
func (s *Service) ImportSessions(
	ctx context.Context, caller tenant.Caller, req Request, mayPublish bool,
) (fileimport.Import, error) {
	parsed, err := session.ParseImport(req.File, req.Columns...)
	if err != nil {
		return fileimport.Import{}, err
	}
	return s.start(ctx, caller, req, fileimport.Import{
		Kind: fileimport.Sessions, MayPublish: mayPublish, Columns: parsed.Columns, Rows: len(parsed.Rows),
	})
}

// ImportMembers starts an import of a file of members, as ImportSessions does.
func (s *Service) ImportMembers(
	ctx context.Context, caller tenant.Caller, req Request,
) (fileimport.Import, error) {
	parsed, err := member.ParseImport(req.File, req.Columns...)
	if err != nil {
		return fileimport.Import{}, err
	}
	return s.start(ctx, caller, req, fileimport.Import{
		Kind: fileimport.Members, Columns: parsed.Columns, Rows: len(parsed.Rows),
	})
}

// ImportSubscriptions starts an import of a file of the plans that members have, as ImportSessions does.
func (s *Service) ImportSubscriptions(
	ctx context.Context, caller tenant.Caller, req Request,
) (fileimport.Import, error) {
	parsed, err := credit.ParseImport(req.File, req.Columns...)
	if err != nil {
		return fileimport.Import{}, err
	}
	return s.start(ctx, caller, req, fileimport.Import{
		Kind: fileimport.Subscriptions, Columns: parsed.Columns, Rows: len(parsed.Rows),
	})
}

// ImportBookings starts an import of a file of future bookings, as ImportSessions does.
func (s *Service) ImportBookings(
	ctx context.Context, caller tenant.Caller, req Request,
) (fileimport.Import, error) {
	parsed, err := booking.ParseImport(req.File, req.Columns...)
	if err != nil {
		return fileimport.Import{}, err
	}
	return s.start(ctx, caller, req, fileimport.Import{
		Kind: fileimport.Bookings, Columns: parsed.Columns, Rows: len(parsed.Rows),
	})
}

func (s *Service) start(
	ctx context.Context, caller tenant.Caller, req Request, i fileimport.Import,
) (fileimport.Import, error) {
	t := engine.Transaction{Name: "import.start", Replay: true}
	start := func(ctx context.Context, tx *engine.Tx) (fileimport.Import, error) {
		var unended int
		var batch pg.Batch
		coredb.CountUnendedImports(&batch, tx.Tenant, &unended)
		if err := tx.Load(ctx, &batch); err != nil {
			return fileimport.Import{}, err
		}
		if err := fileimport.CheckUnended(unended); err != nil {
			return fileimport.Import{}, err
		}
		i.ID, i.Status = tenant.NextID[tenant.ImportID](tx.IDs), fileimport.Pending
		i.DryRun, i.LeaveOut = req.DryRun, req.LeaveOut
		i.Actor, i.Subject, i.DueAt, i.CreatedAt = caller.Actor(), caller.Subject, tx.Now, tx.Now
		coredb.InsertImport(tx.Tx, tx.Tenant, i, req.File)
		record.Audit(tx, "import.created", "import", i.ID.UUID, "", map[string]any{
			"kind": i.Kind, "rows": i.Rows, "dry_run": i.DryRun,
		})
		return i, nil
	}
	started, err := engine.Transact(ctx, s.engine, caller, t, start)
	if err == nil {
		s.Due.Set(caller.Tenant, s.engine.Now())
	}
	return started, err
}

// GetImport returns an import with its problems and notes, and if asked, with the rows that it left out.
func (s *Service) GetImport(
	ctx context.Context, caller tenant.Caller, id tenant.ImportID, leftOut bool,
) (fileimport.Import, error) {
	var rows []byte
	var invitable, withoutEmail int
	found, err := engine.Get(ctx, s.engine, caller, noImport, func(b *pg.Batch, into **fileimport.Import) {
		coredb.FindImport(b, caller.Tenant, id, into)
		accountdb.CountInvitable(b, caller.Tenant, id, s.engine.Now(), &invitable, &withoutEmail)
		if leftOut {
			coredb.FindLeftOut(b, caller.Tenant, id, s.engine.Now().Add(-fileimport.LeftOutLife), &rows)
		}
	})
	found.LeftOut, found.Invitable, found.WithoutEmail = rows, invitable, withoutEmail
	return found, err
}

// ImportQuery selects imports, the newest first.
type ImportQuery = coredb.ImportQuery

// ListImports returns a page of imports, without their problems.
func (s *Service) ListImports(ctx context.Context, caller tenant.Caller, q ImportQuery) ([]fileimport.Import, error) {
	return engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]fileimport.Import) {
		coredb.ListImports(b, caller.Tenant, q, into)
	})
}
