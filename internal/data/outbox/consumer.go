package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// Consumer deals with every event of every tenant, in order, once: its position is kept in the database, and moves on in
// the transaction that does what is to be done. It begins at the beginning of each log.
type Consumer struct {
	// Name identifies its position. Nodes that run a consumer of the same name share the work.
	Name string
	// Limit is the most events in one transaction. Default 100.
	Limit int
	// Handle does what is to be done, with the transaction. It may run several times for the same events, like
	// every transaction's body. While it fails, the tenant's later events wait.
	Handle func(ctx context.Context, tx *pg.Tx, in tenant.TenantID, records []*Record) error
}

// Consumed is what one transaction of a consumer came to.
type Consumed struct {
	Records []*Record
	// More: there is more to do already. Held: something is kept back by an older transaction. Busy: another node was at it.
	More, Held, Busy bool
}

const (
	consumeLimit = 100
	// consumeGather is how long a consumer leaves a tenant to commit more.
	consumeGather = 20 * time.Millisecond
	// Positions that nothing was said about are looked at so often.
	surveyEvery = time.Minute
	// Another node that was at it goes on by itself, unless it ends.
	busyPause = time.Second
	// A consumer that fails is tried again so soon, and then less and less often.
	failedFirst, failedLast = time.Second, time.Minute
	// consumeAtOnce is how many tenants a consumer serves at the same time.
	consumeAtOnce = 4
)

