package campaign

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/berthhq/berth/internal/localpg"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/migrations"
)

// cluster is a Postgres with servers and workers, each a process, and the faults between them.
type cluster struct {
	folder   string
	binary   string
	offset   time.Duration // from the real time to the time of the campaign
	port     int
	postgres *localpg.Server
	nodes    []*node // servers
	workers  []*node // send messages
}

// node is a server or worker with its own connection path to Postgres.
type node struct {
	cluster *cluster
	name    string
	args    []string
	proxy   *commitProxy
	url     string

	mu      sync.RWMutex
	process *process // nil while it is down
	conn    *grpc.ClientConn
	skew    time.Duration
}

func openCluster(
	ctx context.Context, folder, binary string, offset time.Duration, nodes, workers int,
) (_ *cluster, err error) {
	s := &cluster{folder: folder, binary: binary, offset: offset}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if err := s.startPostgres(ctx); err != nil {
		return nil, err
	}
	if err := pg.Migrate(ctx, s.postgres.TCP, migrations.FS, func(string) {}); err != nil {
		return nil, err
	}
	u, err := url.Parse(s.postgres.TCP)
	if err != nil {
		return nil, err
	}
	if s.port, err = strconv.Atoi(u.Port()); err != nil {
		return nil, err
	}
	join := func(to *[]*node, name string, args ...string) error {
		n := &node{cluster: s, name: name, args: args}
		if n.proxy, err = newCommitProxy(u.Host); err != nil {
			return err
		}
		*to = append(*to, n)
		through := *u
		through.Host = n.proxy.Address()
		n.url = through.String()
		return nil
	}
	for i := range nodes {
		if err := join(
			&s.nodes, fmt.Sprint("server-", i), "serve", "--send=off", "--caller-rate=0", "--tenant-rate=0", "--lame-duck=0s",
		); err != nil {
			return nil, err
		}
	}
	for i := range workers {
		if err := join(&s.workers, fmt.Sprint("worker-", i), "worker", "--public-url", "https://berth.example"); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// all returns the servers and the workers.
func (c *cluster) all() []*node { return slices.Concat(c.nodes, c.workers) }

// startPostgres starts Postgres, always on the same port. It retries, because processes that a killed Postgres left
// behind end after some time.
func (c *cluster) startPostgres(ctx context.Context) (err error) {
	for deadline := time.Now().Add(startTimeout); ; {
		c.postgres, err = localpg.Start(ctx, localpg.Config{DataDir: filepath.Join(c.folder, "postgres"), Port: c.port})
		if err == nil || time.Now().After(deadline) || pause(ctx, 100*time.Millisecond) != nil {
			return err
		}
	}
}

// killPostgres kills Postgres, like a power cut.
func (c *cluster) killPostgres() error {
	if err := syscall.Kill(c.postgres.PID(), syscall.SIGKILL); err != nil {
		return err
	}
	<-c.postgres.Done()
	return nil
}

// terminate lets Postgres terminate some of its backends.
func (c *cluster) terminate(ctx context.Context, random *rand.Rand) (err error) {
	conn, err := pgx.Connect(ctx, c.postgres.TCP)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	_, err = conn.Exec(ctx, `select pg_terminate_backend(pid) from pg_stat_activity
where application_name = 'berth' and (state <> 'idle' or pid % 3 = $1)`, random.IntN(3))
	return err
}

// now is the correct time of the campaign.
func (c *cluster) now() time.Time { return time.Now().Add(c.offset) }

func (c *cluster) close() error {
	var errs []error
	for _, n := range c.all() {
		n.mu.Lock()
		if n.process != nil {
			n.process.kill()
		}
		if n.conn != nil {
			errs = append(errs, n.conn.Close())
		}
		n.mu.Unlock()
		n.proxy.Close()
	}
	if c.postgres != nil {
		errs = append(errs, c.postgres.Stop())
	}
	return errors.Join(errs...)
}

// start starts the process with a clock that is wrong by skew.
func (n *node) start(ctx context.Context, skew time.Duration) error {
	args := append(slices.Clone(n.args),
		"--database-url", n.url, "--data", n.cluster.folder, "--listen", "127.0.0.1:0", "--log-format", "json",
		"--clock-offset", (n.cluster.offset + skew).String())
	p, err := startProcess(ctx, n.cluster.binary, filepath.Join(n.cluster.folder, n.name+".log"), args...)
	if err != nil {
		return err
	}
	conn, err := grpc.NewClient("passthrough:///"+p.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		p.kill()
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.conn != nil {
		_ = n.conn.Close()
	}
	n.process, n.conn, n.skew = p, conn, skew
	return nil
}

// down removes and returns the process, to be killed or stopped.
func (n *node) down() *process {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.process
	n.process = nil
	return p
}

// client returns a connection to the server's current process.
func (n *node) client() *grpc.ClientConn {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.conn
}

// pause returns after d, or with the error of a context that ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
