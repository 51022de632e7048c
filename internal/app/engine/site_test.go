package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/idempotency"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
)

// act is an operation that does what a test says.
type act struct {
	locks  Locks
	races  []Race
	replay bool
	quiet  bool   // in a transaction of its own
	by     string // the caller's subject
	key    string // idempotency key
	ask    func(*Query)
	do     body
	runs   int
}

func (a *act) Load(q *Query) {
	if a.ask != nil {
		a.ask(q)
	}
}

func (a *act) Run(ctx context.Context, tx *Tx) (int, error) {
	a.runs++
	return a.runs, a.do(ctx, tx)
}

// body is what an act does.
type body = func(context.Context, *Tx) error

var errRefused = errors.New("refused")

func nothing(context.Context, *Tx) error { return nil }

func refuses(context.Context, *Tx) error { return errRefused }

func panics(context.Context, *Tx) error { panic("a bug") }

func writes(_ context.Context, tx *Tx) error {
	outbox.Append(tx.Tx, tx.Tenant, outbox.Event{
		ID: tenant.NextID[tenant.EventID](tx.IDs), Actor: tx.Caller.Actor(), Data: event.AccessChanged{}, At: tx.Now,
	})
	return nil
}

func reads(ctx context.Context, tx *Tx) error {
	var batch pg.Batch
	batch.Queue("select 1")
	return errors.Join(tx.Load(ctx, &batch)) // it adds to the error
}

// raises makes the database fail the transaction when it commits.
func raises(condition string) body {
	return func(_ context.Context, tx *Tx) error {
		tx.Write(`do $$ begin raise exception using errcode = '` + condition + `'; end $$`)
		return nil
	}
}

// then does one thing after the other.
func then(one, other body) body {
	return func(ctx context.Context, tx *Tx) error { return errors.Join(one(ctx, tx), other(ctx, tx)) }
}

// site is an engine on a database of its own, with one transaction at a time.
type site struct {
	*Engine

	db      *pgtest.DB
	caller  tenant.Caller
	changes int // commits that were reported
}

func newSite(t *testing.T, adjust ...func(*Config)) *site {
	t.Helper()
	db := pgtest.New(t)
	s := &site{db: db, caller: tenant.Caller{Tenant: tenant.New[tenant.TenantID](time.Now()), Subject: "test"}}
	c := Config{DB: db.DB, Now: time.Now, Width: 1, Committed: func(tenant.TenantID) { s.changes++ }}
	for _, set := range adjust {
		set(&c)
	}
	s.Engine = New(c)
	return s
}

// run runs an operation, and counts how often it was run.
func (s *site) run(t *testing.T, a act) (runs int, err error) {
	t.Helper()
	by := s.caller
	by.Subject += a.by
	_, err = RunBatched(a.context(t), s.Engine, by, a.batched())
	return a.runs, err
}

func (a *act) batched() Batched[int] {
	return Batched[int]{
		Name: "test", Replay: a.replay, Races: a.races, Locate: Known(a.locks, func() Operation[int] { return a }),
	}
}

// exec does what run does with Exec.
func (s *site) exec(t *testing.T, a act) (runs int, err error) {
	t.Helper()
	plain := Transaction{Name: "test", Races: a.races, Replay: a.replay, Quiet: a.quiet}
	err = Exec(a.context(t), s.Engine, s.caller, plain, func(ctx context.Context, tx *Tx) error {
		_, err := a.Run(ctx, tx)
		return err
	})
	return a.runs, err
}

func (a *act) context(t *testing.T) context.Context {
	t.Helper()
	if a.key == "" {
		return t.Context()
	}
	text, request, _ := strings.Cut(a.key, "/")
	return idempotency.With(t.Context(), &idempotency.Key{
		Text: text, Hash: fmt.Appendf(nil, "%32s", request),
	})
}

// batch makes calls while the only runner is busy, one after the other, so that their operations share a batch.
func (s *site) batch(t *testing.T, calls ...func()) {
	t.Helper()
	started, release := make(chan struct{}), make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		_, err := s.run(t, act{do: func(context.Context, *Tx) error {
			close(started)
			<-release
			return errRefused // so that it changes nothing
		}})
		test.ErrorIs(t, err, errRefused)
	})
	<-started
	for i, call := range calls {
		done.Go(call)
		awaitQueued(s.Engine, s.caller.Tenant, i+1)
	}
	close(release)
	done.Wait()
}

// together runs operations in one batch. It returns how often each ran, and their errors.
func (s *site) together(t *testing.T, acts ...act) (runs []int, errs []error) {
	t.Helper()
	runs, errs = make([]int, len(acts)), make([]error, len(acts))
	calls := make([]func(), len(acts))
	for i, a := range acts {
		calls[i] = func() { runs[i], errs[i] = s.run(t, a) }
	}
	s.batch(t, calls...)
	return runs, errs
}

func (s *site) events(t *testing.T) (n int) {
	t.Helper()
	row := s.db.Owner.QueryRow(t.Context(), "select count(*) from events where type = $1", event.AccessChanged{}.Type())
	must.NoError(t, row.Scan(&n))
	return n
}

// says checks the text of an error, which is a part of it; "<nil>" is none.
func says(t *testing.T, err error, want string) {
	t.Helper()
	test.StrContains(t, strings.SplitN(fmt.Sprint(err), "\n", 2)[0], want)
}

// awaitQueued returns when a transaction of the tenant is in progress and n operations wait.
func awaitQueued(e *Engine, id tenant.TenantID, n int) {
	for {
		if running, waiting := e.Queued(id); running > 0 && waiting == n {
			return
		}
		runtime.Gosched()
	}
}

func named(id byte) Key { return Key{15: id} }

func in(id byte) tenant.TenantID { return tenant.TenantID{UUID: Key{0: 1, 15: id}} }
