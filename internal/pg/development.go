package pg

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// DevConfig says where a Postgres of one's own lives.
type DevConfig struct {
	// DataDir keeps the cluster, its password and its log. It is made if absent.
	DataDir string
	// Port on the loopback interface; 0 takes a free one.
	Port int
	// Reset throws away the cluster that is there, and makes a new one.
	Reset bool
	// Fast gives up durability. It is for tests, which throw the cluster away.
	Fast bool
	// Progress hears, in a line each, what takes time or may surprise. May be nil.
	Progress func(line string)
}

// Development is a running Postgres that belongs to this process and ends with
// it. On Linux it does so however the process ends; elsewhere a killed process
// leaves it behind, and the next start on the same folder stops it first.
type Development struct {
	// URL connects as the cluster's superuser, who owns the database "berth". It
	// names a socket, over which a transaction takes a third less time than over
	// TCP, unless the folder's path is too long for one.
	URL string
	// TCP is URL over the loopback interface.
	TCP string
	// Programs is the folder of Postgres's programs, such as pgbench.
	Programs string
	// Dir is where the cluster really is; it differs from DataDir if the
	// server's user cannot enter that.
	Dir string
	// Data is the cluster itself, the folder in Dir that can be removed to begin anew.
	Data string

	process *os.Process
	ended   chan struct{} // closed with the process
	done    chan struct{} // closed once the folder is free, too
	lock    *os.File      // nil until the server answers
	stop    sync.Once
}

const (
	devUser      = "berth"
	readyTimeout = 30 * time.Second
	stopTimeout  = 20 * time.Second
)

// StartDevelopment starts Postgres on the folder and waits until it answers,
// making a new cluster if there is none. The server's programs are looked for as
// findPostgres says. Root may not run Postgres: it then runs as the user
// "postgres" or "nobody". ctx bounds the start only.
func StartDevelopment(ctx context.Context, config DevConfig) (_ *Development, err error) {
	if config.Progress == nil {
		config.Progress = func(string) {}
	}
	credential, err := unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := enterable(config.DataDir, credential)
	if err != nil {
		return nil, err
	}
	if abs, _ := filepath.Abs(config.DataDir); dir != abs {
		config.Progress(fmt.Sprintf("Postgres may not run as root, and its user cannot enter %s: the cluster is in %s", abs, dir))
	}
	lock, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			lock.Close()
		}
	}()
	c := cluster{dir: dir, data: filepath.Join(dir, "cluster"), credential: credential, config: config}
	if err := c.stopOrphan(ctx); err != nil {
		return nil, err
	}
	if config.Reset {
		if err := c.discard(); err != nil {
			return nil, err
		}
	}
	if c.bin, err = findPostgres(ctx, dir, c.madeBy(), config.Progress); err != nil {
		return nil, err
	}
	password, err := c.initialize(ctx)
	if err != nil {
		return nil, err
	}
	// A free port may be taken before the server binds it.
	for attempt := 1; ; attempt++ {
		dev, err := c.start(ctx, password)
		if err == nil {
			dev.lock = lock
			go func() { // the folder is locked even if nobody holds on to dev
				<-dev.ended
				lock.Close()
				close(dev.done)
			}()
			return dev, nil
		}
		if config.Port != 0 || attempt == 3 || !errors.Is(err, errEnded) {
			return nil, err
		}
	}
}

// PID is the server's process.
func (d *Development) PID() int { return d.process.Pid }

// Done is closed when the server has ended, for whatever reason, and its folder is free for another.
func (d *Development) Done() <-chan struct{} { return d.done }

// Stop ends the server: connections are cut and everything is written out. If
// that takes too long it is killed, which loses nothing that was acknowledged.
func (d *Development) Stop() error {
	d.stop.Do(func() {
		for _, step := range []struct {
			signal syscall.Signal
			wait   time.Duration
		}{{syscall.SIGINT, stopTimeout}, {syscall.SIGQUIT, 5 * time.Second}, {syscall.SIGKILL, time.Minute}} {
			_ = d.process.Signal(step.signal)
			if waitFor(d.ended, step.wait) {
				break
			}
		}
	})
	select {
	case <-d.ended:
		if d.lock != nil {
			<-d.done // so that the next start need not wait
		}
		return nil
	default:
		return fmt.Errorf("postgres, process %d, does not end", d.process.Pid)
	}
}

