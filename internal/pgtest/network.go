package pgtest

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync/atomic"

	"github.com/berthhq/berth/internal/pg"
)

// Network is what connections go over. It counts round trips and breaks connections.
type Network struct {
	Trips, Dials atomic.Int64 // a round trip is a write that is followed by a wait for the answer

	cut atomic.Pointer[Cut]
}

// Cut breaks a connection at the next write that contains Text. Deliver says whether the server gets that write and
// executes it; the answer is lost in any case.
type Cut struct {
	Text    string
	Deliver bool
}

// Use makes a database use the network.
func (n *Network) Use(c *pg.Config) {
	c.Dial = func(ctx context.Context, kind, addr string) (net.Conn, error) {
		n.Dials.Add(1)
		conn, err := new(net.Dialer).DialContext(ctx, kind, addr)
		return &watchedConn{Conn: conn, network: n}, err
	}
}

// Break makes the next fitting write break its connection.
func (n *Network) Break(at Cut) { n.cut.Store(&at) }

// Broke reports whether it did.
func (n *Network) Broke() bool { return n.cut.Load() == nil }

type watchedConn struct {
	net.Conn

	network *Network
	asked   atomic.Bool
}

func (c *watchedConn) Write(p []byte) (int, error) {
	c.asked.Store(true)
	at := c.network.cut.Load()
	if at == nil || !bytes.Contains(p, []byte(at.Text)) || !c.network.cut.CompareAndSwap(at, nil) {
		return c.Conn.Write(p)
	}
	defer c.Close()
	if !at.Deliver {
		return 0, net.ErrClosed
	}
	n, err := c.Conn.Write(p)
	// The server has read all of it when it starts to answer.
	_, _ = io.ReadFull(c.Conn, make([]byte, 1))
	return n, err
}

func (c *watchedConn) Read(p []byte) (int, error) {
	if c.asked.Swap(false) {
		c.network.Trips.Add(1)
	}
	return c.Conn.Read(p)
}
