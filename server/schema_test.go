package main

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/migrations"
)

const (
	editBookings = "update goose_db_version set digest = sha256('another draft') where version_id = 4"
	addNewer     = "insert into goose_db_version (version_id, is_applied, digest) values (99999, true, sha256(''))"
	edited       = "00004_bookings.sql was applied with different text"
)

// Commands reject a schema of another version and say what to do, except nodes during an upgrade.
func TestCommands_RejectSchemaOfAnotherVersion(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ done, says, advice string }{
		"another draft": {editBookings, edited, "cannot be upgraded in place: start with an empty one"},
		"newer": {
			addNewer, "the schema is newer than this program: it has migration 99999",
			"use the berth version that migrated this database, or a newer one",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, data := pgtest.New(t), t.TempDir()
			if _, err := db.Owner.Exec(t.Context(), test.done); err != nil {
				t.Fatal(err)
			}
			commands := [][]string{
				{"migrate"},
				{"dev", "--data", data, "--listen", "127.0.0.1:0"},
				{"doctor", "--data", data},
				{"verify"},
				{"tenant", "create", "--name", "A", "--time-zone", "UTC", "--owner-subject", "a", "--owner-name", "A"},
			}
			if test.done == editBookings {
				commands = append(commands, []string{"serve", "--data", data, "--listen", "127.0.0.1:0"},
					[]string{"worker", "--data", data, "--listen", "127.0.0.1:0", "--public-url", "https://berth.example"})
			}
			for _, args := range commands {
				c := start(t, append(args, "--database-url", db.URL)...)
				status := c.wait(t)
				if said := c.out.String() + c.err.String(); status != 1 || !strings.Contains(
					said, test.says,
				) || !strings.Contains(said, test.advice) {
					t.Errorf("%s: status %d, and it says %s", args[0], status, said)
				}
			}
		})
	}
}

func TestDev_ResetsOnlyTheDatabaseInTheDataFolder(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	c := start(t, "dev", "--reset", "--database-url", db.URL, "--data", t.TempDir(), "--listen", "127.0.0.1:0")
	if status := c.wait(t); status != 1 || !strings.Contains(
		c.err.String(), "--reset deletes only the database in the data folder",
	) {
		t.Errorf("status %d, and it says %s", status, c.err)
	}
}

// A server keeps working during an upgrade. It is not ready if the database is replaced by another.
func TestReadyz_FailsForAnotherSchema(t *testing.T) {
	t.Parallel()
	db, data := pgtest.New(t), t.TempDir()
	_, address := startServe(t, db, data)
	becomes := func(want int, after string) {
		t.Helper()
		eventually(t, "what it says after "+after, func() bool {
			status, _ := get(t, address+"/readyz")
			return status == want
		})
	}
	becomes(http.StatusOK, "its keys were read")
	for _, step := range []struct {
		does string
		want int
	}{
		{addNewer, http.StatusOK},
		{"alter table goose_db_version rename to away", http.StatusServiceUnavailable},
		{"alter table away rename to goose_db_version", http.StatusOK},
		{editBookings, http.StatusServiceUnavailable},
	} {
		if _, err := db.Owner.Exec(t.Context(), step.does); err != nil {
			t.Fatal(err)
		}
		becomes(step.want, step.does)
	}
}

// During an upgrade, an old node may have to restart.
func TestServe_StartsWithANewerSchema(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	if _, err := db.Owner.Exec(t.Context(), addNewer); err != nil {
		t.Fatal(err)
	}
	_, address := startServe(t, db, t.TempDir())
	eventually(t, "it is ready", func() bool {
		status, _ := get(t, address+"/readyz")
		return status == http.StatusOK
	})
}

// The database in the data folder has edited migrations, as after switching branches.
func TestDev_AdvisesOnADatabaseOfAnotherVersion(t *testing.T) {
	t.Parallel()
	data := pgtest.TempDir(t)
	postgres := startDurable(t, data, 0)
	if err := pg.Migrate(t.Context(), postgres.URL, migrations.FS, nil); err != nil {
		t.Fatal(err)
	}
	owner, err := pgx.Connect(t.Context(), postgres.URL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := owner.Exec(t.Context(), editBookings); err != nil {
		t.Fatal(err)
	}
	if err := owner.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := postgres.Stop(); err != nil {
		t.Fatal(err)
	}

	out := newTranscript()
	dev := exec.CommandContext(t.Context(), os.Args[0], "dev", "--data", data, "--listen", "127.0.0.1:0", "--no-demo")
	dev.Env = append(os.Environ(), "BERTH_TEST_AS_COMMAND=1", "DATABASE_URL=")
	dev.Stdout, dev.Stderr = out, out
	_ = dev.Run()
	said := out.String()
	if dev.ProcessState.ExitCode() != 1 || strings.Contains(said, "ready at") {
		t.Errorf("status %d:\n%s", dev.ProcessState.ExitCode(), said)
	}
	for _, want := range []string{
		edited, "\n    berth dev --data " + data + " --reset ", "\n    rm -rf " + postgres.Data + "\n",
		"berth dev --data FOLDER",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	for _, left := range []string{filepath.Join(postgres.Data, "postmaster.pid"), filepath.Join(data, "dev.json")} {
		if _, err := os.Stat(left); !os.IsNotExist(err) {
			t.Errorf("%s is left behind: %v", left, err)
		}
	}

	// The advice works: once with --reset, then without.
	for _, reset := range [][]string{{"--reset"}, nil} {
		c := start(t, append([]string{
			"dev", "--database-url=", "--data", data, "--listen", "127.0.0.1:0", "--no-demo",
		}, reset...)...)
		address := c.out.after(t, "ready at ")
		eventually(t, "it is ready", func() bool {
			status, _ := get(t, address+"/readyz")
			return status == http.StatusOK
		})
		c.stop()
		if status := c.wait(t); status != 0 {
			t.Errorf("status %d", status)
		}
		if thrown := strings.Contains(c.out.String(), "removing the database cluster"); thrown != (reset != nil) {
			t.Errorf("with %q it says %s", reset, c.out)
		}
	}
}

func TestShellQuoted_MakesOneWord(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/a/b-c_d.e": "/a/b-c_d.e", "/my data": "'/my data'", "/it's": `'/it'\''s'`, "/$x": "'/$x'", "": "''",
	} {
		if got := shellQuoted(path); got != want {
			t.Errorf("%s is quoted as %s, want %s", path, got, want)
		}
		if out, err := exec.CommandContext(
			context.Background(), "sh", "-c", "printf %s "+want,
		).Output(); err != nil || string(out) != path {
			t.Errorf("a shell reads %s as %q (%v)", want, out, err)
		}
	}
}
