package smtp_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/provider"
	"github.com/berthhq/berth/internal/provider/smtp"
	"github.com/berthhq/berth/internal/provider/smtp/smtptest"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

type set = vary.Fields

var now = time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)

func setup(t *testing.T, o smtptest.Options) (*smtptest.Server, smtp.Config) {
	t.Helper()
	s := expect.Value(smtptest.Start(o))(t)
	t.Cleanup(s.Close)
	return s, smtp.Config{
		Host: s.Host, Port: s.Port, Security: smtp.Plaintext, HostName: "test.example",
		From: delivery.Mailbox{Name: "Berth", Address: "bounces@berth.example"},
		TLS:  &tls.Config{RootCAs: s.Roots, MinVersion: tls.VersionTLS12}, Timeout: 20 * time.Second,
		Now: func() time.Time { return now },
	}
}

func sender(t *testing.T, c smtp.Config) *smtp.Sender {
	t.Helper()
	s := expect.Value(smtp.New(c))(t)
	t.Cleanup(s.Close)
	return s
}

const id = "018f5e6e-0000-7000-8000-000000000001"

func message() delivery.Message {
	return delivery.Message{
		ID: tenant.MustParse[tenant.DeliveryID](id), Channel: delivery.Email,
		To: "ann@mail.example", ToName: "Ännchen, \"Ann\"",
		From:    delivery.Mailbox{Name: "Studio Süd", Address: "hello@studio.example"},
		ReplyTo: delivery.Mailbox{Address: "desk@studio.example"},
		Subject: "Bestätigt: Vinyasa um 18:00 — bis gleich",
		Text:    "Bis gleich!\n.\nEnde", HTML: "<p>Bis <b>gleich</b>!</p>",
		Unsubscribe: "https://berth.example/unsubscribe/x",
		Calendar: &delivery.Calendar{
			Method: delivery.CalendarRequest, Body: []byte("BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n"),
		},
		ExpiresAt: now.Add(time.Second),
	}
}

func sendError(t *testing.T, err error) *delivery.Error {
	t.Helper()
	var failure *delivery.Error
	must.True(t, errors.As(err, &failure), must.Sprintf("%v is not a SendError", err))
	return failure
}

// fails sends a message, which must fail.
func fails(t *testing.T, c smtp.Config, m delivery.Message) *delivery.Error {
	t.Helper()
	return sendError(t, expect.Error(sender(t, c).Send(t.Context(), m)))
}

func TestSend_DeliversMail(t *testing.T) {
	t.Parallel()
	fake, c := setup(t, smtptest.Options{})
	got := expect.Value(sender(t, c).Send(t.Context(), message()))(t)
	test.EqOp(t, (delivery.Receipt{ProviderID: id + "@berth.example", Status: delivery.Sent}), got, test.Sprint("receipt"))
	mail := fake.Mails()[0]
	test.EqOp(t, "bounces@berth.example", mail.From, test.Sprintf("envelope %s → %v", mail.From, mail.To))
	test.True(t, cmp.Equal(mail.To, []string{"ann@mail.example"}),
		test.Sprintf("envelope %s → %v", mail.From, mail.To))
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
		test.EqOp(t, want, mail.Text(name), test.Sprint(name))
	}
	to := expect.Value(mail.Header.AddressList("To"))(t)
	test.EqOp(t, "Ännchen, \"Ann\"", to[0].Name, test.Sprintf("to %v", to))
	calendar := "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n"
	const inside = "mixed/alternative"
	utf8 := map[string]string{"charset": "UTF-8"}
	want := []smtptest.Part{
		{Inside: inside, Type: "text/plain", Params: utf8, Body: "Bis gleich!\n.\nEnde"},
		{Inside: inside, Type: "text/html", Params: utf8, Body: "<p>Bis <b>gleich</b>!</p>"},
		{
			Inside: inside, Type: "text/calendar", Body: calendar,
			Params: map[string]string{"charset": "UTF-8", "method": "REQUEST"},
		},
		{
			Inside: "mixed", Type: "application/ics", Params: map[string]string{"name": "invite.ics"},
			Disposition: "attachment", Filename: "invite.ics", Body: calendar,
		},
	}
	test.Eq(t, want, mail.Parts)
}

