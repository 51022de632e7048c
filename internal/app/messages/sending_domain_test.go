package messages_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/provider"
	"github.com/berthhq/berth/internal/provider/smtp/smtptest"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/sending"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
	"github.com/berthhq/berth/internal/worker"
)

// domainStudio is a studio whose mails can come from a domain of its own.
type domainStudio struct{ *messagetest.Servers }

func newDomainStudio(t *testing.T, change ...func(*worker.Config, *app.Config)) domainStudio {
	t.Helper()
	return domainStudio{messagetest.WithServers(t, change...)}
}

// set sets the address from which the studio's mails come; none if it is empty.
func (d domainStudio) set(address string) (messages.Senders, error) {
	return d.App.Messages.UpdateNotificationSenders(d.T.Context(), d.Owner, nil, func(s *messages.Senders) {
		if s.Domain = nil; address != "" {
			s.Domain = &sending.Domain{Address: address}
		}
	})
}

func (d domainStudio) verify() (messages.Senders, error) {
	return d.App.Messages.VerifySendingDomain(d.T.Context(), d.Owner)
}

// publish publishes the records of a domain, or removes them.
func (d domainStudio) publish(s messages.Senders, there bool) {
	for _, r := range s.Domain.Records() {
		if d.DNS.Set(r.Name); there {
			d.DNS.Set(r.Name, r.Value)
		}
	}
}

// verified lets the studio have a verified domain.
func (d domainStudio) verified() messages.Senders {
	d.T.Helper()
	d.publish(expect.Value(d.set("hello@studio.com"))(d.T), true)
	return expect.Value(d.verify())(d.T)
}

// check looks up the domain after a time, as a node does.
func (d domainStudio) check(after time.Duration) messages.Senders {
	d.T.Helper()
	d.Clock.Advance(after)
	d.NoError(d.App.Messages.CheckDomain(d.T.Context(), d.Tenant))
	return expect.Value(d.App.Messages.GetNotificationSenders(d.T.Context(), d.Owner))(d.T)
}

// mailTo books a place for a new member and returns the mail about it, and who signed it.
func (d domainStudio) mailTo(name string) (smtptest.Mail, string) {
	d.T.Helper()
	who := d.AddReachable(name)
	d.RemoveDevices(who)
	d.MustPlace(who, d.SessionAt(d.Clock.Now().Add(48*time.Hour)))
	d.Deliver()
	mails := d.Mail.Mails()
	at := slices.IndexFunc(mails, func(m smtptest.Mail) bool { return m.To[0] == strings.ToLower(name)+"@example.com" })
	must.True(d.T, at >= 0, must.Sprint("no mail to ", name))
	mail, lookUp := mails[at], provider.TXT(d.DNS.Address)
	return mail, strings.Join(expect.Value(mail.Signers(func(name string) ([]string, error) {
		return lookUp(d.T.Context(), name)
	}))(d.T), " ")
}

