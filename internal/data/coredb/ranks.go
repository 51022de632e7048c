// Package coredb is the SQL that all areas share: idempotency keys, the audit log, the tenant's snapshot, the policy in
// force for a session, and the checks of what must hold for all rows.
//
// What holds for it holds for all packages of this folder. Their functions queue statements on a batch or on a
// transaction and read rows into domain values; they decide nothing. Every statement names its tenant, although
// row-level security would hold without that. The packages of the areas import this one, and not each other.
//
// A table's columns are stated once, as a pg.Table. A statement that is put together around them is a package variable
// made by pg.SQL; all others are literals where they are queued. A test prepares each of them.
package coredb

// The order in which rows that a transaction adds are written: parents before children; bookings that are updated
// before new ones, so that a new one can take a place that another gives up; what the database may refuse before what
// it cannot; and rows that other transactions wait for late, so that their locks are short.
const (
	RankUpdatedBookings = iota + 1
	RankBookings
	RankSubscriptions
	RankLedger
	RankUsage
	RankCounters
	RankKeys
)
