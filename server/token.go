package main

import (
	"context"
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/boot"
	"github.com/berthhq/berth/internal/cli"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
)

// tokenCommand issues a token that every node with the same signing key accepts.
type tokenCommand struct {
	boot.KeyConfig `embed:""`

	Subject string            `arg:"" help:"Subject (sub) of the member."`
	Tenant  []tenant.TenantID `required:"" help:"Tenants that the token is valid for."`
	Life    time.Duration     `default:"1h" help:"How long the token is valid."`
	Name    string            `help:"Name in the token."`
	Email   string            `help:"Email address in the token."`
}

// Run implements kong's command. It prints only the token, for scripts.
func (c *tokenCommand) Run(ctx context.Context, to *cli.Console) error {
	files := c.Files()
	issuer, err := c.OpenIssuer(ctx, files)
	if err != nil {
		return err
	}
	raw, _, err := issuer.Issue(token.Claims{Subject: c.Subject, Name: c.Name, Email: c.Email, Tenants: c.Tenant}, c.Life)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(to.Out, raw)
	return err
}
