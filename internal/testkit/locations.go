package testkit

import (
	"context"
	"slices"

	"github.com/berthhq/berth/internal/app/accounts"
)

// AtOnce runs a function n times together and gives what came of each.
func AtOnce(n int, do func(i int) error) []error {
	errs := make([]error, n)
	Together(n, func(i int) { errs[i] = do(i) })
	return errs
}

// Audited gives the actions in the tenant's audit log, the oldest first.
func (h *House) Audited() []string {
	h.T.Helper()
	entries, err := h.App.Accounts.ListAuditEntries(context.Background(), h.Owner, accounts.AuditQuery{Limit: 1000})
	if err != nil {
		h.T.Fatal(err)
	}
	slices.Reverse(entries)
	actions := make([]string, len(entries))
	for i, e := range entries {
		actions[i] = e.Action
	}
	return actions
}

// CatalogEvents counts the tenant's events about its catalog.
func (h *House) CatalogEvents() int {
	h.T.Helper()
	return h.Count(`select count(*) from events where tenant_id = $1 and type = 'catalog.changed'`, h.Tenant)
}
