package accounts

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/mails"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
)

// InvitePath is the URL path of the links of invitations.
const InvitePath = "/invite/"

// invitePurpose keeps a signature from being used for other links.
const invitePurpose = "invitation"

// InviteMember sends a member a link that confirms their address. It ends the member's open invitation, whose link is
// good no longer. The link goes to the mail alone: whoever invites does not see it. Errors: MEMBER_NOT_FOUND,
// PERMISSION_DENIED, INVALID_FIELD.
func (s *Service) InviteMember(
	ctx context.Context, caller tenant.Caller, id tenant.MemberID,
) (member.Invitation, error) {
	t := engine.Transaction{Name: "member.invite", Replay: true}
	return engine.Transact(ctx, s.engine, caller, t,
		func(ctx context.Context, tx *engine.Tx) (member.Invitation, error) {
			m, _, facts, err := findMember(ctx, tx, id)
			if err != nil {
				return member.Invitation{}, err
			}
			if err := facts.roles().CheckEditMember(facts.editor(), m.Roles); err != nil {
				return member.Invitation{}, err
			}
			return s.invite(ctx, tx, m)
		})
}

// invite invites a member whom the caller may invite.
func (s *Service) invite(ctx context.Context, tx *engine.Tx, m member.Member) (member.Invitation, error) {
	var before *time.Time
	var change *member.AddressChange
	var batch pg.Batch
	accountdb.FindInvitationBefore(&batch, tx.Tenant, member.MaxInvitations-1, &before)
	accountdb.FindOpenAddressChange(&batch, tx.Tenant, m.ID, &change)
	if err := tx.Load(ctx, &batch); err != nil {
		return member.Invitation{}, err
	}
	i, link, err := s.insertInvitation(tx, m, before, change)
	if err != nil {
		return member.Invitation{}, err
	}
	s.mails.Add(tx, mails.Mail{
		PlatformMail: content.PlatformMail{
			Kind: content.MailInvitation, To: i.Address, Name: m.Name, Locale: m.Locale, Until: i.ExpiresAt, Link: link,
		},
		About: i.ID.UUID, DueAt: i.SentAt, ExpiresAt: i.ExpiresAt,
	})
	return i, nil
}

// insertInvitation records an invitation, and returns it with its link. See member.Invite for before and change.
func (s *Service) insertInvitation(
	tx *engine.Tx, m member.Member, before *time.Time, change *member.AddressChange,
) (i member.Invitation, link string, err error) {
	i, err = m.Invite(tenant.NextID[tenant.InvitationID](tx.IDs), tx.Caller.Actor(), before, change, tx.Now)
	if err != nil {
		return i, "", err
	}
	accountdb.EndInvitations(tx.Tx, tx.Tenant, m.ID, tx.Now)
	accountdb.InsertInvitation(tx.Tx, tx.Tenant, i)
	record.Audit(tx, "member.invited", "member", m.ID.UUID, "", map[string]any{"email": i.Address})
	return i, s.publicURL + InvitePath + s.seals.Sign(tx.Tenant, invitePurpose, i.ID.UUID[:]), nil
}

// RevokeInvitation ends a member's open invitation, if there is one. Errors: MEMBER_NOT_FOUND, PERMISSION_DENIED.
func (s *Service) RevokeInvitation(ctx context.Context, caller tenant.Caller, of tenant.MemberID) error {
	t := engine.Transaction{Name: "invitation.revoke", Replay: true}
	return engine.Exec(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) error {
		m, _, facts, err := findMember(ctx, tx, of)
		if err != nil {
			return err
		}
		if err := facts.roles().CheckEditMember(facts.editor(), m.Roles); err != nil {
			return err
		}
		accountdb.EndInvitations(tx.Tx, tx.Tenant, m.ID, tx.Now)
		record.Audit(tx, "member.invitation_revoked", "member", m.ID.UUID, "", nil)
		return nil
	})
}

