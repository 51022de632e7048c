package testkit

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// Batch collects requests behind one that is blocked, so that they share a transaction.
type Batch struct {
	*Studio
	App   *app.Services // runs one transaction at a time
	calls []func()
	done  sync.WaitGroup
}

// NewBatch creates a node that runs one transaction at a time, for requests that are to share one.
func (s *Studio) NewBatch() *Batch {
	s.T.Helper()
	b := &Batch{Studio: s, App: app.New(app.Config{DB: s.DB.DB, Now: s.Clock.Now, Width: 1})}
	s.T.Cleanup(b.App.Engine.Drain)
	return b
}

// Add adds a request. Requests are queued in the order in which they were added.
func (b *Batch) Add(call func()) { b.calls = append(b.calls, call) }

// Book adds a booking of one seat.
func (b *Batch) Book(who tenant.Caller, in tenant.SessionID, change ...func(*bookings.BookRequest)) *Booked {
	result := new(Booked)
	r := bookings.BookRequest{Session: in, Party: 1, Channel: catalog.Online}
	for _, f := range change {
		f(&r)
	}
	b.Add(func() { result.Result, result.Err = b.App.Bookings.Book(context.Background(), who, r) })
	return result
}

// Run runs all requests and returns in how many transactions.
func (b *Batch) Run() (transactions int) {
	b.T.Helper()
	ctx := context.Background()
	decoy, who := b.AddSession(Session{}), b.AddMember("Decoy")
	block, err := b.DB.Owner.Begin(ctx)
	b.NoError(err)
	defer func() { _ = block.Rollback(ctx) }()
	_, err = block.Exec(ctx, `select from sessions where id = $1 for update`, decoy)
	b.NoError(err)
	b.done.Go(func() {
		r := bookings.BookRequest{Session: decoy, Party: 1, Channel: catalog.Online}
		_, err := b.App.Bookings.Book(ctx, who, r)
		test.True(b.T, err == nil, test.Sprintf("decoy: %v", err))
	})
	AwaitQueued(b.App, b.Tenant, 0)
	for i, call := range b.calls {
		b.done.Go(call)
		AwaitQueued(b.App, b.Tenant, i+1)
	}
	b.calls = nil
	before := b.Count(`select coalesce(max(xid::text::bigint), 0) from events where tenant_id = $1`, b.Tenant)
	b.NoError(block.Commit(ctx))
	b.done.Wait()
	return b.Count(`select count(distinct xid::text) from events
		where tenant_id = $1 and xid::text::bigint > $2`, b.Tenant, before) - 1
}

// Booked is the result of a booking in a batch.
type Booked struct {
	seats.Result
	Err error
}

// WantConfirmed fails the test unless the booking is confirmed.
func (b *Booked) WantConfirmed(t testing.TB, what string) {
	t.Helper()
	must.NoError(t, b.Err, must.Sprintf("%s: %+v, %v", what, b.Entry, b.Err))
	test.NotNil(t, b.Booking, test.Sprintf("%s: %+v, %v", what, b.Entry, b.Err))
}

// WantRefused fails the test unless the booking was refused for the reason.
func (b *Booked) WantRefused(t testing.TB, what string, reason fault.Reason) {
	t.Helper()
	test.EqOp(t, reason, fault.ReasonOf(b.Err), test.Sprintf("%s: %v, want", what, b.Err))
}

// AwaitQueued returns when a transaction of a tenant is running and n operations are queued.
func AwaitQueued(a *app.Services, id tenant.TenantID, n int) {
	for {
		if running, queued := a.Engine.Queued(id); running > 0 && queued == n {
			return
		}
		runtime.Gosched()
	}
}

// Queued returns how many operations of a tenant are queued.
func Queued(a *app.Services, id tenant.TenantID) int {
	_, queued := a.Engine.Queued(id)
	return queued
}
