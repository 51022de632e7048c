package testkit

import (
	"context"
	"sync"
	"testing"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// Gathering lets requests queue up behind one that cannot go on, so that they share a transaction.
type Gathering struct {
	*House
	App   *app.Services // with a single lane
	calls []func()
	done  sync.WaitGroup
}

// Gather makes a node with one transaction at a time, whose requests can be gathered.
func (h *House) Gather() *Gathering {
	h.T.Helper()
	g := &Gathering{House: h, App: app.New(app.Config{DB: h.DB.DB, Now: h.Clock.Now, Width: 1})}
	h.T.Cleanup(g.App.Engine.Drain)
	return g
}

// Ask adds a request. They queue up in the order in which they were added.
func (g *Gathering) Ask(call func()) { g.calls = append(g.calls, call) }

// Book adds a booking of one seat.
func (g *Gathering) Book(who tenant.Caller, in tenant.SessionID, more ...func(*bookings.BookRequest)) *Booked {
	b := new(Booked)
	r := bookings.BookRequest{Session: in, Party: 1, Channel: catalog.Online}
	for _, f := range more {
		f(&r)
	}
	g.Ask(func() { b.Place, b.Err = g.App.Bookings.Book(context.Background(), who, r) })
	return b
}

// Booked is what came of a booking.
type Booked struct {
	seats.Place
	Err error
}

// Settle settles them all, and reports in how many transactions.
func (g *Gathering) Settle() (transactions int) {
	g.T.Helper()
	ctx := context.Background()
	decoy, member := g.Session(Slot{}), g.Member("Decoy")
	block, err := g.DB.Owner.Begin(ctx)
	if err != nil {
		g.T.Fatal(err)
	}
	defer func() { _ = block.Rollback(ctx) }()
	if _, err := block.Exec(ctx, `select from sessions where id = $1 for update`, decoy); err != nil {
		g.T.Fatal(err)
	}
	g.done.Go(func() {
		_, err := g.App.Bookings.Book(ctx, member, bookings.BookRequest{Session: decoy, Party: 1, Channel: catalog.Online})
		if err != nil {
			g.T.Errorf("decoy: %v", err)
		}
	})
	AwaitWaiting(g.App, g.Tenant, 0)
	for i, call := range g.calls {
		g.done.Go(call)
		AwaitWaiting(g.App, g.Tenant, i+1)
	}
	g.calls = nil
	before := g.Count(`select coalesce(max(xid::text::bigint), 0) from events where tenant_id = $1`, g.Tenant)
	if err := block.Commit(ctx); err != nil {
		g.T.Fatal(err)
	}
	g.done.Wait()
	return g.Count(`select count(distinct xid::text) from events where tenant_id = $1 and xid::text::bigint > $2`, g.Tenant, before) - 1
}

// Confirmed fails unless the booking is confirmed.
func (b *Booked) Confirmed(t *testing.T, what string) {
	t.Helper()
	if b.Err != nil || b.Booking == nil {
		t.Errorf("%s: %+v, %v", what, b.Entry, b.Err)
	}
}

// Refused fails unless the booking was refused for the reason.
func (b *Booked) Refused(t *testing.T, what string, reason fault.Reason) {
	t.Helper()
	if fault.ReasonOf(b.Err) != reason {
		t.Errorf("%s: %v, want %s", what, b.Err, reason)
	}
}
