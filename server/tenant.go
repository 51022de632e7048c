package main

import (
	"context"
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/boot"
	"github.com/berthhq/berth/internal/cli"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// tenantCommand has the commands for tenants. Only operators can use them: no RPC creates tenants.
type tenantCommand struct {
	Create createTenantCommand `cmd:"" help:"Create a tenant with its first owner."`
}

// createTenantCommand creates a tenant. Repeating it with the same id changes nothing.
type createTenantCommand struct {
	boot.DatabaseConfig `embed:""`

	ID            tenant.TenantID `placeholder:"UUID" help:"Id of the tenant. If it exists, nothing changes. Default: a new id."`
	Name          string          `required:"" help:"Name of the tenant."`
	TimeZone      string          `required:"" help:"IANA time zone, such as Europe/Berlin."`
	Locale        string          `default:"en" help:"Language, as a BCP 47 tag."`
	Currency      string          `default:"EUR" help:"Currency, as an ISO 4217 code."`
	TakesPayments bool            `help:"Require an active plan for bookings by members."`

	OwnerSubject string `required:"" help:"Subject (sub) in the tokens of the first owner."`
	OwnerName    string `required:"" help:"Name of the first owner."`
	OwnerEmail   string `help:"Email address of the first owner."`
}

// Run implements kong's command. It prints only the id, for scripts.
func (c *createTenantCommand) Run(ctx context.Context, to *cli.Console) error {
	if err := c.Required(); err != nil {
		return err
	}
	db, err := boot.OpenDatabase(ctx, pg.Config{URL: c.URL, CommandConns: 1, ReadConns: 1})
	if err != nil {
		return err
	}
	defer db.Close()
	created, err := app.New(app.Config{DB: db, Now: time.Now}).Accounts.CreateTenant(ctx, accounts.NewTenant{
		ID: c.ID, Name: c.Name, TimeZone: c.TimeZone, Locale: c.Locale, Currency: c.Currency, TakesPayments: c.TakesPayments,
		Owner: &accounts.FirstOwner{Subject: c.OwnerSubject, Name: c.OwnerName, Email: c.OwnerEmail},
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(to.Out, created.ID)
	return err
}
