package store

import (
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// partyColumns and partyJoins read whom a booking `b` or an entry `e` concerns, and their session `s`.
const partyColumns = `s.id, s.starts_at, s.ends_at, (s.state = 'CANCELLED' or s.deleted_at is not null),
  coalesce(pv.check_in_opens_seconds, pl.check_in_opens_seconds, pt.check_in_opens_seconds)`

const payerJoins = `
  left join subscriptions u on u.tenant_id = b.tenant_id and u.id = b.subscription_id
  left join plans p on p.tenant_id = u.tenant_id and p.id = u.plan_id and p.kind = 'CREDITS'`

const bookingParties = `
select b.id, null::uuid, b.member_id, b.status = 'CONFIRMED', case when p.id is not null then u.id end, coalesce(u.balance, 0), b.credits, ` + partyColumns + `
from bookings b join sessions s on s.tenant_id = b.tenant_id and s.id = b.session_id` + ruleJoins + payerJoins

func scanParty(opens time.Duration) func(row pgx.CollectableRow) (notify.Party, error) {
	return func(row pgx.CollectableRow) (notify.Party, error) {
		var p notify.Party
		var window *int64
		err := row.Scan(&p.Booking, &p.Entry, &p.Member, &p.Coming, &p.Payer, &p.Balance, &p.Taken,
			&p.Session, &p.StartsAt, &p.EndsAt, &p.SessionGone, &window)
		if window != nil {
			opens = time.Duration(*window) * time.Second
		}
		p.CheckInOpens = p.StartsAt.Add(-opens)
		return p, err
	}
}

// Parties are whom events concern.
type Parties struct {
	OfBookings, OfSessions, OfEntries, OfWindows, OfPayers, Staff []notify.Party
}

// entrySession is the session that there is to tell about an entry `e`: the one it was offered last, or wishes for first. A window
// that was offered nothing has none.
const entrySession = `coalesce(
  (select o.session_id from waitlist_offers o where o.tenant_id = e.tenant_id and o.entry_id = e.id order by o.id desc limit 1), e.session_id, e.any_of[1])`

// ListParties reads the parties of bookings, all that come to sessions, those behind entries and subscriptions, and, where staff
// are asked for, the active owners and admins. Check-in opens so long before a start unless policy says otherwise.
func ListParties(b *pg.Batch, in tenant.TenantID, bookings []tenant.BookingID, sessions []tenant.SessionID, entries []tenant.EntryID,
	payers []tenant.UUID, staff bool, opens time.Duration, into *Parties,
) {
	if len(bookings) > 0 {
		pg.Collect(b.Queue(bookingParties+` where b.tenant_id = $1 and b.id = any($2)`, in, bookings), &into.OfBookings, scanParty(opens))
	}
	if len(sessions) > 0 {
		pg.Collect(b.Queue(bookingParties+` where b.tenant_id = $1 and b.session_id = any($2) and b.status = 'CONFIRMED'`, in, sessions),
			&into.OfSessions, scanParty(opens))
	}
	if len(entries) > 0 {
		pg.Collect(b.Queue(`
select null::uuid, e.id, e.member_id, false, null::uuid, 0, 0, `+partyColumns+`
from waitlist_entries e join sessions s on s.tenant_id = e.tenant_id and s.id = `+entrySession+ruleJoins+`
where e.tenant_id = $1 and e.id = any($2)`, in, entries), &into.OfEntries, scanParty(opens))
		pg.Collect(b.Queue(`
select e.id, e.member_id from waitlist_entries e where e.tenant_id = $1 and e.id = any($2) and `+entrySession+` is null`, in, entries), &into.OfWindows,
			func(row pgx.CollectableRow) (notify.Party, error) {
				var p notify.Party
				err := row.Scan(&p.Entry, &p.Member)
				return p, err
			})
	}
	if len(payers) > 0 {
		pg.Collect(b.Queue(`
select u.member_id, u.id, u.balance from subscriptions u join plans p on p.tenant_id = u.tenant_id and p.id = u.plan_id
where u.tenant_id = $1 and u.id = any($2) and p.kind = 'CREDITS'`, in, payers), &into.OfPayers,
			func(row pgx.CollectableRow) (notify.Party, error) {
				var p notify.Party
				err := row.Scan(&p.Member, &p.Payer, &p.Balance)
				return p, err
			})
	}
	if staff {
		pg.Collect(b.Queue(`
select distinct m.id from members m join member_roles r on r.tenant_id = m.tenant_id and r.member_id = m.id
where m.tenant_id = $1 and m.status = 'ACTIVE' and r.role in ('owner', 'admin')`, in), &into.Staff,
			func(row pgx.CollectableRow) (notify.Party, error) {
				var p notify.Party
				err := row.Scan(&p.Member)
				return p, err
			})
	}
}

// InsertNotices writes notices with the transaction. What has been planned before stays as it is. After the commit, planned hears when
// the first of the new ones is due.
func InsertNotices(tx *pg.Tx, in tenant.TenantID, notices []notify.Notice, now time.Time, planned func(due time.Time)) {
	if len(notices) == 0 {
		return
	}
	n := len(notices)
	var ids []tenant.NoticeID
	var topics, lanes, revisions []string
	var recipients, things []tenant.UUID
	var members []tenant.MemberID
	var sessions []tenant.SessionID
	var bookings []tenant.BookingID
	var entries []tenant.EntryID
	var offers []tenant.OfferID
	starts := make([]*time.Time, 0, n)
	var due, expires, happened []time.Time
	details := make([][]byte, 0, n)
	for _, x := range notices {
		text, err := json.Marshal(x.Details)
		if err != nil {
			panic("store: details: " + err.Error()) // plain values
		}
		ids, topics, lanes, revisions = append(ids, x.ID), append(topics, string(x.Topic)), append(lanes, string(x.Lane)), append(revisions, x.Revision)
		recipients, things, members = append(recipients, x.Recipient()), append(things, x.Thing), append(members, x.Member)
		sessions, bookings, entries, offers = append(sessions, x.Session), append(bookings, x.Booking), append(entries, x.Entry), append(offers, x.Offer)
		starts, due, expires = append(starts, optional(x.StartsAt)), append(due, x.DueAt), append(expires, x.ExpiresAt)
		happened, details = append(happened, x.At), append(details, text)
	}
	tx.Write(`
insert into notices (tenant_id, id, topic, lane, recipient, member_id, session_id, booking_id, entry_id, offer_id, thing, revision,
  starts_at, due_at, expires_at, happened_at, details, created_at)
select $1, n.*, $18
from unnest($2::uuid[], $3::text[], $4::text[], $5::uuid[], $6::uuid[], $7::uuid[], $8::uuid[], $9::uuid[], $10::uuid[], $11::uuid[], $12::text[],
  $13::timestamptz[], $14::timestamptz[], $15::timestamptz[], $16::timestamptz[], $17::jsonb[]) as n
on conflict (tenant_id, recipient, topic, thing, revision, lane) do nothing
returning due_at`,
		in, ids, topics, lanes, recipients, members, sessions, bookings, entries, offers, things, revisions, starts, due, expires, happened, details, now).
		Query(func(rows pgx.Rows) error {
			var first, at time.Time
			_, err := pgx.ForEachRow(rows, []any{&at}, func() error {
				if first.IsZero() || at.Before(first) {
					first = at
				}
				return nil
			})
			if err == nil && !first.IsZero() {
				planned(first)
			}
			return err
		})
}

// ListDueNotices finds notices that are due, the longest due first.
func ListDueNotices(b *pg.Batch, in tenant.TenantID, now time.Time, limit int, into *[]tenant.NoticeID) {
	pg.Collect(b.Queue(`select id from notices where tenant_id = $1 and done_at is null and due_at <= $2 order by due_at, id limit $3`, in, now, limit),
		into, pgx.RowTo[tenant.NoticeID])
}

// FindNextNotice tells when the next notice is due; zero where none is open.
func FindNextNotice(b *pg.Batch, in tenant.TenantID, into *time.Time) {
	b.Queue(`select due_at from notices where tenant_id = $1 and done_at is null order by due_at limit 1`, in).QueryRow(func(row pgx.Row) error {
		*into = time.Time{}
		if err := row.Scan(into); !isNoRows(err) {
			return err
		}
		return nil
	})
}

// OpenNotice is a notice that is due.
type OpenNotice struct {
	notify.Notice
	Sending bool
	// Was is the status of the last attempt, as far as it is known by now.
	Was notify.DeliveryStatus
}

// ListNotices reads those of the notices that still are due.
func ListNotices(b *pg.Batch, in tenant.TenantID, ids []tenant.NoticeID, now time.Time, into *[]OpenNotice) {
	pg.Collect(b.Queue(`
select n.id, n.topic, n.lane, n.member_id, n.session_id, n.booking_id, n.entry_id, n.offer_id, n.thing, n.revision, n.starts_at, n.due_at,
  n.expires_at, n.happened_at, n.details, n.sending, n.tried, n.attempts, n.unsure, coalesce(case when n.sending then (
    -- Attempts are numbered anew with each channel, so that lines of another have the same number, or a greater one.
    select d.status from deliveries d
    where d.tenant_id = n.tenant_id and d.notice_id = n.id and d.attempt = n.attempts and not d.channel = any(n.tried)
    order by d.created_at desc, array_position('{POSSIBLY_SENT,FAILED,UNDELIVERED,BOUNCED,QUEUED,SENT,DELIVERED,READ}', d.status) desc limit 1) end, '')
from unnest($2::uuid[]) with ordinality as w (id, place)
-- Each by its key: the index of what is due looks small to the planner, and is not.
cross join lateral (select * from notices where tenant_id = $1 and id = w.id offset 0) n
where n.done_at is null and n.due_at <= $3
order by w.place`, in, ids, now), into, func(row pgx.CollectableRow) (OpenNotice, error) {
		var n OpenNotice
		var starts *time.Time
		var details []byte
		err := row.Scan(&n.ID, &n.Topic, &n.Lane, &n.Member, &n.Session, &n.Booking, &n.Entry, &n.Offer, &n.Thing, &n.Revision, &starts,
			&n.DueAt, &n.ExpiresAt, &n.At, &details, &n.Sending, &n.Tried, &n.Attempts, &n.Unsure, &n.Was)
		if err != nil {
			return n, err
		}
		if starts != nil {
			n.StartsAt = *starts
		}
		return n, json.Unmarshal(details, &n.Details)
	})
}

// UpdateNotices writes where notices stand with the transaction. What is done stays done, and what follows an attempt
// of which something else has come meanwhile is not written.
func UpdateNotices(tx *pg.Tx, in tenant.TenantID, states []notify.Standing, now time.Time) {
	if len(states) == 0 {
		return
	}
	var ids []tenant.NoticeID
	var due []time.Time
	var sending []bool
	var done []*time.Time
	var attempts, unsure, after, channels []int
	var tried [][]byte
	for _, s := range states {
		var over *time.Time
		if s.Done {
			over = &now
		}
		texts := make([]string, len(s.Tried))
		for i, c := range s.Tried {
			texts[i] = string(c)
		}
		ids, due, sending, done = append(ids, s.ID), append(due, s.DueAt), append(sending, s.Sending), append(done, over)
		attempts, unsure, tried = append(attempts, s.Attempts), append(unsure, s.Unsure), append(tried, encodeTexts(texts))
		after, channels = append(after, s.Attempt), append(channels, s.Channels)
	}
	tx.Write(`
update notices n set due_at = s.due_at, sending = s.sending, tried = array(select jsonb_array_elements_text(s.tried)), attempts = s.attempts,
  unsure = s.unsure, done_at = coalesce(n.done_at, s.done_at)
from unnest($2::uuid[], $3::timestamptz[], $4::boolean[], $5::jsonb[], $6::integer[], $7::integer[], $8::timestamptz[], $9::integer[], $10::integer[])
  as s (id, due_at, sending, tried, attempts, unsure, done_at, after, channels)
where n.tenant_id = $1 and n.id = s.id and n.id = any($2) and (
  s.after = 0 or (n.sending and n.attempts = s.after and n.unsure = s.unsure and cardinality(n.tried) = s.channels))`,
		in, ids, due, sending, tried, attempts, unsure, done, after, channels)
}

// Subject is what notices are about, as it is now, with what messages say of it.
type Subject struct {
	notify.Matter
	Session   tenant.SessionID
	Title     string
	EndsAt    time.Time
	TimeZone  string // the location's
	Location  string
	Address   string
	Resource  string
	Coach     string
	Party     int
	Made      time.Time      // when the booking or entry was made
	Window    *notify.Window // of an entry for which there is no session yet
	Guest     bool
	Name      string // the guest's
	Email     string
	Phone     string
	PlanNamed string
}

const subjectColumns = `
  s.id, s.title, s.starts_at, s.ends_at, (s.state = 'CANCELLED' or s.deleted_at is not null), l.time_zone, l.name, l.address, coalesce(r.name, ''), coalesce(c.name, '')`

const subjectJoins = `
  join locations l on l.tenant_id = s.tenant_id and l.id = s.location_id
  left join resources r on r.tenant_id = s.tenant_id and r.id = s.resource_id
  left join members c on c.tenant_id = s.tenant_id and c.id = s.coach_id`

func (s *Subject) targets() []any {
	return []any{&s.Session, &s.Title, &s.StartsAt, &s.EndsAt, &s.SessionGone, &s.TimeZone, &s.Location, &s.Address, &s.Resource, &s.Coach}
}

// ListSubjects reads what notices are about: bookings, entries, sessions and subscriptions, by their ids. It adds to the map.
func ListSubjects(b *pg.Batch, in tenant.TenantID, bookings []tenant.BookingID, entries []tenant.EntryID, sessions []tenant.SessionID,
	payers []tenant.UUID, into map[tenant.UUID]*Subject,
) {
	each := func(sql string, ids any, scan func(rows pgx.Rows, id *tenant.UUID, s *Subject) error) {
		b.Queue(sql, in, ids).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var id tenant.UUID
				s := new(Subject)
				if err := scan(rows, &id, s); err != nil {
					return err
				}
				into[id] = s
			}
			return rows.Err()
		})
	}
	if len(bookings) > 0 {
		each(`select b.id, b.status, b.party_size, b.created_at, b.member_id is null, b.contact_name, b.contact_email, b.contact_phone,`+subjectColumns+`
from bookings b join sessions s on s.tenant_id = b.tenant_id and s.id = b.session_id`+subjectJoins+`
where b.tenant_id = $1 and b.id = any($2)`, bookings, func(rows pgx.Rows, id *tenant.UUID, s *Subject) error {
			var status string
			err := rows.Scan(append([]any{id, &status, &s.Party, &s.Made, &s.Guest, &s.Name, &s.Email, &s.Phone}, s.targets()...)...)
			s.Booked, s.Attended, s.Cancelled = status == "CONFIRMED", status == "ATTENDED", status == "CANCELLED"
			return err
		})
	}
	if len(entries) > 0 {
		each(`select e.id, e.status, e.party_size, e.created_at,`+subjectColumns+`
from waitlist_entries e join sessions s on s.tenant_id = e.tenant_id and s.id = `+entrySession+subjectJoins+`
where e.tenant_id = $1 and e.id = any($2)`, entries, func(rows pgx.Rows, id *tenant.UUID, s *Subject) error {
			var status string
			err := rows.Scan(append([]any{id, &status, &s.Party, &s.Made}, s.targets()...)...)
			s.Waits = status == "WAITING" || status == "OFFERED"
			return err
		})
		each(`
select e.id, e.status in ('WAITING', 'OFFERED'), e.party_size, e.created_at, e.first_date, e.last_date, e.earliest::text, e.latest::text,
  v.name, l.time_zone, l.name, l.address, coalesce(r.name, ''), coalesce(c.name, '')
from waitlist_entries e
  join services v on v.tenant_id = e.tenant_id and v.id = e.service_id
  join locations l on l.tenant_id = e.tenant_id and l.id = e.location_id
  left join resources r on r.tenant_id = e.tenant_id and r.id = e.resource_id
  left join members c on c.tenant_id = e.tenant_id and c.id = e.coach_id
where e.tenant_id = $1 and e.id = any($2) and `+entrySession+` is null`, entries, func(rows pgx.Rows, id *tenant.UUID, s *Subject) error {
			var first, last time.Time
			var earliest, latest string
			err := rows.Scan(id, &s.Waits, &s.Party, &s.Made, &first, &last, &earliest, &latest,
				&s.Title, &s.TimeZone, &s.Location, &s.Address, &s.Resource, &s.Coach)
			if err != nil {
				return err
			}
			s.Window = &notify.Window{From: day(first), Until: day(last)}
			if s.Window.Earliest, err = civil.ParseTimeOfDay(earliest); err != nil {
				return err
			}
			s.Window.Latest, err = civil.ParseTimeOfDay(latest)
			return err
		})
	}
	if len(sessions) > 0 {
		each(`select s.id,`+subjectColumns+` from sessions s`+subjectJoins+` where s.tenant_id = $1 and s.id = any($2)`, sessions,
			func(rows pgx.Rows, id *tenant.UUID, s *Subject) error {
				return rows.Scan(append([]any{id}, s.targets()...)...)
			})
	}
	if len(payers) > 0 {
		each(`select u.id, u.balance, p.name from subscriptions u join plans p on p.tenant_id = u.tenant_id and p.id = u.plan_id
where u.tenant_id = $1 and u.id = any($2)`, payers,
			func(rows pgx.Rows, id *tenant.UUID, s *Subject) error { return rows.Scan(id, &s.Balance, &s.PlanNamed) })
	}
}

