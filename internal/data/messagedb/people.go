package messagedb

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// personRow is the member of a booking `b` or an entry `e`, with its session `s`.
type personRow struct {
	notify.Person
	checkInOpens *time.Duration // before the start; nil: no policy sets it
}

func (p *personRow) sessionColumns() []pg.Column {
	return []pg.Column{
		pg.Read("s.id", &p.Session),
		pg.Read("s.starts_at", &p.StartsAt),
		pg.Read("s.ends_at", &p.EndsAt),
		pg.Read("(s.state = 'CANCELLED' or s.deleted_at is not null)", &p.SessionGone),
		pg.Read(`coalesce(pv.check_in_opens_before_seconds, pl.check_in_opens_before_seconds,
  pt.check_in_opens_before_seconds)`, &p.checkInOpens),
	}
}

var (
	bookingPeople = pg.NewReader(func(p *personRow) []pg.Column {
		return append(p.sessionColumns(),
			pg.Read("b.id", &p.Booking),
			pg.Read("b.member_id", &p.Member),
			pg.Read("b.status = 'CONFIRMED'", &p.Booked),
			pg.Read("case when p.id is not null then u.id end", &p.Payer),
			pg.Read("coalesce(u.balance, 0)", &p.Balance),
			pg.Read("b.credits", &p.Taken),
		)
	})
	entryPeople = pg.NewReader(func(p *personRow) []pg.Column {
		return append(p.sessionColumns(), pg.Read("e.id", &p.Entry), pg.Read("e.member_id", &p.Member))
	})
	windowPeople = pg.NewReader(func(p *notify.Person) []pg.Column {
		return []pg.Column{pg.Read("e.id", &p.Entry), pg.Read("e.member_id", &p.Member)}
	})
	payerPeople = pg.NewReader(func(p *notify.Person) []pg.Column {
		return []pg.Column{
			pg.Read("u.member_id", &p.Member), pg.Read("u.id", &p.Payer), pg.Read("u.balance", &p.Balance),
		}
	})
	staffPeople = pg.NewReader(func(p *notify.Person) []pg.Column {
		return []pg.Column{pg.Read("m.id", &p.Member)}
	})
	accessPeople = pg.NewReader(func(p *notify.Person) []pg.Column {
		return []pg.Column{
			pg.Read("m.id", &p.Member), pg.Read("m.name", &p.Name), pg.Read("o.member_id is not null", &p.Owner),
		}
	})
)

// People are the people whom events concern.
type People struct {
	OfBookings, OfSessions, OfEntries, OfWindows, OfPayers, OfStaff, OfAccess []notify.Person
}

// Of returns the people who were read for an audience.
func (p *People) Of(a notify.Audience) []notify.Person {
	switch a {
	case notify.OfBooking:
		return p.OfBookings
	case notify.OfSession:
		return p.OfSessions
	case notify.OfEntry:
		return slices.Concat(p.OfEntries, p.OfWindows)
	case notify.OfPayer:
		return p.OfPayers
	case notify.OfStaff:
		return p.OfStaff
	case notify.OfAccess:
		return p.OfAccess
	case notify.Nobody:
	}
	return nil
}

// entrySession is the session that a message about an entry `e` names: the one of its last offer, otherwise the first
// that it asks for. It is null for a time window without an offer.
const entrySession = `coalesce((
    select o.session_id from waitlist_offers o
    where o.tenant_id = e.tenant_id and o.entry_id = e.id order by o.id desc limit 1
  ), e.session_id, e.any_of[1])`

// selectPeople reads the people of bookings `b`.
var selectPeople = `
select ` + bookingPeople.Columns() + `
from bookings b join sessions s on s.tenant_id = b.tenant_id and s.id = b.session_id` + coredb.PolicyJoins + `
  left join subscriptions u on u.tenant_id = b.tenant_id and u.id = b.subscription_id
  left join plans p on p.tenant_id = u.tenant_id and p.id = u.plan_id and p.kind = 'CREDITS'`

