package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/pg"
)

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
