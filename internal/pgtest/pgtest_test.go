package pgtest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/localpg"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestNew_GivesEachTestItsOwnDatabase(t *testing.T) { //nolint:tparallel // the end checks what the pair leaves
	t.Parallel()
	var names [2]string
	t.Run("pair", func(t *testing.T) {
		one, other := pgtest.New(t), pgtest.New(t)
		expect.OK(t)(one.Owner.Exec(t.Context(), "create table only_here (n int)"))
		for i, db := range []*pgtest.DB{one, other} {
			var (
				tables int
				here   bool
			)
			row := db.Owner.QueryRow(t.Context(), `select current_database()::text, to_regclass('only_here') is not null,
				(select count(*) from pg_tables where schemaname = 'public')::int`)
			must.NoError(t, row.Scan(&names[i], &here, &tables))
			test.EqOp(t, (db == one), here,
				test.Sprintf("%s has %d tables, only_here is there: %t", names[i], tables, here))
			test.GreaterEq(t, 3, tables,
				test.Sprintf("%s has %d tables, only_here is there: %t", names[i], tables, here))
		}
	})
	var left []string
	db := pgtest.New(t)
	rows, _ := db.Owner.Query(t.Context(), "select datname::text from pg_database where datname = any($1)", names[:])
	left = expect.Value(pgx.CollectRows(rows, pgx.RowTo[string]))(t)
	test.True(t, len(left) == 0, test.Sprintf("%v of %v were not dropped", left, names))
}

func TestTemplate_IsFilledOnceAndCopiedForEachTest(t *testing.T) {
	t.Parallel()
	var template pgtest.Template
	filled := 0
	open := func() *pgtest.DB {
		return template.New(t, func(db *pgtest.DB) {
			filled++
			expect.OK(t)(db.Owner.Exec(t.Context(), "create table filled as select 1 as n"))
		})
	}
	one, other := open(), open()
	expect.OK(t)(one.Owner.Exec(t.Context(), "insert into filled values (2)"))
	for db, want := range map[*pgtest.DB]int{one: 2, other: 1} {
		var rows int
		err := db.Owner.QueryRow(t.Context(), "select count(*) from filled").Scan(&rows)
		test.NoError(t, err, test.Sprintf("%d rows, want %d (%v)", rows, want, err))
		test.EqOp(t, want, rows, test.Sprintf("%d rows, want %d (%v)", rows, want, err))
	}
	test.EqOp(t, 1, filled, test.Sprintf("filled %d times", filled))
}

func TestNew_OpensDatabaseAsRuntimeRole(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, func(c *pg.Config) { c.ApplicationName = "adapted" })
	pool := expect.Value(db.OpenPool(t.Context(), 1, nil))(t)
	defer pool.Close()
	var got [2]string
	row := pool.QueryRow(t.Context(), "select current_user::text, current_setting('application_name')")
	must.NoError(t, row.Scan(&got[0], &got[1]))
	test.Eq(t, [2]string{pg.DefaultRole, "adapted"}, got)
}

// timeout is how long a test waits for something quick. Only a failing test waits that long.
const timeout = 10 * time.Minute

// child is the environment variable that turns a child process of the test into a test process of its own.
const child = "BERTH_PGTEST_CHILD"

type report struct{ Folder, Database, URL string }

func TestHelperProcess(t *testing.T) {
	t.Parallel()
	if os.Getenv(child) == "" {
		return
	}
	db := pgtest.New(t)
	r := report{URL: db.URL}
	row := db.Owner.QueryRow(t.Context(), "select current_setting('data_directory'), current_database()::text")
	must.NoError(t, row.Scan(&r.Folder, &r.Database))
	must.NoError(t, json.NewEncoder(os.Stdout).Encode(r))
	expect.OK(t)(db.Owner.Exec(t.Context(), "select 1 /*marked 7*/"))
	_, _ = io.Copy(io.Discard, os.Stdin) // until the parent closes it
}

// process runs a child until it has its database. finish ends or kills it.
func process(t *testing.T, environment ...string) (r report, finish func(kill bool)) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHelperProcess$")
	cmd.Env = append(append(os.Environ(), child+"=1"), environment...)
	in := expect.Value(cmd.StdinPipe())(t)
	out := expect.Value(cmd.StdoutPipe())(t)
	must.NoError(t, cmd.Start())
	lines := bufio.NewReader(out)
	line := expect.Value(lines.ReadBytes('\n'))(t)
	must.Nil(t, json.Unmarshal(line, &r), must.Sprintf("the child printed %q", line))
	return r, func(kill bool) {
		if kill {
			_ = cmd.Process.Kill()
		}
		in.Close()
		_, _ = io.Copy(io.Discard, lines)
		err := cmd.Wait()
		test.False(t, err != nil && !kill, test.Sprint(err))
	}
}

