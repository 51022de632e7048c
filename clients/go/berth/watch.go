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

// Watch iterates over the tenant's events in commit order until the loop or the context ends. If the connection ends
// for any reason, it resumes from the last cursor. A caller that stores the cursor of each message after handling its
// events, and starts there the next time, misses no event and sees none twice.
//
// The first message and heartbeats have no events, but their cursors count, too. Without a cursor Watch starts now.
// An error ends the iteration: that of the context, or one that a reconnect cannot fix.
func (c *Client) Watch(ctx context.Context, request *v1.WatchEventsRequest) iter.Seq2[*v1.WatchEventsResponse, error] {
	return func(yield func(*v1.WatchEventsResponse, error) bool) {
		w := watch{interceptor: c.interceptor, client: c, request: proto.CloneOf(request)}
		for {
			err := w.follow(ctx, yield)
			if errors.Is(err, errLeft) {
				return
			}
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			if !w.shouldReconnect(ctx, err) {
				yield(nil, err)
				return
			}
		}
	}
}

type watch struct {
	*interceptor
	client   *Client
	request  *v1.WatchEventsRequest
	token    string
	refused  string // the token that was refused since the last message
	failures int    // since the last message that was not the first of its connection
}

// errLeft says that the caller has ended the loop.
var errLeft = errors.New("the loop has ended")

// follow yields the messages of one connection and returns how it ended.
func (w *watch) follow(ctx context.Context, yield func(*v1.WatchEventsResponse, error) bool) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if w.token, err = w.tokens.other(ctx, w.refused); err != nil {
		return err
	}
	request := connect.NewRequest(w.request)
	if w.token != "" {
		request.Header().Set(authorization, "Bearer "+w.token)
	}
	timeout := time.AfterFunc(w.silenceTimeout(), cancel)
	defer timeout.Stop()
	stream, err := w.client.Events.WatchEvents(ctx, request)
	if err != nil {
		return err
	}
	defer stream.Close()
	for first := true; stream.Receive(); first = false {
		timeout.Stop()
		message := stream.Msg()
		w.request.Cursor, w.refused = message.GetCursor(), ""
		if !first {
			// The first message does not count: a server that sends only that must not be called more and more often.
			w.failures = 0
		}
		if !yield(message, nil) {
			return errLeft
		}
		timeout.Reset(w.silenceTimeout())
	}
	if err := stream.Err(); err != nil {
		return err
	}
	return connect.NewError(connect.CodeUnavailable, errors.New("the stream ended"))
}

// shouldReconnect waits until it is time to reconnect. It returns false if that would not help.
func (w *watch) shouldReconnect(ctx context.Context, err error) bool {
	refusal := RefusalOf(err)
	if refusal.Code == connect.CodeUnauthenticated {
		if w.refused != "" || w.token == "" {
			return false // if a new token is rejected, too, another one will not help
		}
		w.refused = w.token
		newToken, err := w.tokens.other(ctx, w.refused)
		return err == nil && newToken != w.refused
	}
	if !canResume(refusal) {
		return false
	}
	wait := w.backoff(w.failures)
	if refusal.Reason == v1.ErrorReason_ERROR_REASON_RATE_LIMITED {
		wait += retryAfter(refusal)
	}
	w.failures++
	w.log.LogAttrs(ctx, slog.LevelInfo, "reconnecting watch", slog.Any("error", err), slog.Duration("wait", wait))
	_ = w.sleep(ctx, wait) // the next attempt notices if the context has ended
	return true
}

// canResume reports whether a stream that ended like this may be resumed.
func canResume(r Refusal) bool {
	switch r.Reason {
	case v1.ErrorReason_ERROR_REASON_WATCHER_TOO_SLOW, v1.ErrorReason_ERROR_REASON_SHUTTING_DOWN,
		v1.ErrorReason_ERROR_REASON_CONTENTION, v1.ErrorReason_ERROR_REASON_DEADLINE_EXCEEDED,
		v1.ErrorReason_ERROR_REASON_RATE_LIMITED, v1.ErrorReason_ERROR_REASON_INTERNAL:
		return true
	case v1.ErrorReason_ERROR_REASON_UNSPECIFIED, v1.ErrorReason_ERROR_REASON_CANCELED:
		// The caller did not cancel: a proxy did, or the silence timeout.
		return isTransient(r.Code) || r.Code == connect.CodeCanceled || r.Code == connect.CodeResourceExhausted
	default:
		return false
	}
}

// silence is the time without a message after which a connection counts as dead: two missed heartbeats.
func (w *watch) silenceTimeout() time.Duration {
	interval := 15 * time.Second
	if asked := w.request.GetHeartbeatInterval(); asked != nil {
		interval = asked.AsDuration()
	}
	return 2*interval + w.grace
}
