package main

import (
	"context"
	"log/slog"

	"github.com/berthhq/berth/internal/boot"
	"github.com/berthhq/berth/internal/cli"
)

// serveCommand runs one node.
type serveCommand struct {
	boot.DatabaseConfig `embed:""`
	boot.KeyConfig      `embed:""`
	boot.ListenConfig   `embed:""`
	boot.LogConfig      `embed:""`
}

// Run implements kong's command.
func (c *serveCommand) Run(ctx context.Context, to *cli.Console) error {
	if err := c.Required(); err != nil {
		return err
	}
	boot.TuneForStart()
	log := c.NewLogger(to.Err)
	on, err := c.ListenConfig.Open(ctx)
	if err != nil {
		return err
	}
	defer on.Close()
	n, err := boot.Open(ctx, log, c.URL, c.KeyConfig, c.ListenConfig)
	if err != nil {
		return err
	}
	defer n.Close()
	log.InfoContext(ctx, "serving",
		slog.String("address", on.Public.Addr().String()),
		slog.String("admin_address", on.Admin.Addr().String()), slog.String("version", cli.Version()))
	return n.Serve(ctx, on, nil)
}
