package data

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// A write is a call of a function that writes, and the rows that it adds (+), deletes (-) and changes, with the new
// values, one in a line. Arguments are as in reads.
type write struct {
	function any
	with     args
	want     string
}

var writes = slices.Concat(
	catalogWrites, accountWrites, scheduleWrites, bookingWrites, waitlistWrites, messageWrites, coreWrites,
)

// errRollBack ends a transaction whose changes were seen.
var errRollBack = errors.New("seen")

// Each function writes the rows that its comment promises, and no others.
func TestWrites_ChangeTheirRowsOnly(t *testing.T) {
	t.Parallel()
	db := fill(t)
	in := id[tenant.TenantID]("tenant")
	for _, w := range writes {
		write := reflect.ValueOf(w.function)
		var changes []string
		err := db.InTx(t.Context(), pg.Scope{Tenant: in}, "test", func(ctx context.Context, tx *pg.Tx) error {
			call := []reflect.Value{reflect.ValueOf(tx), reflect.ValueOf(in)}
			for i, arg := range w.with {
				last := write.Type().NumIn() - 1
				if typ := write.Type().In(min(i+2, last)); write.Type().IsVariadic() && i+2 >= last {
					call = append(call, argument(typ.Elem(), arg))
				} else {
					call = append(call, argument(typ, arg))
				}
			}
			write.Call(call)
			tx.Write("set local jit = off") // compiling takes seconds
			pg.Collect(tx.Write("select change from changed order by change"), &changes, pgx.RowTo[string])
			return errors.Join(tx.Flush(ctx), errRollBack)
		})
		test.EqError(t, err, errRollBack.Error(), test.Sprint(nameOf(write)))
		changes = pg.Array(changes, readable.Replace)
		slices.Sort(changes)
		test.EqOp(t, strings.TrimPrefix(w.want, "\n"), strings.Join(changes, "\n"),
			test.Sprintf("%s %+v", nameOf(write), w.with))
	}
}