func waitFor(done <-chan struct{}, longest time.Duration) bool {
	timer := time.NewTimer(longest)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// cluster is a folder that Postgres runs on.
type cluster struct {
	dir, data, bin string
	credential     *syscall.Credential
	config         DevConfig
}

// madeBy is the major version of the existing cluster, or "".
func (c *cluster) madeBy() string {
	version, err := os.ReadFile(filepath.Join(c.data, "PG_VERSION"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(version))
}

// secret is the file with the password of the cluster's superuser.
func (c *cluster) secret() string { return filepath.Join(c.dir, "password") }

// discard removes the cluster, if there is one. It moves out first: what an interrupted removal leaves must not
// pass for a cluster.
func (c *cluster) discard() error {
	if _, err := os.Lstat(c.data); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Stat(c.secret()); err != nil || c.madeBy() == "" {
		return fmt.Errorf("%s is not a database cluster that Berth has made: it stays", c.data)
	}
	c.config.Progress("throwing away the database cluster in " + c.data)
	old := c.data + ".old"
	if err := os.RemoveAll(old); err != nil {
		return err
	}
	if err := os.Rename(c.data, old); err != nil {
		return err
	}
	return os.RemoveAll(old)
}

// initialize makes the cluster if there is none, and gives its password.
func (c *cluster) initialize(ctx context.Context) (password string, err error) {
	secret := c.secret()
	if c.madeBy() != "" {
		known, err := os.ReadFile(secret)
		return strings.TrimSpace(string(known)), err
	}
	c.config.Progress("creating a database cluster in " + c.data)
	password = rand.Text()
	if err := c.writeOwned(secret, password+"\n"); err != nil {
		return "", err
	}
	// What an interrupted initdb leaves behind must not pass for a cluster, so it
	// works next door and moves in when it is done.
	fresh := c.data + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return "", err
	}
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return "", err
	}
	if err := c.own(fresh); err != nil {
		return "", err
	}
	args := []string{"--pgdata", fresh, "--username", devUser, "--pwfile", secret, "--auth", "scram-sha-256",
		"--encoding", "UTF8", "--lc-collate", "C", "--lc-ctype", "C.UTF-8", "--lc-messages", "C"}
	if runtime.GOOS == "darwin" {
		args[len(args)-3] = "en_US.UTF-8" // C.UTF-8 is not known there
	}
	if c.config.Fast {
		args = append(args, "--no-sync", "--wal-segsize", "1")
	}
	cmd := c.command("initdb", args...)
	if out, err := combinedOutput(ctx, cmd); err != nil {
		return "", fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return password, os.Rename(fresh, c.data)
}

// start runs the server and waits until it answers.
func (c *cluster) start(ctx context.Context, password string) (*Development, error) {
	port := c.config.Port
	if port == 0 {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		port = free.Addr().(*net.TCPAddr).Port
		free.Close()
	}
	socket, err := c.socket()
	if err != nil {
		return nil, err
	}
	args := []string{"-D", c.data, "-p", strconv.Itoa(port)}
	for name, value := range c.settings(socket) {
		args = append(args, "-c", name+"="+value)
	}
	cmd := c.command("postgres", args...)
	logFile, err := os.Create(filepath.Join(c.dir, "postgres.log"))
	if err != nil {
		return nil, err
	}
	defer logFile.Close()
	cmd.Stdout, cmd.Stderr = logFile, logFile

	dev := &Development{Programs: c.bin, Dir: c.dir, Data: c.data, ended: make(chan struct{}), done: make(chan struct{})}
	address := &url.URL{Scheme: "postgres", User: url.UserPassword(devUser, password), Path: "/" + devUser,
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), RawQuery: "sslmode=disable"}
	dev.TCP, dev.URL = address.String(), address.String()
	if socket != "" {
		address.Host = ""
		// To libpq a plus is a plus, not a space.
		address.RawQuery = "host=" + strings.ReplaceAll(url.QueryEscape(socket), "+", "%20") + "&port=" + strconv.Itoa(port)
		dev.URL = address.String()
	}
	started := make(chan error)
	go func() {
		// The kernel signals the child when the thread that forked it ends, so
		// this goroutine keeps the thread for as long as the child lives.
		runtime.LockOSThread()
		defer close(dev.ended)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	dev.process = cmd.Process
	if err := dev.waitUntilReady(ctx); err != nil {
		_ = dev.Stop()
		text, _ := os.ReadFile(logFile.Name())
		return nil, fmt.Errorf("postgres does not start: %w\n%s", err, tail(text))
	}
	return dev, nil
}

// socket makes a folder for the server's socket, or gives "" where the socket's
// path would be longer than the system takes.
func (c *cluster) socket() (string, error) {
	const longest = 103 // macOS; Linux has four more
	dir := filepath.Join(c.dir, "socket")
	if len(dir)+len("/.s.PGSQL.65535") > longest {
		return "", nil
	}
	// A server that was killed has left its socket there.
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	return dir, c.own(dir)
}

func (c *cluster) settings(socket string) map[string]string {
	directories := "" // a list, in which a path may need quotes
	if socket != "" {
		directories = `"` + strings.ReplaceAll(socket, `"`, `""`) + `"`
	}
	settings := map[string]string{
		"listen_addresses":               "127.0.0.1",
		"unix_socket_directories":        directories,
		"max_connections":                "200",
		"max_pred_locks_per_transaction": "1024", // fewer make batches lock whole tables
		"max_pred_locks_per_page":        "64",   // fewer make them lock pages, where sessions of one week are neighbours
		"shared_buffers":                 "256MB",
		"max_wal_size":                   "2GB",
		"timezone":                       "UTC",
		"log_timezone":                   "UTC",
		"cluster_name":                   "berth",
	}
	if c.config.Fast {
		maps.Copy(settings, map[string]string{
			"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "autovacuum": "off",
			"shared_buffers": "64MB", "max_connections": "400", "max_wal_size": "256MB",
		})
	}
	return settings
}

var errEnded = errors.New("it ended at once")

// waitUntilReady asks until the server answers, and sees to its database.
func (d *Development) waitUntilReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	config, err := pgx.ParseConfig(d.URL)
	if err != nil {
		return err
	}
	config.Database = "postgres"
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		conn, err := pgx.ConnectConfig(ctx, config)
		if err == nil {
			defer conn.Close(ctx)
			if _, err = conn.Exec(ctx, "create database "+devUser); Code(err) == "42P04" { // it is there
				err = nil
			}
			return err
		}
		select {
		case <-again.C:
		case <-d.ended:
			return errEnded
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

// stopOrphan ends a server whose Berth was killed. Whoever holds the folder's
// lock is the only one to use the cluster, so a server that still runs on it has
// lost its parent.
func (c *cluster) stopOrphan(ctx context.Context) error {
	pidFile := filepath.Join(c.data, "postmaster.pid")
	text, err := os.ReadFile(pidFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid <= 1 || !strings.Contains(commandLine(pid), c.data) {
		// The machine or the container went down, and the number may by now be
		// someone else's, which would keep Postgres from starting.
		return os.Remove(pidFile)
	}
	c.config.Progress(fmt.Sprintf("stopping Postgres, process %d, which outlived its Berth", pid))
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	patience := time.After(stopTimeout)
	_ = syscall.Kill(pid, syscall.SIGINT)
	for strings.Contains(commandLine(pid), c.data) {
		select {
		case <-again.C:
		case <-patience:
			_ = syscall.Kill(pid, syscall.SIGQUIT)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// command prepares a program of Postgres to run as the right user, out of reach
// of the terminal's Ctrl-C, and untouched by the caller's PG variables.
func (c *cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, name), args...)
	cmd.Dir = c.dir
	cmd.SysProcAttr = childAttributes(c.credential, c.config.Fast)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "PG") && !strings.HasPrefix(variable, "LC_") && !strings.HasPrefix(variable, "LANG") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, "LC_ALL=C")
	return cmd
}

// combinedOutput is CombinedOutput that ends with ctx. The thread is kept, because the
// child is signalled when it ends.
func combinedOutput(ctx context.Context, cmd *exec.Cmd) ([]byte, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	err := cmd.Wait()
	return out.Bytes(), cmp.Or(ctx.Err(), err)
}

func (c *cluster) writeOwned(path, text string) error {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	return c.own(path)
}

func (c *cluster) own(path string) error {
	if c.credential == nil {
		return nil
	}
	return os.Chown(path, int(c.credential.Uid), int(c.credential.Gid))
}

func tail(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}
