package berth

import (
	"context"
	"time"
)

// Token is what calls are made with.
type Token struct {
	// Value is sent as "Authorization: Bearer …".
	Value string
	// ExpiresAt is when it ends. Zero: it is used until it is refused.
	ExpiresAt time.Time
}

// TokenSource fetches a token that is good from now on.
type TokenSource func(context.Context) (Token, error)

// StaticToken is a token that is never renewed.
func StaticToken(value string) TokenSource {
	return func(context.Context) (Token, error) { return Token{Value: value}, nil }
}

// margin is how long before its end a token is renewed, so that it does not end under way.
const margin = time.Minute

// tokens keeps the token that is good now. Whoever holds the turn may change it.
type tokens struct {
	source  TokenSource
	now     func() time.Time
	turn    chan struct{}
	held    Token
	renewAt time.Time
}

func newTokens(source TokenSource, now func() time.Time) *tokens {
	return &tokens{source: source, now: now, turn: make(chan struct{}, 1)}
}

// current gives the token to call with; an empty one where calls are nobody's.
func (t *tokens) current(ctx context.Context) (string, error) { return t.other(ctx, "") }

// other gives a token that is not the refused one, if the source has another.
func (t *tokens) other(ctx context.Context, refused string) (string, error) {
	if t.source == nil {
		return "", nil
	}
	// One at a time: whoever waited for somebody else's fetching finds its result.
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	now := t.now()
	good := t.held.Value != "" && t.held.Value != refused
	if good && (t.renewAt.IsZero() || now.Before(t.renewAt)) {
		return t.held.Value, nil
	}
	fresh, err := t.source(ctx)
	if err != nil {
		// What is held may be old, and still be good for a minute of trouble at the issuer's.
		if good && now.Before(t.held.ExpiresAt) {
			return t.held.Value, nil
		}
		return "", err
	}
	t.held, t.renewAt = fresh, time.Time{}
	if !fresh.ExpiresAt.IsZero() {
		// A token that lives for a minute or two is not renewed with every call.
		t.renewAt = fresh.ExpiresAt.Add(-min(margin, fresh.ExpiresAt.Sub(now)/5))
	}
	return fresh.Value, nil
}
