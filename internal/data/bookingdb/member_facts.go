package bookingdb

import (
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// MemberFacts has what decides which of the sessions that start in a span a member can book.
type MemberFacts struct {
	Member        *booking.Member // nil if there is no such member
	Subscriptions []credit.Subscription
	Usage         []Usage
	Bookings      []Held
	Entries       []Queued // for sessions at any time
	Offers        []Offered
}

// Offered is a live offer.
type Offered struct {
	Session tenant.SessionID
	booking.OfferedSeats
}

// Held is an active booking.
type Held struct {
	Session   tenant.SessionID
	ID        tenant.BookingID
	Span      civil.Span
	Exclusive bool // must not overlap others
}

// Queued is an active entry.
type Queued struct {
	Session tenant.SessionID
	ID      tenant.EntryID
}

var (
	held = pg.NewReader(func(h *Held) []pg.Column {
		return []pg.Column{
			pg.Read("b.session_id", &h.Session),
			pg.Read("b.id", &h.ID),
			pg.Read("b.starts_at", &h.Span.Start),
			pg.Read("b.ends_at", &h.Span.End),
			pg.Read("b.exclusive", &h.Exclusive),
		}
	})
	queued = pg.NewReader(func(q *Queued) []pg.Column {
		return []pg.Column{pg.Read("p.session_id", &q.Session), pg.Read("p.entry_id", &q.ID)}
	})
	offered = pg.NewReader(func(o *Offered) []pg.Column {
		return []pg.Column{
			pg.Read("o.session_id", &o.Session),
			pg.Read("o.id", &o.Offer),
			pg.Read("o.seats", &o.Seats),
			pg.Read("o.expires_at", &o.Until),
			pg.Read("o.shared", &o.Shared),
		}
	})
)

var (
	listMemberUsage = pg.SQL(`
select ` + usage.Columns() + ` from subscriptions u
  join usage g on g.tenant_id = u.tenant_id and g.subscription_id = u.id
where u.tenant_id = $1 and u.member_id = $2 and g.starts_on >= $3 and g.starts_on <= $4`)
	listHeld = pg.SQL(`
select ` + held.Columns() + ` from bookings b
where b.tenant_id = $1 and b.member_id = $2 and b.starts_at >= $3 and b.starts_at < $4 and b.status in ` + active + `
order by b.starts_at, b.id`)
	listQueued = pg.SQL(`
select ` + queued.Columns() + ` from waitlist_places p
where p.tenant_id = $1 and p.member_id = $2 and p.session_id is not null`)
	// The places lead to the entries with offers: the index of members would read all the offers that they ever had.
	listOffered = pg.SQL(`
select ` + offered.Columns() + ` from (
  select distinct p.entry_id as id from waitlist_places p where p.tenant_id = $1 and p.member_id = $2 offset 0) q
cross join lateral (
  select * from waitlist_offers o where o.tenant_id = $1 and o.entry_id = q.id and o.status = 'LIVE' offset 0) o`)
)

// FindMemberFacts reads a member's facts with a fixed number of statements.
func FindMemberFacts(b *pg.Batch, in tenant.TenantID, member tenant.MemberID, starts civil.Span, into *MemberFacts) {
	FindBookingMember(b, in, member, &into.Member)
	ListMemberSubscriptions(b, in, member, &into.Subscriptions)
	// A local day is at most one day from that of UTC, and its week starts at most six days before it.
	usage.List(b.Queue(listMemberUsage, in, member,
		civil.DateOf(starts.Start, time.UTC).AddDays(-7), civil.DateOf(starts.End, time.UTC).AddDays(1)), &into.Usage)
	// A booking that overlaps one of the sessions starts at most a session's length before or after it.
	held.List(b.Queue(listHeld, in, member,
		starts.Start.Add(-session.MaxLength), starts.End.Add(session.MaxLength)), &into.Bookings)
	queued.List(b.Queue(listQueued, in, member), &into.Entries)
	offered.List(b.Queue(listOffered, in, member), &into.Offers)
}
