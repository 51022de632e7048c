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
	return kindOfPeople(s, peopleKind[credit.ImportRow, *credit.ImportRow]{
		what: "subscription", sum: "credits",
		parse: credit.ParseImport,
		person: func(row *credit.ImportRow) (*csvfile.Row, *member.Person, *tenant.MemberID) {
			return &row.Row, &row.Person, &row.Member
		},
		check: s.checkSubscriptions,
		take: func(
			ctx context.Context, tx *engine.Tx, caller tenant.Caller, rows []credit.ImportRow,
		) (taken, error) {
			return startSubscriptions(ctx, tx, caller, rows)
		},
	})
}

func (s *Service) futureBookings() kind[booking.ImportRow, *booking.ImportRow] {
	return kindOfPeople(s, peopleKind[booking.ImportRow, *booking.ImportRow]{
		what: "booking", sum: "seats", races: []engine.Race{bookings.ImportRace},
		parse: booking.ParseImport,
		person: func(row *booking.ImportRow) (*csvfile.Row, *member.Person, *tenant.MemberID) {
			if row.Guest != "" {
				return &row.Row, &row.Person, nil
			}
			return &row.Row, &row.Person, &row.Member
		},
		check: s.bookings.CheckImport,
		take: func(
			ctx context.Context, tx *engine.Tx, caller tenant.Caller, rows []booking.ImportRow,
		) (taken, error) {
			return s.bookings.TakeImport(ctx, tx, caller, rows)
		},
	})
}