// InvitationLink is what a link of an invitation shows.
type InvitationLink struct {
	Tenant  string // its name
	Brand   brand.Brand
	Name    string
	Address string
	Staff   bool // the member has more than the role of all members
}

// MadeInvitationLink reports whether the last part of a link's URL was made by the service.
func (s *Service) MadeInvitationLink(link string) bool {
	_, _, err := s.readInvitation(link)
	return err == nil
}

// GetInvitationLink returns what a link would accept. It changes nothing, because mail scanners open links before
// people do. A link that is forged, used, revoked, too old or not the newest is LINK_INVALID: it tells nothing about
// who exists.
func (s *Service) GetInvitationLink(ctx context.Context, link string) (InvitationLink, error) {
	in, id, err := s.readInvitation(link)
	if err != nil {
		return InvitationLink{}, err
	}
	var i *member.Invitation
	var m *member.Member
	var change *member.AddressChange
	var owner *catalog.Tenant
	var batch pg.Batch
	accountdb.FindInvitation(&batch, in, id, &i)
	accountdb.FindInvited(&batch, in, id, &m)
	accountdb.FindInvitedAddressChange(&batch, in, id, &change)
	accountdb.FindTenant(&batch, in, &owner)
	if err := s.engine.Read(ctx, tenant.System(in), &batch); err != nil {
		return InvitationLink{}, err
	}
	if i == nil || m == nil || owner == nil || !i.Good(*m, change, s.engine.Now()) {
		return InvitationLink{}, seal.ErrLinkInvalid
	}
	return InvitationLink{
		Tenant: owner.Name, Brand: owner.Brand, Name: m.Name, Address: i.Address, Staff: m.IsStaff(),
	}, nil
}

// AcceptInvitation confirms the address of the member whom a link invites, once. Begin, in the same transaction, starts
// what the link gives beyond that, such as a sign-in. Errors: LINK_INVALID, as for GetInvitationLink.
func (s *Service) AcceptInvitation(
	ctx context.Context, link string, begin func(tx *engine.Tx, as tenant.MemberID),
) (member.Member, error) {
	in, id, err := s.readInvitation(link)
	if err != nil {
		return member.Member{}, err
	}
	t := engine.Transaction{Name: "invitation.accept"}
	return engine.Transact(ctx, s.engine, tenant.System(in), t,
		func(ctx context.Context, tx *engine.Tx) (member.Member, error) {
			var i *member.Invitation
			var change *member.AddressChange
			m, err := engine.Find(ctx, tx, seal.ErrLinkInvalid, func(b *pg.Batch, into **member.Member) {
				accountdb.FindInvitation(b, in, id, &i)
				accountdb.FindInvited(b, in, id, into)
				accountdb.FindInvitedAddressChange(b, in, id, &change)
			})
			if err != nil {
				return member.Member{}, err
			}
			if i == nil || !i.Good(m, change, tx.Now) {
				return member.Member{}, seal.ErrLinkInvalid
			}
			tx.Caller = tenant.Caller{Tenant: in, Member: m.ID, SelfOnly: true} // the link is the permission
			accountdb.AcceptInvitation(tx.Tx, in, id, tx.Now)
			m = s.ProveAddress(tx, m)
			record.Audit(tx, "member.invitation_accepted", "member", m.ID.UUID, "", map[string]any{"email": i.Address})
			begin(tx, m.ID)
			return m, nil
		})
}

// readInvitation reads the last part of a link's URL. Errors: LINK_INVALID.
func (s *Service) readInvitation(link string) (in tenant.TenantID, id tenant.InvitationID, err error) {
	in, says, err := s.seals.Verify(invitePurpose, link)
	if err == nil && len(says) != len(id.UUID) {
		err = seal.ErrLinkInvalid
	}
	if err != nil {
		return in, id, err
	}
	copy(id.UUID[:], says)
	return in, id, nil
}
