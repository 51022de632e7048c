// Package localpg runs Postgres on this machine, for development and for tests. It finds the programs, or installs
// them.
package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	abs, err := filepath.Abs(config.DataDir)
	if err != nil {
		return nil, err
	}
	if dir != abs {
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
		server, err := c.start(ctx, password)
		if err == nil {
			server.answers = true
			go func() { // keeps the folder locked even if the caller drops the server
				<-server.ended
				unlock()
				close(server.done)
			}()
			return server, nil
		}
		if config.Port != 0 || attempt == 3 || !errors.Is(err, errExited) {
			return nil, err
		}
	}
}

// PID is the process ID of the server.
func (s *Server) PID() int { return s.process.Pid }

// Done is closed when the server has ended, for any reason, and another can use its folder.
func (s *Server) Done() <-chan struct{} { return s.done }

// Stop ends the server. The server cuts its connections and writes everything to disk.
// If that takes too long Stop kills it, which loses nothing that was acknowledged.
func (s *Server) Stop() error {
	s.stop.Do(func() {
		for _, step := range []struct {
			signal syscall.Signal
			wait   time.Duration
		}{{syscall.SIGINT, stopTimeout}, {syscall.SIGQUIT, 5 * time.Second}, {syscall.SIGKILL, time.Minute}} {
			_ = s.process.Signal(step.signal) // it may have ended already
			if waitFor(s.ended, step.wait) {
				break
			}
		}
	})
	select {
	case <-s.ended:
		if s.answers {
			<-s.done // so the next start need not wait for the lock
		}
		return nil
	default:
		return fmt.Errorf("postgres, process %d, did not stop", s.process.Pid)
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

var errExited = errors.New("the server exited")

// waitUntilReady waits until the server answers, and creates its database.
func (s *Server) waitUntilReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	config, err := pgx.ParseConfig(s.URL)
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
		case <-s.ended:
			return errExited
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}
