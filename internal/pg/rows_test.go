package pg_test

import (
	"context"
	"slices"
	"strings"
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
	must.NoError(t, b.inTx(t, writes(nil, takeOne, b.scope.Tenant, two)))
	// By the text of the key, and each row twice.
	byText := takenByID
	byText.SQL = strings.Replace(takenByID.SQL, "$2::uuid[]", "$2::text[]::uuid[]", 1) + ", generate_series(1, 2)"
	byText.Columns = func(keys []tenant.SessionID) []any {
		test.SliceLen(t, 3, keys) // each once
		return []any{pg.Array(keys, tenant.SessionID.String)}
	}
	for name, lookup := range map[string]*pg.Lookup[tenant.SessionID, int]{"by id": &takenByID, "by text": &byText} {
		var batch pg.Batch
		got := make(map[string]int)
		for name, id := range map[string]tenant.SessionID{"one": one, "two": two, "one again": one, "none": none} {
			lookup.Find(&batch, b.scope.Tenant, id, func(taken int) { got[name] = taken })
		}
		found, missing, all, nothing := new(7), new(7), []int{7}, []int{7}
		lookup.One(&batch, b.scope.Tenant, two, &found)
		lookup.One(&batch, b.scope.Tenant, none, &missing)
		lookup.Many(&batch, b.scope.Tenant, two, &all)
		lookup.Many(&batch, b.scope.Tenant, none, &nothing)
		test.EqOp(t, 1, batch.Len(), test.Sprint("statements"))
		must.NoError(t, b.ReadBatch(t.Context(), b.scope, &batch))
		test.Eq(t, map[string]int{"one": 0, "one again": 0, "two": 1}, got, test.Sprint(name))
		test.Eq(t, []*int{new(1), nil}, []*int{found, missing})
		want := slices.Repeat([]int{1}, map[string]int{"by id": 1, "by text": 2}[name])
		test.Eq(t, [][]int{want, nil}, [][]int{all, nothing}, test.Sprint(name))
	}
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
	must.NoError(t, b.inTx(t, func(ctx context.Context, tx *pg.Tx) error {
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

func TestDistinct_KeepsTheFirstOfEach(t *testing.T) {
	t.Parallel()
	given := []int{3, 1, 3, 2, 1}
	test.Eq(t, []int{3, 1, 2}, pg.Distinct(given))
	test.Eq(t, []int{3, 1, 3, 2, 1}, given)
}
