package berth

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
)

// cases are the contents of clients/retries.json, which the clients in all languages run. Times are in seconds.
type cases struct {
	Timeout    float64         `json:"timeout"`
	Retries    int             `json:"retries"`
	Calls      []callCase      `json:"calls"`
	Watches    []callCase      `json:"watches"`
	Renewals   []renewalCase   `json:"renewals"`
	Rejections []rejectionCase `json:"rejections"`
}

// callCase is a call, or a watch, that fails Attempt+1 times in the same way.
type callCase struct {
	When     string            `json:"when"`
	Code     connect.Code      `json:"code"`
	Reason   string            `json:"reason"` // empty if the error is not from Berth
	Metadata map[string]string `json:"metadata"`
	Call     string            `json:"call"`
	Key      bool              `json:"key"` // whether the call has an idempotency key
	Attempt  int               `json:"attempt"`
	Elapsed  float64           `json:"elapsed"` // since the call began, when the last error arrives
	Retries  int               `json:"retries"` // zero stands for the default
	// Wait is the shortest and the longest wait before the call is sent again. It is nil if it is not sent again.
	Wait []float64 `json:"wait"`
}

func (c callCase) error() error {
	if c.Reason == "" {
		return connect.NewError(c.Code, errors.New(c.When))
	}
	var facts []string
	for name, value := range c.Metadata {
		facts = append(facts, name, value)
	}
	return refused(c.Code, c.Reason, facts...)
}

// renewalCase asks for a token twice: at the start, and at an age of the first token.
type renewalCase struct {
	When     string  `json:"when"`
	Expiry   string  `json:"expiry"` // given, jwt or unknown
	Lifetime float64 `json:"lifetime"`
	Age      float64 `json:"age"`
	Issuer   string  `json:"issuer"` // up, or down from the second fetch on
	Token    string  `json:"token"`  // first, second, or empty for an error
}

// rejectionCase is a call while the issuer gives these tokens, one for each fetch; empty for a failure.
type rejectionCase struct {
	When     string   `json:"when"`
	Tokens   []string `json:"tokens"`
	Answers  []string `json:"answers"` // unauthenticated or ok
	Sent     []string `json:"sent"`
	Succeeds bool     `json:"succeeds"`
}

func readCases(t *testing.T) cases {
	t.Helper()
	text, err := os.ReadFile("../../retries.json")
	must.NoError(t, err)
	var all cases
	must.NoError(t, json.Unmarshal(text, &all))
	must.NotEqOp(t, 0, len(all.Calls), must.Sprint("retries.json has no cases"))
	must.NotEqOp(t, 0, len(all.Watches), must.Sprint("retries.json has no cases"))
	must.NotEqOp(t, 0, len(all.Renewals), must.Sprint("retries.json has no cases"))
	must.NotEqOp(t, 0, len(all.Rejections), must.Sprint("retries.json has no cases"))
	return all
}

// caseServer answers every call of the cases.
type caseServer struct {
	berthv1connect.UnimplementedAccessServiceHandler
	berthv1connect.UnimplementedBookingServiceHandler
	berthv1connect.UnimplementedWaitlistServiceHandler

	headers []http.Header
	answer  func(n int) error // to the nth call, from 1
}

func respond[T any](s *caseServer, header http.Header) (*connect.Response[T], error) {
	s.headers = append(s.headers, header.Clone())
	return connect.NewResponse(new(T)), s.answer(len(s.headers))
}

func (s *caseServer) GetBooking(
	_ context.Context, r *connect.Request[v1.GetBookingRequest],
) (*connect.Response[v1.GetBookingResponse], error) {
	return respond[v1.GetBookingResponse](s, r.Header())
}

func (s *caseServer) Book(
	_ context.Context, r *connect.Request[v1.BookRequest],
) (*connect.Response[v1.BookResponse], error) {
	return respond[v1.BookResponse](s, r.Header())
}

func (s *caseServer) AnswerWaitlistClaim(
	_ context.Context, r *connect.Request[v1.AnswerWaitlistClaimRequest],
) (*connect.Response[v1.AnswerWaitlistClaimResponse], error) {
	return respond[v1.AnswerWaitlistClaimResponse](s, r.Header())
}

func (s *caseServer) ExchangeKey(
	_ context.Context, r *connect.Request[v1.ExchangeKeyRequest],
) (*connect.Response[v1.ExchangeKeyResponse], error) {
	return respond[v1.ExchangeKeyResponse](s, r.Header())
}

