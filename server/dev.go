package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/berthhq/berth/internal/boot"
	"github.com/berthhq/berth/internal/cli"
	"github.com/berthhq/berth/internal/localpg"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
	"github.com/berthhq/berth/migrations"
	"github.com/berthhq/berth/server/demo"
)

// devCommand runs everything in one process, starting with nothing.
type devCommand struct {
	boot.DatabaseConfig `embed:""`
	boot.KeyConfig      `embed:""`
	boot.ListenConfig   `embed:""`
	boot.LogConfig      `embed:""`

	Reset bool `help:"Delete the database in the data folder with everything in it, and start with a new one."`
	Demo  bool `default:"true" negatable:"" help:"Create demo tenants, if they do not exist."`
}

// Run implements kong's command.
func (c *devCommand) Run(ctx context.Context, to *cli.Console) (err error) {
	boot.TuneForStart()
	if c.Reset && c.URL != "" {
		return errors.New("--reset deletes only the database in the data folder; unset DATABASE_URL to use that one")
	}
	progress := cli.NewProgress(to.Out)
	on, err := c.ListenConfig.Open(ctx)
	if err != nil {
		return err
	}
	defer on.Close()
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	progress.Say("data in " + c.Data)

	postgres, err := c.postgres(ctx, progress)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, postgres.stop()) }()
	if err := progress.Timed("schema up to date", func() error {
		return pg.Migrate(ctx, postgres.url, migrations.FS, progress.Say)
	}); err != nil {
		return c.withAdvice(err, postgres.dataDir)
	}
	var n *boot.Node
	if _, err := c.Files().Create(); err != nil {
		return err
	}
	if err := progress.Timed("connected", func() error {
		c.Senders.PrivateHosts, c.Reflection = true, true // only the developer uses it
		c.Senders.KeepMails = true
		c.LameDuck = 0 // no load balancer is in front of it
		n, err = boot.Open(ctx, c.NewLogger(to.Err), postgres.url, c.KeyConfig, c.ListenConfig)
		return err
	}); err != nil {
		return err
	}
	defer n.Close()
	var tenants []demo.Tenant
	if c.Demo {
		if err := progress.Timed("demo data ready", func() error {
			tenants, err = demo.Seed(ctx, n.DB, n.Claims, n.Seals, time.Now(), progress.Say)
			return err
		}); err != nil {
			return err
		}
	}
	info, err := c.describe(n, on, postgres.url, tenants)
	if err != nil {
		return err
	}
	path := filepath.Join(c.Data, "dev.json")
	if err := info.write(path); err != nil {
		return err
	}
	defer os.Remove(path)
	n.Handler = devPeople{
		demo: tenants, app: n.App, issuer: n.Issuer, signIn: c.SignIn(), mails: n.Box.Messages,
		log: c.NewLogger(to.Err),
	}.wrap(n.Handler)
	if err := boot.TuneForLoad(); err != nil {
		return err
	}
	progress.Say("ready at " + info.Address)
	info.print(to.Out, path)
	return n.Serve(ctx, on, postgres.failed)
}

// devDatabase is the configured database, or one that this command started.
type devDatabase struct {
	url     string
	dataDir string          // the folder of a started database
	failed  <-chan struct{} // closed if it stops unexpectedly
	stop    func() error
}

// postgres returns the configured database, or starts one in the data folder.
func (c *devCommand) postgres(ctx context.Context, progress *cli.Progress) (devDatabase, error) {
	if c.URL != "" {
		progress.Say("using the database of DATABASE_URL")
		return devDatabase{url: c.URL, stop: func() error { return nil }}, nil
	}
	var dev *localpg.Server
	if err := progress.Timed("Postgres ready", func() (err error) {
		dev, err = localpg.Start(ctx, localpg.Config{
			DataDir: filepath.Join(c.Data, "postgres"), Reset: c.Reset, Progress: progress.Say,
		})
		return err
	}); err != nil {
		return devDatabase{}, err
	}
	return devDatabase{url: dev.URL, dataDir: dev.Data, failed: dev.Done(), stop: func() error {
		defer progress.Say("Postgres stopped")
		return dev.Stop()
	}}, nil
}

// withAdvice adds to an error about the schema what to do. A development database is not worth restoring: it can be
// reset.
func (c *devCommand) withAdvice(err error, dataDir string) error {
	if dataDir == "" || !errors.Is(err, pg.ErrSchemaAhead) && !errors.Is(err, pg.ErrSchemaMismatch) {
		return boot.AdviseOnSchema(err)
	}
	flags := "--data " + shellQuoted(c.Data) + " --reset"
	return fmt.Errorf(`%w

This version of berth cannot use the database in %s.
To start with a new one and lose all data in it, including demo data, start once with --reset:
    berth dev %s        # or: make run DEV="%[3]s"
or delete it yourself:
    rm -rf %s
To keep it, use the version that created it, or choose another data folder:
    berth dev --data FOLDER        # or: make run DEV="--data FOLDER"`, err, dataDir, flags, shellQuoted(dataDir))
}

