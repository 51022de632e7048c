package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/localpg"
)

const template = "berth_template"

// local starts a server that belongs to this process. Creating and migrating a cluster takes seconds, so
// that is done once and kept. Every process works on a copy, which takes a fraction of a second.
func local(schema fs.FS, hash string) (*server, error) {
	ctx := context.Background()
	base := filepath.Join(tempDir(), fmt.Sprintf("berth-pgtest-%d", os.Getuid()))
	if err := makeAccessible(base); err != nil {
		return nil, err
	}
	unlock, err := lock(filepath.Join(base, "lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	sweep(base)

	original := filepath.Join(base, "schema-"+hash)
	if _, err := os.Stat(original); errors.Is(err, fs.ErrNotExist) {
		if err := build(ctx, original, schema); err != nil {
			return nil, err
		}
	}
	now := time.Now()
	if err := os.Chtimes(original, now, now); err != nil { // the sweeper keeps what was used last
		return nil, err
	}
	dir, err := os.MkdirTemp(base, "run-")
	if err != nil {
		return nil, err
	}
	if err := makeAccessible(dir); err != nil {
		return nil, err
	}
	for _, part := range []string{"cluster", "password"} {
		if out, err := exec.Command("cp", "-a", filepath.Join(original, part), dir).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("copy the cluster: %w: %s", err, out)
		}
	}
	dev, err := localpg.Start(ctx, localpg.Config{DataDir: dir, Fast: true})
	if err != nil {
		return nil, err
	}
	if err := removeOnExit(dir, dev.PID()); err != nil {
		return nil, errors.Join(err, dev.Stop())
	}
	s := &server{template: template, prefix: "test", strategy: " strategy file_copy"}
	if s.tcp, err = url.Parse(dev.TCP); err != nil {
		return nil, err
	}
	return s, s.connect(ctx, dev.URL)
}

// build creates the cluster that is copied. It works under another name, so an interrupted attempt is never used.
func build(ctx context.Context, original string, schema fs.FS) error {
	draft := original + ".draft"
	if err := errors.Join(os.RemoveAll(draft), makeAccessible(draft)); err != nil {
		return err
	}
	dev, err := localpg.Start(ctx, localpg.Config{DataDir: draft, Fast: true})
	if err != nil {
		return err
	}
	s := &server{template: template}
	err = s.connect(ctx, dev.URL)
	if err == nil {
		err = s.makeTemplate(ctx, schema)
		s.admin.Close()
	}
	if err := errors.Join(err, dev.Stop()); err != nil {
		return err
	}
	return os.Rename(draft, original)
}

// removeOnExit starts a shell that waits for this process to end, in any way, and then removes
// what is left: the server, if the system has not stopped it, and its folder.
func removeOnExit(dir string, server int) error {
	const script = `cat
kill -QUIT "$2" 2>/dev/null
n=0; while [ -e "$1/cluster/postmaster.pid" ] && [ $n -lt 100 ]; do sleep 0.05; n=$((n+1)); done
rm -rf -- "$1"`
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close()
	lifelines = append(lifelines, write)
	reaper := exec.Command("sh", "-c", script, "sh", dir, strconv.Itoa(server))
	reaper.Stdin = read
	reaper.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C must not reach it
	return reaper.Start()
}

// lifelines holds the write ends of pipes that close when this process ends.
var lifelines []*os.File

// sweep removes the folders that killed processes left behind, and all but the most recently used schemas.
func sweep(base string) {
	runs, _ := filepath.Glob(filepath.Join(base, "run-*"))
	for _, dir := range runs {
		file, err := os.Open(filepath.Join(dir, "lock"))
		if err == nil {
			err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
			file.Close()
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			_ = os.RemoveAll(dir)
		}
	}
	schemas, _ := filepath.Glob(filepath.Join(base, "schema-*"))
	slices.SortFunc(schemas, func(a, b string) int { return usedAt(b).Compare(usedAt(a)) })
	for _, dir := range schemas[min(len(schemas), keptSchemas):] {
		_ = os.RemoveAll(dir)
	}
}

// keptSchemas is how many clusters are kept, 50 MB each. Every edit of a migration creates a new one.
const keptSchemas = 3

func usedAt(dir string) time.Time {
	info, err := os.Stat(dir)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// tempDir returns a folder in memory if there is enough: creating a database takes 10 ms there,
// up to 200 ms on disk. Otherwise it returns one that the server's user can access.
func tempDir() string {
	const enough = 2 << 30
	var memory syscall.Statfs_t
	if err := syscall.Statfs("/dev/shm", &memory); err == nil && memory.Bavail*uint64(memory.Bsize) > enough {
		return "/dev/shm"
	}
	if os.Geteuid() == 0 {
		return "/tmp"
	}
	return os.TempDir()
}

// TempDir returns an empty folder for a server's files, in memory if possible, which any user can access.
// It is removed when the test ends.
func TempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(tempDir(), "berth-test-") //nolint:usetesting // t.TempDir is closed to other users
	must.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must.NoError(t, makeAccessible(dir))
	return dir
}

// makeAccessible creates a folder that the server's user can access, whatever the umask.
func makeAccessible(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.Chmod(dir, 0o755)
}

// lock waits for other test processes.
func lock(path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		file.Close()
		return nil, err
	}
	return func() { file.Close() }, nil
}