func TestSend_SendsTextOnly(t *testing.T) {
	t.Parallel()
	fake, c := setup(t, smtptest.Options{})
	m := delivery.Message{ID: message().ID, Channel: delivery.Email, To: "ann@mail.example", Subject: "Hi", Text: "Hello"}
	expect.OK(t)(sender(t, c).Send(t.Context(), m))
	mail := fake.Mails()[0]
	want := []smtptest.Part{{Type: "text/plain", Params: map[string]string{"charset": "UTF-8"}, Body: "Hello"}}
	test.Eq(t, want, mail.Parts, test.Cmp(cmpopts.IgnoreFields(smtptest.Part{}, "Body")))
	test.EqOp(t, `"Berth" <bounces@berth.example>`, mail.Text("From"), test.Sprint("from"))
	test.EqOp(t, "", mail.Header.Get("List-Unsubscribe"),
		test.Sprint("a mail without an unsubscribe link has a List-Unsubscribe header"))
}

// Text of tenants and members cannot add headers.
func TestSend_PreventsHeaderInjection(t *testing.T) {
	t.Parallel()
	fake, c := setup(t, smtptest.Options{})
	const evil = "x\r\nBcc: all@mail.example\r\n\r\nbody"
	m := message()
	m.Subject, m.ToName, m.From.Name, m.ReplyTo.Name = evil, evil, evil, evil
	s := sender(t, c)
	expect.OK(t)(s.Send(t.Context(), m))
	mail := fake.Mails()[0]
	test.EqOp(t, "", mail.Header.Get("Bcc"), test.Sprintf("%s", mail.Raw))
	must.SliceLen(t, 1, mail.To, must.Sprintf("%s", mail.Raw))
	test.SliceLen(t, 4, mail.Parts, test.Sprintf("%s", mail.Raw))
	for name, want := range map[string]struct {
		spoilt set
		kind   delivery.FailureKind
	}{
		"to":          {set{"To": "ann@mail.example>\r\nRCPT TO:<all@mail.example"}, delivery.Unregistered},
		"two":         {set{"To": "ann@mail.example, bob@mail.example"}, delivery.Unregistered},
		"empty":       {set{"To": ""}, delivery.Unregistered},
		"from":        {set{"From.Address": "hello@studio.example\r\nX: y"}, delivery.Misconfigured},
		"reply":       {set{"ReplyTo.Address": "desk"}, delivery.Misconfigured},
		"unsubscribe": {set{"Unsubscribe": "https://berth.example/\r\nX: y"}, delivery.Permanent},
		"plain http":  {set{"Unsubscribe": "http://berth.example/"}, delivery.Permanent},
	} {
		failure := sendError(t, expect.Error(s.Send(t.Context(), vary.From(message(), want.spoilt))))
		test.EqOp(t, want.kind, failure.Kind, test.Sprintf("%s: %v", name, failure))
	}
	test.EqOp(t, 1, len(fake.Mails()), test.Sprint("mails"))
}

// Receivers find that the mail is the domain's, whatever it consists of and whichever connection it takes. The address
// of the account, to which bounces go, stays that of the account.
func TestSend_SignsForADomain(t *testing.T) {
	t.Parallel()
	fake, c := setup(t, smtptest.Options{})
	key := expect.Value(rsa.GenerateKey(rand.Reader, 2048))(t)
	public := expect.Value(x509.MarshalPKIXPublicKey(key.Public()))(t)
	record := "v=DKIM1; k=rsa; p=" + base64.StdEncoding.EncodeToString(public)
	lookUp := func(name string) ([]string, error) {
		test.EqOp(t, "berth-1._domainkey.studio.example", name)
		return []string{record}, nil
	}
	s := sender(t, c)
	m := message()
	m.DKIM = &delivery.DKIM{
		Domain: "studio.example", Selector: "berth-1", Key: expect.Value(x509.MarshalPKCS8PrivateKey(key))(t),
	}
	for _, spare := range []func(){
		func() {}, func() { m.Calendar = nil }, func() { m.HTML = "" },
		func() { m.Unsubscribe, m.ReplyTo = "", delivery.Mailbox{} },
		fake.HangUp, // the mail is written to the dead connection first
	} {
		spare()
		expect.OK(t)(s.Send(t.Context(), m))
		mails := fake.Mails()
		mail := mails[len(mails)-1]
		test.Eq(t, []string{"studio.example"}, expect.Value(mail.Signers(lookUp))(t))
		test.EqOp(t, "bounces@berth.example", mail.From)
		test.EqOp(t, `Studio Süd <hello@studio.example>`, mail.Text("From"))
		mail.Raw = bytes.Replace(mail.Raw, []byte("To: "), []byte("Subject: another\nTo: "), 1)
		test.ErrorContains(
			t, expect.Error(mail.Signers(lookUp)), "signature did not verify", test.Sprint("with another subject"),
		)
	}
	m.DKIM.Key = []byte("none")
	test.EqOp(t, delivery.Misconfigured, sendError(t, expect.Error(s.Send(t.Context(), m))).Kind)
}

