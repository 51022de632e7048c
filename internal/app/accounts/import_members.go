package accounts

import (
	"context"
	"slices"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// MemberImport is the result of an import of members.
type MemberImport struct {
	Rows     int // in the file, without the header
	Wrong    int // rows with problems; if there are any, nothing is imported
	Imported int
	Batch    tenant.BatchID // the import's id in the audit log; zero if nothing was imported
}

// ImportMembers creates a member for every row of a CSV file. If a row has a problem, or in a dry run, it creates none.
// It calls report with its progress, and stops if report returns an error.
func (s *Service) ImportMembers(
	ctx context.Context, caller tenant.Caller, file []byte, dryRun bool, report func(member.Progress) error,
) (MemberImport, error) {
	rows, err := s.parseImport(ctx, caller, file)
	if err != nil {
		return MemberImport{}, err
	}
	if !dryRun {
		// A repeated request must not be checked again: its members exist now, so every row would have a problem.
		if answer, ok, err := engine.Recall[MemberImport](ctx, s.engine, caller); ok || err != nil {
			return answer, err
		}
	}
	for progress := range member.ReportProgress(rows, reportInterval) {
		if err := report(progress); err != nil {
			return MemberImport{}, err
		}
	}
	result := MemberImport{Rows: len(rows.Rows), Wrong: rows.InvalidRows()}
	if dryRun || result.Wrong > 0 || result.Rows == 0 {
		return result, nil
	}

	imported, err := s.insertImport(ctx, caller, rows)
	if pg.IsUnique(err, "members_email", "members_subject") {
		// Another request has just created one of these members. Checking again shows which row it is.
		if rows, err := s.parseImport(ctx, caller, file); err == nil && rows.InvalidRows() > 0 {
			result.Wrong = rows.InvalidRows()
			return result, report(member.FullReport(rows))
		}
	}
	return imported, memberTaken(err)
}

const (
	// reportInterval is the number of rows between two reports of progress.
	reportInterval = 1000
	// insertLimit is the maximum number of rows in one statement, because of the statement timeout.
	insertLimit = 5000
)

// parseImport parses a file, and checks it against the existing members.
func (s *Service) parseImport(ctx context.Context, caller tenant.Caller, file []byte) (*member.Import, error) {
	found, err := member.ParseImport(file)
	if err != nil {
		return nil, err
	}
	var emails, subjects, takenEmails, takenSubjects []string
	for _, row := range found.Rows {
		emails, subjects = append(emails, row.Member.Email), append(subjects, row.Member.Subject)
	}
	var batch pg.Batch
	accountdb.ListTaken(&batch, caller.Tenant, emails, subjects, &takenEmails, &takenSubjects)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return nil, err
	}
	member.RejectTaken(found, takenEmails, takenSubjects)
	return found, nil
}

// insertImport inserts all rows in one transaction.
func (s *Service) insertImport(
	ctx context.Context, caller tenant.Caller, found *member.Import,
) (MemberImport, error) {
	t := engine.Transaction{Name: "member.import", Replay: true}
	return changeAccess(ctx, s, caller, t, func(ctx context.Context, tx *engine.Tx) (MemberImport, error) {
		if err := tx.Grow(ctx, s.quota, len(found.Rows)); err != nil {
			return MemberImport{}, err
		}
		batch := tenant.NextID[tenant.BatchID](tx.IDs)
		for rows := range slices.Chunk(found.Rows, insertLimit) {
			members := make([]member.Member, len(rows))
			for i, row := range rows {
				m := row.Member
				m.ID, m.Roles = tenant.NextID[tenant.MemberID](tx.IDs), []string{tenant.RoleMember}
				m.CreatedAt, m.UpdatedAt = tx.Now, tx.Now
				members[i] = m
				memberEvent(tx, m.ID, nil)
			}
			accountdb.InsertMembers(tx.Tx, tx.Tenant, members...)
		}
		record.AuditEntry(tx, coredb.AuditEntry{
			Action: "member.imported", TargetKind: "member", Batch: batch,
			Changes: map[string]any{"members": len(found.Rows)},
		})
		return MemberImport{Rows: len(found.Rows), Imported: len(found.Rows), Batch: batch}, nil
	})
}
