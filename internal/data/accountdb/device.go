package accountdb

import (
	"crypto/sha256"
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// deviceRow is a device with the columns that are written but not read.
type deviceRow struct {
	member.Device
	sealed []byte
	hash   []byte
}

// SealedToken is the token of a device as it is stored.
type SealedToken struct {
	Sealed []byte
	Hash   []byte   // by which it is found
	Former [][]byte // by which it may have been stored before: with other secrets, or without one
}

// PlainHash is the hash of a token that was stored before tokens were sealed.
func PlainHash(token string) []byte {
	hash := sha256.Sum256([]byte(token))
	return hash[:]
}

func deviceColumns(d *member.Device) []pg.Column {
	return []pg.Column{
		pg.Key("id", &d.ID),
		pg.Fixed("member_id", &d.Member),
		pg.Fixed("kind", &d.Kind),
		pg.Fixed("created_at", &d.CreatedAt),
		pg.Fixed("seen_at", &d.SeenAt),
	}
}

var (
	devices    = pg.NewTable("d", deviceColumns)
	deviceRows = pg.NewTable("", func(d *deviceRow) []pg.Column {
		return append(deviceColumns(&d.Device),
			pg.Fixed("sealed", &d.sealed), pg.Fixed("token_hash", &d.hash))
	})
)

var (
	listDevices = pg.SQL(`select ` + devices.Columns() + ` from devices d
where d.tenant_id = $1 and d.member_id = $2 order by d.seen_at desc, d.id desc`)
	findDevice    = pg.SQL(`select ` + devices.Columns() + ` from devices d where d.tenant_id = $1 and d.id = $2`)
	searchDevices = pg.SQL(`select ` + devices.Columns() + ` from devices d
where d.tenant_id = $1 and ($2::uuid is null or d.member_id = $2) and ($3::text[] is null or d.kind = any($3))
  and ($4::uuid is null or d.id < $4)
order by d.id desc limit $5`)
	// The token is stored once, with whatever secret it was sealed before.
	renewDevice = pg.SQL(`
update devices set token = null, sealed = $3, token_hash = $2
where tenant_id = $1 and token_hash = any($4)
  and not exists (select from devices where tenant_id = $1 and token_hash = $2)`)
	saveDevice = pg.SQL(`
insert into devices as d ` + deviceRows.Values() + `
on conflict (tenant_id, token_hash) do update set
  created_at = case when d.member_id = excluded.member_id then d.created_at else excluded.created_at end,
  member_id = excluded.member_id, kind = excluded.kind, seen_at = excluded.seen_at
returning ` + devices.Columns())
)

// ListDevices reads a member's devices, the most recently seen first.
func ListDevices(b *pg.Batch, in tenant.TenantID, owner tenant.MemberID, into *[]member.Device) {
	devices.List(b.Queue(listDevices, in, owner), into)
}

// FindDevice reads a device; nil if there is none.
func FindDevice(b *pg.Batch, in tenant.TenantID, id tenant.DeviceID, into **member.Device) {
	devices.Find(b.Queue(findDevice, in, id), into)
}

// SearchDevices reads devices by id, the newest first.
func SearchDevices(b *pg.Batch, in tenant.TenantID, s member.DeviceSearch, into *[]member.Device) {
	devices.List(b.Queue(searchDevices, in, s.Member, s.Kinds, s.After, s.Limit), into)
}

// HasDevice reads whether a device belongs to a member.
func HasDevice(b *pg.Batch, in tenant.TenantID, owner tenant.MemberID, id tenant.DeviceID, into *bool) {
	b.Queue(`select exists (select from devices where tenant_id = $1 and id = $3 and member_id = $2)`, in, owner, id).
		Scan(into)
}

// SaveDevice inserts a member's device. If there is one with the token, even another member's, it updates that one and
// assigns it to the member. The result has the id that is stored, and the creation time of a device that was already
// the member's.
func SaveDevice(tx *pg.Tx, in tenant.TenantID, d member.Device, t SealedToken, into *member.Device) {
	tx.Write(renewDevice, in, t.Hash, t.Sealed, t.Former)
	devices.Each(tx.Write(saveDevice, deviceRows.Insert(in, &deviceRow{d, t.Sealed, t.Hash})...),
		func(saved member.Device) { *into = saved })
}

// UnsealedDevice is a device whose token was stored before tokens were sealed.
type UnsealedDevice struct {
	ID    tenant.DeviceID
	Token string
}

// ListUnsealedDevices reads some devices whose tokens are not sealed.
func ListUnsealedDevices(b *pg.Batch, in tenant.TenantID, limit int, into *[]UnsealedDevice) {
	var d UnsealedDevice
	b.Queue(`select id, token from devices where tenant_id = $1 and sealed is null order by id limit $2`, in, limit).
		Each(func() { *into = append(*into, d) }, &d.ID, &d.Token)
}

// SealDevice seals the token of a device, unless that has happened. If the token is stored sealed already, which a node
// of an older version may not have noticed, the device is deleted.
func SealDevice(tx *pg.Tx, in tenant.TenantID, id tenant.DeviceID, t SealedToken) {
	tx.Write(`
delete from devices where tenant_id = $1 and id = $2 and sealed is null
  and exists (select from devices where tenant_id = $1 and token_hash = $3)`, in, id, t.Hash)
	tx.Write(`
update devices set token = null, sealed = $4, token_hash = $3 where tenant_id = $1 and id = $2 and sealed is null`,
		in, id, t.Hash, t.Sealed)
}

// TrimDevices deletes a member's least recently seen devices beyond the given number.
func TrimDevices(tx *pg.Tx, in tenant.TenantID, owner tenant.MemberID, limit int) {
	tx.Write(`
delete from devices where tenant_id = $1 and id in (
  select id from devices where tenant_id = $1 and member_id = $2 order by seen_at desc, id desc offset $3)`,
		in, owner, limit)
}

// HasStaleDevices reads whether any device of the tenant was last seen before a time.
func HasStaleDevices(b *pg.Batch, in tenant.TenantID, since time.Time, into *bool) {
	b.Queue(`select exists (select from devices where tenant_id = $1 and seen_at < $2)`, in, since).Scan(into)
}

// DeleteStaleDevices deletes the devices of all members that were last seen before a time.
func DeleteStaleDevices(tx *pg.Tx, in tenant.TenantID, since time.Time) {
	tx.Write(`delete from devices where tenant_id = $1 and seen_at < $2`, in, since)
}

// DeleteDevices deletes devices.
func DeleteDevices(tx *pg.Tx, in tenant.TenantID, ids []tenant.DeviceID) {
	if len(ids) > 0 {
		tx.Write(`delete from devices where tenant_id = $1 and id = any($2)`, in, ids)
	}
}
