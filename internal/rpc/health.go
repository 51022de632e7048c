package rpc

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"connectrpc.com/connect"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/berthhq/berth/internal/fault"
)

// Health says whether requests should be sent here: over HTTP as /readyz and over
// gRPC as grpc.health.v1.Health, with one answer for all services.
type Health struct {
	check    func(context.Context) error
	draining chan struct{}
	once     sync.Once
}

// NewHealth makes a Health that is ready whenever check finds nothing wrong.
func NewHealth(check func(context.Context) error) *Health {
	return &Health{check: check, draining: make(chan struct{})}
}

// Drain says from now on that no more requests should come.
func (h *Health) Drain() { h.once.Do(func() { close(h.draining) }) }

// checkTimeout is less than what load balancers wait.
const checkTimeout = 2 * time.Second

var errDraining = fault.New(fault.Unavailable, fault.Contention, "The server is shutting down.")

func (h *Health) ready(ctx context.Context) error {
	select {
	case <-h.draining:
		return errDraining
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	return h.check(ctx)
}

// ServeHTTP answers /readyz. Why it is not ready is told to operators, by the log
// and by what `berth doctor` finds, not to whoever asks.
func (h *Health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.ready(r.Context()) != nil {
		http.Error(w, "not ready", http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ready\n"))
}

const healthService = "/" + "grpc.health.v1.Health" + "/"

// handler serves grpc.health.v1.Health for the named services, and "" for all.
func (h *Health) handler(services []string, options ...connect.HandlerOption) http.Handler {
	status := func(ctx context.Context, service string) (*healthpb.HealthCheckResponse, error) {
		if service != "" && !slices.Contains(services, service) {
			return nil, connect.NewError(connect.CodeNotFound, nil)
		}
		answer := &healthpb.HealthCheckResponse{Status: healthpb.HealthCheckResponse_SERVING}
		if h.ready(ctx) != nil {
			answer.Status = healthpb.HealthCheckResponse_NOT_SERVING
		}
		return answer, nil
	}
	mux := http.NewServeMux()
	mux.Handle(healthService+"Check", connect.NewUnaryHandler(healthService+"Check",
		func(
			ctx context.Context, r *connect.Request[healthpb.HealthCheckRequest],
		) (*connect.Response[healthpb.HealthCheckResponse], error) {
			answer, err := status(ctx, r.Msg.GetService())
			return connect.NewResponse(answer), err
		}, options...))
	mux.Handle(healthService+"Watch", connect.NewServerStreamHandler(healthService+"Watch",
		func(
			ctx context.Context, r *connect.Request[healthpb.HealthCheckRequest],
			stream *connect.ServerStream[healthpb.HealthCheckResponse],
		) error {
			return h.watch(ctx, func() (*healthpb.HealthCheckResponse, error) { return status(ctx, r.Msg.GetService()) }, stream)
		}, options...))
	return mux
}

// watchEvery is how late a watcher may hear that the database went away. Of a
// shutdown it hears at once.
const watchEvery = 5 * time.Second

func (h *Health) watch(
	ctx context.Context, status func() (*healthpb.HealthCheckResponse, error),
	stream *connect.ServerStream[healthpb.HealthCheckResponse],
) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	last := healthpb.HealthCheckResponse_UNKNOWN
	for {
		answer, err := status()
		if err != nil {
			// As the protocol wants it: a service that is not known may come to be.
			answer = &healthpb.HealthCheckResponse{Status: healthpb.HealthCheckResponse_SERVICE_UNKNOWN}
		}
		if answer.GetStatus() != last {
			if err := stream.Send(answer); err != nil {
				return err
			}
			last = answer.GetStatus()
		}
		select {
		case <-h.draining:
			if last == healthpb.HealthCheckResponse_NOT_SERVING {
				return nil
			}
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
