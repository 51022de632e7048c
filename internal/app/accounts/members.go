package accounts

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

var errNoMember = fault.Missing(fault.MemberNotFound, "Member")

// CreateMember creates an active member with the role "member".
func (s *Service) CreateMember(ctx context.Context, caller tenant.Caller, m member.Member) (member.Member, error) {
	m.Status, m.Roles = member.Active, []string{tenant.RoleMember}
	m, err := m.Normalize()
	if err != nil {
		return m, err
	}
	created, err := changeAccess(ctx, s, caller, engine.Transaction{Name: "member.create", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (member.Member, error) {
			if err := tx.Grow(ctx, s.quota, 1); err != nil {
				return member.Member{}, err
			}
			return s.insertMember(tx, m), nil
		})
	return created, memberTaken(err)
}

func (s *Service) insertMember(tx *engine.Tx, m member.Member) member.Member {
	m = m.Enter(member.Member{}, tx.Caller.Actor())
	m.ID, m.Version, m.CreatedAt, m.UpdatedAt = tenant.NextID[tenant.MemberID](tx.IDs), 1, tx.Now, tx.Now
	s.insertMembers(tx, m)
	changed := member.ChangedFields(member.Member{}, m)
	record.Audit(tx, "member.created", "member", m.ID.UUID, "", record.Changes(nil, m.AuditValues(changed)))
	memberEvent(tx, m.ID, changed)
	return m
}

// memberEdit is the result of an edit: the member, and the names of the fields that changed.
type memberEdit struct {
	Member  member.Member
	Changed []string
	// WithoutCoach are the future sessions that an inactive member cannot lead now.
	WithoutCoach session.LedSessions
}

// UpdateMember edits a member. If expect is not nil it must be the member's version. A contact that it changes ends one
// that was pending, and the address with which the member has signed in is asked about another. Who edits themselves
// has to confirm a new contact, as with UpdateMe.
func (s *Service) UpdateMember(
	ctx context.Context, caller tenant.Caller, id tenant.MemberID, expect *int, edit func(*member.Member) error,
) (member.Member, error) {
	if id == caller.Member {
		return s.updateSelf(ctx, caller, expect, edit)
	}
	return s.updateMember(ctx, caller, id, expect, edit,
		func(ctx context.Context, tx *engine.Tx, before, after member.Member) (member.Member, error) {
			for _, k := range member.ContactKinds() {
				if before.Contact(k) != after.Contact(k) {
					accountdb.DeletePendingContact(tx.Tx, tx.Tenant, id, k)
				}
			}
			return after, s.addressChanged(ctx, tx, before, after)
		})
}

// DeactivatedMember is an inactive member.
type DeactivatedMember struct {
	Member member.Member
	// WithoutCoach are the future sessions that they cannot lead now.
	WithoutCoach session.LedSessions
}

// DeactivateMember ends or suspends a membership. It changes nothing if the member is inactive already.
func (s *Service) DeactivateMember(
	ctx context.Context, caller tenant.Caller, id tenant.MemberID,
) (DeactivatedMember, error) {
	edit, err := s.setMemberStatus(ctx, caller, memberAct{"member.deactivate", "member.deactivated"}, id, member.Inactive)
	return DeactivatedMember{edit.Member, edit.WithoutCoach}, err
}

// ReactivateMember makes a membership active again. It changes nothing if the member is active already.
func (s *Service) ReactivateMember(
	ctx context.Context, caller tenant.Caller, id tenant.MemberID,
) (member.Member, error) {
	edit, err := s.setMemberStatus(ctx, caller, memberAct{"member.reactivate", "member.reactivated"}, id, member.Active)
	return edit.Member, err
}

func (s *Service) setMemberStatus(
	ctx context.Context, caller tenant.Caller, act memberAct, id tenant.MemberID, status member.Status,
) (memberEdit, error) {
	return s.editMember(ctx, caller, act, id, nil,
		func(m *member.Member) error { m.Status = status; return nil },
		func(_ context.Context, _ *engine.Tx, _, after member.Member) (member.Member, error) {
			return after, nil
		})
}

// memberAct is what an edit of a member is called.
type memberAct struct{ transaction, audit string }

var updated = memberAct{"member.update", "member.updated"}

// updateMember is editMember for what a member is.
func (s *Service) updateMember(
	ctx context.Context, caller tenant.Caller, id tenant.MemberID, expect *int, edit func(*member.Member) error,
	contacts func(ctx context.Context, tx *engine.Tx, before, after member.Member) (member.Member, error),
) (member.Member, error) {
	result, err := s.editMember(ctx, caller, updated, id, expect, edit, contacts)
	return result.Member, err
}

// editMember edits a member. Contacts decides about the contacts of the edited member, and returns the one to store.
func (s *Service) editMember(
	ctx context.Context, caller tenant.Caller, act memberAct, id tenant.MemberID, expect *int,
	edit func(*member.Member) error,
	contacts func(ctx context.Context, tx *engine.Tx, before, after member.Member) (member.Member, error),
) (memberEdit, error) {
	t := engine.Transaction{Name: act.transaction, Replay: true}
	result, err := engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (memberEdit, error) {
		before, otherOwner, facts, err := findMember(ctx, tx, id)
		if err != nil {
			return memberEdit{}, err
		}
		self := tx.Caller.Member == id
		if !self {
			err = facts.Roles().CheckEditMember(facts.Editor(), before.Roles)
		}
		if err != nil {
			return memberEdit{}, err
		}
		if err := fault.CheckVersion(expect, before.Version); err != nil {
			return memberEdit{}, err
		}
		after := before
		if err := edit(&after); err != nil {
			return memberEdit{}, err
		}
		if after, err = after.NormalizeFrom(before); err == nil {
			after, err = contacts(ctx, tx, before, after)
		}
		if err != nil {
			return memberEdit{}, err
		}
		after, changed, err := member.Edit(before, after, self, otherOwner)
		if err != nil {
			return memberEdit{}, err
		}
		without, err := findWithoutCoach(ctx, tx, id, after.Active())
		if err != nil || len(changed) == 0 {
			return memberEdit{after, changed, without}, err
		}
		if !self {
			after = after.Enter(before, tx.Caller.Actor())
		}
		after.Version, after.UpdatedAt = before.Version+1, tx.Now
		s.writeMember(tx, before, after)
		switch {
		case before.Active() && !after.Active():
			endTransfers(tx, id)
		case !before.Active() && after.Active():
			record.Recheck(tx, id)
		}
		endWaysIn(tx, before, after, self)
		record.Audit(tx, act.audit, "member", id.UUID, "",
			record.Changes(before.AuditValues(changed), after.AuditValues(changed)))
		memberEvent(tx, id, changed)
		if kind := notify.EditOfAdmin(after.Roles, after.Active(), self, changed); kind != "" {
			rolesEvent(tx, id, event.AccessChangeOf(kind, after.Roles, after.Roles...))
		}
		if member.AffectsSignIn(changed) {
			notifyNodes(tx)
		}
		return memberEdit{after, changed, without}, nil
	})
	// The result of an unknown commit is lost, so the edit may have changed who can sign in.
	if member.AffectsSignIn(result.Changed) || err != nil && pg.MayBeCommitted(err) {
		s.rolesChanged(caller.Tenant)
	}
	return result, memberTaken(err)
}

