package accounts

import (
	"context"
	"slices"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// MemberImport is how an import of members ended.
type MemberImport struct {
	Rows     int // of the file, without the header
	Wrong    int // rows with problems; where it is not 0 nothing was imported
	Imported int
	Batch    tenant.BatchID // names the import in the audit log; zero where nothing was imported
}

// ImportMembers makes a member of every row of a CSV file, or of none where any row is wrong
// or in a dry run. It tells its progress on the way, and stops with the error of whoever is told.
func (s *Service) ImportMembers(ctx context.Context, caller tenant.Caller, file []byte, dryRun bool, tell func(member.Progress) error) (MemberImport, error) {
	found, err := s.readImport(ctx, caller, file)
	if err != nil {
		return MemberImport{}, err
	}
	if !dryRun {
		// Judged again, a file that was imported is full of members that exist.
		if before, again, err := engine.Recall(ctx, s.engine, caller, importSpec); again || err != nil {
			return before, err
		}
	}
	for progress := range member.ReportProgress(found, importStep) {
		if err := tell(progress); err != nil {
			return MemberImport{}, err
		}
	}
	report := MemberImport{Rows: len(found.Rows), Wrong: found.InvalidRows()}
	if dryRun || report.Wrong > 0 || report.Rows == 0 {
		return report, nil
	}

	made, err := s.insertImport(ctx, caller, found)
	if pg.IsUnique(err, "members_email", "members_subject") {
		// Somebody became a member meanwhile. Which row it was a second look tells.
		if found, err := s.readImport(ctx, caller, file); err == nil && found.InvalidRows() > 0 {
			report.Wrong = found.InvalidRows()
			return report, tell(member.FullReport(found))
		}
	}
	if err != nil {
		return MemberImport{}, memberTaken(err)
	}
	return made, nil
}

// importSpec says how an import is run.
var importSpec = engine.Spec[MemberImport]{Name: "member.import", Replay: true}

// importStep is how many rows one report of progress is about.
const importStep = 1000

// readImport judges a file by itself and by who is a member already.
func (s *Service) readImport(ctx context.Context, caller tenant.Caller, file []byte) (*member.Import, error) {
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

// insertImport writes all rows in one transaction, in parts that each fit into a statement's time.
func (s *Service) insertImport(ctx context.Context, caller tenant.Caller, found *member.Import) (MemberImport, error) {
	report := MemberImport{Rows: len(found.Rows), Imported: len(found.Rows)}
	err := s.regrant(ctx, caller, "member.import", func(_ context.Context, tx *engine.Tx) error {
		report.Batch = tenant.NextID[tenant.BatchID](tx.IDs)
		for part := range slices.Chunk(found.Rows, 5*importStep) {
			members := make([]member.Member, len(part))
			events := make([]outbox.Event, len(part))
			for i, row := range part {
				m := row.Member
				m.ID, m.Roles, m.CreatedAt, m.UpdatedAt = tenant.NextID[tenant.MemberID](tx.IDs), []string{tenant.RoleMember}, tx.Now, tx.Now
				members[i] = m
				events[i] = outbox.Event{
					ID: tenant.NextID[tenant.EventID](tx.IDs), Type: outbox.MemberChanged, Member: m.ID, Actor: tx.Caller.Actor(), At: tx.Now,
				}
			}
			accountdb.InsertMembers(tx.Tx, tx.Tenant, members...)
			outbox.Append(tx.Tx, tx.Tenant, events...)
		}
		tx.AuditEntry(coredb.AuditEntry{
			Action: "member.imported", TargetKind: "member", Batch: report.Batch, Changes: map[string]any{"members": len(found.Rows)},
		})
		return nil
	}, engine.Answers(&report))
	return report, err
}
