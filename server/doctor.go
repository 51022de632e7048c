package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/berthhq/berth/internal/boot"
	"github.com/berthhq/berth/internal/cli"
	"github.com/berthhq/berth/internal/pg"
)

// maxNodes is more than one database can serve.
const maxNodes = 1000

// doctorCommand checks what a node would start with.
type doctorCommand struct {
	boot.DatabaseConfig `embed:""`
	boot.KeyConfig      `embed:""`
	boot.PoolConfig     `embed:""`

	Nodes int `default:"1" help:"How many nodes and workers there are. The database must have connections for all of them, and for one more during an upgrade."`
}

// Run implements kong's command. It does every check, even if others fail.
func (c *doctorCommand) Run(ctx context.Context, to *cli.Console) error {
	if err := c.Required(); err != nil {
		return err
	}
	found := findings{to: to.Out}
	found.note("check-in and message keys", c.checkSecrets(ctx))
	found.note("keys for tokens", c.checkTokenKeys(ctx))
	found.note("database", c.checkDatabase(ctx, &found))
	if found.bad > 0 {
		return fmt.Errorf("problems found: %d", found.bad)
	}
	return nil
}

func (c *doctorCommand) checkSecrets(ctx context.Context) error {
	files := c.Files()
	_, err := c.OpenSecrets(ctx, files)
	return err
}

func (c *doctorCommand) checkTokenKeys(ctx context.Context) error {
	files := c.Files()
	issuer, err := c.OpenIssuer(ctx, files)
	if err != nil {
		return err
	}
	verifier, err := c.OpenVerifier(issuer)
	if err != nil {
		return err
	}
	return verifier.Refresh(ctx)
}

func (c *doctorCommand) checkDatabase(ctx context.Context, found *findings) error {
	if c.Nodes < 1 || c.Nodes > maxNodes {
		return fmt.Errorf("--nodes is %d; it must be from 1 to %d", c.Nodes, maxNodes)
	}
	connections, err := c.Connections(c.Nodes + 1)
	if err != nil {
		return err
	}
	db, err := pg.Open(ctx, pg.Config{URL: c.URL, CommandConns: 1, ReadConns: 1})
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.CheckPooler(ctx); err != nil {
		return err
	}
	// Report this error first: before the first migration nothing else can be checked.
	schemaErr := boot.CheckSchema(ctx, db)
	advice, err := db.Doctor(ctx, connections)
	for _, a := range advice {
		found.add(a.String())
	}
	return cmp.Or(schemaErr, err)
}

// findings prints findings and counts the bad ones.
type findings struct {
	to  io.Writer
	bad int
}

func (f *findings) add(text string) {
	f.bad++
	fmt.Fprintln(f.to, "✗", text)
}

func (f *findings) note(what string, err error) {
	if err != nil {
		f.add(what + ": " + err.Error())
		return
	}
	fmt.Fprintln(f.to, "✓", what)
}
