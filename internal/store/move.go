package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// Moving is a booking that notices when its session moves to another time.
type Moving struct {
	ID           tenant.BookingID
	Session      tenant.SessionID
	Subscription tenant.SubscriptionID
	Counted      bool // against the quotas of its subscription
	Exclusive    bool // tolerates no overlap, and is active
}

// ListMoving reads the bookings of sessions that count against quotas or tolerate no overlap.
func ListMoving(b *pg.Batch, in tenant.TenantID, sessions []tenant.SessionID, into *[]Moving) {
	pg.Collect(b.Queue(`
select id, session_id, subscription_id, counted, exclusive and status in ('PENDING', 'CONFIRMED', 'ATTENDED') from bookings
where tenant_id = $1 and session_id = any($2) and (counted or exclusive)`, in, sessions), into,
		func(row pgx.CollectableRow) (Moving, error) {
			var m Moving
			err := row.Scan(&m.ID, &m.Session, &m.Subscription, &m.Counted, &m.Exclusive)
			return m, err
		})
}

// MoveBookings gives, with the transaction, the bookings of sessions the sessions' new spans. Those that tolerate no
// overlap stop to do so meanwhile, so that bookings of one member may take each other's places.
func MoveBookings(tx *pg.Tx, in tenant.TenantID, sessions []session.Session, exclusive []tenant.BookingID, now time.Time) {
	if len(exclusive) > 0 {
		tx.Write(`update bookings set exclusive = false where tenant_id = $1 and id = any($2)`, in, exclusive)
	}
	tx.Write(`
update bookings b set starts_at = x.starts_at, ends_at = x.ends_at, exclusive = b.exclusive or b.id = any($5), updated_at = $6
from unnest($2::uuid[], $3::timestamptz[], $4::timestamptz[]) as x (session_id, starts_at, ends_at)
where b.tenant_id = $1 and b.session_id = x.session_id`, in,
		column(sessions, func(s session.Session) tenant.SessionID { return s.ID }),
		column(sessions, func(s session.Session) time.Time { return s.StartsAt }),
		column(sessions, func(s session.Session) time.Time { return s.EndsAt }),
		append([]tenant.BookingID{}, exclusive...), now)
}

// MoveUsage counts bookings, with the transaction, on other days and in other weeks than before. Each subscription, span and day
// may be named once; Used is what is added.
func MoveUsage(tx *pg.Tx, in tenant.TenantID, changes []Usage) {
	var more, less []Usage
	for _, u := range changes {
		switch {
		case u.Used > 0:
			more = append(more, u)
		case u.Used < 0:
			less = append(less, u)
		}
	}
	const rows = `unnest($2::uuid[], $3::text[], $4::date[], $5::integer[]) as x (subscription_id, span, starts_on, used)`
	if len(less) > 0 {
		tx.Write(`
update usage u set used = u.used + x.used from `+rows+`
where u.tenant_id = $1 and u.subscription_id = any($2) and u.subscription_id = x.subscription_id and u.span = x.span
  and u.starts_on = x.starts_on`, usageColumns(in, less)...)
	}
	if len(more) > 0 {
		tx.Write(`
insert into usage (tenant_id, subscription_id, span, starts_on, used)
select $1, x.subscription_id, x.span, x.starts_on, x.used from `+rows+`
on conflict (tenant_id, subscription_id, span, starts_on) do update set used = usage.used + excluded.used`, usageColumns(in, more)...)
	}
}

func usageColumns(in tenant.TenantID, changes []Usage) []any {
	return []any{
		in,
		column(changes, func(u Usage) tenant.SubscriptionID { return u.Subscription }),
		column(changes, func(u Usage) string {
			if u.Week {
				return "WEEK"
			}
			return "DAY"
		}),
		column(changes, func(u Usage) time.Time { return date(u.On) }),
		column(changes, func(u Usage) int32 { return int32(u.Used) }),
	}
}

// UsageOn names the rows that a booking on a local day counts in.
func UsageOn(id tenant.SubscriptionID, on civil.Date) [2]Usage {
	return [2]Usage{{Subscription: id, On: on}, {Subscription: id, Week: true, On: on.WeekStart()}}
}
