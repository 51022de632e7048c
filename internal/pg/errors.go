package pg

import (
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// SQLSTATE codes that the application distinguishes.
const (
	codeForeignKey      = "23503"
	codeUnique          = "23505"
	codeCheck           = "23514"
	codeExclusion       = "23P01"
	codeSerialization   = "40001"
	codeDeadlock        = "40P01"
	codeLockUnavailable = "55P03" // lock_timeout, too
	codeInternal        = "XX000" // corrupted data has its own codes
	codeInvalidValue    = "22023" // of a parameter; at connect, the role does not exist
	codeNoTable         = "42P01"
	codeNoColumn        = "42703"
	codeNoPrivilege     = "42501"
)

// ErrCommitUnknown says that the connection broke after COMMIT was sent and before the answer came.
// The transaction may or may not be durable, so it must not be retried as it is:
// the caller finds out with the request's idempotency key.
var ErrCommitUnknown = errors.New("pg: outcome of the commit is unknown")

// ErrCommitted says that the transaction is durable, but a reader failed on the result of one of its last writes.
var ErrCommitted = errors.New("pg: committed, but a result could not be read")

// Code returns the SQLSTATE of the database error in err's chain, or "".
func Code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// IsUnique reports whether err is a violation of a unique constraint or index, one of those named if any are named.
func IsUnique(err error, constraint ...string) bool { return violates(err, codeUnique, constraint) }

// IsCheck is like IsUnique for CHECK constraints.
func IsCheck(err error, constraint ...string) bool { return violates(err, codeCheck, constraint) }

// IsExclusion is like IsUnique for exclusion constraints.
func IsExclusion(err error, constraint ...string) bool {
	return violates(err, codeExclusion, constraint)
}

// IsForeignKey is like IsUnique for foreign keys.
func IsForeignKey(err error, constraint ...string) bool {
	return violates(err, codeForeignKey, constraint)
}

func violates(err error, code string, constraint []string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == code && (len(constraint) == 0 || slices.Contains(constraint, e.ConstraintName))
}

// contended reports whether the database aborted a transaction because of a concurrent one.
// Only then does a retry make sense.
func contended(err error) bool {
	code := Code(err)
	return code == codeSerialization || code == codeDeadlock
}

// connectionLost reports whether the connection broke or could not be made.
func connectionLost(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.SeverityUnlocalized == "FATAL" || e.SeverityUnlocalized == "PANIC"
	}
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		pgconn.SafeToRetry(err)
}

// IsUnreachable reports whether the database could not be asked or did not answer: it is down, starting, stopping or
// full, or the network is broken.
func IsUnreachable(err error) bool {
	code := Code(err)
	if code == "" {
		return connectionLost(err)
	}
	return strings.HasPrefix(code, "57P") || strings.HasPrefix(code, "08") || code == "53300"
}

// IsServerFailure reports whether the database failed for reasons of its own: it ran out of a resource (class 53), the
// system below it failed (58), or it met an internal error. Nothing was written, unless err is also ErrCommitUnknown.
func IsServerFailure(err error) bool {
	code := Code(err)
	return code == codeInternal || strings.HasPrefix(code, "53") || strings.HasPrefix(code, "58")
}

// keepsPrepared reports whether the prepared statements of a failed batch are still good: the error came from the data
// (class 23) or from another transaction (class 40, or a lock that it held for too long). After any other error pgx
// prepares them again, because a migration may have changed what they return.
func keepsPrepared(err error) bool {
	code := Code(err)
	return strings.HasPrefix(code, "23") || strings.HasPrefix(code, "40") || code == codeLockUnavailable
}

// MayBeCommitted reports whether a transaction may have changed something, given how it ended. An unknown commit may
// have happened.
func MayBeCommitted(err error) bool {
	return err == nil || errors.Is(err, ErrCommitUnknown) || errors.Is(err, ErrCommitted)
}
