package worker_test

import (
	"sync"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// Three nodes plan and deliver whatever they find, for as long as people book: each message leaves once.
func TestDeliver_NodesShareTheWork(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t)
	const people = 60
	booked := make(chan struct{})
	var all sync.WaitGroup
	for _, node := range []*messagetest.Studio{studio.OtherNode(), studio.OtherNode(), studio.OtherNode()} {
		all.Go(func() {
			for over := false; ; {
				done, err := outbox.Consume(studio.T.Context(), studio.DB.DB, studio.Tenant, node.App.Messages.NoticeConsumer())
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
	studio.BookMembers(people)
	close(booked)
	all.Wait()
	n, twice := studio.Provider.Duplicates()
	test.EqOp(t, 2*people, n, test.Sprintf("%d of %d messages, %d twice", n, 2*people, twice))
	test.EqOp(t, 0, twice, test.Sprintf("%d of %d messages, %d twice", n, 2*people, twice))
	test.EqOp(t, 0, studio.Count(`select count(*) from notices where done_at is null and due_at <= $1`, testkit.Noon),
		test.Sprint("notices are left"))
}
