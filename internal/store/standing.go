package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// Standing is all that decides what a member may book among the sessions that
// start in a span.
type Standing struct {
	Member        *booking.Member // nil: there is no such member
	Subscriptions []credit.Subscription
	Usage         []Usage
	Bookings      []Held
	Entries       []Queued // for sessions, whenever these are
}

// Usage is how many bookings of a subscription count on a local day or in a local week.
type Usage struct {
	Subscription tenant.SubscriptionID
	Week         bool       // else the day
	On           civil.Date // a week's Monday
	Used         int
}

// Held is an active booking.
type Held struct {
	Session   tenant.SessionID
	ID        tenant.BookingID
	Span      civil.Span
	Exclusive bool // tolerates no overlap
}

// Queued is an entry that waits.
type Queued struct {
	Session tenant.SessionID
	ID      tenant.EntryID
}

// FindStanding reads it with a fixed number of statements.
func FindStanding(b *pg.Batch, in tenant.TenantID, member tenant.MemberID, starts civil.Span, into *Standing) {
	FindBookingMember(b, in, member, &into.Member)
	ListMemberSubscriptions(b, in, member, &into.Subscriptions)
	// A local day begins at most a day before or after that of UTC, and its week at most six days before.
	pg.Collect(b.Queue(`
select g.subscription_id, g.span = 'WEEK', g.starts_on, g.used from subscriptions u
  join usage g on g.tenant_id = u.tenant_id and g.subscription_id = u.id
where u.tenant_id = $1 and u.member_id = $2 and g.starts_on >= $3 and g.starts_on <= $4`,
		in, member, date(civil.DateOf(starts.Start, time.UTC).AddDays(-7)), date(civil.DateOf(starts.End, time.UTC).AddDays(1))),
		&into.Usage, func(row pgx.CollectableRow) (Usage, error) {
			var u Usage
			var on time.Time
			err := row.Scan(&u.Subscription, &u.Week, &on, &u.Used)
			u.On = day(on)
			return u, err
		})
	// What overlaps one of the sessions starts at most a session's length before or after it.
	pg.Collect(b.Queue(`
select session_id, id, starts_at, ends_at, exclusive from bookings
where tenant_id = $1 and member_id = $2 and starts_at >= $3 and starts_at < $4 and status in ('PENDING', 'CONFIRMED', 'ATTENDED')
order by starts_at, id`,
		in, member, starts.Start.Add(-session.MaxLength), starts.End.Add(session.MaxLength)),
		&into.Bookings, func(row pgx.CollectableRow) (Held, error) {
			var h Held
			err := row.Scan(&h.Session, &h.ID, &h.Span.Start, &h.Span.End, &h.Exclusive)
			return h, err
		})
	pg.Collect(b.Queue(`
select session_id, entry_id from waitlist_places where tenant_id = $1 and member_id = $2 and session_id is not null`, in, member),
		&into.Entries, func(row pgx.CollectableRow) (Queued, error) {
			var q Queued
			err := row.Scan(&q.Session, &q.ID)
			return q, err
		})
}
