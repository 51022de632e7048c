package pg_test

import (
	"embed"
	"io/fs"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/tenant"
)

//go:embed testdata/*.sql
var testdata embed.FS

// schema is small and this package's own, so that its tests fail for its own reasons.
func schema() fs.FS {
	files, err := fs.Sub(testdata, "testdata")
	if err != nil {
		panic(err)
	}
	return files
}

// bundle is a database with one tenant to work in.
type bundle struct {
	*pgtest.DB
	scope pg.Scope
}

func setup(t *testing.T, adapt ...func(*pg.Config)) *bundle {
	t.Helper()
	return &bundle{DB: pgtest.NewFrom(t, schema(), adapt...), scope: newScope()}
}

var epoch = time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)

func newScope() pg.Scope { return pg.Scope{Tenant: tenant.New[tenant.TenantID](epoch)} }

func newID() tenant.SessionID { return tenant.New[tenant.SessionID](epoch) }

// insert makes one row of counters, as the owner.
func (b *bundle) insert(t *testing.T) tenant.SessionID {
	t.Helper()
	id := newID()
	if _, err := b.Owner.Exec(t.Context(), "insert into counters (tenant_id, id) values ($1, $2)", b.scope.Tenant, id); err != nil {
		t.Fatal(err)
	}
	return id
}

func (b *bundle) taken(t *testing.T, id tenant.SessionID) (taken int) {
	t.Helper()
	if err := b.Owner.QueryRow(t.Context(), "select taken from counters where tenant_id = $1 and id = $2", b.scope.Tenant, id).Scan(&taken); err != nil {
		t.Fatal(err)
	}
	return taken
}

const (
	selectTaken = "select taken from counters where tenant_id = $1 and id = $2"
	takeOne     = "update counters set taken = taken + 1 where tenant_id = $1 and id = $2"
)
