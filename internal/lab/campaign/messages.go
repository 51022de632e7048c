package campaign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Attempts whose outcome nobody wrote count as lost after a while. The clock of the worker that sends what is left is so far ahead
// that all of them do, whatever the clock of whoever began them.
const aheadOfAll = maxSkew + 3*time.Minute

// sendPatience is how long that may take.
const sendPatience = 5 * time.Minute

// sendOut lets a worker send whatever is left, and then holds the event log against what was sent: everybody was told of
// everything, once, or the delivery log says that it may have been twice.
func (l *load) sendOut(ctx context.Context, r *Report) (err error) {
	worker := l.site.workers[0]
	if err := worker.start(ctx, aheadOfAll); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, l.site.postgres.TCP)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	for deadline := time.Now().Add(sendPatience); ; {
		var unread, unsent int
		if err := conn.QueryRow(ctx, leftToSend, l.site.now()).Scan(&unread, &unsent); err != nil {
			return err
		}
		if unread == 0 && unsent == 0 {
			break
		}
		if time.Now().After(deadline) {
			l.fail("after %s, %d events are not read and %d notices not sent", sendPatience, unread, unsent)
			break
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	if err := worker.down().stop(); err != nil {
		l.fail("%v", err)
	}
	if err := conn.QueryRow(ctx, messagesSent).Scan(&r.Told, &r.Messages, &r.Twice); err != nil {
		return err
	}
	wrong, err := wrongMessages(ctx, conn)
	if err != nil {
		return err
	}
	for _, one := range wrong {
		l.fail("%s", one)
	}
	if r.Told == 0 || r.Messages == 0 {
		return fmt.Errorf("%d events told of and %d messages sent: that proves nothing", r.Told, r.Messages)
	}
	return nil
}

// unread says that the planner (c) has not read an event (e) yet.
const unread = `(c.tenant_id is null or e.xid > c.xid or e.xid = c.xid and (c.event_id is null or e.id > c.event_id))`

// leftToSend counts events that the planner has not read, and notices that were due at $1, or under way, and have no end.
const leftToSend = `
select
  (select count(*) from events e left join event_consumers c on c.tenant_id = e.tenant_id and c.name = 'notices' where ` + unread + `),
  (select count(*) from notices where done_at is null and (sending or due_at <= $1))`

// telling are the events of which somebody hears, by a mail at least. What the last worker itself let run out, as it ended, it has not read.
const telling = `
with telling as (
  select e.tenant_id, e.id, e.type from events e left join event_consumers c on c.tenant_id = e.tenant_id and c.name = 'notices'
  where not ` + unread + ` and e.member_id is not null and coalesce(e.data->>'notify', '') <> 'false' and e.type in
    ('booking.confirmed', 'booking.cancelled', 'booking.rescheduled', 'waitlist.joined', 'waitlist.left', 'waitlist.promoted', 'offer.created')
), sent as (
  select id, notice_id, topic, content, possible_duplicate,
    row_number() over (partition by tenant_id, notice_id, channel order by attempt, created_at, id) as nth
  from deliveries d where status in ('POSSIBLY_SENT', 'QUEUED', 'SENT', 'DELIVERED', 'READ')
) `

const messagesSent = telling + `
select (select count(*) from telling), (select count(*) from sent), (select count(*) from sent where possible_duplicate)`

// wrongMessages names what must not be.
func wrongMessages(ctx context.Context, conn *pgx.Conn) (all []string, err error) {
	// The planner takes the events told of for a few, and would look through all notices for each: after an hour there are a hundred thousand.
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
	{"nobody was to be told of an event", telling + `
select e.type || ' ' || e.id from telling e where not exists (
  select from notices n where n.tenant_id = e.tenant_id and n.revision = e.id::text and n.lane = 'MAIL')`},
	{"somebody was to be told of an event twice", `
select min(topic) || ' of event ' || revision from notices where revision ~ '^[0-9a-f-]{36}$' group by tenant_id, recipient, topic, lane, revision having count(*) > 1`},
	{"a notice has an end, and the delivery log says nothing of it", `
select n.topic || ' ' || n.id from notices n where n.done_at is not null and n.lane = 'MAIL' and not exists (
  select from deliveries d where d.tenant_id = n.tenant_id and d.notice_id = n.id)`},
	{"a message was sent twice, and the delivery log does not say so", telling + `
select topic || ' ' || notice_id from sent where nth > 1 and not possible_duplicate and notice_id is not null`},
	{"a message in the local outbox belongs to no notice", `
select d.topic || ' ' || d.id from deliveries d where d.content is not null and not exists (
  select from notices n where n.tenant_id = d.tenant_id and n.id = d.notice_id)`},
	{"a message was sent that says nothing", telling + `
select topic || ' ' || id from sent where content is null`},
}
