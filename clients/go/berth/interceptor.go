package berth

import (
	"context"
	"crypto/rand"
	"log/slog"
	"math"
	"strconv"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
)

const (
	authorization  = "Authorization"
	idempotencyKey = "Idempotency-Key"
)

// interceptor adds tokens to calls and renews rejected ones, adds idempotency keys to mutations,
// and retries what is safe to retry.
type interceptor struct {
	settings
	tokens *tokens
}

// WrapUnary implements connect.Interceptor.
func (i *interceptor) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		spec, header := request.Spec(), request.Header()
		if takesKey(spec) && header.Get(idempotencyKey) == "" {
			header.Set(idempotencyKey, rand.Text())
		}
		ctx, deadline, cancel := i.withDeadline(ctx)
		defer cancel()
		own := isPublic(spec) || header.Get(authorization) != ""
		refused := ""
		for attempt := 0; ; attempt++ {
			token, err := i.authorize(ctx, request, own, refused)
			var answer connect.AnyResponse
			if err == nil {
				if answer, err = next(ctx, request); err == nil {
					return answer, nil
				}
				if refused == "" && token != "" && connect.CodeOf(err) == connect.CodeUnauthenticated {
					// Only once: if a new token is rejected, too, another one will not help.
					refused = token
					if newToken, e := i.tokens.other(ctx, refused); e == nil && newToken != refused {
						attempt--
						continue
					}
				}
			}
			wait, retry := i.retryDelay(err, isSafe(spec), attempt)
			if !retry || attempt >= i.retries || ctx.Err() != nil || !i.now().Add(wait).Before(deadline) {
				return nil, err
			}
			i.log.LogAttrs(ctx, slog.LevelInfo, "retrying call", slog.String("procedure", spec.Procedure),
				slog.Any("error", err), slog.Duration("wait", wait))
			if i.sleep(ctx, wait) != nil {
				return nil, err // the cause says more than that the time is up
			}
		}
	}
}

// withDeadline returns the deadline of a call with its retries: that of its context, or one after the client's timeout.
func (i *interceptor) withDeadline(ctx context.Context) (context.Context, time.Time, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return ctx, deadline, func() {}
	}
	if i.timeout <= 0 {
		return ctx, i.now().AddDate(1, 0, 0), func() {}
	}
	// The deadline is by the client's clock. The timer of the context ends an attempt that gets no answer.
	deadline := i.now().Add(i.timeout)
	ctx, cancel := context.WithTimeout(ctx, i.timeout)
	return ctx, deadline, cancel
}

// authorize adds a token to a request, unless it has its own or needs none, and returns the token.
func (i *interceptor) authorize(
	ctx context.Context, request connect.AnyRequest, own bool, refused string,
) (string, error) {
	if own {
		return "", nil
	}
	token, err := i.tokens.other(ctx, refused)
	if token != "" {
		request.Header().Set(authorization, "Bearer "+token)
	}
	return token, err
}

// WrapStreamingClient implements connect.Interceptor.
func (i *interceptor) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		token := func() (string, error) { return i.tokens.current(ctx) }
		return &stream{StreamingClientConn: next(ctx, spec), token: token}
	}
}

// stream adds the token with the first message: only then is it known whether the caller has set one.
type stream struct {
	connect.StreamingClientConn

	token func() (string, error)
}

// Send implements connect.StreamingClientConn.
func (s *stream) Send(message any) error {
	if s.RequestHeader().Get(authorization) == "" {
		token, err := s.token()
		if err != nil {
			return err
		}
		if token != "" {
			s.RequestHeader().Set(authorization, "Bearer "+token)
		}
	}
	return s.StreamingClientConn.Send(message)
}

// WrapStreamingHandler implements connect.Interceptor.
func (*interceptor) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

// retryDelay returns how long to wait before a retry, and whether the call may be retried.
// safe says whether it may be executed twice.
func (i *interceptor) retryDelay(err error, safe bool, attempt int) (time.Duration, bool) {
	refusal := RefusalOf(err)
	switch refusal.Reason {
	case v1.ErrorReason_ERROR_REASON_CONTENTION: // nothing was written
		return i.backoff(attempt), true
	case v1.ErrorReason_ERROR_REASON_RATE_LIMITED:
		asked := retryAfter(refusal)
		// A caller that has to wait much longer gets the error.
		return asked + i.backoff(attempt), asked <= maxBackoff
	case v1.ErrorReason_ERROR_REASON_DEADLINE_EXCEEDED, // the server's deadline, not ours
		v1.ErrorReason_ERROR_REASON_SHUTTING_DOWN:
		return i.backoff(attempt), safe
	case v1.ErrorReason_ERROR_REASON_UNSPECIFIED: // not from Berth: from the network or a proxy
		return i.backoff(attempt), safe && isTransient(refusal.Code)
	default:
		return 0, false
	}
}

// The maximum of a wait doubles from minBackoff to maxBackoff.
const (
	minBackoff = 100 * time.Millisecond
	maxBackoff = 10 * time.Second
)

// backoff has full jitter, so that clients that failed together do not return together.
func (i *interceptor) backoff(attempt int) time.Duration {
	ceiling := maxBackoff
	if attempt < 7 {
		ceiling = min(maxBackoff, minBackoff<<attempt)
	}
	return time.Duration(i.random() * float64(ceiling))
}

func retryAfter(r Refusal) time.Duration {
	seconds, err := strconv.ParseFloat(r.Metadata["retry_after"], 64)
	if err != nil || !(seconds >= 0) {
		return time.Second
	}
	return time.Duration(min(seconds, math.MaxInt32) * float64(time.Second)) // a Duration has 292 years
}

// isTransient reports whether the code is that of a refused or lost connection.
func isTransient(code connect.Code) bool {
	switch code { //nolint:exhaustive // all others are answers of the server
	case connect.CodeUnavailable, connect.CodeUnknown, connect.CodeInternal,
		connect.CodeAborted, connect.CodeDeadlineExceeded:
		return true
	}
	return false
}

func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// isRead reports whether a call changes nothing. Reads with a secret are idempotent: they are not sent over GET.
func isRead(spec connect.Spec) bool { return spec.IdempotencyLevel != connect.IdempotencyUnknown }

func isPublic(spec connect.Spec) bool {
	method, ok := spec.Schema.(protoreflect.MethodDescriptor)
	if !ok {
		return false
	}
	access, ok := proto.GetExtension(method.Options(), v1.E_Access).(*v1.Access)
	return ok && access.GetRule() == v1.Access_RULE_PUBLIC
}

// takesKey reports whether a call takes an idempotency key. Keys belong to a caller, so public calls have none.
func takesKey(spec connect.Spec) bool { return !isRead(spec) && !isPublic(spec) }

// isSafe reports whether a call may be executed twice. Each exchange of a key returns a new token and changes nothing.
func isSafe(spec connect.Spec) bool {
	return isRead(spec) || takesKey(spec) || spec.Procedure == berthv1connect.AccessServiceExchangeKeyProcedure
}
