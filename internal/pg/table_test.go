package pg_test

import (
	"context"
	"errors"
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

type (
	kindName string
	bigCount int64
)

// thing has a field for each kind of column.
type thing struct {
	ID      tenant.MemberID
	Name    string
	Kind    kindName
	Method  string // NULL if empty
	Number  int
	Total   bigCount
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
		pg.Col("total", &t.Total),
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
		Total: bigCount(rapid.Int64().Draw(t, "total")),
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
		write := func(one, others string, arguments, more []any) {
			must.NoError(t, b.InTx(t.Context(), scope, "test", func(_ context.Context, tx *pg.Tx) error {
				tx.Write(one, arguments...)
				tx.Write(others, more...)
				return nil
			}))
			var (
				batch pg.Batch
				got   []thing
			)
			kinds.List(batch.Queue(listKinds, in), &got)
			must.NoError(t, b.ReadBatch(t.Context(), scope, &batch))
			must.Eq(t, pg.Array(want, func(one *thing) thing { return *one }), got)
		}
		write(insertKind, insertKinds, kinds.Insert(in, want[0]), kinds.InsertAll(in, want[1:]))
		for i, before := range want {
			want[i] = drawThing(t, i)
			want[i].ID, want[i].Kind, want[i].Made, want[i].Counted = before.ID, before.Kind, before.Made, true
		}
		write(updateKind, updateKinds, kinds.Update(in, want[0]), kinds.UpdateAll(in, want[1:]))
	})
}

// A nil map is written as an empty object and a nil list as an empty array, not as NULL. An insert that finds its row
// there changes it, but for what is fixed.
func TestTable_WritesNilListsAsEmpty(t *testing.T) {
	t.Parallel()
	b := setup(t)
	in := b.scope.Tenant
	id := func() tenant.MemberID { return tenant.New[tenant.MemberID](epoch) }
	one, other := thing{ID: id(), Kind: "kept"}, thing{ID: id()}
	must.NoError(t, b.inTx(t, func(ctx context.Context, tx *pg.Tx) error {
		tx.Write(insertKind, kinds.Insert(in, &one)...)
		tx.Write(insertKinds, kinds.InsertAll(in, []*thing{&other})...)
		return tx.Flush(ctx)
	}))
	one.Kind, one.Name, one.Number = "lost", "new", 3
	const more = ` on conflict (tenant_id, id) do update set `
	set := strings.Replace(kinds.SetExcluded(), "counted = excluded.counted", "seats = excluded.seats", 1)
	upsert := `insert into kinds (` + kinds.Names() + `, seats) values (` + kinds.Parameters() + `, ` +
		kinds.Extra(1) + `)` + more + set
	must.NoError(t, b.inTx(t, writes(nil, upsert, append(kinds.Insert(in, &one), 5)...)))
	var n int
	b.scan(t, `select count(*) from kinds where tenant_id = $1 and tags = '{}' and facts = '{}' and content is null and
		(id = $2 and kind = 'kept' and name = 'new' and number = 3 and seats = 5 or id <> $2 and seats = 3)`,
		[]any{in, one.ID}, &n)
	test.EqOp(t, 2, n, test.Sprint("rows"))
}

// Readers take all rows, the first one, or the first one if there is one.
func TestReader_ReadsRows(t *testing.T) {
	t.Parallel()
	b := setup(t)
	numbers := pg.NewReader(func(n *int) []pg.Column { return []pg.Column{pg.Read("n", n)} })
	one, none, first, kept, found := new(7), new(7), 7, 7, 7
	all, doubled := []int{7}, []int{7}
	sum, n := 0, 0
	var batch pg.Batch
	const sql = `select n from generate_series(1, $1::integer) as n`
	numbers.Find(batch.Queue(sql, 2), &one)
	numbers.Find(batch.Queue(sql, 0), &none)
	numbers.Scan(batch.Queue(sql, 2), &first)
	numbers.List(batch.Queue(sql, 3), &all)
	numbers.Each(batch.Queue(sql, 3), func(n int) { sum += n })
	batch.Queue(sql, 0).ScanAny(&kept)
	batch.Queue(sql, 2).ScanAny(&found)
	batch.Queue(sql, 3).Each(func() { sum += 10 * n }, &n)
	pg.Collect(batch.Queue(sql, 2), &doubled, func(row pgx.CollectableRow) (int, error) { return 2, row.Scan(&n) })
	must.NoError(t, b.ReadBatch(t.Context(), b.scope, &batch))
	test.Eq(t, []*int{new(1), nil}, []*int{one, none})
	test.Eq(t, [][]int{{1, 7, 1, 66}, {1, 2, 3}, {2, 2}}, [][]int{{first, kept, found, sum}, all, doubled})
}

