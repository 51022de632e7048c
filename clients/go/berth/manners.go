package berth

import (
	"context"
	"crypto/rand"
	"log/slog"
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

// manners give calls a token, which is renewed when it is refused; give mutations an idempotency key; and send
// again what is safe to send again.
type manners struct {
	settings
	tokens *tokens
}

// WrapUnary implements connect.Interceptor.
func (m *manners) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		spec, header := request.Spec(), request.Header()
		if takesKey(spec) && header.Get(idempotencyKey) == "" {
			header.Set(idempotencyKey, rand.Text())
		}
		own := isPublic(spec) || header.Get(authorization) != ""
		refused := ""
		for attempt := 0; ; attempt++ {
			token, err := m.authorize(ctx, request, own, refused)
			var answer connect.AnyResponse
			if err == nil {
				if answer, err = next(ctx, request); err == nil {
					return answer, nil
				}
				if refused == "" && token != "" && connect.CodeOf(err) == connect.CodeUnauthenticated {
					// Once: what is new and refused again will not be good.
					refused = token
					if another, e := m.tokens.other(ctx, refused); e == nil && another != refused {
						attempt--
						continue
					}
				}
			}
			wait, again := m.patience(err, isSafe(spec), attempt)
			if !again || attempt >= m.retries || ctx.Err() != nil {
				return nil, err
			}
			m.log.LogAttrs(ctx, slog.LevelInfo, "sent again", slog.String("procedure", spec.Procedure), slog.Any("error", err), slog.Duration("wait", wait))
			if m.pause(ctx, wait) != nil {
				return nil, err // what went wrong says more than that time is up
			}
		}
	}
}

// authorize puts a token on a request that has none of its own, and says which.
func (m *manners) authorize(ctx context.Context, request connect.AnyRequest, own bool, refused string) (string, error) {
	if own {
		return "", nil
	}
	token, err := m.tokens.other(ctx, refused)
	if token != "" {
		request.Header().Set(authorization, "Bearer "+token)
	}
	return token, err
}

// WrapStreamingClient implements connect.Interceptor.
func (m *manners) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		return &stream{StreamingClientConn: next(ctx, spec), token: func() (string, error) { return m.tokens.current(ctx) }}
	}
}

// stream gets its token with the first message: only then is it known whether its caller gives one.
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
func (*manners) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

// patience says how long to wait before a call is sent again, and whether it may be. Safe says whether a call that may
// have been done can be done again.
func (m *manners) patience(err error, safe bool, attempt int) (time.Duration, bool) {
	refusal := RefusalOf(err)
	switch refusal.Reason {
	case v1.ErrorReason_ERROR_REASON_CONTENTION: // nothing happened
		return m.backoff(attempt), true
	case v1.ErrorReason_ERROR_REASON_RATE_LIMITED:
		asked := retryAfter(refusal)
		// Whoever is told to come back much later is told so.
		return asked + m.backoff(attempt), asked <= longest
	case v1.ErrorReason_ERROR_REASON_DEADLINE_EXCEEDED, // out of the server's time, not ours
		v1.ErrorReason_ERROR_REASON_SHUTTING_DOWN:
		return m.backoff(attempt), safe
	case v1.ErrorReason_ERROR_REASON_UNSPECIFIED: // not Berth's own: the network, or what stands in between
		return m.backoff(attempt), safe && isTransient(refusal.Code)
	default:
		return 0, false
	}
}

// Between first and longest, the ceiling of waits doubles.
const (
	first   = 100 * time.Millisecond
	longest = 10 * time.Second
)

// backoff has full jitter: whoever failed together must not come back together.
func (m *manners) backoff(attempt int) time.Duration {
	ceiling := longest
	if attempt < 7 {
		ceiling = min(longest, first<<attempt)
	}
	return time.Duration(m.random() * float64(ceiling))
}

func retryAfter(r Refusal) time.Duration {
	seconds, err := strconv.ParseFloat(r.Metadata["retry_after"], 64)
	if err != nil {
		return time.Second
	}
	return time.Duration(seconds * float64(time.Second))
}

// isTransient reports whether a connection that was refused, cut or lost comes out so.
func isTransient(code connect.Code) bool {
	switch code { //nolint:exhaustive // all others are answers
	case connect.CodeUnavailable, connect.CodeUnknown, connect.CodeInternal, connect.CodeAborted, connect.CodeDeadlineExceeded:
		return true
	}
	return false
}

func pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func reads(spec connect.Spec) bool { return spec.IdempotencyLevel == connect.IdempotencyNoSideEffects }

func isPublic(spec connect.Spec) bool {
	method, ok := spec.Schema.(protoreflect.MethodDescriptor)
	if !ok {
		return false
	}
	access, ok := proto.GetExtension(method.Options(), v1.E_Access).(*v1.Access)
	return ok && access.GetRule() == v1.Access_RULE_PUBLIC
}

// takesKey: a key is its caller's, so where there is none the server keeps no answers.
func takesKey(spec connect.Spec) bool { return !reads(spec) && !isPublic(spec) }

// isSafe: each exchange of a key gives a token of its own, and changes nothing.
func isSafe(spec connect.Spec) bool {
	return reads(spec) || takesKey(spec) || spec.Procedure == berthv1connect.AccessServiceExchangeKeyProcedure
}
