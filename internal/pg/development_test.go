package pg_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func start(t *testing.T, config pg.DevConfig) *pg.DevServer {
	t.Helper()
	dev := expect.Value(pg.StartDevServer(t.Context(), config))(t)
	t.Cleanup(func() { _ = dev.Stop() })
	return dev
}

// ask runs a statement on a server and scans its result into targets, if any.
func ask(t *testing.T, url, sql string, targets ...any) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	must.NoError(t, err)
	defer conn.Close(context.WithoutCancel(t.Context()))
	if len(targets) == 0 {
		_, err = conn.Exec(t.Context(), sql)
	} else {
		err = conn.QueryRow(t.Context(), sql).Scan(targets...)
	}
	must.NoError(t, err)
}

func TestStartDevelopment_KeepsData(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(pgtest.TempDir(t), "a", "folder with spaces")
	var progress []string
	config := pg.DevConfig{DataDir: dir, Progress: func(line string) { progress = append(progress, line) }}
	first := start(t, config)
	test.True(
		t, len(progress) == 1 && strings.Contains(progress[0], "creating a database cluster"),
		test.Sprintf("progress is %q", progress),
	)
	var fsync, locks, addresses, encoding string
	ask(t, first.URL, `select current_setting('fsync'), current_setting('max_pred_locks_per_transaction'),
		current_setting('listen_addresses'), current_setting('server_encoding')`,
		&fsync, &locks, &addresses, &encoding)
	test.True(
		t, fsync == "on" && locks == "1024" && addresses == "127.0.0.1" && encoding == "UTF8",
		test.Sprintf("fsync %s, max_pred_locks_per_transaction %s, listening on %s, %s", fsync, locks, addresses, encoding),
	)
	ask(t, first.URL, "create table kept (n int)")

	if _, err := pg.StartDevServer(t.Context(), config); err == nil || !strings.Contains(err.Error(), "another Berth") {
		t.Errorf("a second start on the same folder: %v", err)
	}
	must.NoError(t, first.Stop())
	test.NoError(t, first.Stop(), test.Sprint("stopping twice"))

	// A stale file with the process ID of another program must not prevent the start.
	stale := strconv.Itoa(os.Getpid()) + "\n" + dir + "\n"
	must.NoError(t, os.WriteFile(filepath.Join(first.Dir, "cluster", "postmaster.pid"), []byte(stale), 0o600))
	second := start(t, config)
	ask(t, second.URL, "insert into kept values (1)")
}

func TestStartDevelopment_ResetsCluster(t *testing.T) {
	t.Parallel()
	dir := pgtest.TempDir(t)
	var progress []string
	config := pg.DevConfig{
		DataDir: dir, Fast: true, Reset: true, Progress: func(line string) { progress = append(progress, line) },
	}
	first := start(t, config)
	test.True(
		t, len(progress) == 1 && !strings.Contains(progress[0], "removing"),
		test.Sprintf("there was nothing to remove, and progress is %q", progress),
	)
	ask(t, first.URL, "create table gone (n int)")
	if _, err := pg.StartDevServer(t.Context(), config); err == nil || !strings.Contains(err.Error(), "another Berth") {
		t.Errorf("reset under a running server: %v", err)
	}
	must.NoError(t, first.Stop())
	// This is what an interrupted removal leaves.
	must.NoError(t, os.MkdirAll(first.Data+".old/base", 0o700))
	progress = nil
	second := start(t, config)
	var gone bool
	ask(t, second.URL, "select to_regclass('gone') is null", &gone)
	test.True(
		t, gone && len(progress) == 2 && progress[0] == "removing the database cluster in "+first.Data,
		test.Sprintf("the table is gone: %t, progress is %q", gone, progress),
	)
	_, err := os.Stat(first.Data + ".old")
	test.True(t, os.IsNotExist(err), test.Sprintf("the old cluster was not removed: %v", err))
}

func TestStartDevelopment_ResetsOnlyItsOwnClusters(t *testing.T) {
	t.Parallel()
	for _, theirs := range []string{"cluster/PG_VERSION", "cluster/diary"} {
		dir := pgtest.TempDir(t)
		file := filepath.Join(dir, theirs)
		must.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.NoError(t, os.WriteFile(file, []byte("15\n"), 0o600))
		_, err := pg.StartDevServer(t.Context(), pg.DevConfig{DataDir: dir, Reset: true})
		test.True(t, err != nil && strings.Contains(err.Error(), "not removed"), test.Sprintf("%s: %v", theirs, err))
		_, err = os.Stat(file)
		test.NoError(t, err)
	}
}

// The path of a Unix socket has a short limit; the path of a folder has not.
func TestStartDevelopment_UsesTCPInDeepFolder(t *testing.T) {
	t.Parallel()
	shallow := start(t, pg.DevConfig{DataDir: pgtest.TempDir(t), Fast: true})
	deep := start(t, pg.DevConfig{DataDir: filepath.Join(pgtest.TempDir(t), strings.Repeat("deep", 25)), Fast: true})
	var none *string
	ask(t, shallow.URL, "select host(inet_client_addr())", &none)
	test.True(t, none == nil && shallow.URL != shallow.TCP, test.Sprintf("%s does not use a socket", shallow.URL))
	var loopback string
	for _, url := range []string{shallow.TCP, deep.TCP, deep.URL} {
		ask(t, url, "select host(inet_client_addr())", &loopback)
		test.EqOp(t, "127.0.0.1", loopback,
			test.Sprintf("%s connects from %s, not over the loopback interface", url, loopback))
	}
}

