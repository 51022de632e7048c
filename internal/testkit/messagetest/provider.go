package messagetest

import (
	"context"
	"sync"

	"github.com/berthhq/berth/internal/rules/delivery"
)

// Provider is a fake provider of all channels. It accepts every message unless it is told otherwise.
type Provider struct {
	mu     sync.Mutex
	sent   []delivery.Message
	answer func(m delivery.Message) (delivery.Receipt, error)
}

// Send implements worker.Sender.
func (p *Provider) Send(_ context.Context, m delivery.Message) (delivery.Receipt, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, m)
	if p.answer != nil {
		return p.answer(m)
	}
	return accepted(m), nil
}

func accepted(m delivery.Message) delivery.Receipt {
	return delivery.Receipt{ProviderID: "p-" + m.ID.String(), Status: delivery.Sent, Segments: 1}
}

// Answer makes the provider answer every message with a function.
func (p *Provider) Answer(answer func(m delivery.Message) (delivery.Receipt, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = answer
}

// Fail makes the provider reject messages of one channel; nil ends that.
func (p *Provider) Fail(c delivery.Channel, err *delivery.Error) {
	if err == nil {
		p.Answer(nil)
		return
	}
	p.Answer(func(m delivery.Message) (delivery.Receipt, error) {
		if m.Channel == c {
			return delivery.Receipt{}, err
		}
		return accepted(m), nil
	})
}

// Take returns what was sent since the last call.
func (p *Provider) Take() []delivery.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	sent := p.sent
	p.sent = nil
	return sent
}

// Duplicates counts the messages since the last call, and how many of them their recipient had already got.
func (p *Provider) Duplicates() (messages, again int) {
	got := make(map[string]int)
	for _, m := range p.Take() {
		got[string(m.Channel)+m.To]++
	}
	for _, n := range got {
		again += n - 1
	}
	return len(got), again
}
