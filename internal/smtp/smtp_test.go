package smtp_test

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/berthhq/berth/internal/provider"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/smtp"
	"github.com/berthhq/berth/internal/smtp/smtptest"
	"github.com/berthhq/berth/internal/tenant"
)

var now = time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)

func setup(t *testing.T, o smtptest.Options) (*smtptest.Server, smtp.Config) {
	t.Helper()
	s, err := smtptest.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, smtp.Config{
		Host: s.Host, Port: s.Port, Security: smtp.Plaintext, From: notify.Mailbox{Name: "Berth", Address: "bounces@berth.example"},
		TLS: &tls.Config{RootCAs: s.Roots, MinVersion: tls.VersionTLS12}, Timeout: 20 * time.Second, Hello: "test.example",
		Now: func() time.Time { return now },
	}
}

func sender(t *testing.T, c smtp.Config) *smtp.Sender {
	t.Helper()
	s, err := smtp.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

const id = "018f5e6e-0000-7000-8000-000000000001"

func message() notify.Message {
	return notify.Message{
		ID: tenant.MustParse[tenant.DeliveryID](id), Channel: notify.Email, To: "ann@mail.example", ToName: "Ännchen, \"Ann\"",
		From: notify.Mailbox{Name: "Studio Süd", Address: "hello@studio.example"}, ReplyTo: notify.Mailbox{Address: "desk@studio.example"},
		Subject: "Bestätigt: Vinyasa um 18:00 — bis gleich", Text: "Bis gleich!\n.\nEnde", HTML: "<p>Bis <b>gleich</b>!</p>",
		Unsubscribe: "https://berth.example/unsubscribe/x",
		Calendar:    &notify.Calendar{Method: notify.Request, Body: []byte("BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n")},
		ExpiresAt:   now.Add(time.Second),
	}
}

func kindOf(t *testing.T, err error) *notify.SendError {
	t.Helper()
	var failure *notify.SendError
	if !errors.As(err, &failure) {
		t.Fatalf("%v is not a SendError", err)
	}
	return failure
}

func TestAMailArrives(t *testing.T) {
	t.Parallel()
	fake, c := setup(t, smtptest.Options{})
	got, err := sender(t, c).Send(t.Context(), message())
	if err != nil {
		t.Fatal(err)
	}
	if want := (notify.Receipt{ProviderID: id + "@berth.example", Status: notify.Sent}); got != want {
		t.Errorf("receipt %+v", got)
	}
	mail := fake.Mails()[0]
	if mail.From != "bounces@berth.example" || !cmp.Equal(mail.To, []string{"ann@mail.example"}) {
		t.Errorf("envelope %s → %v", mail.From, mail.To)
	}
	for name, want := range map[string]string{
		"From":                  `Studio Süd <hello@studio.example>`,
		"Reply-To":              "<desk@studio.example>",
		"Subject":               "Bestätigt: Vinyasa um 18:00 — bis gleich",
		"Message-Id":            "<" + id + "@berth.example>",
		"Date":                  "Sat, 28 Mar 2026 12:00:00 +0000",
		"List-Unsubscribe":      "<https://berth.example/unsubscribe/x>",
		"List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
		"Auto-Submitted":        "auto-generated",
		"Mime-Version":          "1.0",
		"User-Agent":            "",
	} {
		if got := mail.Text(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if to, err := mail.Header.AddressList("To"); err != nil || to[0].Name != "Ännchen, \"Ann\"" {
		t.Errorf("to %v, %v", to, err)
	}
	calendar := "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n"
	want := []smtptest.Part{
		{Inside: "mixed/alternative", Type: "text/plain", Params: map[string]string{"charset": "UTF-8"}, Body: "Bis gleich!\n.\nEnde"},
		{Inside: "mixed/alternative", Type: "text/html", Params: map[string]string{"charset": "UTF-8"}, Body: "<p>Bis <b>gleich</b>!</p>"},
		{Inside: "mixed/alternative", Type: "text/calendar", Params: map[string]string{"charset": "UTF-8", "method": "REQUEST"}, Body: calendar},
		{
			Inside: "mixed", Type: "application/ics", Params: map[string]string{"name": "invite.ics"},
			Disposition: "attachment", Filename: "invite.ics", Body: calendar,
		},
	}
	if diff := cmp.Diff(want, mail.Parts); diff != "" {
		t.Error(diff)
	}
}

func TestAPlainMailIsPlain(t *testing.T) {
	t.Parallel()
	fake, c := setup(t, smtptest.Options{})
	m := notify.Message{ID: message().ID, Channel: notify.Email, To: "ann@mail.example", Subject: "Hi", Text: "Hello"}
	if _, err := sender(t, c).Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	mail := fake.Mails()[0]
	want := []smtptest.Part{{Type: "text/plain", Params: map[string]string{"charset": "UTF-8"}, Body: "Hello"}}
	if diff := cmp.Diff(want, mail.Parts, cmpopts.IgnoreFields(smtptest.Part{}, "Body")); diff != "" {
		t.Error(diff)
	}
	if got := mail.Text("From"); got != `"Berth" <bounces@berth.example>` {
		t.Errorf("from %s", got)
	}
	if mail.Header.Get("List-Unsubscribe") != "" {
		t.Error("a mail that nobody can unsubscribe from says they can")
	}
}

// What tenants and members write cannot add headers.
func TestHeadersStayWhole(t *testing.T) {
	t.Parallel()
	fake, c := setup(t, smtptest.Options{})
	const evil = "x\r\nBcc: all@mail.example\r\n\r\nbody"
	m := message()
	m.Subject, m.ToName, m.From.Name, m.ReplyTo.Name = evil, evil, evil, evil
	s := sender(t, c)
	if _, err := s.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	mail := fake.Mails()[0]
	if mail.Header.Get("Bcc") != "" || len(mail.To) != 1 || len(mail.Parts) != 4 {
		t.Errorf("%s", mail.Raw)
	}
	for name, want := range map[string]struct {
		spoil func(*notify.Message)
		kind  notify.FailureKind
	}{
		"to":          {func(m *notify.Message) { m.To = "ann@mail.example>\r\nRCPT TO:<all@mail.example" }, notify.Unregistered},
		"two":         {func(m *notify.Message) { m.To = "ann@mail.example, bob@mail.example" }, notify.Unregistered},
		"nobody":      {func(m *notify.Message) { m.To = "" }, notify.Unregistered},
		"from":        {func(m *notify.Message) { m.From.Address = "hello@studio.example\r\nX: y" }, notify.Misconfigured},
		"reply":       {func(m *notify.Message) { m.ReplyTo.Address = "desk" }, notify.Misconfigured},
		"unsubscribe": {func(m *notify.Message) { m.Unsubscribe = "https://berth.example/\r\nX: y" }, notify.Permanent},
		"plain http":  {func(m *notify.Message) { m.Unsubscribe = "http://berth.example/" }, notify.Permanent},
	} {
		m := message()
		want.spoil(&m)
		_, err := s.Send(t.Context(), m)
		if got := kindOf(t, err); got.Kind != want.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(fake.Mails()); n != 1 {
		t.Errorf("%d mails", n)
	}
}

func TestNothingIsSentAfterItExpired(t *testing.T) {
	t.Parallel()
	fake, c := setup(t, smtptest.Options{})
	m := message()
	m.ExpiresAt = now
	_, err := sender(t, c).Send(t.Context(), m)
	if got := kindOf(t, err); got.Kind != notify.Permanent || got.Code != "EXPIRED" || fake.Connections() != 0 {
		t.Error(err)
	}
}

func TestSecurity(t *testing.T) {
	t.Parallel()
	account := smtptest.Options{Username: "berth", Password: "p4ss"}
	with := func(o smtptest.Options, change func(*smtptest.Options)) smtptest.Options {
		change(&o)
		return o
	}
	starttls := with(account, func(o *smtptest.Options) { o.StartTLS = true })
	implicit := with(account, func(o *smtptest.Options) { o.TLS = true })
	for name, tc := range map[string]struct {
		server smtptest.Options
		config func(*smtp.Config)
		want   notify.FailureKind
		code   string
	}{
		"STARTTLS":            {starttls, func(c *smtp.Config) { c.Security = smtp.StartTLS }, "", ""},
		"it is the default":   {starttls, func(c *smtp.Config) { c.Security = "" }, "", ""},
		"TLS":                 {implicit, func(c *smtp.Config) { c.Security = smtp.ImplicitTLS }, "", ""},
		"none":                {smtptest.Options{}, func(c *smtp.Config) { c.Username = "" }, "", ""},
		"to this machine":     {account, func(*smtp.Config) {}, "", ""},
		"no STARTTLS there":   {account, func(c *smtp.Config) { c.Security = smtp.StartTLS }, notify.Misconfigured, ""},
		"no TLS there":        {account, func(c *smtp.Config) { c.Security = smtp.ImplicitTLS }, notify.Misconfigured, ""},
		"unknown authority":   {starttls, func(c *smtp.Config) { c.Security, c.TLS = smtp.StartTLS, nil }, notify.Misconfigured, ""},
		"nobody vouches":      {implicit, func(c *smtp.Config) { c.Security, c.TLS = smtp.ImplicitTLS, nil }, notify.Misconfigured, ""},
		"wrong password":      {starttls, func(c *smtp.Config) { c.Security, c.Password = smtp.StartTLS, "x" }, notify.Misconfigured, "535"},
		"not now":             {with(starttls, func(o *smtptest.Options) { o.Auth = "454 4.7.0 Temporary authentication failure" }), func(c *smtp.Config) { c.Security = smtp.StartTLS }, notify.Transient, "454"},
		"no authentication":   {starttls, func(c *smtp.Config) { c.Security, c.Username = smtp.StartTLS, "" }, notify.Misconfigured, "530 5.7.0"},
		"none is offered":     {smtptest.Options{StartTLS: true}, func(c *smtp.Config) { c.Security = smtp.StartTLS }, notify.Misconfigured, ""},
		"not welcome":         {smtptest.Options{Greeting: "554 No SMTP service here"}, func(*smtp.Config) {}, notify.Misconfigured, "554"},
		"not welcome for now": {smtptest.Options{Greeting: "421 Too many connections"}, func(*smtp.Config) {}, notify.Transient, "421"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake, c := setup(t, tc.server)
			c.Username, c.Password = "berth", "p4ss"
			tc.config(&c)
			_, err := sender(t, c).Send(t.Context(), message())
			if tc.want == "" {
				if err != nil || len(fake.Mails()) != 1 {
					t.Fatal(err)
				}
				return
			}
			if got := kindOf(t, err); got.Kind != tc.want || got.Code != tc.code {
				t.Errorf("%s %q: %v", got.Kind, got.Code, err)
			}
			if len(fake.Mails()) != 0 {
				t.Error("it was sent")
			}
		})
	}
}

// What follows from a reply: RFC 5321 section 4.2 and RFC 3463.
func TestRefusals(t *testing.T) {
	t.Parallel()
	type r = smtptest.Reaction
	for name, tc := range map[string]struct {
		reaction r
		want     notify.SendError
	}{
		"no such user":        {r{Rcpt: "550 5.1.1 <ann@mail.example> no such user"}, notify.SendError{Kind: notify.Unregistered, Code: "550 5.1.1"}},
		"no such user, plain": {r{Rcpt: "550 no such user"}, notify.SendError{Kind: notify.Unregistered, Code: "550"}},
		"no such system":      {r{Rcpt: "550 5.1.2 no such host"}, notify.SendError{Kind: notify.Unregistered, Code: "550 5.1.2"}},
		"bad syntax":          {r{Rcpt: "501 5.1.3 bad address"}, notify.SendError{Kind: notify.Unregistered, Code: "501 5.1.3"}},
		"moved":               {r{Rcpt: "551 5.1.6 moved"}, notify.SendError{Kind: notify.Unregistered, Code: "551 5.1.6"}},
		"moved, plain":        {r{Rcpt: "551 User not local"}, notify.SendError{Kind: notify.Unregistered, Code: "551"}},
		"bad name, plain":     {r{Rcpt: "553 mailbox name not allowed"}, notify.SendError{Kind: notify.Unregistered, Code: "553"}},
		"told with the end":   {r{End: "550 5.1.1 no such user"}, notify.SendError{Kind: notify.Unregistered, Code: "550 5.1.1"}},
		"told with the data":  {r{Data: "550 5.1.1 no such user"}, notify.SendError{Kind: notify.Unregistered, Code: "550 5.1.1"}},
		"only at the end":     {r{End: "550 rejected"}, notify.SendError{Kind: notify.Permanent, Code: "550"}},
		"not authorized":      {r{Rcpt: "550 5.7.0 denied"}, notify.SendError{Kind: notify.Permanent, Code: "550 5.7.0"}},
		"not authentic":       {r{End: "550 5.7.26 fails DMARC"}, notify.SendError{Kind: notify.Permanent, Code: "550 5.7.26"}},
		"blocked":             {r{Rcpt: "554 5.7.1 blocked"}, notify.SendError{Kind: notify.Permanent, Code: "554 5.7.1"}},
		"no route":            {r{Rcpt: "550 5.4.4 cannot route"}, notify.SendError{Kind: notify.Permanent, Code: "550 5.4.4"}},
		"full, plain":         {r{Rcpt: "552 mailbox full"}, notify.SendError{Kind: notify.Permanent, Code: "552"}},
		"no such sender":      {r{Mail: "553 5.1.8 sender's domain"}, notify.SendError{Kind: notify.Misconfigured, Code: "553 5.1.8"}},
		"who is that":         {r{Mail: "550 5.1.1 no such sender"}, notify.SendError{Kind: notify.Misconfigured, Code: "550 5.1.1"}},
		"later, plain":        {r{Rcpt: "450 mailbox busy"}, notify.SendError{Kind: notify.Transient, Code: "450"}},
		"going down later":    {r{Rcpt: "421 4.3.2 going down"}, notify.SendError{Kind: notify.Transient, Code: "421 4.3.2"}},
		"full at the end":     {r{End: "451 4.3.0 out of memory"}, notify.SendError{Kind: notify.Transient, Code: "451 4.3.0"}},
		"disabled":            {r{Rcpt: "550 5.2.1 disabled"}, notify.SendError{Kind: notify.Unregistered, Code: "550 5.2.1"}},
		"null MX":             {r{Rcpt: "556 5.1.10 no mail here"}, notify.SendError{Kind: notify.Unregistered, Code: "556 5.1.10"}},
		"policy":              {r{Rcpt: "550 5.7.1 relaying denied"}, notify.SendError{Kind: notify.Permanent, Code: "550 5.7.1"}},
		"mailbox full":        {r{Rcpt: "552 5.2.2 full"}, notify.SendError{Kind: notify.Permanent, Code: "552 5.2.2"}},
		"full for now":        {r{Rcpt: "452 4.2.2 full"}, notify.SendError{Kind: notify.Transient, Code: "452 4.2.2"}},
		"greylisted":          {r{Rcpt: "451 4.7.1 come back later"}, notify.SendError{Kind: notify.Transient, Code: "451 4.7.1"}},
		"sender refused":      {r{Mail: "550 5.7.1 not you"}, notify.SendError{Kind: notify.Misconfigured, Code: "550 5.7.1"}},
		"sender limited":      {r{Mail: "450 4.7.0 slow down"}, notify.SendError{Kind: notify.Transient, Code: "450 4.7.0"}},
		"no data":             {r{Data: "554 5.5.1 no"}, notify.SendError{Kind: notify.Permanent, Code: "554 5.5.1"}},
		"spam":                {r{End: "554 5.7.1 spam"}, notify.SendError{Kind: notify.Permanent, Code: "554 5.7.1"}},
		"too big":             {r{End: "552 5.3.4 too big"}, notify.SendError{Kind: notify.Permanent, Code: "552 5.3.4"}},
		"disk full":           {r{End: "452 4.3.1 disk full"}, notify.SendError{Kind: notify.Transient, Code: "452 4.3.1"}},
		"going down":          {r{Mail: "421 4.3.2 going down"}, notify.SendError{Kind: notify.Transient, Code: "421 4.3.2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake, c := setup(t, smtptest.Options{})
			fake.React(func(string) smtptest.Reaction { return tc.reaction })
			s := sender(t, c)
			_, err := s.Send(t.Context(), message())
			got := kindOf(t, err)
			if diff := cmp.Diff(tc.want, *got, cmpopts.IgnoreFields(notify.SendError{}, "Reason")); diff != "" {
				t.Errorf("%v: %s", err, diff)
			}
			if got.Reason == "" || strings.Contains(err.Error(), "ann@") {
				t.Errorf("no reason, or whose address it is: %v", err)
			}
			fake.React(func(string) smtptest.Reaction { return smtptest.Reaction{} })
			if _, err := s.Send(t.Context(), message()); err != nil {
				t.Errorf("the next: %v", err)
			}
		})
	}
}

// A whole mail that was not answered may have been taken, and here it has been.
func TestWithoutAnAnswerItMayHaveBeenSent(t *testing.T) {
	t.Parallel()
	for name, reaction := range map[string]smtptest.Reaction{"timeout": {Silent: true}, "cut": {Drop: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake, c := setup(t, smtptest.Options{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if reaction.Silent {
				reaction.Then = cancel // as a timeout would, at this very moment
			}
			fake.React(func(string) smtptest.Reaction { return reaction })
			_, err := sender(t, c).Send(ctx, message())
			if got := kindOf(t, err); got.Kind != notify.Unknown {
				t.Errorf("%v", err)
			}
			if n := len(fake.Mails()); n != 1 {
				t.Errorf("%d mails", n)
			}
		})
	}
}

// Before its end nothing was taken, whatever breaks.
func TestAnUnfinishedMailIsNone(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]string{"at the sender": "", "at the recipient": "ann@mail.example"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake, c := setup(t, smtptest.Options{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			fake.React(func(to string) smtptest.Reaction {
				if to == at {
					cancel()
				}
				return smtptest.Reaction{}
			})
			_, err := sender(t, c).Send(ctx, message())
			if err == nil {
				return // it was quicker than the context
			}
			got := kindOf(t, err)
			if got.Kind == notify.Transient && len(fake.Mails()) != 0 {
				t.Errorf("told to be repeated, and taken: %v", err)
			}
			if got.Kind != notify.Transient && got.Kind != notify.Unknown {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestWithoutAConnectionNothingWasSent(t *testing.T) {
	t.Parallel()
	fake, c := setup(t, smtptest.Options{})
	there := c
	there.Host, there.Port = "127.0.0.1", 1 // a port that a server has just left may be another's by now
	_, err := sender(t, there).Send(t.Context(), message())
	if got := kindOf(t, err); got.Kind != notify.Transient {
		t.Errorf("refused connection: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = sender(t, c).Send(ctx, message())
	if got := kindOf(t, err); got.Kind != notify.Transient || len(fake.Mails()) != 0 {
		t.Errorf("cancelled before: %v", err)
	}
}

func TestConnectionsAreKept(t *testing.T) {
	t.Parallel()
	fake, c := setup(t, smtptest.Options{})
	var clock sync.Mutex
	at := now
	c.Now = func() time.Time { clock.Lock(); defer clock.Unlock(); return at }
	s := sender(t, c)
	send := func(want int) {
		t.Helper()
		m := message()
		m.ExpiresAt = time.Time{}
		if _, err := s.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		if got := fake.Connections(); got != want {
			t.Fatalf("%d connections, want %d", got, want)
		}
	}
	send(1)
	send(1)
	fake.HangUp() // a kept one that is gone is noticed before the mail is said
	send(2)
	clock.Lock()
	at = at.Add(time.Minute)
	clock.Unlock()
	send(3)
	s.Close()
	send(4)

	c.Idle = -1
	s = sender(t, c)
	send(5)
	send(6)
	if n := len(fake.Mails()); n != 7 {
		t.Errorf("%d mails", n)
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	fake, c := setup(t, smtptest.Options{})
	s := sender(t, c)
	const many = 32
	var all sync.WaitGroup
	for range many {
		all.Go(func() {
			if _, err := s.Send(t.Context(), message()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(fake.Mails()); n != many {
		t.Errorf("%d mails", n)
	}
}

func TestConfigurationIsChecked(t *testing.T) {
	t.Parallel()
	good := smtp.Config{Host: "mail.example", From: notify.Mailbox{Address: "a@b.example"}}
	if _, err := smtp.New(good); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*smtp.Config){
		"no host":     func(c *smtp.Config) { c.Host = "" },
		"a socket":    func(c *smtp.Config) { c.Host = "unix:///run/docker.sock" },
		"no sender":   func(c *smtp.Config) { c.From.Address = "berth" },
		"no security": func(c *smtp.Config) { c.Security = "maybe" },
		"a port":      func(c *smtp.Config) { c.Port = 70_000 },
	} {
		c := good
		spoil(&c)
		if _, err := smtp.New(c); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func BenchmarkSend(b *testing.B) {
	fake, err := smtptest.Start(smtptest.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(fake.Close)
	s, err := smtp.New(smtp.Config{
		Host: fake.Host, Port: fake.Port, Security: smtp.Plaintext, From: notify.Mailbox{Address: "bounces@berth.example"},
		Idle: 32, Now: func() time.Time { return now },
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := s.Send(b.Context(), message()); err != nil {
				b.Error(err)
			}
		}
	})
}

// A server inside the network is not talked to through a dialer for the public internet, whatever it is called, and the log does
// not tell whether it is there.
func TestAServerInside(t *testing.T) {
	t.Parallel()
	fake, c := setup(t, smtptest.Options{})
	if _, err := sender(t, c).Send(t.Context(), message()); err != nil {
		t.Fatal(err)
	}
	c.Dialer = provider.PublicDialer()
	for _, host := range []string{c.Host, "localhost", "169.254.169.254"} {
		c.Host = host
		_, err := sender(t, c).Send(t.Context(), message())
		if got := kindOf(t, err); got.Kind != notify.Misconfigured || got.Code != "PRIVATE_ADDRESS" || strings.Contains(got.Error(), host) {
			t.Errorf("%s: %v", host, got)
		}
	}
	if n := len(fake.Mails()); n != 1 {
		t.Errorf("%d mails", n)
	}
}
