package accounts

import (
	"context"
	"slices"
	"strings"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// CreateMember makes an active member with the role "member".
func (s *Service) CreateMember(ctx context.Context, caller tenant.Caller, m member.Member) (member.Member, error) {
	m.Status, m.Roles = member.Active, []string{tenant.RoleMember}
	m, err := m.Normalize()
	if err != nil {
		return m, err
	}
	err = s.regrant(ctx, caller, "member.create", func(_ context.Context, tx *engine.Tx) error {
		m.ID, m.Version, m.CreatedAt, m.UpdatedAt = tenant.NextID[tenant.MemberID](tx.IDs), 1, tx.Now, tx.Now
		accountdb.InsertMembers(tx.Tx, tx.Tenant, m)
		set := member.ChangedFields(member.Member{}, m)
		tx.Audit("member.created", "member", m.ID.UUID, "", engine.AuditChange(nil, m.AuditValues(set)))
		memberEvent(tx, m.ID, set)
		return nil
	}, engine.Answers(&m))
	return m, memberTaken(err)
}

// UpdateMember edits a member, if they still are at the version expected (nil: whichever).
func (s *Service) UpdateMember(ctx context.Context, caller tenant.Caller, id tenant.MemberID, expect *int, edit func(*member.Member) error) (member.Member, error) {
	var after member.Member
	var changed []string
	body := func(ctx context.Context, tx *engine.Tx) error {
		changed = nil
		var before *member.Member
		var others bool
		var batch pg.Batch
		powers := loadPowers(tx, &batch)
		accountdb.FindMember(&batch, tx.Tenant, id, &before)
		accountdb.FindOtherOwner(&batch, tx.Tenant, id, &others)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if before == nil {
			return fault.Missing(fault.MemberNotFound, "Member")
		}
		if err := powers.book().CheckEditMember(powers.caller(), before.Roles); err != nil {
			return err
		}
		if err := engine.CheckVersion(expect, before.Version); err != nil {
			return err
		}
		after = *before
		if err := edit(&after); err != nil {
			return err
		}
		var err error
		if after, changed, err = member.Edit(*before, after, others); err != nil || len(changed) == 0 {
			return err
		}
		after.Version, after.UpdatedAt = before.Version+1, tx.Now
		accountdb.UpdateMember(tx.Tx, tx.Tenant, after)
		tx.Audit("member.updated", "member", id.UUID, "", engine.AuditChange(before.AuditValues(changed), after.AuditValues(changed)))
		memberEvent(tx, id, changed)
		if member.AffectsSignIn(changed) {
			tellNodes(tx)
		}
		return nil
	}
	err := s.engine.Write(ctx, caller, "member.update", body, engine.Answers(&after, &changed))
	if member.AffectsSignIn(changed) && mayBeDurable(err) {
		s.rolesChanged(caller.Tenant)
	}
	return after, memberTaken(err)
}

// GetMember reads a member and their devices.
func (s *Service) GetMember(ctx context.Context, caller tenant.Caller, id tenant.MemberID) (member.Member, []member.Device, error) {
	var m *member.Member
	var devices []member.Device
	var batch pg.Batch
	accountdb.FindMember(&batch, caller.Tenant, id, &m)
	accountdb.ListDevices(&batch, caller.Tenant, id, &devices)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return member.Member{}, nil, err
	}
	if m == nil {
		return member.Member{}, nil, fault.Missing(fault.MemberNotFound, "Member")
	}
	return *m, devices, nil
}

// ListMembers searches members, by name, then id.
func (s *Service) ListMembers(ctx context.Context, caller tenant.Caller, search member.Search) ([]member.Member, error) {
	if unheard(search.Query, search.Tier, search.Tag) || (search.After != nil && unheard(search.After.Name)) {
		return nil, nil
	}
	var members []member.Member
	var batch pg.Batch
	accountdb.ListMembers(&batch, caller.Tenant, search, &members)
	err := s.engine.Read(ctx, caller, &batch)
	return members, err
}

// unheard reports whether nothing can be called like one of the texts: Postgres
// keeps no zero bytes, and will not even compare with them.
func unheard(texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.ContainsRune(text, 0) })
}

func memberEvent(tx *engine.Tx, id tenant.MemberID, changed []string) {
	outbox.Append(tx.Tx, tx.Tenant, outbox.Event{
		ID: tenant.NextID[tenant.EventID](tx.IDs), Type: outbox.MemberChanged, Member: id, Actor: tx.Caller.Actor(), At: tx.Now,
		Data: map[string]any{"changed": changed},
	})
}

// memberTaken names the key that another member has.
func memberTaken(err error) error {
	taken := func(field, what string) error {
		return fault.New(fault.AlreadyExists, fault.AlreadyExistsReason, "A member has that %s.", what).WithField("member." + field).WithCause(err)
	}
	switch {
	case pg.IsUnique(err, "members_email"):
		return taken("email", "email address")
	case pg.IsUnique(err, "members_subject"):
		return taken("subject", "subject")
	}
	return err
}
