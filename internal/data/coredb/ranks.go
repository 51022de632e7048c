// Package coredb has the SQL that all areas share: idempotency keys, the audit log, the tenant's snapshot, the policy
// in force for a session, and the checks of invariants.
//
// All packages of this folder follow the same rules. Their functions queue statements on a batch or on a transaction,
// and read rows into domain values. They decide nothing. Every statement names its tenant, although row-level security
// separates tenants, too. The packages of the areas import this one, and not each other.
//
// A table's columns are stated once, as a pg.Table. A statement that contains them is a package variable made by
// pg.SQL. Other statements are literals where they are queued. A test prepares each of them.
package coredb

// The order in which a transaction writes its rows. Parents come before children. Updates of bookings come before new
// bookings, so that a new one can take a seat that another frees. Rows that the database may reject come before those
// that it cannot. Rows that other transactions wait for come late, so that they are locked for a short time.
const (
	RankUpdatedBookings = iota + 1
	RankBookings
	RankSubscriptions
	RankLedger
	RankPayments
	RankUsage
	RankMembers
	RankCounters
	RankKeys
)
