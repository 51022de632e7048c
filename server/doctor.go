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

// doctorCommand examines what a node would start with.
type doctorCommand struct {
	boot.DatabaseConfig `embed:""`
	boot.KeyConfig      `embed:""`
}

// Run implements kong's command. Each thing is examined, whatever the ones before were like.
func (c *doctorCommand) Run(ctx context.Context, to *cli.Console) error {
	if err := c.Required(); err != nil {
		return err
	}
	found := findings{to: to.Out}
	found.note("check-in key", c.checkInKeyIsGood())
	found.note("keys for tokens", c.keysAreGood(ctx))
	found.note("database", c.databaseIsGood(ctx, &found))
	if found.bad > 0 {
		return fmt.Errorf("%d findings", found.bad)
	}
	return nil
}

func (c *doctorCommand) checkInKeyIsGood() error {
	_, err := c.OpenSigningKeys()
	return err
}

func (c *doctorCommand) keysAreGood(ctx context.Context) error {
	issuer, err := c.OpenIssuer()
	if err != nil {
		return err
	}
	verifier, err := c.OpenVerifier(issuer)
	if err != nil {
		return err
	}
	return verifier.Refresh(ctx)
}

func (c *doctorCommand) databaseIsGood(ctx context.Context, found *findings) error {
	db, err := pg.Open(ctx, pg.Config{URL: c.URL}) // with the pools of a node: they count
	if err != nil {
		return err
	}
	defer db.Close()
	// Before the first migration nothing else can be examined: that is what to see to first.
	wrong := boot.CheckSchema(ctx, db)
	advice, err := db.Doctor(ctx)
	for _, a := range advice {
		found.add(a.String())
	}
	return cmp.Or(wrong, err)
}

// findings are told as they come.
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
