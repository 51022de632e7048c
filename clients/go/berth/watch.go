package berth

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Watch gives what happens in the tenant, in commit order, for as long as its loop runs and its context lasts. Where the
// connection ends, for whatever reason, it goes on from the last cursor. Whoever keeps the cursor of a message once its
// events are dealt with, and begins there the next time, misses nothing and sees nothing twice.
//
// The first message, and those that only show that the connection lives, have no events; their cursors count too. Without
// a cursor it begins now. An error is the last that comes: the context's, or what another attempt would not mend.
func (c *Client) Watch(ctx context.Context, request *v1.WatchEventsRequest) iter.Seq2[*v1.WatchEventsResponse, error] {
	return func(yield func(*v1.WatchEventsResponse, error) bool) {
		w := watch{manners: c.manners, client: c, request: proto.CloneOf(request)}
		for {
			err := w.follow(ctx, yield)
			if errors.Is(err, errLeft) {
				return
			}
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			if !w.mends(ctx, err) {
				yield(nil, err)
				return
			}
		}
	}
}

type watch struct {
	*manners
	client   *Client
	request  *v1.WatchEventsRequest
	token    string
	refused  string // the token that was refused since the last message
	failures int    // since the last message but a first one
}

// errLeft: whoever loops wants no more.
var errLeft = errors.New("the loop was left")

// follow gives what one connection gives, and says how it ended.
func (w *watch) follow(ctx context.Context, yield func(*v1.WatchEventsResponse, error) bool) (err error) {
	ctx, hangUp := context.WithCancel(ctx)
	defer hangUp()
	if w.token, err = w.tokens.other(ctx, w.refused); err != nil {
		return err
	}
	request := connect.NewRequest(w.request)
	if w.token != "" {
		request.Header().Set(authorization, "Bearer "+w.token)
	}
	silent := time.AfterFunc(w.silence(), hangUp)
	defer silent.Stop()
	stream, err := w.client.Events.WatchEvents(ctx, request)
	if err != nil {
		return err
	}
	defer stream.Close()
	for first := true; stream.Receive(); first = false {
		silent.Stop()
		message := stream.Msg()
		w.request.Cursor, w.refused = message.GetCursor(), ""
		if !first {
			// Whoever greets and then hangs up each time is not to be called ever faster.
			w.failures = 0
		}
		if !yield(message, nil) {
			return errLeft
		}
		silent.Reset(w.silence())
	}
	if err := stream.Err(); err != nil {
		return err
	}
	return connect.NewError(connect.CodeUnavailable, errors.New("the stream ended"))
}

// mends waits until it is time to connect again; false where that would not help.
func (w *watch) mends(ctx context.Context, err error) bool {
	refusal := RefusalOf(err)
	if refusal.Code == connect.CodeUnauthenticated {
		if w.refused != "" || w.token == "" {
			return false // what is new and refused again will not be good
		}
		w.refused = w.token
		another, err := w.tokens.other(ctx, w.refused)
		return err == nil && another != w.refused
	}
	if !isPassing(refusal) {
		return false
	}
	wait := w.backoff(w.failures)
	if refusal.Reason == v1.ErrorReason_ERROR_REASON_RATE_LIMITED {
		wait += retryAfter(refusal)
	}
	w.failures++
	w.log.LogAttrs(ctx, slog.LevelInfo, "watching again", slog.Any("error", err), slog.Duration("wait", wait))
	_ = w.pause(ctx, wait) // a context that ends is seen by the next attempt
	return true
}

// isPassing reports whether a stream that ended so may be taken up again.
func isPassing(r Refusal) bool {
	switch r.Reason {
	case v1.ErrorReason_ERROR_REASON_WATCHER_TOO_SLOW, v1.ErrorReason_ERROR_REASON_SHUTTING_DOWN, v1.ErrorReason_ERROR_REASON_CONTENTION,
		v1.ErrorReason_ERROR_REASON_DEADLINE_EXCEEDED, v1.ErrorReason_ERROR_REASON_RATE_LIMITED, v1.ErrorReason_ERROR_REASON_INTERNAL:
		return true
	case v1.ErrorReason_ERROR_REASON_UNSPECIFIED, v1.ErrorReason_ERROR_REASON_CANCELED:
		// It was not the caller who cancelled: a proxy did, or the silence.
		return isTransient(r.Code) || r.Code == connect.CodeCanceled || r.Code == connect.CodeResourceExhausted
	default:
		return false
	}
}

// silence is after how long a connection without a message is taken for dead: two heartbeats that did not come.
func (w *watch) silence() time.Duration {
	interval := 15 * time.Second
	if asked := w.request.GetHeartbeatInterval(); asked != nil {
		interval = asked.AsDuration()
	}
	return 2*interval + w.grace
}
