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

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
)

func TestNew_GivesEachTestItsOwnDatabase(t *testing.T) { //nolint:tparallel // the end checks what the pair leaves
	t.Parallel()
	var names [2]string
	t.Run("pair", func(t *testing.T) {
		one, other := pgtest.New(t), pgtest.New(t)
		if _, err := one.Owner.Exec(t.Context(), "create table only_here (n int)"); err != nil {
			t.Fatal(err)
		}
		for i, db := range []*pgtest.DB{one, other} {
			var tables int
			var here bool
			err := db.Owner.QueryRow(t.Context(), `select current_database()::text, to_regclass('only_here') is not null,
				(select count(*) from pg_tables where schemaname = 'public')::int`).Scan(&names[i], &here, &tables)
			if err != nil {
				t.Fatal(err)
			}
			if here != (db == one) || tables < 3 {
				t.Errorf("%s has %d tables, only_here is there: %t", names[i], tables, here)
			}
		}
	})
	var left []string
	db := pgtest.New(t)
	rows, _ := db.Owner.Query(t.Context(), "select datname::text from pg_database where datname = any($1)", names[:])
	left, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(left) > 0 {
		t.Errorf("%v of %v were not dropped (%v)", left, names, err)
	}
}

func TestTemplate_IsFilledOnceAndCopiedForEachTest(t *testing.T) {
	t.Parallel()
	var template pgtest.Template
	filled := 0
	open := func() *pgtest.DB {
		return template.New(t, func(db *pgtest.DB) {
			filled++
			if _, err := db.Owner.Exec(t.Context(), "create table filled as select 1 as n"); err != nil {
				t.Fatal(err)
			}
		})
	}
	one, other := open(), open()
	if _, err := one.Owner.Exec(t.Context(), "insert into filled values (2)"); err != nil {
		t.Fatal(err)
	}
	for db, want := range map[*pgtest.DB]int{one: 2, other: 1} {
		var rows int
		if err := db.Owner.QueryRow(t.Context(), "select count(*) from filled").Scan(&rows); err != nil || rows != want {
			t.Errorf("%d rows, want %d (%v)", rows, want, err)
		}
	}
	if filled != 1 {
		t.Errorf("filled %d times", filled)
	}
}

func TestNew_OpensDatabaseAsRuntimeRole(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, func(c *pg.Config) { c.ApplicationName = "adapted" })
	pool, err := db.OpenPool(t.Context(), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var got [2]string
	row := pool.QueryRow(t.Context(), "select current_user::text, current_setting('application_name')")
	if err := row.Scan(&got[0], &got[1]); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([2]string{pg.DefaultRole, "adapted"}, got); diff != "" {
		t.Error(diff)
	}
}

// patience is how long a test waits for something quick. Only a failing test waits that long.
const patience = 10 * time.Minute

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
	if err := row.Scan(&r.Folder, &r.Database); err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // until the parent closes it
}

// process runs a child until it has its database. finish ends or kills it.
func process(t *testing.T, environment ...string) (r report, finish func(kill bool)) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHelperProcess$")
	cmd.Env = append(append(os.Environ(), child+"=1"), environment...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	line, err := lines.ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &r) != nil {
		t.Fatalf("the child printed %q (%v)", line, err)
	}
	return r, func(kill bool) {
		if kill {
			_ = cmd.Process.Kill()
		}
		in.Close()
		_, _ = io.Copy(io.Discard, lines)
		if err := cmd.Wait(); err != nil && !kill {
			t.Error(err)
		}
	}
}

// However a test process ends, its server stops and its folder is removed.
func TestNew_LeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string]bool{"at the end": false, "when killed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, finish := process(t, "TEST_DATABASE_URL=")
			conn, err := pgx.Connect(t.Context(), r.URL)
			if err != nil {
				t.Fatal(err)
			}
			finish(kill)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if _, err := conn.WaitForNotification(ctx); ctx.Err() != nil {
				t.Errorf("the server is still running: %v", err)
			}
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
	dev, err := pg.StartDevServer(t.Context(), pg.DevConfig{DataDir: pgtest.TempDir(t), Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dev.Stop() })
	given := "TEST_DATABASE_URL=" + dev.URL

	killed, kill := process(t, given)
	running, finish := process(t, given)
	kill(true)
	conn, err := pgx.Connect(t.Context(), dev.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	// The server takes a while to notice that the killed process is gone; this waits for it.
	run := killed.Database[:strings.LastIndex(killed.Database, "_")]
	if _, err := conn.Exec(t.Context(),
		"select pg_terminate_backend(pid, 120000) from pg_stat_activity where application_name = $1", run); err != nil {
		t.Fatal(err)
	}
	_, finishThird := process(t, given)
	rows, _ := conn.Query(t.Context(), "select datname::text from pg_database where datname in ($1, $2)",
		killed.Database, running.Database)
	left, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{running.Database}, left); diff != "" {
		t.Error(diff)
	}
	finishThird(false)
	finish(false)
	var tests, templates int
	if err := conn.QueryRow(t.Context(), `select count(*) filter (where datname like 'berth_test_%')::int,
		count(*) filter (where datname like 'berth_template_%')::int from pg_database`).
		Scan(&tests, &templates); err != nil {
		t.Fatal(err)
	}
	if templates != 1 || tests != 0 {
		t.Errorf("%d databases and %d templates are left", tests, templates)
	}
}