// endWaysIn ends by what a member could sign in before an edit: their invitation, sign-ins and passkeys.
func endWaysIn(tx *engine.Tx, before, after member.Member, self bool) {
	if !after.Active() || before.Email != after.Email {
		accountdb.EndInvitations(tx.Tx, tx.Tenant, after.ID, tx.Now)
	}
	if member.EndsSignIns(member.ChangedFields(before, after), after, self) {
		accountdb.DeleteSignInsOf(tx.Tx, tx.Tenant, after.ID)
	}
}

// findMember reads a member, whether there is another active owner, and the role facts.
func findMember(
	ctx context.Context, tx *engine.Tx, id tenant.MemberID,
) (m member.Member, otherOwner bool, facts *grant.Facts, err error) {
	m, facts, err = findWithRoleFacts(ctx, tx, errNoMember, func(b *pg.Batch, into **member.Member) {
		accountdb.FindMember(b, tx.Tenant, id, into)
		accountdb.FindOtherOwner(b, tx.Tenant, id, &otherOwner)
	})
	return m, otherOwner, facts, err
}

// MemberInfo is a member as staff see them.
type MemberInfo struct {
	Member  member.Member
	Devices []member.Device
	Pending []member.PendingContact
	// Change is the one of their address that waits for the old one; nil if none does.
	Change *member.AddressChange
}

