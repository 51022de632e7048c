package pg

import (
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// SQLSTATE codes that the code above the database tells apart.
const (
	codeNotNull         = "23502"
	codeForeignKey      = "23503"
	codeUnique          = "23505"
	codeCheck           = "23514"
	codeExclusion       = "23P01"
	codeSerialization   = "40001"
	codeDeadlock        = "40P01"
	codeLockUnavailable = "55P03"
	codeInternal        = "XX000" // damaged data have codes of their own
	codeNoRole          = "22023" // to connect as; otherwise a parameter's value that is none
	codeNoTable         = "42P01"
	codeNoColumn        = "42703"
	codeNoPrivilege     = "42501"
)

// ErrCommitUnknown says that the connection was lost after COMMIT was sent and
// before it was answered: the transaction may be durable or may never have
// happened. It must not be tried again as it is; the caller finds out by the
// request's idempotency key.
var ErrCommitUnknown = errors.New("pg: outcome of the commit is unknown")

// ErrCommitted says that a transaction is durable although reading what one of
// its last writes returned has failed.
var ErrCommitted = errors.New("pg: committed, but a result could not be read")

// Code gives the SQLSTATE of the database's error in the chain, or "".
func Code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// Constraint gives the name of the constraint that the database says was
// violated, or "".
func Constraint(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.ConstraintName
	}
	return ""
}

// IsUnique reports whether err is a violation of the named unique constraint
// or unique index; without a name, of any.
func IsUnique(err error, constraint ...string) bool { return violates(err, codeUnique, constraint) }

// IsCheck is IsUnique for CHECK constraints.
func IsCheck(err error, constraint ...string) bool { return violates(err, codeCheck, constraint) }

// IsExclusion is IsUnique for exclusion constraints.
func IsExclusion(err error, constraint ...string) bool {
	return violates(err, codeExclusion, constraint)
}

// IsForeignKey is IsUnique for foreign keys.
func IsForeignKey(err error, constraint ...string) bool {
	return violates(err, codeForeignKey, constraint)
}

func violates(err error, code string, constraint []string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == code && (len(constraint) == 0 || slices.Contains(constraint, e.ConstraintName))
}

// contended reports whether the database gave a transaction up for the sake of
// a concurrent one. Only then does running it again make sense.
func contended(err error) bool {
	code := Code(err)
	return code == codeSerialization || code == codeDeadlock
}

// connectionLost reports whether the server went away, or never was there.
func connectionLost(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.SeverityUnlocalized == "FATAL" || e.SeverityUnlocalized == "PANIC"
	}
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
}

// Unreachable reports whether the database could not be asked, or left without an answer: it is down, starting, stopping or
// full, or the way to it is broken.
func Unreachable(err error) bool {
	code := Code(err)
	if code == "" {
		return connectionLost(err)
	}
	return strings.HasPrefix(code, "57P") || strings.HasPrefix(code, "08") || code == "53300"
}

// Disordered reports whether the database failed at what it was asked for reasons of its own: it ran out of something (class 53), what is under
// it failed (58), or it met a state of its own that should not be. Nothing but ErrCommitUnknown beside that leaves open whether anything was done:
// it was not.
func Disordered(err error) bool {
	code := Code(err)
	return code == codeInternal || strings.HasPrefix(code, "53") || strings.HasPrefix(code, "58")
}

// keepsPlans reports whether an error says nothing against the prepared
// statements of its batch: another transaction or the data was at fault. For
// any other error pgx prepares them afresh, because a migration may have
// changed what they return.
func keepsPlans(err error) bool {
	switch code := Code(err); code {
	case codeNotNull, codeForeignKey, codeUnique, codeCheck, codeExclusion,
		codeSerialization, codeDeadlock, codeLockUnavailable:
		return true
	default:
		return false
	}
}
