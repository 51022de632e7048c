package localpg_test

import (
	"bufio"
	"cmp"
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

	"github.com/berthhq/berth/internal/localpg"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func start(t *testing.T, config localpg.Config) *localpg.Server {
	t.Helper()
	dev := expect.Value(localpg.Start(t.Context(), config))(t)
	t.Cleanup(func() { _ = dev.Stop() })
	return dev
}

// startFails starts a server that must not start, and checks what the error says.
func startFails(t *testing.T, says string, config localpg.Config) {
	t.Helper()
	test.ErrorContains(t, expect.Error(localpg.Start(t.Context(), config)), says)
}

// ask runs a statement on a server and scans its result into targets, if any.
func ask(t *testing.T, url, sql string, targets ...any) {
	t.Helper()
	conn := expect.Value(pgx.Connect(t.Context(), url))(t)
	defer conn.Close(context.WithoutCancel(t.Context()))
	if len(targets) == 0 {
		expect.OK(t)(conn.Exec(t.Context(), sql))
	} else {
		must.NoError(t, conn.QueryRow(t.Context(), sql).Scan(targets...))
	}
}

func TestStart_KeepsData(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(pgtest.TempDir(t), "a", "folder with \"spaces\"")
	progress := ""
	config := localpg.Config{DataDir: dir, Progress: func(line string) { progress += line + "\n" }}
	first := start(t, config)
	test.EqOp(t, "creating a database cluster in "+first.Data+"\n", progress)
	for name, want := range map[string]string{
		"fsync": "on", "max_pred_locks_per_transaction": "1024", "max_pred_locks_per_page": "64", "max_connections": "200",
		"listen_addresses": "127.0.0.1", "server_encoding": "UTF8", "lc_collate": "C", "timezone": "UTC",
		"log_timezone": "UTC", "shared_buffers": "256MB", "max_wal_size": "2GB", "cluster_name": "berth",
	} {
		var value string
		ask(t, first.URL, "select current_setting('"+name+"')", &value)
		test.EqOp(t, want, value, test.Sprint(name))
	}
	db := expect.Value(pg.Open(t.Context(), pg.Config{URL: first.URL, Role: "berth"}))(t)
	findings := expect.Value(db.Doctor(t.Context(), 32))(t)
	db.Close()
	test.Len(t, 1, findings, test.Sprint("besides the role: ", findings))
	ask(t, first.URL, "create table kept (n int)")
	startFails(t, "another Berth", config)
	must.NoError(t, first.Stop())
	test.NoError(t, first.Stop(), test.Sprint("stopping twice"))

	// A stale file with the process ID of another program must not prevent the start.
	stale := strconv.Itoa(os.Getpid()) + "\n" + dir + "\n"
	must.NoError(t, os.WriteFile(filepath.Join(first.Dir, "cluster", "postmaster.pid"), []byte(stale), 0o600))
	ask(t, start(t, config).URL, "insert into kept values (1)")
}

func TestStart_ResetsCluster(t *testing.T) {
	t.Parallel()
	progress := ""
	config := localpg.Config{
		DataDir: pgtest.TempDir(t), Fast: true, Reset: true, Progress: func(line string) { progress += line + "\n" },
	}
	first := start(t, config)
	test.StrNotContains(t, progress, "removing")
	ask(t, first.URL, "create table gone (n int)")
	startFails(t, "another Berth", config)
	must.NoError(t, first.Stop())
	// This is what an interrupted removal leaves, and an interrupted initdb.
	must.NoError(t, os.MkdirAll(first.Data+".old/base", 0o700))
	must.NoError(t, os.MkdirAll(first.Data+".new/base", 0o700))
	second := start(t, config)
	var gone bool
	ask(t, second.URL, "select to_regclass('gone') is null", &gone)
	test.True(t, gone)
	test.StrContains(t, progress, "removing the database cluster in "+first.Data+"\n")
	test.FileNotExists(t, first.Data+".old")
}

func TestStart_ResetsOnlyItsOwnClusters(t *testing.T) {
	t.Parallel()
	for _, theirs := range []string{"cluster/PG_VERSION", "cluster/diary"} {
		dir := pgtest.TempDir(t)
		file := filepath.Join(dir, theirs)
		must.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.NoError(t, os.WriteFile(file, []byte("15\n"), 0o600))
		startFails(t, "not removed", localpg.Config{DataDir: dir, Reset: true})
		test.FileExists(t, file)
	}
}

// The path of a Unix socket has a short limit; the path of a folder has not.
func TestStart_UsesTCPInDeepFolder(t *testing.T) {
	t.Parallel()
	shallow := start(t, localpg.Config{DataDir: pgtest.TempDir(t), Fast: true})
	deep := start(t, localpg.Config{DataDir: filepath.Join(pgtest.TempDir(t), strings.Repeat("deep", 25)), Fast: true})
	for url, want := range map[string]string{
		shallow.URL: "none", shallow.TCP: "127.0.0.1", deep.TCP: "127.0.0.1", deep.URL: "127.0.0.1",
	} {
		var from string
		ask(t, url, "select coalesce(host(inet_client_addr()), 'none')", &from)
		test.EqOp(t, want, from, test.Sprint(url))
	}
}

func TestServer_RejectsWrongPassword(t *testing.T) {
	t.Parallel()
	dev := start(t, localpg.Config{DataDir: pgtest.TempDir(t), Fast: true})
	config := expect.Value(pgx.ParseConfig(dev.URL))(t)
	config.Password = "guess"
	test.EqOp(t, "28P01", pg.Code(expect.Error(pgx.ConnectConfig(t.Context(), config))))
	for _, name := range []string{"password", "postgres.log"} {
		test.FileMode(t, filepath.Join(dev.Dir, name), 0o600)
	}
	owner := expect.Value(os.Stat(filepath.Join("/proc", strconv.Itoa(dev.PID()))))(t).Sys().(*syscall.Stat_t)
	test.False(t, os.Geteuid() == 0 && owner.Uid == 0, test.Sprint("the server runs as root"))
	select {
	case <-dev.Done():
		t.Error("Done is closed before Stop")
	default:
	}
	test.NoError(t, dev.Stop())
	<-dev.Done()
}

func TestStart_ReportsWhyItFails(t *testing.T) {
	t.Parallel()
	dev := start(t, localpg.Config{DataDir: pgtest.TempDir(t), Fast: true})
	config := expect.Value(pgx.ParseConfig(dev.TCP))(t)
	startFails(t, "could not bind", localpg.Config{DataDir: pgtest.TempDir(t), Fast: true, Port: int(config.Port)})
	must.NoError(t, dev.Stop())
	must.NoError(t, os.WriteFile(filepath.Join(dev.Dir, "cluster", "PG_VERSION"), []byte("9.6\n"), 0o600))
	startFails(t, "created by Postgres 9.6", localpg.Config{DataDir: dev.Dir, Fast: true})
}

// Something else is where a file or a folder should be. Nothing of it is lost, and the folder is free again.
func TestStart_ReportsWhatIsInItsWay(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file, folder string // in the way
		dir          string // the data folder
		reset        bool
	}{
		"a file for a folder":     {"data", "", "data/cluster", false},
		"a folder for the lock":   {"", "lock", "", false},
		"a folder for the log":    {"", "postgres.log", "", false},
		"a folder for a secret":   {"", "password", "", false},
		"a folder for a process":  {"", "cluster/postmaster.pid", "", false},
		"a file for the cluster":  {"cluster", "", "", false},
		"a file for it, to reset": {"cluster", "", "", true},
	} {
		dir := pgtest.TempDir(t)
		if tt.file != "" {
			must.NoError(t, os.WriteFile(filepath.Join(dir, tt.file), []byte("theirs"), 0o600))
		} else {
			must.NoError(t, os.MkdirAll(filepath.Join(dir, tt.folder, "theirs"), 0o755))
		}
		config := localpg.Config{DataDir: filepath.Join(dir, tt.dir), Fast: true, Reset: tt.reset}
		startFails(t, filepath.Base(cmp.Or(tt.file, tt.folder)), config)
		must.NoError(t, expect.Error(os.Stat(filepath.Join(dir, cmp.Or(tt.file, tt.folder+"/theirs")))), must.Sprint(name))
		startFails(t, filepath.Base(cmp.Or(tt.file, tt.folder)), config) // and not because of the lock
	}
}

