package testkit

import (
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// Partner makes a service account and gives it as a caller for what it made.
func (h *House) Partner(name string) tenant.Caller {
	h.T.Helper()
	account, _ := h.Account(name, tenant.RolePartner)
	return tenant.Caller{Tenant: h.Tenant, Subject: "sa:" + account.ID.String(), Roles: account.Roles, SelfOnly: true}
}

// Guest makes a hold one for a guest of a tier.
func Guest(name, tier string) func(*bookings.BookRequest) {
	return func(r *bookings.BookRequest) {
		r.Guest, r.GuestTier, r.Contact = true, tier, booking.Contact{Name: name, Phone: "+49 30 1234"}
	}
}
