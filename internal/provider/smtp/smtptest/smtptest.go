// Package smtptest is a fake mail server. It speaks SMTP with STARTTLS, TLS and
// authentication, parses mails, and rejects them on request.
package smtptest

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"time"
)

// Reaction is what the server does with a mail. Replies are complete lines, such as
// "550 5.1.1 no such user". If one is empty, the server accepts.
type Reaction struct {
	Mail string // to MAIL FROM
	Rcpt string // to RCPT TO
	Data string // to DATA
	End  string // to the whole mail

	Silent bool   // accepts the mail and never answers
	Drop   bool   // accepts the mail and closes the connection
	Then   func() // is called when the mail is accepted; may be nil
}

// Options configure a server.
type Options struct {
	TLS      bool   // implicit TLS
	StartTLS bool   // offers STARTTLS
	Username string // empty: offers no authentication
	Password string
	Greeting string // replaces the greeting; a complete line
	Auth     string // replaces the reply to AUTH; a complete line
}

// Server is a mail server on the loopback interface.
type Server struct {
	Host  string
	Port  int
	Roots *x509.CertPool // contains its certificate

	options  Options
	tls      *tls.Config
	listener net.Listener
	stop     chan struct{}
	done     sync.WaitGroup

	mu    sync.Mutex
	react func(to string) Reaction
	mails []Mail
	conns map[net.Conn]struct{}
	count int
}

// Start starts a server. Close stops it.
func Start(o Options) (*Server, error) {
	certificate, roots, err := identity()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{
		Host: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port, Roots: roots, options: o,
		tls:      &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
		listener: listener, stop: make(chan struct{}),
		react: func(string) Reaction { return Reaction{} }, conns: make(map[net.Conn]struct{}),
	}
	s.done.Go(s.serve)
	return s, nil
}

// identity creates a self-signed certificate.
func identity() (tls.Certificate, *x509.CertPool, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "smtptest"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:   time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots, nil
}

// Close stops the server and closes all connections.
func (s *Server) Close() {
	close(s.stop)
	_ = s.listener.Close()
	s.HangUp()
	s.done.Wait()
}

// HangUp closes all current connections, like a server does with idle ones.
func (s *Server) HangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.conns {
		_ = conn.Close()
	}
}

// React sets what happens to later mails, by recipient. For MAIL FROM it is called with an empty one.
func (s *Server) React(react func(to string) Reaction) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.react = react
}

// Mails returns the accepted mails in order.
func (s *Server) Mails() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mails)
}

// Connections returns the number of connections that were ever made.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

func (s *Server) serve() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns[conn] = struct{}{}
		s.count++
		s.mu.Unlock()
		s.done.Go(func() {
			defer func() {
				_ = conn.Close()
				s.mu.Lock()
				delete(s.conns, conn)
				s.mu.Unlock()
			}()
			select {
			case <-s.stop: // it was accepted while the server was closing
			default:
				s.converse(conn)
			}
		})
	}
}

// conversation is the state of one connection.
type conversation struct {
	*Server

	conn          net.Conn
	text          *textproto.Conn
	secured       bool
	authenticated bool // authenticated

	from     string
	to       []string
	reaction Reaction
}

func (s *Server) converse(conn net.Conn) {
	c := &conversation{Server: s, conn: conn}
	if s.options.TLS {
		c.conn, c.secured = tls.Server(conn, s.tls), true
	}
	c.text = textproto.NewConn(c.conn)
	greeting := s.options.Greeting
	if greeting == "" {
		greeting = "220 smtptest ESMTP"
	}
	if c.say(greeting) != nil {
		return
	}
	for {
		line, err := c.text.ReadLine()
		if err != nil {
			return
		}
		verb, rest, _ := strings.Cut(line, " ")
		if !c.obey(strings.ToUpper(verb), rest) {
			return
		}
	}
}

func (c *conversation) say(lines ...string) error {
	for _, line := range lines {
		if err := c.text.PrintfLine("%s", line); err != nil {
			return err
		}
	}
	return nil
}

// obey handles a command and reports whether the connection stays open.
func (c *conversation) obey(verb, rest string) bool {
	switch verb {
	case "EHLO":
		return c.say(c.offers()...) == nil
	case "HELO", "NOOP":
		return c.say("250 OK") == nil
	case "RSET":
		c.from, c.to = "", nil
		return c.say("250 OK") == nil
	case "QUIT":
		_ = c.say("221 Bye")
		return false
	case "STARTTLS":
		return c.secure()
	case "AUTH":
		return c.authenticate(rest)
	case "MAIL":
		return c.mail(rest)
	case "RCPT":
		return c.rcpt(rest)
	case "DATA":
		return c.data()
	default:
		return c.say("500 5.5.1 Unknown command") == nil
	}
}

