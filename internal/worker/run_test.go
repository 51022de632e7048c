package worker_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/messagetest"
	"github.com/berthhq/berth/internal/worker"
)

// held is a provider that keeps messages waiting until it is told what became of them.
type held struct {
	asked  chan delivery.Message
	answer chan error
}

func (h *held) Send(_ context.Context, m delivery.Message) (delivery.Receipt, error) {
	h.asked <- m
	if err := <-h.answer; err != nil {
		return delivery.Receipt{}, err
	}
	return delivery.Receipt{ProviderID: m.ID.String(), Status: delivery.Sent, Segments: 1}, nil
}

// withHeld has a dispatcher at work, and a provider of SMS that keeps messages waiting.
func withHeld(t *testing.T) (p *messagetest.Servers, texts *held, end func()) {
	t.Helper()
	texts = &held{asked: make(chan delivery.Message), answer: make(chan error)}
	p = messagetest.WithServers(t, func(wc *worker.Config, _ *app.Config) {
		wc.Platform[messages.ProviderTwilio] = func(tenant.TenantID) worker.Sender { return texts }
	})
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		p.Dispatcher.Run(ctx)
	}()
	return p, texts, func() { cancel(); <-stopped }
}

// sent waits until the log says that so many messages were sent.
func sent(p *messagetest.Servers, c delivery.Channel, n int) {
	p.T.Helper()
	testkit.Eventually(p.T, fmt.Sprint(n, " sent by ", c), func() bool {
		return p.Count(`select count(*) from deliveries where channel = $1 and status = 'SENT'`, c) == n
	})
}

// While one message waits for its provider, what falls due for the tenant later leaves, and is written down.
func TestRun_ASlowProviderDelaysNothingElse(t *testing.T) {
	t.Parallel()
	p, texts, end := withHeld(t)
	mia, noa, lea := p.AddTextOnly("Mia"), p.AddTextOnly("Noa"), p.AddReachable("Lea")
	class := p.SessionAt(testkit.Noon.Add(72*time.Hour), func(in *session.Input) { in.Capacity = new(9) })

	p.MustPlace(mia, class)
	p.Plan()
	slow := <-texts.asked

	p.MustPlace(lea, class) // a mail, and a push
	p.Plan()
	sent(p, delivery.Email, 1)

	p.MustPlace(noa, class)
	p.Plan()
	quick := <-texts.asked
	texts.answer <- nil // either of the two, in any order
	sent(p, delivery.SMS, 1)
	texts.answer <- nil
	sent(p, delivery.SMS, 2)
	end()
	test.NotEqOp(t, quick.To, slow.To, test.Sprint("both went to"))
}

// A message that is with its provider when the node stops is waited for, and written down.
func TestRun_StoppingWaitsForMessagesInProgress(t *testing.T) {
	t.Parallel()
	p, texts, end := withHeld(t)
	p.MustPlace(p.AddTextOnly("Mia"), p.SessionAt(testkit.Noon.Add(72*time.Hour)))
	p.Plan()
	<-texts.asked
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		end()
	}()
	texts.answer <- nil
	<-stopped
	sent(p, delivery.SMS, 1)
}
