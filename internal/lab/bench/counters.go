package bench

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// counters are read from the nodes' own metrics, and from Postgres.
type counters struct{ transactions, retries, wal, fsyncs float64 }

func (c counters) since(before counters) counters {
	return counters{c.transactions - before.transactions, c.retries - before.retries, c.wal - before.wal, c.fsyncs - before.fsyncs}
}

// settled reads them when all connections have told what they did: Postgres lets them do so once a second, and when
// they are asked something.
func (h *testbed) settled(ctx context.Context, of work) (counters, error) {
	if err := pause(ctx, 1050*time.Millisecond); err != nil {
		return counters{}, err
	}
	if err := h.DB.Warm(ctx); err != nil {
		return counters{}, err
	}
	for _, other := range h.beside() {
		if err := other.db.Warm(ctx); err != nil {
			return counters{}, err
		}
	}
	return h.counters(ctx, of)
}

func (h *testbed) counters(ctx context.Context, of work) (counters, error) {
	c := counters{retries: float64(h.conflicts.Load())}
	if err := h.owner.QueryRow(ctx, "select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8, wal_sync::float8 from pg_stat_wal").Scan(&c.wal, &c.fsyncs); err != nil {
		return c, err
	}
	sum, err := h.metrics(ctx)
	if err != nil {
		return c, err
	}
	c.transactions = sum("berth_transactions_total", of.takes)
	c.retries += sum("berth_transaction_retries_total", func(name string) bool { return of.takes(name) || strings.HasPrefix(name, "session.") })
	return c, nil
}

// metrics sums counters of all nodes up, over the transactions of some names.
func (h *testbed) metrics(ctx context.Context) (sum func(counter string, those func(transaction string) bool) float64, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+h.address+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(res.Body)
	if err != nil {
		return nil, err
	}
	all := slices.Collect(maps.Values(families))
	for _, other := range h.beside() {
		more, err := other.metrics.Gather()
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return func(counter string, those func(string) bool) (total float64) {
		for _, family := range all {
			if family.GetName() != counter {
				continue
			}
			for _, metric := range family.GetMetric() {
				for _, label := range metric.GetLabel() {
					if label.GetName() == "transaction" && those(label.GetValue()) {
						total += metric.GetCounter().GetValue()
					}
				}
			}
		}
		return total
	}, nil
}
