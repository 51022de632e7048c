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
	// MaxInvitationsTo is how many of them one address gets within an InvitationDay, of all members who have it and
	// whoever invites, so that nobody is flooded.
	MaxInvitationsTo = 5
	// InvitationDay is the time in which they count.
	InvitationDay = 24 * time.Hour
	// InvitationsKept is how long invitations are kept after they have expired.
	InvitationsKept = 90 * 24 * time.Hour
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

// InvitationState is what became of an invitation.
type InvitationState string

// The states.
const (
	InvitationWaiting  InvitationState = "WAITING" // its mail has not left
	InvitationSent     InvitationState = "SENT"
	InvitationAccepted InvitationState = "ACCEPTED"
	InvitationRevoked  InvitationState = "REVOKED" // or another one has replaced it
	InvitationExpired  InvitationState = "EXPIRED"
)

// State returns what became of the invitation.
func (i Invitation) State(now time.Time) InvitationState {
	switch {
	case i.AcceptedAt != nil:
		return InvitationAccepted
	case i.RevokedAt != nil:
		return InvitationRevoked
	case !now.Before(i.ExpiresAt):
		return InvitationExpired
	case now.Before(i.SentAt):
		return InvitationWaiting
	}
	return InvitationSent
}

// CheckOpen rejects an invitation that was accepted or revoked: INVITATION_ENDED. One that has expired can be sent
// again.
func (i Invitation) CheckOpen() error {
	if i.AcceptedAt != nil || i.RevokedAt != nil {
		return errInvitationEnded
	}
	return nil
}

var (
	// ErrInvitedTwice refuses to invite somebody twice at once: INVALID_FIELD.
	ErrInvitedTwice    = fault.Invalid("member_id", "Somebody is invited twice.")
	errInvitationEnded = fault.New(fault.FailedPrecondition, fault.InvitationEnded,
		"The invitation was accepted or revoked.")
	errAddressInDoubt = fault.New(fault.FailedPrecondition, fault.AddressInDoubt,
		"The member has signed in with another email address, which has not agreed to the new one yet.")
)

// Invited is an invitation with the name of its member.
type Invited struct {
	Invitation

	Name string
}

// InvitationSearch selects invitations. All conditions that are set must match.
type InvitationSearch struct {
	Member tenant.MemberID
	States []InvitationState
	Now    time.Time // for the states

	After tenant.InvitationID // the last one of the page before; zero for the first page
	Limit int
}

// Departures are when the MaxInvitations invitations of a tenant left or leave that do so last, the latest first.
type Departures []time.Time

// Add returns when another invitation leaves, and records it: at once, or when so many others count no more.
func (d *Departures) Add(now time.Time) time.Time {
	at := now
	if all := *d; len(all) >= MaxInvitations {
		if free := all[MaxInvitations-1].Add(InvitationDay); free.After(now) {
			at = free
		}
	}
	after, _ := slices.BinarySearchFunc(*d, at, func(one, other time.Time) int { return other.Compare(one) })
	*d = slices.Insert(*d, after, at)
	return at
}

// CheckInvited rejects another invitation to a member's address if that is one of those that have got MaxInvitationsTo
// within an InvitationDay: QUOTA_EXCEEDED. They are given by their keys.
func (m Member) CheckInvited(often []string) error {
	if !slices.Contains(often, m.Contact(ByEmail).Key()) {
		return nil
	}
	return fault.OverQuota("invitations_to_address", MaxInvitationsTo,
		"At most %d invitations are sent to an address in 24 hours. Try again tomorrow.", MaxInvitationsTo).
		WithField("member_id")
}

// Invite makes an invitation of a member that leaves with others. The change is as for AddressInDoubt. The errors are
// INVALID_FIELD and ADDRESS_IN_DOUBT.
func (m Member) Invite(
	id tenant.InvitationID, by string, leaves *Departures, change *AddressChange, now time.Time,
) (Invitation, error) {
	switch {
	case !m.Active():
		return Invitation{}, fault.Invalid("member_id", "The membership is not active.")
	case m.Email == "":
		return Invitation{}, fault.Invalid("member_id", "The member has no email address.")
	case m.AddressInDoubt(change, now):
		return Invitation{}, errAddressInDoubt.WithField("member_id")
	}
	sent := leaves.Add(now)
	return Invitation{
		ID: id, Member: m.ID, Address: m.Email, Roles: slices.Clone(m.Roles), InvitedBy: by,
		CreatedAt: now, SentAt: sent, ExpiresAt: sent.Add(InvitationLife),
	}, nil
}

// AcceptAs makes the account of a subject the one with which the member signs in, and accepts an invitation. The error
// is ALREADY_EXISTS if another account does.
func (m Member) AcceptAs(subject string, i Invitation) (Member, error) {
	if m.Subject != "" && m.Subject != subject {
		return m, errOtherAccount
	}
	m.Subject = subject
	return m.Accept(i), nil
}

// Accept proves the member's address by an invitation to it. Who has got permissions that nobody vouched for has those
// that whoever invited them vouches for.
func (m Member) Accept(i Invitation) Member {
	if m.ByInvitation {
		m.EmailBy, m.ByInvitation = i.InvitedBy, false
	}
	m.LinkedByEmail = false
	return m.Prove(i.Address)
}

var errOtherAccount = fault.New(fault.AlreadyExists, fault.AlreadyExistsReason,
	"The member signs in with another account.")

// Good reports whether a member can accept an invitation: it was neither used nor ended, goes to the address that the
// member has now, and gives no role that the member did not have when its sender was allowed to invite them. The change
// is as for AddressInDoubt.
func (i Invitation) Good(m Member, change *AddressChange, now time.Time) bool {
	open := i.AcceptedAt == nil && i.RevokedAt == nil && now.Before(i.ExpiresAt)
	covers := !slices.ContainsFunc(m.Roles, func(role string) bool { return !slices.Contains(i.Roles, role) })
	return open && covers && m.Active() && m.ID == i.Member && m.Email == i.Address && !m.AddressInDoubt(change, now)
}
