package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/berthhq/berth/internal/boot"
	"github.com/berthhq/berth/internal/cli"
)

// workerCommand runs a node without the API. It plans and sends messages, and does what is due. Servers with --send=off
// leave messages to it.
type workerCommand struct {
	boot.DatabaseConfig `embed:""`
	boot.KeyConfig      `embed:""`
	boot.ListenConfig   `embed:""`
	boot.LogConfig      `embed:""`
}

// Run implements kong's command.
func (c *workerCommand) Run(ctx context.Context, to *cli.Console) error {
	if err := c.Required(); err != nil {
		return err
	}
	if c.PublicURL == "" {
		return errors.New("BERTH_PUBLIC_URL is not set; the links in messages start with it")
	}
	if err := boot.TuneForLoad(); err != nil {
		return err
	}
	log := c.NewLogger(to.Err)
	on, err := c.ListenConfig.Open(ctx)
	if err != nil {
		return err
	}
	defer on.Close()
	c.Senders.Send = "on" // a worker always sends
	c.LameDuck = 0        // and nobody calls it
	n, err := boot.Open(ctx, log, c.URL, c.KeyConfig, c.ListenConfig)
	if err != nil {
		return err
	}
	defer n.Close()
	n.Handler = healthOnly(n.Handler)
	debug.FreeOSMemory() // starting needs more memory than running
	log.InfoContext(ctx, "working",
		slog.String("address", on.Public.Addr().String()),
		slog.String("admin_address", on.Admin.Addr().String()), slog.String("version", cli.Version()))
	return n.Serve(ctx, on, nil)
}

// healthOnly serves health checks and nothing else.
func healthOnly(all http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case path == "/healthz", path == "/readyz", strings.HasPrefix(path, "/grpc.health.v1.Health/"):
			all.ServeHTTP(w, r)
		default:
			http.NotFound(w, r)
		}
	})
}