func TestSend_DoesNotSendExpiredMessage(t *testing.T) {
	t.Parallel()
	fake, c := setup(t, smtptest.Options{})
	m := message()
	m.ExpiresAt = now
	got := fails(t, c, m)
	test.EqOp(t, delivery.Permanent, got.Kind)
	test.EqOp(t, "EXPIRED", got.Code)
	test.EqOp(t, 0, fake.Connections())
}

func TestSend_UsesConfiguredSecurity(t *testing.T) {
	t.Parallel()
	account := smtptest.Options{Username: "berth", Password: "p4ss"}
	starttls := vary.From(account, set{"StartTLS": true})
	implicit := vary.From(account, set{"TLS": true})
	busy := vary.From(starttls, set{"Auth": "454 4.7.0 Temporary authentication failure"})
	useSTARTTLS, useTLS := set{"Security": smtp.StartTLS}, set{"Security": smtp.ImplicitTLS}
	for name, tc := range map[string]struct {
		server smtptest.Options
		config set
		want   delivery.FailureKind
		code   string
	}{
		"STARTTLS": {starttls, useSTARTTLS, "", ""},
		"default":  {starttls, set{"Security": ""}, "", ""},
		"TLS":      {implicit, useTLS, "", ""},
		"none":     {smtptest.Options{}, set{"Username": ""}, "", ""},
		"loopback": {account, nil, "", ""},

		"STARTTLS is not offered": {account, useSTARTTLS, delivery.Misconfigured, ""},
		"TLS is not offered":      {account, useTLS, delivery.Misconfigured, ""},
		"unknown authority, STARTTLS": {
			starttls, set{"Security": smtp.StartTLS, "TLS": nil}, delivery.Misconfigured, "CERTIFICATE",
		},
		"unknown authority, TLS": {
			implicit, set{"Security": smtp.ImplicitTLS, "TLS": nil}, delivery.Misconfigured, "CERTIFICATE",
		},
		"wrong password": {
			starttls, set{"Security": smtp.StartTLS, "Password": "x"}, delivery.Misconfigured, "535",
		},
		"temporary failure": {busy, useSTARTTLS, delivery.Transient, "454"},
		"no authentication": {
			starttls, set{"Security": smtp.StartTLS, "Username": ""}, delivery.Misconfigured, "530 5.7.0",
		},
		"authentication is not offered": {smtptest.Options{StartTLS: true}, useSTARTTLS, delivery.Misconfigured, ""},
		"rejected": {
			smtptest.Options{Greeting: "554 No SMTP service here"}, nil, delivery.Misconfigured, "554"},
		"rejected for now": {
			smtptest.Options{Greeting: "421 Too many connections"}, nil, delivery.Transient, "421"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake, c := setup(t, tc.server)
			c.Username, c.Password = "berth", "p4ss"
			_, err := sender(t, vary.From(c, tc.config)).Send(t.Context(), message())
			if tc.want == "" {
				must.NoError(t, err)
				must.SliceLen(t, 1, fake.Mails())
				return
			}
			got := sendError(t, err)
			test.EqOp(t, tc.want, got.Kind)
			test.EqOp(t, tc.code, got.Code)
			test.EqOp(t, 0, len(fake.Mails()), test.Sprint("it was sent"))
		})
	}
}

