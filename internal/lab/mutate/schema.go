package mutate

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/localpg"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/migrations"
)

// catalog lists the mutants of the migrated database. What depends on a constraint is dropped with it.
const catalog = `
with t as (
  select oid, relname from pg_class
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relname <> 'goose_db_version'
)
select t.relname, case c.contype when 'c' then 'check' when 'f' then 'foreign' when 'x' then 'exclusion'
    else 'unique' end, c.conname, format('alter table %I drop constraint %I cascade', t.relname, c.conname),
    pg_get_constraintdef(c.oid)
  from t join pg_constraint c on c.conrelid = t.oid and c.contype in ('c', 'f', 'x', 'u', 'p')
union all
select t.relname, 'unique', i.relname, format('drop index %I', i.relname), pg_get_indexdef(i.oid)
  from t join pg_index x on x.indrelid = t.oid and x.indisunique join pg_class i on i.oid = x.indexrelid
  where not exists (select from pg_constraint c where c.conindid = x.indexrelid and c.conrelid = t.oid)
union all
select t.relname, 'policy', p.polname, format('alter policy %I on %I using (true)', p.polname, t.relname)
    || case when p.polwithcheck is null then '' else ' with check (true)' end,
    'using ' || pg_get_expr(p.polqual, p.polrelid)
  from t join pg_policy p on p.polrelid = t.oid
union all
select t.relname, 'security', t.relname, format('alter table %I %s row level security', t.relname, f), null
  from t, unnest(array['disable', 'no force']) f
union all
select t.relname, 'privilege', t.relname, format('grant %s on %I to berth_app', r, t.relname), null
  from t, unnest(array['select', 'insert', 'update', 'delete', 'truncate']) r
  where not has_table_privilege('berth_app', t.oid, r)
order by 4`

// noRowSecurity turns off the policies, which hide that a statement lacks its term of the tenant.
const noRowSecurity = `
do $$
declare t text;
begin
  for t in select relname from pg_class where relnamespace = 'public'::regnamespace and relrowsecurity loop
    execute format('alter table %I disable row level security', t);
  end loop;
end $$`

var schemaKinds = map[string]Kind{
	"check": DBCheck, "foreign": DBForeign, "exclusion": DBExclusion, "unique": DBUnique, "policy": DBPolicy,
	"security": DBSecurity, "privilege": DBPrivilege,
}

// schemaMutants migrates a database of its own, and returns the mutants of what it finds there.
func schemaMutants(ctx context.Context) (_ []Mutant, err error) {
	folder, err := os.MkdirTemp("", "berth-mutate-")
	if err != nil {
		return nil, err
	}
	// Postgres can run as another user, who must be able to enter.
	if err := os.Chmod(folder, 0o711); err != nil { //nolint:gosec // secrets in it are 0600
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	server, err := localpg.Start(ctx, localpg.Config{DataDir: filepath.Join(folder, "postgres"), Fast: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	if err := pg.Migrate(ctx, server.URL, migrations.FS, nil); err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, server.URL)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, err := conn.Query(ctx, catalog)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (Mutant, error) {
		var table, kind, name, statement string
		var guard *string // what is dropped
		err := row.Scan(&table, &kind, &name, &statement, &guard)
		var old []string
		if guard != nil {
			old = lines(*guard)
		}
		return Mutant{
			ID: identify(statement), Package: database, Function: table, Kind: schemaKinds[kind], Site: name,
			Schema: statement, Old: old, New: []string{statement}, block: -1,
		}, err
	})
}

// nearest sorts the tests for a mutant of the database: those of the schema itself, then those that name what was
// changed, then those that name the table most often.
func nearest(root string, m Mutant, tests []target) error {
	type mentions struct{ name, table int }
	count := make(map[string]mentions)
	for _, p := range tests {
		folder := os.DirFS(filepath.Join(root, p.folder))
		err := fs.WalkDir(folder, ".", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := fs.ReadFile(folder, path)
			found := count[p.folder]
			found.name += strings.Count(string(text), m.Site)
			found.table += strings.Count(string(text), m.Function)
			count[p.folder] = found
			return err
		})
		if err != nil {
			return err
		}
	}
	slices.SortStableFunc(tests, func(a, b target) int {
		one, other := count[a.folder], count[b.folder]
		switch {
		case (a.folder == database) != (b.folder == database):
			if a.folder == database {
				return -1
			}
			return 1
		case one.name != other.name:
			return other.name - one.name
		default:
			return other.table - one.table
		}
	})
	return nil
}