func (s *caseServer) start(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(berthv1connect.NewAccessServiceHandler(s))
	mux.Handle(berthv1connect.NewBookingServiceHandler(s))
	mux.Handle(berthv1connect.NewWaitlistServiceHandler(s))
	return start(t, mux)
}

func send(ctx context.Context, client *Client, call string) error {
	var err error
	switch call {
	case "read":
		_, err = client.Bookings.GetBooking(ctx, connect.NewRequest(&v1.GetBookingRequest{}))
	case "mutation":
		_, err = client.Bookings.Book(ctx, connect.NewRequest(&v1.BookRequest{}))
	case "public":
		_, err = client.Waitlist.AnswerWaitlistClaim(ctx, connect.NewRequest(&v1.AnswerWaitlistClaimRequest{}))
	case "exchange":
		_, err = client.Access.ExchangeKey(ctx, connect.NewRequest(&v1.ExchangeKeyRequest{}))
	default:
		err = fmt.Errorf("no such call: %q", call)
	}
	return err
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond)
}

func TestRetries_MatchTheCasesOfAllClients(t *testing.T) {
	t.Parallel()
	for i, c := range readCases(t).Calls {
		for random := range 2 { // the shortest and the longest wait
			t.Run(fmt.Sprintf("%d %s %s %d", i, c.When, c.Call, random), func(t *testing.T) {
				t.Parallel()
				begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
				now := begin
				var waits []time.Duration
				server := &caseServer{answer: func(n int) error {
					if n > c.Attempt+1 {
						return nil
					}
					if at := begin.Add(seconds(c.Elapsed)); n == c.Attempt+1 && at.After(now) {
						now = at
					}
					return c.error()
				}}
				options := []Option{WithTokens(StaticToken("token")), func(s *settings) {
					s.now = func() time.Time { return now }
					s.random = func() float64 { return float64(random) }
					s.sleep = func(_ context.Context, wait time.Duration) error {
						waits, now = append(waits, wait.Round(time.Millisecond)), now.Add(wait)
						return nil
					}
				}}
				if c.Retries > 0 {
					options = append(options, WithRetries(c.Retries))
				}
				err := send(t.Context(), New(server.start(t), options...), c.Call)
				sent := len(server.headers)
				test.EqOp(t, c.Key, server.headers[0].Get(idempotencyKey) != "", test.Sprint("has a key"))
				if c.Wait == nil {
					test.EqOp(t, c.Attempt+1, sent, test.Sprintf("sent %d times, %v", sent, err))
					test.EqOp(t, c.Code, connect.CodeOf(err), test.Sprintf("sent %d times, %v", sent, err))
					return
				}
				must.NoError(t, err, must.Sprintf("sent %d times, %v", sent, err))
				must.EqOp(t, c.Attempt+2, sent, must.Sprintf("sent %d times, %v", sent, err))
				test.EqOp(t, seconds(c.Wait[random]), waits[c.Attempt], test.Sprint("sent again after"))
			})
		}
	}
}

func TestRetries_HaveTheDefaultsOfAllClients(t *testing.T) {
	t.Parallel()
	all := readCases(t)
	client := New("http://localhost")
	test.EqOp(t, seconds(all.Timeout), client.interceptor.timeout)
	test.EqOp(t, all.Retries, client.interceptor.retries)
}

func TestWatch_ReconnectsAsTheCasesOfAllClients(t *testing.T) {
	t.Parallel()
	for i, c := range readCases(t).Watches {
		for random := range 2 {
			t.Run(fmt.Sprintf("%d %s %d", i, c.When, random), func(t *testing.T) {
				t.Parallel()
				s := &service{streams: append(slices.Repeat([][]any{{c.error()}}, c.Attempt+1), []any{greeting("a")})}
				client, waits := serve(t, s, func(s *settings) { s.random = func() float64 { return float64(random) } })
				var last error
				for _, err := range client.Watch(t.Context(), &v1.WatchEventsRequest{}) {
					last = err
					break
				}
				if c.Wait == nil {
					test.EqOp(t, c.Code, connect.CodeOf(last),
						test.Sprintf("connected %d times, %v", len(s.watched), last))
					test.SliceLen(t, c.Attempt+1, s.watched,
						test.Sprintf("connected %d times, %v", len(s.watched), last))
					return
				}
				must.NoError(t, last, must.Sprintf("%d waits, %v", len(*waits), last))
				must.SliceLen(t, c.Attempt+1, *waits, must.Sprintf("%d waits, %v", len(*waits), last))
				test.EqOp(t, seconds(c.Wait[random]), (*waits)[c.Attempt].Round(time.Millisecond),
					test.Sprint("reconnects after"))
			})
		}
	}
}

