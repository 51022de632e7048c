package messagedb

import (
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
)

// Subject is what notices are about.
type Subject struct {
	content.Subject
	Session  tenant.SessionID
	TimeZone string    // the location's
	Made     time.Time // when the booking or entry was made
	Guest    bool
	Name     string // the guest's
	Email    string
	Phone    string
	Says     event.Facts // what an event says of a booking
}

// BookedSubject is a booking in a calendar feed.
type BookedSubject struct {
	Subject
	ID      tenant.BookingID
	Changed time.Time
}

// subjectRow is a subject with its id.
type subjectRow struct {
	Subject
	id     tenant.UUID
	window content.TimeWindow
}

// columns are the columns of a session `s` with subjectJoins.
func (s *Subject) columns() []pg.Column {
	return []pg.Column{
		pg.Read("s.id", &s.Session),
		pg.Read("s.title", &s.Title),
		pg.Read("s.starts_at", &s.StartsAt),
		pg.Read("s.ends_at", &s.EndsAt),
		pg.Read("(s.state = 'CANCELLED' or s.deleted_at is not null)", &s.SessionGone),
		pg.Read("l.time_zone", &s.TimeZone),
		pg.Read("l.name", &s.Location),
		pg.Read("l.address", &s.Address),
		pg.Read("coalesce(r.name, '')", &s.Resource),
		pg.Read("coalesce(c.name, '')", &s.Coach),
	}
}

const subjectJoins = `
  join locations l on l.tenant_id = s.tenant_id and l.id = s.location_id
  left join resources r on r.tenant_id = s.tenant_id and r.id = s.resource_id
  left join members c on c.tenant_id = s.tenant_id and c.id = s.coach_id and c.status = 'ACTIVE'`

var (
	bookingSubjects = pg.ReadAs(func(s *subjectRow) []pg.Column {
		return append(s.columns(),
			pg.Read("b.id", &s.id),
			pg.Read("b.status = 'CONFIRMED'", &s.Booked),
			pg.Read("b.status = 'ATTENDED'", &s.Attended),
			pg.Read("b.status = 'CANCELLED'", &s.Cancelled),
			pg.Read("b.party_size", &s.Party),
			pg.Read("b.created_at", &s.Made),
			pg.Read("b.member_id is null", &s.Guest),
			pg.Read("b.contact_name", &s.Name),
			pg.Read("b.contact_email", &s.Email),
			pg.Read("b.contact_phone", &s.Phone),
			pg.Read("b.status", &s.Says.Status),
			pg.Read("b.external_ref", &s.Says.ExternalRef),
			pg.Read("b.payment_status", &s.Says.Payment.Status),
			pg.Read("b.subscription_id", &s.Says.Subscription),
		)
	}, func(s *subjectRow) (subjectRow, error) {
		s.Says.Party = s.Party
		return *s, nil
	})
	entrySubjects = pg.NewReader(func(s *subjectRow) []pg.Column {
		return append(s.columns(),
			pg.Read("e.id", &s.id),
			pg.Read("e.status in ('WAITING', 'OFFERED')", &s.Waiting),
			pg.Read("e.party_size", &s.Party),
			pg.Read("e.created_at", &s.Made),
		)
	})
	windowSubjects = pg.ReadAs(func(s *subjectRow) []pg.Column {
		return []pg.Column{
			pg.Read("e.id", &s.id),
			pg.Read("e.status in ('WAITING', 'OFFERED')", &s.Waiting),
			pg.Read("e.party_size", &s.Party),
			pg.Read("e.created_at", &s.Made),
			pg.Read("e.first_date", &s.window.From),
			pg.Read("e.last_date", &s.window.Until),
			pg.Read("e.earliest", &s.window.Earliest),
			pg.Read("e.latest", &s.window.Latest),
			pg.Read("v.name", &s.Title),
			pg.Read("l.time_zone", &s.TimeZone),
			pg.Read("l.name", &s.Location),
			pg.Read("l.address", &s.Address),
			pg.Read("coalesce(r.name, '')", &s.Resource),
			pg.Read("coalesce(c.name, '')", &s.Coach),
		}
	}, func(s *subjectRow) (subjectRow, error) {
		window := s.window
		s.Window = &window
		return *s, nil
	})
	sessionSubjects = pg.NewReader(func(s *subjectRow) []pg.Column {
		return append(s.columns(), pg.Read("s.id", &s.id))
	})
	payerSubjects = pg.NewReader(func(s *subjectRow) []pg.Column {
		return []pg.Column{pg.Read("u.id", &s.id), pg.Read("u.balance", &s.Balance), pg.Read("p.name", &s.Plan)}
	})
	bookedSubjects = pg.NewReader(func(s *BookedSubject) []pg.Column {
		return append(s.columns(),
			pg.Read("b.id", &s.ID),
			pg.Read("b.party_size", &s.Party),
			pg.Read("b.created_at", &s.Made),
			pg.Read("greatest(b.updated_at, s.updated_at)", &s.Changed),
		)
	})
)