// However a test process ends, its server stops and its folder is removed.
func TestNew_LeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string]bool{"at the end": false, "when killed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, finish := process(t, "TEST_DATABASE_URL=")
			conn := expect.Value(pgx.Connect(t.Context(), r.URL))(t)
			finish(kill)
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			_, err := conn.WaitForNotification(ctx)
			test.NoError(t, ctx.Err(), test.Sprintf("the server is still running: %v", err))
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for {
				if _, err := os.Stat(r.Folder); errors.Is(err, fs.ErrNotExist) {
					return
				}
				select {
				case <-tick.C:
				case <-ctx.Done():
					t.Fatalf("%s was not removed", r.Folder)
				}
			}
		})
	}
}

// Processes share a given server, and the next one removes what a killed one left behind.
func TestNew_SharesGivenServer(t *testing.T) {
	t.Parallel()
	dev := expect.Value(localpg.Start(t.Context(), localpg.Config{DataDir: pgtest.TempDir(t), Fast: true}))(t)
	t.Cleanup(func() { _ = dev.Stop() })
	given := "TEST_DATABASE_URL=" + dev.URL

	killed, kill := process(t, given)
	running, finish := process(t, given)
	kill(true)
	conn := expect.Value(pgx.Connect(t.Context(), dev.URL))(t)
	defer conn.Close(context.WithoutCancel(t.Context()))
	// The server takes a while to notice that the killed process is gone; this waits for it.
	run := killed.Database[:strings.LastIndex(killed.Database, "_")]
	expect.OK(t)(conn.Exec(t.Context(),
		"select pg_terminate_backend(pid, 120000) from pg_stat_activity where application_name = $1", run))
	_, finishThird := process(t, given)
	rows, _ := conn.Query(t.Context(), "select datname::text from pg_database where datname in ($1, $2)",
		killed.Database, running.Database)
	test.Eq(t, []string{running.Database}, expect.Value(pgx.CollectRows(rows, pgx.RowTo[string]))(t))
	finishThird(false)
	finish(false)
	var tests, templates int
	must.NoError(t, conn.QueryRow(t.Context(), `select count(*) filter (where datname like 'berth_test_%')::int,
		count(*) filter (where datname like 'berth_template_%')::int from pg_database`).
		Scan(&tests, &templates))
	test.EqOp(t, 1, templates, test.Sprintf("%d databases and %d templates are left", tests, templates))
	test.EqOp(t, 0, tests, test.Sprintf("%d databases and %d templates are left", tests, templates))
}

// A changed schema is that of one process: others, at the same time and later, have the one of the migrations.
func TestSchemaEdit_IsOfOneProcess(t *testing.T) {
	t.Parallel()
	changed, finish := process(t, "TEST_DATABASE_URL=", "BERTH_TEST_SCHEMA_EDIT=create table edited (n int)")
	defer finish(false)
	unchanged, finishOther := process(t, "TEST_DATABASE_URL=", "BERTH_TEST_SCHEMA_EDIT=")
	defer finishOther(false)
	for _, tc := range []struct {
		report

		want bool
	}{{changed, true}, {unchanged, false}} {
		conn := expect.Value(pgx.Connect(t.Context(), tc.URL))(t)
		defer conn.Close(context.WithoutCancel(t.Context()))
		var got bool
		must.NoError(t, conn.QueryRow(t.Context(), "select to_regclass('edited') is not null").Scan(&got))
		test.EqOp(t, tc.want, got, test.Sprint("edited is there"))
	}
}

// Marks in statements are printed if they are wanted, each in a line of its own.
func TestMarks_ArePrintedIfWanted(t *testing.T) {
	t.Parallel()
	for marks, want := range map[string]int{"marked": 1, "": 0} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHelperProcess$")
		cmd.Env = append(os.Environ(), child+"=1", "BERTH_TEST_MARKS="+marks)
		test.EqOp(t, want, strings.Count(string(expect.Value(cmd.Output())(t)), "\nmarked 7\n"), test.Sprint(marks))
	}
}
