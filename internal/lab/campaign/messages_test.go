package campaign

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// The data are one event with one message, inserted by SQL so that nothing else is there. Each case damages them.
func TestFindWrongMessages_FindsEveryKindOfDamage(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		damage string
		want   []string
	}{
		"nothing": {"select", nil},
		"sent twice with a mark": {`
insert into deliveries (tenant_id, id, notice_id, topic, channel, status, recipient, attempt,
  possible_duplicate, content, created_at, updated_at)
select tenant_id, gen_random_uuid(), notice_id, topic, channel, 'SENT', recipient, 2, true, content,
  created_at, updated_at
from deliveries`, nil},
		"a notice lost": {`delete from notices; update deliveries set content = null, notice_id = null, status = 'DROPPED'`,
			[]string{"an event has no notice"}},
		"a message lost": {`delete from deliveries`, []string{"a finished notice is not in the delivery log"}},
		"an event lost": {`delete from notices; delete from events`, []string{
			"a message in the local outbox has no notice",
		}},
		"sent twice": {`
insert into deliveries (tenant_id, id, notice_id, topic, channel, status, recipient, attempt, content,
  created_at, updated_at)
select tenant_id, gen_random_uuid(), notice_id, topic, channel, 'POSSIBLY_SENT', recipient, 2, content,
  created_at, updated_at
from deliveries`,
			[]string{"a message was sent twice without a mark in the delivery log"}},
		"an unread event": {`update event_consumers set xid = '0'; delete from notices; delete from deliveries`, nil},
		"empty":           {`update deliveries set content = null`, []string{"an empty message was sent"}},
		"in quiet hours": {
			quietTenant + `; update deliveries set channel = 'PUSH', created_at = '2027-03-28 00:30Z'`,
			[]string{"a message woke someone"},
		},
		"a mail in quiet hours": {quietTenant + `; update deliveries set created_at = '2027-03-28 00:30Z'`, nil},
		"just after quiet hours": {
			quietTenant + `; update deliveries set channel = 'PUSH', created_at = '2027-03-28 06:00Z'`, nil,
		},
		"planned twice": {`
drop index notices_once;
insert into notices (tenant_id, id, topic, lane, recipient, thing, revision,
  due_at, expires_at, happened_at, created_at)
select tenant_id, gen_random_uuid(), topic, lane, recipient, thing, revision,
  due_at, expires_at, happened_at, created_at
from notices`,
			[]string{"an event has two notices for one recipient"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			conn := expect.Value(pgx.Connect(ctx, pgtest.New(t).URL))(t)
			defer conn.Close(ctx)
			for _, sql := range []string{`set session_replication_role = replica`, oneMessage, tt.damage} { // no foreign keys
				expect.OK(t)(conn.Exec(ctx, sql))
			}
			found := expect.Value(findWrongMessages(ctx, conn))(t)
			var whats []string
			for _, one := range found {
				what, _, _ := strings.Cut(one, ":")
				whats = append(whats, what)
			}
			test.Eq(t, tt.want, whats)
		})
	}
}

// quietTenant has quiet hours from 21:00 to 8:00, in the night in which clocks go forward.
const quietTenant = `
insert into tenants (tenant_id, name, time_zone, locale, currency, created_at, updated_at)
select tenant, 'Quiet', 'Europe/Berlin', 'en', 'EUR', at as made, at as changed from one;
insert into notification_settings (tenant_id, quiet_hours_start, quiet_hours_end, sms_per_day, push_per_day,
  email_per_day, reminders, credits_low_at, version, updated_at)
select tenant, '21:00', '08:00', 1, 1, 1, '{}', 0, 1, at from one`

const oneMessage = `
create temp table one as
select gen_random_uuid() as tenant, gen_random_uuid() as event, gen_random_uuid() as member,
  gen_random_uuid() as notice, now() as at;
insert into events (tenant_id, id, type, member_id, actor, occurred_at)
select tenant, event, 'booking.confirmed', member, 'x', at from one;
insert into event_consumers (tenant_id, name, xid, event_id)
select tenant, 'notices', pg_current_xact_id(), event from one;
insert into notices (tenant_id, id, topic, lane, recipient, member_id, thing, revision,
  due_at, expires_at, happened_at, created_at, done_at)
select tenant, notice, 'BOOKING_CONFIRMED', 'MAIL', member, member as who, event, event::text,
  at as due, at as ends, at as happened, at as made, at as done
from one;
insert into deliveries (tenant_id, id, notice_id, topic, channel, status, recipient, attempt, content,
  created_at, updated_at)
select tenant, gen_random_uuid(), notice, 'BOOKING_CONFIRMED', 'EMAIL', 'SENT', member, 1, '{}',
  at as made, at as changed
from one`
