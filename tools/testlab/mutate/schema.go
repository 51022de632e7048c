package mutate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// catalog lists the mutants of the migrated database. What depends on a constraint is dropped with it.
const catalog = `
with t as (
  select oid, relname from pg_class
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relname <> 'goose_db_version'
)
select t.relname as of, case c.contype when 'c' then 'check' when 'f' then 'foreign' when 'x' then 'exclusion'
    else 'unique' end as kind, c.conname as name,
    format('alter table %I drop constraint %I cascade', t.relname, c.conname) as statement,
    pg_get_constraintdef(c.oid) as guard
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

// question is a test that is added to those of the schema through an overlay: so the tool needs nothing of the product
// to migrate a database and to read it.
const question = `package %s_test

import (
	"os"
	"testing"

	"github.com/shoenig/test/must"

	"%s/internal/pgtest"
)

func TestQuestion(t *testing.T) {
	var answer []byte
	must.NoError(t, pgtest.New(t).Owner.QueryRow(t.Context(), os.Getenv("QUESTION")).Scan(&answer))
	must.NoError(t, os.WriteFile(os.Getenv("ANSWER"), answer, 0o600))
}
`

// ask returns the answer of a database to a query, as JSON. The database is migrated, and then edited.
func ask(ctx context.Context, root, query, edit string, answer any) (err error) {
	temp, err := os.MkdirTemp("", "berth-mutate-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	cmd := exec.CommandContext(ctx, "go", "list", "-m")
	cmd.Dir = root
	module, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list -m: %w", err)
	}
	text := fmt.Sprintf(question, database, strings.TrimSpace(string(module)))
	test := Mutant{ID: "question", File: database + "/question_test.go"}
	overlay, err := (&tester{temp: temp}).overlay(root, test, []byte(text))
	if err != nil {
		return err
	}
	cmd = exec.CommandContext(ctx, "go", "test", "-overlay", overlay, "-vet=off", "-count=1", "-run=^TestQuestion$",
		"./"+database)
	cmd.Dir = root
	path := filepath.Join(temp, "answer.json")
	cmd.Env = append(os.Environ(), "TEST_DATABASE_URL=", "BERTH_TEST_SCHEMA_EDIT="+edit,
		"QUESTION=select json_agg(q) from ("+query+") q", "ANSWER="+path)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("ask the migrated database: %w: %s", err, said)
	}
	read, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(read, answer)
}

// schemaMutants returns the mutants of the migrated database.
func schemaMutants(ctx context.Context, root string) ([]Mutant, error) {
	var rows []struct {
		Table     string `json:"of"`
		Kind      string `json:"kind"`
		Name      string `json:"name"`
		Statement string `json:"statement"`
		Guard     string `json:"guard"` // what is dropped
	}
	if err := ask(ctx, root, catalog, "", &rows); err != nil {
		return nil, err
	}
	all := make([]Mutant, len(rows))
	for i, row := range rows {
		all[i] = Mutant{
			ID: identify(row.Statement), Package: database, Function: row.Table, Kind: schemaKinds[row.Kind],
			Site: row.Name, Schema: row.Statement, Old: lines(row.Guard), New: []string{row.Statement}, block: -1,
		}
	}
	return all, nil
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
