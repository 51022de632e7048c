package app

import (
	"errors"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
)

// Outage says in a fault's words what the database did to a use case where that is no bug and
// nobody's decision, and gives nil for everything else. Out of time, the change may have been made all the same: a
// retry needs the request's idempotency key.
func Outage(err error) *fault.Error {
	switch {
	case errors.Is(err, pg.ErrCommitUnknown):
		return outOfTime.With("outcome", "unknown").Because(err)
	case pg.Code(err) == queryCanceled, pg.Unreachable(err):
		return outOfTime.Because(err)
	case pg.Disordered(err):
		return outOfOrder.Because(err)
	}
	return nil
}

// queryCanceled is the SQLSTATE of a statement that ran into its time limit.
const queryCanceled = "57014"

// outOfOrder is no bug of this side, and it may well be that the next try finds the database in order: clients send it again.
var outOfOrder = fault.New(fault.Unavailable, fault.Contention, "The database could not do it. Nothing happened: try again.")

var outOfTime = fault.New(fault.DeadlineExceeded, fault.Timeout,
	"The database does not answer. Try again, with the same idempotency key if anything is to change.")