// Only root can access the folder, so the cluster goes to one that the server's user can access, too.
func TestStart_AsRootUsesAccessibleFolder(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		return // another user runs the server as itself
	}
	closed := pgtest.TempDir(t)
	must.NoError(t, os.Chmod(closed, 0o700))
	progress := ""
	dev := start(t, localpg.Config{DataDir: closed, Fast: true, Progress: func(line string) { progress += line + "\n" }})
	t.Cleanup(func() { _ = os.RemoveAll(dev.Dir) })
	test.StrHasPrefix(t, "/var/tmp/berth-", dev.Dir)
	test.StrContains(t, progress, dev.Dir)
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
	dev := start(t, localpg.Config{DataDir: dir})
	must.NoError(t, json.NewEncoder(os.Stdout).Encode(child{URL: dev.URL, PID: dev.PID()}))
	<-dev.Done()
}

// When Berth is killed, its Postgres stops and the data stays usable.
func TestServer_EndsWithParent(t *testing.T) {
	t.Parallel()
	dir := pgtest.TempDir(t)
	must.NoError(t, start(t, localpg.Config{DataDir: dir}).Stop())

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
	again := start(t, localpg.Config{DataDir: dir})
	ask(t, again.URL, "insert into kept values (1)")
	test.NotEqOp(t, server.PID, again.PID(), test.Sprint("the server is still the child's"))
}
