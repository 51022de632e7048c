package main

import (
	"context"

	"github.com/berthhq/berth/internal/boot"
	"github.com/berthhq/berth/internal/cli"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/migrations"
)

// migrateCommand updates the schema. It is the only command that needs the role that owns the tables.
type migrateCommand struct {
	boot.DatabaseConfig `embed:""`
}

// Run implements kong's command.
func (c *migrateCommand) Run(ctx context.Context, to *cli.Console) error {
	if err := c.Required(); err != nil {
		return err
	}
	progress := cli.NewProgress(to.Out)
	if err := pg.Migrate(ctx, c.URL, migrations.FS, progress.Say); err != nil {
		return boot.AdviseOnSchema(err)
	}
	progress.Say("the schema is up to date")
	return nil
}
