// Package store is all SQL, one file for each concept. Its functions queue statements on a batch or on a transaction
// and read rows into domain values; they decide nothing. Every statement names its tenant, although row-level security
// would hold without that.
//
// A table's columns are stated once, as a pg.Table. A statement that is put together around them is a package variable
// made by pg.SQL; all others are literals where they are queued. A test prepares each of them.
package store

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
	RankAudit
	RankKeys
)
