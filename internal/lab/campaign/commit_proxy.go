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

// commitProxy is a proxy to Postgres that parses the messages of clients, and resets a connection right after a COMMIT
// passed through: the transaction may be durable, and the client gets no response.
type commitProxy struct {
	listener net.Listener
	upstream string
	// armed is the number of commits after which it resets the connection.
	armed atomic.Int32
	// bothSides also resets the connection to Postgres, which then may never read the COMMIT.
	bothSides atomic.Bool
	cut       atomic.Int64

	mu    sync.Mutex
	conns map[net.Conn]bool
	all   sync.WaitGroup
}

func newCommitProxy(upstream string) (*commitProxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &commitProxy{listener: listener, upstream: upstream, conns: make(map[net.Conn]bool)}
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

func (w *commitProxy) address() string { return w.listener.Addr().String() }

func (w *commitProxy) close() {
	_ = w.listener.Close()
	w.mu.Lock()
	for conn := range w.conns {
		_ = conn.Close()
	}
	w.mu.Unlock()
	w.all.Wait()
}

func (w *commitProxy) keep(conn net.Conn, open bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if open {
		w.conns[conn] = true
	} else {
		delete(w.conns, conn)
	}
}

// relay copies the messages of both sides until one closes the connection, or it is reset after a commit.
func (w *commitProxy) relay(client net.Conn) {
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
	s := clientStream{commits: make(map[string]bool)}
	for {
		if err := s.pass(server, client); err != nil {
			return
		}
		if s.committed && w.armed.Add(-1) >= 0 {
			w.cut.Add(1)
			reset(client)
			if w.bothSides.Load() {
				reset(server)
			}
			return
		}
		s.committed = false
	}
}

// reset closes a connection with RST.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// clientStream is the state of the messages from a client.
type clientStream struct {
	begun     bool
	commits   map[string]bool // the prepared statements that are a COMMIT
	bound     bool            // one of them is bound and runs with the next Sync
	committed bool            // the message that runs it has been sent
}

// maxMessage is larger than any message of a server, in bytes.
const maxMessage = 64 << 20

// pass forwards one message. The first message of a connection has no type.
func (s *clientStream) pass(to io.Writer, from io.Reader) error {
	head := make([]byte, 5)
	if !s.begun {
		head = head[:4]
	}
	if _, err := io.ReadFull(from, head); err != nil {
		return err
	}
	length := binary.BigEndian.Uint32(head[len(head)-4:])
	if length < 4 || length > maxMessage {
		return errors.New("not a message of the Postgres protocol")
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
	s.observe(head[0], body)
	return nil
}

// observe handles the relevant messages: Parse names a statement, Bind uses it, and Sync makes the server run it.
func (s *clientStream) observe(kind byte, body []byte) {
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

// text cuts a string that ends with a zero byte.
func text(body []byte) (string, []byte) {
	before, after, _ := strings.Cut(string(body), "\x00")
	return before, []byte(after)
}
