package smtp

import (
	"context"
	"crypto/tls"
	"net"
	"strconv"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

// quitTimeout is for QUIT, whose answer does not matter.
const quitTimeout = time.Second

// session is a connection to the server, used by one message at a time.
type session struct {
	client    *gomail.Client
	smtp      *smtp.Client
	conn      net.Conn // the TCP connection, below TLS
	sent      int
	idleSince time.Time // when it became idle
}

// client creates go-mail's client for one connection, which dial opens.
func (s *Sender) client(dial gomail.DialContextFunc) (*gomail.Client, error) {
	c := s.config
	options := []gomail.Option{gomail.WithPort(c.Port), gomail.WithTimeout(c.Timeout), gomail.WithTLSConfig(s.tls())}
	switch c.Security {
	case ImplicitTLS:
		options = append(options, gomail.WithSSL())
	case Plaintext:
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if c.HostName != "" {
		options = append(options, gomail.WithHELO(c.HostName))
	}
	if c.Username != "" {
		options = append(options, gomail.WithUsername(c.Username), gomail.WithPassword(c.Password),
			gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthSCRAMSHA256PLUS, gomail.SMTPAuthSCRAMSHA256,
				gomail.SMTPAuthPlain, gomail.SMTPAuthLogin))
	}
	if dial != nil {
		options = append(options, gomail.WithDialContextFunc(dial))
	}
	return gomail.NewClient(c.Host, options...)
}

func (s *Sender) tls() *tls.Config {
	config := s.config.TLS.Clone()
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if config.ServerName == "" {
		config.ServerName = s.config.Host
	}
	return config
}

// dial connects and logs in. If ctx ends during that, it closes the connection.
func (s *Sender) dial(ctx context.Context) (*session, error) {
	c := &session{}
	unwatch := func() bool { return true }
	client, err := s.client(func(dialing context.Context, _, _ string) (net.Conn, error) {
		address := net.JoinHostPort(s.config.Host, strconv.Itoa(s.config.Port))
		conn, err := s.config.Dialer.DialContext(dialing, "tcp", address)
		if err != nil {
			return nil, err
		}
		c.conn = conn
		unwatch = c.watch(ctx)
		if s.config.Security != ImplicitTLS {
			return conn, nil
		}
		secured := tls.Client(conn, s.tls())
		return secured, secured.HandshakeContext(dialing)
	})
	if err != nil {
		return nil, err
	}
	c.client = client
	c.smtp, err = client.DialToSMTPClientWithContext(ctx)
	unwatch()
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		c.hangUp()
		return nil, err
	}
	return c, nil
}

// watch closes the connection when ctx ends, because go-mail ignores the context while it communicates.
func (s *session) watch(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, s.hangUp)
}

// send sends one mail. After an error the session must not be used again.
func (s *session) send(ctx context.Context, mail *gomail.Msg) error {
	unwatch := s.watch(ctx)
	s.sent++
	err := s.client.SendWithSMTPClient(s.smtp, mail)
	if !unwatch() && err == nil {
		err = ctx.Err() // the mail was sent, and then the connection was closed
	}
	return err
}

// quit ends the session with QUIT.
func (s *session) quit() {
	// The mails have been sent or refused. A server that does not say goodbye changes nothing about them.
	_ = s.smtp.UpdateDeadline(quitTimeout)
	_ = s.client.CloseWithSMTPClient(s.smtp)
	s.hangUp()
}

// hangUp closes the connection immediately. A cleaner end could complete a mail that is being written,
// and the server would accept half of it as the whole.
func (s *session) hangUp() {
	if s.conn != nil {
		_ = s.conn.Close() // nothing more is sent or read
	}
}
