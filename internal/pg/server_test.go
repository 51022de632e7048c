package pg_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/testkit/expect"
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
	files := fstest.MapFS{"00002_gates.sql": {Data: []byte(counter)}}
	for name, file := range migrationFiles(t) {
		files[name] = &fstest.MapFile{Data: file}
	}
	lines := make(chan string, 8)
	errs := make(chan error)
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
	broken := fstest.MapFS{"00003_broken.sql": {Data: []byte(half)}}
	maps.Copy(broken, files)
	err := pg.Migrate(t.Context(), b.URL, broken, nil)
	test.EqOp(t, "22012", pg.Code(err), test.Sprintf("got %v", err))
	test.False(t, b.has(t, "pieces"), test.Sprint("half a migration was kept"))
}

func migrationFiles(t *testing.T) map[string][]byte {
	t.Helper()
	entries, err := testdata.ReadDir("testdata")
	must.NoError(t, err)
	all := make(map[string][]byte)
	for _, entry := range entries {
		if all[entry.Name()], err = testdata.ReadFile("testdata/" + entry.Name()); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestDoctor_FindsWrongSettings(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *pg.Config) { c.CommandConns = 100_000 })
	findings, err := b.Doctor(t.Context())
	must.NoError(t, err)
	var login string
	must.NoError(t, b.Owner.QueryRow(t.Context(), "select current_user").Scan(&login))
	found := func(findings []pg.Finding, setting string) bool {
		return slices.ContainsFunc(findings, func(f pg.Finding) bool { return f.Setting == setting })
	}
	test.True(
		t, found(findings, "max_connections") && found(findings, "login role "+login) &&
			!found(findings, "role berth_app"),
		test.Sprintf("found %v", findings),
	)
	for _, f := range findings {
		test.True(
			t, f.Have != "" && f.Want != "" && strings.HasSuffix(f.Why, ".") && strings.Contains(f.String(), f.Have),
			test.Sprintf("%+v lacks something", f),
		)
	}
	asOwner := expect.Value(pg.Open(t.Context(), pg.Config{URL: b.URL, Role: login}))(t)
	defer asOwner.Close()
	if findings, err = asOwner.Doctor(t.Context()); err != nil || !found(findings, "role "+login) {
		t.Errorf("a superuser as the runtime role was not found: %v (%v)", findings, err)
	}
}

func TestOpen_RejectsInvalidConfig(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := pg.Open(t.Context(), pg.Config{URL: "postgres://%"})
	test.Error(t, err, test.Sprint("an invalid URL was accepted"))
	registry := prometheus.NewRegistry()
	first := expect.Value(pg.Open(t.Context(), pg.Config{URL: b.URL, Registerer: registry}))(t)
	_, err = pg.Open(t.Context(), pg.Config{URL: b.URL, Registerer: registry})
	test.Error(t, err, test.Sprint("two databases share a registry"))
	first.Close()
	again, err := pg.Open(t.Context(), pg.Config{URL: b.URL, Registerer: registry})
	must.NoError(t, err, must.Sprint("Close left metrics registered"))
	again.Close()
}
