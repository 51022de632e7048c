// Package traffic limits what callers can take from a node: connections, the time to read a response, calls per second,
// and turns at reading. It knows no RPC and no table.
package traffic

import (
	"cmp"
	"net"
	"net/netip"
	"sync"
	"time"
)

// The defaults of ConnLimits.
const (
	DefaultWriteTimeout = 30 * time.Second
	DefaultStreams      = 1000
	DefaultConnections  = 10_000
	// DefaultConnectionsPerAddress is enough for the browsers of 300 members, with six connections each.
	DefaultConnectionsPerAddress = 2000
)

// ConnLimits limits the connections of a listener.
type ConnLimits struct {
	// WriteTimeout ends a connection or an HTTP/2 stream if its peer takes less than 64 KiB of what it is sent in that
	// time. A response may last as long as it likes. Default DefaultWriteTimeout.
	WriteTimeout time.Duration
	// Total and PerAddress limit the open connections, of all addresses and of one. Zero is no limit.
	Total, PerAddress int
	// Streams limits the requests in progress on one connection with HTTP/2. Default DefaultStreams.
	Streams int
	// Requests limits the requests in progress of one address. Zero is no limit.
	Requests int
	// Proxies are not limited, and not counted.
	Proxies Proxies
	// Refused is called with the name of the limit for each connection that is refused. Optional.
	Refused func(limit string)
}

// The names of the limits, for ConnLimits.Refused.
const (
	LimitTotal      = "total"
	LimitPerAddress = "address"
)

// Listen limits the connections that a listener accepts. One above a limit is closed at once: to let it wait would also
// hold up those behind it.
func (l ConnLimits) Listen(on net.Listener) net.Listener {
	l.WriteTimeout = cmp.Or(l.WriteTimeout, DefaultWriteTimeout)
	if l.Refused == nil {
		l.Refused = func(string) {}
	}
	return &listener{
		Listener: on, limits: l, total: Counter[struct{}]{Max: l.Total}, open: Counter[netip.Prefix]{Max: l.PerAddress},
	}
}

type listener struct {
	net.Listener
	limits ConnLimits

	total Counter[struct{}]
	open  Counter[netip.Prefix] // connections by address
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		release, limit := l.take(addressOf(c.RemoteAddr()))
		if limit == "" {
			return &conn{Conn: c, timeout: l.limits.WriteTimeout, release: sync.OnceFunc(release)}, nil
		}
		l.limits.Refused(limit)
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // a reset leaves nothing behind in the kernel
		}
		_ = c.Close() // nothing was sent
	}
}

// take counts a connection until release is called, or returns the name of the limit that it exceeds.
func (l *listener) take(from netip.Addr) (release func(), limit string) {
	if l.limits.Proxies.Contain(from) {
		return func() {}, ""
	}
	releaseTotal, ok := l.total.Take(struct{}{})
	if !ok {
		return nil, LimitTotal
	}
	releaseAddress, ok := l.open.Take(Network(from))
	if !ok {
		releaseTotal()
		return nil, LimitPerAddress
	}
	return func() {
		releaseAddress()
		releaseTotal()
	}, ""
}

// conn is a connection whose peer has to take what is written within a time.
type conn struct {
	net.Conn
	timeout time.Duration
	release func()
}

// Write implements net.Conn. The deadline begins anew with each part. A peer that takes a byte now and then keeps no
// response in memory for longer than that. http.Server.WriteTimeout would instead end each response after a fixed time,
// and with it each stream of events.
func (c *conn) Write(p []byte) (n int, err error) {
	for {
		_ = c.Conn.SetWriteDeadline(time.Now().Add(c.timeout)) // if it fails, so does the write
		var written int
		written, err = c.Conn.Write(p[n:min(n+maxPart, len(p))])
		n += written
		if err != nil || n == len(p) {
			return n, err
		}
	}
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.release()
	return c.Conn.Close()
}
