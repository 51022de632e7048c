package accountdb

import (
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
)

var transferRows = pg.NewTable("x", func(t *grant.Transfer) []pg.Column {
	return []pg.Column{
		pg.Key("id", &t.ID),
		pg.Fixed("from_member", &t.From.Member),
		pg.Fixed("to_member", &t.To.Member),
		pg.Fixed("created_at", &t.CreatedAt),
		pg.Fixed("expires_at", &t.ExpiresAt),
	}
})

var transfers = pg.NewReader(func(t *grant.Transfer) []pg.Column {
	return append(transferRows.Of(t), pg.Read("f.name", &t.From.Name), pg.Read("m.name", &t.To.Name))
})

// fromTransfers are the transfers of members who are active owners still.
const fromTransfers = ` from ownership_transfers x
  join members f on f.tenant_id = x.tenant_id and f.id = x.from_member and f.status = 'ACTIVE'
  join member_roles o on o.tenant_id = f.tenant_id and o.member_id = f.id and o.role = 'owner'
  join members m on m.tenant_id = x.tenant_id and m.id = x.to_member `

var (
	findTransfer = pg.SQL(`
select ` + transfers.Columns() + fromTransfers + `where x.tenant_id = $1 and x.id = $2`)
	listTransfers = pg.SQL(`
select ` + transfers.Columns() + fromTransfers + `
where x.tenant_id = $1 and ($2::uuid is null or x.to_member = $2) and x.expires_at > $3
order by x.id desc limit $4`)
	insertTransfer = pg.SQL(`insert into ownership_transfers ` + transferRows.Values())
)

// FindTransfer reads a transfer of ownership; nil if there is none, or its sender is no owner any more.
func FindTransfer(b *pg.Batch, in tenant.TenantID, id tenant.TransferID, into **grant.Transfer) {
	transfers.Find(b.Queue(findTransfer, in, id), into)
}

// ListTransfers reads the transfers that can still be confirmed, the newest first: those to a member, or all if it is
// zero.
func ListTransfers(
	b *pg.Batch, in tenant.TenantID, to tenant.MemberID, now time.Time, limit int, into *[]grant.Transfer,
) {
	transfers.List(b.Queue(listTransfers, in, to, now, limit), into)
}

// PutTransfer inserts a transfer, which replaces another of the same sender.
func PutTransfer(tx *pg.Tx, in tenant.TenantID, t grant.Transfer) {
	tx.Write(`delete from ownership_transfers where tenant_id = $1 and from_member = $2`, in, t.From.Member)
	tx.Write(insertTransfer, transferRows.Insert(in, &t)...)
}

// DeleteTransfer deletes a transfer.
func DeleteTransfer(tx *pg.Tx, in tenant.TenantID, id tenant.TransferID) {
	tx.Write(`delete from ownership_transfers where tenant_id = $1 and id = $2`, in, id)
}

// DeleteTransfersOf deletes the transfers from and to a member.
func DeleteTransfersOf(tx *pg.Tx, in tenant.TenantID, id tenant.MemberID) {
	tx.Write(`delete from ownership_transfers where tenant_id = $1 and $2 in (from_member, to_member)`, in, id)
}
