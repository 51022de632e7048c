package pg_test

import (
	"bytes"
	"errors"
	"maps"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/pressly/goose/v3/lock"

	"github.com/berthhq/berth/internal/pg"
)

// files is the schema of this package's tests with more migrations. An empty text takes one away.
func files(t *testing.T, more map[string]string) fstest.MapFS {
	t.Helper()
	all := make(fstest.MapFS)
	for name, text := range readAll(t) {
		all[name] = &fstest.MapFile{Data: text}
	}
	for name, text := range more {
		all[name] = &fstest.MapFile{Data: []byte(text)}
	}
	maps.DeleteFunc(all, func(_ string, file *fstest.MapFile) bool { return len(file.Data) == 0 })
	return all
}

const (
	things = "00001_things.sql"
	gates  = "-- +goose Up\ncreate table gates (n int);\n"
)

func (b *bundle) exec(t *testing.T, sql string) {
	t.Helper()
	if _, err := b.Owner.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func (b *bundle) has(t *testing.T, table string) (yes bool) {
	t.Helper()
	if err := b.Owner.QueryRow(t.Context(), "select to_regclass($1) is not null", table).Scan(&yes); err != nil {
		t.Fatal(err)
	}
	return yes
}

// Each database has migration 1 applied, as it stands in testdata.
func TestSchemasAreCompared(t *testing.T) {
	t.Parallel()
	text := readAll(t)[things]
	apply := func(versions string) string {
		return "insert into goose_db_version (version_id, is_applied, digest) select v, true, sha256('') from unnest(array[" + versions + "]) v"
	}
	for name, test := range map[string]struct {
		applied string            // what happened to the database
		known   map[string]string // what the program has beside testdata
		want    error
		says    string
	}{
		"the same":                      {},
		"the same, checked out by DOS":  {known: map[string]string{things: string(bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")))}},
		"one is to come":                {known: map[string]string{"00002_gates.sql": gates}, want: pg.ErrSchemaBehind, says: "00002_gates.sql has not been applied"},
		"edited":                        {known: map[string]string{things: string(text) + "-- and so on\n", "00002_gates.sql": gates}, want: pg.ErrSchemaAltered, says: things + " was applied with another text"},
		"newer":                         {applied: apply("7"), want: pg.ErrSchemaAhead, says: "migration 7, which is not known here"},
		"newer and edited":              {applied: apply("7"), known: map[string]string{things: string(text) + "\n"}, want: pg.ErrSchemaAltered, says: things},
		"passed over":                   {applied: apply("7"), known: map[string]string{"00002_gates.sql": gates, "00007_gate.sql": gates}, want: pg.ErrSchemaAltered, says: "00002_gates.sql was left out before 7"},
		"unknown, and before the next":  {applied: apply("2"), known: map[string]string{"00003_gates.sql": gates}, want: pg.ErrSchemaAltered, says: "migration 2, which is not known here"},
		"applied twice":                 {applied: apply("1"), known: map[string]string{"00002_gates.sql": gates}, want: pg.ErrSchemaAltered, says: "migration 1"},
		"applied by something else":     {applied: "update goose_db_version set digest = null", known: map[string]string{"00002_gates.sql": gates}, want: pg.ErrSchemaAltered, says: "of " + things + " it keeps no digest"},
		"from before digests were kept": {applied: "alter table goose_db_version drop digest", known: map[string]string{"00002_gates.sql": gates}, want: pg.ErrSchemaAltered, says: "kept no digests"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			if test.applied != "" {
				b.exec(t, test.applied)
			}
			known := files(t, test.known)
			checks := func(what string, err, want error) {
				t.Helper()
				if !errors.Is(err, want) || want != nil && !strings.Contains(err.Error(), test.says) {
					t.Errorf("%s says %v, want %v", what, err, want)
				}
			}
			checks("CheckSchema", b.CheckSchema(t.Context(), known), test.want)
			want := test.want
			if errors.Is(want, pg.ErrSchemaBehind) {
				want = nil
			}
			checks("Migrate", pg.Migrate(t.Context(), b.URL, known, nil), want)
			if want == nil {
				checks("CheckSchema of what is migrated", b.CheckSchema(t.Context(), known), nil)
			}
			if made := b.has(t, "gates"); made != errors.Is(test.want, pg.ErrSchemaBehind) {
				t.Errorf("another table was made: %t", made)
			}
		})
	}
}

// Wherever a migrator is stopped, the database is known for what it is, and the next one goes on from there.
func TestSchemaOfAMigrationThatStopped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	u, err := url.Parse(b.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.Path += "_empty"
	name := strings.TrimPrefix(u.Path, "/")
	b.exec(t, "create database "+name)
	defer b.exec(t, "drop database "+name+" with (force)")
	db, err := pg.Open(t.Context(), pg.Config{URL: u.String(), ReadConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	stranger, err := pg.Open(t.Context(), pg.Config{URL: u.String(), ReadConns: 1, Role: "berth_nobody"})
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()

	const (
		broken = "-- +goose Up\ncreate table gates (n int);\nselect 1/0;\n"
		cutOff = "-- +goose Up\ncreate table gates (n int);\nselect pg_terminate_backend(pg_backend_pid());\n"
	)
	whole := files(t, map[string]string{"00002_gates.sql": gates})
	checks := func(db *pg.DB, says string) {
		t.Helper()
		if err := db.CheckSchema(t.Context(), whole); !errors.Is(err, pg.ErrSchemaBehind) || !strings.HasSuffix(err.Error(), says) {
			t.Errorf("got %v, want one that ends with %q", err, says)
		}
	}
	migrate := func(known fstest.MapFS, code string) {
		t.Helper()
		if err := pg.Migrate(t.Context(), u.String(), known, nil); err == nil || pg.Code(err) != code {
			t.Errorf("got %v, want %s", err, code)
		}
	}
	checks(stranger, "nothing has been migrated yet")
	checks(db, "nothing has been migrated yet")
	migrate(files(t, map[string]string{things: broken}), "22012")
	checks(db, "nothing has been migrated yet") // but the list of migrations is there
	migrate(files(t, map[string]string{"00002_gates.sql": broken}), "22012")
	checks(db, "00002_gates.sql has not been applied")
	migrate(files(t, map[string]string{"00002_gates.sql": cutOff}), "57P01")
	checks(db, "00002_gates.sql has not been applied")
	if err := pg.Migrate(t.Context(), u.String(), whole, nil); err != nil {
		t.Fatal(err)
	}
	if err := db.CheckSchema(t.Context(), whole); err != nil {
		t.Error(err)
	}
}

// Another draft's migrator is at work, and has not come far, when this one looks for the first time.
func TestMigratingBesideAnotherDraft(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other, err := b.Owner.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Release()
	if _, err := other.Exec(t.Context(), "select pg_advisory_lock($1)", lock.DefaultLockID); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		done <- pg.Migrate(t.Context(), b.URL, files(t, map[string]string{"00002_doors.sql": gates, "00003_gates.sql": gates}), nil)
	}()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for waits := false; !waits; {
		select {
		case err := <-done:
			t.Fatalf("it did not wait: %v", err)
		case <-again.C:
		}
		err := b.Owner.QueryRow(t.Context(), "select exists (select from pg_stat_activity where datname = current_database() and query ilike 'select pg_try_advisory_lock%')").Scan(&waits)
		if err != nil {
			t.Fatal(err)
		}
	}
	b.exec(t, "insert into goose_db_version (version_id, is_applied, digest) values (2, true, sha256(''))")
	if _, err := other.Exec(t.Context(), "select pg_advisory_unlock($1)", lock.DefaultLockID); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, pg.ErrSchemaAltered) || !strings.Contains(err.Error(), "00002_doors.sql") {
		t.Errorf("got %v", err)
	}
	if b.has(t, "gates") {
		t.Error("two drafts were mixed")
	}
}
