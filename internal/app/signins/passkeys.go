package signins

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/mails"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/signin"
	"github.com/berthhq/berth/internal/tenant"
)

// newWebAuthn returns what checks passkeys for the pages at a URL (Web Authentication Level 3); nil if its host has no
// name. A developer's own machine has the name localhost. The device has to verify its user, since a passkey is all
// that they sign in with, and to keep the key, since nobody says first who they are.
func newWebAuthn(publicURL string) *webauthn.WebAuthn {
	at, err := url.Parse(publicURL)
	if err != nil || at.Hostname() == "" {
		return nil
	}
	if address, err := netip.ParseAddr(at.Hostname()); err == nil {
		if !address.IsLoopback() {
			return nil
		}
		at.Host = strings.TrimSuffix("localhost:"+at.Port(), ":")
	}
	checks, err := webauthn.New(&webauthn.Config{
		RPID: at.Hostname(), RPDisplayName: "Berth", RPOrigins: []string{at.Scheme + "://" + at.Host},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, UserVerification: protocol.VerificationRequired,
		},
	})
	if err != nil {
		return nil
	}
	return checks
}

// HasPasskeys reports whether there can be passkeys.
func (s *Service) HasPasskeys() bool { return s.passkeys != nil }

// keyOwner is a member as a device knows them: by tenant and id, so a passkey signs in to its tenant alone.
type keyOwner struct {
	tenant   tenant.TenantID
	member   tenant.MemberID
	name     string
	email    string
	passkeys []webauthn.Credential
}

// WebAuthnID implements webauthn.User.
func (o keyOwner) WebAuthnID() []byte { return slices.Concat(o.tenant.UUID[:], o.member.UUID[:]) }

// WebAuthnName implements webauthn.User.
func (o keyOwner) WebAuthnName() string {
	if o.email != "" {
		return o.email
	}
	return o.name
}

// WebAuthnDisplayName implements webauthn.User.
func (o keyOwner) WebAuthnDisplayName() string { return o.name }

// WebAuthnCredentials implements webauthn.User.
func (o keyOwner) WebAuthnCredentials() []webauthn.Credential { return o.passkeys }

// readOwner reads what WebAuthnID wrote.
func readOwner(id []byte) (o keyOwner, err error) {
	if len(id) != len(o.tenant.UUID)+len(o.member.UUID) {
		return o, signin.ErrPasskeyInvalid
	}
	copy(o.member.UUID[:], id[copy(o.tenant.UUID[:], id):])
	return o, nil
}

// PasskeyOptions are what a page passes to the browser, and what it sends back with the answer.
type PasskeyOptions struct {
	Request string `json:"request"`
	Options any    `json:"options"` // for navigator.credentials, in the JSON form of the standard
}

// passkeyRequest is what a browser keeps until it answers.
type passkeyRequest struct {
	Tenant  tenant.TenantID      `json:"tenant"` // to which a passkey is added; zero if it signs in
	Asked   time.Time            `json:"asked"`
	Session webauthn.SessionData `json:"session"`
}

const passkeyPurpose = "passkey request\n"

func (s *Service) writePasskeyRequest(r passkeyRequest) (string, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	sealed := s.seals.Seal(tenant.TenantID{}, append([]byte(passkeyPurpose), text...))
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// readPasskeyRequest reads what writePasskeyRequest wrote, if it is not too old. Errors: PASSKEY_INVALID.
func (s *Service) readPasskeyRequest(text string) (r passkeyRequest, err error) {
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return r, signin.ErrPasskeyInvalid
	}
	opened, err := s.seals.Open(tenant.TenantID{}, sealed)
	if err != nil {
		return r, signin.ErrPasskeyInvalid
	}
	says, ok := bytes.CutPrefix(opened, []byte(passkeyPurpose))
	if s.passkeys == nil || !ok || json.Unmarshal(says, &r) != nil || s.engine.Now().Sub(r.Asked) > signin.PasskeyAnswer {
		return r, signin.ErrPasskeyInvalid
	}
	return r, nil
}

