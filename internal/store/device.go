package store

import (
	"crypto/sha256"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// ListDevices reads a member's devices, the one seen last first.
func ListDevices(b *pg.Batch, in tenant.TenantID, owner tenant.MemberID, into *[]member.Device) {
	pg.Collect(b.Queue(`select id, kind, created_at, seen_at from devices
where tenant_id = $1 and member_id = $2 order by seen_at desc, id desc`, in, owner), into,
		func(row pgx.CollectableRow) (member.Device, error) {
			var d member.Device
			err := row.Scan(&d.ID, &d.Kind, &d.CreatedAt, &d.SeenAt)
			return d, err
		})
}

// HasDevice tells whether a device is a member's.
func HasDevice(b *pg.Batch, in tenant.TenantID, owner tenant.MemberID, id tenant.DeviceID, into *bool) {
	b.Queue(`select exists (select from devices where tenant_id = $1 and id = $3 and member_id = $2)`, in, owner, id).Scan(into)
}

// SaveDevice writes a member's device with the transaction. One that has the same
// token is renewed, whoever had it; the answer then has its id, and its age unless it
// was someone else's.
func SaveDevice(tx *pg.Tx, in tenant.TenantID, owner tenant.MemberID, d member.Device, token string, into *member.Device) {
	hash := sha256.Sum256([]byte(token))
	tx.Write(`
insert into devices as d (tenant_id, id, member_id, kind, token, token_hash, created_at, seen_at)
values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict (tenant_id, token_hash) do update set
  created_at = case when d.member_id = excluded.member_id then d.created_at else excluded.created_at end,
  member_id = excluded.member_id, kind = excluded.kind, seen_at = excluded.seen_at
returning d.id, d.kind, d.created_at, d.seen_at`,
		in, d.ID, owner, string(d.Kind), token, hash[:], d.CreatedAt, d.SeenAt).
		Scan(&into.ID, &into.Kind, &into.CreatedAt, &into.SeenAt)
}

// TrimDevices deletes with the transaction what a member has beyond a number of devices, those seen longest ago.
func TrimDevices(tx *pg.Tx, in tenant.TenantID, owner tenant.MemberID, most int) {
	tx.Write(`
delete from devices where tenant_id = $1 and member_id = $2 and id in (
  select id from devices where tenant_id = $1 and member_id = $2 order by seen_at desc, id desc offset $3)`, in, owner, most)
}

// DeleteDevice deletes a device with the transaction.
func DeleteDevice(tx *pg.Tx, in tenant.TenantID, id tenant.DeviceID) {
	tx.Write(`delete from devices where tenant_id = $1 and id = $2`, in, id)
}
