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
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// migrationsWith returns the migrations of this package's tests and some more. An empty text removes one.
func migrationsWith(t *testing.T, more map[string]string) fstest.MapFS {
	t.Helper()
	all := make(fstest.MapFS)
	for name, text := range migrationFiles(t) {
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

func (f *fixture) has(t *testing.T, table string) (yes bool) {
	t.Helper()
	f.scan(t, "select to_regclass($1) is not null", []any{table}, &yes)
	return yes
}

// Each test database has migration 1 from testdata.
func TestCheckSchema_ComparesMigrations(t *testing.T) {
	t.Parallel()
	text := migrationFiles(t)[things]
	apply := func(versions string) string {
		return `insert into goose_db_version (version_id, is_applied, digest)
			select v, true, sha256('') from unnest(array[` + versions + `]) v`
	}
	dos := string(bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")))
	next := map[string]string{"00002_gates.sql": gates}
	for name, tc := range map[string]struct {
		applied string            // what happened to the database
		known   map[string]string // the program's migrations other than testdata
		want    error
		says    string
	}{
		"the same": {},
		"the same with DOS line endings": {
			known: map[string]string{things: dos}},
		"one is pending": {
			known: next, want: pg.ErrSchemaBehind, says: "00002_gates.sql has not been applied"},
		"two are pending, with the names in another order": {
			known: map[string]string{"10_gates.sql": gates, "9_doors.sql": strings.ReplaceAll(gates, "gates", "doors")},
			want:  pg.ErrSchemaBehind, says: "9_doors.sql has not been applied"},
		"edited": {
			known: map[string]string{things: string(text) + "-- and so on\n", "00002_gates.sql": gates},
			want:  pg.ErrSchemaMismatch, says: things + " was applied with different text"},
		"newer": {
			applied: apply("7"), want: pg.ErrSchemaAhead, says: "migration 7, which this program does not know"},
		"newer and edited": {
			applied: apply("7"), known: map[string]string{things: string(text) + "\n"},
			want: pg.ErrSchemaMismatch, says: things},
		"skipped": {
			applied: apply("7"), known: map[string]string{"00002_gates.sql": gates, "00007_gate.sql": gates},
			want: pg.ErrSchemaMismatch, says: "00002_gates.sql was skipped, 7 has been applied"},
		"unknown, and before the next": {
			applied: apply("2"), known: map[string]string{"00003_gates.sql": gates},
			want: pg.ErrSchemaMismatch, says: "migration 2, which this program does not know"},
		"applied twice": {
			applied: apply("1"), known: next, want: pg.ErrSchemaMismatch, says: "migration 1"},
		"applied by another tool": {
			applied: "update goose_db_version set digest = null", known: next,
			want: pg.ErrSchemaMismatch, says: "it has no digest of " + things},
		"without digests": {
			applied: "alter table goose_db_version drop digest", known: next,
			want: pg.ErrSchemaMismatch, says: "it has no digests"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.exec(t, tc.applied)
			known := migrationsWith(t, tc.known)
			checks := func(what string, err, want error) {
				t.Helper()
				test.ErrorIs(t, err, want, test.Sprint(what))
				test.True(t, want == nil || strings.Contains(err.Error(), tc.says), test.Sprint(what, ": ", err))
			}
			checks("CheckSchema", b.CheckSchema(t.Context(), known), tc.want)
			want := tc.want
			if errors.Is(want, pg.ErrSchemaBehind) {
				want = nil
			}
			checks("Migrate", pg.Migrate(t.Context(), b.URL, known, nil), want)
			if want == nil {
				checks("CheckSchema after Migrate", b.CheckSchema(t.Context(), known), nil)
			}
			test.EqOp(t, errors.Is(tc.want, pg.ErrSchemaBehind), b.has(t, "gates"), test.Sprint("the table gates exists"))
		})
	}
}

// At any point at which a migrator stops, CheckSchema finds what is missing, and the next migrator continues there.
func TestCheckSchema_RecognizesInterruptedMigration(t *testing.T) {
	t.Parallel()
	b := setup(t)
	u := expect.Value(url.Parse(b.URL))(t)
	u.Path += "_empty"
	name := strings.TrimPrefix(u.Path, "/")
	b.exec(t, "create database "+name)
	defer b.exec(t, "drop database "+name+" with (force)")
	db := expect.Value(pg.Open(t.Context(), pg.Config{URL: u.String(), ReadConns: 1}))(t)
	defer db.Close()
	stranger := expect.Value(pg.Open(t.Context(), pg.Config{URL: u.String(), ReadConns: 1, Role: "berth_nobody"}))(t)
	defer stranger.Close()

	const (
		broken = "-- +goose Up\ncreate table gates (n int);\nselect 1/0;\n"
		cutOff = "-- +goose Up\ncreate table gates (n int);\n" +
			"select pg_terminate_backend(pg_backend_pid());\n"
	)
	whole := migrationsWith(t, map[string]string{"00002_gates.sql": gates})
	checks := func(db *pg.DB, says string) {
		t.Helper()
		err := db.CheckSchema(t.Context(), whole)
		test.ErrorIs(t, err, pg.ErrSchemaBehind)
		test.StrHasSuffix(t, says, err.Error())
	}
	migrate := func(known fstest.MapFS, code string) {
		t.Helper()
		test.EqOp(t, code, pg.Code(pg.Migrate(t.Context(), u.String(), known, nil)))
	}
	checks(stranger, "no migration has been applied")
	checks(db, "no migration has been applied")
	migrate(migrationsWith(t, map[string]string{things: broken}), "22012")
	checks(db, "no migration has been applied") // but the table of versions exists
	migrate(migrationsWith(t, map[string]string{"00002_gates.sql": broken}), "22012")
	checks(db, "00002_gates.sql has not been applied")
	migrate(migrationsWith(t, map[string]string{"00002_gates.sql": cutOff}), "57P01")
	checks(db, "00002_gates.sql has not been applied")
	must.NoError(t, pg.Migrate(t.Context(), u.String(), whole, nil))
	test.NoError(t, db.CheckSchema(t.Context(), whole))
}

// When this migrator looks for the first time, one with other migrations is running and has not got far.
func TestMigrate_RefusesConcurrentOtherVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := expect.Value(b.Owner.Acquire(t.Context()))(t)
	defer other.Release()
	expect.OK(t)(other.Exec(t.Context(), "select pg_advisory_lock($1)", lock.DefaultLockID))
	done := make(chan error, 1)
	doors := migrationsWith(t, map[string]string{"00002_doors.sql": gates, "00003_gates.sql": gates})
	go func() { done <- pg.Migrate(t.Context(), b.URL, doors, nil) }()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for waits := false; !waits; {
		select {
		case err := <-done:
			t.Fatalf("it did not wait: %v", err)
		case <-again.C:
		}
		b.scan(t, `select exists (select from pg_stat_activity
			where datname = current_database() and query ilike 'select pg_try_advisory_lock%')`, nil, &waits)
	}
	b.exec(t, "insert into goose_db_version (version_id, is_applied, digest) values (2, true, sha256(''))")
	expect.OK(t)(other.Exec(t.Context(), "select pg_advisory_unlock($1)", lock.DefaultLockID))
	err := <-done
	test.ErrorIs(t, err, pg.ErrSchemaMismatch)
	test.ErrorContains(t, err, "00002_doors.sql")
	test.False(t, b.has(t, "gates"), test.Sprint("two versions of the migrations were mixed"))
}
