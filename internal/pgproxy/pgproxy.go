// Package pgproxy is a proxy to Postgres for tests. It reads what clients send: a test can change statements, and end
// a connection at a chosen round trip. It can also be a bad network: answers are late or lost, connections cut.
// Connections must not be encrypted.
//
// The messages are those of https://www.postgresql.org/docs/current/protocol-message-formats.html.
package pgproxy

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"time"
)

// Action is what the proxy does with a round trip: the messages that a client sends before it waits for an answer.
type Action int

const (
	// Forward sends the messages to the server.
	Forward Action = iota
	// Drop resets the connection. The server does not get the messages.
	Drop
	// DropAnswer sends the messages and closes the client's connection when the server has executed them: the client gets
	// no answer.
	DropAnswer
	// DropBoth is like DropAnswer and resets the server's connection, too. The server may execute the messages or not.
	DropBoth
	// Reject has the server answer with an error: it gets a statement that is none, in place of the messages.
	Reject
)

// Config says where the proxy connects to, and what it changes. Its functions are called concurrently.
type Config struct {
	// Upstream is the address of the server, as host:port.
	Upstream string
	// Rewrite returns the SQL that the server gets in place of a client's. Nil changes nothing.
	Rewrite func(sql string) string
	// OnRoundTrip decides about each round trip, by the SQL that it executes. It executes none if it only prepares.
	// Nil forwards everything.
	OnRoundTrip func(executed []string) Action
}

// Network says how good the connections are, open ones too. The zero Network is perfect.
type Network struct {
	// Delay is how late each part of an answer is, give or take Jitter.
	Delay, Jitter time.Duration
	// LostAfter is for how long nothing comes where an answer is due. Then the connection is reset. 0 loses nothing.
	LostAfter time.Duration
	// Cut resets all connections, and new ones as soon as they are made.
	Cut bool
}

// Proxy is a running proxy.
type Proxy struct {
	config   Config
	listener net.Listener
	closed   chan struct{}

	mu      sync.Mutex
	network Network
	conns   map[net.Conn]bool
	all     sync.WaitGroup
}

// Start starts a proxy on a free port of the loopback interface.
func Start(config Config) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		config: config, listener: listener, closed: make(chan struct{}), conns: make(map[net.Conn]bool),
	}
	p.all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			p.all.Go(func() { p.relay(client) })
		}
	})
	return p, nil
}

// Address returns where the proxy listens, as host:port.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Set changes the network from now on.
func (p *Proxy) Set(n Network) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.network = n
	if n.Cut {
		for conn := range p.conns {
			reset(conn)
		}
	}
}

// Close ends the proxy and all its connections.
func (p *Proxy) Close() {
	close(p.closed)
	_ = p.listener.Close()
	p.mu.Lock()
	for conn := range p.conns {
		_ = conn.Close()
	}
	p.mu.Unlock()
	p.all.Wait()
}

// keep records an open connection, unless all are cut.
func (p *Proxy) keep(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.network.Cut {
		reset(conn)
		return false
	}
	p.conns[conn] = true
	return true
}

func (p *Proxy) forget(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
}

// relay copies the messages of both sides until one closes the connection, or a round trip is not forwarded.
func (p *Proxy) relay(client net.Conn) {
	defer client.Close()
	if !p.keep(client) {
		return
	}
	defer p.forget(client)
	server, err := new(net.Dialer).DialContext(context.Background(), "tcp", p.config.Upstream)
	if err != nil {
		return
	}
	defer server.Close()
	if !p.keep(server) {
		return
	}
	defer p.forget(server)
	var answers sync.WaitGroup
	toClient := &gate{conn: client}
	answers.Go(func() {
		if !p.answer(toClient, server) {
			reset(client)
			// Postgres gives up a statement if it cannot send.
			_, _ = io.Copy(io.Discard, server)
		}
		_ = client.Close()
	})
	defer answers.Wait()
	s := stream{rewrite: p.config.Rewrite, prepared: make(map[string]string)}
	for {
		messages, executed, err := s.next(client)
		action := Forward
		if err == nil && p.config.OnRoundTrip != nil {
			action = p.config.OnRoundTrip(executed)
		}
		if err != nil || action == Drop {
			reset(client)
			_ = server.Close()
			return
		}
		switch action {
		case Forward:
		case Reject:
			messages, action = appendMessage(nil, 'Q', withText("reject", nil)), Forward
		default:
			toClient.close() // first: Postgres can be quick
		}
		if _, err := server.Write(messages); err != nil {
			_ = server.Close()
			return
		}
		switch action {
		case Forward:
			continue
		case DropBoth:
			reset(server)
		default:
			_ = server.(*net.TCPConn).CloseWrite() // Postgres executes what it has, and then closes
			answers.Wait()
		}
		reset(client)
		return
	}
}

