// Package secret gives the service its secrets, each in several versions, so that they can change while it runs. A new
// version is known to all nodes before the first one uses it, and old versions stay valid until they are removed.
package secret

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"
)

// Purpose says what a secret is for.
type Purpose string

// The purposes of secrets.
const (
	Signing  Purpose = "signing"  // private keys that sign tokens
	CheckIn  Purpose = "check-in" // QR codes, display links and claim links
	Messages Purpose = "messages" // sealed columns, and links in mails
)

// The purposes of credentials: what others have issued for the platform's accounts with them.
const (
	Twilio Purpose = "twilio" // the auth token
	SMTP   Purpose = "smtp"   // the password
	FCM    Purpose = "fcm"    // the key of the service account (JSON)
)

// MinLength is the minimum length of a secret in bytes.
const MinLength = 32

// Source has the secrets. Files is one; a key management service can be another. Each call reads the current state, and
// gives all versions or an error. The lists are not empty.
type Source interface {
	// Signers gives the private keys that sign tokens. A key may stay in its service: only its signatures are needed.
	Signers(ctx context.Context) ([]Signer, error)
	// Secrets gives the versions of another secret.
	Secrets(ctx context.Context, of Purpose) ([]Version, error)
	// Credential gives a credential. It has one version: who issued it decides when the next one is good.
	Credential(ctx context.Context, of Purpose) (string, error)
}

// Signer is a version of the private key that signs tokens: Ed25519, or EC on P-256.
type Signer struct {
	crypto.Signer

	From time.Time // when it begins to sign, in UTC; zero for a key that always did
}

// Version is a version of a secret of at least MinLength bytes.
type Version struct {
	Secret []byte
	From   time.Time // when it is first used to sign or seal, in UTC; zero for one that always was
}

// InUse gives the index of the version that is in use at a time, of versions that begin at the given times: the latest
// that has begun, the first in the list of several that began together, or the earliest if none has begun.
func InUse(begins []time.Time, at time.Time) int {
	use := -1
	for i, from := range begins {
		if !from.After(at) && (use < 0 || from.After(begins[use])) {
			use = i
		}
	}
	if use < 0 {
		use = slices.Index(begins, slices.MinFunc(begins, time.Time.Compare))
	}
	return use
}

func currentVersion(versions []Version, at time.Time) int {
	begins := make([]time.Time, len(versions))
	for i, v := range versions {
		begins[i] = v.From
	}
	return InUse(begins, at)
}

// Ring has the versions of one secret. Reload replaces them. It is safe for concurrent use.
type Ring struct {
	source   Source
	of       Purpose
	now      func() time.Time
	versions atomic.Pointer[[]Version]
}

// Open reads a secret for the first time.
func Open(ctx context.Context, source Source, of Purpose, now func() time.Time) (*Ring, error) {
	r := &Ring{source: source, of: of, now: now}
	return r, r.Reload(ctx)
}

// Reload reads the versions again. After an error the old ones stay.
func (r *Ring) Reload(ctx context.Context) error {
	versions, err := r.source.Secrets(ctx, r.of)
	if err != nil {
		return err
	}
	if len(versions) == 0 {
		return fmt.Errorf("%s key: there is none", r.of)
	}
	for _, v := range versions {
		if len(v.Secret) < MinLength {
			return fmt.Errorf("%s key: a secret is shorter than %d bytes", r.of, MinLength)
		}
	}
	r.versions.Store(&versions)
	return nil
}

// All gives all secrets, the one in use now first. The caller must not change them.
func (r *Ring) All() [][]byte {
	versions := *r.versions.Load()
	use := currentVersion(versions, r.now())
	all := make([][]byte, 1, len(versions))
	all[0] = versions[use].Secret
	for i, v := range versions {
		if i != use {
			all = append(all, v.Secret)
		}
	}
	return all
}

// At gives the secret that was in use at a time. All nodes with the same versions give the same one.
func (r *Ring) At(at time.Time) []byte {
	versions := *r.versions.Load()
	return versions[currentVersion(versions, at)].Secret
}

// Credential is a credential that Reload replaces. It is safe for concurrent use.
type Credential struct {
	source Source
	of     Purpose
	text   atomic.Pointer[string]
}

// OpenCredential reads a credential for the first time.
func OpenCredential(ctx context.Context, source Source, of Purpose) (*Credential, error) {
	c := &Credential{source: source, of: of}
	return c, c.Reload(ctx)
}

// Reload reads the credential again. After an error the old one stays.
func (c *Credential) Reload(ctx context.Context) error {
	text, err := c.source.Credential(ctx, c.of)
	if err == nil {
		c.text.Store(&text)
	}
	return err
}

// Text gives the credential.
func (c *Credential) Text() string { return *c.text.Load() }

// Purpose implements Follower.
func (c *Credential) Purpose() Purpose { return c.of }

// Purpose implements Follower.
func (r *Ring) Purpose() Purpose { return r.of }

// A Follower is a Ring or a Credential.
type Follower interface {
	Purpose() Purpose
	Reload(ctx context.Context) error
}

// ReloadEvery is how often nodes look for new versions.
const ReloadEvery = 2 * time.Second

// PublishTime is how long a new version must be known before it is used: other nodes and services that cache the
// published keys need up to five minutes to notice it.
const PublishTime = 10 * time.Minute

// Run reloads secrets until ctx ends. A failure is logged once, until the secret can be read again.
func Run(ctx context.Context, log *slog.Logger, all ...Follower) {
	ticker := time.NewTicker(ReloadEvery)
	defer ticker.Stop()
	failing := make(map[Follower]bool)
	for {
		for _, f := range all {
			err := f.Reload(ctx)
			if err != nil && !failing[f] && !errors.Is(err, ctx.Err()) {
				log.ErrorContext(ctx, "reading a secret failed, keeping the old versions",
					slog.String("purpose", string(f.Purpose())), slog.Any("error", err))
			}
			failing[f] = err != nil
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
