// Package messagedb holds the SQL of notices, their recipients and the delivery log. Functions with a pg.Batch queue a
// read, and functions with a pg.Tx queue a write.
package messagedb

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// noticeRow is a notice with the columns that are only written.
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

// stateRow is the stored state of a notice.
type stateRow struct {
	notify.NoticeState
	doneAt *time.Time
}

var (
	notices    = pg.NewTable("n", noticeColumns)
	noticeRows = pg.NewTable("", func(n *noticeRow) []pg.Column {
		return append(noticeColumns(&n.Notice), pg.Fixed("recipient", &n.recipient), pg.Fixed("created_at", &n.createdAt))
	})
	// The number of attempts restarts with each channel, so an attempt over another channel may have the same number or a
	// higher one.
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
	attemptedNotices = pg.NewReader(func(n *notify.Notice) []pg.Column {
		return []pg.Column{
			pg.Read("n.id", &n.ID),
			pg.Read("n.topic", &n.Topic),
			pg.Read("n.lane", &n.Lane),
			pg.Read("n.tried", &n.FailedChannels),
			pg.Read("n.unsure", &n.UnknownResults),
			pg.Read("n.expires_at", &n.ExpiresAt),
		}
	})
	noticeStates = pg.NewTable("", func(s *stateRow) []pg.Column {
		return []pg.Column{
			pg.Key("id", &s.ID),
			pg.Col("due_at", &s.DueAt),
			pg.Col("sending", &s.Sending),
			pg.Col("tried", pg.List(&s.FailedChannels)),
			pg.Col("attempts", &s.Attempts),
			pg.Col("unsure", &s.UnknownResults),
			pg.Col("done_at", &s.doneAt),
			pg.Col("after", &s.AfterAttempt),
			pg.Col("channels", &s.AfterChannels),
		}
	})
)

var (
	insertNotices = pg.SQL(`insert into notices ` + noticeRows.Rows() + `
on conflict (tenant_id, recipient, topic, thing, revision, lane) do nothing
returning due_at`)
	// The lateral join reads each notice by its key. The planner would take the index of due notices, which looks small to
	// it but is not.
	listNotices = pg.SQL(`
select ` + openNotices.Columns() + ` from unnest($2::uuid[]) with ordinality as w (id, place)
cross join lateral (select * from notices where tenant_id = $1 and id = w.id offset 0) n
where n.done_at is null and n.due_at <= $3
order by w.place`)
	updateNotices = pg.SQL(`
update notices n set due_at = x.due_at, sending = x.sending, tried = array(select jsonb_array_elements_text(x.tried)),
  attempts = x.attempts, unsure = x.unsure, done_at = coalesce(n.done_at, x.done_at)
from ` + noticeStates.Changes() + `
where n.tenant_id = $1 and n.id = x.id and n.id = any($2) and (
  x.after = 0
  or (n.sending and n.attempts = x.after and n.unsure = x.unsure and cardinality(n.tried) = x.channels))`)
	findNotice = pg.SQL(`select ` + attemptedNotices.Columns() + ` from notices n where n.tenant_id = $1 and n.id = $2`)
)

// InsertNotices inserts notices. Notices that were planned before do not change. For each of the others it calls
// planned with the time at which the notice is due.
func InsertNotices(
	tx *pg.Tx, in tenant.TenantID, all []notify.Notice, now time.Time, planned func(due time.Time),
) {
	if len(all) == 0 {
		return
	}
	rows := pg.Array(all, func(n notify.Notice) *noticeRow { return &noticeRow{n, n.Recipient(), now} })
	var due time.Time
	tx.Write(insertNotices, noticeRows.InsertAll(in, rows)...).Each(func() { planned(due) }, &due)
}

// ListDueNotices reads notices that are due, the earliest first.
func ListDueNotices(b *pg.Batch, in tenant.TenantID, now time.Time, limit int, into *[]tenant.NoticeID) {
	pg.Collect(b.Queue(`
select id from notices where tenant_id = $1 and done_at is null and due_at <= $2 order by due_at, id limit $3`,
		in, now, limit), into, pgx.RowTo[tenant.NoticeID])
}

// FindNextNotice reads when the next notice is due; nil if none is open.
func FindNextNotice(b *pg.Batch, in tenant.TenantID, into **time.Time) {
	b.Queue(`select min(due_at) from notices where tenant_id = $1 and done_at is null`, in).Scan(into)
}

// OpenNotice is a notice that is due.
type OpenNotice struct {
	notify.Notice
	Sending bool
	// Was is the current status of the last attempt, if it is being sent.
	Was delivery.Status
}

// ListNotices reads the notices that are still due.
func ListNotices(b *pg.Batch, in tenant.TenantID, ids []tenant.NoticeID, now time.Time, into *[]OpenNotice) {
	openNotices.List(b.Queue(listNotices, in, ids, now), into)
}

// UpdateNotices writes the states of notices. A notice that is done stays done. The state after an attempt is not
// written if the notice has changed since that attempt, for example by a report.
func UpdateNotices(tx *pg.Tx, in tenant.TenantID, states []notify.NoticeState, now time.Time) {
	if len(states) == 0 {
		return
	}
	rows := pg.Array(states, func(s notify.NoticeState) *stateRow {
		if s.Done {
			return &stateRow{s, &now}
		}
		return &stateRow{s, nil}
	})
	tx.Write(updateNotices, noticeStates.UpdateAll(in, rows)...)
}

// CloseNotice ends a notice that its recipient has. No other attempt is made, and an attempt in progress changes
// nothing.
func CloseNotice(tx *pg.Tx, in tenant.TenantID, id tenant.NoticeID, now time.Time) {
	tx.Write(`
update notices set done_at = $3, sending = false where tenant_id = $1 and id = $2 and done_at is null`, in, id, now)
}

// FindNotice reads the part of a notice that decides what follows an attempt; nil if it does not exist.
func FindNotice(b *pg.Batch, in tenant.TenantID, id tenant.NoticeID, into **notify.Notice) {
	attemptedNotices.Find(b.Queue(findNotice, in, id), into)
}

// ReopenNotice reopens a notice because the lost attempt was not delivered. It stays closed if another attempt was
// delivered, or if the provider has a later attempt over the same channel.
func ReopenNotice(tx *pg.Tx, in tenant.TenantID, lost Delivery, s notify.NoticeState, now time.Time) {
	tx.Write(`
update notices set done_at = null, due_at = $5, sending = false, attempts = $6, tried = $7
where tenant_id = $1 and id = $2 and not ($3 = any(tried)) and (done_at is not null or sending) and expires_at > $8
  and not exists (
    select from deliveries d where d.tenant_id = $1 and d.notice_id = $2 and (
      d.status in ('DELIVERED', 'READ') or d.channel = $3 and d.created_at > $4 and d.status in ('QUEUED', 'SENT')))`,
		in, lost.Notice, string(lost.Channel), lost.CreatedAt, s.DueAt, s.Attempts,
		append([]delivery.Channel{}, s.FailedChannels...), now)
}
