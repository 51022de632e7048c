package traffic

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the networks of proxies whose X-Forwarded-For is believed.
type Proxies []netip.Prefix

// ParseProxies reads addresses and networks, such as 10.0.0.0/8.
func ParseProxies(texts []string) (Proxies, error) {
	var all Proxies
	for _, text := range texts {
		text = strings.TrimSpace(text)
		network, err := netip.ParsePrefix(text)
		if err != nil {
			address, single := netip.ParseAddr(text)
			if single != nil {
				return nil, err
			}
			network = netip.PrefixFrom(address, address.BitLen())
		}
		all = append(all, network.Masked())
	}
	return all, nil
}

// Contain reports whether an address is that of a proxy.
func (p Proxies) Contain(address netip.Addr) bool {
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(address) })
}

// Client returns the address of the client that sent a request: that of the connection, unless it is a proxy's. Each
// proxy appends the address from which it got the request, so the last one that is not a proxy's is the client's. All
// before that are the client's own claims.
func (p Proxies) Client(r *http.Request) netip.Addr {
	from, _ := netip.ParseAddrPort(r.RemoteAddr) // what has no address, such as a Unix socket, counts as one client
	client := from.Addr().Unmap().WithZone("")
	if !p.Contain(client) {
		return client
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, text := range slices.Backward(hops) {
		hop, err := netip.ParseAddr(strings.TrimSpace(text))
		if err != nil {
			break // nothing before it can be believed
		}
		client = hop.Unmap().WithZone("")
		if !p.Contain(client) {
			break
		}
	}
	return client
}

// Network returns what limits by address count: an IPv4 address, or the /64 network of an IPv6 address, because a
// subscriber has all addresses of at least one such network.
func Network(address netip.Addr) netip.Prefix {
	bits := 64
	if address.Is4() {
		bits = 32
	}
	network, _ := address.Prefix(bits) // only a zone or an invalid address would fail: then all count as one
	return network
}

// addressOf returns the address of a connection's peer, or the zero address if it has none.
func addressOf(peer net.Addr) netip.Addr {
	tcp, ok := peer.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap().WithZone("")
}
