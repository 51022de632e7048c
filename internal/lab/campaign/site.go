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

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/migrations"
)

// site is a Postgres with servers in front of it, each a process, and what can go wrong between them.
type site struct {
	folder   string
	binary   string
	offset   time.Duration // from the real time to that of the campaign
	port     int
	postgres *pg.Development
	nodes    []*node // servers
	workers  []*node // which send messages, and answer nobody
}

// node is one server or worker with its own way to Postgres.
type node struct {
	site  *site
	name  string
	args  []string
	proxy *toxiproxy.Proxy
	wire  *wire
	url   string

	mu      sync.RWMutex
	process *process // nil while it is down
	conn    *grpc.ClientConn
	skew    time.Duration
}

func openSite(ctx context.Context, folder, binary string, offset time.Duration, nodes, workers int) (_ *site, err error) {
	s := &site{folder: folder, binary: binary, offset: offset}
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
	control := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	join := func(to *[]*node, name string, args ...string) error {
		n := &node{site: s, name: name, args: args}
		if n.wire, err = newWire(u.Host); err != nil {
			return err
		}
		*to = append(*to, n)
		n.proxy = toxiproxy.NewProxy(control, name, "127.0.0.1:0", n.wire.address())
		if err := n.proxy.Start(); err != nil {
			return err
		}
		through := *u
		through.Host = n.proxy.Listen
		n.url = through.String()
		return nil
	}
	for i := range nodes {
		if err := join(&s.nodes, fmt.Sprint("server-", i), "serve", "--send=off"); err != nil {
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

// all gives the servers and the workers.
func (s *site) all() []*node { return slices.Concat(s.nodes, s.workers) }

// startPostgres starts it, or starts it again on the same port. What a killed one leaves behind, ends by itself, but not at once.
func (s *site) startPostgres(ctx context.Context) (err error) {
	for deadline := time.Now().Add(startPatience); ; {
		s.postgres, err = pg.StartDevelopment(ctx, pg.DevConfig{DataDir: filepath.Join(s.folder, "postgres"), Port: s.port})
		if err == nil || time.Now().After(deadline) || pause(ctx, 100*time.Millisecond) != nil {
			return err
		}
	}
}

// killPostgres ends it as a power cut would.
func (s *site) killPostgres() error {
	if err := syscall.Kill(s.postgres.PID(), syscall.SIGKILL); err != nil {
		return err
	}
	<-s.postgres.Done()
	return nil
}

// terminate lets Postgres end some of its connections.
func (s *site) terminate(ctx context.Context, random *rand.Rand) (err error) {
	conn, err := pgx.Connect(ctx, s.postgres.TCP)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	_, err = conn.Exec(ctx, `select pg_terminate_backend(pid) from pg_stat_activity
where application_name = 'berth' and (state <> 'idle' or pid % 3 = $1)`, random.IntN(3))
	return err
}

// now is the time of the campaign, by a clock that is right.
func (s *site) now() time.Time { return time.Now().Add(s.offset) }

func (s *site) close() error {
	var errs []error
	for _, n := range s.all() {
		n.mu.Lock()
		if n.process != nil {
			n.process.kill()
		}
		if n.conn != nil {
			errs = append(errs, n.conn.Close())
		}
		n.mu.Unlock()
		if n.proxy != nil {
			n.proxy.Stop()
		}
		n.wire.close()
	}
	if s.postgres != nil {
		errs = append(errs, s.postgres.Stop())
	}
	return errors.Join(errs...)
}

// start runs it with a clock that is wrong by skew.
func (n *node) start(ctx context.Context, skew time.Duration) error {
	p, err := startProcess(ctx, n.site.binary, filepath.Join(n.site.folder, n.name+".log"), append(slices.Clone(n.args),
		"--database-url", n.url, "--data", n.site.folder, "--listen", "127.0.0.1:0", "--log-format", "json",
		"--clock-offset", (n.site.offset+skew).String())...)
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

// down takes the process away, to be killed or stopped.
func (n *node) down() *process {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.process
	n.process = nil
	return p
}

// client is a connection to the server, wherever it is by now.
func (n *node) client() *grpc.ClientConn {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.conn
}

// pause waits, or gives the error of a context that ends meanwhile.
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
