package notify

import (
	"slices"

	"github.com/berthhq/berth/internal/tenant"
)

// AccessChangeKind says what changed for an owner or admin.
type AccessChangeKind string

// The kinds. Clients read them in events.
const (
	RoleGiven         AccessChangeKind = "ROLE_GIVEN"
	RoleTaken         AccessChangeKind = "ROLE_TAKEN"
	Deactivated       AccessChangeKind = "DEACTIVATED"
	Reactivated       AccessChangeKind = "REACTIVATED"
	ContactEdited     AccessChangeKind = "CONTACT_CHANGED"
	TransferOffered   AccessChangeKind = "TRANSFER_OFFERED"
	TransferConfirmed AccessChangeKind = "TRANSFER_CONFIRMED"
	TransferCancelled AccessChangeKind = "TRANSFER_CANCELLED"
)

// AccessChange is a change for an owner or admin, or for who is to become an owner. They and all owners are told.
type AccessChange struct {
	Kind AccessChangeKind `json:"kind"`
	Role string           `json:"role,omitempty"` // owner or admin
	Name string           `json:"name,omitempty"` // of the member for whom something changed
	By   string           `json:"by,omitempty"`   // the name of who did it; empty: not a member
}

// named returns the change with the names of those whom it concerns.
func (c AccessChange) named(e Event, people []Person) *AccessChange {
	for _, p := range people {
		if p.Member == e.Member {
			c.Name = p.Name
		}
		if p.Member == e.Actor {
			c.By = p.Name
		}
	}
	return &c
}

// EditOfAdmin returns of which edit of somebody with these roles owners and admins are told: of their status, and of
// another's change of how to reach them and who they are. It is "" for members without these roles, and for other
// edits.
func EditOfAdmin(roles []string, active, self bool, changed []string) AccessChangeKind {
	has := func(fields ...string) bool {
		return slices.ContainsFunc(fields, func(field string) bool { return slices.Contains(changed, field) })
	}
	switch {
	case !slices.Contains(roles, tenant.RoleOwner) && !slices.Contains(roles, tenant.RoleAdmin):
		return ""
	case has("status") && active:
		return Reactivated
	case has("status"):
		return Deactivated
	case has("email", "phone", "subject") && !self:
		return ContactEdited
	}
	return ""
}