// GetMember reads a member, their devices and the contacts that wait for confirmation. If the tenant asks for it, the
// audit log records who read another member in which hour.
func (s *Service) GetMember(
	ctx context.Context, caller tenant.Caller, id tenant.MemberID,
) (MemberInfo, error) {
	var devices []member.Device
	pending := make(map[tenant.MemberID][]member.PendingContact)
	var owner *catalog.Tenant
	var changes []member.AddressChange
	var audited bool
	hour := s.engine.Now().Truncate(time.Hour)
	m, err := engine.Get(ctx, s.engine, caller, errNoMember, func(b *pg.Batch, into **member.Member) {
		accountdb.FindMember(b, caller.Tenant, id, into)
		accountdb.ListDevices(b, caller.Tenant, id, &devices)
		accountdb.ListPendingContacts(b, caller.Tenant, []tenant.MemberID{id}, pending)
		accountdb.ListOpenAddressChanges(b, caller.Tenant, []tenant.MemberID{id}, &changes)
		accountdb.FindTenant(b, caller.Tenant, &owner)
		findMemberRead(b, caller, id, hour, &audited)
	})
	if err == nil && owner != nil && owner.AuditMemberReads && !audited && caller.Member != id {
		err = s.auditMemberRead(ctx, caller, id, hour)
	}
	if err != nil {
		return MemberInfo{}, err
	}
	return MemberInfo{m, devices, pending[id], m.Awaits(changes, s.engine.Now())}, nil
}

const memberRead = "member.read"

func findMemberRead(b *pg.Batch, by tenant.Caller, id tenant.MemberID, since time.Time, into *bool) {
	coredb.IsAudited(b, by.Tenant, by.Actor(), memberRead, "member", id.String(), since, into)
}

// auditMemberRead records that a caller has read a member, once an hour also if they read several times at once.
func (s *Service) auditMemberRead(
	ctx context.Context, caller tenant.Caller, id tenant.MemberID, hour time.Time,
) error {
	return engine.Exec(ctx, s.engine, caller, engine.Transaction{Name: "member.read"},
		func(ctx context.Context, tx *engine.Tx) error {
			var audited bool
			var batch pg.Batch
			findMemberRead(&batch, tx.Caller, id, hour, &audited)
			if err := tx.Load(ctx, &batch); err != nil || audited {
				return err
			}
			record.Audit(tx, memberRead, "member", id.UUID, "", nil)
			return nil
		})
}

// ListMembers searches members. It sorts them by name, then id.
func (s *Service) ListMembers(
	ctx context.Context, caller tenant.Caller, search member.Search,
) ([]member.Member, error) {
	if hasZeroByte(search.Query, search.Tier, search.Tag) || search.After != nil && hasZeroByte(search.After.Name) {
		return nil, nil
	}
	search.Now = s.engine.Now()
	return engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]member.Member) {
		accountdb.ListMembers(b, caller.Tenant, search, into)
	})
}

// hasZeroByte reports whether a text contains a zero byte. No stored text does, and Postgres rejects one that does,
// even in a comparison.
func hasZeroByte(texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.ContainsRune(text, 0) })
}

func memberEvent(tx *engine.Tx, id tenant.MemberID, changed []string) {
	record.Event(tx, outbox.Event{Member: id, Data: event.MemberChanged{Changed: changed}, Facts: event.NoFacts})
}

// memberTaken translates a rejection because another member has the email address or the subject.
func memberTaken(err error) error {
	switch {
	case pg.IsUnique(err, "members_email"):
		return member.Taken("email", "email address").WithCause(err)
	case pg.IsUnique(err, "members_subject"):
		return member.Taken("subject", "subject").WithCause(err)
	}
	return err
}
