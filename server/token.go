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

	Subject string            `arg:"" help:"Who it is for: the subject (sub) of a member."`
	Tenant  []tenant.TenantID `required:"" help:"Tenants that it is good for."`
	Life    time.Duration     `default:"1h" help:"How long it is good."`
	Name    string            `help:"Name to put into it."`
	Email   string            `help:"Email address to put into it."`
}

// Run implements kong's command. It prints the token alone, for scripts.
func (c *tokenCommand) Run(_ context.Context, to *cli.Console) error {
	issuer, err := c.OpenIssuer()
	if err != nil {
		return err
	}
	raw, _, err := issuer.Issue(token.Grant{Subject: c.Subject, Name: c.Name, Email: c.Email, Tenants: c.Tenant}, c.Life)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(to.Out, raw)
	return err
}
