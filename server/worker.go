package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
)

// workerCommand runs a node that answers nobody: it plans and sends messages and does what falls due. Servers that are told that
// messages are sent elsewhere (--messages-elsewhere) leave that to it.
type workerCommand struct {
	databaseConfig `embed:""`
	keyConfig      `embed:""`
	listenConfig   `embed:""`
	logConfig      `embed:""`
}

// Run implements kong's command.
func (c *workerCommand) Run(ctx context.Context, to *console) error {
	if err := c.needed(); err != nil {
		return err
	}
	if c.PublicURL == "" {
		return errors.New("BERTH_PUBLIC_URL is not set; the links in messages start with it")
	}
	tuneMemory()
	log := c.logger(to)
	listener, err := c.listen(ctx)
	if err != nil {
		return err
	}
	defer listener.Close()
	c.Senders.Elsewhere = false // this is where
	n, err := openNode(ctx, log, c.URL, c.keyConfig, c.listenConfig)
	if err != nil {
		return err
	}
	defer n.close()
	n.handler = watched(n.handler)
	debug.FreeOSMemory() // starting takes much that working does not
	log.InfoContext(ctx, "working", slog.String("address", listener.Addr().String()), slog.String("version", version()))
	return n.serve(ctx, listener, nil)
}

// watched lets through what tells how a node is, and nothing else.
func watched(all http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case path == "/healthz", path == "/readyz", path == "/metrics", strings.HasPrefix(path, "/grpc.health.v1.Health/"):
			all.ServeHTTP(w, r)
		default:
			http.NotFound(w, r)
		}
	})
}
