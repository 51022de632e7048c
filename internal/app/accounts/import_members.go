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

// MemberImport is the report on an imported file of members.
type MemberImport struct {
	member.Import

	Members []tenant.MemberID // created: of all rows; none if a row has a problem, or in a dry run
	Batch   tenant.BatchID    // the import's id in the audit log; zero if no members were created
}

// insertLimit is the maximum number of rows in one statement, because of the statement timeout.
const insertLimit = 5000

// CheckImport reads phone numbers of the tenant's own countries, and adds a problem to each row whose member is there
// already. It writes nothing.
func (s *Service) CheckImport(ctx context.Context, caller tenant.Caller, rows []member.ImportRow) error {
	read := func(ctx context.Context, b *pg.Batch) error { return s.engine.Read(ctx, caller, b) }
	var zones []string
	var locale string
	var batch pg.Batch
	accountdb.ListZones(&batch, caller.Tenant, &zones, &locale)
	if err := read(ctx, &batch); err != nil {
		return err
	}
	member.ReadNational(rows, member.Countries(nil, zones, locale))
	return rejectTaken(ctx, read, caller.Tenant, rows)
}

// ImportMembers creates a member for every row of a file, which CheckImport has checked. If any row has a problem, or
// in a dry run, it creates none. In the same transaction it calls ended, if that is not nil.
func (s *Service) ImportMembers(
	ctx context.Context, caller tenant.Caller, parsed *member.Import, dryRun bool,
	ended func(context.Context, *engine.Tx, MemberImport) error,
) (MemberImport, error) {
	if ended == nil {
		ended = func(context.Context, *engine.Tx, MemberImport) error { return nil }
	}
	t := engine.Transaction{Name: "member.import", Races: []engine.Race{takenRace}}
	// Another transaction may have created one of the members after the check. The constraints find that; only then the
	// rows are read here: a transaction that reads as many would conflict with every other that creates a member.
	again := false
	insert := func(ctx context.Context, tx *engine.Tx) (MemberImport, error) {
		// A copy, so that each attempt starts with the file's own problems.
		imported := MemberImport{Import: *parsed}
		imported.Rows = slices.Clone(parsed.Rows)
		if again {
			if err := rejectTaken(ctx, tx.Load, tx.Tenant, imported.Rows); err != nil {
				return imported, err
			}
		}
		again = true
		if dryRun || imported.InvalidRows() > 0 || len(imported.Rows) == 0 {
			return imported, ended(ctx, tx, imported)
		}
		if err := tx.Grow(ctx, s.quota, len(imported.Rows)); err != nil {
			return imported, err
		}
		imported.Members = pg.Array(imported.Rows, func(member.ImportRow) tenant.MemberID {
			return tenant.NextID[tenant.MemberID](tx.IDs)
		})
		imported.Batch = tenant.NextID[tenant.BatchID](tx.IDs)
		if err := ended(ctx, tx, imported); err != nil {
			return imported, err
		}
		s.insertRows(tx, imported.Rows, imported.Members)
		record.AuditEntry(tx, coredb.AuditEntry{
			Action: "member.imported", TargetKind: "member", Batch: imported.Batch,
			Changes: map[string]any{"members": len(imported.Members)},
		})
		return imported, nil
	}
	imported, err := changeAccess(ctx, s, caller, t, insert)
	return imported, memberTaken(err)
}

// takenRace reports that another transaction created a member with an email or subject of the file. The next attempt
// reads it.
func takenRace(err error) bool { return pg.IsUnique(err, "members_email", "members_subject") }

func (s *Service) insertRows(tx *engine.Tx, rows []member.ImportRow, ids []tenant.MemberID) {
	all := make([]member.Member, len(rows))
	for i, row := range rows {
		m := row.Member.Enter(member.Member{}, tx.Caller.Actor())
		m.ID, m.Roles = ids[i], []string{tenant.RoleMember}
		m.CreatedAt, m.UpdatedAt = tx.Now, tx.Now
		all[i] = m
		memberEvent(tx, m.ID, nil)
	}
	for members := range slices.Chunk(all, insertLimit) {
		s.insertMembers(tx, members...)
	}
}

// UndoImport ends memberships that an import created, which nobody has used. Their contacts go, so that a mended file
// can be imported.
func (s *Service) UndoImport(ctx context.Context, tx *engine.Tx, ids []tenant.MemberID) error {
	var found []member.Member
	var batch pg.Batch
	accountdb.ListMembersByID(&batch, tx.Tenant, ids, &found)
	if err := tx.Load(ctx, &batch); err != nil {
		return err
	}
	var undone []member.Member
	for _, before := range found {
		after := before.UndoImported()
		if changed := member.ChangedFields(before, after); len(changed) > 0 {
			after.Version, after.UpdatedAt = before.Version+1, tx.Now
			undone = append(undone, after)
			memberEvent(tx, after.ID, changed)
		}
	}
	accountdb.EndMembers(tx.Tx, tx.Tenant, undone, tx.Now)
	notifyNodes(tx)
	tx.OnCommit(func() { s.rolesChanged(tx.Tenant) })
	return nil
}

// rejectTaken adds a problem to each row whose member is there already.
func rejectTaken(ctx context.Context, read engine.Reader, in tenant.TenantID, rows []member.ImportRow) error {
	emails, subjects, names := member.Sought(rows)
	var existing member.Existing
	var batch pg.Batch
	accountdb.ListTaken(&batch, in, emails, subjects, names, &existing)
	if err := read(ctx, &batch); err != nil {
		return err
	}
	member.RejectTaken(rows, existing)
	return nil
}
