package provider

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// ErrNotPublic says that an address is not on the public internet.
var ErrNotPublic = errors.New("the address is not public")

// PublicDialer returns a dialer that connects to public addresses only. It is for servers that tenants name: a name
// must not lead to this machine, its network, or the cloud's metadata service, whatever it resolves to. The dialer
// checks the address that it connects to, so a name that resolves differently a moment later gains nothing.
func PublicDialer() *net.Dialer {
	return &net.Dialer{ControlContext: func(_ context.Context, network, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if !Public(at.Addr()) {
			return fmt.Errorf("%s %s: %w", network, at.Addr(), ErrNotPublic)
		}
		return nil
	}}
}

// special are the special-purpose networks (RFC 6890) that netip has no method for,
// and IPv6 networks through which gateways may reach IPv4 addresses.
var specialNetworks = parsePrefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24",
	"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23",
	"2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
)

func parsePrefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// Public reports whether an address is on the public internet.
func Public(at netip.Addr) bool {
	at = at.Unmap().WithZone("")
	if !at.IsGlobalUnicast() || at.IsPrivate() {
		return false
	}
	for _, p := range specialNetworks {
		if p.Contains(at) {
			return false
		}
	}
	return true
}