// Mails come from a domain once its records are there: signed, with HTML of the tenant's own, and without the frame.
// The sending quota counts them as before. When the records have been gone for three days, mails come from the
// platform's address again, with its frame and without that HTML, and the owners are told. None is lost.
func TestSendingDomain_IsUsedWhileItIsVerified(t *testing.T) {
	t.Parallel()
	p := newDomainStudio(t, limited(notify.SendingLimits{delivery.Email: {Total: 100}}))
	const platform, own, frame = "<hello@berth.example>", "<Hello@studio.com>", "through Berth’s account"
	html := content.Template{
		Topic: confirmed, Channel: email, Locale: "en", Subject: "Booked", Body: "Hello {{.Name}}", HTML: "<b>{{.Name}}</b>",
	}
	save := func() error {
		_, err := p.App.Messages.UpdateNotificationTemplate(t.Context(), p.Owner, html, nil)
		return err
	}
	wantMail := func(name, from, signer string) {
		t.Helper()
		mail, signed := p.mailTo(name)
		part, _ := mail.Part("text/html")
		test.StrHasSuffix(t, from, mail.Text("From"))
		test.EqOp(t, signer, signed)
		test.EqOp(t, "hello@berth.example", mail.From, test.Sprint("bounces"))
		test.EqOp(t, from == platform, contains(part.Body, frame))
		test.EqOp(t, from == own, part.Body == "<b>"+name+"</b>", test.Sprint(part.Body))
	}
	senders := expect.Value(p.set("Hello@Studio.com"))(t)
	wantMail("Ana", platform, "")
	expect.Reason(t, fault.TemplateHTML)(save())

	p.publish(senders, true)
	p.Clock.Advance(time.Second) // entries of the audit log of one instant have no order
	test.EqOp(t, p.Clock.Now(), expect.Value(p.verify())(t).Domain.VerifiedAt)
	must.NoError(t, save())
	wantMail("Mia", own, "studio.com")
	test.EqOp(t, 2, expect.Value(p.App.Messages.ListSendingQuotas(t.Context(), p.Owner))(t)[0].Used)

	p.publish(senders, false)
	missing := p.check(24 * time.Hour)
	test.EqOp(t, p.Clock.Now(), missing.Domain.MissingSince)
	test.False(t, p.check(71*time.Hour).Domain.VerifiedAt.IsZero(), test.Sprint("lapsed too soon"))
	p.check(time.Hour)
	p.Deliver()
	mails := p.Mail.Mails()
	told := mails[len(mails)-1]
	test.Eq(t, []string{"olga@example.com"}, told.To)
	test.EqOp(t, "Emails no longer come from Hello@studio.com", told.Text("Subject"))
	p.publish(senders, true)
	wantMail("Noa", platform, "")
	p.check(24 * time.Hour)
	wantMail("Lea", platform, "")

	expect.OK(t)(p.verify())
	wantMail("Zoe", own, "studio.com")
	const want = "notification_senders.updated sending_domain.verified sending_domain.lapsed sending_domain.verified"
	test.EqOp(t, want, p.Text(`
select string_agg(action, ' ' order by id) from audit_entries
where action in ('notification_senders.updated', 'sending_domain.verified', 'sending_domain.lapsed')`))
}

// A tenant whose mails come from an account of its own is not told that the domain lapses.
func TestSendingDomain_LapsesInSilenceBehindAnAccount(t *testing.T) {
	t.Parallel()
	p := newDomainStudio(t)
	p.publish(p.verified(), false)
	setMail(p.Studio, &messages.SMTPServer{Host: "mail.harbour.example", Port: 587, From: "hello@harbour.example"})
	test.True(t, p.check(23*time.Hour).Domain.MissingSince.IsZero(), test.Sprint("looked up too soon"))
	p.check(time.Hour)
	test.True(t, p.check(72*time.Hour).Domain.VerifiedAt.IsZero())
	test.EqOp(t, 0, p.Count(`select count(*) from notices`))
	test.Eq(t, map[string]any{"domain": "hello@studio.com"}, p.LastAudit("sending_domain.lapsed"))
}

// What is wrong with the records is said of the first one that is not as it should be. Verifying twice changes
// nothing.
func TestSendingDomain_NeedsBothRecords(t *testing.T) {
	t.Parallel()
	p := newDomainStudio(t)
	expect.Reason(t, fault.DomainNotFound)(p.verify())
	senders := expect.Value(p.set("hello@studio.com"))(t)
	proof, key := senders.Domain.Records()[0], senders.Domain.Records()[1]
	wantError := func(want string) {
		t.Helper()
		_, err := p.verify()
		test.EqOp(t, want, faulttest.Text(err))
	}
	wantError("DNS_RECORD_MISSING @senders.domain.records[0] name=_berth.studio.com")
	p.DNS.Set(proof.Name, "v=spf1 -all", proof.Value)
	wantError("DNS_RECORD_MISSING @senders.domain.records[1] name=" + key.Name)
	p.DNS.Set(key.Name, proof.Value)
	wantError("DNS_RECORD_DIFFERENT @senders.domain.records[1] found=" + proof.Value + " name=" + key.Name)
	p.DNS.Break(true)
	wantError("DNS_UNAVAILABLE @senders.domain.records[0] name=_berth.studio.com")
	p.DNS.Break(false)
	p.DNS.Set(key.Name, key.Value)
	first := expect.Value(p.verify())(t)
	p.Clock.Advance(time.Hour)
	test.EqOp(t, first.Domain.VerifiedAt, expect.Value(p.verify())(t).Domain.VerifiedAt)
	test.EqOp(t, 1, p.Count(`select count(*) from audit_entries where action = 'sending_domain.verified'`))
}

