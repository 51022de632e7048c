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

// Health reports whether this server is ready for requests: over HTTP as /readyz, and over gRPC as
// grpc.health.v1.Health, with the same status for all services.
type Health struct {
	check    func(context.Context) error
	draining chan struct{}
	once     sync.Once

	mu      sync.Mutex
	checked time.Time
	err     error // of that check
}

// NewHealth returns a Health that is ready while check returns no error.
func NewHealth(check func(context.Context) error) *Health {
	return &Health{check: check, draining: make(chan struct{})}
}

// Drain makes the server report from now on that it is not ready.
func (h *Health) Drain() { h.once.Do(func() { close(h.draining) }) }

const (
	// checkTimeout is shorter than the timeouts of load balancers.
	checkTimeout = 2 * time.Second
	// checkInterval is how long the result of a check is good for. Anyone may ask, as often as they like.
	checkInterval = time.Second
)

var errDraining = fault.New(fault.Unavailable, fault.Contention, "The server is shutting down.")

func (h *Health) ready(ctx context.Context) error {
	select {
	case <-h.draining:
		return errDraining
	default:
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.checked) > checkInterval {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout) // others wait for the result
		defer cancel()
		h.err = h.check(ctx)
		h.checked = time.Now()
	}
	return h.err
}

// ServeHTTP serves /readyz for everybody. It does not reveal why the server is not ready: ServeReason does.
func (h *Health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.ready(r.Context()) != nil {
		http.Error(w, "not ready", http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ready\n")) // a closed connection needs no answer
}

// ServeReason serves /readyz for operators, with the reason if the server is not ready.
func (h *Health) ServeReason(w http.ResponseWriter, r *http.Request) {
	if err := h.ready(r.Context()); err != nil {
		http.Error(w, "not ready: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ready\n"))
}

const healthService = "/" + "grpc.health.v1.Health" + "/"

// handler serves grpc.health.v1.Health for the named services, and "" for all.
func (h *Health) handler(services []string, options ...connect.HandlerOption) http.Handler {
	status := func(ctx context.Context, service string) healthpb.HealthCheckResponse_ServingStatus {
		switch {
		case service != "" && !slices.Contains(services, service):
			return healthpb.HealthCheckResponse_SERVICE_UNKNOWN
		case h.ready(ctx) != nil:
			return healthpb.HealthCheckResponse_NOT_SERVING
		}
		return healthpb.HealthCheckResponse_SERVING
	}
	mux := http.NewServeMux()
	mux.Handle(healthService+"Check", connect.NewUnaryHandlerSimple(healthService+"Check",
		func(ctx context.Context, r *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
			now := status(ctx, r.GetService())
			if now == healthpb.HealthCheckResponse_SERVICE_UNKNOWN {
				return nil, connect.NewError(connect.CodeNotFound, nil)
			}
			return &healthpb.HealthCheckResponse{Status: now}, nil
		}, options...))
	mux.Handle(healthService+"Watch", connect.NewServerStreamHandlerSimple(healthService+"Watch",
		func(
			ctx context.Context, r *healthpb.HealthCheckRequest, stream *connect.ServerStream[healthpb.HealthCheckResponse],
		) error {
			// A service that is not known is not an error, since it may be registered later.
			return h.watch(ctx, func() healthpb.HealthCheckResponse_ServingStatus { return status(ctx, r.GetService()) }, stream)
		}, options...))
	return mux
}

// watchInterval is how long it takes at most until watchers learn that the database is down. They learn of a shutdown
// immediately.
const watchInterval = 5 * time.Second

// watch sends a status whenever it has changed, until the client has left or the server shuts down.
func (h *Health) watch(
	ctx context.Context, status func() healthpb.HealthCheckResponse_ServingStatus,
	stream *connect.ServerStream[healthpb.HealthCheckResponse],
) error {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	last := healthpb.HealthCheckResponse_UNKNOWN
	for {
		if now := status(); now != last {
			last = now
			if err := stream.Send(&healthpb.HealthCheckResponse{Status: now}); err != nil {
				return err // the client has left
			}
		}
		select {
		case <-h.draining:
			if last != healthpb.HealthCheckResponse_SERVING {
				return nil
			}
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
