// Package quota limits rows that only grow in number. Events, the audit log and ledgers have no limit: a change must
// not fail because of its record.
package quota

import (
	"context"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// A Quota is a limit of rows of a tenant.
type Quota struct {
	Name  string // in the contract
	Of    string // whose rows count; empty if all rows of the tenant do
	Limit int    // zero is no limit
	// Count reads how many rows there are. It need not count more than the limit.
	Count func(b *pg.Batch, in tenant.TenantID, limit int, rows *int)
}

const (
	// countedFor is how long a count is used. Until then, a node does not know what other nodes insert.
	countedFor = 5 * time.Minute
	// recountAfter is how old a count is at least before rows are counted again to reject an operation.
	recountAfter = time.Second
	// maxCounts bounds the memory of the counts.
	maxCounts = 10_000
)

// Counts counts rows by reading them from time to time, and by adding what this node inserts. It reads outside of the
// operation's transaction: there, a count would conflict with every insert. So a quota can be exceeded by what several
// nodes insert at the same time, and operations that fail count until the next reading, but each once.
type Counts struct {
	mu    sync.Mutex // between a look and its addition
	cache *lru.Cache[countKey, *rowCount]
}

type countKey struct {
	tenant tenant.TenantID
	name   string
	of     string
}

type rowCount struct {
	mu   sync.Mutex
	rows int
	read time.Time
}

// NewCounts makes counts that are read when they are needed.
func NewCounts() *Counts {
	cache, err := lru.New[countKey, *rowCount](maxCounts)
	if err != nil {
		panic(err) // only a size below 1 is an error
	}
	return &Counts{cache: cache}
}

// Grow counts n rows that are about to be inserted. It returns QUOTA_EXCEEDED if there are too many then.
func (c *Counts) Grow(
	ctx context.Context, read func(context.Context, *pg.Batch) error, in tenant.TenantID, q Quota, n int, now time.Time,
) error {
	if q.Limit == 0 || n == 0 {
		return nil
	}
	return c.count(countKey{in, q.Name, q.Of}).grow(q, n, now, func() (rows int, err error) {
		var batch pg.Batch
		q.Count(&batch, in, q.Limit, &rows)
		err = read(ctx, &batch)
		return rows, err
	})
}

func (c *Counts) count(key countKey) *rowCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	count, ok := c.cache.Get(key)
	if !ok {
		count = new(rowCount)
		c.cache.Add(key, count)
	}
	return count
}

// grow adds n rows, unless there are more than the limit then. It counts the rows again if the last count is old, and
// soon if it would reject.
func (c *rowCount) grow(q Quota, n int, now time.Time, count func() (int, error)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	age := now.Sub(c.read)
	if age >= countedFor || age < 0 || c.rows+n > q.Limit && age >= recountAfter {
		rows, err := count()
		if err != nil {
			return err
		}
		c.rows, c.read = rows, now
	}
	if c.rows+n > q.Limit {
		return fault.OverQuota(q.Name, q.Limit,
			"The limit of %d is reached: %s. Ask the operator of the service to raise it.", q.Limit, q.Name)
	}
	c.rows += n
	return nil
}
