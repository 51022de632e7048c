package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/berthhq/berth/internal/boot"
	"github.com/berthhq/berth/internal/cli"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
	"github.com/berthhq/berth/migrations"
	"github.com/berthhq/berth/server/demo"
)

// devCommand is everything in one process, from nothing.
type devCommand struct {
	boot.DatabaseConfig `embed:""`
	boot.KeyConfig      `embed:""`
	boot.ListenConfig   `embed:""`
	boot.LogConfig      `embed:""`

	Reset bool `help:"Throw away the database in the data folder, with everything in it, and begin with a new one."`
	Demo  bool `default:"true" negatable:"" help:"Make tenants to try Berth with, where they are not there yet."`
}

// Run implements kong's command.
func (c *devCommand) Run(ctx context.Context, to *cli.Console) (err error) {
	boot.TuneForStart()
	if c.Reset && c.URL != "" {
		return errors.New("--reset is for the database in the data folder; the one of DATABASE_URL is not berth's to throw away")
	}
	progress := cli.NewProgress(to.Out)
	listener, err := c.OpenListener(ctx)
	if err != nil {
		return err
	}
	defer listener.Close()
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
		return c.advised(err, postgres.cluster)
	}
	var n *boot.Node
	if err := progress.Timed("connected", func() error {
		c.Senders.PrivateHosts = true // whoever tries it out is alone with it
		n, err = boot.Open(ctx, c.NewLogger(to.Err), postgres.url, c.KeyConfig, c.ListenConfig)
		return err
	}); err != nil {
		return err
	}
	defer n.Close()
	var tenants []demo.Tenant
	if c.Demo {
		if err := progress.Timed("demo data there", func() error {
			tenants, err = demo.Seed(ctx, n.DB, n.Claims, time.Now(), progress.Say)
			return err
		}); err != nil {
			return err
		}
	}
	sheet, err := c.describe(n, listener.Addr(), tenants)
	if err != nil {
		return err
	}
	path := filepath.Join(c.Data, "dev.json")
	if err := sheet.write(path); err != nil {
		return err
	}
	defer os.Remove(path)
	n.Handler = demoPeople{tenants: tenants, issuer: n.Issuer, signIn: c.SignIn()}.before(n.Handler)
	boot.TuneForLoad()
	progress.Say("ready at " + sheet.Address)
	sheet.print(to.Out, path)
	return n.Serve(ctx, listener, postgres.failed)
}

// devDatabase is the database that was asked for, or one of berth's own.
type devDatabase struct {
	url     string
	cluster string          // the folder of berth's own
	failed  <-chan struct{} // closed if that one ends by itself
	stop    func() error
}

// postgres gives the database that was asked for, or starts one in the data folder.
func (c *devCommand) postgres(ctx context.Context, progress *cli.Progress) (devDatabase, error) {
	if c.URL != "" {
		progress.Say("using the database of DATABASE_URL")
		return devDatabase{url: c.URL, stop: func() error { return nil }}, nil
	}
	var dev *pg.Development
	if err := progress.Timed("Postgres ready", func() (err error) {
		dev, err = pg.StartDevelopment(ctx, pg.DevConfig{DataDir: filepath.Join(c.Data, "postgres"), Reset: c.Reset, Progress: progress.Say})
		return err
	}); err != nil {
		return devDatabase{}, err
	}
	return devDatabase{url: dev.URL, cluster: dev.Data, failed: dev.Done(), stop: func() error {
		defer progress.Say("Postgres stopped")
		return dev.Stop()
	}}, nil
}

// advised says what to do about a schema that this berth cannot use. Nobody wants to restore what was made for development.
func (c *devCommand) advised(err error, cluster string) error {
	if cluster == "" || !errors.Is(err, pg.ErrSchemaAhead) && !errors.Is(err, pg.ErrSchemaAltered) {
		return boot.AdviseOnSchema(err)
	}
	anew := "--data " + shellQuoted(c.Data) + " --reset"
	return fmt.Errorf(`%w

This berth cannot use the database in %s.
To begin anew, which loses all that is in it, demo data included, start once with --reset:
    berth dev %s        # or: make run DEV="%[3]s"
or remove it yourself:
    rm -rf %s
To keep it, use the berth that made it, or choose another data folder:
    berth dev --data FOLDER        # or: make run DEV="--data FOLDER"`, err, cluster, anew, shellQuoted(cluster))
}

