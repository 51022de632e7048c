package worker_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/mails"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/provider/smtp"
	"github.com/berthhq/berth/internal/provider/smtp/smtptest"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
	"github.com/berthhq/berth/internal/worker"
)

// post is a studio whose platform has a mail server.
type post struct {
	*messagetest.Studio
	server *smtptest.Server
	sender worker.Sender
}

func withPost(t *testing.T) *post {
	t.Helper()
	p := &post{Studio: messagetest.New(t), server: expect.Value(smtptest.Start(smtptest.Options{}))(t)}
	t.Cleanup(p.server.Close)
	p.sender = expect.Value(smtp.New(smtp.Config{
		Host: p.server.Host, Port: p.server.Port, Security: smtp.Plaintext, HostName: "berth.example",
		From: delivery.Mailbox{Address: "hello@berth.example"}, Now: p.Clock.Now,
	}))(t)
	return p
}

// on returns what sends mails on a node.
func (p *post) on(node *messagetest.Studio) *worker.PlatformMails {
	p.T.Helper()
	return expect.Value(worker.NewPlatformMails(worker.PlatformMailConfig{
		Mails: node.App.Mails, Sender: func() worker.Sender { return p.sender }, Log: slog.New(slog.DiscardHandler),
		Now: p.Clock.Now,
	}))(p.T)
}

// queue queues a code, which is good for ten minutes.
func (p *post) queue(about tenant.UUID, code string) {
	p.T.Helper()
	to := mails.Queue{Seals: p.Config().Seals}
	t := engine.Transaction{Name: "test.queue"}
	p.NoError(engine.Exec(p.T.Context(), p.App.Engine, p.Owner, t, func(_ context.Context, tx *engine.Tx) error {
		to.Add(tx, mails.Mail{
			PlatformMail: content.PlatformMail{Kind: content.MailCode, To: "mia@example.com", Name: "Mia", Code: code},
			About:        about, ExpiresAt: tx.Now.Add(10 * time.Minute),
		})
		return nil
	}))
}

func (p *post) waiting() int {
	p.T.Helper()
	return p.Count(`select count(*) from platform_mails`)
}

func (p *post) deliver() {
	p.T.Helper()
	p.NoError(p.on(p.Studio).Deliver(p.T.Context(), p.Tenant))
}

func newCode() tenant.UUID { return testkit.NewID[tenant.CodeID]().UUID }

// Each mail leaves once, whichever node takes it, and is gone then.
func TestPlatformMails_LeaveOnceOnTwoNodes(t *testing.T) {
	t.Parallel()
	p := withPost(t)
	const many = 45 // more than are taken at once
	for range many {
		p.queue(newCode(), "123456")
	}
	var all sync.WaitGroup
	for _, node := range []*messagetest.Studio{p.Studio, p.OtherNode()} {
		sender := p.on(node)
		all.Go(func() { test.NoError(t, sender.Deliver(t.Context(), p.Tenant)) })
	}
	all.Wait()
	seen := make(map[string]bool)
	for _, m := range p.server.Mails() {
		id := m.Header.Get("Message-Id")
		test.False(t, seen[id], test.Sprintf("%s came twice", id))
		seen[id] = true
	}
	test.EqOp(t, many, len(seen))
	test.EqOp(t, 0, p.waiting())

	mail := p.server.Mails()[0]
	test.Eq(t, []string{"mia@example.com"}, mail.To)
	test.EqOp(t, "hello@berth.example", mail.From)
	test.EqOp(t, "Your code to sign in", mail.Text("Subject"))
	text, _ := mail.Part("text/plain")
	test.StrContains(t, text.Body, "123456")
	test.StrContains(t, text.Body, "Harbour Yoga")
}

// A server that is busy gets the mail later, until it is worth nothing any more.
func TestPlatformMails_TryAgainUntilTheyExpire(t *testing.T) {
	t.Parallel()
	p := withPost(t)
	var busy atomic.Bool
	busy.Store(true)
	p.server.React(func(string) smtptest.Reaction {
		if busy.Load() {
			return smtptest.Reaction{Mail: "451 4.3.2 try again later"}
		}
		return smtptest.Reaction{}
	})
	p.queue(newCode(), "111111")
	p.deliver()
	test.EqOp(t, 1, p.waiting())
	test.SliceEmpty(t, p.server.Mails())
	busy.Store(false)
	p.Clock.Advance(5 * time.Second) // the first pause is at most that long
	p.deliver()
	test.EqOp(t, 0, p.waiting())
	test.SliceLen(t, 1, p.server.Mails())

	busy.Store(true)
	p.queue(newCode(), "222222")
	for range 40 {
		p.deliver()
		p.Clock.Advance(20 * time.Second)
	}
	busy.Store(false)
	p.deliver()
	test.EqOp(t, 0, p.waiting(), test.Sprint("its time is over"))
	test.SliceLen(t, 1, p.server.Mails())
}

