package testkit

// OfThisTransaction picks, of pg_locks l, the locks of the transaction that asks. Those of earlier ones of the same connection may be there still, for the
// sake of whatever else is under way.
const OfThisTransaction = `l.pid = pg_backend_pid() and l.virtualtransaction = (
  select v.virtualtransaction from pg_locks v where v.locktype = 'virtualxid' and v.pid = pg_backend_pid() and v.virtualxid = v.virtualtransaction)`
