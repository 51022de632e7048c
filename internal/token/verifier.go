package token

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Trust is an issuer whose tokens are believed.
type Trust struct {
	Issuer   string // must equal the claim iss
	Audience string // must be among the claim aud
	Keys     *KeySet
	// ServiceAccounts lets the issuer name service accounts as subjects. It is
	// for Berth's own: elsewhere people may choose what they are called.
	ServiceAccounts bool
}

// Verifier tells whose word a token is. It is safe for concurrent use.
type Verifier struct {
	now     func() time.Time
	parser  *jwt.Parser
	trusted map[string]trusted // by issuer
	kept    cache
}

type trusted struct {
	*Trust
	claims *jwt.Validator
}

// What clocks may differ by, and how long a token may be in bytes.
const (
	leeway   = 30 * time.Second
	maxToken = 8 << 10
)

// NewVerifier makes a verifier that reads keys when they are first needed.
func NewVerifier(now func() time.Time, trusts ...Trust) (*Verifier, error) {
	v := &Verifier{
		now:     now,
		trusted: make(map[string]trusted, len(trusts)),
		parser: jwt.NewParser(
			jwt.WithValidMethods(algorithms),
			jwt.WithStrictDecoding(),
			// Which issuer and audience to expect is known only once the token is read.
			jwt.WithoutClaimsValidation(),
		),
	}
	for _, t := range trusts {
		if t.Issuer == "" || t.Audience == "" || t.Keys == nil {
			return nil, errors.New("token: a trusted issuer needs a name, an audience and keys")
		}
		if _, twice := v.trusted[t.Issuer]; twice {
			return nil, fmt.Errorf("token: the issuer %q is trusted twice", t.Issuer)
		}
		v.trusted[t.Issuer] = trusted{&t, jwt.NewValidator(
			jwt.WithIssuer(t.Issuer),
			jwt.WithAudience(t.Audience),
			jwt.WithExpirationRequired(),
			jwt.WithIssuedAt(),
			jwt.WithLeeway(leeway),
			jwt.WithTimeFunc(now),
		)}
	}
	return v, nil
}

// Verify gives the principal of a token, which comes without the word Bearer.
// Refusals are UNAUTHENTICATED faults that say what to do. Where keys have to be
// read for the token, that takes seconds at most, and ctx's end is given as it is.
func (v *Verifier) Verify(ctx context.Context, raw string) (Principal, error) {
	if raw == "" {
		return Principal{}, refuse("A token is needed. Send it in the header Authorization: Bearer <token>.", nil)
	}
	if len(raw) > maxToken {
		return Principal{}, refuse(fmt.Sprintf("The token is longer than %d bytes. Get one with fewer claims.", maxToken), nil)
	}
	d := digest(sha256.Sum256([]byte(raw)))
	if known, ok := v.kept.get(d, v.now()); ok {
		return known.principal, nil
	}
	found, err := v.verify(ctx, raw)
	if err != nil {
		return Principal{}, err
	}
	v.kept.put(d, found)
	return found.principal, nil
}

func (v *Verifier) verify(ctx context.Context, raw string) (*verified, error) {
	// Go's base64 skips line ends, strict or not; one token would have many spellings.
	if strings.ContainsAny(raw, "\r\n") {
		return nil, refuse(malformed, nil)
	}
	claims := jwt.MapClaims{}
	var by trusted
	var signer *key
	parsed, err := v.parser.ParseWithClaims(raw, claims, func(t *jwt.Token) (any, error) {
		id, err := header(t)
		if err != nil {
			return nil, err
		}
		issuer, _ := claims.GetIssuer()
		var ok bool
		if by, ok = v.trusted[issuer]; !ok {
			return nil, refuse(notTrusted, nil)
		}
		if signer, err = by.Keys.find(ctx, id); err != nil {
			return nil, err
		}
		return signer.public, nil
	})
	switch {
	case err == nil:
		err = by.claims.Validate(claims)
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return nil, ctx.Err()
	case parsed != nil && parsed.Method != nil && !slices.Contains(algorithms, parsed.Method.Alg()):
		return nil, refuse(badAlgorithm, err)
	}
	if err != nil {
		return nil, explain(err)
	}
	p, err := principal(claims, by.Trust)
	if err != nil {
		return nil, err
	}
	return &verified{principal: p, until: p.Expires.Add(leeway), key: signer}, nil
}

// header reads which key a token names, and refuses every way of bringing a key
// along and every extension that is marked critical: none is understood here.
func header(t *jwt.Token) (keyID, error) {
	for _, name := range []string{"jwk", "jku", "x5c", "x5u", "crit"} {
		if _, brought := t.Header[name]; brought {
			return keyID{}, refuse(fmt.Sprintf("The token's header has %s, which is not accepted. Name the key by kid alone.", name), nil)
		}
	}
	// Other things that the same keys may sign, such as a logout notice, say so in typ.
	if _, given := t.Header["typ"]; given {
		typ, _ := t.Header["typ"].(string)
		if typ = strings.TrimPrefix(strings.ToLower(typ), "application/"); typ != "jwt" && typ != "at+jwt" {
			return keyID{}, refuse("This is not an access token (typ). Send the token that was issued for calling this server.", nil)
		}
	}
	kid, _ := t.Header["kid"].(string)
	if kid == "" {
		return keyID{}, refuse("The token does not name the key that signed it (kid). Have the issuer set it.", nil)
	}
	return keyID{kid, t.Method.Alg()}, nil
}

// Refresh reads the keys of all issuers now. Those of an issuer that cannot be
// read stay as they are.
func (v *Verifier) Refresh(ctx context.Context) error {
	var errs []error
	for issuer, t := range v.trusted {
		if err := t.Keys.refresh(ctx); err != nil {
			errs = append(errs, fmt.Errorf("token: keys of %s: %w", issuer, err))
		}
	}
	return errors.Join(errs...)
}

// Run keeps the keys fresh until ctx ends: files every two seconds if they
// changed, URLs every five minutes. A key that an issuer withdraws counts no
// more from then on, whatever was verified with it before.
func (v *Verifier) Run(ctx context.Context, log *slog.Logger) {
	var keepers sync.WaitGroup
	for issuer, t := range v.trusted {
		keepers.Go(func() {
			t.Keys.keep(ctx, func(err error) {
				log.WarnContext(ctx, "keys not read, the old ones stay", "issuer", issuer, "error", err)
			})
		})
	}
	keepers.Wait()
}
