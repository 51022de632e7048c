package berth

import (
	"context"
	"time"
)

// Token authenticates calls.
type Token struct {
	// Value is sent as "Authorization: Bearer …".
	Value string
	// ExpiresAt is when it expires. If zero, it is used until it is rejected.
	ExpiresAt time.Time
}

// TokenSource returns a token that is valid now.
type TokenSource func(context.Context) (Token, error)

// StaticToken returns a source of one token, which is never renewed.
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
	t.cached, t.renewAt = fresh, time.Time{}
	if !fresh.ExpiresAt.IsZero() {
		// A token that is valid for a minute or two is not renewed with every call.
		t.renewAt = fresh.ExpiresAt.Add(-min(margin, fresh.ExpiresAt.Sub(now)/5))
	}
	return fresh.Value, nil
}
