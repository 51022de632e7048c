package data

import (
	"crypto/md5"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

//go:embed testdata/more.sql
var moreRows string

var (
	now   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	start = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	day   = civil.Date{Year: 2026, Month: 3, Day: 2}
)

// id is the id that the rows have by a name.
func id[I ~struct{ tenant.UUID }](name string) I { return I{uuid(name)} }

// ids returns the ids with names, which are separated by spaces.
func ids[I ~struct{ tenant.UUID }](names string) []I {
	var all []I
	for name := range strings.FieldsSeq(names) {
		all = append(all, id[I](name))
	}
	return all
}

// uuid is what the SQL function id returns. No name is no id.
func uuid(name string) tenant.UUID {
	if name == "" {
		return tenant.UUID{}
	}
	return md5.Sum([]byte(name))
}

// names are the names of ids in the rows.
var names = strings.Fields(`tenant location resource service item plan workout member device account key series session
subscription booking line unit entry waiting round offer decision notice delivery audit batch code display screen other
third fourth fifth sixth seventh transfer receiver second changed sign_in`)

// hashed are the texts whose hashes are in the rows.
var hashed = strings.Fields("abroad address claim code feed h key other request s secret x")

// readable replaces ids by their names, and hashes by # and their texts.
var readable = func() *strings.Replacer {
	var pairs []string
	for _, name := range names {
		pairs = append(pairs, uuid(name).String(), name)
	}
	for _, text := range hashed {
		pairs = append(pairs, hex.EncodeToString(sha(text)), "#"+text)
	}
	return strings.NewReplacer(pairs...)
}()

// sha is the SHA-256 of a text, as the SQL function hash returns it.
func sha(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

// queue is the queue of most sessions.
var queue = waitlist.Queue{
	Location: id[tenant.LocationID]("location"), Service: id[tenant.ServiceID]("service"), Date: day,
}

// byRow makes the planner read tables in the order of their rows, so that no index has the order that a statement asks
// for, and execute without compiling, which takes longer. It is for new connections.
const byRow = `
do $$
declare
  setting text;
begin
  foreach setting in array '{enable_indexscan,enable_indexonlyscan,enable_bitmapscan,jit}'::text[] loop
    execute format('alter database %I set %s = off', current_database(), setting);
  end loop;
end
$$`

type args []any

// A read is a call of a function that reads, and what it finds, in order. An argument that is a text names ids. What
// follows the arguments is where the function puts what it finds.
type read struct {
	function any
	with     args
	want     string
}

var reads = slices.Concat(
	catalogReads, accountReads, scheduleReads, bookingReads, waitlistReads, messageReads, coreReads,
)

// changedReads are reads in the tenant "changed".
var changedReads = slices.Concat(changedBookingReads, changedWaitlistReads)

// Each function reads the rows that its comment promises, in that order, and no others. In a tenant without rows it
// finds what it finds in a database without rows.
func TestReads_FindTheirRowsInOrder(t *testing.T) {
	t.Parallel()
	db, empty := fill(t), pgtest.New(t)
	expect.OK(t)(db.Owner.Exec(t.Context(), byRow))
	for where, reads := range map[string][]read{"tenant": reads, "changed": changedReads} {
		for _, r := range reads {
			said := test.Sprintf("%s %+v of %s", nameOf(reflect.ValueOf(r.function)), r.with, where)
			test.EqOp(t, r.want, r.find(t, db, where), said)
			test.EqOp(t, r.find(t, empty, "tenant"), r.find(t, db, "nowhere"), said)
		}
	}
}

// find calls the function in a tenant, and returns what it found.
func (r read) find(t *testing.T, db *pgtest.DB, where string) string {
	t.Helper()
	var (
		batch pg.Batch
		found []string
	)
	in, function := id[tenant.TenantID](where), reflect.ValueOf(r.function)
	call, into := []reflect.Value{reflect.ValueOf(&batch), reflect.ValueOf(in)}, []reflect.Value(nil)
	for i := 2; i < function.Type().NumIn(); i++ {
		typ := function.Type().In(i)
		switch {
		case i-2 < len(r.with):
			call = append(call, argument(typ, r.with[i-2]))
		case typ.Kind() == reflect.Func:
			call = append(call, reflect.MakeFunc(typ, func(one []reflect.Value) []reflect.Value {
				found = append(found, show(one[0]))
				return nil
			}))
		case typ.Kind() == reflect.Map:
			call = append(call, reflect.MakeMap(typ))
			into = append(into, call[i])
		default:
			call = append(call, reflect.New(typ.Elem()))
			into = append(into, call[i])
		}
	}
	function.Call(call)
	if batch.Len() == 0 {
		return "no statement"
	}
	if err := db.ReadBatch(t.Context(), pg.Scope{Tenant: in}, &batch); err != nil {
		return err.Error()
	}
	for _, value := range into {
		found = append(found, show(value))
	}
	return strings.Join(found, "; ")
}

// fill creates a database with the rows of testdata.
func fill(t *testing.T) *pgtest.DB {
	t.Helper()
	db := pgtest.New(t)
	expect.OK(t)(db.Owner.Exec(t.Context(),
		string(expect.Value(os.ReadFile("../../migrations/testdata/rows.sql"))(t))+moreRows,
		pgx.QueryExecModeSimpleProtocol))
	return db
}

func nameOf(function reflect.Value) string {
	return path.Base(runtime.FuncForPC(function.Pointer()).Name())
}

// argument converts an argument to the type of its parameter. A text names ids.
func argument(typ reflect.Type, arg any) reflect.Value {
	text, isText := arg.(string)
	value := reflect.New(typ).Elem()
	switch {
	case !isText || typ.Kind() == reflect.String:
		return reflect.ValueOf(arg).Convert(typ)
	case typ.Kind() == reflect.Slice:
		for name := range strings.FieldsSeq(text) {
			value = reflect.Append(value, argument(typ.Elem(), name))
		}
		return value
	case typ.Kind() == reflect.Struct:
		value.Field(0).Set(reflect.ValueOf(uuid(text)))
		return value
	default:
		return reflect.ValueOf(uuid(text))
	}
}

// joined are fields that a statement reads from other tables, which show what they join.
var joined = strings.Fields("From To Keys Roles Leads Tried Offers Workouts")

// show returns the names of the ids that were found, or the values of what has none, by the names of the fields that
// are not zero.
func show(v reflect.Value) string {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return "none"
	}
	switch value := v.Interface().(type) {
	case time.Time:
		return value.UTC().Format("02T15:04")
	case civil.Date:
		return value.String()
	case coredb.Violation:
		return readable.Replace(value.Row + "/" + value.Detail)
	case grant.Role:
		return fmt.Sprintf("%s:%d:%t", value.Name, value.Holders, len(value.Permissions) > 0)
	case messagedb.Subject:
		return value.Title + value.Plan + "," + value.Location + "," + value.Coach
	case waitlistdb.Rival:
		return readable.Replace(fmt.Sprintf("%s>%s:%s:%s:%s/%s:%t", value.Of, value.Entry, value.Slot.Session,
			value.Slot.StartsAt.UTC().Format("02T15:04"), value.Slot.ServiceName, value.Slot.LocationName, value.Window != nil))
	case booking.BenefitMembership:
		return show(v.FieldByName("Member"))
	case bookingdb.Utilization:
		value.ID, value.Name = tenant.UUID{}, show(reflect.ValueOf(value.ID))
		return strings.ReplaceAll(fmt.Sprint(value), value.ID.String()+" ", "")
	case messagedb.OpenNotice:
		return readable.Replace(fmt.Sprint(value.ID, " ", value.Was))
	case scheduledb.Scheduled:
		return show(reflect.ValueOf(value.Session))
	case bookingdb.Moving:
		return readable.Replace(fmt.Sprint(value.ID, ":", value.Exclusive))
	case credit.Subscription:
		return fmt.Sprintf("%s:%s:%d:%d",
			readable.Replace(value.ID.String()), value.Plan.Name, value.UsedToday, value.UsedThisWeek)
	case []byte:
		return readable.Replace(hex.EncodeToString(value))
	case fmt.Stringer:
		if name := readable.Replace(value.String()); name != value.String() {
			return name
		}
	}
	var parts []string
	switch v.Kind() {
	case reflect.Pointer:
		return show(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			parts = append(parts, show(v.Index(i)))
		}
		switch v.Interface().(type) {
		case []coredb.Violation, []waitlist.Queue, []waitlistdb.WaitlistPart, []waitlistdb.Rival: // they have no order
			slices.Sort(parts)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			parts = append(parts, show(key)+"="+show(v.MapIndex(key)))
		}
		slices.Sort(parts)
	case reflect.Struct:
		if id := v.FieldByName("ID"); id.IsValid() {
			parts = append(parts, show(id))
			for _, name := range joined {
				if field := v.FieldByName(name); field.IsValid() {
					parts = append(parts, "["+show(field)+"]")
				}
			}
			return strings.Join(parts, " ")
		}
		for _, field := range reflect.VisibleFields(v.Type()) {
			if value := v.FieldByIndex(field.Index); field.IsExported() && !field.Anonymous && !value.IsZero() {
				parts = append(parts, field.Name+"="+show(value))
			}
		}
		return "{" + strings.Join(parts, " ") + "}"
	default:
		return readable.Replace(fmt.Sprint(v))
	}
	return strings.Join(parts, " ")
}
