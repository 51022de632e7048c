package pg

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrPooled says that a connection pooler gives each transaction another session of the server, so that settings,
// prepared statements, locks and notifications get lost.
var ErrPooled = errors.New("a connection pooler, such as PgBouncer, changes the server's session " +
	"between transactions; set its pool_mode to session, or connect to Postgres itself")

// settings are the server settings of a connection by name: those of every connection, and more.
func (db *DB) settings(more map[string]string) map[string]string {
	all := map[string]string{
		"role":                                db.config.Role,
		"statement_timeout":                   milliseconds(db.config.StatementTimeout),
		"lock_timeout":                        milliseconds(db.config.LockTimeout),
		"idle_in_transaction_session_timeout": milliseconds(db.config.IdleTimeout),
	}
	maps.Copy(all, more)
	return all
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(max(d.Milliseconds(), 1), 10) }

// configure sets the settings of a new connection, and reads them back. The startup message would cost no round trip,
// but PgBouncer rejects settings there, and other poolers drop them. Without its role, isolation or timeouts no
// connection is used.
func configure(ctx context.Context, conn *pgx.Conn, settings map[string]string) error {
	names := slices.Sorted(maps.Keys(settings))
	set, read := make([]string, len(names)), make([]string, len(names))
	values := make([][]byte, len(names))
	for i, name := range names {
		set[i] = fmt.Sprintf("set_config('%s', $%d, false)", name, i+1)
		read[i] = fmt.Sprintf("current_setting('%s')", name)
		values[i] = []byte(settings[name])
	}
	want, err := oneRow(ctx, conn, "select "+strings.Join(set, ", "), values)
	if err != nil {
		return fmt.Errorf("set up a connection: %w", err)
	}
	got, err := oneRow(ctx, conn, "select "+strings.Join(read, ", "), nil)
	if err != nil {
		return fmt.Errorf("check a new connection: %w", err)
	}
	for i, name := range names {
		if got[i] != want[i] {
			return fmt.Errorf("the new connection has %s %q instead of %q: %w", name, got[i], want[i], ErrPooled)
		}
	}
	return nil
}

// oneRow runs a statement that returns one row, unseen by tracers and by the cache of prepared statements.
func oneRow(ctx context.Context, conn *pgx.Conn, sql string, args [][]byte) ([]string, error) {
	result := conn.PgConn().ExecParams(ctx, sql, args, nil, nil, nil).Read()
	if result.Err != nil {
		return nil, result.Err
	}
	row := make([]string, len(result.Rows[0]))
	for i, value := range result.Rows[0] {
		row[i] = string(value)
	}
	return row, nil
}

// CheckPooler returns ErrPooled if connections do not keep their sessions. It opens two of its own, which need neither
// the runtime role nor the schema.
func (db *DB) CheckPooler(ctx context.Context) error {
	return checkPooler(ctx, db.pool.ConnConfig, db.config.Dial)
}

// checkPooler asks a connection for its session before another has a transaction open, and meanwhile. A pooler gives
// that transaction the session that has just become free, or, if it takes all by turns, soon another one to the first.
func checkPooler(ctx context.Context, config *pgx.ConnConfig, dial pgconn.DialFunc) error {
	const rounds = 4
	var conns [2]*pgx.Conn
	for i := range conns {
		config := config.Copy()
		if dial != nil {
			config.DialFunc = dial
		}
		conn, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			return fmt.Errorf("look for a connection pooler: %w", err)
		}
		defer conn.Close(context.WithoutCancel(ctx))
		conns[i] = conn
	}
	one, other := conns[0], conns[1]
	session := func(conn *pgx.Conn) (string, error) {
		row, err := oneRow(ctx, conn, "select pg_backend_pid()", nil)
		if err != nil {
			return "", fmt.Errorf("look for a connection pooler: %w", err)
		}
		return row[0], nil
	}
	seen := make(map[string]struct{})
	for range rounds {
		before, err := session(one)
		if err != nil {
			return err
		}
		if _, err := other.PgConn().Exec(ctx, "begin").ReadAll(); err != nil {
			return fmt.Errorf("look for a connection pooler: %w", err)
		}
		between, err := session(other)
		if err != nil {
			return err
		}
		after, err := session(one)
		if err != nil {
			return err
		}
		if _, err := other.PgConn().Exec(ctx, "rollback").ReadAll(); err != nil {
			return fmt.Errorf("look for a connection pooler: %w", err)
		}
		seen[before], seen[after] = struct{}{}, struct{}{}
		if len(seen) > 1 || before == between {
			return ErrPooled
		}
	}
	return nil
}