// The proof and the key are of one tenant and domain. Another address at the domain needs no other ones.
func TestSendingDomain_IsVerifiedForOneTenantAndDomain(t *testing.T) {
	t.Parallel()
	p := newDomainStudio(t)
	first := p.verified()
	desk := expect.Value(p.set("desk@STUDIO.com"))(t)
	test.EqOp(t, "desk@studio.com", desk.Domain.Address)
	test.Eq(t, first.Domain.Records(), desk.Domain.Records())
	test.EqOp(t, first.Domain.VerifiedAt, desk.Domain.VerifiedAt)

	other := domainStudio{&messagetest.Servers{Studio: p.OtherTenant("Dock"), DNS: p.DNS}}
	theirs := expect.Value(other.set("hello@studio.com"))(t)
	expect.Reason(t, fault.DNSRecordDifferent)(other.verify())
	p.DNS.Set("_berth.studio.com", first.Domain.Records()[0].Value, theirs.Domain.Records()[0].Value)
	p.DNS.Set(theirs.Domain.Records()[1].Name, theirs.Domain.Records()[1].Value)
	expect.OK(t)(other.verify())
	expect.OK(t)(p.verify())

	moved := expect.Value(p.set("hello@studio.org"))(t)
	test.True(t, moved.Domain.VerifiedAt.IsZero())
	test.True(t, moved.Domain.CheckAt.IsZero())
	for i, r := range moved.Domain.Records() {
		test.NotEqOp(t, first.Domain.Records()[i].Value, r.Value)
	}
	test.Nil(t, expect.Value(p.set(""))(t).Domain)
	for _, address := range []string{"hello@berth.example", "hello@127.0.0.1", "hello@co.uk"} {
		expect.Reason(t, fault.DomainInvalid)(p.set(address))
	}
}

// whileLooking returns a change that calls a function whenever records are looked up.
func whileLooking(during *func()) func(*worker.Config, *app.Config) {
	return func(_ *worker.Config, ac *app.Config) {
		lookUp := ac.LookupTXT
		ac.LookupTXT = func(ctx context.Context, name string) ([]string, error) {
			(*during)()
			return lookUp(ctx, name)
		}
	}
}

// The records are looked up outside of the transaction. What is found counts only for the domain that was looked up.
func TestSendingDomain_ChangedMeanwhile(t *testing.T) {
	t.Parallel()
	during := func() {}
	p := newDomainStudio(t, whileLooking(&during))
	for _, look := range []func() error{
		func() error { _, err := p.verify(); return err },
		func() error {
			p.Clock.Advance(24 * time.Hour)
			return p.App.Messages.CheckDomain(t.Context(), p.Tenant)
		},
	} {
		p.verified()
		during = func() {
			during = func() {}
			expect.OK(t)(p.set("hello@studio.org"))
		}
		err := look()
		test.True(t, err == nil || fault.ReasonOf(err) == fault.ETagMismatch, test.Sprint(err))
		now := expect.Value(p.App.Messages.GetNotificationSenders(t.Context(), p.Owner))(t)
		test.EqOp(t, "studio.org", now.Domain.Name())
		test.True(t, now.Domain.VerifiedAt.IsZero(), test.Sprintf("%+v", now.Domain))
	}
}

// A sweep sets the alarm for the next look-up. A node that is going down does not say that the records are gone.
func TestSendingDomain_IsLookedUpRegularly(t *testing.T) {
	t.Parallel()
	during := func() {}
	p := newDomainStudio(t, whileLooking(&during))
	p.verified()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.App.Messages.RunDomainChecks(ctx, slog.New(slog.DiscardHandler))
	}()
	p.Clock.Advance(24 * time.Hour)
	p.Sweep()
	next := p.Clock.Now().Add(24 * time.Hour)
	testkit.Eventually(t, "the node looks", func() bool {
		return p.Count(`select count(*) from notification_senders where domain_check_at = $1`, next) == 1
	})
	stop()
	<-done
	p.Clock.Set(next)
	down, stop := context.WithCancel(t.Context())
	during = stop
	test.ErrorIs(t, p.App.Messages.CheckDomain(down, p.Tenant), context.Canceled)
	test.True(t, expect.Value(p.App.Messages.GetNotificationSenders(t.Context(), p.Owner))(t).Domain.MissingSince.IsZero())
}