// The codes are from RFC 5321 section 4.2 and RFC 3463.
func TestSend_ClassifiesErrors(t *testing.T) {
	t.Parallel()
	type r = smtptest.Reaction
	is := func(kind delivery.FailureKind, code string) delivery.Error {
		return delivery.Error{Kind: kind, Code: code}
	}
	for name, tc := range map[string]struct {
		reaction r
		want     delivery.Error
	}{
		"no such user":        {r{Rcpt: "550 5.1.1 <ann@mail.example> no such user"}, is(delivery.Unregistered, "550 5.1.1")},
		"no such user, plain": {r{Rcpt: "550 no such user"}, is(delivery.Unregistered, "550")},
		"no such system":      {r{Rcpt: "550 5.1.2 no such host"}, is(delivery.Unregistered, "550 5.1.2")},
		"bad syntax":          {r{Rcpt: "501 5.1.3 bad address"}, is(delivery.Unregistered, "501 5.1.3")},
		"moved":               {r{Rcpt: "551 5.1.6 moved"}, is(delivery.Unregistered, "551 5.1.6")},
		"moved, plain":        {r{Rcpt: "551 User not local"}, is(delivery.Unregistered, "551")},
		"bad name, plain":     {r{Rcpt: "553 mailbox name not allowed"}, is(delivery.Unregistered, "553")},
		"told with the end":   {r{End: "550 5.1.1 no such user"}, is(delivery.Unregistered, "550 5.1.1")},
		"told with the data":  {r{Data: "550 5.1.1 no such user"}, is(delivery.Unregistered, "550 5.1.1")},
		"only at the end":     {r{End: "550 rejected"}, is(delivery.Permanent, "550")},
		"not authorized":      {r{Rcpt: "550 5.7.0 denied"}, is(delivery.Permanent, "550 5.7.0")},
		"not authentic":       {r{End: "550 5.7.26 fails DMARC"}, is(delivery.Permanent, "550 5.7.26")},
		"blocked":             {r{Rcpt: "554 5.7.1 blocked"}, is(delivery.Permanent, "554 5.7.1")},
		"no route":            {r{Rcpt: "550 5.4.4 cannot route"}, is(delivery.Permanent, "550 5.4.4")},
		"full, plain":         {r{Rcpt: "552 mailbox full"}, is(delivery.Permanent, "552")},
		"no such sender":      {r{Mail: "553 5.1.8 sender's domain"}, is(delivery.Misconfigured, "553 5.1.8")},
		"who is that":         {r{Mail: "550 5.1.1 no such sender"}, is(delivery.Misconfigured, "550 5.1.1")},
		"later, plain":        {r{Rcpt: "450 mailbox busy"}, is(delivery.Transient, "450")},
		"going down later":    {r{Rcpt: "421 4.3.2 going down"}, is(delivery.Transient, "421 4.3.2")},
		"full at the end":     {r{End: "451 4.3.0 out of memory"}, is(delivery.Transient, "451 4.3.0")},
		"disabled":            {r{Rcpt: "550 5.2.1 disabled"}, is(delivery.Unregistered, "550 5.2.1")},
		"null MX":             {r{Rcpt: "556 5.1.10 no mail here"}, is(delivery.Unregistered, "556 5.1.10")},
		"policy":              {r{Rcpt: "550 5.7.1 relaying denied"}, is(delivery.Permanent, "550 5.7.1")},
		"mailbox full":        {r{Rcpt: "552 5.2.2 full"}, is(delivery.Permanent, "552 5.2.2")},
		"full for now":        {r{Rcpt: "452 4.2.2 full"}, is(delivery.Transient, "452 4.2.2")},
		"greylisted":          {r{Rcpt: "451 4.7.1 come back later"}, is(delivery.Transient, "451 4.7.1")},
		"sender refused":      {r{Mail: "550 5.7.1 not you"}, is(delivery.Misconfigured, "550 5.7.1")},
		"sender limited":      {r{Mail: "450 4.7.0 slow down"}, is(delivery.Transient, "450 4.7.0")},
		"no data":             {r{Data: "554 5.5.1 no"}, is(delivery.Permanent, "554 5.5.1")},
		"spam":                {r{End: "554 5.7.1 spam"}, is(delivery.Permanent, "554 5.7.1")},
		"too big":             {r{End: "552 5.3.4 too big"}, is(delivery.Permanent, "552 5.3.4")},
		"disk full":           {r{End: "452 4.3.1 disk full"}, is(delivery.Transient, "452 4.3.1")},
		"going down":          {r{Mail: "421 4.3.2 going down"}, is(delivery.Transient, "421 4.3.2")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake, c := setup(t, smtptest.Options{})
			fake.React(func(string) smtptest.Reaction { return tc.reaction })
			s := sender(t, c)
			got := sendError(t, expect.Error(s.Send(t.Context(), message())))
			test.Eq(t, tc.want, *got, test.Cmp(cmpopts.IgnoreFields(delivery.Error{}, "Reason")))
			test.NotEqOp(t, "", got.Reason, test.Sprintf("no reason, or the reason contains the address: %v", got))
			test.StrNotContains(t, got.Error(), "ann@",
				test.Sprintf("no reason, or the reason contains the address: %v", got))
			fake.React(func(string) smtptest.Reaction { return smtptest.Reaction{} })
			test.NoError(t, expect.Error(s.Send(t.Context(), message())), test.Sprint("the next mail"))
		})
	}
}

