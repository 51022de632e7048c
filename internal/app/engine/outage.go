package engine

import (
	"errors"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
)

// Outage turns an error of the database that is neither a bug nor a refusal into a fault. It returns nil for every
// other error. After TIMEOUT the change may have been made, so a retry needs the request's idempotency key.
func Outage(err error) *fault.Error {
	switch {
	case errors.Is(err, pg.ErrCommitUnknown):
		return timeout.WithMetadata("outcome", "unknown").WithCause(err)
	case pg.Code(err) == queryCanceled, pg.IsUnreachable(err):
		return timeout.WithCause(err)
	case pg.IsServerFailure(err):
		return serverFailure.WithCause(err)
	}
	return nil
}

// queryCanceled is the SQLSTATE of a statement that exceeded its time limit.
const queryCanceled = "57014"

var (
	// serverFailure is no error of Berth's, and the next attempt may succeed: clients send the request again.
	serverFailure = fault.New(fault.Unavailable, fault.Contention,
		"The database could not do it. Nothing happened: try again.")

	timeout = fault.New(fault.DeadlineExceeded, fault.Timeout,
		"The database does not answer. Try again, with the same idempotency key if anything is to change.")
)
