package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestData_LeavesOutWhatIsNotThere(t *testing.T) {
	t.Parallel()
	one, other := map[string]any{"a": 1}, map[string]any{"a": 2}
	for _, tt := range []struct{ want, got map[string]any }{
		{nil, ReasonData("")},
		{map[string]any{"reason": "ill"}, ReasonData("ill")},
		{map[string]any{"before": one, "after": other}, AuditChange(one, other)},
		{map[string]any{"after": other}, AuditChange(nil, other)},
		{map[string]any{"before": one}, AuditChange(one, nil)},
	} {
		test.Eq(t, tt.want, tt.got)
	}
}

// Keys and advisory locks are of one kind, one name and one tenant. A name has its parts: it is no text that can be cut
// in another place.
func TestKeys_AreDistinct(t *testing.T) {
	t.Parallel()
	keys := []Key{
		NameKey("queue", "a"), NameKey("queue", "b"), NameKey("line", "a"), NameKey("queue", "a", "b"),
		NameKey("queue", "a b"),
	}
	locks := []int64{advisoryLock(in(1), named(1)), advisoryLock(in(1), named(2)), advisoryLock(in(2), named(1))}
	test.Eq(t, keys, pg.Distinct(keys))
	test.Eq(t, locks, pg.Distinct(locks))
	test.EqOp(t, NameKey("queue", "a"), keys[0])
	test.EqOp(t, "book", nameOf([]*task{{Work: &work{name: "book"}}, {Work: &work{name: "book"}}}))
	test.EqOp(t, "batch.mixed", nameOf([]*task{{Work: &work{name: "book"}}, {Work: &work{name: "cancel"}}}))
}

// The defaults are those that the comments of Config name.
func TestNew_HasDefaults(t *testing.T) {
	t.Parallel()
	for width, want := range map[int][]int{0: {2, 12, 4096}, 20: {20, 20, 4096}} {
		b := New(Config{Width: width}).batcher
		test.Eq(t, want, []int{b.Width, b.Widest, b.Depth})
	}
	test.EqOp(t, 7, New(Config{QueueDepth: 7}).batcher.Depth)
}

// A sweep finds all, a chunk at a time, even if it can do nothing about some. It returns the first error.
func TestInChunks_FindsAll(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first, second := errors.New("first"), errors.New("second")
	for name, tt := range map[string]struct {
		ids    int
		fails  map[int]error // chunks, from 1
		stops  bool          // after the first chunk
		breaks bool          // reading the second
		want   []int         // lengths of the chunks
		err    error
	}{
		"none":             {0, nil, false, false, nil, nil},
		"one":              {1, nil, false, false, []int{1}, nil},
		"a whole chunk":    {100, nil, false, false, []int{100}, nil},
		"some":             {250, nil, false, false, []int{100, 100, 50}, nil},
		"some fail":        {250, map[int]error{1: first, 3: second}, false, false, []int{100, 100, 50}, first},
		"it stops":         {250, nil, true, false, []int{100}, nil},
		"it cannot read":   {250, nil, false, true, []int{100}, nil},
		"and failed first": {250, map[int]error{1: first}, false, true, []int{100}, first},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var got []int
		last := 0
		err := InChunks(ctx, s.Engine, s.caller, func(b *pg.Batch, after int, into *[]int) {
			sql := "select n from generate_series($1::int + 1, $2) n limit 100"
			if tt.breaks && after > 0 {
				sql += "/0"
			}
			pg.Collect(b.Queue(sql, after, tt.ids), into, pgx.RowTo[int])
		}, func(chunk []int) error {
			test.EqOp(t, last+1, chunk[0], test.Sprint(name))
			got, last = append(got, len(chunk)), chunk[len(chunk)-1]
			if tt.stops {
				cancel()
			}
			return tt.fails[len(got)]
		})
		test.Eq(t, tt.want, got, test.Sprint(name))
		if tt.breaks && tt.err == nil {
			test.EqOp(t, "22012", pg.Code(err), test.Sprint(name))
		} else {
			test.ErrorIs(t, err, tt.err, test.Sprint(name))
		}
		cancel()
	}
}

// The audit log has the caller, the time and the request of an act.
func TestTx_AuditRecordsCallerAndRequest(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	target := tenant.New[tenant.MemberID](time.Now())
	s.caller.Member = tenant.New[tenant.MemberID](time.Now())
	var at, found time.Time
	audits := act{do: func(_ context.Context, tx *Tx) error {
		at = tx.Now
		tx.Audit("member.update", "member", target.UUID, "moved", map[string]any{"after": "x"})
		return nil
	}}
	ctx := WithRequest(t.Context(), Request{ID: "r1", Address: "192.0.2.1", Client: "kiosk"})
	expect.OK(t)(RunBatched(ctx, s.Engine, s.caller, audits.batched()))
	expect.OK(t)(Transact(ctx, s.Engine, s.caller, Transaction{Name: "test"}, audits.Run))
	rows, _ := s.db.Owner.Query(t.Context(), `select concat_ws(' ', actor, actor_subject, action, target_kind, target_id,
		reason, changes, request_id, address, client), occurred_at from audit_entries order by occurred_at`)
	texts := expect.Value(pgx.CollectRows(rows, func(row pgx.CollectableRow) (text string, err error) {
		return text, row.Scan(&text, &found)
	}))(t)
	want := s.caller.Member.String() + " test member.update member " + target.String() +
		` moved {"after": "x"} r1 192.0.2.1 kiosk`
	test.Eq(t, []string{want, want}, texts)
	test.Eq(t, at, found.UTC())
}
