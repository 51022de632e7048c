// Package store is all SQL, one file for each concept. Its functions queue
// statements on a batch or on a transaction and read rows into domain values;
// they decide nothing. Every statement names its tenant, although row-level
// security would hold without that.
package store

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// seconds and duration convert between spans and the integer columns that hold them.
func seconds(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	return new(int64(*d / time.Second))
}

func duration(s *int64) *time.Duration {
	if s == nil {
		return nil
	}
	return new(time.Duration(*s) * time.Second)
}

// day and date convert between a calendar day and the driver's value for a date column.
func day(t time.Time) civil.Date { return civil.DateOf(t, time.UTC) }

func date(d civil.Date) time.Time { return d.On(time.UTC) }

// found puts a row into its target; no row leaves it nil and is no error.
func found[T any](into **T, value T, err error) error {
	*into = nil
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	*into = &value
	return nil
}

// one looks up the row of a key; no row leaves nil.
func one[K comparable, V any](b *pg.Batch, in tenant.TenantID, l *pg.Lookup[K, V], key K, into **V) {
	*into = nil
	l.Find(b, in, key, func(v V) { *into = &v })
}

// many looks up the rows of a key.
func many[K comparable, V any](b *pg.Batch, in tenant.TenantID, l *pg.Lookup[K, V], key K, into *[]V) {
	*into = nil
	l.Find(b, in, key, func(v V) { *into = append(*into, v) })
}

func isNoRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }

// optional gives NULL for a zero time.
func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// The order in which rows that a transaction adds are written: parents before children; what was there before what
// is new, so that a place that is given up can be taken; what the database may refuse before what it cannot; and what others wait
// for late, so that they wait for short.
const (
	rankUpdatedBookings = iota + 1
	rankBookings
	rankSubscriptions
	rankLedger
	rankUsage
	rankCounters
	rankAudit
	rankKeys
)
