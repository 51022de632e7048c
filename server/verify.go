package main

import (
	"context"
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/boot"
	"github.com/berthhq/berth/internal/cli"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// verifyCommand checks every invariant over all data. It can run during normal operation.
type verifyCommand struct {
	boot.DatabaseConfig `embed:""`

	Tenant []tenant.TenantID `help:"Tenants to check. Default: all."`
}

// verifyTimeout is the limit for one check of one tenant.
const verifyTimeout = 10 * time.Minute

// Run implements kong's command.
func (c *verifyCommand) Run(ctx context.Context, to *cli.Console) error {
	if err := c.Required(); err != nil {
		return err
	}
	config := pg.Config{URL: c.URL, CommandConns: 1, ReadConns: 1, StatementTimeout: verifyTimeout}
	db, err := boot.OpenDatabase(ctx, config)
	if err != nil {
		return err
	}
	defer db.Close()
	a := app.New(app.Config{DB: db, Now: time.Now})
	tenants := c.Tenant
	if len(tenants) == 0 {
		if tenants, err = a.Engine.Tenants(ctx); err != nil {
			return err
		}
	}
	total := 0
	for _, id := range tenants {
		violations, err := a.Housekeeping.Verify(ctx, id)
		if err != nil {
			return fmt.Errorf("tenant %s: %w", id, err)
		}
		for _, v := range violations {
			fmt.Fprintf(to.Out, "✗ %s: %s\n  tenant %s, row %s: %s\n", v.Invariant, v.Check, v.Tenant, v.Row, v.Detail)
		}
		total += len(violations)
	}
	if total > 0 {
		return fmt.Errorf("%d violations in %d tenants", total, len(tenants))
	}
	_, err = fmt.Fprintf(to.Out, "✓ every invariant holds in %d tenants\n", len(tenants))
	return err
}
