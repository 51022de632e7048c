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

// TrustedIssuer is an issuer whose tokens are accepted.
type TrustedIssuer struct {
	Issuer   string // must equal the claim iss
	Audience string // must be one of the claim aud
	Keys     *KeySet
	// ServiceAccounts allows service accounts as subjects. Only Berth's own issuer may have it:
	// at other issuers users may choose their names.
	ServiceAccounts bool
	// MaxLifetime limits the time from issue to expiry; 0 means no limit. A token without iat counts from now.
	MaxLifetime time.Duration
}

// Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	now     func() time.Time
	parser  *jwt.Parser
	trusted map[string]trusted // by issuer
	cache   cache
}

type trusted struct {
	*TrustedIssuer
	claims *jwt.Validator
}

// leeway is the allowed clock skew, maxToken the maximum length of a token in bytes.
const (
	leeway   = 30 * time.Second
	maxToken = 8 << 10
)

// NewVerifier returns a verifier that reads keys when they are first needed.
func NewVerifier(now func() time.Time, trusts ...TrustedIssuer) (*Verifier, error) {
	v := &Verifier{
		now:     now,
		trusted: make(map[string]trusted, len(trusts)),
		parser: jwt.NewParser(
			jwt.WithValidMethods(algorithms),
			jwt.WithStrictDecoding(),
			// The expected issuer and audience are only known after the token is parsed.
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

// Verify returns the principal of a token without the prefix Bearer. Errors are UNAUTHENTICATED faults
// that say what to do. If keys have to be read, that takes a few seconds at most. If ctx ends, Verify returns its
// error.
func (v *Verifier) Verify(ctx context.Context, raw string) (Principal, error) {
	if raw == "" {
		return Principal{}, unauthenticated(missing, nil)
	}
	if len(raw) > maxToken {
		return Principal{}, unauthenticated(fmt.Sprintf(
			"The token is longer than %d bytes. Get one with fewer claims.", maxToken), nil)
	}
	d := digest(sha256.Sum256([]byte(raw)))
	if known, ok := v.cache.get(d, v.now()); ok {
		return known.principal, nil
	}
	found, err := v.verify(ctx, raw)
	if err != nil {
		return Principal{}, err
	}
	v.cache.put(d, found)
	return found.principal, nil
}

func (v *Verifier) verify(ctx context.Context, raw string) (*verified, error) {
	// Go's base64 ignores line breaks even in strict mode, so one token could be written in many ways.
	if strings.ContainsAny(raw, "\r\n") {
		return nil, unauthenticated(malformed, nil)
	}
	claims := jwt.MapClaims{}
	var by trusted
	var signer *key
	parsed, err := v.parser.ParseWithClaims(raw, claims, func(t *jwt.Token) (any, error) {
		id, err := keyIDOf(t)
		if err != nil {
			return nil, err
		}
		issuer, err := claims.GetIssuer()
		if err != nil {
			return nil, unauthenticated(notTrusted, err)
		}
		var ok bool
		if by, ok = v.trusted[issuer]; !ok {
			return nil, unauthenticated(notTrusted, nil)
		}
		if signer, err = by.Keys.find(ctx, id); err != nil {
			return nil, err
		}
		return signer.public, nil
	})
	switch {
	case err == nil:
		if err = checkTimes(claims, v.now()); err == nil {
			err = by.claims.Validate(claims)
		}
		if err == nil {
			err = checkLifetime(claims, v.now(), by.MaxLifetime)
		}
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return nil, ctx.Err()
	case parsed != nil && parsed.Method != nil && !slices.Contains(algorithms, parsed.Method.Alg()):
		return nil, unauthenticated(badAlgorithm, err)
	}
	if err != nil {
		return nil, explain(err)
	}
	p, err := newPrincipal(claims, by.TrustedIssuer)
	if err != nil {
		return nil, err
	}
	return &verified{principal: p, until: p.Expires.Add(leeway), key: signer}, nil
}

// latest is how far in the future the times of a token may be. Later ones are mistakes, and numbers far above overflow
// when they are converted to a time.
const latest = 10 * 365 * 24 * time.Hour

// checkTimes rejects times that no working issuer sets. Validate decides about those that are left.
func checkTimes(claims jwt.MapClaims, now time.Time) error {
	for _, name := range []string{"iat", "nbf", "exp", "auth_time"} {
		if at, ok := claims[name].(float64); ok && (at < 0 || at > float64(now.Add(latest).Unix())) {
			return unauthenticated(fmt.Sprintf(
				"The claim %s must be a time between 1970 and ten years from now. Ask the issuer to correct it.", name), nil)
		}
	}
	// Otherwise a sign-in would be recent until that time, and for as long as a tenant allows after it.
	if at, ok := claims["auth_time"].(float64); ok && at > float64(now.Add(leeway).Unix()) {
		return unauthenticated("The token's sign-in is in the future (auth_time). Correct the clock that issued it.",
			jwt.ErrTokenUsedBeforeIssued)
	}
	return nil
}

// checkLifetime rejects valid tokens that were issued for longer than limit, unless it is 0.
func checkLifetime(claims jwt.MapClaims, now time.Time, limit time.Duration) error {
	issued, expires := now, now
	at, err := claims.GetIssuedAt()
	if err != nil {
		return err
	}
	if at != nil {
		issued = at.Time
	}
	if at, err = claims.GetExpirationTime(); err != nil {
		return err
	}
	if at != nil {
		expires = at.Time
	}
	if limit > 0 && expires.Sub(issued) > limit {
		return unauthenticated(fmt.Sprintf(
			"The token is valid for longer than %s. Get one with a shorter lifetime.", limit), nil)
	}
	return nil
}

// keyIDOf returns which key a token names. It rejects all headers that bring a key along,
// and critical extensions, because none is supported.
func keyIDOf(t *jwt.Token) (keyID, error) {
	for _, name := range []string{"jwk", "jku", "x5c", "x5u", "crit"} {
		if _, brought := t.Header[name]; brought {
			return keyID{}, unauthenticated(fmt.Sprintf(
				"The token's header has %s, which is not accepted. Name the key with kid only.", name), nil)
		}
	}
	// The same keys may sign other kinds of tokens, such as logout tokens, which have another typ.
	if _, given := t.Header["typ"]; given {
		typ, _ := t.Header["typ"].(string)
		if typ = strings.TrimPrefix(strings.ToLower(typ), "application/"); typ != "jwt" && typ != "at+jwt" {
			return keyID{}, unauthenticated("This is not an access token (typ). "+
				"Send the token that was issued for calling this server.", nil)
		}
	}
	kid, _ := t.Header["kid"].(string)
	if kid == "" {
		return keyID{}, unauthenticated("The token does not name the key that signed it (kid). Have the issuer set it.", nil)
	}
	return keyID{kid, t.Method.Alg()}, nil
}

// Refresh reads the keys of all issuers now. If an issuer's keys cannot be read, the old ones stay.
func (v *Verifier) Refresh(ctx context.Context) error {
	var errs []error
	for issuer, t := range v.trusted {
		if err := t.Keys.refresh(ctx); err != nil {
			errs = append(errs, fmt.Errorf("token: keys of %s: %w", issuer, err))
		}
	}
	return errors.Join(errs...)
}

// Ready reports whether the keys of every issuer are known.
func (v *Verifier) Ready() bool {
	for _, t := range v.trusted {
		if !t.Keys.ready() {
			return false
		}
	}
	return true
}

// Run refreshes the keys until ctx ends: changed files within two seconds, URLs every five minutes.
// When an issuer withdraws a key, tokens signed with it become invalid, cached ones too. While keys cannot be read, a
// key that was withdrawn because it leaked stays valid: that is an error.
func (v *Verifier) Run(ctx context.Context, log *slog.Logger) {
	var running sync.WaitGroup
	for issuer, t := range v.trusted {
		running.Go(func() {
			t.Keys.refreshPeriodically(ctx, func(err error) {
				log.ErrorContext(ctx, "reading keys failed, the old ones stay valid", "issuer", issuer, "error", err)
			})
		})
	}
	running.Wait()
}
