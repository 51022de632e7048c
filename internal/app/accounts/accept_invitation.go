package accounts

import (
	"context"
	"slices"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
)

// InvitePath is the URL path of the links of invitations.
const InvitePath = "/invite/"

// invitePurpose keeps a signature from being used for other links.
const invitePurpose = "invitation"

// InvitationLink is what a link of an invitation shows.
type InvitationLink struct {
	Tenant  string // its name
	Brand   brand.Brand
	Name    string
	Address string
	Staff   bool // the member has more than the role of all members
	Linked  bool // the member signs in with an account of an identity provider
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
		Linked: m.Subject != "",
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
			m, i, err := findGood(ctx, tx, id)
			if err != nil {
				return member.Member{}, err
			}
			after := s.accept(tx, m, m.Accept(i), i)
			begin(tx, m.ID)
			return after, nil
		})
}

// AcceptInvitationAs makes the caller, who is no member yet, the member whom a link invites. The issuer of their token
// is empty for tokens that never link. Errors: LINK_INVALID, ALREADY_EXISTS, NOT_A_MEMBER.
func (s *Service) AcceptInvitationAs(
	ctx context.Context, caller tenant.Caller, issuer, link string,
) (member.Member, error) {
	in, id, err := s.readInvitation(link)
	switch {
	case err != nil:
		return member.Member{}, err
	case in != caller.Tenant:
		return member.Member{}, seal.ErrLinkInvalid
	}
	linked, err := changeAccess(ctx, s, caller, engine.Transaction{Name: "invitation.link", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (member.Member, error) {
			m, i, err := findGood(ctx, tx, id)
			if err != nil {
				return member.Member{}, err
			}
			var other *member.Member
			var batch pg.Batch
			accountdb.FindMemberBySubject(&batch, tx.Tenant, tx.Caller.Subject, &other)
			if err := tx.Load(ctx, &batch); err != nil {
				return member.Member{}, err
			}
			switch {
			case tx.Caller.Member == m.ID: // they have signed in already
				return s.accept(tx, m, m.Accept(i), i), nil
			case !tx.Caller.Member.IsZero() || other != nil: // also an inactive one, or that of another issuer
				return member.Member{}, member.Taken("subject", "account")
			case issuer == "":
				return member.Member{}, member.ErrNotLinked
			}
			after, err := m.AcceptAs(tx.Caller.Subject, i)
			if err != nil {
				return member.Member{}, err
			}
			after = s.accept(tx, m, after, i)
			accountdb.BindIssuer(tx.Tx, tx.Tenant, m.ID, issuer, []string{""})
			return after, nil
		})
	return ownView(linked), memberTaken(err)
}

// findGood reads a good invitation, and the member whom it invites. Errors: LINK_INVALID.
func findGood(
	ctx context.Context, tx *engine.Tx, id tenant.InvitationID,
) (m member.Member, found member.Invitation, err error) {
	var i *member.Invitation
	var change *member.AddressChange
	m, err = engine.Find(ctx, tx, seal.ErrLinkInvalid, func(b *pg.Batch, into **member.Member) {
		accountdb.FindInvitation(b, tx.Tenant, id, &i)
		accountdb.FindInvited(b, tx.Tenant, id, into)
		accountdb.FindInvitedAddressChange(b, tx.Tenant, id, &change)
	})
	switch {
	case err != nil:
		return m, found, err
	case i == nil || !i.Good(m, change, tx.Now):
		return m, found, seal.ErrLinkInvalid
	}
	return m, *i, nil
}

// accept writes that the invitation of a member was accepted, and what they are then.
func (s *Service) accept(tx *engine.Tx, before, after member.Member, i member.Invitation) member.Member {
	// The link is the permission.
	tx.Caller = tenant.Caller{Tenant: tx.Tenant, Member: before.ID, Subject: tx.Caller.Subject, SelfOnly: true}
	accountdb.AcceptInvitation(tx.Tx, tx.Tenant, i.ID, tx.Now)
	if !before.Proven() || before.Subject != after.Subject || before.ByInvitation {
		after.Version, after.UpdatedAt = before.Version+1, tx.Now
		s.writeMember(tx, before, after)
		accountdb.EndAddressChange(tx.Tx, tx.Tenant, before.ID, tx.Now)
		changed := append(member.ChangedFields(before, after), member.ByEmail.Field())
		memberEvent(tx, before.ID, slices.Compact(changed))
	}
	record.Audit(tx, "member.invitation_accepted", "member", before.ID.UUID, "", map[string]any{"email": after.Email})
	return after
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
