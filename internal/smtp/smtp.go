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

	"github.com/berthhq/berth/internal/rules/notify"
)

// Security is how a connection is protected.
type Security string

// The ways.
const (
	StartTLS    Security = "STARTTLS" // required: a server without it is not talked to
	ImplicitTLS Security = "TLS"
	Plaintext   Security = "NONE" // passwords are given to this machine only
)

var defaultPorts = map[Security]int{StartTLS: 587, ImplicitTLS: 465, Plaintext: 25}

const (
	defaultTimeout = 30 * time.Second
	defaultIdle    = 2

	idleFor     = 20 * time.Second // servers hang up after a minute or more
	perSession  = 100              // mails; servers have limits of their own
	maxHostName = 253
)

// Config is one account at a mail server.
type Config struct {
	Host     string
	Port     int      // 0: 587, 465 or 25, as Security has it
	Security Security // empty: StartTLS
	Username string   // empty: no authentication
	Password string
	TLS      *tls.Config // nil: the system's authorities
	Dialer   *net.Dialer // nil: one that connects to wherever the host is

	From    notify.Mailbox   // of messages without their own, and always where bounces go
	Hello   string           // this machine's name; empty: what it calls itself
	Idle    int              // connections kept open for what comes next; 0: 2, below 0: none
	Timeout time.Duration    // for one message; 0: 30 s
	Now     func() time.Time // nil: time.Now
}

// Sender sends email through one account. It is safe for concurrent use.
type Sender struct {
	config Config
	domain string // of Message-IDs

	mu   sync.Mutex
	idle []*session
}

// New makes a sender, or says what is wrong with its configuration.
func New(c Config) (*Sender, error) {
	if c.Host == "" || len(c.Host) > maxHostName || strings.ContainsAny(c.Host, "/ \r\n") {
		return nil, errors.New("smtp: a host is needed")
	}
	if c.Security == "" {
		c.Security = StartTLS
	}
	port, ok := defaultPorts[c.Security]
	if !ok {
		return nil, fmt.Errorf("smtp: security %q is not known", c.Security)
	}
	if c.Port == 0 {
		c.Port = port
	}
	_, domain, ok := strings.Cut(c.From.Address, "@")
	if !ok || domain == "" {
		return nil, errors.New("smtp: a sender address is needed")
	}
	switch {
	case c.Idle == 0:
		c.Idle = defaultIdle
	case c.Idle < 0:
		c.Idle = 0
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

// Send hands a message to the mail server once. It gives a *notify.SendError. The receipt's ProviderID is the
// Message-ID, which bounces refer to.
func (s *Sender) Send(ctx context.Context, m notify.Message) (notify.Receipt, error) {
	now := s.config.Now()
	if !m.ExpiresAt.IsZero() && !now.Before(m.ExpiresAt) {
		return notify.Receipt{}, notify.Expired()
	}
	mail, err := s.compose(m, now)
	if err != nil {
		return notify.Receipt{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	if err := s.deliver(ctx, mail, m.To); err != nil {
		return notify.Receipt{}, err
	}
	return notify.Receipt{ProviderID: s.messageID(m), Status: notify.Sent}, nil
}

// deliver uses a kept connection where one is left, and a new one where that turns out to be gone.
func (s *Sender) deliver(ctx context.Context, mail *gomail.Msg, to string) error {
	for {
		use := s.take()
		kept := use != nil
		if !kept {
			var err error
			if use, err = s.dial(ctx); err != nil {
				return unreachable(err)
			}
		}
		err := use.send(ctx, mail)
		if err == nil {
			s.keep(use)
			return nil
		}
		use.hangUp()
		if mail.IsDelivered() {
			return nil // only what came after failed
		}
		if kept && stale(err) {
			continue
		}
		return failure(err, to)
	}
}

// take gives a connection that was not idle for long.
func (s *Sender) take() *session {
	now := s.config.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.idle) > 0 {
		last := s.idle[len(s.idle)-1]
		s.idle = s.idle[:len(s.idle)-1]
		if now.Sub(last.since) < idleFor {
			return last
		}
		last.hangUp()
	}
	return nil
}

// keep puts a connection back, or ends it where enough are kept.
func (s *Sender) keep(one *session) {
	one.since = s.config.Now()
	s.mu.Lock()
	room := one.mails < perSession && len(s.idle) < s.config.Idle
	if room {
		s.idle = append(s.idle, one)
	}
	s.mu.Unlock()
	if !room {
		one.quit()
	}
}

// Close ends the connections that are kept. The sender may be used on.
func (s *Sender) Close() {
	s.mu.Lock()
	idle := s.idle
	s.idle = nil
	s.mu.Unlock()
	for _, one := range idle {
		one.quit()
	}
}