// A row that cannot be read is an error, and so is a missing one.
func TestReader_ReturnsErrors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	errOdd := errors.New("odd")
	even := pg.ReadAs(func(n *int) []pg.Column { return []pg.Column{pg.Read("n", n)} }, func(n *int) (int, error) {
		if *n%2 != 0 {
			return 0, errOdd
		}
		return *n / 2, nil
	})
	odd := func(pgx.CollectableRow) (int, error) { return 0, errOdd }
	const misfits, missing = `select 'x'`, `select 1 where false`
	var (
		all []int
		one *int
	)
	for name, tt := range map[string]struct {
		sql  string
		read func(*pg.Statement)
		want error // nil: any
	}{
		"a conversion fails":  {`select unnest('{4, 5}'::integer[])`, func(s *pg.Statement) { even.List(s, &all) }, errOdd},
		"a text in Find":      {misfits, func(s *pg.Statement) { even.Find(s, &one) }, nil},
		"a text in Scan":      {misfits, func(s *pg.Statement) { even.Scan(s, new(int)) }, nil},
		"a text in Each":      {misfits, func(s *pg.Statement) { s.Each(func() {}, new(int)) }, nil},
		"a text in ScanAny":   {misfits, func(s *pg.Statement) { s.ScanAny(new(int)) }, nil},
		"a text in Collect":   {misfits, func(s *pg.Statement) { pg.Collect(s, &all, pgx.RowTo[int]) }, nil},
		"no row for Scan":     {missing, func(s *pg.Statement) { even.Scan(s, new(int)) }, pgx.ErrNoRows},
		"no row for a plain":  {missing, func(s *pg.Statement) { s.Scan(new(int)) }, pgx.ErrNoRows},
		"a function fails":    {`select 1`, func(s *pg.Statement) { pg.Collect(s, &all, odd) }, errOdd},
		"a failing statement": {`select 1/0`, func(s *pg.Statement) { even.List(s, &all) }, nil},
		"a later row fails": {
			`select 1/(n - 3) from generate_series(1, 3) n`, func(s *pg.Statement) { s.Scan(new(int)) }, nil,
		},
	} {
		var batch pg.Batch
		tt.read(batch.Queue(tt.sql))
		err := b.ReadBatch(t.Context(), b.scope, &batch)
		test.Error(t, err, test.Sprint(name, ": ", err))
		test.True(t, tt.want == nil || errors.Is(err, tt.want), test.Sprint(name, ": ", err))
	}
}

// Types without a NULL value reject NULL, and a number that does not fit is not cut.
func TestCodec_RejectsWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for sql, target := range map[string]any{
		`select null::time`: new(civil.TimeOfDay), `select null::bigint`: new(time.Duration),
		`select null::integer`: new(time.Duration),
	} {
		test.Error(t, b.Owner.QueryRow(t.Context(), sql).Scan(target), test.Sprint(sql))
	}
	for seconds, fits := range map[int64]bool{1<<31 - 1: true, -1 << 31: true, 1 << 31: false, -1<<31 - 1: false} {
		span := time.Duration(seconds) * time.Second
		var back time.Duration
		err := b.Owner.QueryRow(t.Context(), `select coalesce($1::integer, 7)`, span).Scan(&back)
		test.EqOp(t, fits, err == nil, test.Sprint(span, err))
		test.EqOp(t, fits, back == span, test.Sprint(span, err))
	}
}

// Statements returns all registered SQL.
func TestStatements_ListsEveryStatement(t *testing.T) {
	t.Parallel()
	test.SliceContains(t, pg.Statements(), updateKinds)
	test.StrContains(t, updateKinds, "done_at = x.done_at")
}