// jwt returns a token that says when it expires.
func jwt(name string, expires time.Time) string {
	return "e30." + base64.RawURLEncoding.EncodeToString(
		fmt.Appendf(nil, `{"sub":%q,"exp":%d}`, name, expires.Unix())) + ".c2ln"
}

func TestTokens_AreRenewedAsTheCasesOfAllClients(t *testing.T) {
	t.Parallel()
	for _, c := range readCases(t).Renewals {
		t.Run(c.When, func(t *testing.T) {
			t.Parallel()
			now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			values := map[string]string{}
			tokens := newTokens(func(context.Context) (Token, error) {
				name := []string{"first", "second"}[len(values)]
				token := Token{Value: name, ExpiresAt: now.Add(seconds(c.Lifetime))}
				switch c.Expiry {
				case "jwt":
					token = Token{Value: jwt(name, token.ExpiresAt)}
				case "unknown":
					token.ExpiresAt = time.Time{}
				}
				if c.Issuer == "down" && name == "second" {
					return Token{}, errors.New("the issuer is down")
				}
				values[name] = token.Value
				return token, nil
			}, func() time.Time { return now })
			_, err := tokens.current(t.Context())
			must.NoError(t, err)
			now = now.Add(seconds(c.Age))
			got, err := tokens.current(t.Context())
			test.EqOp(t, (c.Token != ""), (err == nil), test.Sprintf("%q, %v; want the %s token", got, err, c.Token))
			test.EqOp(t, values[c.Token], got, test.Sprintf("%q, %v; want the %s token", got, err, c.Token))
		})
	}
}

func TestTokens_AreReplacedAsTheCasesOfAllClients(t *testing.T) {
	t.Parallel()
	for _, c := range readCases(t).Rejections {
		t.Run(c.When, func(t *testing.T) {
			t.Parallel()
			server := &caseServer{answer: func(n int) error {
				if c.Answers[min(n, len(c.Answers))-1] == "ok" {
					return nil
				}
				return unauthenticated
			}}
			fetches := 0
			source := func(context.Context) (Token, error) {
				fetches++
				if value := c.Tokens[fetches-1]; value != "" {
					return Token{Value: value}, nil
				}
				return Token{}, errors.New("the issuer fails")
			}
			client := New(server.start(t), WithTokens(source), func(s *settings) {
				s.sleep = func(context.Context, time.Duration) error { return nil }
			})
			err := send(t.Context(), client, "mutation")
			var sent []string
			for _, header := range server.headers {
				sent = append(sent, header.Get(authorization)[len("Bearer "):])
			}
			test.True(t, slices.Equal(sent, c.Sent), test.Sprintf("sent %v, %v", sent, err))
			test.EqOp(t, c.Succeeds, (err == nil), test.Sprintf("sent %v, %v", sent, err))
			test.True(t, err == nil || connect.CodeOf(err) == connect.CodeUnauthenticated, test.Sprint(err))
		})
	}
}

func TestCall_EndsAfterThirtySecondsWithoutADeadline(t *testing.T) {
	t.Parallel()
	s := &service{}
	client, _ := serve(t, s)
	must.NoError(t, book(t, client))
	test.NotEqOp(t, "", s.headers[0].Get("Grpc-Timeout"), test.Sprint("the server is not told how long the caller waits"))
	begin := time.Now()
	for _, c := range []struct {
		name string
		in   time.Duration // the context's deadline, from now; 0 for none
		want time.Duration
	}{
		{"without a deadline", 0, 30 * time.Second},
		{"with an early deadline", time.Second, time.Second},
		{"with a late deadline", time.Hour, time.Hour},
	} {
		ctx, cancel := t.Context(), func() {}
		if c.in > 0 {
			ctx, cancel = context.WithDeadline(ctx, begin.Add(c.in))
		}
		m := &interceptor{settings: settings{now: func() time.Time { return begin }, timeout: 30 * time.Second}}
		limited, deadline, stop := m.withDeadline(ctx)
		_, ok := limited.Deadline()
		test.True(t, ok, test.Sprintf("%s the call ends at %s, %t", c.name, deadline, ok))
		test.True(t, deadline.Equal(begin.Add(c.want)),
			test.Sprintf("%s the call ends at %s, %t", c.name, deadline, ok))
		stop()
		cancel()
	}
}
