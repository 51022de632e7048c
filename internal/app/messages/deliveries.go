package messages

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// Delivery is an attempt in the delivery log. DeliveryQuery selects attempts.
type (
	Delivery      = messagedb.Delivery
	DeliveryQuery = messagedb.DeliveryQuery
)

// GetNotificationDelivery returns an attempt of the delivery log.
func (s *Service) GetNotificationDelivery(
	ctx context.Context, caller tenant.Caller, id tenant.DeliveryID,
) (Delivery, error) {
	found, err := engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]Delivery) {
		messagedb.FindDeliveries(b, caller.Tenant, []tenant.DeliveryID{id}, into)
	})
	if err != nil {
		return Delivery{}, err
	}
	if len(found) == 0 {
		return Delivery{}, errNoDelivery
	}
	return found[0], nil
}

var errNoDelivery = fault.Missing(fault.DeliveryNotFound, "Delivery")

// ListNotificationDeliveries returns attempts of the delivery log, newest first.
func (s *Service) ListNotificationDeliveries(
	ctx context.Context, caller tenant.Caller, q DeliveryQuery,
) ([]Delivery, error) {
	return engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]Delivery) {
		messagedb.ListDeliveries(b, caller.Tenant, q, into)
	})
}
