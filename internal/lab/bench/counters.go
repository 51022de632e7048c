package bench

import (
	"context"
	"strings"
	"time"
)

// counters come from the metrics of the nodes and from Postgres. wal is in bytes.
type counters struct{ transactions, retries, wal, fsyncs float64 }

func (c counters) since(before counters) counters {
	return counters{
		c.transactions - before.transactions, c.retries - before.retries, c.wal - before.wal, c.fsyncs - before.fsyncs,
	}
}

// finalCounters reads the counters after all backends have reported their statistics. A backend reports at most once a
// second, and only when it runs a statement: so this waits, and then uses every connection.
func (b *testbed) finalCounters(ctx context.Context, of work) (counters, error) {
	if err := pause(ctx, 1050*time.Millisecond); err != nil {
		return counters{}, err
	}
	if err := b.DB.Warm(ctx); err != nil {
		return counters{}, err
	}
	for _, other := range b.otherNodes() {
		if err := other.db.Warm(ctx); err != nil {
			return counters{}, err
		}
	}
	return b.counters(ctx, of)
}

func (b *testbed) counters(ctx context.Context, of work) (counters, error) {
	c := counters{retries: float64(b.conflicts.Load())}
	if err := b.owner.QueryRow(ctx, `
select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8, wal_sync::float8 from pg_stat_wal`).
		Scan(&c.wal, &c.fsyncs); err != nil {
		return c, err
	}
	sum, err := b.metrics()
	if err != nil {
		return c, err
	}
	c.transactions = sum("berth_transactions_total", of.takes)
	c.retries += sum("berth_transaction_retries_total", func(name string) bool {
		return of.takes(name) || strings.HasPrefix(name, "session.")
	})
	return c, nil
}

// counterSum adds up a counter over the transactions whose names are counted.
type counterSum func(counter string, counted func(transaction string) bool) float64

// metrics reads the metrics of all nodes.
func (b *testbed) metrics() (counterSum, error) {
	all, err := b.Metrics.Gather()
	if err != nil {
		return nil, err
	}
	for _, other := range b.otherNodes() {
		more, err := other.metrics.Gather()
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return func(counter string, counted func(string) bool) (total float64) {
		for _, family := range all {
			if family.GetName() != counter {
				continue
			}
			for _, metric := range family.GetMetric() {
				for _, label := range metric.GetLabel() {
					if label.GetName() == "transaction" && counted(label.GetValue()) {
						total += metric.GetCounter().GetValue()
					}
				}
			}
		}
		return total
	}, nil
}
