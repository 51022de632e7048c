package engine

import (
	"context"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// Quotas limit rows that only grow in number. Zero is no limit. Events, the audit log and ledgers have none: a change
// must not fail because of its record.
type Quotas struct {
	Members, Sessions int // of a tenant
	Keys              int // of a caller, within KeyLifetime
}

// A Quota names rows that have a limit.
type Quota string

// The quotas, with their names in the contract.
const (
	Members  Quota = "members"
	Sessions Quota = "sessions"
	keys     Quota = "idempotency_keys"
)

const (
	// countedFor is how long a count is used. Until then, a node does not know what other nodes insert.
	countedFor = 5 * time.Minute
	// recountAfter is how old a count is at least before rows are counted again to reject an operation.
	recountAfter = time.Second
	// maxCounts bounds the memory of the counts.
	maxCounts = 10_000
)

// quotas counts rows by reading them from time to time, and by adding what this node inserts. It reads outside of the
// operation's transaction: there, a count would conflict with every insert. So a quota can be exceeded by what several
// nodes insert at the same time, and operations that fail count until the next reading, but each once.
type quotas struct {
	Quotas

	mu     sync.Mutex // between a look and its addition
	counts *lru.Cache[quotaKey, *rowCount]
}

type quotaKey struct {
	tenant tenant.TenantID
	quota  Quota
	by     string // empty if all rows of the tenant count
}

type rowCount struct {
	mu   sync.Mutex
	rows int
	read time.Time
}

func newQuotas(limits Quotas) *quotas {
	counts, err := lru.New[quotaKey, *rowCount](maxCounts)
	if err != nil {
		panic(err) // only a size below 1 is an error
	}
	return &quotas{Quotas: limits, counts: counts}
}

// limit returns the limit of a quota.
func (q *Quotas) limit(of Quota) int {
	switch of {
	case Members:
		return q.Members
	case Sessions:
		return q.Sessions
	default:
		return q.Keys
	}
}

// Grow counts n rows that the operation is about to insert, once in all its attempts. It returns QUOTA_EXCEEDED if the
// tenant has too many then. An operation calls it once.
func (tx *Tx) Grow(ctx context.Context, of Quota, n int) error {
	if err := tx.engine.grow(ctx, tx.Caller, of, max(0, n-*tx.grown)); err != nil {
		return err
	}
	*tx.grown = max(n, *tx.grown)
	return nil
}

func (e *Engine) grow(ctx context.Context, by tenant.Caller, of Quota, n int) error {
	limit := e.quotas.limit(of)
	if limit == 0 || n == 0 {
		return nil
	}
	key := quotaKey{tenant: by.Tenant, quota: of}
	if of == keys {
		key.by = by.Actor()
	}
	return e.quotas.count(key).grow(n, limit, e.now(), of, func(now time.Time) (rows int, err error) {
		var batch pg.Batch
		switch of {
		case Members:
			coredb.CountMembers(&batch, by.Tenant, limit, &rows)
		case Sessions:
			coredb.CountSessions(&batch, by.Tenant, limit, &rows)
		default:
			coredb.CountKeys(&batch, by.Tenant, key.by, now.Add(-KeyLifetime), limit, &rows)
		}
		err = e.Read(ctx, by, &batch)
		return rows, err
	})
}

func (q *quotas) count(key quotaKey) *rowCount {
	q.mu.Lock()
	defer q.mu.Unlock()
	count, ok := q.counts.Get(key)
	if !ok {
		count = new(rowCount)
		q.counts.Add(key, count)
	}
	return count
}

// grow adds n rows, unless there are more than the limit then. It counts the rows again if the last count is old, and
// soon if it would reject.
func (c *rowCount) grow(
	n, limit int, now time.Time, of Quota, count func(now time.Time) (int, error),
) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	age := now.Sub(c.read)
	if age >= countedFor || age < 0 || c.rows+n > limit && age >= recountAfter {
		rows, err := count(now)
		if err != nil {
			return err
		}
		c.rows, c.read = rows, now
	}
	if c.rows+n > limit {
		return fault.OverQuota(string(of), limit,
			"The limit of %d is reached: %s. Ask the operator of the service to raise it.", limit, of)
	}
	c.rows += n
	return nil
}
