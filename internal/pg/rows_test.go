package pg_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

var takenByID = pg.Lookup[tenant.SessionID, int]{
	SQL: `select c.taken, q.n from unnest($2::uuid[]) with ordinality as q (id, n)
cross join lateral (select * from counters c where c.tenant_id = $1 and c.id = q.id offset 0) c`,
	Reader: pg.NewReader(func(taken *int) []pg.Column { return []pg.Column{pg.Read("c.taken", taken)} }),
}

// All that ask with one lookup share a statement, and each is told about their key.
func TestLookupsShareAStatement(t *testing.T) {
	t.Parallel()
	b := setup(t)
	one, two, none := b.insert(t), b.insert(t), tenant.SessionID{UUID: tenant.UUID{1}}
	err := b.InTx(t.Context(), b.scope, "test", func(_ context.Context, tx *pg.Tx) error {
		tx.Write(takeOne, b.scope.Tenant, two)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var batch pg.Batch
	got := make(map[string]int)
	for name, id := range map[string]tenant.SessionID{"one": one, "two": two, "one again": one, "none": none} {
		takenByID.Find(&batch, b.scope.Tenant, id, func(taken int) { got[name] = taken })
	}
	if batch.Len() != 1 {
		t.Errorf("%d statements, want 1", batch.Len())
	}
	if err := b.ReadBatch(t.Context(), b.scope, &batch); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"one": 0, "one again": 0, "two": 1}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

type wrote struct {
	key string
	n   int
}

// Rows of a kind travel together in the order of their ranks, those that are the same one as one; a statement
// that is queued between them, and whatever is sent, stays between them.
func TestRowsTravelTogether(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var got []any
	note := func(what string) func(*pg.Tx, tenant.TenantID, []wrote) {
		return func(_ *pg.Tx, _ tenant.TenantID, rows []wrote) { got = append(got, what, rows) }
	}
	key := func(w wrote) any { return w.key }
	first := &pg.Rows[wrote]{Rank: 1, Write: note("first")}
	sums := &pg.Rows[wrote]{Rank: 2, Key: key, Merge: func(before *wrote, w wrote) { before.n += w.n }, Write: note("sums")}
	last := &pg.Rows[wrote]{Rank: 3, Key: key, Write: note("last")}
	err := b.InTx(t.Context(), b.scope, "test", func(ctx context.Context, tx *pg.Tx) error {
		in := b.scope.Tenant
		last.Add(tx, in, wrote{"a", 1})
		sums.Add(tx, in, wrote{"a", 1}, wrote{"b", 1})
		first.Add(tx, in, wrote{"a", 1})
		sums.Add(tx, in, wrote{"a", 2})
		last.Add(tx, in, wrote{"a", 2})
		first.Add(tx, in, wrote{"a", 2})
		tx.Write("select 1")
		first.Add(tx, in, wrote{"b", 1})
		if err := tx.Flush(ctx); err != nil {
			return err
		}
		first.Add(tx, in, wrote{"c", 1})
		if changes := tx.Changes(); changes != 10 {
			t.Errorf("%d changes, want 10", changes)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []any{
		"first", []wrote{{"a", 1}, {"a", 2}}, "sums", []wrote{{"a", 3}, {"b", 1}}, "last", []wrote{{"a", 2}},
		"first", []wrote{{"b", 1}}, "first", []wrote{{"c", 1}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(wrote{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
