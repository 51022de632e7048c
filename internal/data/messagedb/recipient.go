package messagedb

import (
	"crypto/sha256"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// ListPreferences reads what members have chosen. It adds to the map.
func ListPreferences(
	b *pg.Batch, in tenant.TenantID, members []tenant.MemberID, into map[tenant.MemberID]notify.Preferences,
) {
	var who tenant.MemberID
	var c notify.PreferenceKey
	var on bool
	b.Queue(`
select member_id, topic, channel, enabled from notification_preferences
where tenant_id = $1 and member_id = any($2)`, in, members).Each(func() {
		if into[who] == nil {
			into[who] = make(notify.Preferences)
		}
		into[who][c] = on
	}, &who, &c.Topic, &c.Channel, &on)
}

// PutPreferences writes a member's choices with the transaction. Others stay.
func PutPreferences(tx *pg.Tx, in tenant.TenantID, owner tenant.MemberID, chosen notify.Preferences, at time.Time) {
	var topics, channels []string
	var enabled []bool
	for c, on := range chosen {
		topics, channels, enabled = append(topics, string(c.Topic)), append(channels, string(c.Channel)), append(enabled, on)
	}
	tx.Write(`
insert into notification_preferences (tenant_id, member_id, topic, channel, enabled, updated_at)
select $1, $2, c.topic, c.channel, c.enabled, $6
from unnest($3::text[], $4::text[], $5::boolean[]) as c (topic, channel, enabled)
on conflict (tenant_id, member_id, topic, channel) do update set
  enabled = excluded.enabled, updated_at = excluded.updated_at`,
		in, owner, topics, channels, enabled, at)
}

// MemberQuiet is what else a member has chosen about messages.
type MemberQuiet struct {
	Hours   *notify.QuietHours // nil: the tenant's
	HasFeed bool               // a calendar feed is open
}

// FindMemberQuiet reads what else a member has chosen about messages.
func FindMemberQuiet(b *pg.Batch, in tenant.TenantID, owner tenant.MemberID, into *MemberQuiet) {
	*into = MemberQuiet{}
	var start, end *civil.TimeOfDay
	b.Queue(`
select quiet_start, quiet_end, feed_hash is not null from notification_members
where tenant_id = $1 and member_id = $2`, in, owner).Each(func() { into.Hours = quietHours(start, end) },
		&start, &end, &into.HasFeed)
}

// quietHours gives nil where there are none; the database has both ends or neither.
func quietHours(start, end *civil.TimeOfDay) *notify.QuietHours {
	if start == nil || end == nil {
		return nil
	}
	return &notify.QuietHours{Start: *start, End: *end}
}

// PutMemberQuiet writes a member's own quiet hours with the transaction; nil takes the tenant's.
func PutMemberQuiet(
	tx *pg.Tx, in tenant.TenantID, owner tenant.MemberID, hours *notify.QuietHours, at time.Time,
) {
	var start, end *civil.TimeOfDay
	if hours != nil {
		start, end = &hours.Start, &hours.End
	}
	tx.Write(`
insert into notification_members (tenant_id, member_id, quiet_start, quiet_end, updated_at) values ($1, $2, $3, $4, $5)
on conflict (tenant_id, member_id) do update set
  quiet_start = excluded.quiet_start, quiet_end = excluded.quiet_end, updated_at = excluded.updated_at`,
		in, owner, start, end, at)
}

// PutFeed opens a member's calendar feed under a secret with the transaction.
func PutFeed(tx *pg.Tx, in tenant.TenantID, owner tenant.MemberID, secret []byte, at time.Time) {
	hash := sha256.Sum256(secret)
	tx.Write(`
insert into notification_members (tenant_id, member_id, feed_hash, updated_at) values ($1, $2, $3, $4)
on conflict (tenant_id, member_id) do update set feed_hash = excluded.feed_hash, updated_at = excluded.updated_at`,
		in, owner, hash[:], at)
}

// CloseFeed closes a member's calendar feed with the transaction.
func CloseFeed(tx *pg.Tx, in tenant.TenantID, owner tenant.MemberID, at time.Time) {
	tx.Write(`
update notification_members set feed_hash = null, updated_at = $3
where tenant_id = $1 and member_id = $2 and feed_hash is not null`, in, owner, at)
}

// FindFeed reads whose calendar feed a secret opens; zero where it opens none. Only active members have one.
func FindFeed(b *pg.Batch, in tenant.TenantID, secret []byte, into *tenant.MemberID) {
	sum := sha256.Sum256(secret)
	*into = tenant.MemberID{}
	b.Queue(`
select f.member_id from notification_members f join members m on m.tenant_id = f.tenant_id and m.id = f.member_id
where f.tenant_id = $1 and f.feed_hash = $2 and m.status = 'ACTIVE'`, in, sum[:]).ScanAny(into)
}

// NotificationStop is a number or address that must not be written to.
type NotificationStop struct {
	Channel notify.Channel
	Address string
	Reason  notify.Reason
	At      time.Time
}

var stops = pg.NewTable("s", func(s *NotificationStop) []pg.Column {
	return []pg.Column{
		pg.Key("channel", &s.Channel),
		pg.Key("address", &s.Address),
		pg.Col("reason", &s.Reason),
		pg.Col("created_at", &s.At),
	}
})

// memberStops are the stops `s` of the present numbers and addresses of members `m`.
const memberStops = ` from members m
cross join lateral (values ('SMS', m.phone), ('EMAIL', m.email_key)) as a (channel, address)
join notification_stops s on s.tenant_id = m.tenant_id and s.channel = a.channel and s.address = a.address`

var (
	listMemberStops = pg.SQL(`
select ` + stops.Columns() + memberStops + `
where m.tenant_id = $1 and m.id = $2 order by s.channel`)
	listMembersStops = pg.SQL(`
select m.id, s.channel, s.reason` + memberStops + `
where m.tenant_id = $1 and m.id = any($2)`)
	putStops = pg.SQL(`
insert into notification_stops as n (tenant_id, channel, address, reason, created_at)
select $1, x.channel, case x.channel when 'EMAIL' then lower(x.address) else x.address end, x.reason, x.created_at
from ` + stops.Changes() + `
on conflict (tenant_id, channel, address) do update set ` + stops.SetExcluded() + `
where n.reason <> excluded.reason and excluded.reason <> 'BOUNCED'`)
)

// ListMemberStops reads which channels are stopped for a member's present number and address.
func ListMemberStops(b *pg.Batch, in tenant.TenantID, owner tenant.MemberID, into *[]NotificationStop) {
	stops.List(b.Queue(listMemberStops, in, owner), into)
}

// ListStops reads which channels are stopped for the present numbers and addresses of recipients, and writes it into
// them.
func ListStops(b *pg.Batch, in tenant.TenantID, of []*notify.Recipient) {
	var place int
	var c notify.Channel
	var why notify.Reason
	b.Queue(`
select r.place - 1, s.channel, s.reason
from unnest($2::text[], $3::text[]) with ordinality as r (phone, email, place)
cross join lateral (values ('SMS', r.phone), ('EMAIL', lower(r.email))) as a (channel, address)
join notification_stops s on s.tenant_id = $1 and s.channel = a.channel and s.address = a.address`, in,
		pg.Array(of, func(r *notify.Recipient) string { return r.Phone }),
		pg.Array(of, func(r *notify.Recipient) string { return r.Email })).
		Each(func() { of[place].Stopped[c] = why }, &place, &c, &why)
}

// PutStops stops channels for numbers and addresses with the transaction. Where one is stopped, the first reason stays,
// unless the recipient has now said so.
func PutStops(tx *pg.Tx, in tenant.TenantID, all ...NotificationStop) {
	if len(all) == 0 {
		return
	}
	var rows []*NotificationStop
	seen := make(map[[2]string]bool)
	for _, s := range all {
		if key := [2]string{string(s.Channel), s.Address}; s.Address != "" && !seen[key] {
			seen[key] = true
			rows = append(rows, &s)
		}
	}
	tx.Write(putStops, stops.UpdateAll(in, rows)...)
}

// DeleteStop opens a channel for a number or address again with the transaction.
func DeleteStop(tx *pg.Tx, in tenant.TenantID, c notify.Channel, address string) {
	tx.Write(`
delete from notification_stops
where tenant_id = $1 and channel = $2 and address = case $2 when 'EMAIL' then lower($3) else $3 end`,
		in, string(c), address)
}

// Resubscribe opens email again with the transaction for a member who has unsubscribed.
func Resubscribe(tx *pg.Tx, in tenant.TenantID, owner tenant.MemberID) {
	tx.Write(`
delete from notification_stops s using members m
where m.tenant_id = $1 and m.id = $2 and s.tenant_id = $1 and s.channel = 'EMAIL' and s.address = m.email_key
  and s.reason = 'UNSUBSCRIBED'`, in, owner)
}

type recipientRow struct {
	notify.Recipient
	zone       string
	start, end *civil.TimeOfDay
}

var recipients = pg.ReadAs(func(r *recipientRow) []pg.Column {
	return []pg.Column{
		pg.Read("m.id", &r.Member),
		pg.Read("m.status = 'ACTIVE'", &r.Known),
		pg.Read("m.name", &r.Name),
		pg.Read("m.phone", &r.Phone),
		pg.Read("m.email", &r.Email),
		pg.Read("m.locale", &r.Locale),
		pg.Read("coalesce(nullif(m.time_zone, ''), t.time_zone)", &r.zone),
		pg.Read("q.quiet_start", &r.start),
		pg.Read("q.quiet_end", &r.end),
	}
}, func(r *recipientRow) (_ notify.Recipient, err error) {
	r.Quiet = quietHours(r.start, r.end)
	r.Zone, err = time.LoadLocation(r.zone)
	return r.Recipient, err
})

var listRecipients = pg.SQL(`
select ` + recipients.Columns() + ` from members m join tenants t on t.tenant_id = m.tenant_id
left join notification_members q on q.tenant_id = m.tenant_id and q.member_id = m.id
where m.tenant_id = $1 and m.id = any($2)`)

// ListRecipients reads the members as recipients, and what was sent to them and to guests since a time. It adds to the
// map.
func ListRecipients(
	b *pg.Batch, in tenant.TenantID, members []tenant.MemberID, into map[tenant.UUID]*notify.Recipient,
) {
	of := func(who tenant.MemberID) *notify.Recipient {
		if into[who.UUID] == nil {
			into[who.UUID] = &notify.Recipient{
				Member: who, Stopped: make(map[notify.Channel]notify.Reason), Sent: make(map[notify.Channel][]time.Time),
			}
		}
		return into[who.UUID]
	}
	recipients.Each(b.Queue(listRecipients, in, members), func(r notify.Recipient) {
		to := of(r.Member)
		to.Known, to.Name, to.Phone, to.Email, to.Locale = r.Known, r.Name, r.Phone, r.Email, r.Locale
		to.Zone, to.Quiet = r.Zone, r.Quiet
	})
	var who tenant.MemberID
	var c notify.Channel
	var why notify.Reason
	b.Queue(listMembersStops, in, members).Each(func() { of(who).Stopped[c] = why }, &who, &c, &why)
	var d notify.Device
	b.Queue(`
select member_id, id, token from devices
where tenant_id = $1 and member_id = any($2) order by seen_at desc, id`, in, members).
		Each(func() { of(who).Devices = append(of(who).Devices, d) }, &who, &d.ID, &d.Token)
}

// ListSent reads when recipients were sent what counts, since a time, in order of time. It adds to the map.
func ListSent(
	b *pg.Batch, in tenant.TenantID, recipients []tenant.UUID, since time.Time,
	into map[tenant.UUID]map[notify.Channel][]time.Time,
) {
	var who tenant.UUID
	var c notify.Channel
	var at time.Time
	b.Queue(`
select d.recipient, d.channel, d.created_at from unnest($2::uuid[]) as r (id)
cross join lateral (
  select recipient, channel, created_at from deliveries
  where tenant_id = $1 and recipient = r.id and counted and created_at > $3 offset 0
) d
order by d.created_at`, in, recipients, since).Each(func() {
		if into[who] == nil {
			into[who] = make(map[notify.Channel][]time.Time)
		}
		into[who][c] = append(into[who][c], at)
	}, &who, &c, &at)
}