// A complete mail without an answer may have been accepted, and here it has been.
func TestSend_WithoutAnswerIsUnknown(t *testing.T) {
	t.Parallel()
	for name, reaction := range map[string]smtptest.Reaction{"timeout": {Silent: true}, "cut": {Drop: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake, c := setup(t, smtptest.Options{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if reaction.Silent {
				reaction.Then = cancel // like a timeout at this moment
			}
			fake.React(func(string) smtptest.Reaction { return reaction })
			test.EqOp(t, delivery.Unknown, sendError(t, expect.Error(sender(t, c).Send(ctx, message()))).Kind)
			test.EqOp(t, 1, len(fake.Mails()), test.Sprint("mails"))
		})
	}
}

// Before its end a mail is not accepted, whatever breaks.
func TestSend_UnfinishedMailIsNotSent(t *testing.T) {
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
				return // it was faster than the context
			}
			got := sendError(t, err)
			test.False(
				t, got.Kind == delivery.Transient && len(fake.Mails()) != 0,
				test.Sprintf("said to be retried, but it was accepted: %v", err),
			)
			test.False(t, got.Kind != delivery.Transient && got.Kind != delivery.Unknown, test.Sprintf("%v", err))
		})
	}
}

func TestSend_WithoutConnectionIsTransient(t *testing.T) {
	t.Parallel()
	fake, c := setup(t, smtptest.Options{})
	there := c
	there.Host, there.Port = "127.0.0.1", 1 // not a port that was just closed, which could be reused
	test.EqOp(t, delivery.Transient, fails(t, there, message()).Kind, test.Sprint("refused connection"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := sendError(t, expect.Error(sender(t, c).Send(ctx, message())))
	test.EqOp(t, delivery.Transient, got.Kind, test.Sprintf("cancelled before: %v", got))
	test.SliceEmpty(t, fake.Mails(), test.Sprintf("cancelled before: %v", got))
}

func TestSend_ReusesConnections(t *testing.T) {
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
		expect.OK(t)(s.Send(t.Context(), m))
		must.EqOp(t, want, fake.Connections(), must.Sprintf("connections, want %d", want))
	}
	send(1)
	send(1)
	fake.HangUp() // a dead connection is noticed before the mail is sent
	send(2)
	clock.Lock()
	at = at.Add(time.Minute)
	clock.Unlock()
	send(3)
	s.Close()
	send(4)

	c.MaxIdle = -1
	s = sender(t, c)
	send(5)
	send(6)
	test.EqOp(t, 7, len(fake.Mails()), test.Sprint("mails"))
}

func TestSend_ConcurrentMails(t *testing.T) {
	t.Parallel()
	fake, c := setup(t, smtptest.Options{})
	s := sender(t, c)
	const many = 32
	var all sync.WaitGroup
	for range many {
		all.Go(func() {
			test.NoError(t, expect.Error(s.Send(t.Context(), message())))
		})
	}
	all.Wait()
	test.EqOp(t, many, len(fake.Mails()), test.Sprint("mails"))
}

func TestNew_RejectsInvalidConfig(t *testing.T) {
	t.Parallel()
	good := smtp.Config{Host: "mail.example", From: delivery.Mailbox{Address: "a@b.example"}}
	expect.OK(t)(smtp.New(good))
	for name, spoilt := range map[string]set{
		"no host":     {"Host": ""},
		"a socket":    {"Host": "unix:///run/docker.sock"},
		"no sender":   {"From.Address": "berth"},
		"no security": {"Security": "maybe"},
		"a port":      {"Port": 70_000},
	} {
		test.Error(t, expect.Error(smtp.New(vary.From(good, spoilt))), test.Sprintf("%s: accepted", name))
	}
}

func BenchmarkSend(b *testing.B) {
	fake := expect.Value(smtptest.Start(smtptest.Options{}))(b)
	b.Cleanup(fake.Close)
	s := expect.Value(smtp.New(smtp.Config{
		Host: fake.Host, Port: fake.Port, Security: smtp.Plaintext,
		From: delivery.Mailbox{Address: "bounces@berth.example"}, MaxIdle: 32, Now: func() time.Time { return now },
	}))(b)
	b.Cleanup(s.Close)
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			test.NoError(b, expect.Error(s.Send(b.Context(), message())))
		}
	})
}

// A public dialer never connects to a server inside the network, whatever its name, and the error does not reveal
// whether there is one.
func TestSend_DoesNotReachPrivateServer(t *testing.T) {
	t.Parallel()
	fake, c := setup(t, smtptest.Options{})
	expect.OK(t)(sender(t, c).Send(t.Context(), message()))
	c.Dialer = provider.PublicDialer()
	for _, host := range []string{c.Host, "localhost", "169.254.169.254"} {
		c.Host = host
		_, err := sender(t, c).Send(t.Context(), message())
		got := sendError(t, err)
		test.EqOp(t, delivery.Misconfigured, got.Kind)
		test.EqOp(t, "PRIVATE_ADDRESS", got.Code)
		test.StrNotContains(t, got.Error(), host)
	}
	test.EqOp(t, 1, len(fake.Mails()), test.Sprint("mails"))
}