// AskToAdd returns what a browser needs to make a passkey for whom it is signed in as in a tenant. Errors:
// SIGN_IN_ENDED, STEP_UP_REQUIRED, QUOTA_EXCEEDED.
func (s *Service) AskToAdd(ctx context.Context, secret Secret, in tenant.TenantID) (PasskeyOptions, error) {
	now := s.engine.Now()
	if s.passkeys == nil {
		return PasskeyOptions{}, signin.ErrPasskeyInvalid
	}
	found, err := s.find(ctx, in, secret)
	switch {
	case err != nil:
		return PasskeyOptions{}, err
	case !found.IsGood(s.hasProvider, now):
		return PasskeyOptions{}, signin.ErrEnded
	}
	all, err := engine.List(ctx, s.engine, tenant.System(in), func(b *pg.Batch, into *[]signin.Passkey) {
		accountdb.ListPasskeys(b, in, found.Member, into)
	})
	if err != nil {
		return PasskeyOptions{}, err
	}
	if _, err := signin.AddPasskey(signin.Passkey{}, found.CreatedAt, len(all), now); err != nil {
		return PasskeyOptions{}, err
	}
	owner := keyOwner{tenant: in, member: found.Member, name: found.Name, email: found.Email}
	var known []protocol.CredentialDescriptor
	for _, p := range all {
		known = append(known, protocol.CredentialDescriptor{
			Type: protocol.PublicKeyCredentialType, CredentialID: p.CredentialID,
		})
	}
	options, session, err := s.passkeys.BeginRegistration(owner, webauthn.WithExclusions(known))
	if err != nil {
		return PasskeyOptions{}, err
	}
	request, err := s.writePasskeyRequest(passkeyRequest{Tenant: in, Asked: now, Session: *session})
	return PasskeyOptions{Request: request, Options: options.Response}, err
}

// AddPasskey adds the passkey that a browser has made. Its member is told by mail. Errors: PASSKEY_INVALID, and as for
// AskToAdd.
func (s *Service) AddPasskey(ctx context.Context, secret Secret, request string, answer []byte) error {
	asked, err := s.readPasskeyRequest(request)
	if err != nil {
		return err
	}
	owner, err := readOwner(asked.Session.UserID)
	if err != nil || owner.tenant != asked.Tenant {
		return signin.ErrPasskeyInvalid
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return signin.ErrPasskeyInvalid
	}
	made, err := s.passkeys.CreateCredential(owner, asked.Session, parsed)
	if err != nil {
		return signin.ErrPasskeyInvalid
	}
	made.Attestation = webauthn.CredentialAttestation{} // nobody asked who made the device
	credential, err := json.Marshal(made)
	if err != nil {
		return err
	}
	t := engine.Transaction{Name: "passkey.add"}
	err = engine.Exec(ctx, s.engine, tenant.System(owner.tenant), t, func(ctx context.Context, tx *engine.Tx) error {
		var all []signin.Passkey
		found, err := engine.Find(ctx, tx, signin.ErrEnded, func(b *pg.Batch, into **signin.SignedIn) {
			accountdb.FindSignIn(b, tx.Tenant, secret.hash(), into)
			accountdb.ListPasskeys(b, tx.Tenant, owner.member, &all)
		})
		switch {
		case err != nil:
			return err
		case !found.IsGood(s.hasProvider, tx.Now) || found.Member != owner.member:
			return signin.ErrEnded
		}
		p, err := signin.AddPasskey(signin.Passkey{
			ID: tenant.NextID[tenant.PasskeyID](tx.IDs), Member: owner.member, CredentialID: made.ID,
			Credential: credential, Name: tx.Request.Client,
		}, found.CreatedAt, len(all), tx.Now)
		if err != nil {
			return err
		}
		tx.Caller.Member = owner.member // who has the secret is the member
		accountdb.InsertPasskey(tx.Tx, tx.Tenant, p)
		record.Audit(tx, "passkey.added", "member", owner.member.UUID, "", map[string]any{"passkey": p.ID.String()})
		if found.Email != "" {
			s.mails.Add(tx, mails.Mail{
				PlatformMail: content.PlatformMail{
					Kind: content.MailPasskeyAdded, To: found.Email, Name: found.Name, Locale: found.Locale,
				},
				About: p.ID.UUID, ExpiresAt: tx.Now.Add(toldWithin),
			})
		}
		return nil
	})
	if pg.IsUnique(err, "passkeys_credential") {
		return signin.ErrPasskeyInvalid // made for this request, or somebody else's
	}
	return err
}

