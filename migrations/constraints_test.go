package migrations_test

import (
	_ "embed"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/testkit/expect"
)

var (
	//go:embed testdata/rows.sql
	validRows string
	//go:embed testdata/refused.sql
	refusedRows string
)

// Each check, key, foreign key and exclusion refuses a row by itself, whatever the service sends.
func TestConstraints_EachRefusesARow(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	expect.OK(t)(db.Owner.Exec(t.Context(), validRows, pgx.QueryExecModeSimpleProtocol))
	rows := expect.Value(db.Owner.Query(t.Context(), `
select conname from pg_constraint
where connamespace = 'public'::regnamespace and contype in ('c', 'f', 'p', 'u', 'x')
  and conrelid <> 'goose_db_version'::regclass
union
select indexrelid::regclass::text from pg_index
where indisunique and indrelid in (
    select oid from pg_class where relnamespace = 'public'::regnamespace and relname <> 'goose_db_version')
order by 1`))(t)
	constraints := expect.Value(pgx.CollectRows(rows, pgx.RowTo[string]))(t)
	var tested []string
	for line := range strings.Lines(refusedRows) {
		statement, name, ok := strings.Cut(strings.TrimSpace(line), "; -- ")
		if !ok {
			continue
		}
		tested = append(tested, name)
		// The statements form one transaction, which always fails.
		_, err := db.Owner.Exec(t.Context(), "set constraints all immediate; "+statement+
			"; do $$ begin raise exception 'accepted'; end $$", pgx.QueryExecModeSimpleProtocol)
		var refused *pgconn.PgError
		must.True(t, errors.As(err, &refused), must.Sprint(err))
		test.EqOp(t, name, refused.ConstraintName, test.Sprint(statement, err))
	}
	slices.Sort(tested)
	test.Eq(t, constraints, tested)
}
