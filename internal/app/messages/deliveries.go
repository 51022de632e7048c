package messages

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// Delivery is an attempt in the delivery log. DeliveryQuery selects attempts.
type (
	Delivery      = messagedb.Delivery
	DeliveryQuery = messagedb.DeliveryQuery
)

// ListDeliveries returns attempts of the delivery log, newest first.
func (s *Service) ListDeliveries(ctx context.Context, caller tenant.Caller, q DeliveryQuery) ([]Delivery, error) {
	return engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]Delivery) {
		messagedb.ListDeliveries(b, caller.Tenant, q, into)
	})
}