// shellQuoted quotes a path for a command line, if it needs quotes.
func shellQuoted(path string) string {
	if path != "" && !strings.ContainsFunc(path, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-", r)
	}) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// devInfo is the content of dev.json: what scripts and clients need to call the running server.
type devInfo struct {
	Address  string      `json:"address"`       // a URL
	Admin    string      `json:"admin_address"` // the URL of metrics and health checks
	Database string      `json:"database_url"`  // for other commands, such as berth tenant create
	Tenants  []devTenant `json:"tenants"`
}

type devTenant struct {
	ID      tenant.TenantID   `json:"id"`
	Name    string            `json:"name"`
	Session tenant.SessionID  `json:"session_id"` // one that a member can book, or ""
	Claim   string            `json:"claim_url"`  // of a live offer, or ""
	Tokens  map[string]string `json:"tokens"`     // by role
}

// devTokenTTL is longer than any run of a development server.
const devTokenTTL = 30 * 24 * time.Hour

func (c *devCommand) describe(
	n *boot.Node, on boot.Listeners, databaseURL string, tenants []demo.Tenant,
) (devInfo, error) {
	info := devInfo{
		Address:  "http://" + boot.LocalAddress(on.Public.Addr()),
		Admin:    "http://" + boot.LocalAddress(on.Admin.Addr()),
		Database: databaseURL,
	}
	for _, d := range tenants {
		t := devTenant{ID: d.ID, Name: d.Name, Session: d.Session, Tokens: make(map[string]string)}
		if !d.Offer.IsZero() {
			t.Claim = n.App.Waitlists.ClaimURL(d.ID, d.Offer)
		}
		for role, subject := range d.Subjects {
			raw, _, err := n.Issuer.Issue(token.Claims{
				Subject: subject, Tenants: []tenant.TenantID{d.ID}, SignedInAt: time.Now(),
			}, devTokenTTL)
			if err != nil {
				return devInfo{}, err
			}
			t.Tokens[role] = raw
		}
		info.Tenants = append(info.Tenants, t)
	}
	return info, nil
}

// write writes the file so that only its owner can read it. It replaces the file atomically.
func (d devInfo) write(path string) error {
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".dev-*") // 0600
	if err != nil {
		return err
	}
	_, err = temporary.Write(append(text, '\n'))
	if err = errors.Join(err, temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}

// print prints what to do next, in lines that can be pasted.
func (d devInfo) print(to io.Writer, path string) {
	fmt.Fprintf(to, "\nConnect, gRPC and gRPC-Web at %s, metrics at %s/metrics.\n"+
		"Everything below is also in %s. Ctrl-C stops everything.\n", d.Address, d.Admin, path)
	for i, t := range d.Tenants {
		fmt.Fprintf(to, "\n# %s, tenant %s\n", t.Name, t.ID)
		if t.Claim != "" {
			fmt.Fprintf(to, "# The member has an offer of a free place. Answer it here:\n#   %s\n", t.Claim)
		}
		if i > 0 {
			continue // one tenant is enough to start with
		}
		for _, role := range roleOrder {
			if raw, ok := t.Tokens[role]; ok {
				fmt.Fprintf(to, "%s=%s\n", strings.ToUpper(role), raw)
			}
		}
		d.printCalls(to, t)
	}
	fmt.Fprintln(to)
}

var roleOrder = []string{tenant.RoleOwner, tenant.RoleAdmin, tenant.RoleCoach, tenant.RoleMember, tenant.RolePartner}

func (d devInfo) printCalls(to io.Writer, t devTenant) {
	start := time.Now().UTC().Truncate(24 * time.Hour)
	member, staff := "$MEMBER", "$COACH"
	if !slices.Contains(roleOrder, tenant.RoleMember) || t.Tokens[tenant.RoleMember] == "" {
		member, staff = "$OWNER", "$OWNER"
	}
	fmt.Fprintf(to, `
# The sessions of the week, and whether the caller can book them
curl -s %s/berth.v1.SessionService/ListSessions -H "Authorization: Bearer %s" -H "Content-Type: application/json" \
  -d '{"filter": {"startsWithin": {"start": "%s", "end": "%s"}}}'
`, d.Address, member, start.Format(time.RFC3339), start.AddDate(0, 0, 7).Format(time.RFC3339))
	if t.Session.IsZero() {
		return
	}
	host := strings.TrimPrefix(d.Address, "http://")
	fmt.Fprintf(to, `
# Book a place
grpcurl -plaintext -H "Authorization: Bearer %s" -d '{"session_id": "%s"}' %s berth.v1.BookingService/Book

# Who has booked it, and who waits
buf curl --http2-prior-knowledge -H "Authorization: Bearer %s" -d '{"sessionId": "%s"}' \
  %s/berth.v1.BookingService/GetSessionRoster
`, member, t.Session, host, staff, t.Session, d.Address)
}
