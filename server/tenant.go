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

// tenantCommand is what operators do with tenants; no RPC leads there.
type tenantCommand struct {
	Create createTenantCommand `cmd:"" help:"Create a tenant with its first owner."`
}

// createTenantCommand makes a tenant. Doing it again with the same id changes nothing.
type createTenantCommand struct {
	boot.DatabaseConfig `embed:""`

	ID            tenant.TenantID `help:"Id to give it; repeating the command with the same id changes nothing. Default: a new one."`
	Name          string          `required:"" help:"What people call it."`
	TimeZone      string          `required:"" help:"IANA time zone, such as Europe/Berlin."`
	Locale        string          `default:"en" help:"Language of messages, BCP 47."`
	Currency      string          `default:"EUR" help:"ISO 4217."`
	TakesPayments bool            `help:"Members without an active plan cannot book."`

	OwnerSubject string `required:"" help:"Subject (sub) of the first owner's tokens."`
	OwnerName    string `required:"" help:"The first owner's name."`
	OwnerEmail   string `help:"The first owner's email address."`
}

// Run implements kong's command. It prints the id alone, for scripts.
func (c *createTenantCommand) Run(ctx context.Context, to *cli.Console) error {
	if err := c.Required(); err != nil {
		return err
	}
	db, err := boot.OpenDatabase(ctx, pg.Config{URL: c.URL, CommandConns: 1, ReadConns: 1})
	if err != nil {
		return err
	}
	defer db.Close()
	made, err := app.New(app.Config{DB: db, Now: time.Now}).Accounts.CreateTenant(ctx, accounts.NewTenant{
		ID: c.ID, Name: c.Name, TimeZone: c.TimeZone, Locale: c.Locale, Currency: c.Currency, TakesPayments: c.TakesPayments,
		Owner: &accounts.FirstOwner{Subject: c.OwnerSubject, Name: c.OwnerName, Email: c.OwnerEmail},
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(to.Out, made.ID)
	return err
}
