package app

import (
	"errors"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
)

// Outage says in a fault's words what the database did to a use case where that is no bug and
// nobody's decision, and gives nil for everything else. The change may have been made all the same: a
// retry needs the request's idempotency key.
func Outage(err error) *fault.Error {
	switch {
	case errors.Is(err, pg.ErrCommitUnknown):
		return outOfTime.With("outcome", "unknown").Because(err)
	case pg.Code(err) == queryCanceled, pg.Unreachable(err):
		return outOfTime.Because(err)
	}
	return nil
}

// queryCanceled is the SQLSTATE of a statement that ran into its time limit.
const queryCanceled = "57014"

var outOfTime = fault.New(fault.DeadlineExceeded, fault.Timeout,
	"The database does not answer. Try again, with the same idempotency key if anything is to change.")
