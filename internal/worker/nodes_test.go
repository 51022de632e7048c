package worker_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rules/session"
)

// crossing is where the transactions of two nodes meet: none sends what it writes before the other has read what it is
// about to change.
type crossing struct {
	careless bool // takes isolation away

	mu      sync.Mutex
	missing int
	met     chan struct{}
}

func (c *crossing) meet(nodes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.missing, c.met = nodes, make(chan struct{})
}

func (c *crossing) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	queries := data.Batch.QueuedQueries
	if len(queries) == 0 {
		return ctx
	}
	if c.careless && strings.HasPrefix(queries[0].SQL, "begin isolation level serializable") {
		queries[0].SQL = "begin isolation level read committed, read write"
	}
	if queries[len(queries)-1].SQL != "commit" {
		return ctx
	}
	c.mu.Lock()
	met := c.met
	if c.missing--; c.missing == 0 && met != nil {
		close(met)
	}
	c.mu.Unlock()
	if met != nil {
		select {
		case <-met:
		case <-ctx.Done():
		}
	}
	return ctx
}

func (*crossing) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}
func (*crossing) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData)     {}
func (*crossing) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (*crossing) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

// crowd books for members, each of whom is to get a mail and a push.
func (h *house) crowd(n int) {
	h.t.Helper()
	class := h.session(noon.Add(200*time.Hour), func(in *session.Input) { in.Capacity = new(n) })
	for i := range n {
		h.book(h.member(fmt.Sprint("Mia", i)), class)
	}
}

// doubles counts messages that somebody got more than once, and everybody who got any.
func (h *house) doubles() (people, twice int) {
	h.t.Helper()
	got := make(map[string]int)
	for _, m := range h.post.take() {
		got[string(m.Channel)+m.To]++
	}
	for _, n := range got {
		twice += n - 1
	}
	return len(got), twice
}

// Two nodes find the same notices due at the same moment. Serializable transactions guard them: one node sends each. Without those,
// both do.
func TestTwoNodesTakeTheSameNotices(t *testing.T) {
	t.Parallel()
	for name, careless := range map[string]bool{"guarded": false, "unguarded": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := new(crossing)
			h := newHouseOn(t, pgtest.New(t, func(config *pg.Config) { config.Tracer = c }))
			h.crowd(20)
			h.consume()
			c.careless = careless
			c.meet(2)
			var all sync.WaitGroup
			taken := make([]messages.DueNotices, 2)
			for i, node := range []*house{h, h.node()} {
				all.Go(func() {
					var err error
					if taken[i], err = node.app.Messages.TakeNotices(h.ctx(), h.Tenant); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			n := len(taken[0].Out) + len(taken[1].Out)
			if want := map[bool]int{false: 40, true: 80}[careless]; n != want {
				t.Errorf("%d messages were taken, want %d", n, want)
			}
			if careless {
				return
			}
			for i, node := range []*house{h, h.node()} {
				h.ok(h.app.Messages.SettleDeliveries(h.ctx(), h.Tenant, node.dispatcher.SendAll(h.ctx(), h.Tenant, taken[i].Out)))
			}
			if people, twice := h.doubles(); people != 40 || twice != 0 {
				t.Errorf("%d of 40 messages, %d twice", people, twice)
			}
			if n := h.count(`select count(*) from deliveries where topic = 'BOOKING_CONFIRMED' and (status <> 'SENT' or possible_duplicate)`); n != 0 {
				t.Errorf("%d lines of the log say otherwise", n)
			}
		})
	}
}

// Three nodes plan and deliver whatever they find, for as long as people book: each message leaves once.
func TestNodesShareTheWork(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	const people = 60
	booked := make(chan struct{})
	var all sync.WaitGroup
	for _, node := range []*house{h.node(), h.node(), h.node()} {
		all.Go(func() {
			for over := false; ; {
				done, err := outbox.Consume(h.ctx(), h.db.DB, h.Tenant, node.app.Messages.NoticeConsumer())
				if err == nil {
					err = node.dispatcher.Deliver(h.ctx(), h.Tenant)
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
	h.crowd(people)
	close(booked)
	all.Wait()
	if n, twice := h.doubles(); n != 2*people || twice != 0 {
		t.Errorf("%d of %d messages, %d twice", n, 2*people, twice)
	}
	if n := h.count(`select count(*) from notices where done_at is null and due_at <= $1`, noon); n != 0 {
		t.Errorf("%d notices are left", n)
	}
}
