package imports

import (
	"context"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/csvfile"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/fileimport"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// kind is how the rows of a kind of file are read, checked and created.
type kind[R any, P csvfile.RowPointer[R]] struct {
	parse func(file []byte, columns ...csvfile.Match) (*csvfile.Table[R, P], error)
	// check adds the problems of rows that can be seen without the others.
	check func(context.Context, tenant.Caller, []R) error
	// create creates all rows or none, as a dry run none, and calls the function in the same transaction.
	create func(context.Context, tenant.Caller, *csvfile.Table[R, P], bool,
		func(context.Context, *engine.Tx, created[R, P]) error) error
}

// created is what became of a file.
type created[R any, P csvfile.RowPointer[R]] struct {
	file  csvfile.Table[R, P] // with all problems
	ids   []tenant.UUID
	batch tenant.BatchID
	total *fileimport.Total // nil if files of the kind add up to nothing
}

func (s *Service) sessions(mayPublish bool) kind[session.ImportRow, *session.ImportRow] {
	return kind[session.ImportRow, *session.ImportRow]{
		parse: func(file []byte, columns ...csvfile.Match) (*session.Import, error) {
			parsed, err := session.ParseImport(file, columns...)
			if err == nil && !mayPublish {
				session.RefusePublished(parsed.Rows)
			}
			return parsed, err
		},
		check: s.schedules.CheckImport,
		create: func(
			ctx context.Context, caller tenant.Caller, file *session.Import, dryRun bool,
			ended func(context.Context, *engine.Tx, created[session.ImportRow, *session.ImportRow]) error,
		) error {
			_, err := s.schedules.ImportSessions(ctx, caller, file, dryRun,
				func(ctx context.Context, tx *engine.Tx, done schedules.SessionImport) error {
					return ended(ctx, tx, created[session.ImportRow, *session.ImportRow]{
						done.Import, pg.Array(done.Sessions, func(id tenant.SessionID) tenant.UUID { return id.UUID }), done.Batch, nil,
					})
				})
			return err
		},
	}
}

func (s *Service) members() kind[member.ImportRow, *member.ImportRow] {
	return kind[member.ImportRow, *member.ImportRow]{
		parse: member.ParseImport,
		check: s.accounts.CheckImport,
		create: func(
			ctx context.Context, caller tenant.Caller, file *member.Import, dryRun bool,
			ended func(context.Context, *engine.Tx, created[member.ImportRow, *member.ImportRow]) error,
		) error {
			_, err := s.accounts.ImportMembers(ctx, caller, file, dryRun,
				func(ctx context.Context, tx *engine.Tx, done accounts.MemberImport) error {
					return ended(ctx, tx, created[member.ImportRow, *member.ImportRow]{
						done.Import, pg.Array(done.Members, func(id tenant.MemberID) tenant.UUID { return id.UUID }), done.Batch, nil,
					})
				})
			return err
		},
	}
}

func (s *Service) subscriptions() kind[credit.ImportRow, *credit.ImportRow] {
	return kind[credit.ImportRow, *credit.ImportRow]{
		parse: credit.ParseImport,
		check: func(ctx context.Context, caller tenant.Caller, rows []credit.ImportRow) error {
			err := s.findPeople(ctx, caller, len(rows), func(n int) (*csvfile.Row, *member.Person, *tenant.MemberID) {
				return &rows[n].Row, &rows[n].Person, &rows[n].Member
			})
			if err != nil {
				return err
			}
			return s.checkSubscriptions(ctx, caller, rows)
		},
		create: func(
			ctx context.Context, caller tenant.Caller, file *credit.Import, dryRun bool,
			ended func(context.Context, *engine.Tx, created[credit.ImportRow, *credit.ImportRow]) error,
		) error {
			return s.createSubscriptions(ctx, caller, file, dryRun,
				func(ctx context.Context, tx *engine.Tx, done subscriptionImport) error {
					return ended(ctx, tx, created[credit.ImportRow, *credit.ImportRow]{
						done.Import, pg.Array(done.Subscriptions, func(id tenant.SubscriptionID) tenant.UUID { return id.UUID }),
						done.Batch, &fileimport.Total{File: done.File, Ledger: done.Ledger},
					})
				})
		},
	}
}

func (s *Service) futureBookings() kind[booking.ImportRow, *booking.ImportRow] {
	return kind[booking.ImportRow, *booking.ImportRow]{
		parse: booking.ParseImport,
		check: func(ctx context.Context, caller tenant.Caller, rows []booking.ImportRow) error {
			err := s.findPeople(ctx, caller, len(rows), func(n int) (*csvfile.Row, *member.Person, *tenant.MemberID) {
				row := &rows[n]
				if row.Guest != "" {
					return &row.Row, &row.Person, nil
				}
				return &row.Row, &row.Person, &row.Member
			})
			if err != nil {
				return err
			}
			return s.bookings.CheckImport(ctx, caller, rows)
		},
		create: func(
			ctx context.Context, caller tenant.Caller, file *booking.Import, dryRun bool,
			ended func(context.Context, *engine.Tx, created[booking.ImportRow, *booking.ImportRow]) error,
		) error {
			return s.bookings.ImportBookings(ctx, caller, file, dryRun,
				func(ctx context.Context, tx *engine.Tx, done bookings.BookingImport) error {
					return ended(ctx, tx, created[booking.ImportRow, *booking.ImportRow]{
						done.Import, pg.Array(done.Bookings, func(id tenant.BookingID) tenant.UUID { return id.UUID }),
						done.Batch, &fileimport.Total{File: done.File, Ledger: done.Sessions},
					})
				})
		},
	}
}