// An address that does not exist is not tried again.
func TestPlatformMails_EndWhenTheyAreRefused(t *testing.T) {
	t.Parallel()
	p := withPost(t)
	p.server.React(func(string) smtptest.Reaction { return smtptest.Reaction{Rcpt: "550 5.1.1 no such user"} })
	p.queue(newCode(), "123456")
	p.deliver()
	test.EqOp(t, 0, p.waiting())
	test.SliceEmpty(t, p.server.Mails())
}

// A node that ends while it sends loses no mail: another takes it when the lease is over, and not before.
func TestPlatformMails_AreTakenAgainAfterTheLease(t *testing.T) {
	t.Parallel()
	p := withPost(t)
	p.queue(newCode(), "123456")
	must.SliceLen(t, 1, expect.Value(p.App.Mails.Take(t.Context(), p.Tenant))(t).Out) // and the node ends
	p.deliver()
	test.SliceEmpty(t, p.server.Mails())
	p.Clock.Advance(2 * time.Minute)
	p.deliver()
	test.SliceLen(t, 1, p.server.Mails())
	test.EqOp(t, 0, p.waiting())
}

func TestPlatformMails_LeaveWhenTheyAreDueUnlessWithdrawn(t *testing.T) {
	t.Parallel()
	p := withPost(t)
	first, second := newCode(), newCode()
	p.queue(first, "111111")
	p.queue(second, "222222")
	to := mails.Queue{Seals: p.Config().Seals}
	p.NoError(engine.Exec(t.Context(), p.App.Engine, p.Owner, engine.Transaction{Name: "test.withdraw"},
		func(_ context.Context, tx *engine.Tx) error {
			to.Withdraw(tx, first)
			to.Add(tx, mails.Mail{
				PlatformMail: content.PlatformMail{Kind: content.MailCode, To: "mia@example.com", Code: "333333"},
				About:        first,
				DueAt:        tx.Now.Add(time.Hour), ExpiresAt: tx.Now.Add(2 * time.Hour),
			})
			return nil
		}))
	p.deliver()
	must.SliceLen(t, 1, p.server.Mails())
	test.StrContains(t, string(p.server.Mails()[0].Raw), "222222")
	p.Clock.Advance(time.Hour)
	p.deliver()
	must.SliceLen(t, 2, p.server.Mails())
	test.StrContains(t, string(p.server.Mails()[1].Raw), "333333")
}

// What a tenant's staff can read has nothing of a mail: neither its own mail server and templates, nor the delivery
// log, the audit log and the event log. It counts toward no quota of the tenant.
func TestPlatformMails_AreNotTheTenants(t *testing.T) {
	t.Parallel()
	p := withPost(t)
	own := expect.Value(smtptest.Start(smtptest.Options{}))(t)
	t.Cleanup(own.Close)
	expect.OK(t)(p.App.Messages.UpdateNotificationSenders(t.Context(), p.Owner, nil, func(s *messages.Senders) {
		s.SMTP = &messages.SMTPServer{Host: own.Host, Port: own.Port, From: "desk@harbour.example"}
	}))
	hours := p.Count(`select count(*) from sending_counts`)
	p.queue(newCode(), "918273")
	tables := func() {
		for table := range strings.FieldsSeq(p.Text(`select string_agg(relname, ' ') from pg_class
			where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`)) {
			for _, secret := range []string{"918273", "mia@example.com"} {
				test.EqOp(t, 0, p.Count(`select count(*) from `+table+` t where strpos(t::text, $1) > 0`, secret),
					test.Sprintf("%s is in %s", secret, table))
			}
		}
	}
	tables()
	p.deliver()
	tables()
	test.SliceLen(t, 1, p.server.Mails())
	test.SliceEmpty(t, own.Mails())
	test.SliceEmpty(t, p.Provider.Take())
	test.EqOp(t, hours, p.Count(`select count(*) from sending_counts`))
	test.SliceEmpty(t, expect.Value(p.App.Messages.ListNotificationDeliveries(t.Context(), p.Owner,
		messages.DeliveryQuery{Limit: 9}))(t))
	test.EqOp(t, 0, p.Count(`select count(*) from notices where topic = $1`, notify.ContactCode))
}

// Run sends what it is told of at once, and what a sweep found.
func TestPlatformMails_RunSendsWhatIsDue(t *testing.T) {
	t.Parallel()
	p := withPost(t)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { p.on(p.Studio).Run(ctx) })
	p.queue(newCode(), "123456")
	p.Sweep()
	testkit.Eventually(t, "the mail left", func() bool { return p.waiting() == 0 })
	stop()
	running.Wait()
	test.SliceLen(t, 1, p.server.Mails())
}
