package app_test

import (
	"context"
	"sync"
	"testing"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// gathering lets requests queue up behind one that cannot go on, so that they are settled together.
type gathering struct {
	*house
	app   *app.App // with a single lane
	calls []func()
	done  sync.WaitGroup
}

func (h *house) gather() *gathering {
	h.t.Helper()
	g := &gathering{house: h, app: app.New(app.Config{DB: h.db.DB, Now: h.clock.Now, Lanes: 1})}
	h.t.Cleanup(g.app.Drain)
	return g
}

// ask adds a request. They queue up in the order in which they were added.
func (g *gathering) ask(call func()) { g.calls = append(g.calls, call) }

// book adds a booking of one seat.
func (g *gathering) book(who tenant.Caller, in tenant.SessionID, more ...func(*app.BookRequest)) *booked {
	b := new(booked)
	r := app.BookRequest{Session: in, Party: 1, Channel: catalog.Online}
	for _, f := range more {
		f(&r)
	}
	g.ask(func() { b.Place, b.err = g.app.Book(context.Background(), who, r) })
	return b
}

// booked is what came of a booking.
type booked struct {
	seats.Place
	err error
}

// settle settles them all, and reports in how many transactions.
func (g *gathering) settle() (transactions int) {
	g.t.Helper()
	ctx := context.Background()
	decoy, member := g.session(slot{}), g.member("Decoy")
	block, err := g.db.Owner.Begin(ctx)
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = block.Rollback(ctx) }()
	if _, err := block.Exec(ctx, `select from sessions where id = $1 for update`, decoy); err != nil {
		g.t.Fatal(err)
	}
	g.done.Go(func() {
		_, err := g.app.Book(ctx, member, app.BookRequest{Session: decoy, Party: 1, Channel: catalog.Online})
		if err != nil {
			g.t.Errorf("decoy: %v", err)
		}
	})
	g.app.AwaitWaiting(g.Tenant, 0)
	for i, call := range g.calls {
		g.done.Go(call)
		g.app.AwaitWaiting(g.Tenant, i+1)
	}
	g.calls = nil
	before := g.count(`select coalesce(max(xid::text::bigint), 0) from events where tenant_id = $1`, g.Tenant)
	if err := block.Commit(ctx); err != nil {
		g.t.Fatal(err)
	}
	g.done.Wait()
	return g.count(`select count(distinct xid::text) from events where tenant_id = $1 and xid::text::bigint > $2`, g.Tenant, before) - 1
}

func (b *booked) confirmed(t *testing.T, what string) {
	t.Helper()
	if b.err != nil || b.Booking == nil {
		t.Errorf("%s: %+v, %v", what, b.Entry, b.err)
	}
}

func (b *booked) refused(t *testing.T, what string, reason fault.Reason) {
	t.Helper()
	if fault.ReasonOf(b.err) != reason {
		t.Errorf("%s: %v, want %s", what, b.err, reason)
	}
}