var (
	listBookingSubjects = pg.SQL(`
select ` + bookingSubjects.Columns() + `
from bookings b join sessions s on s.tenant_id = b.tenant_id and s.id = b.session_id` + subjectJoins + `
where b.tenant_id = $1 and b.id = any($2)`)
	listEntrySubjects = pg.SQL(`
select ` + entrySubjects.Columns() + `
from waitlist_entries e join sessions s on s.tenant_id = e.tenant_id and s.id = ` + entrySession + subjectJoins + `
where e.tenant_id = $1 and e.id = any($2)`)
	listWindowSubjects = pg.SQL(`
select ` + windowSubjects.Columns() + ` from waitlist_entries e
  join services v on v.tenant_id = e.tenant_id and v.id = e.service_id
  join locations l on l.tenant_id = e.tenant_id and l.id = e.location_id
  left join resources r on r.tenant_id = e.tenant_id and r.id = e.resource_id
  left join members c on c.tenant_id = e.tenant_id and c.id = e.coach_id and c.status = 'ACTIVE'
where e.tenant_id = $1 and e.id = any($2) and ` + entrySession + ` is null`)
	listSessionSubjects = pg.SQL(`
select ` + sessionSubjects.Columns() + ` from sessions s` + subjectJoins + ` where s.tenant_id = $1 and s.id = any($2)`)
	listPayerSubjects = pg.SQL(`
select ` + payerSubjects.Columns() + `
from subscriptions u join plans p on p.tenant_id = u.tenant_id and p.id = u.plan_id
where u.tenant_id = $1 and u.id = any($2)`)
	listMemberSchedule = pg.SQL(`
select ` + bookedSubjects.Columns() + `
from bookings b join sessions s on s.tenant_id = b.tenant_id and s.id = b.session_id` + subjectJoins + `
where b.tenant_id = $1 and b.member_id = $2 and b.starts_at >= $3 and b.status in ('CONFIRMED', 'ATTENDED')
  and s.deleted_at is null
order by b.starts_at, b.id limit $4`)
)

// ListSubjects reads bookings, entries, sessions and subscriptions by their ids. It adds them to the map.
func ListSubjects(b *pg.Batch, in tenant.TenantID, bookings []tenant.BookingID, entries []tenant.EntryID,
	sessions []tenant.SessionID, payers []tenant.UUID, into map[tenant.UUID]*Subject,
) {
	add := func(s subjectRow) { into[s.id] = &s.Subject }
	if len(bookings) > 0 {
		bookingSubjects.Each(b.Queue(listBookingSubjects, in, bookings), add)
	}
	if len(entries) > 0 {
		entrySubjects.Each(b.Queue(listEntrySubjects, in, entries), add)
		windowSubjects.Each(b.Queue(listWindowSubjects, in, entries), add)
	}
	if len(sessions) > 0 {
		sessionSubjects.Each(b.Queue(listSessionSubjects, in, sessions), add)
	}
	if len(payers) > 0 {
		payerSubjects.Each(b.Queue(listPayerSubjects, in, payers), add)
	}
}

// ListMemberSchedule reads a member's bookings from a time on.
func ListMemberSchedule(
	b *pg.Batch, in tenant.TenantID, owner tenant.MemberID, from time.Time, limit int, into *[]BookedSubject,
) {
	bookedSubjects.List(b.Queue(listMemberSchedule, in, owner, from, limit), into)
}