var (
	listBookingPeople = pg.SQL(selectPeople + `
where b.tenant_id = $1 and b.id = any($2)`)
	listSessionPeople = pg.SQL(selectPeople + `
where b.tenant_id = $1 and b.session_id = any($2) and b.status = 'CONFIRMED'`)
	listEntryPeople = pg.SQL(`
select ` + entryPeople.Columns() + `
from waitlist_entries e
  join sessions s on s.tenant_id = e.tenant_id and s.id = ` + entrySession + coredb.PolicyJoins + `
where e.tenant_id = $1 and e.id = any($2)`)
	listWindowPeople = pg.SQL(`
select ` + windowPeople.Columns() + ` from waitlist_entries e
where e.tenant_id = $1 and e.id = any($2) and ` + entrySession + ` is null`)
	listPayerPeople = pg.SQL(`
select ` + payerPeople.Columns() + `
from subscriptions u join plans p on p.tenant_id = u.tenant_id and p.id = u.plan_id
where u.tenant_id = $1 and u.id = any($2) and p.kind = 'CREDITS'`)
	listStaffPeople = pg.SQL(`
select distinct ` + staffPeople.Columns() + `
from members m join member_roles r on r.tenant_id = m.tenant_id and r.member_id = m.id
where m.tenant_id = $1 and m.status = 'ACTIVE' and r.role in ('owner', 'admin')`)
	listAccessPeople = pg.SQL(`
select ` + accessPeople.Columns() + ` from members m
left join member_roles o on o.tenant_id = m.tenant_id and o.member_id = m.id and o.role = $3 and m.status = 'ACTIVE'
where m.tenant_id = $1 and (m.id = any($2) or o.member_id is not null)
order by m.id`)
)

// All returns all who were read.
func (p *People) All() []notify.Person {
	return slices.Concat(p.OfBookings, p.OfSessions, p.OfEntries, p.OfWindows, p.OfPayers, p.OfStaff, p.OfAccess)
}

// PeopleIDs are the ids of those whom events concern.
type PeopleIDs struct {
	Bookings []tenant.BookingID
	Sessions []tenant.SessionID // those with confirmed bookings
	Entries  []tenant.EntryID
	Payers   []tenant.UUID
	Staff    bool // the active owners and admins
}

// ListPeople reads people. Check-in opens before the start by checkInOpens, unless a policy sets it.
func ListPeople(b *pg.Batch, in tenant.TenantID, ids PeopleIDs, checkInOpens time.Duration, into *People) {
	list := func(people *pg.Reader[personRow], sql string, ids any, into *[]notify.Person) {
		*into = nil
		people.Each(b.Queue(sql, in, ids), func(p personRow) {
			before := checkInOpens
			if p.checkInOpens != nil {
				before = *p.checkInOpens
			}
			p.CheckInOpens = p.StartsAt.Add(-before)
			*into = append(*into, p.Person)
		})
	}
	if len(ids.Bookings) > 0 {
		list(&bookingPeople, listBookingPeople, ids.Bookings, &into.OfBookings)
	}
	if len(ids.Sessions) > 0 {
		list(&bookingPeople, listSessionPeople, ids.Sessions, &into.OfSessions)
	}
	if len(ids.Entries) > 0 {
		list(&entryPeople, listEntryPeople, ids.Entries, &into.OfEntries)
		windowPeople.List(b.Queue(listWindowPeople, in, ids.Entries), &into.OfWindows)
	}
	if len(ids.Payers) > 0 {
		payerPeople.List(b.Queue(listPayerPeople, in, ids.Payers), &into.OfPayers)
	}
	if ids.Staff {
		staffPeople.List(b.Queue(listStaffPeople, in), &into.OfStaff)
	}
}

// ListAccessPeople reads members, and all active owners.
func ListAccessPeople(b *pg.Batch, in tenant.TenantID, members []tenant.MemberID, into *[]notify.Person) {
	accessPeople.List(b.Queue(listAccessPeople, in, members, tenant.RoleOwner), into)
}
