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

// quitTimeout is for a goodbye, which nobody waits for an answer to.
const quitTimeout = time.Second

// session is one connection to the server, used by one message at a time.
type session struct {
	client *gomail.Client
	smtp   *smtp.Client
	conn   net.Conn // under TLS, where there is any
	mails  int
	since  time.Time // idle
}

// client makes go-mail's client for one connection, which dial makes.
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
	if c.Hello != "" {
		options = append(options, gomail.WithHELO(c.Hello))
	}
	if c.Username != "" {
		options = append(options, gomail.WithUsername(c.Username), gomail.WithPassword(c.Password), gomail.WithOpportunisticSMTPAuth(
			gomail.SMTPAuthSCRAMSHA256PLUS, gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin))
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

// dial connects and introduces itself. The end of the context ends a conversation under way.
func (s *Sender) dial(ctx context.Context) (*session, error) {
	one := &session{}
	unwatch := func() bool { return true }
	client, err := s.client(func(dialing context.Context, _, _ string) (net.Conn, error) {
		conn, err := s.config.Dialer.DialContext(dialing, "tcp", net.JoinHostPort(s.config.Host, strconv.Itoa(s.config.Port)))
		if err != nil {
			return nil, err
		}
		one.conn = conn
		unwatch = one.watch(ctx)
		if s.config.Security != ImplicitTLS {
			return conn, nil
		}
		secured := tls.Client(conn, s.tls())
		return secured, secured.HandshakeContext(dialing)
	})
	if err != nil {
		return nil, err
	}
	one.client = client
	one.smtp, err = client.DialToSMTPClientWithContext(ctx)
	unwatch()
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		one.hangUp()
		return nil, err
	}
	return one, nil
}

// watch hangs up when the context ends, for go-mail does not look at it while it talks.
func (one *session) watch(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, one.hangUp)
}

// send has one conversation. After an error the session must not be used again.
func (one *session) send(ctx context.Context, mail *gomail.Msg) error {
	unwatch := one.watch(ctx)
	one.mails++
	err := one.client.SendWithSMTPClient(one.smtp, mail)
	if !unwatch() && err == nil {
		err = ctx.Err() // sent, and hung up since
	}
	return err
}

// quit says goodbye.
func (one *session) quit() {
	_ = one.smtp.UpdateDeadline(quitTimeout)
	_ = one.client.CloseWithSMTPClient(one.smtp)
	one.hangUp()
}

// hangUp cuts the connection. Anything more polite could end a mail that was being written, and
// the server would take the half of it for the whole.
func (one *session) hangUp() {
	if one.conn != nil {
		_ = one.conn.Close()
	}
}
