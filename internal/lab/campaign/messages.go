package campaign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// aheadOfAll is the clock offset of the worker that sends the remaining messages. An attempt without an outcome counts
// as lost after some time. With this offset, all such attempts do, whatever the clock of the worker that started them.
const aheadOfAll = maxSkew + 3*time.Minute

// flushTimeout limits how long that takes.
const flushTimeout = 5 * time.Minute

// flushMessages lets a worker send the remaining messages, and then compares the event log with the sent messages: each
// event led to its messages, once, or the delivery log marks a possible duplicate.
func (l *load) flushMessages(ctx context.Context, r *Report) (err error) {
	worker := l.cluster.workers[0]
	if err := worker.start(ctx, aheadOfAll); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, l.cluster.postgres.TCP)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	for deadline := time.Now().Add(flushTimeout); ; {
		var unread, unsent int
		if err := conn.QueryRow(ctx, leftToSend, l.cluster.now()).Scan(&unread, &unsent); err != nil {
			return err
		}
		if unread == 0 && unsent == 0 {
			break
		}
		if time.Now().After(deadline) {
			l.fail("after %s, %d events are unread and %d notices unsent", flushTimeout, unread, unsent)
			break
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	if err := worker.down().stop(); err != nil {
		l.fail("%v", err)
	}
	if err := conn.QueryRow(ctx, messagesSent).Scan(&r.Events, &r.Messages, &r.Duplicates); err != nil {
		return err
	}
	wrong, err := findWrongMessages(ctx, conn)
	if err != nil {
		return err
	}
	for _, one := range wrong {
		l.fail("%s", one)
	}
	if r.Events == 0 || r.Messages == 0 {
		return fmt.Errorf("%d events with a message and %d messages sent: too few for a test", r.Events, r.Messages)
	}
	return nil
}

// unread is the SQL condition that the planner (c) has not read an event (e) yet.
const unread = `(c.tenant_id is null or e.xid > c.xid or e.xid = c.xid and (c.event_id is null or e.id > c.event_id))`

// leftToSend counts events that the planner has not read, and notices without an end that were due at $1 or are in
// progress.
const leftToSend = `
select
  (select count(*) from events e
    left join event_consumers c on c.tenant_id = e.tenant_id and c.name = 'notices' where ` + unread + `),
  (select count(*) from notices where done_at is null and (sending or due_at <= $1))`

// eventsWithMessage selects the events that lead to a message, at least by email. Events that the last worker itself
// caused when it stopped are not read by any planner.
const eventsWithMessage = `
with telling as (
  select e.tenant_id, e.id, e.type from events e
    left join event_consumers c on c.tenant_id = e.tenant_id and c.name = 'notices'
  where not ` + unread + ` and e.member_id is not null and coalesce(e.data->>'notify', '') <> 'false' and e.type in
    ('booking.confirmed', 'booking.cancelled', 'booking.rescheduled', 'waitlist.joined', 'waitlist.left',
      'waitlist.promoted', 'offer.created')
), sent as (
  select id, notice_id, topic, content, possible_duplicate,
    row_number() over (partition by tenant_id, notice_id, channel order by attempt, created_at, id) as nth
  from deliveries d where status in ('POSSIBLY_SENT', 'QUEUED', 'SENT', 'DELIVERED', 'READ')
) `

const messagesSent = eventsWithMessage + `
select (select count(*) from telling), (select count(*) from sent),
  (select count(*) from sent where possible_duplicate)`

// findWrongMessages returns violations of the promises about messages.
func findWrongMessages(ctx context.Context, conn *pgx.Conn) (all []string, err error) {
	// Postgres underestimates the number of events, and would scan all notices for each of them: after an hour there are a
	// hundred thousand.
	if _, err := conn.Exec(ctx, `set enable_nestloop = off`); err != nil {
		return nil, err
	}
	for _, wrong := range messageChecks {
		found, err := conn.Query(ctx, wrong.sql)
		if err != nil {
			return nil, err
		}
		rows, err := pgx.CollectRows(found, pgx.RowTo[string])
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			all = append(all, wrong.what+": "+row)
		}
	}
	return all, nil
}

var messageChecks = []struct{ what, sql string }{
	{"an event has no notice", eventsWithMessage + `
select e.type || ' ' || e.id from telling e where not exists (
  select from notices n where n.tenant_id = e.tenant_id and n.revision = e.id::text and n.lane = 'MAIL')`},
	{"an event has two notices for one recipient", `
select min(topic) || ' of event ' || revision from notices where revision ~ '^[0-9a-f-]{36}$'
group by tenant_id, recipient, topic, lane, revision having count(*) > 1`},
	{"a finished notice is not in the delivery log", `
select n.topic || ' ' || n.id from notices n where n.done_at is not null and n.lane = 'MAIL' and not exists (
  select from deliveries d where d.tenant_id = n.tenant_id and d.notice_id = n.id)`},
	{"a message was sent twice without a mark in the delivery log", eventsWithMessage + `
select topic || ' ' || notice_id from sent where nth > 1 and not possible_duplicate and notice_id is not null`},
	{"a message in the local outbox has no notice", `
select d.topic || ' ' || d.id from deliveries d where d.content is not null and not exists (
  select from notices n where n.tenant_id = d.tenant_id and n.id = d.notice_id)`},
	{"an empty message was sent", eventsWithMessage + `
select topic || ' ' || id from sent where content is null`},
	// Mails wake no one, and the waitlists of the campaign make offers in quiet hours, too.
	{"a message woke someone", `
select d.topic || ' ' || d.id from deliveries d join notification_settings s using (tenant_id)
  join tenants t using (tenant_id)
where d.status in ('POSSIBLY_SENT', 'QUEUED', 'SENT', 'DELIVERED', 'READ') and d.offer_id is null
  and d.channel <> 'EMAIL' and ` + inQuietHours("d.created_at")},
}
