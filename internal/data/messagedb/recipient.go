package messagedb

import (
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

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
		pg.Read("q.quiet_hours_start", &r.start),
		pg.Read("q.quiet_hours_end", &r.end),
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

// ListRecipients reads members as recipients, with their stops and devices. It adds them to the map. Devices whose
// tokens cannot be opened are left out.
func ListRecipients(
	b *pg.Batch, in tenant.TenantID, members []tenant.MemberID, open func(sealed []byte) ([]byte, error),
	into map[tenant.UUID]*notify.Recipient,
) {
	of := func(member tenant.MemberID) *notify.Recipient {
		if into[member.UUID] == nil {
			into[member.UUID] = &notify.Recipient{
				Member: member, Stopped: make(map[delivery.Channel]notify.Reason), Sent: make(map[delivery.Channel][]time.Time),
			}
		}
		return into[member.UUID]
	}
	recipients.Each(b.Queue(listRecipients, in, members), func(r notify.Recipient) {
		to := of(r.Member)
		to.Known, to.Name, to.Phone, to.Email, to.Locale = r.Known, r.Name, r.Phone, r.Email, r.Locale
		to.Zone, to.Quiet = r.Zone, r.Quiet
	})
	var member tenant.MemberID
	var c delivery.Channel
	var why notify.Reason
	b.Queue(listMembersStops, in, members).Each(func() { of(member).Stopped[c] = why }, &member, &c, &why)
	var d notify.Device
	var sealed []byte
	b.Queue(`
select member_id, id, coalesce(token, ''), sealed from devices
where tenant_id = $1 and member_id = any($2) order by seen_at desc, id desc`, in, members).
		Each(func() {
			if sealed != nil {
				token, err := open(sealed)
				if err != nil {
					return
				}
				d.Token = string(token)
			}
			of(member).Devices = append(of(member).Devices, d)
		}, &member, &d.ID, &d.Token, &sealed)
}

// ListSent reads when messages that count toward the frequency cap were sent to recipients since a time, in order. It
// adds them to the map.
func ListSent(
	b *pg.Batch, in tenant.TenantID, recipients []tenant.UUID, since time.Time,
	into map[tenant.UUID]map[delivery.Channel][]time.Time,
) {
	var recipient tenant.UUID
	var c delivery.Channel
	var at time.Time
	b.Queue(`
select d.recipient, d.channel, d.created_at from unnest($2::uuid[]) as r (id)
cross join lateral (
  select recipient, channel, created_at from deliveries
  where tenant_id = $1 and recipient = r.id and counted and created_at > $3 offset 0
) d
order by d.created_at`, in, recipients, since).Each(func() {
		if into[recipient] == nil {
			into[recipient] = make(map[delivery.Channel][]time.Time)
		}
		into[recipient][c] = append(into[recipient][c], at)
	}, &recipient, &c, &at)
}
