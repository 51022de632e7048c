package pg

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	listenCheck     = 10 * time.Second // how long to wait for a notification, and then for a sign of life
	listenRetryMax  = 5 * time.Second
	listenRetryBase = 100 * time.Millisecond
)

// Listen receives the notifications of a channel on its own connection until ctx ends, and returns the error of ctx. It
// calls onConnect each time it starts to listen: at first, and after each lost connection. Notifications before that
// are lost, so the caller should read everything again. Both functions are called one at a time and block the next.
func (db *DB) Listen(ctx context.Context, channel string, onNotify func(payload string), onConnect func()) error {
	for failures := 0; ; {
		err := db.listenOnce(ctx, channel, onNotify, func() { failures = 0; onConnect() })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		db.config.Logger.WarnContext(ctx, "listening connection lost", "channel", channel, "error", err)
		pause(ctx, failures, listenRetryBase, listenRetryMax)
		failures++
	}
}

func (db *DB) listenOnce(ctx context.Context, channel string, onNotify func(string), onConnect func()) error {
	config := db.pool.ConnConfig.Copy()
	db.adapt(config)
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := configure(ctx, conn, db.settings(nil)); err != nil {
		return err
	}
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
			// Silence is normal, but not of a peer that is asked. Keepalives do not notice a server that hangs, or one that
			// is gone from behind a proxy.
			if err := ping(ctx, conn); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

func ping(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, listenCheck)
	defer cancel()
	return conn.Ping(ctx)
}

// Notify sends a notification if and when the transaction commits. While it commits, all other
// transactions that notify wait, so use it in rare transactions only.
func (tx *Tx) Notify(channel, payload string) {
	tx.Write("select pg_notify($1, $2)", channel, payload)
}