// ListMemberSchedule reads a member's bookings from a time on, for their calendar feed.
func ListMemberSchedule(b *pg.Batch, in tenant.TenantID, owner tenant.MemberID, from time.Time, limit int, into *[]BookedSubject) {
	pg.Collect(b.Queue(`select b.id, b.status, b.party_size, b.created_at, b.updated_at, s.updated_at,`+subjectColumns+`
from bookings b join sessions s on s.tenant_id = b.tenant_id and s.id = b.session_id`+subjectJoins+`
where b.tenant_id = $1 and b.member_id = $2 and b.starts_at >= $3 and b.status in ('CONFIRMED', 'ATTENDED') and s.deleted_at is null
order by b.starts_at, b.id limit $4`, in, owner, from, limit), into, func(row pgx.CollectableRow) (BookedSubject, error) {
		var s BookedSubject
		var status string
		var booked, session time.Time
		err := row.Scan(append([]any{&s.ID, &status, &s.Party, &s.Made, &booked, &session}, s.targets()...)...)
		if s.Changed = booked; session.After(booked) {
			s.Changed = session
		}
		return s, err
	})
}

// BookedSubject is a booking in a calendar.
type BookedSubject struct {
	Subject
	ID      tenant.BookingID
	Changed time.Time
}

// CloseNotice ends a notice with the transaction, because its recipient has it: no attempt is made again, and of one that is under way
// nothing follows.
func CloseNotice(tx *pg.Tx, in tenant.TenantID, id tenant.NoticeID, now time.Time) {
	tx.Write(`update notices set done_at = $3, sending = false where tenant_id = $1 and id = $2 and done_at is null`, in, id, now)
}

