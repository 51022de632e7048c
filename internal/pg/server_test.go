package pg_test

import (
	"errors"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

func TestMigrate_AppliesOnceWithConcurrentMigrators(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const counter = `-- +goose Up
create table gates (n int);
insert into gates values (1);
-- +goose Down
drop table gates;
`
	files := migrationsWith(t, map[string]string{"00002_gates.sql": counter})
	lines, errs := make(chan string, 8), make(chan error)
	for range 2 {
		go func() { errs <- pg.Migrate(t.Context(), b.URL, files, func(line string) { lines <- line }) }()
	}
	must.NoError(t, errors.Join(<-errs, <-errs))
	close(lines)
	var applied []string
	for line := range lines {
		applied = append(applied, strings.Join(strings.Fields(line)[:2], " "))
	}
	test.Eq(t, []string{"migrated 00002_gates.sql"}, applied)
	const half = "-- +goose Up\ncreate table pieces (n int);\nselect 1/0;\n"
	broken := migrationsWith(t, map[string]string{"00002_gates.sql": counter, "00003_broken.sql": half})
	test.EqOp(t, "22012", pg.Code(pg.Migrate(t.Context(), b.URL, broken, nil)))
	test.False(t, b.has(t, "pieces"), test.Sprint("half a migration was kept"))
	test.Error(t, pg.Migrate(t.Context(), "postgres://%", files, nil))
	nameless := migrationsWith(t, map[string]string{"gates.sql": counter})
	test.ErrorContains(t, pg.Migrate(t.Context(), b.URL, nameless, nil), "gates.sql")
	test.ErrorContains(t, b.CheckSchema(t.Context(), nameless), "migration gates.sql: ")
	test.ErrorIs(t, b.CheckSchema(t.Context(), fstest.MapFS{things: {Mode: fs.ModeDir}}), fs.ErrInvalid)
	test.Error(t, pg.Migrate(t.Context(), b.URL,
		migrationsWith(t, map[string]string{"00002_gates.sql": counter, "00002_doors.sql": counter}), nil))
}

func migrationFiles(t *testing.T) map[string][]byte {
	t.Helper()
	all := make(map[string][]byte)
	for _, entry := range expect.Value(testdata.ReadDir("testdata"))(t) {
		all[entry.Name()] = expect.Value(testdata.ReadFile("testdata/" + entry.Name()))(t)
	}
	return all
}

// Each finding names a setting that is wrong, and one that is right is not found. Servers of tests give up durability.
func TestDoctor_FindsWrongSettings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var login, boss, blind string
	b.scan(t, "select current_user, current_database() || '_boss', current_database() || '_blind'", nil,
		&login, &boss, &blind)
	b.exec(t, "create role "+boss+" superuser; create role "+blind+" bypassrls")
	defer b.exec(t, "drop role "+boss+", "+blind)
	unsafe := map[string]string{
		"fsync": "off, want on", "full_page_writes": "off, want on", "synchronous_commit": "off, want on",
	}
	for name, tt := range map[string]struct {
		differ      vary.Fields
		connections int // three are reserved
		want        map[string]string
	}{
		"for tests": {nil, 397, map[string]string{"login role " + login: "superuser, want a plain member of berth_app"}},
		"few connections": {nil, 398, map[string]string{
			"max_connections": "400, want at least 401", "login role " + login: "superuser, want a plain member of berth_app",
		}},
		"a superuser": {vary.Fields{"Role": login}, 1, map[string]string{
			"role " + login: "superuser, want neither superuser nor bypassing row-level security",
		}},
		"a role that sees all": {vary.Fields{"Role": blind}, 1, map[string]string{
			"role " + blind:       "bypassing row-level security, want neither superuser nor bypassing row-level security",
			"login role " + login: "superuser, want a plain member of " + blind,
		}},
	} {
		config := pg.Config{URL: b.URL, CommandConns: 1, ReadConns: 1}
		db := expect.Value(pg.Open(t.Context(), vary.From(config, tt.differ)))(t)
		got := make(map[string]string)
		for _, f := range expect.Value(db.Doctor(t.Context(), tt.connections))(t) {
			got[f.Setting] = f.Have + ", want " + f.Want
			test.StrHasSuffix(t, ".", f.Why)
			test.StrContains(t, f.String(), f.Have)
		}
		maps.Copy(tt.want, unsafe)
		test.Eq(t, tt.want, got, test.Sprint(name))
		db.Close()
	}
}

func TestOpen_RejectsInvalidConfig(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []pg.Config{{URL: "postgres://%"}, {URL: b.URL, CommandConns: -1}, {URL: b.URL, ReadConns: -1}} {
		test.Error(t, expect.Error(pg.Open(t.Context(), c)))
	}
	shared := pg.Config{URL: b.URL, Registerer: prometheus.NewRegistry()}
	first := expect.Value(pg.Open(t.Context(), shared))(t)
	test.Error(t, expect.Error(pg.Open(t.Context(), shared)), test.Sprint("two databases share a registry"))
	test.Eq(t, map[string]float64{
		"berth_pool_connections_max pool=command": 16, "berth_pool_connections_max pool=read": 8,
	}, expect.Metrics(t, shared.Registerer.(prometheus.Gatherer), "berth_pool_connections_max"))
	pool := expect.Value(first.OpenPool(t.Context(), 1, nil))(t)
	defer pool.Close()
	var limits string
	must.NoError(t, pool.QueryRow(t.Context(), `select concat_ws(' ', current_setting('statement_timeout'),
		current_setting('lock_timeout'), current_setting('idle_in_transaction_session_timeout'),
		current_setting('application_name'))`).Scan(&limits))
	test.EqOp(t, "10s 5s 15s berth", limits)
	first.Close()
	again := expect.Value(pg.Open(t.Context(), shared))(t) // Close left no metrics registered
	again.Close()
	test.ErrorContains(t, again.InTx(t.Context(), newScope(), "test", nil), "closed pool")
	test.ErrorContains(t, again.Read(t.Context(), newScope(), nil), "closed pool")
}
