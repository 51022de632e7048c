package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/tenant"
)

// scripted is a deal that does what the test says.
type scripted struct {
	do   func(ctx context.Context, t *tx) error
	runs int
}

func (*scripted) load(*tx, *pg.Batch) {}
func (*scripted) more(*tx, *pg.Batch) {}
func (s *scripted) settle(ctx context.Context, t *tx) error {
	s.runs++
	return s.do(ctx, t)
}

func writes(_ context.Context, t *tx) error {
	t.rolesEvent(tenant.MemberID{}, nil)
	return nil
}

var errRefused = errors.New("refused")

// However a deal of a batch ends, the others are settled as if it had not been there.
func TestOneDealDoesNotHarmTheOthers(t *testing.T) {
	t.Parallel()
	looks := func(ctx context.Context, t *tx) error {
		var batch pg.Batch
		batch.Queue("select 1")
		return t.Load(ctx, &batch)
	}
	for name, tt := range map[string]struct {
		do   func(ctx context.Context, t *tx) error
		want string // of the error; empty: none
		runs int
		left int // events of its own
	}{
		"refuses":                         {func(context.Context, *tx) error { return errRefused }, "refused", 1, 0},
		"refuses, having written":         {func(ctx context.Context, t *tx) error { _ = writes(ctx, t); return errRefused }, "refused", 2, 0},
		"panics":                          {func(context.Context, *tx) error { panic("a bug") }, "a bug", 1, 0},
		"panics, having written":          {func(ctx context.Context, t *tx) error { _ = writes(ctx, t); panic("a bug") }, "a bug", 2, 0},
		"must look again":                 {looks, "", 2, 0},
		"must look again, having written": {func(ctx context.Context, t *tx) error { _ = writes(ctx, t); return looks(ctx, t) }, "", 2, 1},
		"is refused by the database": {func(_ context.Context, t *tx) error {
			t.Write("insert into directory (tenant_id, created_at) values (null, null)")
			return nil
		}, "42501", 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := pgtest.New(t)
			a := New(Config{DB: db.DB, Now: time.Now, Lanes: 1})
			of := tenant.Caller{Tenant: tenant.New[tenant.TenantID](time.Now()), Subject: "test"}
			busy, proceed := make(chan struct{}), make(chan struct{})
			odd := &scripted{do: tt.do}
			deals := []*scripted{{do: func(context.Context, *tx) error { close(busy); <-proceed; return nil }}, {do: writes}, odd, {do: writes}}
			errs := make([]error, len(deals))
			var done sync.WaitGroup
			for i, d := range deals {
				done.Go(func() { errs[i] = a.deal(t.Context(), of, "test", d, subjects{}) })
				if i == 0 {
					<-busy
				}
				a.AwaitWaiting(of.Tenant, i)
			}
			close(proceed)
			done.Wait()
			if err := errors.Join(errs[1], errs[3]); err != nil {
				t.Errorf("the others: %v", err)
			}
			if got := errs[2]; (got == nil) != (tt.want == "") || got != nil && !strings.Contains(got.Error(), tt.want) {
				t.Errorf("it: %v, want %q", got, tt.want)
			}
			if odd.runs != tt.runs {
				t.Errorf("it ran %d times, want %d", odd.runs, tt.runs)
			}
			var events int
			if err := db.Owner.QueryRow(t.Context(), "select count(*) from events where type = $1", outbox.RolesChanged).Scan(&events); err != nil {
				t.Fatal(err)
			}
			if events != 2+tt.left {
				t.Errorf("%d events, want %d", events, 2+tt.left)
			}
		})
	}
}

// Where most deals of a batch must look again, all of them go by themselves, in the order in which they came.
func TestWhereMostGoByThemselves(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	a := New(Config{DB: db.DB, Now: time.Now, Lanes: 1})
	of := tenant.Caller{Tenant: tenant.New[tenant.TenantID](time.Now()), Subject: "test"}
	busy, proceed := make(chan struct{}), make(chan struct{})
	var order []int // the lane appends to it, one after the other
	var done sync.WaitGroup
	done.Go(func() {
		first := &scripted{do: func(context.Context, *tx) error { close(busy); <-proceed; return nil }}
		if err := a.deal(t.Context(), of, "test", first, subjects{}); err != nil {
			t.Error(err)
		}
	})
	<-busy
	for i := range 10 {
		d := &scripted{do: func(ctx context.Context, tx *tx) error {
			_ = writes(ctx, tx)
			var batch pg.Batch
			batch.Queue("select 1")
			err := tx.Load(ctx, &batch)
			if err == nil {
				order = append(order, i)
			}
			return err
		}}
		if i == 0 {
			d.do = func(ctx context.Context, tx *tx) error {
				if !tx.together() {
					order = append(order, i)
				}
				return writes(ctx, tx)
			}
		}
		done.Go(func() {
			if err := a.deal(t.Context(), of, "test", d, subjects{shared: []tenant.UUID{{15: byte(i % 2)}}}); err != nil {
				t.Errorf("%d: %v", i, err)
			}
		})
		a.AwaitWaiting(of.Tenant, i+1)
	}
	close(proceed)
	done.Wait()
	for session := range 2 {
		var of []int
		for _, i := range order {
			if i%2 == session {
				of = append(of, i)
			}
		}
		if !slices.IsSorted(of) {
			t.Errorf("session %d was served in the order %v", session, of)
		}
	}
	if len(order) < 9 {
		t.Errorf("served by themselves: %v", order)
	}
}
