package pg_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/internal/pg"
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
	if err := errors.Join(<-errs, <-errs); err != nil {
		t.Fatal(err)
	}
	close(lines)
	var applied []string
	for line := range lines {
		applied = append(applied, strings.Join(strings.Fields(line)[:2], " "))
	}
	if diff := cmp.Diff([]string{"migrated 00002_gates.sql"}, applied); diff != "" {
		t.Error(diff)
	}
	const half = "-- +goose Up\ncreate table pieces (n int);\nselect 1/0;\n"
	broken := fstest.MapFS{"00003_broken.sql": {Data: []byte(half)}}
	maps.Copy(broken, files)
	if err := pg.Migrate(t.Context(), b.URL, broken, nil); pg.Code(err) != "22012" {
		t.Errorf("got %v", err)
	}
	if b.has(t, "pieces") {
		t.Error("half a migration was kept")
	}
}

func migrationFiles(t *testing.T) map[string][]byte {
	t.Helper()
	entries, err := testdata.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	var login string
	if err := b.Owner.QueryRow(t.Context(), "select current_user").Scan(&login); err != nil {
		t.Fatal(err)
	}
	found := func(findings []pg.Finding, setting string) bool {
		return slices.ContainsFunc(findings, func(f pg.Finding) bool { return f.Setting == setting })
	}
	if !found(findings, "max_connections") || !found(findings, "login role "+login) || found(findings, "role berth_app") {
		t.Errorf("found %v", findings)
	}
	for _, f := range findings {
		if f.Have == "" || f.Want == "" || !strings.HasSuffix(f.Why, ".") || !strings.Contains(f.String(), f.Have) {
			t.Errorf("%+v lacks something", f)
		}
	}
	asOwner, err := pg.Open(t.Context(), pg.Config{URL: b.URL, Role: login})
	if err != nil {
		t.Fatal(err)
	}
	defer asOwner.Close()
	if findings, err = asOwner.Doctor(t.Context()); err != nil || !found(findings, "role "+login) {
		t.Errorf("a superuser as the runtime role was not found: %v (%v)", findings, err)
	}
}

func TestOpen_RejectsInvalidConfig(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if _, err := pg.Open(t.Context(), pg.Config{URL: "postgres://%"}); err == nil {
		t.Error("an invalid URL was accepted")
	}
	registry := prometheus.NewRegistry()
	first, err := pg.Open(t.Context(), pg.Config{URL: b.URL, Registerer: registry})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pg.Open(t.Context(), pg.Config{URL: b.URL, Registerer: registry}); err == nil {
		t.Error("two databases share a registry")
	}
	first.Close()
	again, err := pg.Open(t.Context(), pg.Config{URL: b.URL, Registerer: registry})
	if err != nil {
		t.Fatalf("Close left metrics registered: %v", err)
	}
	again.Close()
}
