package mutate

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// The catalog gives a mutant for each guard of the database, and each can be applied.
func TestSchemaMutants_ListEveryGuard(t *testing.T) {
	t.Parallel()
	product, err := filepath.Abs("../../..")
	must.NoError(t, err)
	all, err := schemaMutants(t.Context(), product)
	must.NoError(t, err)
	kinds := make(map[Kind]int)
	var statements []string
	for _, m := range all {
		kinds[m.Kind]++
		statements = append(statements, m.Schema)
	}
	for _, kind := range []Kind{DBCheck, DBUnique, DBForeign, DBExclusion, DBPolicy, DBSecurity, DBPrivilege} {
		test.GreaterEq(t, 2, kinds[kind], test.Sprint(kind))
	}
	for _, f := range fixed { // these are of the same kinds
		if f.Schema != "" && !strings.Contains(f.Schema, ", ") {
			test.SliceContains(t, statements, f.Schema)
		}
	}

	const apply = `create function applied(statement text) returns text language plpgsql as $$
begin
	execute statement;
	raise exception 'undo';
exception when others then
	return nullif(sqlerrm, 'undo');
end $$`
	for i, s := range statements {
		statements[i] = "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	var failures []struct {
		Statement, Failure string
	}
	must.NoError(t, ask(t.Context(), product, "select s as statement, applied(s) as failure from unnest(array["+
		strings.Join(statements, ", ")+"]) s", apply, &failures))
	test.SliceLen(t, len(all), failures)
	for _, f := range failures {
		test.EqOp(t, "", f.Failure, test.Sprint(f.Statement))
	}
}
