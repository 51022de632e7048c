package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/boot"
	"github.com/berthhq/berth/internal/cli"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
)

// tenantCommand has the commands for tenants. Only operators can use them: no RPC creates tenants.
type tenantCommand struct {
	Create createTenantCommand `cmd:"" help:"Create a tenant with its first owner."`
	Invite inviteOwnerCommand  `cmd:"" help:"Print a new link for an owner who lost theirs, or cannot sign in any more."`
}

// inviteOwnerCommand makes an invitation for an owner. It ends the one before, whose link is good no longer.
type inviteOwnerCommand struct {
	boot.DatabaseConfig `embed:""`
	boot.KeyConfig      `embed:""`

	PublicURL string `env:"BERTH_PUBLIC_URL" required:"" placeholder:"https://…" help:"URL of the service for browsers. The link starts with it."`

	ID         tenant.TenantID `required:"" placeholder:"UUID" help:"Id of the tenant."`
	OwnerEmail string          `required:"" help:"Email address of the owner."`
}

// Run implements kong's command. It prints only the link.
func (c *inviteOwnerCommand) Run(ctx context.Context, to *cli.Console) error {
	if err := c.Required(); err != nil {
		return err
	}
	if !c.SignsIn() {
		return errors.New("invitations by link alone need Berth's own sign-in: BERTH_IDENTITY_ISSUER is set, " +
			"and BERTH_SIGN_IN is not on")
	}
	config := app.Config{Now: time.Now, PublicURL: strings.TrimSuffix(c.PublicURL, "/")}
	var err error
	if config.Seals, err = openSeals(ctx, c.KeyConfig); err != nil {
		return err
	}
	db, err := boot.OpenDatabase(ctx, pg.Config{URL: c.URL, CommandConns: 1, ReadConns: 1})
	if err != nil {
		return err
	}
	defer db.Close()
	config.DB = db
	link, err := app.New(config).Accounts.InviteOwner(ctx, c.ID, c.OwnerEmail)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(to.Out, link)
	return err
}

// openSeals reads the keys that sign links.
func openSeals(ctx context.Context, keys boot.KeyConfig) (seal.Keys, error) {
	files := keys.Files()
	secrets, err := keys.OpenSecrets(ctx, files)
	if err != nil {
		return seal.Keys{}, err
	}
	return secrets.Seals, nil
}

// createTenantCommand creates a tenant. Repeating it with the same id changes nothing.
type createTenantCommand struct {
	boot.DatabaseConfig `embed:""`
	boot.KeyConfig      `embed:""`

	PublicURL string `env:"BERTH_PUBLIC_URL" placeholder:"https://…" help:"URL of the service for browsers. The link of the invitation starts with it."`

	ID            tenant.TenantID `placeholder:"UUID" help:"Id of the tenant. If it exists, nothing changes. Default: a new id."`
	Name          string          `required:"" help:"Name of the tenant."`
	TimeZone      string          `required:"" help:"IANA time zone, such as Europe/Berlin."`
	Locale        string          `default:"en" help:"Language, as a BCP 47 tag."`
	Currency      string          `default:"EUR" help:"Currency, as an ISO 4217 code."`
	TakesPayments bool            `help:"Require an active plan for bookings by members."`

	OwnerSubject string `help:"Subject (sub) in the tokens of the first owner, from the sign-in service. Without it, the owner is invited to sign in with Berth itself."`
	OwnerName    string `required:"" help:"Name of the first owner."`
	OwnerEmail   string `help:"Email address of the first owner. Required for an invitation."`
}

// Run implements kong's command. It prints only the id, for scripts, and on a second line the link of the first owner's
// invitation. That is printed once: a repetition has none.
func (c *createTenantCommand) Run(ctx context.Context, to *cli.Console) error {
	if err := c.Required(); err != nil {
		return err
	}
	invite := c.OwnerSubject == ""
	if err := c.checkInvite(invite); err != nil {
		return err
	}
	config := app.Config{Now: time.Now, PublicURL: strings.TrimSuffix(c.PublicURL, "/")}
	if invite {
		var err error
		if config.Seals, err = openSeals(ctx, c.KeyConfig); err != nil {
			return err
		}
	}
	db, err := boot.OpenDatabase(ctx, pg.Config{URL: c.URL, CommandConns: 1, ReadConns: 1})
	if err != nil {
		return err
	}
	defer db.Close()
	config.DB = db
	created, err := app.New(config).Accounts.CreateTenant(ctx, accounts.NewTenant{
		ID: c.ID, Name: c.Name, TimeZone: c.TimeZone, Locale: c.Locale, Currency: c.Currency, TakesPayments: c.TakesPayments,
		Owner: &accounts.FirstOwner{Subject: c.OwnerSubject, Name: c.OwnerName, Email: c.OwnerEmail, Invite: invite},
	})
	if err != nil {
		return err
	}
	if _, err = fmt.Fprintln(to.Out, created.ID); err == nil && created.OwnerLink != "" {
		_, err = fmt.Fprintln(to.Out, created.OwnerLink)
	}
	return err
}

// checkInvite returns an error if the first owner is to be invited, and cannot be.
func (c *createTenantCommand) checkInvite(invite bool) error {
	switch {
	case !invite:
		return nil
	case !c.SignsIn():
		return errors.New("--owner-subject is missing: people sign in at BERTH_IDENTITY_ISSUER, " +
			"and BERTH_SIGN_IN is not on")
	case c.OwnerEmail == "":
		return errors.New("--owner-email is missing: it is how the first owner signs in. " +
			"With a sign-in service, give --owner-subject")
	case c.PublicURL == "":
		return errors.New("BERTH_PUBLIC_URL is not set: the link of the first owner's invitation starts with it")
	}
	return nil
}