// answer copies what the server sends, as the network lets it. It reports whether everything was sent that came.
func (p *Proxy) answer(to io.Writer, server io.Reader) bool {
	part := make([]byte, 32<<10)
	for {
		n, err := server.Read(part)
		if n > 0 && !p.send(to, part[:n]) {
			return false
		}
		if err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// send sends a part of an answer, unless it is lost.
func (p *Proxy) send(to io.Writer, part []byte) bool {
	p.mu.Lock()
	n := p.network
	p.mu.Unlock()
	late := n.LostAfter
	if late == 0 && n.Delay > 0 {
		late = n.Delay - n.Jitter + rand.N(2*n.Jitter+1)
	}
	if late > 0 {
		timer := time.NewTimer(late)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-p.closed:
			return false
		}
	}
	if n.LostAfter > 0 {
		return false
	}
	_, err := to.Write(part)
	return err == nil
}

// gate writes to a connection until it is closed. Then it discards.
type gate struct {
	mu     sync.Mutex
	conn   net.Conn
	closed bool
}

func (g *gate) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return len(p), nil
	}
	return g.conn.Write(p)
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// reset closes a connection with RST.
func reset(conn net.Conn) {
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

// stream is the state of the messages of one client.
type stream struct {
	rewrite  func(string) string
	begun    bool
	prepared map[string]string // SQL by the name of the statement
}

// next returns the messages until the client waits for an answer, and the SQL that they execute.
func (s *stream) next(from io.Reader) (messages []byte, executed []string, err error) {
	for {
		kind, body, err := s.read(from)
		if err != nil {
			return nil, nil, err
		}
		switch kind {
		case 'P': // Parse: name, SQL, types
			name, rest := text(body)
			sql, types := text(rest)
			s.prepared[name] = sql
			body = withText(name, withText(s.rewritten(sql), types))
		case 'Q': // Query
			sql, _ := text(body)
			executed = append(executed, sql)
			body = withText(s.rewritten(sql), nil)
		case 'B': // Bind: portal, name of the statement
			_, rest := text(body)
			name, _ := text(rest)
			executed = append(executed, s.prepared[name])
		}
		messages = appendMessage(messages, kind, body)
		if !strings.ContainsRune("PBDEC", rune(kind)) { // the others wait for Sync or Flush
			return messages, executed, nil
		}
	}
}

// appendMessage appends a message. The first of a connection has no kind.
func appendMessage(to []byte, kind byte, body []byte) []byte {
	if kind != 0 {
		to = append(to, kind)
	}
	return append(binary.BigEndian.AppendUint32(to, uint32(len(body)+4)), body...)
}

func (s *stream) rewritten(sql string) string {
	if s.rewrite == nil {
		return sql
	}
	return s.rewrite(sql)
}

// maxMessage is larger than any message of a test, in bytes.
const maxMessage = 64 << 20

// read reads one message. The first message of a connection has no kind.
func (s *stream) read(from io.Reader) (kind byte, body []byte, err error) {
	head := make([]byte, 5)
	if !s.begun {
		head = head[:4]
	}
	if _, err := io.ReadFull(from, head); err != nil {
		return 0, nil, err
	}
	length := binary.BigEndian.Uint32(head[len(head)-4:])
	if length < 4 || length > maxMessage {
		return 0, nil, errors.New("not a message of the Postgres protocol")
	}
	body = make([]byte, length-4)
	if _, err := io.ReadFull(from, body); err != nil {
		return 0, nil, err
	}
	if s.begun {
		kind = head[0]
	}
	s.begun = true
	return kind, body, nil
}

// text cuts a string that ends with a zero byte.
func text(body []byte) (string, []byte) {
	before, after, _ := strings.Cut(string(body), "\x00")
	return before, []byte(after)
}

// withText puts a string that ends with a zero byte before a message's rest.
func withText(s string, rest []byte) []byte { return append(append([]byte(s), 0), rest...) }
