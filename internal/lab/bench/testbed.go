package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/boot"
	"github.com/berthhq/berth/internal/localpg"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rpc"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/traffic"
	"github.com/berthhq/berth/migrations"
)

// testbed is a node on a Postgres of its own with fsync on, in a folder that close removes. The node sends no messages,
// as in a fleet that has workers.
type testbed struct {
	*boot.Node
	size     dbSize
	folder   string
	postgres *localpg.Server
	owner    *pgxpool.Pool
	address  string
	stop     context.CancelFunc
	served   chan error
	others   []*otherNode
	single   *otherNode // one booking per transaction
	script   string     // of pgbench
	tokens   map[int]string

	nextUser   int                        // the first member that no spread load has used
	nextStep   int64                      // where the count of pgbench's script continues
	nextUnused int                        // how many sessions hot and rush have used
	nextTurn   atomic.Int64               // where the tour of all tenants continues
	visits     [sessionCount]atomic.Int32 // how many members have booked each session in turn
	conflicts  atomic.Int64               // failed attempts of the naive way
}

func openTestbed(
	ctx context.Context, size dbSize, callerRate float64, progress func(string),
) (_ *testbed, err error) {
	folder, err := os.MkdirTemp("", "berth-bench-")
	if err != nil {
		return nil, err
	}
	// Postgres can run as another user, who must be able to enter.
	if err := os.Chmod(folder, 0o711); err != nil { //nolint:gosec // secrets in it are 0600
		return nil, err
	}
	h := &testbed{size: size, folder: folder, served: make(chan error, 1), stop: func() {}, tokens: make(map[int]string)}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close())
		}
	}()
	if h.postgres, err = localpg.Start(ctx, localpg.Config{
		DataDir: filepath.Join(folder, "postgres"), Progress: progress,
	}); err != nil {
		return nil, err
	}
	if err = pg.Migrate(ctx, h.postgres.URL, migrations.FS, func(string) {}); err != nil {
		return nil, err
	}
	if h.owner, err = pgxpool.New(ctx, h.postgres.URL); err != nil {
		return nil, err
	}
	progress("filling: " + size.String())
	if err = h.fill(ctx, size, progress); err != nil {
		return nil, err
	}
	keys := boot.KeyConfig{Data: folder, Issuer: "berth", Audience: "berth", Senders: boot.SenderConfig{Send: "off"}}
	if _, err = keys.Files().Create(); err != nil {
		return nil, err
	}
	if h.Node, err = boot.Open(
		ctx, slog.New(slog.DiscardHandler), h.postgres.URL, keys,
		boot.ListenConfig{Drain: time.Second, Traffic: boot.TrafficConfig{CallerRate: callerRate}},
	); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	h.address = listener.Addr().String()
	serving, stop := context.WithCancel(ctx)
	h.stop = stop
	go func() { h.served <- h.Serve(serving, boot.Listeners{Public: listener}, h.postgres.Done()) }()
	h.script, err = h.recordScript(ctx)
	return h, err
}

// otherNode is one more node on the same database. It does not listen.
type otherNode struct {
	app     *app.Services
	db      *pg.DB
	metrics *prometheus.Registry
}

func (b *testbed) openOther(ctx context.Context, lanes int) (_ *otherNode, err error) {
	n := &otherNode{metrics: prometheus.NewRegistry()}
	if n.db, err = pg.Open(ctx, pg.Config{URL: b.postgres.URL, Registerer: n.metrics}); err != nil {
		return nil, err
	}
	n.app = app.New(app.Config{DB: n.db, Now: time.Now, Width: lanes})
	if err := n.db.Warm(ctx); err != nil {
		n.db.Close()
		return nil, err
	}
	return n, nil
}

// nodes returns n nodes, the one that listens first. It opens those that are missing.
func (b *testbed) nodes(ctx context.Context, n int) ([]*app.Services, error) {
	for len(b.others) < n-1 {
		other, err := b.openOther(ctx, 0)
		if err != nil {
			return nil, err
		}
		b.others = append(b.others, other)
	}
	all := []*app.Services{b.App}
	for _, other := range b.others[:n-1] {
		all = append(all, other.app)
	}
	return all, nil
}

// otherNodes are all nodes except the one that listens.
func (b *testbed) otherNodes() []*otherNode {
	if b.single == nil {
		return b.others
	}
	return append([]*otherNode{b.single}, b.others...)
}

// close stops everything and removes the folder.
func (b *testbed) close() error {
	var err error
	if b.address != "" {
		b.stop()
		err = <-b.served
	}
	for _, other := range b.otherNodes() {
		other.app.Engine.Drain()
		other.db.Close()
	}
	if b.Node != nil {
		b.Node.Close()
	}
	if b.owner != nil {
		b.owner.Close()
	}
	if b.postgres != nil {
		err = errors.Join(err, b.postgres.Stop())
	}
	return errors.Join(err, os.RemoveAll(b.folder))
}

// serveNaive serves the naive way behind the same server and with the same tokens.
func (b *testbed) serveNaive(ctx context.Context) (address string, closeServer func(), err error) {
	naive, err := b.openNaive(ctx)
	if err != nil {
		return "", nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		naive.pool.Close()
		return "", nil, err
	}
	server := rpc.NewServer(naive.handler(b.Verifier), slog.New(slog.DiscardHandler), traffic.ConnLimits{})
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // closeServer ends it
	}()
	return listener.Addr().String(), func() {
		_ = server.Close()
		<-served
		naive.pool.Close()
	}, nil
}

// verify checks every invariant of the data that was written through the service.
func (b *testbed) verify(ctx context.Context, progress func(string)) error {
	db, err := pg.Open(ctx, pg.Config{
		URL: b.postgres.URL, CommandConns: 1, ReadConns: 2, StatementTimeout: 10 * time.Minute,
	})
	if err != nil {
		return err
	}
	defer db.Close()
	ids := []tenant.TenantID{tenantID(mainTenant)}
	for n := range b.size.tenants - 1 {
		ids = append(ids, tenantID(firstOtherTenant+n))
	}
	a := app.New(app.Config{DB: db, Now: time.Now})
	var seen, wrong atomic.Int64
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(2)
	for _, id := range ids {
		work.Go(func() error {
			violations, err := a.Housekeeping.Verify(ctx, id)
			for _, v := range violations {
				progress(fmt.Sprintf("%s: %s: %s", v.Check, v.Row, v.Detail))
			}
			wrong.Add(int64(len(violations)))
			if n := seen.Add(1); n%1000 == 0 {
				progress(fmt.Sprintf("verified: %d of %d tenants", n, len(ids)))
			}
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return err
	}
	if wrong.Load() > 0 {
		return fmt.Errorf("%d violations of invariants", wrong.Load())
	}
	progress("every invariant holds: " + b.size.String() + " from before")
	return nil
}
