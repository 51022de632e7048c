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

func TestMigrateOnceWhoeverComes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const counter = "-- +goose Up\ncreate table gates (n int);\ninsert into gates values (1);\n-- +goose Down\ndrop table gates;\n"
	files := fstest.MapFS{"00002_gates.sql": {Data: []byte(counter)}}
	for name, file := range readAll(t) {
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
	var told []string
	for line := range lines {
		told = append(told, strings.Join(strings.Fields(line)[:2], " "))
	}
	if diff := cmp.Diff([]string{"migrated 00002_gates.sql"}, told); diff != "" {
		t.Error(diff)
	}
	broken := fstest.MapFS{"00003_broken.sql": {Data: []byte("-- +goose Up\ncreate table pieces (n int);\nselect 1/0;\n")}}
	maps.Copy(broken, files)
	if err := pg.Migrate(t.Context(), b.URL, broken, nil); pg.Code(err) != "22012" {
		t.Errorf("got %v", err)
	}
	var exists bool
	if err := b.Owner.QueryRow(t.Context(), "select to_regclass('pieces') is not null").Scan(&exists); err != nil || exists {
		t.Errorf("half a migration was kept (%v)", err)
	}
}

func readAll(t *testing.T) map[string][]byte {
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

func TestDoctor(t *testing.T) {
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
			t.Errorf("%+v says too little", f)
		}
	}
	asOwner, err := pg.Open(t.Context(), pg.Config{URL: b.URL, Role: login})
	if err != nil {
		t.Fatal(err)
	}
	defer asOwner.Close()
	if findings, err = asOwner.Doctor(t.Context()); err != nil || !found(findings, "role "+login) {
		t.Errorf("a superuser as runtime role is not found: %v (%v)", findings, err)
	}
}

func TestOpenRefusesWhatCanNeverWork(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if _, err := pg.Open(t.Context(), pg.Config{URL: "postgres://%"}); err == nil {
		t.Error("a URL that is none was taken")
	}
	registry := prometheus.NewRegistry()
	first, err := pg.Open(t.Context(), pg.Config{URL: b.URL, Registerer: registry})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pg.Open(t.Context(), pg.Config{URL: b.URL, Registerer: registry}); err == nil {
		t.Error("two databases share their metrics")
	}
	first.Close()
	again, err := pg.Open(t.Context(), pg.Config{URL: b.URL, Registerer: registry})
	if err != nil {
		t.Fatalf("the first one's metrics outlived it: %v", err)
	}
	again.Close()
}
