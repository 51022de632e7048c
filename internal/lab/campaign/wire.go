package campaign

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// wire is a way to Postgres that understands what servers say on it, and breaks right after a COMMIT has gone through: the
// transaction may be durable, and nobody will be told.
type wire struct {
	listener net.Listener
	upstream string
	// armed is how many of the next commits it breaks after.
	armed atomic.Int32
	// hard also resets the side of Postgres, which may then never read the COMMIT.
	hard atomic.Bool
	cut  atomic.Int64

	mu    sync.Mutex
	conns map[net.Conn]bool
	all   sync.WaitGroup
}

func newWire(upstream string) (*wire, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &wire{listener: listener, upstream: upstream, conns: make(map[net.Conn]bool)}
	w.all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			w.all.Go(func() { w.relay(client) })
		}
	})
	return w, nil
}

func (w *wire) address() string { return w.listener.Addr().String() }

func (w *wire) close() {
	_ = w.listener.Close()
	w.mu.Lock()
	for conn := range w.conns {
		_ = conn.Close()
	}
	w.mu.Unlock()
	w.all.Wait()
}

func (w *wire) keep(conn net.Conn, open bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if open {
		w.conns[conn] = true
	} else {
		delete(w.conns, conn)
	}
}

// relay passes on what both sides say until one of them hangs up, or a commit is broken after.
func (w *wire) relay(client net.Conn) {
	defer client.Close()
	w.keep(client, true)
	defer w.keep(client, false)
	server, err := new(net.Dialer).DialContext(context.Background(), "tcp", w.upstream)
	if err != nil {
		return
	}
	defer server.Close()
	w.keep(server, true)
	defer w.keep(server, false)
	w.all.Go(func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	})
	s := sentence{commits: make(map[string]bool)}
	for {
		if err := s.pass(server, client); err != nil {
			return
		}
		if s.committed && w.armed.Add(-1) >= 0 {
			w.cut.Add(1)
			reset(client)
			if w.hard.Load() {
				reset(server)
			}
			return
		}
		s.committed = false
	}
}

// reset closes a connection without a goodbye.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// sentence is what a connection has said to Postgres so far.
type sentence struct {
	begun     bool
	commits   map[string]bool // the prepared statements that are a COMMIT
	bound     bool            // one of them is about to run
	committed bool            // the message that makes it run has been passed on
}

// most is more than any message of a server has.
const most = 64 << 20

// pass passes one message on. The first of a connection has no type.
func (s *sentence) pass(to io.Writer, from io.Reader) error {
	head := make([]byte, 5)
	if !s.begun {
		head = head[:4]
	}
	if _, err := io.ReadFull(from, head); err != nil {
		return err
	}
	length := binary.BigEndian.Uint32(head[len(head)-4:])
	if length < 4 || length > most {
		return errors.New("no message of Postgres")
	}
	body := make([]byte, length-4)
	if _, err := io.ReadFull(from, body); err != nil {
		return err
	}
	if _, err := to.Write(slices.Concat(head, body)); err != nil {
		return err
	}
	if !s.begun {
		s.begun = true
		return nil
	}
	s.hear(head[0], body)
	return nil
}

// hear follows the messages that matter: Parse names a statement, Bind uses it, and Sync has the server run what was said.
func (s *sentence) hear(kind byte, body []byte) {
	switch kind {
	case 'P':
		name, rest := text(body)
		sql, _ := text(rest)
		s.commits[name] = isCommit(sql)
	case 'B':
		_, rest := text(body)
		name, _ := text(rest)
		s.bound = s.bound || s.commits[name]
	case 'Q':
		sql, _ := text(body)
		s.committed = isCommit(sql)
	case 'S':
		s.committed, s.bound = s.bound, false
	}
}

func isCommit(sql string) bool { return strings.EqualFold(strings.TrimSpace(sql), "commit") }

// text takes one that ends in a zero.
func text(body []byte) (string, []byte) {
	before, after, _ := strings.Cut(string(body), "\x00")
	return before, []byte(after)
}
