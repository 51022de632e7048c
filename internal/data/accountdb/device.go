package accountdb

import (
	"crypto/sha256"
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// deviceRow is a device with what is written of it alone.
type deviceRow struct {
	member.Device
	owner tenant.MemberID
	token string
	hash  []byte
}

func deviceColumns(d *member.Device) []pg.Column {
	return []pg.Column{
		pg.Key("id", &d.ID),
		pg.Fixed("kind", &d.Kind),
		pg.Fixed("created_at", &d.CreatedAt),
		pg.Fixed("seen_at", &d.SeenAt),
	}
}

var (
	devices    = pg.NewTable("d", deviceColumns)
	deviceRows = pg.NewTable("d", func(d *deviceRow) []pg.Column {
		return append(deviceColumns(&d.Device),
			pg.Fixed("member_id", &d.owner), pg.Fixed("token", &d.token), pg.Fixed("token_hash", &d.hash))
	})
)

var (
	listDevices = pg.SQL(`select ` + devices.Columns() + ` from devices d
where d.tenant_id = $1 and d.member_id = $2 order by d.seen_at desc, d.id desc`)
	saveDevice = pg.SQL(`
insert into devices as d ` + deviceRows.Values() + `
on conflict (tenant_id, token_hash) do update set
  created_at = case when d.member_id = excluded.member_id then d.created_at else excluded.created_at end,
  member_id = excluded.member_id, kind = excluded.kind, seen_at = excluded.seen_at
returning ` + devices.Columns())
)

// ListDevices reads a member's devices, the one seen last first.
func ListDevices(b *pg.Batch, in tenant.TenantID, owner tenant.MemberID, into *[]member.Device) {
	devices.List(b.Queue(listDevices, in, owner), into)
}

// HasDevice tells whether a device is a member's.
func HasDevice(b *pg.Batch, in tenant.TenantID, owner tenant.MemberID, id tenant.DeviceID, into *bool) {
	b.Queue(`select exists (select from devices where tenant_id = $1 and id = $3 and member_id = $2)`, in, owner, id).
		Scan(into)
}

// SaveDevice writes a member's device with the transaction. One that has the same token is renewed, no matter whose it
// was; the answer then has its id, and its age unless it was someone else's.
func SaveDevice(
	tx *pg.Tx, in tenant.TenantID, owner tenant.MemberID, d member.Device, token string, into *member.Device,
) {
	hash := sha256.Sum256([]byte(token))
	devices.Each(tx.Write(saveDevice, deviceRows.Insert(in, &deviceRow{d, owner, token, hash[:]})...),
		func(saved member.Device) { *into = saved })
}

// TrimDevices deletes with the transaction what a member has beyond a number of devices, those seen longest ago.
func TrimDevices(tx *pg.Tx, in tenant.TenantID, owner tenant.MemberID, most int) {
	tx.Write(`
delete from devices where tenant_id = $1 and member_id = $2 and id in (
  select id from devices where tenant_id = $1 and member_id = $2 order by seen_at desc, id desc offset $3)`,
		in, owner, most)
}

// DeleteDevice deletes a device with the transaction.
func DeleteDevice(tx *pg.Tx, in tenant.TenantID, id tenant.DeviceID) {
	tx.Write(`delete from devices where tenant_id = $1 and id = $2`, in, id)
}

// HasStaleDevices tells whether some device was not seen since a time.
func HasStaleDevices(b *pg.Batch, in tenant.TenantID, since time.Time, into *bool) {
	b.Queue(`select exists (select from devices where tenant_id = $1 and seen_at < $2)`, in, since).Scan(into)
}

// DeleteStaleDevices deletes the devices of all members that were not seen since a time.
func DeleteStaleDevices(tx *pg.Tx, in tenant.TenantID, since time.Time) {
	tx.Write(`delete from devices where tenant_id = $1 and seen_at < $2`, in, since)
}

// DeleteDevices deletes devices with the transaction.
func DeleteDevices(tx *pg.Tx, in tenant.TenantID, ids []tenant.DeviceID) {
	if len(ids) > 0 {
		tx.Write(`delete from devices where tenant_id = $1 and id = any($2)`, in, ids)
	}
}
