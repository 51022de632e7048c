package testkit

import (
	"context"
	"slices"

	"github.com/berthhq/berth/internal/app/housekeeping"
)

// WantSound fails unless every invariant holds for every tenant of the database.
func (h *House) WantSound() {
	h.T.Helper()
	for _, v := range h.Violations() {
		h.T.Errorf("%s: %s: %s", v.Check, v.Row, v.Detail)
	}
}

// Violations are what breaks an invariant in any tenant of the database.
func (h *House) Violations() []housekeeping.Violation {
	h.T.Helper()
	ctx := context.Background()
	tenants, err := h.App.Engine.Tenants(ctx)
	if err != nil {
		h.T.Fatal(err)
	}
	if !slices.Contains(tenants, h.Tenant) {
		h.T.Fatalf("the directory %v lacks %s", tenants, h.Tenant)
	}
	var all []housekeeping.Violation
	for _, id := range tenants {
		found, err := h.App.Housekeeping.Verify(ctx, id)
		if err != nil {
			h.T.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}
