// Package smtp sends email over SMTP.
package smtp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/berthhq/berth/internal/rules/delivery"
)

// Security is how a connection is protected.
type Security string

// The values of Security.
const (
	StartTLS    Security = "STARTTLS" // required: it sends nothing to a server without it
	ImplicitTLS Security = "TLS"
	Plaintext   Security = "NONE" // sends passwords to the loopback interface only
)

var defaultPorts = map[Security]int{StartTLS: 587, ImplicitTLS: 465, Plaintext: 25}

const (
	defaultTimeout = 30 * time.Second
	defaultIdle    = 2

	maxIdle     = 20 * time.Second // servers close idle connections after a minute or more
	maxMails    = 100              // mails per connection; servers have limits of their own
	maxHostName = 253
)

// Config is the configuration of one account at a mail server.
type Config struct {
	Host     string
	Port     int      // 0: 587, 465 or 25, depending on Security
	Security Security // empty: StartTLS
	Username string   // empty: no authentication
	Password string
	TLS      *tls.Config // nil: the system's certificate authorities
	Dialer   *net.Dialer // nil: one that connects to any address

	From     delivery.Mailbox // of messages without their own; bounces always go there
	HostName string           // this machine's name in EHLO; empty: its host name
	MaxIdle  int              // idle connections kept open for later messages; 0: 2, negative: none
	Timeout  time.Duration    // for one message; 0: 30 s
	Now      func() time.Time // nil: time.Now
}

// Sender sends email through one account. It is safe for concurrent use.
type Sender struct {
	config Config
	domain string // of Message-IDs

	mu   sync.Mutex
	idle []*session
}

// New returns a sender, or an error that says what is wrong with the configuration.
func New(c Config) (*Sender, error) {
	if c.Host == "" || len(c.Host) > maxHostName || strings.ContainsAny(c.Host, "/ \r\n") {
		return nil, errors.New("smtp: a host is needed")
	}
	if c.Security == "" {
		c.Security = StartTLS
	}
	port, ok := defaultPorts[c.Security]
	if !ok {
		return nil, fmt.Errorf("smtp: unknown security %q", c.Security)
	}
	if c.Port == 0 {
		c.Port = port
	}
	_, domain, ok := strings.Cut(c.From.Address, "@")
	if !ok || domain == "" {
		return nil, errors.New("smtp: a sender address is needed")
	}
	switch {
	case c.MaxIdle == 0:
		c.MaxIdle = defaultIdle
	case c.MaxIdle < 0:
		c.MaxIdle = 0
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Dialer == nil {
		c.Dialer = new(net.Dialer)
	}
	s := &Sender{config: c, domain: domain}
	if _, err := s.client(nil); err != nil {
		return nil, fmt.Errorf("smtp: %w", err)
	}
	return s, nil
}

// Send gives a message to the mail server once. Its error is a *notify.SendError.
// The receipt's ProviderID is the Message-ID, which bounces refer to.
func (s *Sender) Send(ctx context.Context, m delivery.Message) (delivery.Receipt, error) {
	now := s.config.Now()
	if !m.ExpiresAt.IsZero() && !now.Before(m.ExpiresAt) {
		return delivery.Receipt{}, delivery.Expired()
	}
	mail, err := s.compose(m, now)
	if err != nil {
		return delivery.Receipt{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	if err := s.deliver(ctx, mail, m.To); err != nil {
		return delivery.Receipt{}, err
	}
	return delivery.Receipt{ProviderID: s.messageID(m), Status: delivery.Sent}, nil
}

// deliver uses an idle connection if there is one, and another one if that turns out to be dead.
func (s *Sender) deliver(ctx context.Context, mail *gomail.Msg, to string) error {
	for {
		session := s.takeIdle()
		reused := session != nil
		if !reused {
			var err error
			if session, err = s.dial(ctx); err != nil {
				return unreachable(err)
			}
		}
		err := session.send(ctx, mail)
		if err == nil {
			s.keepIdle(session)
			return nil
		}
		session.hangUp()
		if mail.IsDelivered() {
			return nil // the error came after the mail was accepted
		}
		if reused && stale(err) {
			continue
		}
		return failure(err, to)
	}
}

// takeIdle returns a connection that has not been idle for too long, or nil.
func (s *Sender) takeIdle() *session {
	now := s.config.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.idle) > 0 {
		last := s.idle[len(s.idle)-1]
		s.idle = s.idle[:len(s.idle)-1]
		if now.Sub(last.idleSince) < maxIdle {
			return last
		}
		last.hangUp()
	}
	return nil
}

// keepIdle keeps a connection for later, or ends it if enough are kept.
func (s *Sender) keepIdle(session *session) {
	session.idleSince = s.config.Now()
	s.mu.Lock()
	room := session.sent < maxMails && len(s.idle) < s.config.MaxIdle
	if room {
		s.idle = append(s.idle, session)
	}
	s.mu.Unlock()
	if !room {
		session.quit()
	}
}

// Close ends the idle connections. The sender can still be used.
func (s *Sender) Close() {
	s.mu.Lock()
	idle := s.idle
	s.idle = nil
	s.mu.Unlock()
	for _, session := range idle {
		session.quit()
	}
}
