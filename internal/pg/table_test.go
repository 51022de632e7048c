package pg_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

type kindName string

// thing has a field for each kind of column.
type thing struct {
	ID      tenant.MemberID
	Name    string
	Kind    kindName
	Method  string // NULL if empty
	Number  int
	Share   *float64
	Counted bool
	Hash    []byte
	On      civil.Date
	At      civil.TimeOfDay
	Lasts   *time.Duration
	Made    time.Time
	Done    *time.Time
	Gone    time.Time // NULL if zero
	Tags    []string
	Facts   map[string]string
	Content *[]int
	Parent  tenant.UUID
	Seats   int
}

var kinds = pg.NewTable("k", func(t *thing) []pg.Column {
	return []pg.Column{
		pg.Key("id", &t.ID),
		pg.Col("name", &t.Name),
		pg.Fixed("kind", &t.Kind),
		pg.Col("method", pg.Null(&t.Method)),
		pg.Col("number", &t.Number),
		pg.Col("share", &t.Share),
		pg.Later("counted", &t.Counted),
		pg.Col("hash", &t.Hash),
		pg.Col("on_day", &t.On),
		pg.Col("at_time", &t.At),
		pg.Col("seconds", &t.Lasts),
		pg.Fixed("made_at", &t.Made),
		pg.Col("done_at", &t.Done),
		pg.Col("gone_at", pg.Null(&t.Gone)),
		pg.Col("tags", pg.List(&t.Tags)),
		pg.Col("facts", pg.JSON(&t.Facts)),
		pg.Col("content", pg.JSON(&t.Content)),
		pg.Col("parent_id", &t.Parent),
		pg.Read("k.seats", &t.Seats),
	}
})

var (
	listKinds   = pg.SQL(`select ` + kinds.Columns() + ` from kinds k where k.tenant_id = $1 order by k.number`)
	insertKind  = pg.SQL(`insert into kinds ` + kinds.Values())
	insertKinds = pg.SQL(`insert into kinds ` + kinds.Rows())
	updateKind  = pg.SQL(`update kinds set ` + kinds.Set() + ` where tenant_id = $1 and id = $2`)
	updateKinds = pg.SQL(`update kinds k set ` + kinds.SetChanges() + ` from ` + kinds.Changes() + `
where k.tenant_id = $1 and k.id = x.id`)
)

func drawThing(t *rapid.T, number int) *thing {
	text := rapid.StringMatching(`[a-z"',{} ]{0,6}`)
	given := func(what string) bool { return rapid.Bool().Draw(t, what+" is given") }
	made := &thing{
		ID: tenant.New[tenant.MemberID](epoch), Number: number, Seats: 3,
		Name: text.Draw(t, "name"), Kind: kindName(text.Draw(t, "kind")), Method: text.Draw(t, "method"),
		At:    civil.TimeOf(time.Unix(rapid.Int64Range(0, 86399).Draw(t, "time"), 0), time.UTC),
		Made:  epoch.Add(time.Duration(rapid.IntRange(0, 1e9).Draw(t, "made")) * time.Microsecond),
		Tags:  rapid.SliceOfN(text, 0, 3).Draw(t, "tags"),
		Facts: rapid.MapOfN(text, text, 0, 2).Draw(t, "facts"),
	}
	if given("share") {
		made.Share = new(rapid.Float64().Draw(t, "share"))
	}
	if given("hash") {
		made.Hash = rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "hash")
	}
	if given("date") {
		made.On = civil.Date{Year: 2000, Month: 1, Day: 1}.AddDays(rapid.IntRange(-10000, 10000).Draw(t, "date"))
	}
	if given("span") {
		made.Lasts = new(time.Duration(rapid.Int32().Draw(t, "span")) * time.Second)
	}
	if given("done") {
		made.Done = new(made.Made.Add(time.Hour))
	}
	if given("gone") {
		made.Gone = made.Made.Add(2 * time.Hour)
	}
	if given("content") {
		made.Content = new(rapid.SliceOfN(rapid.Int(), 1, 2).Draw(t, "content"))
	}
	if given("parent") {
		made.Parent = made.ID.UUID
	}
	return made
}

// What is written by either statement is read back, and rows share no pointers.
func TestTable_ReadsWhatItWrote(t *testing.T) {
	t.Parallel()
	b := setup(t)
	rapid.Check(t, func(t *rapid.T) {
		scope := newScope()
		in := scope.Tenant
		want := []*thing{drawThing(t, 0), drawThing(t, 1), drawThing(t, 2)}
		write := func(do func(tx *pg.Tx)) {
			must.NoError(t, b.InTx(t.Context(), scope, "test", func(_ context.Context, tx *pg.Tx) error {
				do(tx)
				return nil
			}))
		}
		check := func(when string) {
			var batch pg.Batch
			var got []thing
			kinds.List(batch.Queue(listKinds, in), &got)
			must.NoError(t, b.ReadBatch(t.Context(), scope, &batch))
			var all []thing
			for _, one := range want {
				all = append(all, *one)
			}
			must.Eq(t, all, got, must.Sprint(when))
		}
		write(func(tx *pg.Tx) {
			tx.Write(insertKind, kinds.Insert(in, want[0])...)
			tx.Write(insertKinds, kinds.InsertAll(in, want[1:])...)
		})
		check("after the insert")
		for i, before := range want {
			want[i] = drawThing(t, i)
			want[i].ID, want[i].Kind, want[i].Made, want[i].Counted = before.ID, before.Kind, before.Made, true
		}
		write(func(tx *pg.Tx) {
			tx.Write(updateKind, kinds.Update(in, want[0])...)
			tx.Write(updateKinds, kinds.UpdateAll(in, want[1:])...)
		})
		check("after the update")
	})
}

