package bookingdb

import (
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// Moving is a booking that is affected if its session moves to another time.
type Moving struct {
	ID           tenant.BookingID
	Session      tenant.SessionID
	Subscription tenant.SubscriptionID
	Counted      bool // against the quotas of its subscription
	Exclusive    bool // active, and must not overlap others
}

var moving = pg.NewReader(func(m *Moving) []pg.Column {
	return []pg.Column{
		pg.Read("b.id", &m.ID),
		pg.Read("b.session_id", &m.Session),
		pg.Read("b.subscription_id", &m.Subscription),
		pg.Read("b.counted", &m.Counted),
		pg.Read("b.exclusive and b.status in "+active, &m.Exclusive),
	}
})

var listMoving = pg.SQL(`
select ` + moving.Columns() + ` from bookings b
where b.tenant_id = $1 and b.session_id = any($2) and (b.counted or b.exclusive)`)

// ListMoving reads the bookings of sessions that count against quotas or must not overlap others.
func ListMoving(b *pg.Batch, in tenant.TenantID, sessions []tenant.SessionID, into *[]Moving) {
	moving.List(b.Queue(listMoving, in, sessions), into)
}

// MoveBookings sets the times of bookings to those of their sessions, with the transaction. Exclusive bookings may
// overlap until the last one has moved, so that two bookings of a member can swap their times.
func MoveBookings(
	tx *pg.Tx, in tenant.TenantID, sessions []session.Session, exclusive []tenant.BookingID, now time.Time,
) {
	if len(exclusive) > 0 {
		tx.Write(`update bookings set exclusive = false where tenant_id = $1 and id = any($2)`, in, exclusive)
	}
	tx.Write(`
update bookings b set starts_at = x.starts_at, ends_at = x.ends_at, exclusive = b.exclusive or b.id = any($5),
  updated_at = $6, version = version + 1
from unnest($2::uuid[], $3::timestamptz[], $4::timestamptz[]) as x (session_id, starts_at, ends_at)
where b.tenant_id = $1 and b.session_id = x.session_id`, in,
		pg.Array(sessions, func(s session.Session) tenant.SessionID { return s.ID }),
		pg.Array(sessions, func(s session.Session) time.Time { return s.StartsAt }),
		pg.Array(sessions, func(s session.Session) time.Time { return s.EndsAt }),
		append([]tenant.BookingID{}, exclusive...), now)
}
