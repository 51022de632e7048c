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
	// A round trip begins with the first write after an answer. Reads do not tell: while a write is slow, pgx already
	// waits for the next answer.
	Trips, Dials atomic.Int64

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
	waits   atomic.Bool // for an answer
}

func (c *watchedConn) Write(p []byte) (int, error) {
	if !c.waits.Swap(true) {
		c.network.Trips.Add(1)
	}
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
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.waits.Store(false)
	}
	return n, err
}
