// Package localpg runs Postgres on this machine, for development and for tests. It finds the programs, or installs
// them.
package localpg

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

	"github.com/berthhq/berth/internal/pg"
)

// Config configures a local Postgres server.
type Config struct {
	// DataDir holds the cluster, its password and its log. It is created if absent.
	DataDir string
	// Port on the loopback interface; 0 picks a free one.
	Port int
	// Reset deletes an existing cluster and creates a new one.
	Reset bool
	// Fast gives up durability and SCRAM. It is for tests, which delete the cluster.
	Fast bool
	// Progress receives one line for each step that takes long or may surprise. It may be nil.
	Progress func(line string)
}

// Server is a Postgres server that runs as a child of this process and ends with it.
// On Linux this holds however the process ends. On other systems a killed process leaves the server behind,
// and the next start on the same folder stops it first.
type Server struct {
	// URL connects as the cluster's superuser, who owns the database "berth". It uses a Unix socket,
	// over which a transaction takes a third less time than over TCP, unless the folder's path is too long for one.
	URL string
	// TCP is the same over the loopback interface.
	TCP string
	// Programs is the directory of Postgres's programs, such as pgbench.
	Programs string
	// Dir is the actual location of the cluster. It differs from DataDir if the server's user cannot access DataDir.
	Dir string
	// Data is the cluster itself: the folder in Dir to remove to start over.
	Data string

	process *os.Process
	ended   chan struct{} // closed when the process ends
	done    chan struct{} // closed when the folder is unlocked, too
	answers bool          // whether the server has answered, and Start returned it
	stop    sync.Once
}

const (
	superuser    = "berth"
	readyTimeout = 30 * time.Second
	stopTimeout  = 20 * time.Second
)

// Start starts Postgres on the folder and waits until it answers. It creates a cluster if there is none.
// findPostgres says where it looks for the programs. Postgres refuses to run as root, so root runs it as the user
// "postgres" or "nobody". ctx limits the start only.
func Start(ctx context.Context, config Config) (_ *Server, err error) {
	if config.Progress == nil {
		config.Progress = func(string) {}
	}
	credential, err := serverUser()
	if err != nil {
		return nil, err
	}
	dir, err := accessibleDir(config.DataDir, credential)
	if err != nil {
		return nil, err
	}
	if abs, _ := filepath.Abs(config.DataDir); dir != abs {
		config.Progress(fmt.Sprintf("Postgres cannot run as root, and the user it runs as cannot access %s: "+
			"the cluster is in %s", abs, dir))
	}
	unlock, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			unlock()
		}
	}()
	c := cluster{dir: dir, data: filepath.Join(dir, "cluster"), credential: credential, config: config}
	if err := c.stopOrphan(ctx); err != nil {
		return nil, err
	}
	if config.Reset {
		if err := c.remove(); err != nil {
			return nil, err
		}
	}
	if c.bin, err = findPostgres(ctx, "/", dir, c.version(), config.Progress); err != nil {
		return nil, err
	}
	password, err := c.initialize(ctx)
	if err != nil {
		return nil, err
	}
	// Another process may take the free port before the server binds it.
	for attempt := 1; ; attempt++ {
		dev, err := c.start(ctx, password)
		if err == nil {
			dev.answers = true
			go func() { // keeps the folder locked even if the caller drops dev
				<-dev.ended
				unlock()
				close(dev.done)
			}()
			return dev, nil
		}
		if config.Port != 0 || attempt == 3 || !errors.Is(err, errExited) {
			return nil, err
		}
	}
}

// PID is the process ID of the server.
func (d *Server) PID() int { return d.process.Pid }

// Done is closed when the server has ended, for any reason, and another can use its folder.
func (d *Server) Done() <-chan struct{} { return d.done }

