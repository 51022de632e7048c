package notify

import (
	"cmp"
	"fmt"

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

// accessWords are the sentences of a language. %[1]s is who did it, %[2]s for whom it changed, and %[3]s the role.
type accessWords struct {
	owner, admin, operator string
	sentences              map[AccessChangeKind]string
}

// accessChange returns the change as a sentence.
func (l locale) accessChange(c AccessChange) string {
	words := l.access
	if words == nil {
		words = english.access
	}
	role := words.admin
	if c.Role == tenant.RoleOwner {
		role = words.owner
	}
	return fmt.Sprintf(words.sentences[c.Kind], cmp.Or(c.By, words.operator), c.Name, role)
}
