package provider_test

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/berthhq/berth/internal/provider"
)

func TestPublicAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"8.8.8.8": true, "93.184.216.34": true, "2606:4700::1111": true, "::ffff:8.8.8.8": true, "172.32.0.1": true, "100.128.0.1": true,
		"127.0.0.1": false, "127.8.9.1": false, "::1": false, "::ffff:127.0.0.1": false, "::127.0.0.1": false, "0.0.0.0": false, "::": false, "0.1.2.3": false,
		"10.0.0.7": false, "172.16.0.1": false, "172.31.255.255": false, "192.168.1.1": false, "100.64.0.1": false, "fd00::1": false, "fec0::1": false,
		"169.254.169.254": false, "fe80::1": false, "fe80::1%eth0": false, "224.0.0.1": false, "255.255.255.255": false, "ff02::1": false, "240.0.0.1": false,
		"192.0.2.1": false, "198.18.0.1": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false, "2001:db8::1": false, "::ffff:169.254.169.254": false,
	} {
		if got := provider.Public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is public: %v", address, got)
		}
	}
}

// A name is as good as what it resolves to at that moment. A plain dialer gets through to the same listener.
func TestADialerThatKeepsOut(t *testing.T) {
	t.Parallel()
	inside, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	_, port, err := net.SplitHostPort(inside.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]"} {
		conn, err := provider.PublicDialer().DialContext(t.Context(), "tcp", host+":"+port)
		if !errors.Is(err, provider.ErrPrivate) {
			t.Errorf("%s: %v", host, err)
		}
		if conn != nil {
			conn.Close()
		}
		if conn, err = new(net.Dialer).DialContext(t.Context(), "tcp", host+":"+port); err != nil {
			t.Errorf("without it, %s: %v", host, err)
			continue
		}
		conn.Close()
	}
}
