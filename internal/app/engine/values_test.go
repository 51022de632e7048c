package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/pg"
)

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
	test.EqOp(t, "make", nameOf([]*task{{Work: &work{name: "make"}}, {Work: &work{name: "make"}}}))
	test.EqOp(t, "batch.mixed", nameOf([]*task{{Work: &work{name: "make"}}, {Work: &work{name: "delete"}}}))
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
