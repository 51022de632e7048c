package migrations_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// history has the tables to which rows are only added.
var history = []string{
	"audit_entries", "credit_entries", "events", "payment_entries", "waitlist_decisions", "waitlist_rules_versions",
}

// crossing has the tables that operators' jobs read across tenants.
var crossing = []string{"directory", "shared_contacts", "sign_in_addresses"}

// The database itself keeps tenants apart and history unchanged, on every table, whatever the service sends.
func TestTables_AreIsolatedAndHistoryIsAppendOnly(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	type table struct {
		Name, Policies, Rights string
		Secured, Forced, Owned bool
	}
	rows := expect.Value(db.Owner.Query(t.Context(), `
select c.relname as name, c.relrowsecurity as secured, c.relforcerowsecurity as forced,
  pg_has_role('berth_app', c.relowner, 'member') as owned,
  coalesce((select string_agg(
      concat_ws(' ', p.policyname, p.permissive, p.roles, p.cmd, 'using', p.qual, 'check', p.with_check),
    E'\n' order by p.policyname) from pg_policies p where p.tablename = c.relname), '') as policies,
  (select coalesce(string_agg(r, ' ' order by r), '') from unnest(array[
    'SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) r
    where has_table_privilege('berth_app', c.oid, r)
      or r in ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')
        and has_any_column_privilege('berth_app', c.oid, r)) as rights
from pg_class c
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f') order by c.relname`))(t)
	tables := expect.Value(pgx.CollectRows(rows, pgx.RowToStructByName[table]))(t)
	const (
		same   = "(tenant_id = ( SELECT current_tenant() AS current_tenant))"
		tenant = "tenant PERMISSIVE {public} ALL using " + same + " check " + same
		jobs   = "operator PERMISSIVE {public} SELECT " +
			"using (current_setting('app.operator'::text, true) = 'on'::text) check\n"
	)
	missing := slices.Concat(history, crossing)
	for _, got := range tables {
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == got.Name })
		want := table{Name: got.Name, Policies: tenant, Rights: "DELETE INSERT SELECT UPDATE", Secured: true, Forced: true}
		switch {
		case got.Name == "goose_db_version": // has no data of tenants
			want = table{Name: got.Name, Rights: "SELECT"}
		case slices.Contains(history, got.Name):
			want.Rights = "INSERT SELECT"
		case slices.Contains(crossing, got.Name):
			want.Policies = jobs + tenant
		}
		test.Eq(t, want, got, test.Sprint(got.Name))
	}
	test.GreaterEq(t, 40, len(tables), test.Sprintf("%d tables; missing %s", len(tables), missing))
	test.SliceEmpty(t, missing, test.Sprintf("%d tables; missing %s", len(tables), missing))
}

// The role of the service has no power that would lift its restrictions.
func TestRole_CannotBypassPolicies(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	powers := make(map[string]bool)
	rows := expect.Value(db.Owner.Query(t.Context(), `
select key, value::boolean from pg_roles r,
  jsonb_each_text(to_jsonb(r) - '{oid,rolname,rolconnlimit,rolpassword,rolvaliduntil,rolconfig,rolinherit}'::text[])
where r.rolname = 'berth_app'
union all
select 'runs as its owner: ' || p.proname, true from pg_proc p
where p.pronamespace = 'public'::regnamespace and p.prosecdef
union all
select 'creates in public', has_schema_privilege('berth_app', 'public', 'CREATE')`))(t)
	var power string
	var has bool
	expect.OK(t)(pgx.ForEachRow(rows, []any{&power, &has}, func() error { powers[power] = has; return nil }))
	for _, power := range slices.Sorted(maps.Keys(powers)) {
		test.False(t, powers[power], test.Sprintf("berth_app has %s", strings.TrimPrefix(power, "rol")))
	}
	_, listed := powers["rolbypassrls"]
	test.True(t, listed, test.Sprintf("powers: %v", powers))
}
