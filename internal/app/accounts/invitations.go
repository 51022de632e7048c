package accounts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/mails"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// Invitee is who is invited: a member, or somebody who becomes one with the given roles.
type Invitee struct {
	Member tenant.MemberID
	New    member.Member
}

// CreateInvitations sends each invitee a link that confirms their address: all, or none if one cannot be invited. It
// ends the open invitation of a member, whose link is good no longer. The links go to the mails alone: whoever invites
// does not see them. Errors, with the invitee's field: MEMBER_NOT_FOUND, PERMISSION_DENIED, ALREADY_EXISTS,
// ROLE_NOT_FOUND, INVALID_FIELD, ADDRESS_IN_DOUBT, QUOTA_EXCEEDED.
func (s *Service) CreateInvitations(
	ctx context.Context, caller tenant.Caller, whom []Invitee,
) ([]member.Invited, error) {
	whom, ids, emails, err := normalInvitees(whom)
	if err != nil {
		return nil, err
	}
	t := engine.Transaction{Name: "invitation.create", Replay: true, Races: []engine.Race{takenRace, roleRace}}
	return changeAccess(ctx, s, caller, t, func(ctx context.Context, tx *engine.Tx) ([]member.Invited, error) {
		if len(emails) > 0 {
			if err := tx.Grow(ctx, s.quota, len(emails)); err != nil {
				return nil, err
			}
		}
		var found []member.Member
		var taken member.Existing
		var batch pg.Batch
		facts := loadRoleFacts(tx, &batch)
		accountdb.ListMembersByID(&batch, tx.Tenant, ids, &found)
		accountdb.ListTaken(&batch, tx.Tenant, emails, nil, nil, &taken)
		leaves := loadLeaves(tx, &batch, ids)
		if err := tx.Load(ctx, &batch); err != nil {
			return nil, err
		}
		members := make(map[tenant.MemberID]member.Member, len(found))
		for _, m := range found {
			members[m.ID] = m
		}
		all := make([]member.Invited, len(whom))
		for i, who := range whom {
			m, err := s.invitee(tx, facts, who, members, taken.Emails)
			if err == nil {
				err = m.CheckInvited(leaves.often)
			}
			if err == nil {
				all[i], err = s.invite(tx, m, leaves)
			}
			if err != nil {
				return nil, ofInvitee(err, i, who)
			}
		}
		return all, nil
	})
}

// InviteOwner returns the link of a new invitation for the owner with an address, which ends the open one. It is for
// operators, if an owner's link was lost or they can sign in no longer: no RPC calls it. Errors: MEMBER_NOT_FOUND,
// INVALID_FIELD (the membership is not active), ADDRESS_IN_DOUBT.
func (s *Service) InviteOwner(ctx context.Context, in tenant.TenantID, email string) (string, error) {
	t := engine.Transaction{Name: "invitation.owner"}
	return engine.Transact(ctx, s.engine, tenant.System(in), t, func(ctx context.Context, tx *engine.Tx) (string, error) {
		owner, err := engine.Find(ctx, tx, errNoMember, func(b *pg.Batch, into **member.Member) {
			accountdb.FindMemberByEmail(b, tx.Tenant, email, into)
		})
		if err != nil {
			return "", err
		}
		if !slices.Contains(owner.Roles, tenant.RoleOwner) {
			return "", errNoMember
		}
		var batch pg.Batch
		leaves := loadLeaves(tx, &batch, []tenant.MemberID{owner.ID})
		if err := tx.Load(ctx, &batch); err != nil {
			return "", err
		}
		_, link, err := s.insertInvitation(tx, owner, leaves)
		return link, err
	})
}

