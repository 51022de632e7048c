package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/token"
	"github.com/berthhq/berth/internal/web"
)

// databaseConfig says where the data are.
type databaseConfig struct {
	URL string `name:"database-url" env:"DATABASE_URL" placeholder:"postgres://…" help:"Postgres to use."`
}

func (c databaseConfig) needed() error {
	if c.URL == "" {
		return errors.New("DATABASE_URL is not set; `berth dev` brings a database of its own")
	}
	return nil
}

// keyConfig says whose tokens count and where this server's own secrets lie. Nodes
// that share the two files accept each other's tokens and QR codes.
type keyConfig struct {
	Data       string `name:"data" env:"BERTH_DATA" default:".berth" type:"path" help:"Folder for keys and development data; made if absent."`
	SigningKey string `env:"BERTH_SIGNING_KEY" type:"path" placeholder:"FILE" help:"Private key for this server's own tokens (PEM). Default: signing-key.pem in the data folder, made if absent."`
	CheckInKey string `env:"BERTH_CHECK_IN_KEY" type:"path" placeholder:"FILE" help:"Secrets for QR codes and display links, one in a line, the newest first. Default: check-in.key in the data folder, made if absent."`

	MessageKey string       `env:"BERTH_MESSAGE_KEY" type:"path" placeholder:"FILE" help:"Secrets that encrypt tenants' own senders and sign links in mails, one in a line, the newest first. Default: message.key in the data folder, made if absent."`
	Senders    senderConfig `embed:""`

	Issuer   string `env:"BERTH_ISSUER" default:"berth" help:"Issuer that this server's own tokens name."`
	Audience string `env:"BERTH_AUDIENCE" default:"berth" help:"Audience that every token must name."`

	IdentityIssuer string `env:"BERTH_IDENTITY_ISSUER" placeholder:"https://…" help:"Issuer of the sign-in service whose tokens count too."`
	IdentityKeys   string `env:"BERTH_IDENTITY_KEYS" placeholder:"URL|FILE" help:"JSON Web Key Set of the sign-in service."`

	ConsoleClient string `env:"BERTH_CONSOLE_CLIENT" placeholder:"ID" help:"Client id of the console and the members' app at the sign-in service: a public client, with PKCE."`
	ConsoleScope  string `env:"BERTH_CONSOLE_SCOPE" default:"openid profile email offline_access" help:"What they ask the sign-in service for, separated by spaces."`
}

// signIn is how people in a browser sign in.
func (c keyConfig) signIn() web.SignIn {
	if c.IdentityIssuer == "" || c.ConsoleClient == "" {
		return web.SignIn{}
	}
	return web.SignIn{Issuer: c.IdentityIssuer, ClientID: c.ConsoleClient, Scope: c.ConsoleScope, Audience: c.Audience}
}

func (c keyConfig) signingKey() string { return c.file(c.SigningKey, "signing-key.pem") }
func (c keyConfig) checkInKey() string { return c.file(c.CheckInKey, "check-in.key") }
func (c keyConfig) messageKey() string { return c.file(c.MessageKey, "message.key") }

func (c keyConfig) file(given, usual string) string {
	if given != "" {
		return given
	}
	return filepath.Join(c.Data, usual)
}

// openIssuer makes the data folder too: the key may be the first thing in it.
func (c keyConfig) openIssuer() (*token.Issuer, error) {
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	return token.OpenIssuer(c.signingKey(), c.Issuer, c.Audience, time.Now)
}

// identityTimeout bounds one fetching of keys.
const identityTimeout = 5 * time.Second

func (c keyConfig) openVerifier(own *token.Issuer) (*token.Verifier, error) {
	trusts := []token.Trust{own.Trust()}
	switch {
	case c.IdentityIssuer == "" && c.IdentityKeys == "":
	case c.IdentityIssuer == "" || c.IdentityKeys == "":
		return nil, errors.New("BERTH_IDENTITY_ISSUER and BERTH_IDENTITY_KEYS belong together")
	case strings.Contains(c.IdentityKeys, "://"):
		keys, err := token.URLKeys(c.IdentityKeys, &http.Client{Timeout: identityTimeout}, time.Now)
		if err != nil {
			return nil, err
		}
		trusts = append(trusts, token.Trust{Issuer: c.IdentityIssuer, Audience: c.Audience, Keys: keys})
	default:
		trusts = append(trusts, token.Trust{Issuer: c.IdentityIssuer, Audience: c.Audience, Keys: token.FileKeys(c.IdentityKeys, time.Now)})
	}
	return token.NewVerifier(time.Now, trusts...)
}

// listenConfig says where the service is reached.
type listenConfig struct {
	Listen    string   `env:"BERTH_LISTEN" default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Address to listen on."`
	PublicURL string   `env:"BERTH_PUBLIC_URL" placeholder:"https://…" help:"Where browsers reach the service; links start with it. Default: the address that is listened on."`
	Origins   []string `env:"BERTH_ORIGINS" placeholder:"https://…" help:"Origins whose pages may call from a browser; * for all."`
	// ClockOffset makes the clock by which bookings are decided wrong. Campaigns use it; nobody who serves people wants it.
	ClockOffset time.Duration `hidden:"" help:"For tests: how far ahead the clock of the rules is."`
	Lanes       int           `env:"BERTH_LANES" default:"2" help:"Transactions of one tenant's bookings that a node runs at a time. Bookings that come meanwhile share the next one."`
	Drain       time.Duration `env:"BERTH_DRAIN" default:"10s" help:"How long requests that are being answered may take when the server stops."`
	// Patience is how long an RPC, a statement or a lock may be waited for. Tests that share a machine have more of it; zero is the usual.
	Patience time.Duration `kong:"-"`
}

// logConfig says what is logged, and how.
type logConfig struct {
	Level  slog.Level `name:"log-level" env:"BERTH_LOG_LEVEL" default:"info" help:"Least level to log: debug, info, warn or error."`
	Format string     `name:"log-format" env:"BERTH_LOG_FORMAT" default:"auto" enum:"auto,text,json" help:"text, json, or auto: text on a terminal."`
}

func (c logConfig) logger(to *console) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.Level}
	if c.Format == "text" || c.Format == "auto" && isTerminal(to.err) {
		return slog.New(slog.NewTextHandler(to.err, options))
	}
	return slog.New(slog.NewJSONHandler(to.err, options))
}

func isTerminal(w any) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