func (c *conversation) offers() []string {
	lines := []string{"250-smtptest", "250-8BITMIME", "250-SMTPUTF8"}
	if c.options.StartTLS && !c.secured {
		lines = append(lines, "250-STARTTLS")
	}
	if c.options.Username != "" {
		lines = append(lines, "250-AUTH PLAIN LOGIN")
	}
	return append(lines, "250 ENHANCEDSTATUSCODES")
}

func (c *conversation) secure() bool {
	if !c.options.StartTLS || c.secured {
		return c.say("502 5.5.1 Not now") == nil
	}
	if c.say("220 Go ahead") != nil {
		return false
	}
	c.conn, c.secured = tls.Server(c.conn, c.tls), true
	c.text = textproto.NewConn(c.conn)
	return true
}

func (c *conversation) authenticate(rest string) bool {
	mechanism, initial, _ := strings.Cut(rest, " ")
	var user, password string
	switch strings.ToUpper(mechanism) {
	case "PLAIN":
		decoded, _ := base64.StdEncoding.DecodeString(initial)
		if parts := strings.Split(string(decoded), "\x00"); len(parts) == 3 {
			user, password = parts[1], parts[2]
		}
	case "LOGIN":
		user, password = c.ask("VXNlcm5hbWU6"), c.ask("UGFzc3dvcmQ6")
	default:
		return c.say("504 5.5.4 Unknown mechanism") == nil
	}
	if c.options.Auth != "" {
		return c.say(c.options.Auth) == nil
	}
	c.authenticated = user == c.options.Username && password == c.options.Password
	if !c.authenticated {
		return c.say("535 5.7.8 Authentication failed") == nil
	}
	return c.say("235 2.7.0 Welcome") == nil
}

func (c *conversation) ask(prompt string) string {
	if c.say("334 "+prompt) != nil {
		return ""
	}
	line, _ := c.text.ReadLine()
	decoded, _ := base64.StdEncoding.DecodeString(line)
	return string(decoded)
}

func (c *conversation) mail(rest string) bool {
	if c.options.Username != "" && !c.authenticated {
		return c.say("530 5.7.0 Authentication required") == nil
	}
	if no := c.reactTo("").Mail; no != "" {
		return c.say(no) == nil
	}
	c.from, c.to = path(rest), nil
	return c.say("250 2.1.0 OK") == nil
}

func (c *conversation) rcpt(rest string) bool {
	to := path(rest)
	c.reaction = c.reactTo(to)
	if c.reaction.Rcpt != "" {
		return c.say(c.reaction.Rcpt) == nil
	}
	c.to = append(c.to, to)
	return c.say("250 2.1.5 OK") == nil
}

func (c *conversation) data() bool {
	if len(c.to) == 0 {
		return c.say("503 5.5.1 No recipients") == nil
	}
	if c.reaction.Data != "" {
		return c.say(c.reaction.Data) == nil
	}
	if c.say("354 Go ahead") != nil {
		return false
	}
	raw, err := io.ReadAll(bufio.NewReader(c.text.DotReader()))
	if err != nil {
		return false // a mail without its end is not accepted
	}
	if c.reaction.End != "" {
		return c.say(c.reaction.End) == nil
	}
	m, err := parse(raw)
	if err != nil {
		return c.say("554 5.6.0 "+strings.ReplaceAll(err.Error(), "\n", " ")) == nil
	}
	m.From, m.To = c.from, c.to
	c.mu.Lock()
	c.mails = append(c.mails, m)
	n := len(c.mails)
	c.mu.Unlock()
	if c.reaction.Then != nil {
		c.reaction.Then()
	}
	switch {
	case c.reaction.Silent:
		_, _ = c.text.ReadLine() // until the client gives up
		return false
	case c.reaction.Drop:
		return false
	default:
		return c.say(fmt.Sprintf("250 2.0.0 OK queued as %d", n)) == nil
	}
}

func (c *conversation) reactTo(to string) Reaction {
	c.mu.Lock()
	react := c.react
	c.mu.Unlock()
	return react(to)
}

// path returns the address in FROM:<…> or TO:<…>.
func path(rest string) string {
	_, after, _ := strings.Cut(rest, "<")
	address, _, _ := strings.Cut(after, ">")
	return address
}
