package worker_test

import (
	"context"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/worker"
)

// held is a provider that keeps messages waiting until it is told what became of them.
type held struct {
	asked  chan notify.Message
	answer chan error
}

func (p *held) Send(_ context.Context, m notify.Message) (notify.Receipt, error) {
	p.asked <- m
	if err := <-p.answer; err != nil {
		return notify.Receipt{}, err
	}
	return notify.Receipt{ProviderID: m.ID.String(), Status: notify.Sent, Segments: 1}, nil
}

// withHeld has a dispatcher at work, and a provider of SMS that keeps messages waiting.
func withHeld(t *testing.T) (p *providers, texts *held, end func()) {
	t.Helper()
	texts = &held{asked: make(chan notify.Message), answer: make(chan error)}
	p = withProviders(t, func(wc *worker.Config, _ *app.Config) {
		wc.Platform[messages.ProviderTwilio] = func(tenant.TenantID) worker.Sender { return texts }
	})
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		p.dispatcher.Run(ctx)
	}()
	return p, texts, func() { cancel(); <-stopped }
}

// sent waits until so many messages stand as sent in the log.
func (p *providers) sent(c notify.Channel, n int) {
	p.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for p.count(`select count(*) from deliveries where channel = $1 and status = 'SENT'`, c) != n {
		select {
		case <-tick.C:
		case <-p.t.Context().Done():
			p.t.Fatalf("not %d sent", n)
		}
	}
}

// While one message waits for its provider, what falls due for the tenant later leaves, and is written down.
func TestASlowProviderHoldsUpNothingElse(t *testing.T) {
	t.Parallel()
	p, texts, end := withHeld(t)
	mia, noa, lea := p.textOnlyTo("Mia"), p.textOnlyTo("Noa"), p.member("Lea")
	class := p.session(noon.Add(72*time.Hour), func(in *session.Input) { in.Capacity = new(9) })

	p.book(mia, class)
	p.consume()
	slow := <-texts.asked

	p.book(lea, class) // a mail, and a push
	p.consume()
	p.sent(notify.Email, 1)

	p.book(noa, class)
	p.consume()
	quick := <-texts.asked
	texts.answer <- nil // either of the two, whoever asks first
	p.sent(notify.SMS, 1)
	texts.answer <- nil
	p.sent(notify.SMS, 2)
	end()
	if slow.To == quick.To {
		t.Errorf("both went to %s", slow.To)
	}
}

// A message that is with its provider when the node stops is waited for, and written down.
func TestStoppingWaitsForWhatIsOnItsWay(t *testing.T) {
	t.Parallel()
	p, texts, end := withHeld(t)
	p.book(p.textOnlyTo("Mia"), p.session(noon.Add(72*time.Hour)))
	p.consume()
	<-texts.asked
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		end()
	}()
	texts.answer <- nil
	<-stopped
	p.sent(notify.SMS, 1)
}
