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
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rpc"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/migrations"
)

// testbed is a node on a durable Postgres of its own, in a folder that goes when it closes. It leaves messages to others, as
// nodes do that have workers beside them.
type testbed struct {
	*boot.Node
	size     dbSize
	folder   string
	postgres *pg.Development
	owner    *pgxpool.Pool
	address  string
	stop     context.CancelFunc
	served   chan error
	others   []*otherNode // beside it
	single   *otherNode   // one booking in a transaction
	script   string       // pgbench's
	tokens   map[int]string

	nextUser  int                        // members that no run of its own has booked for yet
	nextStep  int64                      // where pgbench's enumeration goes on
	nextCrowd int                        // sessions that no run has crowded into
	nextTurn  atomic.Int64               // where the tour of all tenants goes on
	visits    [sessionCount]atomic.Int32 // members that have booked a session in turn
	conflicts atomic.Int64               // attempts of the naive way that came to nothing
}

func openTestbed(ctx context.Context, size dbSize, progress func(string)) (_ *testbed, err error) {
	folder, err := os.MkdirTemp("", "berth-bench-")
	if err != nil {
		return nil, err
	}
	// Postgres's user may enter, so that everything is in the one folder that goes.
	if err := os.Chmod(folder, 0o711); err != nil { //nolint:gosec // what is secret in it is readable by its owner alone
		return nil, err
	}
	h := &testbed{size: size, folder: folder, served: make(chan error, 1), stop: func() {}, tokens: make(map[int]string)}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close())
		}
	}()
	if h.postgres, err = pg.StartDevelopment(ctx, pg.DevConfig{DataDir: filepath.Join(folder, "postgres"), Progress: progress}); err != nil {
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
	keys := boot.KeyConfig{Data: folder, Issuer: "berth", Audience: "berth", Senders: boot.SenderConfig{Elsewhere: true}}
	if h.Node, err = boot.Open(ctx, slog.New(slog.DiscardHandler), h.postgres.URL, keys, boot.ListenConfig{Drain: time.Second}); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	h.address = listener.Addr().String()
	serving, stop := context.WithCancel(ctx)
	h.stop = stop
	go func() { h.served <- h.Serve(serving, listener, h.postgres.Done()) }()
	h.script, err = h.recordScript(ctx)
	return h, err
}

// otherNode is one more node on the same database, without a door to the network.
type otherNode struct {
	app     *app.App
	db      *pg.DB
	metrics *prometheus.Registry
}

func (h *testbed) openOther(ctx context.Context, lanes int) (_ *otherNode, err error) {
	n := &otherNode{metrics: prometheus.NewRegistry()}
	if n.db, err = pg.Open(ctx, pg.Config{URL: h.postgres.URL, Registerer: n.metrics}); err != nil {
		return nil, err
	}
	n.app = app.New(app.Config{DB: n.db, Now: time.Now, Lanes: lanes})
	if err := n.db.Warm(ctx); err != nil {
		n.db.Close()
		return nil, err
	}
	return n, nil
}

// nodes gives so many nodes, and makes those that are missing.
func (h *testbed) nodes(ctx context.Context, n int) ([]*app.App, error) {
	for len(h.others) < n-1 {
		other, err := h.openOther(ctx, 0)
		if err != nil {
			return nil, err
		}
		h.others = append(h.others, other)
	}
	all := []*app.App{h.App}
	for _, other := range h.others[:n-1] {
		all = append(all, other.app)
	}
	return all, nil
}

// beside are all nodes but the one that serves.
func (h *testbed) beside() []*otherNode {
	if h.single == nil {
		return h.others
	}
	return append([]*otherNode{h.single}, h.others...)
}

// close ends what runs and removes what was written.
func (h *testbed) close() error {
	var err error
	if h.address != "" {
		h.stop()
		err = <-h.served
	}
	for _, other := range h.beside() {
		other.app.Drain()
		other.db.Close()
	}
	if h.Node != nil {
		h.Node.Close()
	}
	if h.owner != nil {
		h.owner.Close()
	}
	if h.postgres != nil {
		err = errors.Join(err, h.postgres.Stop())
	}
	return errors.Join(err, os.RemoveAll(h.folder))
}

// serveNaive serves the naive way behind the same server and the same tokens.
func (h *testbed) serveNaive(ctx context.Context) (address string, closeServer func(), err error) {
	naive, err := h.openNaive(ctx)
	if err != nil {
		return "", nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		naive.pool.Close()
		return "", nil, err
	}
	server := rpc.NewServer(naive.handler(h.Verifier), slog.New(slog.DiscardHandler))
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // it is closed below
	}()
	return listener.Addr().String(), func() {
		_ = server.Close()
		<-served
		naive.pool.Close()
	}, nil
}

// verify proves every invariant over what was written through the service.
func (h *testbed) verify(ctx context.Context, progress func(string)) error {
	db, err := pg.Open(ctx, pg.Config{URL: h.postgres.URL, CommandConns: 1, ReadConns: 2, StatementTimeout: 10 * time.Minute})
	if err != nil {
		return err
	}
	defer db.Close()
	ids := []tenant.TenantID{tenantID(mainTenant)}
	for n := range h.size.tenants - 1 {
		ids = append(ids, tenantID(firstOtherTenant+n))
	}
	a := app.New(app.Config{DB: db, Now: time.Now})
	var seen, wrong atomic.Int64
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(2)
	for _, id := range ids {
		work.Go(func() error {
			violations, err := a.Verify(ctx, id)
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
		return errors.New("the data are not sound")
	}
	progress("every invariant holds: " + h.size.String() + " from before")
	return nil
}
