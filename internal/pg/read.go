package pg

import (
	"context"
	"fmt"
)

// ReadTx is a read-only transaction: everything in it is read from one
// snapshot. Row-level security holds it in its scope.
type ReadTx struct{ session }

// ReadBatch sends the batch as one read-only transaction of the scope's tenant,
// in a single round trip. All its statements see the same snapshot.
func (db *DB) ReadBatch(ctx context.Context, scope Scope, batch *Batch) error {
	if scope.Tenant.IsZero() {
		return errNoTenant
	}
	conn, err := db.reads.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Release()
	// Up to their common Sync the statements form one implicit transaction, of
	// the isolation level that the pool's sessions have by default.
	_, failed, unread := send(ctx, conn.Conn(), append([]*Statement{setTenant(scope)}, batch.statements...))
	if failed != nil {
		return withContext(ctx, failed)
	}
	return unread
}

// Read runs fn in a read-only transaction of the scope's tenant. It is for
// reads that depend on each other; independent ones need ReadBatch only.
func (db *DB) Read(ctx context.Context, scope Scope, fn func(ctx context.Context, tx *ReadTx) error) error {
	if scope.Tenant.IsZero() {
		return errNoTenant
	}
	return db.read(ctx, setTenant(scope), fn)
}

// ReadAsOperator runs fn in a read-only transaction without a tenant. It sees
// what the policies open to the setting app.operator, which is the directory of
// tenants, and who of them shares a number with whom, but no tenant's data. It is for tasks that then visit tenant by tenant.
func (db *DB) ReadAsOperator(ctx context.Context, fn func(ctx context.Context, tx *ReadTx) error) error {
	return db.read(ctx, &Statement{sql: "select set_config('app.operator', 'on', true)"}, fn)
}

func (db *DB) read(ctx context.Context, scope *Statement, fn func(ctx context.Context, tx *ReadTx) error) error {
	conn, err := db.reads.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Release()
	tx := &ReadTx{session{conn: conn.Conn(), pending: []*Statement{{sql: "begin isolation level repeatable read, read only"}, scope}}}
	err = fn(ctx, tx)
	if err == nil {
		err = tx.failed
	}
	if tx.failed != nil {
		err = withContext(ctx, err)
	}
	tx.rollBack(ctx)
	return err
}

// withContext makes the error of a caller that has left recognizable as such:
// what comes back then is the server's, which was asked to stop.
func withContext(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return err
}
