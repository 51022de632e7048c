package provider

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// ErrPrivate says that an address is not one of the public internet.
var ErrPrivate = errors.New("the address is not public")

// PublicDialer connects to public addresses only. It is for servers that tenants name: whatever a name
// resolves to, it must not lead to this machine, its network, or the metadata of its cloud. What is looked at is the
// address that is being connected to, so that a name which resolves otherwise a moment later gains nothing.
func PublicDialer() *net.Dialer {
	return &net.Dialer{ControlContext: func(_ context.Context, network, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if !Public(at.Addr()) {
			return fmt.Errorf("%s %s: %w", network, at.Addr(), ErrPrivate)
		}
		return nil
	}}
}

// special are the networks of the registries of special purposes (RFC 6890) that netip does not know by name, and those
// through which gateways may lead to addresses of the old internet.
var special = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
)

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// Public reports whether an address is one of the public internet.
func Public(at netip.Addr) bool {
	at = at.Unmap().WithZone("")
	if !at.IsGlobalUnicast() || at.IsPrivate() {
		return false
	}
	for _, p := range special {
		if p.Contains(at) {
			return false
		}
	}
	return true
}
