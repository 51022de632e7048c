package boot

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/secret"
	"github.com/berthhq/berth/internal/token"
	"github.com/berthhq/berth/internal/web"
)

// DatabaseConfig configures the database. Commands embed it like the other configurations here: kong fills them in from
// flags and environment variables.
type DatabaseConfig struct {
	URL string `name:"database-url" env:"DATABASE_URL" placeholder:"postgres://…" help:"URL of the Postgres database."`
}

// Required returns an error if no database is configured.
func (c DatabaseConfig) Required() error {
	if c.URL == "" {
		return errors.New("DATABASE_URL is not set; `berth dev` starts a database of its own")
	}
	return nil
}

// KeyConfig configures the issuers of tokens and the files of the server's own secrets. Nodes that share the files
// accept each other's tokens and QR codes.
type KeyConfig struct {
	Data       string `name:"data" env:"BERTH_DATA" default:".berth" type:"path" help:"Folder for keys and development data. Created if it is missing."`
	SigningKey string `env:"BERTH_SIGNING_KEY" type:"path" placeholder:"FILE" help:"Private keys (PEM) that sign this server's own tokens: see berth keys. Default: signing-key.pem in the data folder."`
	CheckInKey string `env:"BERTH_CHECK_IN_KEY" type:"path" placeholder:"FILE" help:"Secrets for QR codes, display links and claim links, one per line, newest first. Default: check-in.key in the data folder."`

	MessageKey string       `env:"BERTH_MESSAGE_KEY" type:"path" placeholder:"FILE" help:"Secrets that encrypt tenants' own senders and sign links in emails, one per line, newest first. Default: message.key in the data folder."`
	Senders    SenderConfig `embed:""`

	Issuer   string `env:"BERTH_ISSUER" default:"berth" help:"Issuer of this server's own tokens."`
	Audience string `env:"BERTH_AUDIENCE" default:"berth" help:"Audience that every token must have."`

	IdentityIssuer string `env:"BERTH_IDENTITY_ISSUER" placeholder:"https://…" help:"Issuer of the sign-in service. Its tokens are accepted too."`
	IdentityKeys   string `env:"BERTH_IDENTITY_KEYS" placeholder:"URL|FILE" help:"JSON Web Key Set of the sign-in service, as a file or URL."`

	FormerIssuers []string `name:"identity-former-issuers" env:"BERTH_IDENTITY_FORMER_ISSUERS" placeholder:"https://…" help:"Issuers that the sign-in service had before. Members who signed in with them go on with the present one."`

	LinkByEmail bool `env:"BERTH_LINK_BY_EMAIL" help:"Trust the email addresses that the sign-in service has verified: who signs in with one for the first time becomes the member with that address. Only for services that let nobody claim an address of others."`

	TokenLifetime time.Duration `env:"BERTH_TOKEN_MAX_LIFETIME" help:"Longest lifetime of the sign-in service's tokens. Tokens that are valid for longer are rejected. Default: no limit."`

	OwnSignIn bool `name:"sign-in" env:"BERTH_SIGN_IN" help:"Let people sign in with this server itself, too, though there is a sign-in service. Those whom it knows sign in there only. Without a sign-in service everybody signs in with this server."`

	ConsoleClient string `env:"BERTH_CONSOLE_CLIENT" placeholder:"ID" help:"Client id of the console and the member app at the sign-in service. It must be a public client with PKCE."`
	ConsoleScope  string `env:"BERTH_CONSOLE_SCOPE" default:"openid profile email offline_access" help:"Scopes that they request, separated by spaces."`
}

// SignIn returns the sign-in configuration of the browser apps.
func (c KeyConfig) SignIn() web.SignIn {
	in := web.SignIn{Own: c.SignsIn()}
	if c.IdentityIssuer == "" || c.ConsoleClient == "" {
		return in
	}
	in.Issuer, in.ClientID, in.Scope, in.Audience = c.IdentityIssuer, c.ConsoleClient, c.ConsoleScope, c.Audience
	in.LinkByEmail = c.LinkByEmail
	return in
}

// SignsIn reports whether people sign in with the server itself.
func (c KeyConfig) SignsIn() bool { return c.IdentityIssuer == "" || c.OwnSignIn }

func (c KeyConfig) signingKeyFile() string { return c.file(c.SigningKey, "signing-key.pem") }
func (c KeyConfig) checkInKeyFile() string { return c.file(c.CheckInKey, "check-in.key") }
func (c KeyConfig) messageKeyFile() string { return c.file(c.MessageKey, "message.key") }

// file returns the configured path, or the default name in the data folder.
func (c KeyConfig) file(configured, name string) string {
	if configured != "" {
		return configured
	}
	return filepath.Join(c.Data, name)
}

// OpenIssuer reads the keys that sign the server's own tokens.
func (c KeyConfig) OpenIssuer(ctx context.Context, source secret.Source) (*token.Issuer, error) {
	return token.NewIssuer(ctx, source, c.Issuer, c.Audience, time.Now)
}

// identityTimeout limits one download of the sign-in service's keys.
const identityTimeout = 5 * time.Second

// OpenVerifier returns the verifier of tokens: the server's own and those of the sign-in service, if one is configured.
// It does not download keys: Verifier.Refresh does.
func (c KeyConfig) OpenVerifier(own *token.Issuer) (*token.Verifier, error) {
	trusts := []token.TrustedIssuer{own.AsTrusted()}
	identity := token.TrustedIssuer{Issuer: c.IdentityIssuer, Audience: c.Audience, MaxLifetime: c.TokenLifetime}
	switch {
	case c.IdentityIssuer == "" && c.IdentityKeys == "":
	case c.IdentityIssuer == "" || c.IdentityKeys == "":
		return nil, errors.New("BERTH_IDENTITY_ISSUER and BERTH_IDENTITY_KEYS must be set together")
	case strings.Contains(c.IdentityKeys, "://"):
		var err error
		if identity.Keys, err = token.URLKeys(
			c.IdentityKeys, &http.Client{Timeout: identityTimeout}, time.Now,
		); err != nil {
			return nil, err
		}
		trusts = append(trusts, identity)
	default:
		identity.Keys = token.FileKeys(c.IdentityKeys, time.Now)
		trusts = append(trusts, identity)
	}
	return token.NewVerifier(time.Now, trusts...)
}

// LogConfig configures the level and format of the log.
type LogConfig struct {
	Level  slog.Level `name:"log-level" env:"BERTH_LOG_LEVEL" default:"info" help:"Lowest level to log: debug, info, warn or error."`
	Format string     `name:"log-format" env:"BERTH_LOG_FORMAT" default:"auto" enum:"auto,text,json" help:"Format of the log: text, json, or auto, which is text on a terminal and json otherwise."`
}

// NewLogger returns a logger that writes to w.
func (c LogConfig) NewLogger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.Level}
	if c.Format == "text" || c.Format == "auto" && isTerminal(w) {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
