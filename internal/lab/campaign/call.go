package campaign

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/berthhq/berth/internal/lab/history"
)

// caller makes one call after the other, to any server.
type caller struct {
	load   *load
	number int
	random *rand.Rand
	calls  int
	node   int     // the server of the next attempt
	twin   *caller // calls at the same time, on another server
}

// newCaller returns a caller with a number of its own.
func (l *load) newCaller(number int, seed uint64) *caller {
	return &caller{
		load: l, number: number, random: rand.New(rand.NewPCG(seed, uint64(number)+2)),
		twin: &caller{load: l, number: number + twins, random: rand.New(rand.NewPCG(seed, uint64(number)+twins))},
	}
}

// twins is more than the number of callers.
const twins = 1 << 20

// reply is the result of a call with all its attempts.
type reply struct {
	outcome  history.Outcome // Done if there is a response
	reason   string
	repeated bool // the response repeats an earlier one
	attempts int
	key      string
	// doubt: an attempt got no response, so it may have happened or may still happen.
	doubt            bool
	first, last, end time.Duration
}

const (
	callTimeout = 2500 * time.Millisecond
	// giveUpOneIn: without a response, one in this many calls is given up and never repeated.
	giveUpOneIn = 12
	// finalTimeout is the time limit for a response after all faults have ended.
	finalTimeout = 5 * time.Minute
)

// refusals are errors that guarantee that nothing was changed.
var refusals = map[string]history.Outcome{
	"SESSION_FULL": history.Full, "ALREADY_BOOKED": history.Already, "NO_CREDITS": history.NoCredits,
	"BOOKING_STATE": history.Refused, "HOLD_EXPIRED": history.Refused,
	"WAITLIST_ENTRY_STATE": history.Refused, "WAITLIST_OFFER_NOT_LIVE": history.Refused,
	"WAITLIST_OFFER_NOT_FOUND": history.Refused,
	"RESCHEDULE_TARGET":        history.Full, "ITEM_UNAVAILABLE": history.Refused,
}

// call sends a request with one key until the result is certain or the caller gives up.
func (c *caller) call(person person, procedure string, request, answer proto.Message) reply {
	c.calls++
	r := reply{key: fmt.Sprintf("caller-%d-%d", c.number, c.calls), first: c.load.clock()}
	return c.send(r, c.load.token(person), procedure, request, answer)
}

func (c *caller) send(r reply, token, procedure string, request, answer proto.Message) reply {
	givesUp := c.random.IntN(giveUpOneIn) == 0
	for {
		r.attempts++
		r.last = c.load.clock()
		nodes := c.load.cluster.nodes
		header, err := attempt(
			context.Background(), nodes[c.node].client(), token, r.key, procedure, request, answer,
		)
		c.node = c.random.IntN(len(nodes))
		r.end = c.load.clock()
		c.load.injector.countAttempt()
		if err == nil {
			r.outcome = history.Done
			r.repeated = len(header.Get("x-idempotent")) > 0 && header.Get("x-idempotent")[0] == "true"
			return r
		}
		code, reason := reasonOf(err)
		if outcome, certain := refusals[reason]; certain {
			r.outcome, r.reason = outcome, reason
			return r
		}
		c.load.countError(code, reason, c.load.begun.Add(r.last), c.load.begun.Add(r.end))
		switch code {
		case codes.Unavailable, codes.DeadlineExceeded, codes.Internal, codes.Canceled, codes.Unknown:
		default:
			c.load.fail("%s was refused: %v", procedure, err)
			r.outcome, r.reason = history.Refused, reason
			return r
		}
		if reason != "CONTENTION" && reason != "RATE_LIMITED" {
			r.doubt = true
		}
		if r.doubt && givesUp || c.load.overdue() {
			r.outcome = history.Unknown
			return r
		}
		_ = pause(context.Background(), time.Duration(10+c.random.IntN(40))*time.Millisecond)
	}
}

// attempt sends a request once.
func attempt(
	ctx context.Context, to *grpc.ClientConn, token, key, procedure string, request, answer proto.Message,
) (metadata.MD, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token, "idempotency-key", key)
	var header metadata.MD
	proto.Reset(answer)
	err := to.Invoke(ctx, procedure, request, answer, grpc.Header(&header))
	return header, err
}

// reasonOf returns the code of an error and its reason in the contract.
func reasonOf(err error) (codes.Code, string) {
	s := status.Convert(err)
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return s.Code(), info.GetReason()
		}
	}
	return s.Code(), ""
}

// record stores an operation with its result. If the call was refused after an attempt without a response, that attempt
// is stored as another operation.
func (c *caller) record(op history.Operation, r reply) {
	op.Client, op.Attempts, op.Note = c.number, r.attempts, r.key
	op.Called, op.Returned = r.first, r.end
	if op.Outcome == "" {
		op.Outcome = r.outcome
	}
	op.Reason = r.reason
	if _, refused := refusals[r.reason]; refused && r.doubt {
		ghost := op
		ghost.Outcome, ghost.Reason, ghost.Note = history.Unknown, "", r.key+", an attempt without a response"
		c.load.store(ghost)
		op.Called = r.last
	}
	c.load.store(op)
}