// Stop ends the server. The server cuts its connections and writes everything to disk.
// If that takes too long Stop kills it, which loses nothing that was acknowledged.
func (d *Server) Stop() error {
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
		if d.answers {
			<-d.done // so the next start need not wait for the lock
		}
		return nil
	default:
		return fmt.Errorf("postgres, process %d, did not stop", d.process.Pid)
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

// cluster is a Postgres data directory and how to run a server on it.
type cluster struct {
	dir, data, bin string
	credential     *syscall.Credential
	config         Config
}

// version returns the major version that created the cluster, or "" if there is none.
func (c *cluster) version() string {
	version, err := os.ReadFile(filepath.Join(c.data, "PG_VERSION"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(version))
}

// passwordFile holds the password of the cluster's superuser.
func (c *cluster) passwordFile() string { return filepath.Join(c.dir, "password") }

// remove deletes the cluster if there is one. It renames it first,
// so an interrupted deletion leaves nothing that looks like a cluster.
func (c *cluster) remove() error {
	if _, err := os.Lstat(c.data); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Stat(c.passwordFile()); err != nil || c.version() == "" {
		return fmt.Errorf("%s was not created by Berth: not removed", c.data)
	}
	c.config.Progress("removing the database cluster in " + c.data)
	old := c.data + ".old"
	if err := os.RemoveAll(old); err != nil {
		return err
	}
	if err := os.Rename(c.data, old); err != nil {
		return err
	}
	return os.RemoveAll(old)
}

// initialize creates the cluster if there is none, and returns its password.
func (c *cluster) initialize(ctx context.Context) (password string, err error) {
	secret := c.passwordFile()
	if c.version() != "" {
		known, err := os.ReadFile(secret)
		return strings.TrimSpace(string(known)), err
	}
	c.config.Progress("creating a database cluster in " + c.data)
	password = rand.Text()
	if err := c.writeFile(secret, password+"\n"); err != nil {
		return "", err
	}
	// initdb works in another folder, which is renamed at the end,
	// so an interrupted initdb leaves nothing that looks like a cluster.
	newDir := c.data + ".new"
	if err := os.RemoveAll(newDir); err != nil {
		return "", err
	}
	if err := os.Mkdir(newDir, 0o700); err != nil {
		return "", err
	}
	if err := c.chown(newDir); err != nil {
		return "", err
	}
	auth := "scram-sha-256"
	if c.config.Fast {
		auth = "password" // SCRAM is slow by design, and tests open thousands of connections
	}
	args := []string{"--pgdata", newDir, "--username", superuser, "--pwfile", secret, "--auth", auth,
		"--encoding", "UTF8", "--lc-collate", "C", "--lc-ctype", "C.UTF-8", "--lc-messages", "C"}
	if runtime.GOOS == "darwin" {
		args[len(args)-3] = "en_US.UTF-8" // macOS has no C.UTF-8
	}
	if c.config.Fast {
		args = append(args, "--no-sync", "--wal-segsize", "1")
	}
	cmd := c.command("initdb", args...)
	if out, err := combinedOutput(ctx, cmd); err != nil {
		return "", fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return password, os.Rename(newDir, c.data)
}

// start runs the server and waits until it answers.
func (c *cluster) start(ctx context.Context, password string) (*Server, error) {
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
	logFile, err := os.OpenFile(filepath.Join(c.dir, "postgres.log"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer logFile.Close()
	if err := logFile.Chmod(0o600); err != nil { // an older version created it for everyone to read
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = logFile, logFile

	dev := &Server{
		Programs: c.bin, Dir: c.dir, Data: c.data, ended: make(chan struct{}), done: make(chan struct{}),
	}
	address := &url.URL{Scheme: "postgres", User: url.UserPassword(superuser, password), Path: "/" + superuser,
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), RawQuery: "sslmode=disable"}
	dev.TCP, dev.URL = address.String(), address.String()
	if socket != "" {
		address.Host = ""
		// libpq reads a plus as a plus, not as a space.
		host := strings.ReplaceAll(url.QueryEscape(socket), "+", "%20")
		address.RawQuery = "host=" + host + "&port=" + strconv.Itoa(port)
		dev.URL = address.String()
	}
	started := make(chan error)
	go func() {
		// The kernel signals the child when the thread that forked it ends,
		// so this goroutine keeps its thread for as long as the child lives.
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
		return nil, fmt.Errorf("postgres did not start: %w\n%s", err, tail(text))
	}
	return dev, nil
}

// socket creates the directory for the server's Unix socket.
// It returns "" if the socket's path would exceed the system's limit.
func (c *cluster) socket() (string, error) {
	const longest = 103 // the limit of macOS, in bytes; Linux allows four more
	dir := filepath.Join(c.dir, "socket")
	if len(dir)+len("/.s.PGSQL.65535") > longest {
		return "", nil
	}
	// A killed server leaves its socket behind.
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	return dir, c.chown(dir)
}

func (c *cluster) settings(socket string) map[string]string {
	directories := "" // a list, so a path may need quotes
	if socket != "" {
		directories = `"` + strings.ReplaceAll(socket, `"`, `""`) + `"`
	}
	settings := map[string]string{
		"listen_addresses":               "127.0.0.1",
		"unix_socket_directories":        directories,
		"max_connections":                "200",
		"max_pred_locks_per_transaction": "1024", // with fewer, batches lock whole tables
		"max_pred_locks_per_page":        "64",   // with fewer, they lock pages, which sessions of one week share
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

var errExited = errors.New("the server exited")

// waitUntilReady waits until the server answers, and creates its database.
func (d *Server) waitUntilReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	config, err := pgx.ParseConfig(d.URL)
	if err != nil {
		return err
	}
	config.Database = "postgres"
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.ConnectConfig(ctx, config)
		if err == nil {
			defer conn.Close(ctx)
			if _, err = conn.Exec(ctx, "create database "+superuser); pg.Code(err) == "42P04" { // it exists
				err = nil
			}
			return err
		}
		select {
		case <-tick.C:
		case <-d.ended:
			return errExited
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

// stopOrphan stops a server that a killed process left behind. Only the holder of the folder's lock uses
// the cluster, so a server that still runs on it has lost its parent.
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
		// The machine or the container went down. Another process may have the number now,
		// which would keep Postgres from starting.
		return os.Remove(pidFile)
	}
	c.config.Progress(fmt.Sprintf("stopping Postgres, process %d, which an earlier Berth left running", pid))
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(stopTimeout)
	_ = syscall.Kill(pid, syscall.SIGINT)
	for strings.Contains(commandLine(pid), c.data) {
		select {
		case <-tick.C:
		case <-deadline:
			_ = syscall.Kill(pid, syscall.SIGQUIT)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// command prepares one of Postgres's programs to run as the right user, out of reach
// of the terminal's Ctrl-C, and without the caller's PG variables.
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

// combinedOutput is like exec.Cmd.CombinedOutput, but ends with ctx.
// It keeps its thread, because the kernel signals the child when the thread ends.
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

func (c *cluster) writeFile(path, text string) error {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	return c.chown(path)
}

func (c *cluster) chown(path string) error {
	if c.credential == nil {
		return nil
	}
	return os.Chown(path, int(c.credential.Uid), int(c.credential.Gid))
}

func tail(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}
