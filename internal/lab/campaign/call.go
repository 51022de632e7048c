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

// caller is somebody who asks one thing after the other, of whichever server.
type caller struct {
	load   *load
	number int
	random *rand.Rand
	asked  int
}

// reply is what became of a call, however often it had to be sent.
type reply struct {
	outcome  history.Outcome // Done where there is an answer
	reason   string
	repeated bool // the answer says that it repeats another
	attempts int
	key      string
	// doubt: an attempt got no answer, and may have happened, or may happen yet.
	doubt            bool
	first, last, end time.Duration
}

const (
	callTimeout = 2500 * time.Millisecond
	// givingUp: one in so many callers leaves when there is no answer, and never asks again.
	givingUp = 12
	// lastPatience is for answers after everything was healed.
	lastPatience = 5 * time.Minute
)

// refusals are answers that say for certain that nothing was done.
var refusals = map[string]history.Outcome{
	"SESSION_FULL": history.Full, "ALREADY_BOOKED": history.Already, "NO_CREDITS": history.Broke,
	"BOOKING_STATE": history.Refused, "HOLD_EXPIRED": history.Refused, "OFFER_NOT_LIVE": history.Refused, "OFFER_NOT_FOUND": history.Refused,
	"RESCHEDULE_TARGET": history.Full,
}

// call sends a request, under one key, until it is answered for certain or its sender gives up.
func (c *caller) call(who person, procedure string, request, answer proto.Message) reply {
	c.asked++
	r := reply{key: fmt.Sprintf("caller-%d-%d", c.number, c.asked), first: c.load.clock()}
	return c.send(r, c.load.token(who), procedure, request, answer)
}

func (c *caller) send(r reply, token, procedure string, request, answer proto.Message) reply {
	leaves := c.random.IntN(givingUp) == 0
	for {
		r.attempts++
		r.last = c.load.clock()
		nodes := c.load.site.nodes
		header, err := attempt(context.Background(), nodes[c.random.IntN(len(nodes))].client(), token, r.key, procedure, request, answer)
		r.end = c.load.clock()
		c.load.storm.tried()
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
		c.load.troubled(code, reason)
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
		if r.doubt && leaves || c.load.tooLate() {
			r.outcome = history.Unknown
			return r
		}
		_ = pause(context.Background(), time.Duration(10+c.random.IntN(40))*time.Millisecond)
	}
}

// attempt sends a request once.
func attempt(ctx context.Context, to *grpc.ClientConn, token, key, procedure string, request, answer proto.Message) (metadata.MD, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token, "idempotency-key", key)
	var header metadata.MD
	proto.Reset(answer)
	err := to.Invoke(ctx, procedure, request, answer, grpc.Header(&header))
	return header, err
}

// reasonOf gives the code of an error and the contract's reason for it.
func reasonOf(err error) (codes.Code, string) {
	s := status.Convert(err)
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return s.Code(), info.GetReason()
		}
	}
	return s.Code(), ""
}

// record keeps an operation with its answer; and where an attempt is still in doubt after a refusal, that as one of its own.
func (c *caller) record(op history.Operation, r reply) {
	op.Client, op.Attempts, op.Note = c.number, r.attempts, r.key
	op.Called, op.Returned = r.first, r.end
	if op.Outcome == "" {
		op.Outcome = r.outcome
	}
	op.Reason = r.reason
	if _, refused := refusals[r.reason]; refused && r.doubt {
		ghost := op
		ghost.Outcome, ghost.Reason, ghost.Note = history.Unknown, "", r.key+", an attempt without an answer"
		c.load.keep(ghost)
		op.Called = r.last
	}
	c.load.keep(op)
}
