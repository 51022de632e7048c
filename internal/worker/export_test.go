package worker

import (
	"context"
	"errors"

	"github.com/berthhq/berth/internal/tenant"
)

// Deliver sends what is due for a tenant now and returns when it is saved.
func (d *Dispatcher) Deliver(ctx context.Context, id tenant.TenantID) error {
	wakeup := make(chan struct{}, 1)
	wakeup <- struct{}{}
	var errs error
	d.deliver(ctx, id, wakeup, func(err error) { errs = errors.Join(errs, err) })
	return errs
}
