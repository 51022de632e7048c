package mutate

import (
	"testing"

	"github.com/shoenig/test"
)

func TestMutants_ChangeSQLInGoCode(t *testing.T) {
	t.Parallel()
	code := "package a\nvar q = `select a from t where tenant_id = $1 and b < $2` + more\nvar more = \" order by b\"\n"
	want := []string{
		"sql: term dropped: var q = `select a from t where (true or (tenant_id = $1)) and b < $2` + more",
		"sql: comparison shifted: var q = `select a from t where tenant_id <> $1 and b < $2` + more",
		"sql: term dropped: var q = `select a from t where tenant_id = $1 and (true or (b < $2))` + more",
		"sql: comparison shifted: var q = `select a from t where tenant_id = $1 and b <= $2` + more",
		`sql: order changed: var more = " order by b desc"`,
	}
	test.Eq(t, want, mutantsOf(t, "internal/data/a", code))
	got := mutantsOf(t, "internal/rules/a", code)
	test.EqOp(t, 0, len(got), test.Sprintf("a package without SQL: %q", got))
}

func TestSQLChanges_ChangeOneThing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		sql  string
		want []string
	}{
		"between is one term": {
			"where a between $1 and $2 and b = any($3)",
			[]string{
				"where (true or (a between $1 and $2)) and b = any($3)",
				"where a between $1 and $2 and (true or (b = any($3)))",
				"where a between $1 and $2 and b <> any($3)",
			},
		},
		"a term of an or is false": {
			"where (a is null or f(b, 2) >= c)",
			[]string{
				"where (true or ((a is null or f(b, 2) >= c)))", "where (a is not null or f(b, 2) >= c)",
				"where (a is null or (false and (f(b, 2) >= c)))", "where (a is null or f(b, 2) > c)",
			},
		},
		"assignments stay": {
			"update t set a = 1, b = case when c = 2 then 3 end where d is not null returning e",
			[]string{
				"update t set a = 1, b = case when (true or (c = 2)) then 3 end where d is not null returning e",
				"update t set a = 1, b = case when c <> 2 then 3 end where d is not null returning e",
				"update t set a = 1, b = case when c = 2 then 3 end where (true or (d is not null)) returning e",
				"update t set a = 1, b = case when c = 2 then 3 end where d is null returning e",
			},
		},
		"conflicts are no terms": {
			"on conflict (a) do update set b = excluded.b where t.b is distinct from excluded.b",
			[]string{"on conflict (a) do update set b = excluded.b where (true or (t.b is distinct from excluded.b))"},
		},
		"orders": {
			"order by tenant_id, a desc, lower(b) nulls last limit nullif($1, 0)",
			[]string{
				"order by tenant_id, a asc, lower(b) nulls last limit nullif($1, 0)",
				"order by tenant_id, lower(b) nulls last limit nullif($1, 0)",
				"order by tenant_id, a desc, lower(b) desc nulls last limit nullif($1, 0)",
				"order by tenant_id, a desc limit nullif($1, 0)",
				"order by tenant_id, a desc, lower(b) nulls last limit 1000000000 + (nullif($1, 0))",
			},
		},
		"locks": {
			"order by id for no key update of b skip locked",
			[]string{
				"order by id desc for no key update of b skip locked", "order by id ", "order by id for no key update of b ",
			},
		},
		"a part ends where the next literal goes on": {"and a = any(", []string{"and a <> any("}},
		"comments and strings": {
			"-- and a = b\nwhere x in ('and y = z')", []string{"-- and a = b\nwhere (true or (x in ('and y = z')))"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, c := range sqlChanges(tc.sql) {
				got = append(got, string(apply([]byte(tc.sql), []edit{c.edit})))
			}
			test.Eq(t, tc.want, got)
		})
	}
}

func TestIsSQL_TellsStatementsFromSentences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"select a from t where b = $1": true, " and b.status = 'X'": true, "order by a": true, " limit 1": true,
		"offers from the waitlist and from staff": false, "and": false, "booking.create": false,
		"It is too late to %s: that was possible until %s hours before the start.": false,
	} {
		test.EqOp(t, want, isSQL(text), test.Sprintf("%q", text))
	}
}
