package pg

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	listenCheck     = 20 * time.Second // how long a dead peer can go unnoticed
	listenRetryMax  = 5 * time.Second
	listenRetryBase = 100 * time.Millisecond
)

// Listen receives the notifications of a channel on a connection of its own,
// until ctx ends; its error is that of ctx. onConnect runs whenever listening
// has begun, at first and after each lost connection: whatever was notified
// before went unheard, so that is the moment to read everything again. Both
// functions are called one at a time, and hold up what follows.
func (db *DB) Listen(ctx context.Context, channel string, onNotify func(payload string), onConnect func()) error {
	for failures := 0; ; {
		err := db.listenOnce(ctx, channel, onNotify, func() { failures = 0; onConnect() })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		db.config.Logger.WarnContext(ctx, "listening connection lost", "channel", channel, "error", err)
		wait := min(listenRetryBase<<min(failures, 10), listenRetryMax)
		failures++
		timer := time.NewTimer(wait/2 + rand.N(wait/2))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

func (db *DB) listenOnce(ctx context.Context, channel string, onNotify func(string), onConnect func()) error {
	config, err := parseURL(db.config.URL)
	if err != nil {
		return err
	}
	db.prepare(config.ConnConfig)
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "listen "+pgx.Identifier{channel}.Sanitize()); err != nil {
		return err
	}
	onConnect()
	for {
		waiting, cancel := context.WithTimeout(ctx, listenCheck)
		notification, err := conn.WaitForNotification(waiting)
		cancel()
		switch {
		case err == nil:
			onNotify(notification.Payload)
		case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) && !conn.IsClosed():
			// Silence is normal; a peer that does not answer is not.
			if err := ping(ctx, conn); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

func ping(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, listenCheck/2)
	defer cancel()
	return conn.Ping(ctx)
}

// Notify sends a notification with the commit: never without it, and never not. Committing
// it, the transaction locks out all others that notify, so it has a place in rare ones only.
func (tx *Tx) Notify(channel, payload string) {
	tx.Write("select pg_notify($1, $2)", channel, payload)
}

// Notify sends a notification, in a transaction of its own.
func (db *DB) Notify(ctx context.Context, channel, payload string) error {
	if _, err := db.commands.Exec(ctx, "select pg_notify($1, $2)", channel, payload); err != nil {
		return fmt.Errorf("notify %s: %w", channel, err)
	}
	return nil
}
