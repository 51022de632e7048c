package main

import (
	"context"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/migrations"
)

// migrateCommand brings the schema up to date. It is the one command that needs
// the role which owns the tables.
type migrateCommand struct {
	databaseConfig `embed:""`
}

// Run implements kong's command.
func (c *migrateCommand) Run(ctx context.Context, to *console) error {
	if err := c.needed(); err != nil {
		return err
	}
	steps := newSteps(to.out)
	if err := pg.Migrate(ctx, c.URL, migrations.FS, steps.say); err != nil {
		return advised(err)
	}
	steps.say("the schema is up to date")
	return nil
}
