package main

import (
	"testing"

	"github.com/shoenig/test"
	"google.golang.org/grpc/codes"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgproxy"
)

// If the database rejects one round trip of an RPC, whichever it is, then the RPC fails: it does not take what it could
// not read for empty, or say that something is done which is not.
func TestEveryRPC_FailsIfTheDatabaseDoes(t *testing.T) {
	withoutRaceDetector(t)
	t.Parallel()
	c := newCutTest(t, newLive(t))
	// Roles are read again for each question about permissions, since they can change at any time.
	token, reject := c.token("owner"), cut{action: pgproxy.Reject, each: c.node.Guard.InvalidateAll}
	for _, p := range procedures() {
		for _, b := range requests[p.Short()] {
			request := b(c.world)
			// What an endless stream reads after its first message belongs to no call.
			for trip, rejected := 0, true; rejected && (trip == 0 || !p.IsEndless()); trip++ {
				var got outcome
				rejected = c.postgres.during(trip, reject, func() { got = c.node.try(t.Context(), token, p, request) })
				test.EqOp(t, rejected, got.Code == codes.Internal,
					test.Sprintf("%s, round trip %d rejected: %t: %s", p.Short(), trip, rejected, got))
			}
		}
	}
	test.StrNotContains(t, c.node.log.String(), pg.ErrFailed.Error(), test.Sprint("went on after an error"))
}
