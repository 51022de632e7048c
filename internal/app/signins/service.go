// Package signins signs people in with Berth itself, and out again.
package signins

import (
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/mails"
	"github.com/berthhq/berth/internal/seal"
)

// Config is what a Service needs.
type Config struct {
	Engine   *engine.Engine
	Accounts *accounts.Service
	// Seals sign what browsers keep of a sign-in.
	Seals seal.Keys
	// PublicURL is where browsers reach the service. Passkeys are for its host: without a name, there are none.
	PublicURL string
	// HasProvider says that members sign in at an identity provider, too.
	HasProvider bool
}

// Service has the use cases of this package. It is safe for concurrent use.
type Service struct {
	engine      *engine.Engine
	accounts    *accounts.Service
	mails       mails.Queue
	seals       seal.Keys
	hasProvider bool
	guesses     *guesses
	passkeys    *webauthn.WebAuthn // nil: there are none
}

// New makes a Service.
func New(c Config) *Service {
	return &Service{
		engine: c.Engine, accounts: c.Accounts, mails: mails.Queue{Seals: c.Seals}, seals: c.Seals,
		hasProvider: c.HasProvider, passkeys: newWebAuthn(c.PublicURL),
		guesses: newGuesses(),
	}
}