// toldWithin is how long the mail about a passkey is worth sending.
const toldWithin = 7 * 24 * time.Hour

// AskPasskey returns what a browser needs to sign in with a passkey. It says nothing about who has one.
func (s *Service) AskPasskey() (PasskeyOptions, error) {
	if s.passkeys == nil {
		return PasskeyOptions{}, signin.ErrPasskeyInvalid
	}
	options, session, err := s.passkeys.BeginDiscoverableLogin()
	if err != nil {
		return PasskeyOptions{}, err
	}
	request, err := s.writePasskeyRequest(passkeyRequest{Asked: s.engine.Now(), Session: *session})
	return PasskeyOptions{Request: request, Options: options.Response}, err
}

// SignInWithPasskey signs a browser in to the tenant of a passkey. Errors: PASSKEY_INVALID.
func (s *Service) SignInWithPasskey(
	ctx context.Context, request string, answer []byte, browser Browser,
) (SignedIn, error) {
	asked, err := s.readPasskeyRequest(request)
	if err != nil {
		return SignedIn{}, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return SignedIn{}, signin.ErrPasskeyInvalid
	}
	owner, err := readOwner(parsed.Response.UserHandle)
	if err != nil {
		return SignedIn{}, err
	}
	now := s.engine.Now()
	in := SignedIn{Secret: NewSecret(owner.tenant), At: now, ExpiresAt: now.Add(signin.Idle)}
	t := engine.Transaction{Name: "passkey.sign_in"}
	email, err := engine.Transact(ctx, s.engine, tenant.System(owner.tenant), t,
		func(ctx context.Context, tx *engine.Tx) (string, error) {
			var m *member.Member
			p, err := engine.Find(ctx, tx, signin.ErrPasskeyInvalid, func(b *pg.Batch, into **signin.Passkey) {
				accountdb.FindPasskey(b, tx.Tenant, parsed.RawID, into)
				accountdb.FindMember(b, tx.Tenant, owner.member, &m)
			})
			switch {
			case err != nil:
				return "", err
			case m == nil || p.Member != m.ID || !m.Active() || s.hasProvider && m.Subject != "":
				return "", signin.ErrPasskeyInvalid
			}
			used, err := s.check(owner, p, asked.Session, parsed)
			if err != nil {
				return "", err
			}
			after, err := p.Use(used, asked.Asked, tx.Now)
			if err != nil {
				return "", err
			}
			tx.Caller.Member = m.ID // who has the device is the member
			accountdb.UpdatePasskey(tx.Tx, tx.Tenant, after)
			Start(tx, in.Secret, m.ID, signin.ByPasskey)
			return m.Email, nil
		})
	in.Browser = browser.Knowing(email)
	return in, err
}

// check verifies the signature of a passkey, and returns what is stored of it then. The verification reads no clock and
// needs no randomness. A passkey that counts its signatures and has gone back is a copy. Errors: PASSKEY_INVALID.
func (s *Service) check(
	owner keyOwner, p signin.Passkey, session webauthn.SessionData, answer *protocol.ParsedCredentialAssertionData,
) ([]byte, error) {
	var known webauthn.Credential
	if err := json.Unmarshal(p.Credential, &known); err != nil {
		return nil, err
	}
	owner.passkeys = []webauthn.Credential{known}
	_, used, err := s.passkeys.ValidatePasskeyLogin(
		func(_, _ []byte) (webauthn.User, error) { return owner, nil }, session, answer)
	if err != nil || used.Authenticator.CloneWarning {
		return nil, signin.ErrPasskeyInvalid
	}
	return json.Marshal(used)
}
