package pg_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

var takenByID = pg.Lookup[tenant.SessionID, int]{
	SQL: `select c.taken, q.n from unnest($2::uuid[]) with ordinality as q (id, n)
cross join lateral (select * from counters c where c.tenant_id = $1 and c.id = q.id offset 0) c`,
	Reader: pg.NewReader(func(taken *int) []pg.Column { return []pg.Column{pg.Read("c.taken", taken)} }),
}

// All lookups of one kind share a statement, and each gets the rows of its key.
func TestLookup_SharesOneStatement(t *testing.T) {
	t.Parallel()
	b := setup(t)
	one, two, none := b.insert(t), b.insert(t), tenant.SessionID{UUID: tenant.UUID{1}}
	must.NoError(t, b.InTx(t.Context(), b.scope, "test", func(_ context.Context, tx *pg.Tx) error {
		tx.Write(takeOne, b.scope.Tenant, two)
		return nil
	}))
	var batch pg.Batch
	got := make(map[string]int)
	for name, id := range map[string]tenant.SessionID{"one": one, "two": two, "one again": one, "none": none} {
		takenByID.Find(&batch, b.scope.Tenant, id, func(taken int) { got[name] = taken })
	}
	test.EqOp(t, 1, batch.Len(), test.Sprintf("%d statements, want 1", batch.Len()))
	must.NoError(t, b.ReadBatch(t.Context(), b.scope, &batch))
	test.Eq(t, map[string]int{"one": 0, "one again": 0, "two": 1}, got)
}

type keyed struct {
	key string
	n   int
}

// Rows of a kind are written together, in the order of ranks, and rows with the same key as one.
// A statement queued in between stays in its place, and so does one that is sent.
func TestRows_AreWrittenTogetherInRankOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var got []any
	note := func(what string) func(*pg.Tx, tenant.TenantID, []keyed) {
		return func(_ *pg.Tx, _ tenant.TenantID, rows []keyed) { got = append(got, what, rows) }
	}
	key := func(w keyed) any { return w.key }
	first := &pg.RowWriter[keyed]{Rank: 1, Write: note("first")}
	add := func(before *keyed, w keyed) { before.n += w.n }
	sums := &pg.RowWriter[keyed]{Rank: 2, Key: key, Merge: add, Write: note("sums")}
	last := &pg.RowWriter[keyed]{Rank: 3, Key: key, Write: note("last")}
	must.NoError(t, b.InTx(t.Context(), b.scope, "test", func(ctx context.Context, tx *pg.Tx) error {
		in := b.scope.Tenant
		last.Add(tx, in, keyed{"a", 1})
		sums.Add(tx, in, keyed{"a", 1}, keyed{"b", 1})
		first.Add(tx, in, keyed{"a", 1})
		sums.Add(tx, in, keyed{"a", 2})
		last.Add(tx, in, keyed{"a", 2})
		first.Add(tx, in, keyed{"a", 2})
		tx.Write("select 1")
		first.Add(tx, in, keyed{"b", 1})
		if err := tx.Flush(ctx); err != nil {
			return err
		}
		first.Add(tx, in, keyed{"c", 1})
		test.EqOp(t, 10, tx.WriteCount(), test.Sprint("changes, want 10"))
		return nil
	}))
	want := []any{
		"first", []keyed{{"a", 1}, {"a", 2}}, "sums", []keyed{{"a", 3}, {"b", 1}}, "last", []keyed{{"a", 2}},
		"first", []keyed{{"b", 1}}, "first", []keyed{{"c", 1}},
	}
	test.Eq(t, want, got, test.Cmp(cmp.AllowUnexported(keyed{})))
}
