package admission

// At the end, before errors are encoded: an error names only what its caller may read.

import (
	"context"
	"maps"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/request"
)

// namedInErrors has what errors name in their metadata, or tell of it, and the permission to read that of anyone.
var namedInErrors = map[string]string{
	"booking_id": "booking.read", "entry_id": "waitlist.read", "subscription_ids": "credit.read", "balance": "credit.read",
}

// hideUnreadable returns an error without what its caller may not read: objects of others, unless the caller has the
// permission for all. The refusal itself stays. The link of a public RPC is its member's, and shows what is theirs.
func (c *Chain) hideUnreadable(ctx context.Context, f *fault.Error) *fault.Error {
	caller, ok := request.CallerFrom(ctx)
	if !ok || f.Owner == caller.Actor() {
		return f
	}
	hidden := *f
	for key, permission := range namedInErrors {
		if _, named := f.Metadata[key]; !named {
			continue
		}
		decision, err := c.guard.Decide(ctx, caller.Tenant, caller.Subject, permission)
		if err == nil && decision.Allowed {
			continue
		}
		if len(hidden.Metadata) == len(f.Metadata) {
			hidden.Metadata = maps.Clone(f.Metadata)
		}
		delete(hidden.Metadata, key)
	}
	return &hidden
}
