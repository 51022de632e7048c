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

func start(t *testing.T, config pg.DevConfig) *pg.Development {
	t.Helper()
	dev, err := pg.StartDevelopment(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dev.Stop() })
	return dev
}

// ask runs a statement on a server; what it returns is scanned.
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

func TestDevelopmentKeepsItsData(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(pgtest.Folder(t), "a", "folder with spaces")
	var said []string
	config := pg.DevConfig{DataDir: dir, Progress: func(line string) { said = append(said, line) }}
	first := start(t, config)
	if len(said) != 1 || !strings.Contains(said[0], "creating a database cluster") {
		t.Errorf("it said %q", said)
	}
	var fsync, locks, addresses, encoding string
	ask(t, first.URL, "select current_setting('fsync'), current_setting('max_pred_locks_per_transaction'), current_setting('listen_addresses'), current_setting('server_encoding')",
		&fsync, &locks, &addresses, &encoding)
	if fsync != "on" || locks != "1024" || addresses != "127.0.0.1" || encoding != "UTF8" {
		t.Errorf("fsync %s, max_pred_locks_per_transaction %s, listening on %s, %s", fsync, locks, addresses, encoding)
	}
	ask(t, first.URL, "create table kept (n int)")

	if _, err := pg.StartDevelopment(t.Context(), config); err == nil || !strings.Contains(err.Error(), "another Berth") {
		t.Errorf("a second start on the same folder: %v", err)
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(); err != nil {
		t.Errorf("stopping twice: %v", err)
	}

	// A stale file that names a living process of another program is no obstacle.
	stale := strconv.Itoa(os.Getpid()) + "\n" + dir + "\n"
	if err := os.WriteFile(filepath.Join(first.Dir, "cluster", "postmaster.pid"), []byte(stale), 0o600); err != nil {
		t.Fatal(err)
	}
	second := start(t, config)
	ask(t, second.URL, "insert into kept values (1)")
}

func TestDevelopmentBeginsAnew(t *testing.T) {
	t.Parallel()
	dir := pgtest.Folder(t)
	var said []string
	config := pg.DevConfig{DataDir: dir, Fast: true, Reset: true, Progress: func(line string) { said = append(said, line) }}
	first := start(t, config)
	if len(said) != 1 || strings.Contains(said[0], "throwing away") {
		t.Errorf("there was nothing to throw away, and it said %q", said)
	}
	ask(t, first.URL, "create table gone (n int)")
	if _, err := pg.StartDevelopment(t.Context(), config); err == nil || !strings.Contains(err.Error(), "another Berth") {
		t.Errorf("under a running server: %v", err)
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	// What a removal left that was interrupted.
	if err := os.MkdirAll(first.Data+".old/base", 0o700); err != nil {
		t.Fatal(err)
	}
	said = nil
	second := start(t, config)
	var gone bool
	ask(t, second.URL, "select to_regclass('gone') is null", &gone)
	if !gone || len(said) != 2 || said[0] != "throwing away the database cluster in "+first.Data {
		t.Errorf("the table is gone: %t, and it said %q", gone, said)
	}
	if _, err := os.Stat(first.Data + ".old"); !os.IsNotExist(err) {
		t.Errorf("the old cluster is left behind: %v", err)
	}
}

func TestDevelopmentThrowsAwayItsOwnOnly(t *testing.T) {
	t.Parallel()
	for _, theirs := range []string{"cluster/PG_VERSION", "cluster/diary"} {
		dir := pgtest.Folder(t)
		file := filepath.Join(dir, theirs)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("15\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := pg.StartDevelopment(t.Context(), pg.DevConfig{DataDir: dir, Reset: true})
		if err == nil || !strings.Contains(err.Error(), "it stays") {
			t.Errorf("%s: %v", theirs, err)
		}
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
}

// A socket's path is short by law; a folder's is not.
func TestDevelopmentInADeepFolder(t *testing.T) {
	t.Parallel()
	shallow := start(t, pg.DevConfig{DataDir: pgtest.Folder(t), Fast: true})
	deep := start(t, pg.DevConfig{DataDir: filepath.Join(pgtest.Folder(t), strings.Repeat("deep", 25)), Fast: true})
	var none *string
	ask(t, shallow.URL, "select host(inet_client_addr())", &none)
	if none != nil || shallow.URL == shallow.TCP {
		t.Errorf("%s is no socket", shallow.URL)
	}
	var loopback string
	for _, url := range []string{shallow.TCP, deep.TCP, deep.URL} {
		ask(t, url, "select host(inet_client_addr())", &loopback)
		if loopback != "127.0.0.1" {
			t.Errorf("%s is not the loopback interface, but %s", url, loopback)
		}
	}
}

func TestDevelopmentRefusesStrangers(t *testing.T) {
	t.Parallel()
	dev := start(t, pg.DevConfig{DataDir: pgtest.Folder(t), Fast: true})
	config, err := pgx.ParseConfig(dev.URL)
	if err != nil {
		t.Fatal(err)
	}
	config.Password = "guess"
	if conn, err := pgx.ConnectConfig(t.Context(), config); pg.Code(err) != "28P01" {
		t.Errorf("a wrong password was let in: %v (%v)", conn, err)
	}
	info, err := os.Stat(filepath.Join(dev.Dir, "password"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the password's file: %v (%v)", info.Mode(), err)
	}
	if os.Geteuid() == 0 {
		owner, err := os.Stat(filepath.Join("/proc", strconv.Itoa(dev.PID())))
		if err == nil && owner.Sys().(*syscall.Stat_t).Uid == 0 {
			t.Error("the server runs as root")
		}
	}
	select {
	case <-dev.Done():
		t.Error("it is done before it was stopped")
	default:
	}
	if err := dev.Stop(); err != nil {
		t.Error(err)
	}
	<-dev.Done()
}

func TestDevelopmentSaysWhyItDoesNotStart(t *testing.T) {
	t.Parallel()
	dev := start(t, pg.DevConfig{DataDir: pgtest.Folder(t), Fast: true})
	config, err := pgx.ParseConfig(dev.TCP)
	if err != nil {
		t.Fatal(err)
	}
	_, err = pg.StartDevelopment(t.Context(), pg.DevConfig{DataDir: pgtest.Folder(t), Fast: true, Port: int(config.Port)})
	if err == nil || !strings.Contains(err.Error(), "could not bind") {
		t.Errorf("the port is taken: %v", err)
	}
	if err := dev.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dev.Dir, "cluster", "PG_VERSION"), []byte("9.6\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = pg.StartDevelopment(t.Context(), pg.DevConfig{DataDir: dev.Dir, Fast: true})
	if err == nil || !strings.Contains(err.Error(), "made by Postgres 9.6") {
		t.Errorf("the cluster is another version's: %v", err)
	}
}

// Not parallel: it changes the process's environment.
func TestDevelopmentTakesTheBinariesItIsGiven(t *testing.T) {
	t.Setenv("PG_BIN", t.TempDir())
	if _, err := pg.StartDevelopment(t.Context(), pg.DevConfig{DataDir: pgtest.Folder(t)}); err == nil || !strings.Contains(err.Error(), "PG_BIN") {
		t.Errorf("got %v", err)
	}
}

// A folder that only root may enter is stood in for by one that the server's
// user can.
func TestDevelopmentAsRootLeavesClosedFolders(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		return // whoever else runs this, runs the server as well
	}
	closed := pgtest.Folder(t)
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	var said string
	dev := start(t, pg.DevConfig{DataDir: closed, Fast: true, Progress: func(line string) { said += line + "\n" }})
	t.Cleanup(func() { _ = os.RemoveAll(dev.Dir) })
	if !strings.HasPrefix(dev.Dir, "/var/tmp/berth-") || !strings.Contains(said, dev.Dir) {
		t.Errorf("the cluster is in %s, and it said %q", dev.Dir, said)
	}
}

// childFolder makes this test binary a Berth that is about to be killed.
const childFolder = "BERTH_TEST_CHILD_FOLDER"

type child struct {
	URL string
	PID int
}

func TestChild(t *testing.T) {
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

// A killed Berth takes its Postgres along, and its data stays usable.
func TestDevelopmentEndsWithItsParent(t *testing.T) {
	t.Parallel()
	dir := pgtest.Folder(t)
	if err := start(t, pg.DevConfig{DataDir: dir}).Stop(); err != nil {
		t.Fatal(err)
	}

	berth := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$")
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
		// The server hangs up on its clients when it goes down.
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if _, err := conn.WaitForNotification(ctx); ctx.Err() != nil {
			t.Fatalf("Postgres outlived its parent: %v", err)
		}
	}
	// Elsewhere it does outlive its parent, and the next start has to stop it.
	again := start(t, pg.DevConfig{DataDir: dir})
	ask(t, again.URL, "insert into kept values (1)")
	if again.PID() == server.PID {
		t.Error("the server is still the child's")
	}
}
