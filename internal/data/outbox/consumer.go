package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/berthhq/berth/internal/alarm"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// Consumer handles every event of every tenant, in order and once. Its position is stored in the database
// and advances in the transaction that handles the events. It starts at the beginning of each log.
type Consumer struct {
	// Name identifies the position. Nodes that run a consumer of the same name share the work.
	Name string
	// Limit is the maximum number of events in one transaction. Default 100.
	Limit int
	// Handle handles events in the transaction. It may run several times for the same events, like
	// any transaction's body. While it fails, the tenant's later events wait.
	Handle func(ctx context.Context, tx *pg.Tx, in tenant.TenantID, records []*Record) error
}

// ConsumeResult is the result of one transaction of a consumer.
type ConsumeResult struct {
	Records []*Record
	// More: more events are already available. Held: an older transaction holds events back.
	// Busy: another node is handling this tenant.
	More, Held, Busy bool
}

// everyTenant is the tenant whose alarm makes a consumer look at all tenants.
var everyTenant tenant.TenantID

const (
	consumeLimit = 100
	// consumeDelay gives a tenant time to commit more, so that one transaction handles more events.
	consumeDelay = 20 * time.Millisecond
	// Tenants without any notice are checked this often.
	scanInterval = time.Minute
	// Another node that is busy with a tenant goes on by itself, unless it stops.
	busyDelay = time.Second
	// A failed consumer is retried after this time, then less and less often.
	minBackoff, maxBackoff = time.Second, time.Minute
	// consumeConcurrency is how many tenants a consumer handles at the same time.
	consumeConcurrency = 4
)

// Consume handles the next events of a tenant.
func Consume(ctx context.Context, db *pg.DB, in tenant.TenantID, c Consumer) (ConsumeResult, error) {
	limit := c.Limit
	if limit == 0 {
		limit = consumeLimit
	}
	// Read the events before the transaction: reading a range of the log in it would conflict with
	// transactions that append. Events never change; whether the position did is checked below.
	var at Cursor
	var exists bool
	var batch pg.Batch
	loadPosition(&batch, findPosition, in, c.Name, &at, &exists)
	if err := db.ReadBatch(ctx, pg.Scope{Tenant: in}, &batch); err != nil {
		return ConsumeResult{}, fmt.Errorf("position of %s: %w", c.Name, err)
	}
	page, err := Read(ctx, db, in, Range{From: at, Limit: limit, NoContext: true})
	if err != nil || len(page.Records) == 0 {
		return ConsumeResult{Held: page.Held}, err
	}
	done := ConsumeResult{More: page.More, Held: page.Held}
	err = db.InTx(ctx, pg.Scope{Tenant: in}, "events.consume", func(ctx context.Context, tx *pg.Tx) error {
		var now Cursor
		var mine bool
		var batch pg.Batch
		if !exists {
			batch.Queue(`insert into event_consumers (tenant_id, name) values ($1, $2) on conflict do nothing`, in, c.Name)
		}
		loadPosition(&batch, lockPosition, in, c.Name, &now, &mine)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		done.Records, done.Busy = nil, !mine || now != at
		if done.Busy {
			return nil
		}
		if err := c.Handle(ctx, tx, in, page.Records); err != nil {
			return err
		}
		tx.Write(`update event_consumers set xid = $3, event_id = $4 where tenant_id = $1 and name = $2`,
			in, c.Name, page.End.XID, page.End.ID)
		done.Records = page.Records
		return nil
	})
	return done, err
}

const findPosition = `select xid, event_id from event_consumers where tenant_id = $1 and name = $2`

var lockPosition = pg.SQL(findPosition + ` for update skip locked`)

func loadPosition(b *pg.Batch, sql string, in tenant.TenantID, name string, at *Cursor, exists *bool) {
	*at, *exists = Cursor{}, false
	b.Queue(sql, in, name).Each(func() { *exists = true }, &at.XID, &at.ID)
}

// RunConsumer runs a consumer until ctx ends. It handles the events of all tenants, whichever node commits them.
func (r *Relay) RunConsumer(ctx context.Context, c Consumer) {
	alarms := new(alarm.Clock)
	r.mu.Lock()
	r.consumers = append(slices.Clip(r.consumers), alarms)
	r.mu.Unlock()
	backoffs := &backoffs{tenants: make(map[tenant.TenantID]backoff)}
	alarms.Set(everyTenant, time.Now())
	readTenants := alarm.Logging(ctx, r.log.With(slog.String("consumer", c.Name)), "reading tenants failed",
		func(tenant.TenantID) error { return r.addAllTenants(ctx, alarms) })
	alarms.Run(ctx, time.Now, consumeConcurrency, func(id tenant.TenantID) {
		if id == everyTenant {
			alarms.Set(everyTenant, time.Now().Add(scanInterval))
			readTenants(id)
		} else if delay := r.consume(ctx, id, c, backoffs); delay != never {
			alarms.Set(id, time.Now().Add(delay))
		}
	})
}

// never is the delay of what need not be done again.
const never = -1

// consume handles the next events of a tenant. It returns how long to wait before it is called again.
func (r *Relay) consume(ctx context.Context, id tenant.TenantID, c Consumer, backoffs *backoffs) (delay time.Duration) {
	if left := backoffs.remaining(id); left > 0 {
		return left
	}
	done, err := Consume(ctx, r.db, id, c)
	switch {
	case ctx.Err() != nil:
		return never
	case err != nil:
		r.metrics.consumerFailures.WithLabelValues(c.Name).Inc()
		delay := backoffs.add(id)
		r.log.ErrorContext(ctx, "event consumer failed, its events wait", slog.String("consumer", c.Name),
			slog.String("tenant_id", id.String()), slog.String("retry_in", delay.String()), slog.Any("error", err))
		return delay
	}
	backoffs.reset(id)
	r.metrics.consumed.WithLabelValues(c.Name).Add(float64(len(done.Records)))
	now := time.Now()
	for _, record := range done.Records {
		r.metrics.consumerLag.WithLabelValues(c.Name).Observe(now.Sub(record.At).Seconds())
	}
	switch {
	case done.Busy:
		return busyDelay
	case done.More:
		return 0
	case done.Held:
		return maxHeldBackoff / 4
	}
	return never
}

// addAllTenants sets the alarm of every tenant, at slightly different times, because all nodes do this at about the
// same time.
func (r *Relay) addAllTenants(ctx context.Context, alarms *alarm.Clock) error {
	var tenants []tenant.TenantID
	err := r.db.ReadAsOperator(ctx, func(ctx context.Context, tx *pg.ReadTx) error {
		var batch pg.Batch
		coredb.ListTenants(&batch, &tenants)
		return tx.Load(ctx, &batch)
	})
	now := time.Now()
	for _, id := range tenants {
		alarms.Set(id, now.Add(rand.N(minBackoff))) //nolint:gosec // not for security: it spreads load
	}
	return err
}

// backoffs remembers for which tenants a consumer failed and when to retry.
type backoffs struct {
	mu      sync.Mutex
	tenants map[tenant.TenantID]backoff
}

type backoff struct {
	pause time.Duration
	until time.Time
}

// remaining returns how long to wait before a tenant is retried.
func (b *backoffs) remaining(id tenant.TenantID) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Until(b.tenants[id].until)
}

// add records a failure and returns how long to wait.
func (b *backoffs) add(id tenant.TenantID) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	pause := min(max(2*b.tenants[id].pause, minBackoff), maxBackoff)
	b.tenants[id] = backoff{pause, time.Now().Add(pause)}
	return pause
}

func (b *backoffs) reset(id tenant.TenantID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.tenants, id)
}
