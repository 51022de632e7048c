package boot

import (
	"testing"

	"github.com/alecthomas/kong"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rpc/admission"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/traffic"
)

// The tests of the limits use these numbers.
func TestTrafficConfig_HasTheDefaultsOfTheLimits(t *testing.T) {
	t.Parallel()
	var c TrafficConfig
	expect.OK(t)(expect.Value(kong.New(&c))(t).Parse([]string{"--trusted-proxies=10.0.0.0/8,192.0.2.1"}))
	conns := expect.Value(c.connLimits(prometheus.NewRegistry()))(t)
	conns.Refused = nil
	test.Eq(t, traffic.ConnLimits{
		WriteTimeout: traffic.DefaultWriteTimeout, Streams: traffic.DefaultStreams, Total: traffic.DefaultConnections,
		PerAddress: traffic.DefaultConnectionsPerAddress, Requests: traffic.DefaultRequestsPerAddress,
		Proxies: expect.Value(traffic.ParseProxies([]string{"10.0.0.0/8", "192.0.2.1/32"}))(t),
	}, conns)
	rates := c.rates(conns.Proxies, 8)
	rates.Addresses, rates.Reads = nil, nil
	test.Eq(t, admission.Rates{
		Caller: traffic.PerSecond(traffic.DefaultCallerRate), Tenant: traffic.PerSecond(traffic.DefaultTenantRate),
		Streams:        traffic.DefaultStreamsPerCaller,
		Guesses:        traffic.PerHour(traffic.DefaultBenefitGuesses),
		ProgramGuesses: traffic.PerHour(traffic.DefaultProgramBenefitGuesses),
		Domains:        traffic.PerHour(traffic.DefaultDomainChecks),
	}, rates)
	test.EqOp(t, traffic.DefaultAddressRate, c.AddressRate)
	_, err := TrafficConfig{TrustedProxies: []string{"balancer"}}.connLimits(prometheus.NewRegistry())
	test.ErrorContains(t, err, "BERTH_TRUSTED_PROXIES")
}
