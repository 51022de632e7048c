package member

import (
	"time"

	"github.com/berthhq/berth/internal/fault"
)

var (
	// ErrNotLinked refuses to link an account to a member. It is the same whether or not a member has the address.
	ErrNotLinked = fault.New(fault.PermissionDenied, fault.NotAMember,
		"This account belongs to no member here. Ask the desk.")
	errInvitationRequired = fault.New(fault.PermissionDenied, fault.InvitationRequired,
		"Owners and admins need an invitation, and who has got more permissions since their address was entered.")
)

// Link makes a subject that of the member's tokens. Its issuer has verified that the email is the subject's, which
// proves the member's. The change is as for AddressInDoubt. The errors are NOT_A_MEMBER and INVITATION_REQUIRED.
//
// Owners and admins are never linked so: who can make a provider verify an address would become an owner. Nor are those
// who have got permissions that EmailBy lacks.
func (m Member) Link(subject, email string, change *AddressChange, now time.Time) (Member, error) {
	switch {
	case !m.Active(), m.Subject != "", m.AddressInDoubt(change, now), !sameContact(Contact{ByEmail, email}, m.Email):
		return m, ErrNotLinked
	case Trusted(m.Roles) || m.ByInvitation:
		return m, errInvitationRequired
	}
	m.Subject, m.LinkedByEmail = subject, true
	return m.Prove(m.Email), nil
}
