// Package messagedb is the SQL of notices, their recipients, and the delivery log.
package messagedb

import (
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// noticeRow is a notice with what is written of it alone.
type noticeRow struct {
	notify.Notice
	recipient tenant.UUID
	createdAt time.Time
}

func noticeColumns(n *notify.Notice) []pg.Column {
	return []pg.Column{
		pg.Key("id", &n.ID),
		pg.Fixed("topic", &n.Topic),
		pg.Fixed("lane", &n.Lane),
		pg.Fixed("member_id", &n.Member),
		pg.Fixed("session_id", &n.Session),
		pg.Fixed("booking_id", &n.Booking),
		pg.Fixed("entry_id", &n.Entry),
		pg.Fixed("offer_id", &n.Offer),
		pg.Fixed("thing", &n.Thing),
		pg.Fixed("revision", &n.Revision),
		pg.Fixed("starts_at", pg.Null(&n.StartsAt)),
		pg.Fixed("due_at", &n.DueAt),
		pg.Fixed("expires_at", &n.ExpiresAt),
		pg.Fixed("happened_at", &n.At),
		pg.Fixed("details", pg.JSON(&n.Details)),
	}
}

// standingRow is where a notice stands, as it is written.
type standingRow struct {
	notify.NoticeState
	doneAt *time.Time
}

var (
	notices    = pg.NewTable("n", noticeColumns)
	noticeRows = pg.NewTable("n", func(n *noticeRow) []pg.Column {
		return append(noticeColumns(&n.Notice), pg.Fixed("recipient", &n.recipient), pg.Fixed("created_at", &n.createdAt))
	})
	// Attempts are numbered anew with each channel, so that lines of another have the same number, or a greater one.
	openNotices = pg.NewReader(func(n *OpenNotice) []pg.Column {
		return append(notices.Of(&n.Notice),
			pg.Read("n.sending", &n.Sending),
			pg.Read("n.tried", &n.FailedChannels),
			pg.Read("n.attempts", &n.Attempts),
			pg.Read("n.unsure", &n.UnknownResults),
			pg.Read(`coalesce(case when n.sending then (
    select d.status from deliveries d
    where d.tenant_id = n.tenant_id and d.notice_id = n.id and d.attempt = n.attempts and not d.channel = any(n.tried)
    order by d.created_at desc, array_position(
      '{POSSIBLY_SENT,FAILED,UNDELIVERED,BOUNCED,QUEUED,SENT,DELIVERED,READ}', d.status) desc limit 1) end, '')`,
				&n.Was),
		)
	})
	attempted = pg.NewReader(func(n *notify.Notice) []pg.Column {
		return []pg.Column{
			pg.Read("n.id", &n.ID),
			pg.Read("n.topic", &n.Topic),
			pg.Read("n.lane", &n.Lane),
			pg.Read("n.tried", &n.FailedChannels),
			pg.Read("n.unsure", &n.UnknownResults),
			pg.Read("n.expires_at", &n.ExpiresAt),
		}
	})
	standings = pg.NewTable("n", func(s *standingRow) []pg.Column {
		return []pg.Column{
			pg.Key("id", &s.ID),
			pg.Col("due_at", &s.DueAt),
			pg.Col("sending", &s.Sending),
			pg.Col("tried", pg.List(&s.Tried)),
			pg.Col("attempts", &s.Attempts),
			pg.Col("unsure", &s.Unsure),
			pg.Col("done_at", &s.doneAt),
			pg.Col("after", &s.Attempt),
			pg.Col("channels", &s.Channels),
		}
	})
)

var (
	insertNotices = pg.SQL(`insert into notices ` + noticeRows.Rows() + `
on conflict (tenant_id, recipient, topic, thing, revision, lane) do nothing
returning due_at`)
	// Each by its key: the index of what is due looks small to the planner, and is not.
	listNotices = pg.SQL(`
select ` + openNotices.Columns() + ` from unnest($2::uuid[]) with ordinality as w (id, place)
cross join lateral (select * from notices where tenant_id = $1 and id = w.id offset 0) n
where n.done_at is null and n.due_at <= $3
order by w.place`)
	updateNotices = pg.SQL(`
update notices n set due_at = x.due_at, sending = x.sending, tried = array(select jsonb_array_elements_text(x.tried)),
  attempts = x.attempts, unsure = x.unsure, done_at = coalesce(n.done_at, x.done_at)
from ` + standings.Changes() + `
where n.tenant_id = $1 and n.id = x.id and n.id = any($2) and (
  x.after = 0
  or (n.sending and n.attempts = x.after and n.unsure = x.unsure and cardinality(n.tried) = x.channels))`)
	findNotice = pg.SQL(`select ` + attempted.Columns() + ` from notices n where n.tenant_id = $1 and n.id = $2`)
)

// InsertNotices writes notices with the transaction. What has been planned before stays as it is. After the commit,
// planned hears when the first of the new ones is due.
func InsertNotices(
	tx *pg.Tx, in tenant.TenantID, all []notify.Notice, now time.Time, planned func(due time.Time),
) {
	if len(all) == 0 {
		return
	}
	rows := pg.Array(all, func(n notify.Notice) *noticeRow { return &noticeRow{n, n.Recipient(), now} })
	tx.Write(insertNotices, noticeRows.InsertAll(in, rows)...).Query(func(rows pgx.Rows) error {
		due, err := pgx.CollectRows(rows, pgx.RowTo[time.Time])
		if err == nil && len(due) > 0 {
			planned(slices.MinFunc(due, time.Time.Compare))
		}
		return err
	})
}

// ListDueNotices finds notices that are due, the longest due first.
func ListDueNotices(b *pg.Batch, in tenant.TenantID, now time.Time, limit int, into *[]tenant.NoticeID) {
	pg.Collect(b.Queue(`
select id from notices where tenant_id = $1 and done_at is null and due_at <= $2 order by due_at, id limit $3`,
		in, now, limit), into, pgx.RowTo[tenant.NoticeID])
}

// FindNextNotice tells when the next notice is due; zero where none is open.
func FindNextNotice(b *pg.Batch, in tenant.TenantID, into *time.Time) {
	*into = time.Time{}
	b.Queue(`select due_at from notices where tenant_id = $1 and done_at is null order by due_at limit 1`, in).
		ScanAny(into)
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
	openNotices.List(b.Queue(listNotices, in, ids, now), into)
}

// UpdateNotices writes where notices stand with the transaction. What is done stays done, and what follows an attempt
// that something has come of since is not written.
func UpdateNotices(tx *pg.Tx, in tenant.TenantID, states []notify.NoticeState, now time.Time) {
	if len(states) == 0 {
		return
	}
	rows := pg.Array(states, func(s notify.NoticeState) *standingRow {
		if s.Done {
			return &standingRow{s, &now}
		}
		return &standingRow{s, nil}
	})
	tx.Write(updateNotices, standings.UpdateAll(in, rows)...)
}

// CloseNotice ends a notice with the transaction, because its recipient has it: no attempt is made again, and nothing
// follows from one that is under way.
func CloseNotice(tx *pg.Tx, in tenant.TenantID, id tenant.NoticeID, now time.Time) {
	tx.Write(`
update notices set done_at = $3, sending = false where tenant_id = $1 and id = $2 and done_at is null`, in, id, now)
}

// FindNotice reads a notice as far as it tells what follows from an attempt; nil where there is none.
func FindNotice(b *pg.Batch, in tenant.TenantID, id tenant.NoticeID, into **notify.Notice) {
	attempted.Find(b.Queue(findNotice, in, id), into)
}

// ReopenNotice takes a notice that was sent up again with the transaction, as it stands now that this line of the log
// tells that it was not delivered. It stays closed where another line tells that it was, and where the provider has a
// later attempt by the same channel.
func ReopenNotice(tx *pg.Tx, in tenant.TenantID, lost Delivery, s notify.NoticeState, now time.Time) {
	tx.Write(`
update notices set done_at = null, due_at = $5, sending = false, attempts = $6, tried = $7
where tenant_id = $1 and id = $2 and not ($3 = any(tried)) and (done_at is not null or sending) and expires_at > $8
  and not exists (
    select from deliveries d where d.tenant_id = $1 and d.notice_id = $2 and (
      d.status in ('DELIVERED', 'READ') or d.channel = $3 and d.created_at > $4 and d.status in ('QUEUED', 'SENT')))`,
		in, lost.Notice, string(lost.Channel), lost.CreatedAt, s.DueAt, s.Attempts,
		append([]notify.Channel{}, s.Tried...), now)
}