// shellQuoted makes one word of a path that is to be pasted.
func shellQuoted(path string) string {
	if path != "" && !strings.ContainsFunc(path, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-", r)
	}) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// devSheet is dev.json: what scripts and clients need to call the running server.
type devSheet struct {
	Address string      `json:"address"` // a URL
	Tenants []devTenant `json:"tenants"`
}

type devTenant struct {
	ID      tenant.TenantID   `json:"id"`
	Name    string            `json:"name"`
	Session tenant.SessionID  `json:"session_id"` // one that a member can book, or ""
	Claim   string            `json:"claim_url"`  // of an offer that a member can answer, or ""
	Tokens  map[string]string `json:"tokens"`     // by role
}

// devTokenLife outlasts any run of a development server.
const devTokenLife = 30 * 24 * time.Hour

func (c *devCommand) describe(n *boot.Node, address net.Addr, tenants []demo.Tenant) (devSheet, error) {
	sheet := devSheet{Address: "http://" + boot.LocalAddress(address)}
	for _, d := range tenants {
		t := devTenant{ID: d.ID, Name: d.Name, Session: d.Session, Tokens: make(map[string]string)}
		if !d.Offer.IsZero() {
			t.Claim = n.App.Waitlists.ClaimURL(d.ID, d.Offer)
		}
		for role, subject := range d.Subjects {
			raw, _, err := n.Issuer.Issue(token.Grant{Subject: subject, Tenants: []tenant.TenantID{d.ID}}, devTokenLife)
			if err != nil {
				return devSheet{}, err
			}
			t.Tokens[role] = raw
		}
		sheet.Tenants = append(sheet.Tenants, t)
	}
	return sheet, nil
}

// write puts the sheet where nobody else can read it, whole or not at all.
func (s devSheet) write(path string) error {
	text, err := json.MarshalIndent(s, "", "  ")
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

// print tells a newcomer what to do next, in lines that can be pasted.
func (s devSheet) print(to io.Writer, path string) {
	fmt.Fprintf(to, "\nConnect, gRPC and gRPC-Web at %s. Everything below is in %s too. Ctrl-C stops it all.\n", s.Address, path)
	for i, t := range s.Tenants {
		fmt.Fprintf(to, "\n# %s, tenant %s\n", t.Name, t.ID)
		if t.Claim != "" {
			fmt.Fprintf(to, "# A place is free, and kept for the member, who answers here:\n#   %s\n", t.Claim)
		}
		if i > 0 {
			continue // one tenant is enough to begin with
		}
		for _, role := range roleOrder {
			if raw, ok := t.Tokens[role]; ok {
				fmt.Fprintf(to, "%s=%s\n", strings.ToUpper(role), raw)
			}
		}
		s.printCalls(to, t)
	}
	fmt.Fprintln(to)
}

var roleOrder = []string{tenant.RoleOwner, tenant.RoleAdmin, tenant.RoleCoach, tenant.RoleMember, tenant.RolePartner}

func (s devSheet) printCalls(to io.Writer, t devTenant) {
	start := time.Now().UTC().Truncate(24 * time.Hour)
	member, staff := "$MEMBER", "$COACH"
	if !slices.Contains(roleOrder, tenant.RoleMember) || t.Tokens[tenant.RoleMember] == "" {
		member, staff = "$OWNER", "$OWNER"
	}
	fmt.Fprintf(to, `
# The week's sessions, with what the caller may do with each
curl -s %s/berth.v1.SessionService/ListSessions -H "Authorization: Bearer %s" -H "Content-Type: application/json" \
  -d '{"filter": {"startsWithin": {"start": "%s", "end": "%s"}}}'
`, s.Address, member, start.Format(time.RFC3339), start.AddDate(0, 0, 7).Format(time.RFC3339))
	if t.Session.IsZero() {
		return
	}
	host := strings.TrimPrefix(s.Address, "http://")
	fmt.Fprintf(to, `
# Book a place
grpcurl -plaintext -H "Authorization: Bearer %s" -d '{"session_id": "%s"}' %s berth.v1.BookingService/Book

# Who is in, and who waits
buf curl --http2-prior-knowledge -H "Authorization: Bearer %s" -d '{"sessionId": "%s"}' %s/berth.v1.BookingService/ListRoster
`, member, t.Session, host, staff, t.Session, s.Address)
}
