package provider_test

import (
	"net"
	"net/netip"
	"slices"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/provider"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestPublic_ClassifiesAddresses(t *testing.T) {
	t.Parallel()
	public := []string{
		"8.8.8.8", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "172.32.0.1", "100.128.0.1",
	}
	private := []string{
		"127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1", "::127.0.0.1", "0.0.0.0", "::", "0.1.2.3",
		"10.0.0.7", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "fd00::1", "fec0::1",
		"169.254.169.254", "fe80::1", "fe80::1%eth0", "224.0.0.1", "255.255.255.255", "ff02::1", "240.0.0.1",
		"192.0.2.1", "198.18.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1", "::ffff:169.254.169.254",
	}
	for _, address := range slices.Concat(public, private) {
		test.EqOp(t, slices.Contains(public, address), provider.Public(netip.MustParseAddr(address)),
			test.Sprintf("%s is public", address))
	}
}

// A name is as safe as the address that it resolves to when connecting. Negative control: a plain dialer connects.
func TestPublicDialer_RefusesPrivateAddresses(t *testing.T) {
	t.Parallel()
	inside := expect.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer inside.Close()
	_, port, err := net.SplitHostPort(inside.Addr().String())
	must.NoError(t, err)
	for _, host := range []string{"127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]"} {
		conn, err := provider.PublicDialer().DialContext(t.Context(), "tcp", host+":"+port)
		test.ErrorIs(t, err, provider.ErrNotPublic, test.Sprint(host))
		if conn != nil {
			conn.Close()
		}
		expect.Value(new(net.Dialer).DialContext(t.Context(), "tcp", host+":"+port))(t).Close()
	}
}
