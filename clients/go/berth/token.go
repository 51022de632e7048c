package berth

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

// Token authenticates calls.
type Token struct {
	// Value is sent as "Authorization: Bearer …".
	Value string
	// ExpiresAt is when it expires. If zero, it is read from the token, if that is a JWT. Any other token is used until it
	// is rejected.
	ExpiresAt time.Time
}

// TokenSource returns a token that is valid now.
type TokenSource func(context.Context) (Token, error)

// StaticToken returns a source of one token.
func StaticToken(value string) TokenSource {
	return func(context.Context) (Token, error) { return Token{Value: value}, nil }
}

// margin is how long before its expiry a token is renewed, so that it does not expire during a call.
const margin = time.Minute

// tokens caches the current token. The holder of the lock may change it.
type tokens struct {
	source  TokenSource
	now     func() time.Time
	lock    chan struct{}
	cached  Token
	renewAt time.Time
}

func newTokens(source TokenSource, now func() time.Time) *tokens {
	return &tokens{source: source, now: now, lock: make(chan struct{}, 1)}
}

// current returns the current token, or "" if there is no source.
func (t *tokens) current(ctx context.Context) (string, error) { return t.other(ctx, "") }

// other returns a token other than the refused one, if the source has one.
func (t *tokens) other(ctx context.Context, refused string) (string, error) {
	if t.source == nil {
		return "", nil
	}
	// One call at a time: the others wait and find the result.
	select {
	case t.lock <- struct{}{}:
		defer func() { <-t.lock }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	now := t.now()
	usable := t.cached.Value != "" && t.cached.Value != refused
	if usable && (t.renewAt.IsZero() || now.Before(t.renewAt)) {
		return t.cached.Value, nil
	}
	fresh, err := t.source(ctx)
	if err != nil {
		// The cached token may still be valid for the minute in which the issuer has problems.
		if usable && now.Before(t.cached.ExpiresAt) {
			return t.cached.Value, nil
		}
		return "", err
	}
	if fresh.ExpiresAt.IsZero() {
		fresh.ExpiresAt = expiryOf(fresh.Value)
	}
	t.cached, t.renewAt = fresh, time.Time{}
	if !fresh.ExpiresAt.IsZero() {
		// A token that is valid for a minute or two is not renewed with every call.
		t.renewAt = fresh.ExpiresAt.Add(-min(margin, fresh.ExpiresAt.Sub(now)/5))
	}
	return fresh.Value, nil
}

// expiryOf returns when a JWT expires. It returns the zero time for other tokens. Only the server checks signatures.
func expiryOf(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return time.Time{}
	}
	var claims struct {
		ExpiresAt float64 `json:"exp"`
	}
	if json.Unmarshal(payload, &claims) != nil || claims.ExpiresAt <= 0 {
		return time.Time{}
	}
	return time.Unix(int64(claims.ExpiresAt), 0)
}
