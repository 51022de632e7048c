package pg_test

import (
	"context"
	"embed"
	"io/fs"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

//go:embed testdata/*.sql
var testdata embed.FS

// schema is this package's own small schema, so its tests do not depend on the application's.
func schema() fs.FS {
	files, err := fs.Sub(testdata, "testdata")
	if err != nil {
		panic(err)
	}
	return files
}

// fixture is a database with one tenant.
type fixture struct {
	*pgtest.DB

	scope pg.Scope
}

func setup(t *testing.T, adapt ...func(*pg.Config)) *fixture {
	t.Helper()
	return &fixture{DB: pgtest.NewFrom(t, schema(), adapt...), scope: newScope()}
}

var epoch = time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)

func newScope() pg.Scope { return pg.Scope{Tenant: tenant.New[tenant.TenantID](epoch)} }

func newID() tenant.SessionID { return tenant.New[tenant.SessionID](epoch) }

// body is what a transaction does.
type body = func(ctx context.Context, tx *pg.Tx) error

func (f *fixture) inTx(t *testing.T, fn body, options ...pg.Option) error {
	t.Helper()
	return f.InTx(t.Context(), f.scope, "test", fn, options...)
}

func (f *fixture) inRead(t *testing.T, fn func(ctx context.Context, tx *pg.ReadTx) error) error {
	t.Helper()
	return f.Read(t.Context(), f.scope, fn)
}

// writes queues a statement, and then returns an error.
func writes(err error, sql string, args ...any) body {
	return func(_ context.Context, tx *pg.Tx) error {
		tx.Write(sql, args...)
		return err
	}
}

// exec runs a statement as the owner.
func (f *fixture) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	expect.OK(t)(f.Owner.Exec(t.Context(), sql, args...))
}

// scan reads a row as the owner.
func (f *fixture) scan(t *testing.T, sql string, args []any, targets ...any) {
	t.Helper()
	must.NoError(t, f.Owner.QueryRow(t.Context(), sql, args...).Scan(targets...))
}

// insert adds one row to counters as the owner.
func (f *fixture) insert(t *testing.T) tenant.SessionID {
	t.Helper()
	id := newID()
	f.exec(t, "insert into counters (tenant_id, id) values ($1, $2)", f.scope.Tenant, id)
	return id
}

func (f *fixture) taken(t *testing.T, id tenant.SessionID) (taken int) {
	t.Helper()
	f.scan(t, selectTaken, []any{f.scope.Tenant, id}, &taken)
	return taken
}

const (
	selectTaken = "select taken from counters where tenant_id = $1 and id = $2"
	takeOne     = "update counters set taken = taken + 1 where tenant_id = $1 and id = $2"
)

// querier is a transaction that can read: *pg.Tx or *pg.ReadTx.
type querier interface {
	Load(ctx context.Context, batch *pg.Batch) error
}

// execute sends one statement.
func execute(ctx context.Context, tx querier, sql string, args ...any) error {
	var batch pg.Batch
	batch.Queue(sql, args...)
	return tx.Load(ctx, &batch)
}

// queryRow sends one statement when the row is scanned.
func queryRow(ctx context.Context, tx querier, sql string, args ...any) pgx.Row {
	return rowFunc(func(targets ...any) error {
		var batch pg.Batch
		batch.Queue(sql, args...).Scan(targets...)
		return tx.Load(ctx, &batch)
	})
}

type rowFunc func(targets ...any) error

func (f rowFunc) Scan(targets ...any) error { return f(targets...) }
