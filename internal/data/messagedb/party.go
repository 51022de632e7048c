package messagedb

import (
	"time"

	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// partyRow is the member of a booking `b` or an entry `e`, with its session `s`.
type partyRow struct {
	notify.Person
	checkInOpens *time.Duration // before the start; nil: no policy sets it
}

func (p *partyRow) sessionColumns() []pg.Column {
	return []pg.Column{
		pg.Read("s.id", &p.Session),
		pg.Read("s.starts_at", &p.StartsAt),
		pg.Read("s.ends_at", &p.EndsAt),
		pg.Read("(s.state = 'CANCELLED' or s.deleted_at is not null)", &p.SessionGone),
		pg.Read("coalesce(pv.check_in_opens_seconds, pl.check_in_opens_seconds, pt.check_in_opens_seconds)", &p.checkInOpens),
	}
}

var (
	bookingParties = pg.NewReader(func(p *partyRow) []pg.Column {
		return append(p.sessionColumns(),
			pg.Read("b.id", &p.Booking),
			pg.Read("b.member_id", &p.Member),
			pg.Read("b.status = 'CONFIRMED'", &p.Booked),
			pg.Read("case when p.id is not null then u.id end", &p.Payer),
			pg.Read("coalesce(u.balance, 0)", &p.Balance),
			pg.Read("b.credits", &p.Taken),
		)
	})
	entryParties = pg.NewReader(func(p *partyRow) []pg.Column {
		return append(p.sessionColumns(), pg.Read("e.id", &p.Entry), pg.Read("e.member_id", &p.Member))
	})
	windowParties = pg.NewReader(func(p *notify.Person) []pg.Column {
		return []pg.Column{pg.Read("e.id", &p.Entry), pg.Read("e.member_id", &p.Member)}
	})
	payerParties = pg.NewReader(func(p *notify.Person) []pg.Column {
		return []pg.Column{
			pg.Read("u.member_id", &p.Member), pg.Read("u.id", &p.Payer), pg.Read("u.balance", &p.Balance),
		}
	})
	staffParties = pg.NewReader(func(p *notify.Person) []pg.Column {
		return []pg.Column{pg.Read("m.id", &p.Member)}
	})
)

// Parties are the people that events concern.
type Parties struct {
	OfBookings, OfSessions, OfEntries, OfWindows, OfPayers, Staff []notify.Person
	// OfAccess are the members whose access changed, those who changed it, and the active owners.
	OfAccess []notify.Person
	Owners   map[tenant.MemberID]bool   // which of OfAccess are active owners
	Names    map[tenant.MemberID]string // of OfAccess
}

// entrySession is the session that a message about an entry `e` names: the one of its last offer, otherwise the first
// that it asks for. It is null for a time window without an offer.
const entrySession = `coalesce((
    select o.session_id from waitlist_offers o
    where o.tenant_id = e.tenant_id and o.entry_id = e.id order by o.id desc limit 1
  ), e.session_id, e.any_of[1])`

// selectParties reads the parties of bookings `b`.
var selectParties = `
select ` + bookingParties.Columns() + `
from bookings b join sessions s on s.tenant_id = b.tenant_id and s.id = b.session_id` + coredb.RuleJoins + `
  left join subscriptions u on u.tenant_id = b.tenant_id and u.id = b.subscription_id
  left join plans p on p.tenant_id = u.tenant_id and p.id = u.plan_id and p.kind = 'CREDITS'`

var (
	listBookingParties = pg.SQL(selectParties + `
where b.tenant_id = $1 and b.id = any($2)`)
	listSessionParties = pg.SQL(selectParties + `
where b.tenant_id = $1 and b.session_id = any($2) and b.status = 'CONFIRMED'`)
	listEntryParties = pg.SQL(`
select ` + entryParties.Columns() + `
from waitlist_entries e join sessions s on s.tenant_id = e.tenant_id and s.id = ` + entrySession + coredb.RuleJoins + `
where e.tenant_id = $1 and e.id = any($2)`)
	listWindowParties = pg.SQL(`
select ` + windowParties.Columns() + ` from waitlist_entries e
where e.tenant_id = $1 and e.id = any($2) and ` + entrySession + ` is null`)
	listPayerParties = pg.SQL(`
select ` + payerParties.Columns() + `
from subscriptions u join plans p on p.tenant_id = u.tenant_id and p.id = u.plan_id
where u.tenant_id = $1 and u.id = any($2) and p.kind = 'CREDITS'`)
	listStaffParties = pg.SQL(`
select distinct ` + staffParties.Columns() + `
from members m join member_roles r on r.tenant_id = m.tenant_id and r.member_id = m.id
where m.tenant_id = $1 and m.status = 'ACTIVE' and r.role in ('owner', 'admin')`)
)

// ListParties reads the people of bookings, entries and subscriptions, the people with confirmed bookings of sessions,
// and the active owners and admins if staff is true. Check-in opens before the start by checkInOpens, unless a policy
// sets it.
func ListParties(b *pg.Batch, in tenant.TenantID, bookings []tenant.BookingID, sessions []tenant.SessionID,
	entries []tenant.EntryID, payers []tenant.UUID, staff bool, checkInOpens time.Duration, into *Parties,
) {
	list := func(parties *pg.Reader[partyRow], sql string, ids any, into *[]notify.Person) {
		parties.Each(b.Queue(sql, in, ids), func(p partyRow) {
			before := checkInOpens
			if p.checkInOpens != nil {
				before = *p.checkInOpens
			}
			p.CheckInOpens = p.StartsAt.Add(-before)
			*into = append(*into, p.Person)
		})
	}
	if len(bookings) > 0 {
		list(&bookingParties, listBookingParties, bookings, &into.OfBookings)
	}
	if len(sessions) > 0 {
		list(&bookingParties, listSessionParties, sessions, &into.OfSessions)
	}
	if len(entries) > 0 {
		list(&entryParties, listEntryParties, entries, &into.OfEntries)
		windowParties.List(b.Queue(listWindowParties, in, entries), &into.OfWindows)
	}
	if len(payers) > 0 {
		payerParties.List(b.Queue(listPayerParties, in, payers), &into.OfPayers)
	}
	if staff {
		staffParties.List(b.Queue(listStaffParties, in), &into.Staff)
	}
}

// ListAccessParties reads members, and all active owners.
func ListAccessParties(b *pg.Batch, in tenant.TenantID, members []tenant.MemberID, into *Parties) {
	into.Owners, into.Names = make(map[tenant.MemberID]bool), make(map[tenant.MemberID]string)
	var id tenant.MemberID
	var name string
	var owner bool
	b.Queue(`
select m.id, m.name, o.member_id is not null from members m
left join member_roles o on o.tenant_id = m.tenant_id and o.member_id = m.id and o.role = $3 and m.status = 'ACTIVE'
where m.tenant_id = $1 and (m.id = any($2) or o.member_id is not null)
order by m.id`, in, members, tenant.RoleOwner).Each(func() {
		into.OfAccess = append(into.OfAccess, notify.Person{Member: id})
		into.Names[id], into.Owners[id] = name, owner
	}, &id, &name, &owner)
}
