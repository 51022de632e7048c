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
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/migrations"
)

const (
	editBookings = "update goose_db_version set digest = sha256('another draft') where version_id = 6"
	addNewer     = "insert into goose_db_version (version_id, is_applied, digest) values (99999, true, sha256(''))"
	edited       = "00006_bookings.sql was applied with different text"
)

// Commands reject a schema of another version and say what to do, except nodes during an upgrade.
func TestCommands_RejectSchemaOfAnotherVersion(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ done, says, advice string }{
		"another draft": {editBookings, edited, "cannot be upgraded in place: start with an empty one"},
		"newer": {
			addNewer, "the schema is newer than this program: it has migration 99999",
			"use the berth version that migrated this database, or a newer one",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, data := pgtest.New(t), t.TempDir()
			makeKeys(t, data)
			expect.OK(t)(db.Owner.Exec(t.Context(), tt.done))
			commands := [][]string{
				{"migrate"},
				{"dev", "--data", data, "--listen", "127.0.0.1:0"},
				{"doctor", "--data", data},
				{"verify"},
				{"tenant", "create", "--name", "A", "--time-zone", "UTC", "--owner-subject", "a", "--owner-name", "A"},
			}
			if tt.done == editBookings {
				commands = append(commands, []string{"serve", "--data", data, "--listen", "127.0.0.1:0"},
					[]string{"worker", "--data", data, "--listen", "127.0.0.1:0", "--public-url", "https://berth.example"})
			}
			for _, args := range commands {
				c := start(t, append(args, "--database-url", db.URL)...)
				status := c.wait(t)
				said := c.out.String() + c.err.String()
				test.EqOp(t, 1, status, test.Sprintf("%s: status %d, and it says %s", args[0], status, said))
				test.StrContains(t, said, tt.says, test.Sprintf("%s: status %d, and it says %s", args[0], status, said))
				test.StrContains(t, said, tt.advice,
					test.Sprintf("%s: status %d, and it says %s", args[0], status, said))
			}
		})
	}
}

func TestDev_ResetsOnlyTheDatabaseInTheDataFolder(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	c := start(t, "dev", "--reset", "--database-url", db.URL, "--data", t.TempDir(), "--listen", "127.0.0.1:0")
	status := c.wait(t)
	test.EqOp(t, 1, status, test.Sprintf("status %d, and it says %s", status, c.err))
	test.StrContains(t, c.err.String(), "--reset deletes only the database in the data folder",
		test.Sprintf("status %d, and it says %s", status, c.err))
}

// becomes waits until a server says with a status whether it is ready.
func becomes(t *testing.T, address string, want int, after string) {
	t.Helper()
	eventually(t, "what it says after "+after, func() bool {
		status, _ := get(t, address+"/readyz")
		return status == want
	})
}

// A server keeps working during an upgrade. It is not ready if the database is replaced by another.
func TestReadyz_FailsForAnotherSchema(t *testing.T) {
	t.Parallel()
	db, data := pgtest.New(t), t.TempDir()
	_, address := startServe(t, db, data)
	becomes(t, address, http.StatusOK, "its keys were read")
	for _, step := range []struct {
		does string
		want int
	}{
		{addNewer, http.StatusOK},
		{"alter table goose_db_version rename to away", http.StatusServiceUnavailable},
		{"alter table away rename to goose_db_version", http.StatusOK},
		{editBookings, http.StatusServiceUnavailable},
	} {
		expect.OK(t)(db.Owner.Exec(t.Context(), step.does))
		becomes(t, address, step.want, step.does)
	}
}

// During an upgrade, an old node may have to restart.
func TestServe_StartsWithANewerSchema(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	expect.OK(t)(db.Owner.Exec(t.Context(), addNewer))
	_, address := startServe(t, db, t.TempDir())
	becomes(t, address, http.StatusOK, "it has started")
}

// The database in the data folder has edited migrations, as after switching branches.
func TestDev_AdvisesOnADatabaseOfAnotherVersion(t *testing.T) {
	t.Parallel()
	data := pgtest.TempDir(t)
	postgres := startDurable(t, data, 0)
	must.NoError(t, pg.Migrate(t.Context(), postgres.URL, migrations.FS, nil))
	owner := expect.Value(pgx.Connect(t.Context(), postgres.URL))(t)
	expect.OK(t)(owner.Exec(t.Context(), editBookings))
	must.NoError(t, owner.Close(t.Context()))
	must.NoError(t, postgres.Stop())

	out := newTranscript()
	dev := exec.CommandContext(t.Context(), os.Args[0], "dev", "--data", data, "--listen", "127.0.0.1:0", "--no-demo")
	dev.Env = append(os.Environ(), "BERTH_TEST_AS_COMMAND=1", "DATABASE_URL=")
	dev.Stdout, dev.Stderr = out, out
	_ = dev.Run()
	said := out.String()
	test.EqOp(t, 1, dev.ProcessState.ExitCode(), test.Sprintf("status %d:\n%s", dev.ProcessState.ExitCode(), said))
	test.StrNotContains(t, said, "ready at", test.Sprintf("status %d:\n%s", dev.ProcessState.ExitCode(), said))
	for _, want := range []string{
		edited, "\n    berth dev --data " + data + " --reset ", "\n    rm -rf " + postgres.Data + "\n",
		"berth dev --data FOLDER",
	} {
		test.StrContains(t, said, want, test.Sprintf("no %q in\n%s", want, said))
	}
	for _, left := range []string{filepath.Join(postgres.Data, "postmaster.pid"), filepath.Join(data, "dev.json")} {
		test.FileNotExists(t, left)
	}

	// The advice works: once with --reset, then without.
	for _, reset := range [][]string{{"--reset"}, nil} {
		c := start(t, append([]string{
			"dev", "--database-url=", "--data", data, "--listen", "127.0.0.1:0", "--no-demo",
		}, reset...)...)
		becomes(t, c.out.after(t, "ready at "), http.StatusOK, "it has started")
		c.stop()
		test.EqOp(t, 0, c.wait(t))
		test.EqOp(t, (reset != nil), strings.Contains(c.out.String(), "removing the database cluster"),
			test.Sprintf("with %q it says %s", reset, c.out))
	}
}

func TestShellQuoted_MakesOneWord(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/a/b-c_d.e": "/a/b-c_d.e", "/my data": "'/my data'", "/it's": `'/it'\''s'`, "/$x": "'/$x'", "": "''",
	} {
		test.EqOp(t, want, shellQuoted(path), test.Sprintf("%s is quoted as", path))
		out := expect.Value(exec.CommandContext(
			context.Background(), "sh", "-c", "printf %s "+want,
		).Output())(t)
		test.EqOp(t, path, string(out), test.Sprintf("a shell reads %s as %q", want, out))
	}
}
