package event

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// tenantTypes are the types of this file.
var tenantTypes = []stored{
	as(CreditsChanged{}), as(SubscriptionChanged{}),
	as(MemberChanged{}), as(AccessChanged{}),
	as(CatalogChanged{}), as(RulesChanged{}),
}

// CreditsChanged says that the balance of a subscription changed, but for a booking, whose own events say that.
type CreditsChanged struct {
	Subscription tenant.SubscriptionID `json:"subscription_id" see:"own"`
	Amount       int                   `json:"amount" see:"own"` // by how much it changed
	Balance      int                   `json:"balance" see:"own"`
}

// Type implements Data.
func (CreditsChanged) Type() Type { return "credits.changed" }

// SubscriptionChanged says that a subscription started, or that its status or its end changed.
type SubscriptionChanged struct {
	Subscription tenant.SubscriptionID `json:"subscription_id" see:"own"`
	Plan         tenant.PlanID         `json:"plan_id,omitzero" see:"own"`
	End          time.Time             `json:"end_time,omitzero" see:"own"` // zero: none
	// StatusBefore and EndBefore are zero for a new subscription.
	StatusBefore string    `json:"previous_status,omitempty" see:"own"`
	EndBefore    time.Time `json:"previous_end_time,omitzero" see:"own"`
}

// Type implements Data.
func (SubscriptionChanged) Type() Type { return "subscription.changed" }

// MemberChanged says that a member was created or edited.
type MemberChanged struct {
	// Changed are the names of the fields, as in the contract; nil if the member was imported.
	Changed []string `json:"changed,omitzero" see:"own"`
}

// Type implements Data.
func (MemberChanged) Type() Type { return "member.changed" }

// AccessChanged says that permissions changed: of a member, of a role, or of a service account.
type AccessChanged struct {
	Roles []string `json:"roles,omitzero" see:"own"` // all that the member has now; nil if they stay
	// Change is what owners and admins are told, one of package notify's kinds; empty if they are told nothing.
	Change string `json:"change,omitempty"`
	// Role is the one of which they are told, or the role that was created, edited or deleted.
	Role           string                  `json:"role,omitempty"`
	ServiceAccount tenant.ServiceAccountID `json:"service_account_id,omitzero"` // that was changed
	FromMember     tenant.MemberID         `json:"from_member_id,omitzero"`     // who transfers the ownership
}

// Type implements Data.
func (AccessChanged) Type() Type { return "access.changed" }

// CatalogChanged says that an entity of the catalog or a policy was created, edited or deleted.
type CatalogChanged struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
}

// Type implements Data.
func (CatalogChanged) Type() Type { return "catalog.changed" }

// RulesChanged says that waitlist rules were edited.
type RulesChanged struct {
	Version int         `json:"version"`
	Level   string      `json:"level"`
	Target  tenant.UUID `json:"target_id"`
}

// Type implements Data.
func (RulesChanged) Type() Type { return "rules.changed" }

// AccessChangeOf is what is said of a member who has other roles, or of an owner or admin who changed. If the change is
// about the role of an owner or admin, they and all owners are told of its kind. The member has the roles of held now;
// nil if they stay.
func AccessChangeOf[K ~string](kind K, held []string, about ...string) AccessChanged {
	data := AccessChanged{
		Roles: held, Change: "", Role: "", ServiceAccount: tenant.ServiceAccountID{}, FromMember: tenant.MemberID{},
	}
	for _, role := range []string{tenant.RoleOwner, tenant.RoleAdmin} {
		if slices.Contains(about, role) {
			data.Change, data.Role = string(kind), role
			break
		}
	}
	return data
}
