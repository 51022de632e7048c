package member

import (
	"slices"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

const (
	// AddressWait is how long the old address can refuse a change, if it does not agree.
	AddressWait = 7 * 24 * time.Hour
	// TellAgain is when the old address is told of a change a second time.
	TellAgain = 3 * 24 * time.Hour
	// AddressAnswer is the time to refuse after the second mail, which can leave late.
	AddressAnswer = AddressWait - TellAgain
	// AddressChangeLife is how long a change is kept after its end.
	AddressChangeLife = 90 * 24 * time.Hour
	// MaxAddressChanges is how many changes the old address is told of within an AddressDay.
	MaxAddressChanges = 3
	// AddressDay is the time in which they count.
	AddressDay = 24 * time.Hour
)

// AddressChange is another's change of an address with which a member has signed in. The old address is told of it,
// agrees or refuses. Another change ends it, and so does the proof that the new address is the member's.
type AddressChange struct {
	ID        tenant.AddressChangeID
	Member    tenant.MemberID
	From, To  string
	ChangedBy string // an actor
	CreatedAt time.Time

	ToldAt, ToldAgainAt *time.Time // when the mails to the old address left
	AgreedAt, RefusedAt *time.Time
	EndedAt             *time.Time
}

// Allows reports whether the new address may be proven: the old one has agreed, or was told twice, and had the time to
// refuse.
func (c AddressChange) Allows(now time.Time) bool {
	switch {
	case c.EndedAt != nil:
		return false
	case c.AgreedAt != nil:
		return true
	}
	return c.ToldAgainAt != nil && !now.Before(c.CreatedAt.Add(AddressWait)) &&
		!now.Before(c.ToldAgainAt.Add(AddressAnswer))
}

// AddressInDoubt reports whether others have put another address in the place of the one with which the member has
// signed in. While it is in doubt, nothing sent to the new one signs in as the member or links an account to them: that
// would let whoever entered it be the member. The change is the open one; nil if there is none.
func (m Member) AddressInDoubt(change *AddressChange, now time.Time) bool {
	if m.SignInEmail == "" || strings.EqualFold(m.SignInEmail, m.Email) {
		return false
	}
	allowed := change != nil && change.From == m.SignInEmail && strings.EqualFold(change.To, m.Email) && change.Allows(now)
	return !allowed
}

// AllowedFrom is from when the change allows the new address, at the earliest, if nobody answers.
func (c AddressChange) AllowedFrom() time.Time {
	from := c.CreatedAt.Add(AddressWait)
	if c.ToldAgainAt != nil && c.ToldAgainAt.Add(AddressAnswer).After(from) {
		from = c.ToldAgainAt.Add(AddressAnswer)
	}
	return from
}

// Awaits returns the change for which the member's address is in doubt; nil if it is not, or for another reason.
func (m Member) Awaits(changes []AddressChange, now time.Time) *AddressChange {
	for _, c := range changes {
		if c.Member == m.ID && c.From == m.SignInEmail && strings.EqualFold(c.To, m.Email) && m.AddressInDoubt(&c, now) {
			return &c
		}
	}
	return nil
}

// SignsInByCode reports whether a code that is sent to the member's address signs them in. Owners and admins, and those
// who have got permissions that EmailBy lacks, have to accept an invitation first, which only those send who have the
// permissions.
func (m Member) SignsInByCode(change *AddressChange, now time.Time) bool {
	switch {
	case !m.Active() || m.Email == "" || m.ByInvitation:
		return false
	case Trusted(m.Roles):
		return strings.EqualFold(m.SignInEmail, m.Email)
	}
	return !m.AddressInDoubt(change, now)
}

// Trusted reports whether roles are those of an owner or admin.
func Trusted(roles []string) bool {
	return slices.Contains(roles, tenant.RoleOwner) || slices.Contains(roles, tenant.RoleAdmin)
}

// ProvesAnew reports whether a member who gets roles has to prove their address again, because somebody who lacks the
// permissions may have entered it, and proven it as theirs. Outgrown says that EmailBy lacks a permission that the
// member gets. Who becomes an owner or admin proves it in any case.
func (m Member) ProvesAnew(roles []string, outgrown bool) bool {
	return m.Email != "" && (outgrown || !Trusted(m.Roles) && Trusted(roles))
}

// ProveAnew makes the member prove their address again, by an invitation. An account that the address has linked is not
// theirs any more. An address in doubt stays so. Invite says whether the invitation has to be sent, because they have
// signed in with the address.
func (m Member) ProveAnew() (after Member, invite bool) {
	m.ByInvitation = true
	if m.SignInEmail == "" || !strings.EqualFold(m.SignInEmail, m.Email) {
		return m, false
	}
	m.SignInEmail = ""
	if m.LinkedByEmail {
		m.Subject, m.LinkedByEmail = "", false
	}
	return m, m.Active() && m.Subject == "" // others sign in at an identity provider
}

// Enter says who has entered the address that a member has now, and did not have before.
func (m Member) Enter(before Member, by string) Member {
	if m.Contact(ByEmail).Key() == before.Contact(ByEmail).Key() {
		return m
	}
	if m.EmailBy, m.ByInvitation = by, false; m.Email == "" {
		m.EmailBy = ""
	}
	return m
}

// Prove makes an address the member's, to whom a code or a link was sent: they sign in with it from now on.
func (m Member) Prove(address string) Member {
	m = m.Confirm(Contact{ByEmail, address})
	m.SignInEmail = address
	return m
}

// Proven reports whether the member signs in with their address.
func (m Member) Proven() bool {
	return m.Email != "" && m.SignInEmail == m.Email && m.ConfirmedEmail == m.Email
}

// ChangeAddress makes a change of the address with which a member has signed in; nil if there is nothing to ask the old
// one. Before is how many others there were within an AddressDay. The error is QUOTA_EXCEEDED.
func (m Member) ChangeAddress(
	id tenant.AddressChangeID, by string, before int, now time.Time,
) (*AddressChange, error) {
	switch {
	case m.Email == "" || m.SignInEmail == "" || strings.EqualFold(m.SignInEmail, m.Email):
		return nil, nil
	case before >= MaxAddressChanges:
		return nil, fault.OverQuota("address_changes", MaxAddressChanges,
			"The address with which the member signs in was changed %d times in 24 hours. Try again tomorrow.",
			MaxAddressChanges).WithField("member.email")
	}
	return &AddressChange{
		ID: id, Member: m.ID, From: m.SignInEmail, To: m.Email, ChangedBy: by, CreatedAt: now,
	}, nil
}

// Refuse puts the old address of a change back. If another member has it by now, the member has none: the new one is
// not theirs.
func (m Member) Refuse(c AddressChange, taken bool) Member {
	if strings.EqualFold(m.Email, c.To) {
		m.EmailBy = "" // who changed it has not entered the old one
	}
	switch {
	case !strings.EqualFold(m.Email, c.To): // it has changed since
	case taken:
		m.Email, m.ConfirmedEmail = "", ""
	default:
		m = m.Prove(c.From)
	}
	return m
}