// normalInvitees returns the invitees as they are stored, the members' ids, and the addresses of the others as they
// are compared. The error is INVALID_FIELD or ALREADY_EXISTS.
func normalInvitees(whom []Invitee) (normal []Invitee, ids []tenant.MemberID, emails []string, err error) {
	seen := make(map[string]bool)
	for i, who := range whom {
		key := who.Member.String()
		if who.Member.IsZero() {
			roles := slices.Compact(append([]string{tenant.RoleMember}, who.New.Roles...))
			grant.Sort(roles)
			who.New.Roles, who.New.Status = slices.Compact(roles), member.Active
			if who.New, err = who.New.Normalize(); err != nil {
				return nil, nil, nil, ofInvitee(err, i, who)
			}
			key = who.New.Contact(member.ByEmail).Key()
			emails = append(emails, key)
		} else {
			ids = append(ids, who.Member)
		}
		if seen[key] {
			return nil, nil, nil, ofInvitee(member.ErrInvitedTwice, i, who)
		}
		seen[key] = true
		normal = append(normal, who)
	}
	return normal, ids, emails, nil
}

// ofInvitee returns an error that names the field of an invitee.
func ofInvitee(err error, i int, who Invitee) error {
	known, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	field := "member_id"
	if who.Member.IsZero() {
		_, own, found := strings.Cut(known.Field, "member.")
		if !found {
			own = map[fault.Reason]string{fault.RoleNotFound: "roles", fault.PermissionDeniedReason: "roles"}[known.Reason]
		}
		field = "person." + cmp.Or(own, "email")
	}
	return known.WithField(fmt.Sprintf("invitations[%d].%s", i, field))
}

// invitee returns the member to invite, whom it creates if they are none.
func (s *Service) invitee(
	tx *engine.Tx, facts *grant.Facts, who Invitee, members map[tenant.MemberID]member.Member,
	taken []member.Addressee,
) (member.Member, error) {
	if who.Member.IsZero() {
		m := who.New
		if err := facts.CheckGrant(m.Roles...); err != nil {
			return m, err
		}
		key := m.Contact(member.ByEmail).Key()
		if slices.ContainsFunc(taken, func(a member.Addressee) bool { return a.Email == key }) {
			return m, member.Taken("email", "email address")
		}
		m = s.insertMember(tx, m)
		for _, role := range m.Roles {
			if role != tenant.RoleMember {
				record.Audit(tx, "role.assigned", "member", m.ID.UUID, "",
					record.Changes(nil, map[string]any{"roles": m.Roles}))
				rolesEvent(tx, m.ID, event.AccessChangeOf(notify.RoleGiven, m.Roles, role))
			}
		}
		return m, nil
	}
	m, ok := members[who.Member]
	if !ok {
		return m, errNoMember
	}
	return m, facts.Roles().CheckEditMember(facts.Editor(), m.Roles)
}

// leaves decides when invitations leave, and whom they may reach.
type leaves struct {
	departures member.Departures
	often      []string // addresses that get no more today
	changes    []member.AddressChange
}

func loadLeaves(tx *engine.Tx, b *pg.Batch, of []tenant.MemberID) *leaves {
	l := &leaves{}
	accountdb.ListDepartures(b, tx.Tenant, member.MaxInvitations, &l.departures)
	since := tx.Now.Add(-member.InvitationDay)
	accountdb.ListInvitedOften(b, tx.Tenant, since, member.MaxInvitationsTo, &l.often)
	accountdb.ListOpenAddressChanges(b, tx.Tenant, of, &l.changes)
	return l
}

// invite invites a member whom the caller may invite.
func (s *Service) invite(tx *engine.Tx, m member.Member, l *leaves) (member.Invited, error) {
	i, link, err := s.insertInvitation(tx, m, l)
	if err != nil {
		return member.Invited{}, err
	}
	s.mails.Add(tx, mails.Mail{
		PlatformMail: content.PlatformMail{
			Kind: content.MailInvitation, To: i.Address, Name: m.Name, Locale: m.Locale, Until: i.ExpiresAt, Link: link,
		},
		About: i.ID.UUID, DueAt: i.SentAt, ExpiresAt: i.ExpiresAt,
	})
	return member.Invited{Invitation: i, Name: m.Name}, nil
}

