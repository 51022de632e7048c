package worker_test

import (
	"sync"
	"testing"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// Three nodes plan and deliver whatever they find, for as long as people book: each message leaves once.
func TestDeliver_NodesShareTheWork(t *testing.T) {
	t.Parallel()
	h := messagetest.New(t)
	const people = 60
	booked := make(chan struct{})
	var all sync.WaitGroup
	for _, node := range []*messagetest.Studio{h.OtherNode(), h.OtherNode(), h.OtherNode()} {
		all.Go(func() {
			for over := false; ; {
				done, err := outbox.Consume(h.T.Context(), h.DB.DB, h.Tenant, node.App.Messages.NoticeConsumer())
				if err == nil {
					err = node.Dispatcher.Deliver(node.T.Context(), node.Tenant)
				}
				if fault.ReasonOf(err) == fault.Contention {
					continue // a dispatcher looks again later, too
				}
				if err != nil {
					t.Error(err)
					return
				}
				if over && !done.More && !done.Held {
					return
				}
				select {
				case <-booked:
					over = true
				default:
				}
			}
		})
	}
	h.BookMembers(people)
	close(booked)
	all.Wait()
	if n, twice := h.Provider.Duplicates(); n != 2*people || twice != 0 {
		t.Errorf("%d of %d messages, %d twice", n, 2*people, twice)
	}
	if n := h.Count(`select count(*) from notices where done_at is null and due_at <= $1`, testkit.Noon); n != 0 {
		t.Errorf("%d notices are left", n)
	}
}
