package boot

import (
	"cmp"
	"fmt"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/rpc/admission"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/traffic"
)

// TrafficConfig configures how much callers may take of a node. Zero means no limit.
type TrafficConfig struct {
	TrustedProxies []string      `env:"BERTH_TRUSTED_PROXIES" placeholder:"NETWORK" help:"Addresses or networks of the proxies in front of the server. X-Forwarded-For counts only from them, and their connections are not limited."`
	WriteTimeout   time.Duration `env:"BERTH_WRITE_TIMEOUT" default:"30s" help:"How long a client may leave a response unread. Each byte that it reads renews the time."`
	MaxConnections int           `env:"BERTH_MAX_CONNECTIONS" default:"10000" help:"How many connections a server accepts; 0 for no limit."`
	MaxPerAddress  int           `name:"max-connections-per-address" env:"BERTH_MAX_CONNECTIONS_PER_ADDRESS" default:"2000" help:"How many connections a server accepts from one IPv4 address or one IPv6 network (/64); 0 for no limit."`
	MaxStreams     int           `env:"BERTH_MAX_STREAMS" default:"1000" help:"How many requests may be in progress on one connection with HTTP/2."`
	MaxRequests    int           `name:"max-requests-per-address" env:"BERTH_MAX_REQUESTS_PER_ADDRESS" default:"4000" help:"How many requests of one address may be in progress, over all its connections; 0 for no limit."`
	CallerRate     float64       `env:"BERTH_CALLER_RATE" default:"100" help:"How many calls a second a member or a service account may send to a server in the long run, and ten times as many at once; 0 for no limit."`
	TenantRate     float64       `env:"BERTH_TENANT_RATE" default:"2000" help:"The same for all callers of a tenant together."`
	AddressRate    float64       `env:"BERTH_ADDRESS_RATE" default:"10" help:"The same for the calls of an address with an invalid token, key or link. Of wrong passkeys it may send ten times as many, which count apart."`
	BenefitGuesses int           `env:"BERTH_BENEFIT_GUESSES" default:"10" help:"How many wrong membership numbers of benefits a member may try in an hour; 0 for no limit."`
	ProgramGuesses int           `name:"program-benefit-guesses" env:"BERTH_PROGRAM_BENEFIT_GUESSES" default:"100" help:"The same for a service account."`
	DomainChecks   int           `env:"BERTH_DOMAIN_CHECKS" default:"20" help:"How often a tenant may set or verify a sending domain in an hour; 0 for no limit."`
	SignInCodes    int           `env:"BERTH_SIGN_IN_CODES" default:"300" help:"How many codes to sign in browsers of one network may ask for in an hour that have never signed in to the address; 0 for no limit."`
	CallerStreams  int           `name:"max-streams-per-caller" env:"BERTH_MAX_STREAMS_PER_CALLER" default:"100" help:"How many streams a member or a service account may have open; 0 for no limit."`
	Reads          int           `env:"BERTH_READS" help:"How many reads of one tenant a server answers at a time. Others wait for their turn. Default: one for each processor, and at least two."`
	MaxMembers     int           `env:"BERTH_MAX_MEMBERS" default:"200000" help:"How many members a tenant may have; 0 for no limit."`
	MaxSessions    int           `env:"BERTH_MAX_SESSIONS" default:"1000000" help:"How many sessions a tenant may have; 0 for no limit."`
	MaxKeys        int           `env:"BERTH_MAX_KEYS" default:"100000" help:"How many idempotency keys a member or a service account may use within 24 hours; 0 for no limit."`
}

// The reads of all tenants that a server answers at a time are a multiple of those of one, and no fewer than the
// connections for reads.
const (
	readTenants = 4
	// maxWaitingReads of a tenant take about 20 MB.
	maxWaitingReads = 1000
)

func (c TrafficConfig) reads(conns int) *traffic.Turns[tenant.TenantID] {
	width := cmp.Or(c.Reads, max(2, runtime.GOMAXPROCS(0)))
	return traffic.NewTurns[tenant.TenantID](width, max(conns, readTenants*width), maxWaitingReads)
}

func (c TrafficConfig) quotas() app.Quotas {
	return app.Quotas{Members: c.MaxMembers, Sessions: c.MaxSessions, Keys: c.MaxKeys}
}

// rates returns the limits of calls to a node with a number of connections for reads.
func (c TrafficConfig) rates(proxies traffic.Proxies, readConns int) admission.Rates {
	return admission.Rates{
		Caller: traffic.PerSecond(c.CallerRate), Tenant: traffic.PerSecond(c.TenantRate), Streams: c.CallerStreams,
		Reads:   c.reads(readConns),
		Guesses: traffic.PerHour(c.BenefitGuesses), ProgramGuesses: traffic.PerHour(c.ProgramGuesses),
		Domains:   traffic.PerHour(c.DomainChecks),
		Addresses: traffic.NewAddresses(traffic.PerSecond(c.AddressRate), proxies, time.Now),
	}
}

// codes returns the limit of codes to sign in; nil: none.
func (c TrafficConfig) codes(proxies traffic.Proxies) *traffic.Addresses {
	if c.SignInCodes == 0 {
		return nil
	}
	return traffic.NewAddresses(traffic.PerHour(c.SignInCodes), proxies, time.Now)
}

// wrongPasskeys is how many wrong answers of passkeys an address may send for each invalid link. Nobody can guess one,
// so the limit is only for what they cost: reading one row each.
const wrongPasskeys = 10

// passkeys returns the limit of wrong answers of passkeys.
func (c TrafficConfig) passkeys(proxies traffic.Proxies) *traffic.Addresses {
	return traffic.NewAddresses(traffic.PerSecond(wrongPasskeys*c.AddressRate), proxies, time.Now)
}

// connLimits returns the limits of connections. It registers the metric of refused ones.
func (c TrafficConfig) connLimits(to prometheus.Registerer) (traffic.ConnLimits, error) {
	proxies, err := traffic.ParseProxies(c.TrustedProxies)
	if err != nil {
		return traffic.ConnLimits{}, fmt.Errorf("BERTH_TRUSTED_PROXIES: %w", err)
	}
	refused := promauto.With(to).NewCounterVec(prometheus.CounterOpts{
		Name: "berth_connections_refused_total",
		Help: "Connections that were closed at once, by the limit that they exceeded: total or address.",
	}, []string{"limit"})
	return traffic.ConnLimits{
		WriteTimeout: c.WriteTimeout, Total: c.MaxConnections, PerAddress: c.MaxPerAddress,
		Streams: c.MaxStreams, Requests: c.MaxRequests, Proxies: proxies,
		Refused: func(limit string) { refused.WithLabelValues(limit).Inc() },
	}, nil
}
