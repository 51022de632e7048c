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

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
)

func start(t *testing.T, config pg.DevConfig) *pg.DevServer {
	t.Helper()
	dev, err := pg.StartDevServer(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dev.Stop() })
	return dev
}

// ask runs a statement on a server and scans its result into targets, if any.
func ask(t *testing.T, url, sql string, targets ...any) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if len(targets) == 0 {
		_, err = conn.Exec(t.Context(), sql)
	} else {
		err = conn.QueryRow(t.Context(), sql).Scan(targets...)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestStartDevelopment_KeepsData(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(pgtest.TempDir(t), "a", "folder with spaces")
	var progress []string
	config := pg.DevConfig{DataDir: dir, Progress: func(line string) { progress = append(progress, line) }}
	first := start(t, config)
	if len(progress) != 1 || !strings.Contains(progress[0], "creating a database cluster") {
		t.Errorf("progress is %q", progress)
	}
	var fsync, locks, addresses, encoding string
	ask(t, first.URL, `select current_setting('fsync'), current_setting('max_pred_locks_per_transaction'),
		current_setting('listen_addresses'), current_setting('server_encoding')`,
		&fsync, &locks, &addresses, &encoding)
	if fsync != "on" || locks != "1024" || addresses != "127.0.0.1" || encoding != "UTF8" {
		t.Errorf("fsync %s, max_pred_locks_per_transaction %s, listening on %s, %s", fsync, locks, addresses, encoding)
	}
	ask(t, first.URL, "create table kept (n int)")

	if _, err := pg.StartDevServer(t.Context(), config); err == nil || !strings.Contains(err.Error(), "another Berth") {
		t.Errorf("a second start on the same folder: %v", err)
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(); err != nil {
		t.Errorf("stopping twice: %v", err)
	}

	// A stale file with the process ID of another program must not prevent the start.
	stale := strconv.Itoa(os.Getpid()) + "\n" + dir + "\n"
	if err := os.WriteFile(filepath.Join(first.Dir, "cluster", "postmaster.pid"), []byte(stale), 0o600); err != nil {
		t.Fatal(err)
	}
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
	if len(progress) != 1 || strings.Contains(progress[0], "removing") {
		t.Errorf("there was nothing to remove, and progress is %q", progress)
	}
	ask(t, first.URL, "create table gone (n int)")
	if _, err := pg.StartDevServer(t.Context(), config); err == nil || !strings.Contains(err.Error(), "another Berth") {
		t.Errorf("reset under a running server: %v", err)
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	// This is what an interrupted removal leaves.
	if err := os.MkdirAll(first.Data+".old/base", 0o700); err != nil {
		t.Fatal(err)
	}
	progress = nil
	second := start(t, config)
	var gone bool
	ask(t, second.URL, "select to_regclass('gone') is null", &gone)
	if !gone || len(progress) != 2 || progress[0] != "removing the database cluster in "+first.Data {
		t.Errorf("the table is gone: %t, progress is %q", gone, progress)
	}
	if _, err := os.Stat(first.Data + ".old"); !os.IsNotExist(err) {
		t.Errorf("the old cluster was not removed: %v", err)
	}
}

func TestStartDevelopment_ResetsOnlyItsOwnClusters(t *testing.T) {
	t.Parallel()
	for _, theirs := range []string{"cluster/PG_VERSION", "cluster/diary"} {
		dir := pgtest.TempDir(t)
		file := filepath.Join(dir, theirs)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("15\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := pg.StartDevServer(t.Context(), pg.DevConfig{DataDir: dir, Reset: true})
		if err == nil || !strings.Contains(err.Error(), "not removed") {
			t.Errorf("%s: %v", theirs, err)
		}
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
}

// The path of a Unix socket has a short limit; the path of a folder has not.
func TestStartDevelopment_UsesTCPInDeepFolder(t *testing.T) {
	t.Parallel()
	shallow := start(t, pg.DevConfig{DataDir: pgtest.TempDir(t), Fast: true})
	deep := start(t, pg.DevConfig{DataDir: filepath.Join(pgtest.TempDir(t), strings.Repeat("deep", 25)), Fast: true})
	var none *string
	ask(t, shallow.URL, "select host(inet_client_addr())", &none)
	if none != nil || shallow.URL == shallow.TCP {
		t.Errorf("%s does not use a socket", shallow.URL)
	}
	var loopback string
	for _, url := range []string{shallow.TCP, deep.TCP, deep.URL} {
		ask(t, url, "select host(inet_client_addr())", &loopback)
		if loopback != "127.0.0.1" {
			t.Errorf("%s connects from %s, not over the loopback interface", url, loopback)
		}
	}
}

func TestDevelopment_RejectsWrongPassword(t *testing.T) {
	t.Parallel()
	dev := start(t, pg.DevConfig{DataDir: pgtest.TempDir(t), Fast: true})
	config, err := pgx.ParseConfig(dev.URL)
	if err != nil {
		t.Fatal(err)
	}
	config.Password = "guess"
	if conn, err := pgx.ConnectConfig(t.Context(), config); pg.Code(err) != "28P01" {
		t.Errorf("a wrong password was accepted: %v (%v)", conn, err)
	}
	info, err := os.Stat(filepath.Join(dev.Dir, "password"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the password file: %v (%v)", info.Mode(), err)
	}
	if os.Geteuid() == 0 {
		owner, err := os.Stat(filepath.Join("/proc", strconv.Itoa(dev.PID())))
		if err == nil && owner.Sys().(*syscall.Stat_t).Uid == 0 {
			t.Error("the server runs as root")
		}
	}
	select {
	case <-dev.Done():
		t.Error("Done is closed before Stop")
	default:
	}
	if err := dev.Stop(); err != nil {
		t.Error(err)
	}
	<-dev.Done()
}

func TestStartDevelopment_ReportsWhyItFails(t *testing.T) {
	t.Parallel()
	dev := start(t, pg.DevConfig{DataDir: pgtest.TempDir(t), Fast: true})
	config, err := pgx.ParseConfig(dev.TCP)
	if err != nil {
		t.Fatal(err)
	}
	_, err = pg.StartDevServer(t.Context(), pg.DevConfig{DataDir: pgtest.TempDir(t), Fast: true, Port: int(config.Port)})
	if err == nil || !strings.Contains(err.Error(), "could not bind") {
		t.Errorf("the port is taken: %v", err)
	}
	if err := dev.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dev.Dir, "cluster", "PG_VERSION"), []byte("9.6\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = pg.StartDevServer(t.Context(), pg.DevConfig{DataDir: dev.Dir, Fast: true})
	if err == nil || !strings.Contains(err.Error(), "created by Postgres 9.6") {
		t.Errorf("the cluster has another version: %v", err)
	}
}

// Not parallel: it changes the process's environment.
func TestStartDevelopment_UsesPGBIN(t *testing.T) {
	t.Setenv("PG_BIN", t.TempDir())
	_, err := pg.StartDevServer(t.Context(), pg.DevConfig{DataDir: pgtest.TempDir(t)})
	if err == nil || !strings.Contains(err.Error(), "PG_BIN") {
		t.Errorf("got %v", err)
	}
}

// Only root can access the folder, so the cluster goes to one that the server's user can access, too.
func TestStartDevelopment_AsRootUsesAccessibleFolder(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		return // another user runs the server as itself
	}
	closed := pgtest.TempDir(t)
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	var progress string
	dev := start(t, pg.DevConfig{DataDir: closed, Fast: true, Progress: func(line string) { progress += line + "\n" }})
	t.Cleanup(func() { _ = os.RemoveAll(dev.Dir) })
	if !strings.HasPrefix(dev.Dir, "/var/tmp/berth-") || !strings.Contains(progress, dev.Dir) {
		t.Errorf("the cluster is in %s, progress is %q", dev.Dir, progress)
	}
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
	if err := json.NewEncoder(os.Stdout).Encode(child{URL: dev.URL, PID: dev.PID()}); err != nil {
		t.Fatal(err)
	}
	<-dev.Done()
}

// When Berth is killed, its Postgres stops and the data stays usable.
func TestDevelopment_EndsWithParent(t *testing.T) {
	t.Parallel()
	dir := pgtest.TempDir(t)
	if err := start(t, pg.DevConfig{DataDir: dir}).Stop(); err != nil {
		t.Fatal(err)
	}

	berth := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHelperProcess$")
	berth.Env = append(os.Environ(), childFolder+"="+dir)
	out, err := berth.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := berth.Start(); err != nil {
		t.Fatal(err)
	}
	var server child
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &server) != nil {
		t.Fatalf("the child said %q (%v)", line, err)
	}
	ask(t, server.URL, "create table kept (n int)")
	conn, err := pgx.Connect(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := berth.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = berth.Wait()
	if runtime.GOOS == "linux" {
		// The server closes its connections when it shuts down.
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if _, err := conn.WaitForNotification(ctx); ctx.Err() != nil {
			t.Fatalf("Postgres is running without its parent: %v", err)
		}
	}
	// On other systems it does keep running, and the next start has to stop it.
	again := start(t, pg.DevConfig{DataDir: dir})
	ask(t, again.URL, "insert into kept values (1)")
	if again.PID() == server.PID {
		t.Error("the server is still the child's")
	}
}