// insertInvitation records an invitation, and returns it with its link.
func (s *Service) insertInvitation(
	tx *engine.Tx, m member.Member, l *leaves,
) (i member.Invitation, link string, err error) {
	var change *member.AddressChange
	if at := slices.IndexFunc(l.changes, func(c member.AddressChange) bool { return c.Member == m.ID }); at >= 0 {
		change = &l.changes[at]
	}
	id := tenant.NextID[tenant.InvitationID](tx.IDs)
	if i, err = m.Invite(id, tx.Caller.Actor(), &l.departures, change, tx.Now); err != nil {
		return i, "", err
	}
	accountdb.EndInvitations(tx.Tx, tx.Tenant, m.ID, tx.Now)
	accountdb.InsertInvitation(tx.Tx, tx.Tenant, i)
	record.Audit(tx, "member.invited", "member", m.ID.UUID, "", map[string]any{"email": i.Address})
	tx.OnCommit(s.invitationChanged)
	return i, s.publicURL + InvitePath + s.seals.Sign(tx.Tenant, invitePurpose, i.ID.UUID[:]), nil
}

// ListInvitations reads invitations, the newest first.
func (s *Service) ListInvitations(
	ctx context.Context, caller tenant.Caller, search member.InvitationSearch,
) ([]member.Invited, error) {
	search.Now = s.engine.Now()
	return engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]member.Invited) {
		accountdb.ListInvitations(b, caller.Tenant, search, into)
	})
}

// Now is the time by which the states of invitations count.
func (s *Service) Now() time.Time { return s.engine.Now() }

var errNoInvitation = fault.Missing(fault.InvitationNotFound, "Invitation")

// ResendInvitation invites the member of an invitation once more, which ends with it. Errors: INVITATION_NOT_FOUND,
// INVITATION_ENDED, PERMISSION_DENIED, INVALID_FIELD, ADDRESS_IN_DOUBT, QUOTA_EXCEEDED.
func (s *Service) ResendInvitation(
	ctx context.Context, caller tenant.Caller, id tenant.InvitationID,
) (member.Invited, error) {
	t := engine.Transaction{Name: "invitation.resend", Replay: true}
	return engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (member.Invited, error) {
		i, m, err := findInvitation(ctx, tx, id)
		if err == nil {
			err = i.CheckOpen()
		}
		if err != nil {
			return member.Invited{}, err
		}
		var batch pg.Batch
		l := loadLeaves(tx, &batch, []tenant.MemberID{m.ID})
		if err := tx.Load(ctx, &batch); err != nil {
			return member.Invited{}, err
		}
		if err := m.CheckInvited(l.often); err != nil {
			return member.Invited{}, err
		}
		return s.invite(tx, m, l)
	})
}

// RevokeInvitation ends an invitation. It changes nothing if it was revoked already. Errors: INVITATION_NOT_FOUND,
// INVITATION_ENDED, PERMISSION_DENIED.
func (s *Service) RevokeInvitation(ctx context.Context, caller tenant.Caller, id tenant.InvitationID) error {
	t := engine.Transaction{Name: "invitation.revoke", Replay: true}
	return engine.Exec(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) error {
		i, m, err := findInvitation(ctx, tx, id)
		if err != nil || i.RevokedAt != nil {
			return err
		}
		if err := i.CheckOpen(); err != nil {
			return err
		}
		accountdb.EndInvitations(tx.Tx, tx.Tenant, m.ID, tx.Now)
		tx.OnCommit(s.invitationChanged)
		record.Audit(tx, "member.invitation_revoked", "member", m.ID.UUID, "", map[string]any{"email": i.Address})
		return nil
	})
}

// findInvitation reads an invitation and its member, whom the caller may edit.
func findInvitation(
	ctx context.Context, tx *engine.Tx, id tenant.InvitationID,
) (member.Invitation, member.Member, error) {
	var m *member.Member
	i, facts, err := findWithRoleFacts(ctx, tx, errNoInvitation, func(b *pg.Batch, into **member.Invitation) {
		accountdb.FindInvitation(b, tx.Tenant, id, into)
		accountdb.FindInvited(b, tx.Tenant, id, &m)
	})
	switch {
	case err != nil:
		return i, member.Member{}, err
	case m == nil:
		return i, member.Member{}, errNoInvitation
	}
	return i, *m, facts.Roles().CheckEditMember(facts.Editor(), m.Roles)
}