// FindNotice reads a notice as far as it tells what follows from an attempt; nil where there is none.
func FindNotice(b *pg.Batch, in tenant.TenantID, id tenant.NoticeID, into **notify.Notice) {
	b.Queue(`select id, topic, lane, tried, unsure, expires_at from notices where tenant_id = $1 and id = $2`, in, id).QueryRow(func(row pgx.Row) error {
		var n notify.Notice
		err := row.Scan(&n.ID, &n.Topic, &n.Lane, &n.Tried, &n.Unsure, &n.ExpiresAt)
		return found(into, n, err)
	})
}

// ReopenNotice takes a notice that was sent up again with the transaction, as it stands now that this line of the log tells that it was not
// delivered. It stays closed where another line tells that it was, and where the provider has a later attempt by the same channel.
func ReopenNotice(tx *pg.Tx, in tenant.TenantID, lost Delivery, s notify.Standing, now time.Time) {
	tried := make([]string, len(s.Tried))
	for i, c := range s.Tried {
		tried[i] = string(c)
	}
	tx.Write(`
update notices set done_at = null, due_at = $5, sending = false, attempts = $6, tried = $7
where tenant_id = $1 and id = $2 and not ($3 = any(tried)) and (done_at is not null or sending) and expires_at > $8 and not exists (
  select from deliveries d where d.tenant_id = $1 and d.notice_id = $2 and (
    d.status in ('DELIVERED', 'READ') or d.channel = $3 and d.created_at > $4 and d.status in ('QUEUED', 'SENT')))`,
		in, lost.Notice, string(lost.Channel), lost.CreatedAt, s.DueAt, s.Attempts, tried, now)
}
