package pg_test

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// drawID returns a random ID, which is sometimes zero.
func drawID(t *rapid.T, label string) (id tenant.MemberID) {
	if rapid.IntRange(0, 3).Draw(t, label+" is given") > 0 {
		copy(id.UUID[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, label))
	}
	return id
}

func TestCodec_RoundTripsIDs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()
	rapid.Check(t, func(t *rapid.T) {
		type row struct {
			ID       tenant.MemberID
			Raw      tenant.UUID
			Pointer  *tenant.MemberID
			IDs      []tenant.MemberID
			Raws     []tenant.UUID
			Text     string
			Null     bool
			ArrayLen *int
		}
		in := row{ID: drawID(t, "id")}
		in.Raw = drawID(t, "raw").UUID
		if given := drawID(t, "pointer"); !given.IsZero() {
			in.Pointer = &given
		}
		if n := rapid.IntRange(-1, 5).Draw(t, "length"); n >= 0 {
			in.IDs, in.Raws = make([]tenant.MemberID, n), make([]tenant.UUID, n)
			for i := range n {
				in.IDs[i] = drawID(t, "element")
				in.Raws[i] = in.IDs[i].UUID
			}
			in.ArrayLen = &n
		}
		in.Text, in.Null = in.ID.String(), in.ID.IsZero()
		if in.Null {
			in.Text = "none"
		}
		rows, _ := b.Owner.Query(ctx, `select $1::uuid, $2::uuid, $3::uuid, $4::uuid[], $5::uuid[],
			coalesce($1::text, 'none'), $1 is null, coalesce(array_upper($4, 1), cardinality($4))`,
			in.ID, in.Raw, in.Pointer, in.IDs, in.Raws)
		must.Eq(t, in, expect.Value(pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[row]))(t))
	})
}

// Set-based writes unnest arrays. An absent optional reference becomes NULL.
func TestCodec_EncodesZeroIDsInArraysAsNull(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, second := newID(), newID()
	var parents []tenant.SessionID
	must.NoError(t, b.inTx(t, func(ctx context.Context, tx *pg.Tx) error {
		tx.Write(`insert into things (tenant_id, id, parent_id, tags)
			select $1, id, parent, $4 from unnest($2::uuid[], $3::uuid[]) as t (id, parent)`,
			b.scope.Tenant, []tenant.SessionID{first, second}, []tenant.SessionID{{}, first}, []tenant.UUID{})
		var batch pg.Batch
		pg.Collect(batch.Queue("select parent_id from things where tenant_id = $1 and id = any($2) order by id",
			b.scope.Tenant, []tenant.SessionID{first, second}), &parents, pgx.RowTo[tenant.SessionID])
		return tx.Load(ctx, &batch)
	}))
	test.Eq(t, []tenant.SessionID{{}, first}, parents)
}

func TestCodec_LeavesOtherTypesToDriver(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := newID()
	var (
		text  string
		texts []string
		array [16]byte
		ids   []tenant.SessionID
	)
	b.scan(t, "select $1::uuid, array[$1::uuid], $2::uuid, $3::uuid[]",
		[]any{id.String(), id.Bytes(), []string{id.String()}}, &text, &texts, &array, &ids)
	test.EqOp(t, id.String(), text)
	test.Eq(t, []string{text}, texts)
	test.Eq(t, id.Bytes(), array)
	test.Eq(t, []tenant.SessionID{id}, ids)
	test.NoError(t, b.Owner.QueryRow(t.Context(), "select array[[$1::uuid]]", id).Scan(new([][]tenant.SessionID)))
	test.Error(t, b.Owner.QueryRow(t.Context(), "select $1::int4", time.Duration(math.MaxInt64)).Scan(&text))
	b.scan(t, "select $1::uuid[]", []any{[]ranked{{1, newID().UUID}, {2, id.UUID}}}, &ids)
	test.EqOp(t, id, ids[1])
}

// ranked has an ID, but is more than that.
type ranked struct {
	rank int
	tenant.UUID
}

// An array takes one pass. It would cost an allocation or more for each of its elements if each was planned.
//
//nolint:paralleltest // it counts the allocations of the whole process
func TestCodec_EncodesArraysAtOnce(t *testing.T) {
	conn := expect.Value(setup(t).Owner.Acquire(t.Context()))(t)
	defer conn.Release()
	for oid, array := range map[uint32]any{
		pgtype.UUIDArrayOID:        slices.Repeat([]tenant.SessionID{newID()}, 1000),
		pgtype.TextArrayOID:        slices.Repeat([]string{"text"}, 1000),
		pgtype.TimestamptzArrayOID: slices.Repeat([]time.Time{epoch}, 1000),
	} {
		plan := conn.Conn().TypeMap().PlanEncode(oid, pgtype.BinaryFormatCode, array)
		test.Less(t, 100, testing.AllocsPerRun(1, func() { expect.OK(t)(plan.Encode(array, nil)) }), test.Sprint(oid))
	}
}

// An array has the same bytes as if pgx had encoded it: also the empty one, and whether any element is NULL.
func TestCodec_EncodesArraysAsPgxDoes(t *testing.T) {
	t.Parallel()
	conn := expect.Value(setup(t).Owner.Acquire(t.Context()))(t)
	defer conn.Release()
	own, pgx := conn.Conn().TypeMap(), pgtype.NewMap()
	id := newID()
	for what, c := range map[string]struct {
		oid         uint32
		ours, their any
	}{
		"texts":           {pgtype.TextArrayOID, []string{"a", ""}, []string{"a", ""}},
		"no texts":        {pgtype.TextArrayOID, []string{}, []string{}},
		"texts or NULL":   {pgtype.TextArrayOID, []*string{new("a"), nil, new("b")}, []*string{new("a"), nil, new("b")}},
		"times":           {pgtype.TimestamptzArrayOID, []time.Time{epoch}, []time.Time{epoch}},
		"no times":        {pgtype.TimestamptzArrayOID, []*time.Time{}, []*time.Time{}},
		"times or NULL":   {pgtype.TimestamptzArrayOID, []*time.Time{&epoch, nil}, []*time.Time{&epoch, nil}},
		"IDs":             {pgtype.UUIDArrayOID, []tenant.SessionID{id, id}, [][16]byte{id.UUID, id.UUID}},
		"no IDs":          {pgtype.UUIDArrayOID, []tenant.SessionID{}, [][16]byte{}},
		"IDs, one absent": {pgtype.UUIDArrayOID, []tenant.SessionID{id, {}}, []*[16]byte{(*[16]byte)(&id.UUID), nil}},
	} {
		want := expect.Value(pgx.Encode(c.oid, pgtype.BinaryFormatCode, c.their, nil))(t)
		test.Eq(t, want, expect.Value(own.Encode(c.oid, pgtype.BinaryFormatCode, c.ours, nil))(t), test.Sprint(what))
	}
}

func TestCodec_ReadsTimesInUTC(t *testing.T) {
	t.Parallel()
	b := setup(t)
	in := time.Date(2026, 3, 29, 3, 30, 0, 0, expect.Value(time.LoadLocation("Europe/Lisbon"))(t))
	var (
		out  time.Time
		outs []time.Time
	)
	b.scan(t, "select $1::timestamptz, array[$1::timestamptz]", []any{in}, &out, &outs)
	test.Eq(t, []time.Time{in.UTC(), in.UTC()}, append(outs, out))
}