func TestDevelopment_RejectsWrongPassword(t *testing.T) {
	t.Parallel()
	dev := start(t, pg.DevConfig{DataDir: pgtest.TempDir(t), Fast: true})
	config := expect.Value(pgx.ParseConfig(dev.URL))(t)
	config.Password = "guess"
	conn, err := pgx.ConnectConfig(t.Context(), config)
	test.EqOp(t, "28P01", pg.Code(err), test.Sprintf("a wrong password was accepted: %v (%v)", conn, err))
	for _, name := range []string{"password", "postgres.log"} {
		info := expect.Value(os.Stat(filepath.Join(dev.Dir, name)))(t)
		test.EqOp(t, 0o600, info.Mode().Perm(), test.Sprintf("%s: %v", name, info.Mode()))
	}
	if os.Geteuid() == 0 {
		owner, err := os.Stat(filepath.Join("/proc", strconv.Itoa(dev.PID())))
		test.False(t, err == nil && owner.Sys().(*syscall.Stat_t).Uid == 0, test.Sprint("the server runs as root"))
	}
	select {
	case <-dev.Done():
		t.Error("Done is closed before Stop")
	default:
	}
	test.NoError(t, dev.Stop())
	<-dev.Done()
}

func TestStartDevelopment_ReportsWhyItFails(t *testing.T) {
	t.Parallel()
	dev := start(t, pg.DevConfig{DataDir: pgtest.TempDir(t), Fast: true})
	config := expect.Value(pgx.ParseConfig(dev.TCP))(t)
	_, err := pg.StartDevServer(t.Context(), pg.DevConfig{DataDir: pgtest.TempDir(t), Fast: true, Port: int(config.Port)})
	test.True(
		t, err != nil && strings.Contains(err.Error(), "could not bind"), test.Sprintf("the port is taken: %v", err),
	)
	must.NoError(t, dev.Stop())
	must.NoError(t, os.WriteFile(filepath.Join(dev.Dir, "cluster", "PG_VERSION"), []byte("9.6\n"), 0o600))
	_, err = pg.StartDevServer(t.Context(), pg.DevConfig{DataDir: dev.Dir, Fast: true})
	test.True(
		t, err != nil && strings.Contains(err.Error(), "created by Postgres 9.6"),
		test.Sprintf("the cluster has another version: %v", err),
	)
}

// Not parallel: it changes the process's environment.
func TestStartDevelopment_UsesPGBIN(t *testing.T) {
	t.Setenv("PG_BIN", t.TempDir())
	_, err := pg.StartDevServer(t.Context(), pg.DevConfig{DataDir: pgtest.TempDir(t)})
	test.True(t, err != nil && strings.Contains(err.Error(), "PG_BIN"), test.Sprintf("got %v", err))
}

// Only root can access the folder, so the cluster goes to one that the server's user can access, too.
func TestStartDevelopment_AsRootUsesAccessibleFolder(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		return // another user runs the server as itself
	}
	closed := pgtest.TempDir(t)
	must.NoError(t, os.Chmod(closed, 0o700))
	var progress string
	dev := start(t, pg.DevConfig{DataDir: closed, Fast: true, Progress: func(line string) { progress += line + "\n" }})
	t.Cleanup(func() { _ = os.RemoveAll(dev.Dir) })
	test.True(
		t, strings.HasPrefix(dev.Dir, "/var/tmp/berth-") && strings.Contains(progress, dev.Dir),
		test.Sprintf("the cluster is in %s, progress is %q", dev.Dir, progress),
	)
}

// childFolder is the environment variable that turns a child process of the test into a Berth that gets killed.
const childFolder = "BERTH_TEST_CHILD_FOLDER"

type child struct {
	URL string
	PID int
}

func TestHelperProcess(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(childFolder)
	if dir == "" {
		return
	}
	dev := start(t, pg.DevConfig{DataDir: dir})
	must.NoError(t, json.NewEncoder(os.Stdout).Encode(child{URL: dev.URL, PID: dev.PID()}))
	<-dev.Done()
}

// When Berth is killed, its Postgres stops and the data stays usable.
func TestDevelopment_EndsWithParent(t *testing.T) {
	t.Parallel()
	dir := pgtest.TempDir(t)
	must.NoError(t, start(t, pg.DevConfig{DataDir: dir}).Stop())

	berth := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHelperProcess$")
	berth.Env = append(os.Environ(), childFolder+"="+dir)
	out := expect.Value(berth.StdoutPipe())(t)
	must.NoError(t, berth.Start())
	var server child
	line := expect.Value(bufio.NewReader(out).ReadBytes('\n'))(t)
	must.Nil(t, json.Unmarshal(line, &server), must.Sprintf("the child said %q", line))
	ask(t, server.URL, "create table kept (n int)")
	conn := expect.Value(pgx.Connect(t.Context(), server.URL))(t)
	must.NoError(t, berth.Process.Kill())
	_ = berth.Wait()
	if runtime.GOOS == "linux" {
		// The server closes its connections when it shuts down.
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		_, err := conn.WaitForNotification(ctx)
		must.NoError(t, ctx.Err(), must.Sprintf("Postgres is running without its parent: %v", err))
	}
	// On other systems it does keep running, and the next start has to stop it.
	again := start(t, pg.DevConfig{DataDir: dir})
	ask(t, again.URL, "insert into kept values (1)")
	test.NotEqOp(t, server.PID, again.PID(), test.Sprint("the server is still the child's"))
}