// A nil map is written as an empty object and a nil list as an empty array, not as NULL.
func TestTable_WritesNilListsAsEmpty(t *testing.T) {
	t.Parallel()
	b := setup(t)
	in := b.scope.Tenant
	must.NoError(t, b.InTx(t.Context(), b.scope, "test", func(_ context.Context, tx *pg.Tx) error {
		tx.Write(insertKind, kinds.Insert(in, &thing{ID: tenant.New[tenant.MemberID](epoch)})...)
		tx.Write(insertKinds, kinds.InsertAll(in, []*thing{{ID: tenant.New[tenant.MemberID](epoch), Number: 1}})...)
		return nil
	}))
	var n int
	const empty = `select count(*) from kinds where tenant_id = $1 and tags = '{}' and facts = '{}'`
	if err := b.Owner.QueryRow(t.Context(), empty, in).Scan(&n); err != nil || n != 2 {
		t.Errorf("%d rows (%v), want 2", n, err)
	}
}

// Find reads only the first row. Without a row it sets nil.
func TestReader_FindsTheFirstRow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	numbers := pg.NewReader(func(n *int) []pg.Column { return []pg.Column{pg.Read("n", n)} })
	one, none, first := new(7), new(7), 7
	var all []int
	sum := 0
	var batch pg.Batch
	const sql = `select n from generate_series(1, $1::integer) as n`
	numbers.Find(batch.Queue(sql, 2), &one)
	numbers.Find(batch.Queue(sql, 0), &none)
	numbers.Scan(batch.Queue(sql, 2), &first)
	numbers.List(batch.Queue(sql, 3), &all)
	numbers.Each(batch.Queue(sql, 3), func(n int) { sum += n })
	must.NoError(t, b.ReadBatch(t.Context(), b.scope, &batch))
	test.True(
		t, one != nil && *one == 1 && none == nil && first == 1 && slices.Equal(all, []int{1, 2, 3}) && sum == 6,
		test.Sprintf("one is %v, none is %v, the first is %d, all are %v, the sum is %d", one, none, first, all, sum),
	)
	var last pg.Batch
	numbers.Scan(last.Queue(sql, 0), &first)
	test.ErrorIs(t, b.ReadBatch(t.Context(), b.scope, &last), pgx.ErrNoRows, test.Sprint("without a row the error"))
}

// The function that converts a row can return an error.
func TestReader_ReturnsErrorsOfConversion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	errOdd := errors.New("odd")
	even := pg.ReadAs(func(n *int) []pg.Column { return []pg.Column{pg.Read("n", n)} }, func(n *int) (int, error) {
		if *n%2 != 0 {
			return 0, errOdd
		}
		return *n / 2, nil
	})
	var all []int
	var batch pg.Batch
	even.List(batch.Queue(`select n from unnest('{4, 5}'::integer[]) as n`), &all)
	test.ErrorIs(t, b.ReadBatch(t.Context(), b.scope, &batch), errOdd, test.Sprint("the error"))
}

// ScanAny leaves its targets unchanged if there is no row. Each calls the function for every row.
func TestStatement_ReadsRows(t *testing.T) {
	t.Parallel()
	b := setup(t)
	kept, found := 7, 7
	var n, sum int
	var batch pg.Batch
	batch.Queue(`select 1 where false`).ScanAny(&kept)
	batch.Queue(`select 1`).ScanAny(&found)
	batch.Queue(`select n from generate_series(1, 3) as n`).Each(func() { sum += n }, &n)
	must.NoError(t, b.ReadBatch(t.Context(), b.scope, &batch))
	test.True(
		t, kept == 7 && found == 1 && sum == 6, test.Sprintf("kept is %d, found is %d, the sum is %d", kept, found, sum),
	)
}

// Types without a NULL value reject NULL.
func TestCodec_RejectsNULL(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var at civil.TimeOfDay
	var lasts time.Duration
	test.Error(t, b.Owner.QueryRow(t.Context(), `select null::time`).Scan(&at), test.Sprintf("the time is %v", at))
	test.Error(t, b.Owner.QueryRow(t.Context(), `select null::bigint`).Scan(&lasts), test.Sprintf("the span is %v", lasts))
}

// Statements returns all registered SQL.
func TestStatements_ListsEveryStatement(t *testing.T) {
	t.Parallel()
	test.True(
		t, slices.Contains(pg.Statements(), updateKinds) && strings.Contains(updateKinds, "done_at = x.done_at"),
		test.Sprintf("%q is not among %d statements", updateKinds, len(pg.Statements())),
	)
}
