package worker_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/provider/twilio"
	"github.com/berthhq/berth/internal/provider/twilio/twiliotest"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
	"github.com/berthhq/berth/internal/worker"
)

// A tenant with an account of its own sends by that and no other, as soon as it has one and as it stands. Reports on
// its messages are signed by that account's token. What is wrong with it is its own trouble.
func TestAccounts_TenantsSendThroughTheirOwnAccounts(t *testing.T) {
	t.Parallel()
	own := twiliotest.Start()
	t.Cleanup(own.Close)
	own.AccountSID, own.AuthToken = "AC"+strings.Repeat("0b", 16), strings.Repeat("0dd5", 8)
	var p *messagetest.Servers
	p = messagetest.WithServers(t, func(wc *worker.Config, ac *app.Config) {
		wc.Open = func(_ context.Context, in tenant.TenantID, provider string, s messages.Senders) (worker.Sender, error) {
			if provider != messages.ProviderTwilio || s.Twilio == nil {
				return nil, errors.New("no such account")
			}
			return twilio.New(twilio.Config{
				AccountSID: s.Twilio.AccountSID, AuthToken: s.Twilio.AuthToken, From: s.Twilio.From, BaseURL: own.URL,
				StatusCallback: p.App.Messages.TwilioStatusURL(in), Timeout: p.Timeout, Now: ac.Now,
			})
		}
	})
	other := p.OtherTenant("Dock Pilates")
	account := func(token, from string) {
		t.Helper()
		expect.OK(p.T)(p.App.Messages.UpdateNotificationSenders(p.T.Context(), p.Owner, nil, func(s *messages.Senders) {
			s.Twilio = &messages.TwilioAccount{AccountSID: own.AccountSID, AuthToken: token, From: from}
		}))
	}
	book := func(name string) {
		t.Helper()
		p.MustPlace(p.AddTextOnly(name), p.SessionAt(testkit.Noon.Add(48*time.Hour)))
		later(p.Studio, time.Second)
	}
	book("Mia")
	account(strings.Repeat("bad0", 8), "+15005550001")
	book("Noa")
	p.WantLog("a token that is wrong", confirmed, "SMS QUEUED", "SMS FAILED MISCONFIGURED")
	account(own.AuthToken, "+15005550001")
	book("Zoe")
	account(own.AuthToken, "+15005550002")
	book("Leo")
	test.EqOp(t, 1, len(p.Twilio.Messages()), test.Sprint("messages by the platform's account"))
	sent := own.Messages()
	must.SliceLen(t, 2, sent)
	must.EqOp(t, "+15005550001", sent[0].From)
	must.EqOp(t, "+15005550002", sent[1].From)
	// The neighbour has none.
	who := other.AddReachable("Ida")
	other.RemoveDevices(who)
	expect.OK(other.T)(other.App.Messages.UpdateNotificationPreferences(
		other.T.Context(), who, messages.PreferencesEdit{Chosen: notify.Preferences{{Topic: confirmed, Channel: sms}: true}},
	))
	other.MustPlace(who, other.SessionAt(testkit.Noon.Add(48*time.Hour)))
	deliver(other)
	test.EqOp(t, 2, len(p.Twilio.Messages()), test.Sprint("messages by the platform's account"))
	// The platform's token signs nothing of the tenant's, and the tenant's nothing of the platform's.
	test.EqOp(t, http.StatusNoContent, p.Call(own.Update(p.T.Context(), sent[1], "delivered", 0)).Code,
		test.Sprint("signed by the tenant's account"))
	test.EqOp(t, http.StatusNotFound, p.Call(p.Twilio.Update(p.T.Context(), sent[1], "failed", 30005)).Code,
		test.Sprint("signed by the platform's"))
	test.EqOp(t, http.StatusNotFound, p.Call(
		own.Update(p.T.Context(), p.Twilio.Messages()[1], "failed", 30005),
	).Code, test.Sprint("the neighbour's message, signed by the tenant's account"))
	p.WantLog("in the end", confirmed, "SMS QUEUED", "SMS FAILED MISCONFIGURED", "SMS QUEUED", "SMS DELIVERED")
	// What could go no other way has waited for the account to be mended.
	later(p.Studio, 10*time.Minute)
	sent = own.Messages()
	test.EqOp(t, 3, len(sent), test.Sprintf("%d messages once the account was mended", len(sent)))
}

// A tenant's account that is down opens a breaker of its own.
func TestAccounts_HaveSeparateBreakers(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	studio := messagetest.New(t, func(wc *worker.Config, _ *app.Config) {
		wc.Concurrency = 1 // so that nothing is on its way when the breaker opens
		wc.Open = func(context.Context, tenant.TenantID, string, messages.Senders) (worker.Sender, error) {
			return down{&asked}, nil
		}
	})
	other := studio.OtherTenant("Dock Pilates")
	expect.OK(studio.T)(
		studio.App.Messages.UpdateNotificationSenders(studio.T.Context(), studio.Owner, nil, func(s *messages.Senders) {
			s.SMTP = &messages.SMTPServer{Host: "mail.example.com", Port: 587, From: "desk@example.com"}
		}),
	)
	const people = 12
	studio.BookMembers(people)
	other.BookMembers(people)
	for _, each := range []*messagetest.Studio{studio, other} {
		deliver(each)
	}
	sent := func(in *messagetest.Studio, status string) int {
		return in.Count(
			`select count(*) from deliveries where tenant_id = $1 and channel = 'EMAIL' and status = $2`, in.Tenant, status,
		)
	}
	n := sent(studio, "FAILED")
	test.EqOp(t, people, n,
		test.Sprintf("%d of %d failed, after the account was asked %d times", n, people, asked.Load()))
	test.EqOp(t, 5, asked.Load(),
		test.Sprintf("%d of %d failed, after the account was asked %d times", n, people, asked.Load()))
	test.EqOp(t, people, sent(other, "SENT"), test.Sprintf("of %d mails of the neighbour", people))
}

// down is an account that does not answer.
type down struct{ asked *atomic.Int32 }

func (d down) Send(context.Context, delivery.Message) (delivery.Receipt, error) {
	d.asked.Add(1)
	return delivery.Receipt{}, &delivery.Error{Kind: delivery.Transient, Code: "DOWN"}
}
