// Package admission decides which calls are answered. It keeps strangers, callers and tenants from taking more than is
// theirs, of data and of the server. A call passes these checks in this order, and ends at the first that it fails:
//
//  1. A browser sends it for a page of an origin that may call (cors.go). It gets an ID (call.go, request_id.go).
//  2. Its token is genuine (authenticate in admit.go). Wrong ones are limited by address (rates.go).
//  3. Its caller does not call too often (rates.go), and has not too many calls in progress (memory.go). Public calls
//     are limited by address: if it has no call left, once their message is read.
//  4. Its body is not too large, as sent and decompressed (limits.go), nor are all bodies together (memory.go).
//  5. Its message has no more values than it may hold (values.go), and can be decoded (codec.go). This is told in
//     step 8, when it is known who asks.
//  6. Its idempotency key has the right form (idempotency.go).
//  7. Its tenant does not call too often (rates.go).
//  8. Its caller may make it: the token names the tenant, the RPC's rule (rules.go) allows the caller's roles, and the
//     sign-in is recent or strong enough (admit in admit.go).
//  9. Its message is valid: within bounds (bounds.go), storable (storable.go), and as the contract says (admit.go).
//  10. It does not guess or cost too much, and waits for its turn to read data or a file (rates.go).
//
// Then its handler runs. The response is left out if the caller has it already (revalidate.go). An error becomes one of
// the contract (errors.go). Every outcome is counted, and some are logged (interceptor.go, metrics.go, security.go). A
// response waits for a moment if the call came too often (call.go), and ends if the caller leaves too much unread
// (memory.go).
package admission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
	"github.com/berthhq/berth/internal/traffic"
)

// Config configures the checks. A field is required unless its comment says otherwise.
type Config struct {
	Guard    *access.Guard
	Verifier *token.Verifier
	Now      func() time.Time
	Logger   *slog.Logger
	// Metrics is where the metrics of the RPCs are registered.
	Metrics prometheus.Registerer
	// Origins are the origins of pages that may call from a browser, "*" for all. Optional: pages that this server
	// itself serves need none.
	Origins []string
	// TimeLimit limits unary RPCs, whatever deadline the client sets. Default 10 s.
	TimeLimit time.Duration
	// MaxBytes limits a request, on the wire and decompressed. Default 256 KiB, and more for some RPCs (limits.go).
	MaxBytes int64
	// Memory limits what callers have in progress.
	Memory Memory
	// Rates limits calls. Optional.
	Rates Rates
	// Made returns the key or link in the message of a public RPC if the service made it, whether or not it is still
	// good, and otherwise "". It takes microseconds and looks nothing up. Optional.
	Made func(message any) string
	// HoldBack holds back the answers to calls above a limit. Optional.
	HoldBack *traffic.HoldBack
	// FormerIssuers are issuers of the sign-in service until now. Their members are those of the issuer that it has now.
	FormerIssuers []string
	// TrustEmails says that nobody can claim an address of others at the sign-in service, so that an email which it has
	// verified is its user's.
	TrustEmails bool
	// StepUp reads which sign-in a tenant asks people for.
	StepUp func(context.Context, tenant.TenantID) (catalog.StepUp, error)
	// ActorNames reads the present names of actors.
	ActorNames func(ctx context.Context, by tenant.Caller, actors []string) (map[string]string, error)
	// BindIssuer makes an issuer the one of a member's tokens, if it was one of others until now.
	BindIssuer func(ctx context.Context, by tenant.Caller, issuer string, others []string) error
}

const (
	defaultTimeLimit = 10 * time.Second
	// Compressing smaller messages costs more than it saves.
	minCompressed = 1 << 10
)

// takesFiles are the procedures to which people upload files.
var takesFiles = map[string]bool{
	berthv1connect.MemberServiceImportMembersProcedure:       true,
	berthv1connect.SessionServiceImportSessionsProcedure:     true,
	berthv1connect.CreditServiceImportSubscriptionsProcedure: true,
	berthv1connect.BookingServiceImportBookingsProcedure:     true,
}

// Chain is the chain of checks. It wraps the handlers of the contract's services: as HTTP by Handle, and as RPCs by
// Options.
type Chain struct {
	checks
	metrics  *metrics
	security *security
	log      *slog.Logger
	memory   *memory
	cors     func(http.Handler) http.Handler
	errors   *connect.ErrorWriter
	// timeLimit limits unary RPCs, whatever deadline the client sets.
	timeLimit time.Duration
	maxBytes  int64 // of a request; 0 for the default of its RPC
	values    decodeLimits
	holdBack  *traffic.HoldBack
	made      func(message any) string
}

// New returns a chain. It fails if the contract has an RPC without a rule, or if the metrics are registered already.
func New(c Config) (*Chain, error) {
	rules, noRules := Rules()
	compiled, noValidator := validator()
	metrics, noMetrics := newMetrics(c.Metrics)
	security, noSecurity := newSecurity(c.Metrics, c.Logger, c.Now)
	if err := errors.Join(noRules, noValidator, noMetrics, noSecurity); err != nil {
		return nil, fmt.Errorf("rpc: %w", err)
	}
	if c.Made == nil {
		c.Made = func(any) string { return "" }
	}
	return &Chain{
		checks: checks{
			rules: rules, verifier: c.Verifier, guard: c.Guard, validator: compiled, limits: requestLimits(rules),
			rates: newRates(c.Rates, c.Now), stepUp: c.StepUp, actorNames: c.ActorNames, bindIssuer: c.BindIssuer,
			issuers: append([]string{""}, c.FormerIssuers...), trustEmails: c.TrustEmails, now: c.Now,
		},
		metrics: metrics, security: security, log: c.Logger,
		memory: newMemory(c.Memory), cors: newCORS(c.Origins), errors: connect.NewErrorWriter(),
		timeLimit: cmp.Or(c.TimeLimit, defaultTimeLimit), made: c.Made,
		maxBytes: c.MaxBytes, values: newDecodeLimits(rules), holdBack: c.HoldBack,
	}, nil
}

// Options are for the handlers of the contract's services.
func (c *Chain) Options() connect.HandlerOption {
	return connect.WithHandlerOptions(
		c.Sizes(), codecs(c.values), connect.WithInterceptors(c),
	)
}

// Sizes limits what handlers decompress. It is enough for services that are not of the contract.
func (c *Chain) Sizes() connect.HandlerOption {
	return connect.WithHandlerOptions(
		connect.WithConditionalHandlerOptions(func(spec connect.Spec) []connect.HandlerOption {
			factor := int64(maxInflated)
			if takesFiles[spec.Procedure] {
				factor = 0
			}
			return []connect.HandlerOption{limitedGzip(c.requestLimit(spec.Procedure), factor)}
		}),
		connect.WithCompressMinBytes(minCompressed),
	)
}

// Services returns the sorted names of the services in the contract, for reflection and health.
func (c *Chain) Services() []string {
	var names []string
	for procedure := range c.rules {
		name, _, _ := strings.Cut(strings.TrimPrefix(procedure, "/"), "/")
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
