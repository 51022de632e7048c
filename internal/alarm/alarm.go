// Package alarm calls a function when something of a tenant is due.
package alarm

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/berthhq/berth/internal/tenant"
)

// A Clock has an alarm for each tenant. It keeps only the earliest time of each: what handles an alarm finds out when
// the next is due. The zero value has no alarm set.
type Clock struct {
	mu    sync.Mutex
	due   map[tenant.TenantID]time.Time
	timer *time.Timer // fires when Run has to look at what is due
}

// Set sets the alarm of a tenant, unless it is already set for an earlier time.
func (c *Clock) Set(id tenant.TenantID, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.init()
	if before, ok := c.due[id]; ok && !at.Before(before) {
		return
	}
	c.due[id] = at
	c.timer.Reset(0)
}

func (c *Clock) init() {
	if c.due == nil {
		c.due = make(map[tenant.TenantID]time.Time)
		c.timer = time.NewTimer(0) //nolint:forbidigo // it waits; the caller's clock says what is due
	}
}

// Next removes and returns the tenants whose alarm is due. It also returns the time until the next alarm, at most a
// day.
func (c *Clock) Next(now time.Time) (due []tenant.TenantID, wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.init()
	wait = 24 * time.Hour
	for id, at := range c.due {
		if left := at.Sub(now); left <= 0 {
			due = append(due, id)
			delete(c.due, id)
		} else {
			wait = min(wait, left)
		}
	}
	// With the lock, so that it does not undo the Reset of a Set that came first.
	c.timer.Reset(wait)
	return due, wait
}

// Logging returns a function for Run that logs the errors of ring with a message, unless ctx has ended.
func Logging(
	ctx context.Context, log *slog.Logger, message string, ring func(tenant.TenantID) error,
) func(tenant.TenantID) {
	return func(id tenant.TenantID) {
		if err := ring(id); err != nil && ctx.Err() == nil {
			//nolint:sloglint // callers give a constant
			log.ErrorContext(ctx, message, slog.String("tenant_id", id.String()), slog.Any("error", err))
		}
	}
}

// Run calls ring for each tenant whose alarm goes off, for up to width tenants at once, until ctx ends.
func (c *Clock) Run(ctx context.Context, now func() time.Time, width int, ring func(tenant.TenantID)) {
	for {
		due, _ := c.Next(now())
		var ringing errgroup.Group
		ringing.SetLimit(width)
		for _, id := range due {
			ringing.Go(func() error {
				ring(id)
				return nil
			})
		}
		_ = ringing.Wait() // ring returns no errors
		select {
		case <-ctx.Done():
			return
		case <-c.timer.C:
		}
	}
}