// Consume lets a consumer deal with the next events of a tenant.
func Consume(ctx context.Context, db *pg.DB, in tenant.TenantID, c Consumer) (Consumed, error) {
	limit := c.Limit
	if limit == 0 {
		limit = consumeLimit
	}
	// The events are read before the transaction: in it, a range of the log would be locked against those
	// who write there. They cannot change meanwhile; whether the position did, is seen below.
	var at Cursor
	var begun bool
	var batch pg.Batch
	find(&batch, findCursor, in, c.Name, &at, &begun)
	if err := db.ReadBatch(ctx, pg.Scope{Tenant: in}, &batch); err != nil {
		return Consumed{}, fmt.Errorf("position of %s: %w", c.Name, err)
	}
	page, err := Read(ctx, db, in, Stretch{From: at, Limit: limit})
	if err != nil || len(page.Records) == 0 {
		return Consumed{Held: page.Held}, err
	}
	done := Consumed{More: page.More, Held: page.Held}
	err = db.InTx(ctx, pg.Scope{Tenant: in}, "events.consume", func(ctx context.Context, tx *pg.Tx) error {
		var now Cursor
		var mine bool
		var batch pg.Batch
		if !begun {
			batch.Queue(`insert into event_consumers (tenant_id, name) values ($1, $2) on conflict do nothing`, in, c.Name)
		}
		find(&batch, lockCursor, in, c.Name, &now, &mine)
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

const findCursor = `select xid, event_id from event_consumers where tenant_id = $1 and name = $2`

var lockCursor = pg.SQL(findCursor + ` for update skip locked`)

func find(b *pg.Batch, sql string, in tenant.TenantID, name string, at *Cursor, there *bool) {
	*at, *there = Cursor{}, false
	b.Queue(sql, in, name).Each(func() { *there = true }, &at.XID, &at.ID)
}

// RunConsumer lets a consumer deal with whatever is committed anywhere, until ctx ends.
func (r *Relay) RunConsumer(ctx context.Context, c Consumer) {
	a := &agenda{due: make(map[tenant.TenantID]time.Time), moved: make(chan struct{}, 1), all: true}
	r.mu.Lock()
	r.consumers = append(append([]*agenda{}, r.consumers...), a)
	r.mu.Unlock()
	failures := &failures{tenants: make(map[tenant.TenantID]failure)}
	timer := time.NewTimer(0)
	defer timer.Stop()
	surveyed := time.Time{}
	for {
		now := time.Now()
		if a.take() || now.Sub(surveyed) >= surveyEvery {
			surveyed = now
			if err := r.survey(ctx, a, now); err != nil && ctx.Err() == nil {
				r.log.WarnContext(ctx, "tenants not read", slog.String("consumer", c.Name), slog.Any("error", err))
			}
		}
		due, wait := a.next(now)
		var group errgroup.Group
		group.SetLimit(consumeAtOnce)
		for _, id := range due {
			group.Go(func() error {
				if again := r.consume(ctx, id, c, failures); again >= 0 {
					a.set(id, time.Now().Add(again))
				}
				return nil
			})
		}
		_ = group.Wait()
		if len(due) > 0 && ctx.Err() == nil {
			continue // that took time, and may have set the next
		}
		timer.Reset(min(wait, surveyEvery))
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-a.moved:
		}
	}
}

// consume deals with the next events of a tenant, and tells when to look again; never, where it is negative.
func (r *Relay) consume(ctx context.Context, id tenant.TenantID, c Consumer, failures *failures) (again time.Duration) {
	if left := failures.left(id); left > 0 {
		return left
	}
	done, err := Consume(ctx, r.db, id, c)
	switch {
	case ctx.Err() != nil:
		return -1
	case err != nil:
		r.metrics.failed.WithLabelValues(c.Name).Inc()
		pause := failures.add(id)
		r.log.ErrorContext(ctx, "events wait for a consumer that failed", slog.String("consumer", c.Name),
			slog.String("tenant_id", id.String()), slog.String("again_in", pause.String()), slog.Any("error", err))
		return pause
	}
	failures.forget(id)
	r.metrics.consumed.WithLabelValues(c.Name).Add(float64(len(done.Records)))
	now := time.Now()
	for _, record := range done.Records {
		r.metrics.behind.WithLabelValues(c.Name).Observe(now.Sub(record.At).Seconds())
	}
	switch {
	case done.Busy:
		return busyPause
	case done.More:
		return 0
	case done.Held:
		return holdLast / 4
	}
	return -1
}

// survey puts every tenant on the agenda, spread out a little: the nodes do so at about the same time.
func (r *Relay) survey(ctx context.Context, a *agenda, now time.Time) error {
	var tenants []tenant.TenantID
	err := r.db.ReadAsOperator(ctx, func(ctx context.Context, tx *pg.ReadTx) error {
		var batch pg.Batch
		pg.Collect(batch.Queue(`select tenant_id from directory`), &tenants, pgx.RowTo[tenant.TenantID])
		return tx.Load(ctx, &batch)
	})
	for _, id := range tenants {
		a.set(id, now.Add(rand.N(failedFirst))) //nolint:gosec // it spreads work in time
	}
	return err
}

// agenda is which tenants a consumer has to look at, and when.
type agenda struct {
	mu    sync.Mutex
	due   map[tenant.TenantID]time.Time
	all   bool          // every tenant, whichever there are
	moved chan struct{} // something may be due earlier than was thought
}

// set puts a tenant on the agenda, unless it stands there for an earlier time.
func (a *agenda) set(id tenant.TenantID, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if before, ok := a.due[id]; ok && !at.Before(before) {
		return
	}
	a.due[id] = at
	a.wake()
}

func (a *agenda) survey() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = true
	a.wake()
}

func (a *agenda) wake() {
	select {
	case a.moved <- struct{}{}:
	default:
	}
}

// take tells whether a survey was asked for, once.
func (a *agenda) take() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := a.all
	a.all = false
	return all
}

// next takes out the tenants that are due, and tells how long to wait for the next.
func (a *agenda) next(now time.Time) (due []tenant.TenantID, wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	wait = surveyEvery
	for id, at := range a.due {
		if left := at.Sub(now); left <= 0 {
			due = append(due, id)
			delete(a.due, id)
		} else {
			wait = min(wait, left)
		}
	}
	return due, wait
}

// failures are the tenants for which a consumer fails, and until when they are left alone.
type failures struct {
	mu      sync.Mutex
	tenants map[tenant.TenantID]failure
}

type failure struct {
	pause time.Duration
	until time.Time
}

// left tells how long a tenant is still left alone.
func (f *failures) left(id tenant.TenantID) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Until(f.tenants[id].until)
}

// add notes one more failure, and tells how long the tenant is left alone for it.
func (f *failures) add(id tenant.TenantID) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	pause := min(max(2*f.tenants[id].pause, failedFirst), failedLast)
	f.tenants[id] = failure{pause, time.Now().Add(pause)}
	return pause
}

func (f *failures) forget(id tenant.TenantID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.tenants, id)
}
