package engine

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// A Query collects what an operation asks for. The statements of all operations of a batch travel together.
type Query struct {
	*pg.Batch
	Tenant tenant.TenantID
	Caller tenant.Caller
	Now    time.Time
	// Strict says that a constraint rejected the previous attempt. A strict attempt reads what otherwise only constraints
	// guard.
	Strict bool
	State  State

	then []func(*Query)
}

// Then asks for what depends on the first answers. All such functions of a batch share the second round trip.
func (q *Query) Then(ask func(*Query)) { q.then = append(q.then, ask) }

// A State is what the operations of one attempt share: facts that each operation finds as the previous ones left them.
type State interface {
	// Load asks for what all operations need.
	Load(q *Query)
	// Complete prepares the loaded facts. It runs before any Then, and may read.
	Complete(ctx context.Context, tx *pg.Tx) error
}

type noState struct{}

func (noState) Load(*Query) {}

func (noState) Complete(context.Context, *pg.Tx) error { return nil }
