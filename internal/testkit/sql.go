package testkit

import (
	"context"

	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/testkit/expect"
)

// Damage says that the test damages data on purpose: invariants need not hold at its end.
func (s *Studio) Damage() { s.damaged.Store(true) }

// Exec runs a statement as the owner of the tables. It is for tests that damage data on purpose, and for tests of the
// database itself.
func (s *Studio) Exec(sql string, args ...any) {
	s.T.Helper()
	s.Damage()
	expect.OK(s.T)(s.DB.Owner.Exec(context.Background(), sql, args...))
}

// Count runs a query for one number as the owner of the tables, who sees all tenants.
func (s *Studio) Count(sql string, args ...any) int {
	s.T.Helper()
	return query[int](s, sql, args...)
}

// Text runs a query for one text as the owner of the tables, who sees all tenants.
func (s *Studio) Text(sql string, args ...any) string {
	s.T.Helper()
	return query[string](s, sql, args...)
}

func query[T any](s *Studio, sql string, args ...any) (value T) {
	s.T.Helper()
	must.NoError(s.T, s.DB.Owner.QueryRow(context.Background(), sql, args...).Scan(&value))
	return value
}

// OfThisTransaction selects, from pg_locks l, the locks of the current transaction. The same connection may still hold
// locks of earlier transactions, because of others that run at the same time.
const OfThisTransaction = `l.pid = pg_backend_pid() and l.virtualtransaction = (
  select v.virtualtransaction from pg_locks v
  where v.locktype = 'virtualxid' and v.pid = pg_backend_pid() and v.virtualxid = v.virtualtransaction)`
