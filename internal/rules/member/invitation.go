package member

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

const (
	// InvitationLife is how long an invitation can be accepted.
	InvitationLife = 7 * 24 * time.Hour
	// MaxInvitations is how many invitations of a tenant leave within an InvitationDay. More wait.
	MaxInvitations = 200
	// InvitationDay is the time in which they count.
	InvitationDay = 24 * time.Hour
)

// Invitation asks a member to confirm their address by a link, and to sign in. Another one to the member ends it.
type Invitation struct {
	ID        tenant.InvitationID
	Member    tenant.MemberID
	Address   string // to which the link is sent, and which it confirms
	Roles     []string
	InvitedBy string // an actor
	CreatedAt time.Time
	SentAt    time.Time // when the mail leaves
	ExpiresAt time.Time

	AcceptedAt, RevokedAt *time.Time
}

// Invite makes an invitation of a member. The one so many before it left at a time, so it waits until that counts no
// more; nil if fewer have left. The change is as for AddressInDoubt. The error is INVALID_FIELD.
func (m Member) Invite(
	id tenant.InvitationID, by string, maxBefore *time.Time, change *AddressChange, now time.Time,
) (Invitation, error) {
	switch {
	case !m.Active():
		return Invitation{}, fault.Invalid("member_id", "The membership is not active.")
	case m.Email == "":
		return Invitation{}, fault.Invalid("member_id", "The member has no email address.")
	case m.AddressInDoubt(change, now):
		return Invitation{}, fault.Invalid("member_id",
			"The member has signed in with another email address, which has not agreed to the new one yet.")
	}
	sent := now
	if maxBefore != nil {
		if free := maxBefore.Add(InvitationDay); free.After(now) {
			sent = free
		}
	}
	return Invitation{
		ID: id, Member: m.ID, Address: m.Email, Roles: slices.Clone(m.Roles), InvitedBy: by,
		CreatedAt: now, SentAt: sent, ExpiresAt: sent.Add(InvitationLife),
	}, nil
}

// Good reports whether a member can accept an invitation: it was neither used nor ended, goes to the address that the
// member has now, and gives no role that the member did not have when its sender was allowed to invite them. The change
// is as for AddressInDoubt.
func (i Invitation) Good(m Member, change *AddressChange, now time.Time) bool {
	open := i.AcceptedAt == nil && i.RevokedAt == nil && now.Before(i.ExpiresAt)
	covers := !slices.ContainsFunc(m.Roles, func(role string) bool { return !slices.Contains(i.Roles, role) })
	return open && covers && m.Active() && m.ID == i.Member && m.Email == i.Address && !m.AddressInDoubt(change, now)
}
