package messagedb

import (
	"strings"
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// NotificationStop blocks messages to a number or email address.
type NotificationStop struct {
	Channel delivery.Channel
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

// memberStops joins the stops `s` of the current numbers and addresses of members `m`.
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

// ListMemberStops reads the stops of a member's current number and address.
func ListMemberStops(b *pg.Batch, in tenant.TenantID, owner tenant.MemberID, into *[]NotificationStop) {
	stops.List(b.Queue(listMemberStops, in, owner), into)
}

// ListStops reads the stops of the numbers and addresses of recipients into their Stopped.
func ListStops(b *pg.Batch, in tenant.TenantID, of []*notify.Recipient) {
	var index int
	var c delivery.Channel
	var why notify.Reason
	b.Queue(`
select r.place - 1, s.channel, s.reason
from unnest($2::text[], $3::text[]) with ordinality as r (phone, email, place)
cross join lateral (values ('SMS', r.phone), ('EMAIL', lower(r.email))) as a (channel, address)
join notification_stops s on s.tenant_id = $1 and s.channel = a.channel and s.address = a.address`, in,
		pg.Array(of, func(r *notify.Recipient) string { return r.Phone }),
		pg.Array(of, func(r *notify.Recipient) string { return r.Email })).
		Each(func() { of[index].Stopped[c] = why }, &index, &c, &why)
}

// PutStops adds stops. If there is one already, its reason stays, unless the new reason is the recipient's own choice
// and not a bounce.
func PutStops(tx *pg.Tx, in tenant.TenantID, all ...NotificationStop) {
	if len(all) == 0 {
		return
	}
	var rows []*NotificationStop
	seen := make(map[[2]string]bool)
	for _, s := range all {
		if key := [2]string{string(s.Channel), strings.ToLower(s.Address)}; s.Address != "" && !seen[key] {
			seen[key] = true
			rows = append(rows, &s)
		}
	}
	tx.Write(putStops, stops.UpdateAll(in, rows)...)
}

// DeleteStop removes the stop of a number or email address.
func DeleteStop(tx *pg.Tx, in tenant.TenantID, c delivery.Channel, address string) {
	tx.Write(`
delete from notification_stops
where tenant_id = $1 and channel = $2 and address = case $2 when 'EMAIL' then lower($3) else $3 end`,
		in, string(c), address)
}

// Resubscribe removes the stop of a member who has unsubscribed from mail.
func Resubscribe(tx *pg.Tx, in tenant.TenantID, owner tenant.MemberID) {
	tx.Write(`
delete from notification_stops s using members m
where m.tenant_id = $1 and m.id = $2 and s.tenant_id = $1 and s.channel = 'EMAIL' and s.address = m.email_key
  and s.reason = 'UNSUBSCRIBED'`, in, owner)
}
