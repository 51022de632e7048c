package messagedb

import (
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

func sendingKey(k *notify.SendingKey) []pg.Column {
	return []pg.Column{
		pg.Key("channel", (*string)(&k.Channel)),
		pg.Key("country", &k.Country),
		pg.Key("hour", &k.Hour),
	}
}

// returnedMessages is how many messages of an hour do not count after all.
type returnedMessages struct {
	notify.SendingKey
	n int
}

var (
	sendingHours = pg.NewTable("c", func(h *notify.SendingHour) []pg.Column {
		return append(sendingKey(&h.SendingKey),
			pg.Col("sent", &h.Sent),
			pg.Col("waiting", &h.Waiting),
			pg.Col("alarm", &h.Alarm),
		)
	})
	returned = pg.NewTable("", func(r *returnedMessages) []pg.Column {
		return append(sendingKey(&r.SendingKey), pg.Col("n", &r.n))
	})
	standings = pg.NewTable("s", func(s *notify.Standing) []pg.Column {
		return []pg.Column{
			pg.Key("channel", (*string)(&s.Channel)),
			pg.Col("level", &s.Level),
			pg.Col("since", &s.Since),
			pg.Col("reviewed_at", &s.ReviewedAt),
		}
	})
)

var (
	listSendingHours = pg.SQL(`
select ` + sendingHours.Columns() + ` from sending_counts c where c.tenant_id = $1 and c.hour >= $2
order by c.channel, c.country, c.hour`)
	addSendingHours = pg.SQL(`
insert into sending_counts as c ` + sendingHours.Rows() + `
on conflict (tenant_id, channel, country, hour) do update
set sent = c.sent + excluded.sent, waiting = c.waiting + excluded.waiting, alarm = greatest(c.alarm, excluded.alarm)`)
	returnSending = pg.SQL(`
update sending_counts c set sent = greatest(0, c.sent - x.n) from ` + returned.Changes() + `
where c.tenant_id = $1 and c.channel = x.channel and c.country = x.country and c.hour = x.hour`)
	listStandings = pg.SQL(`
select ` + standings.Columns() + ` from sending_standings s where s.tenant_id = $1`)
	listReviews = pg.SQL(`
select w.channel, coalesce(s.level, 0), coalesce(s.since, $3), coalesce(s.reviewed_at, $3)
from unnest('{EMAIL,SMS}'::text[]) as w (channel)
left join sending_standings s on s.tenant_id = $1 and s.channel = w.channel
where (s.reviewed_at is null or s.reviewed_at <= $2)
  and exists (select from sending_counts c where c.tenant_id = $1 and c.channel = w.channel)
order by w.channel`)
	putStandings = pg.SQL(`
insert into sending_standings ` + standings.Rows() + ` on conflict (tenant_id, channel) do update
set level = excluded.level, since = excluded.since, reviewed_at = excluded.reviewed_at`)
)

// ListSendingHours reads what the platform's accounts sent for a tenant since a time, and what waits.
func ListSendingHours(b *pg.Batch, in tenant.TenantID, since time.Time, into *[]notify.SendingHour) {
	sendingHours.List(b.Queue(listSendingHours, in, since), into)
}

// AddSendingHours adds to the counters.
func AddSendingHours(tx *pg.Tx, in tenant.TenantID, changes []notify.SendingHour) {
	if len(changes) == 0 {
		return
	}
	rows := pg.Array(changes, func(h notify.SendingHour) *notify.SendingHour { return &h })
	tx.Write(addSendingHours, sendingHours.InsertAll(in, rows)...)
}

// ReturnSending takes messages that certainly were not sent from the counters.
func ReturnSending(tx *pg.Tx, in tenant.TenantID, unsent map[notify.SendingKey]int) {
	if len(unsent) == 0 {
		return
	}
	var rows []*returnedMessages
	for key, n := range unsent {
		rows = append(rows, &returnedMessages{key, n})
	}
	tx.Write(returnSending, returned.UpdateAll(in, rows)...)
}

// ListStandings reads how far the limits of a tenant have grown. Channels that were never reviewed are left out.
func ListStandings(b *pg.Batch, in tenant.TenantID, into *[]notify.Standing) {
	standings.List(b.Queue(listStandings, in), into)
}

// PutStandings writes standings.
func PutStandings(tx *pg.Tx, in tenant.TenantID, all []notify.Standing) {
	rows := pg.Array(all, func(s notify.Standing) *notify.Standing { return &s })
	tx.Write(putStandings, standings.InsertAll(in, rows)...)
}

// ListReviews reads the standings to review: of the channels with counters whose last review was long ago. A standing
// that is new begins now.
func ListReviews(b *pg.Batch, in tenant.TenantID, now time.Time, into *[]notify.Standing) {
	standings.List(b.Queue(listReviews, in, now.Add(-notify.StandingReview), now), into)
}

// ListConduct reads what became of the messages of channels since a time of each. It adds them to the map. A failure of
// the provider or of its account says nothing about the tenant.
func ListConduct(
	b *pg.Batch, in tenant.TenantID, of []notify.Standing, now time.Time, into map[delivery.Channel]notify.Conduct,
) {
	var c delivery.Channel
	var conduct notify.Conduct
	b.Queue(`
select w.channel, d.sent, d.bad + o.stops from unnest($2::text[], $3::timestamptz[]) as w (channel, since)
cross join lateral (
  select count(*) filter (where not d.status = any('{FAILED,DEFERRED,DROPPED}') or d.bad) as sent,
    count(*) filter (where d.bad) as bad
  from (
    select status, status = any('{FAILED,UNDELIVERED,BOUNCED}')
      and not reason = any('{PROVIDER_UNAVAILABLE,MISCONFIGURED,POSSIBLY_SENT}') as bad
    from deliveries
    where tenant_id = $1 and created_at >= w.since and created_at < $4 and channel = w.channel and platform offset 0
  ) d
) d
cross join lateral (
  select count(*) as stops from notification_stops
  where tenant_id = $1 and channel = w.channel and created_at >= w.since and reason in ('OPTED_OUT', 'UNSUBSCRIBED')
) o`, in,
		pg.Array(of, func(s notify.Standing) string { return string(s.Channel) }),
		pg.Array(of, func(s notify.Standing) time.Time { return s.Since }), now).
		Each(func() { into[c] = conduct }, &c, &conduct.Sent, &conduct.Bad)
}

// DeleteOldSendingHours deletes the counters from before a time.
func DeleteOldSendingHours(tx *pg.Tx, in tenant.TenantID, until time.Time) {
	tx.Write(`delete from sending_counts where tenant_id = $1 and hour < $2`, in, until)
}
