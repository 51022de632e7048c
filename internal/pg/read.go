package pg

import (
	"context"
	"fmt"
)

// ReadTx is a read-only transaction. All its statements see one snapshot, and row-level security limits it to its
// tenant.
type ReadTx struct{ session }

// ReadBatch sends the batch as one read-only transaction of the tenant, in one round trip.
// All its statements see the same snapshot.
func (db *DB) ReadBatch(ctx context.Context, scope Scope, batch *Batch) error {
	if scope.Tenant.IsZero() {
		return errUnscoped
	}
	conn, err := db.reads.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Release()
	// All statements before the Sync form one implicit transaction, with the session's default isolation level.
	_, dbErr, readErr := send(ctx, conn.Conn(), append([]*Statement{setTenant(scope)}, batch.statements...))
	if dbErr != nil {
		return withContext(ctx, dbErr)
	}
	return readErr
}

// Read runs fn in a read-only transaction of the tenant. It is for reads that depend on each other;
// for independent ones ReadBatch is enough.
func (db *DB) Read(ctx context.Context, scope Scope, fn func(ctx context.Context, tx *ReadTx) error) error {
	if scope.Tenant.IsZero() {
		return errUnscoped
	}
	return db.read(ctx, setTenant(scope), fn)
}

// ReadAsOperator runs fn in a read-only transaction without a tenant. It sees what the policies open to the setting
// app.operator: the directory of tenants and which of them share a sender's number, but no tenant's data.
// It is for jobs that then visit each tenant.
func (db *DB) ReadAsOperator(ctx context.Context, fn func(ctx context.Context, tx *ReadTx) error) error {
	return db.read(ctx, &Statement{sql: "select set_config('app.operator', 'on', true)"}, fn)
}

func (db *DB) read(ctx context.Context, scope *Statement, fn func(ctx context.Context, tx *ReadTx) error) error {
	conn, err := db.reads.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Release()
	begin := &Statement{sql: "begin isolation level repeatable read, read only"}
	tx := &ReadTx{session{conn: conn.Conn(), pending: []*Statement{begin, scope}}}
	err = fn(ctx, tx)
	if tx.failed != nil {
		if err == nil {
			err = tx.wentOn()
		}
		err = withContext(ctx, err)
	}
	tx.rollBack(ctx)
	return err
}

// withContext adds the context's error, if any: after a cancellation err is only what the server
// says about a statement that it was asked to cancel.
func withContext(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return err
}
