package accountdb

import (
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

var addressChanges = pg.NewTable("c", func(c *member.AddressChange) []pg.Column {
	return []pg.Column{
		pg.Key("id", &c.ID),
		pg.Fixed("member_id", &c.Member),
		pg.Fixed("from_address", &c.From),
		pg.Fixed("to_address", &c.To),
		pg.Fixed("changed_by", &c.ChangedBy),
		pg.Fixed("created_at", &c.CreatedAt),
		pg.Later("told_at", &c.ToldAt),
		pg.Later("told_again_at", &c.ToldAgainAt),
		pg.Later("agreed_at", &c.AgreedAt),
		pg.Later("refused_at", &c.RefusedAt),
		pg.Later("ended_at", &c.EndedAt),
	}
})

var (
	findAddressChange = pg.SQL(`select ` + addressChanges.Columns() + ` from address_changes c
where c.tenant_id = $1 and c.id = $2`)
	findOpenAddressChange = pg.SQL(`select ` + addressChanges.Columns() + ` from address_changes c
where c.tenant_id = $1 and c.member_id = $2 and c.ended_at is null`)
	listOpenAddressChanges = pg.SQL(`select ` + addressChanges.Columns() + ` from address_changes c
where c.tenant_id = $1 and c.member_id = any($2) and c.ended_at is null`)
	findInvitedAddressChange = pg.SQL(`select ` + addressChanges.Columns() + ` from address_changes c
where c.tenant_id = $1 and c.ended_at is null
  and c.member_id = (select v.member_id from invitations v where v.tenant_id = $1 and v.id = $2)`)
	findAddressChanger = pg.SQL(`select ` + members.Columns() + ` from members m
where m.tenant_id = $1
  and m.id = (select c.member_id from address_changes c where c.tenant_id = $1 and c.id = $2)`)
	insertAddressChange = pg.SQL(`insert into address_changes ` + addressChanges.Values())
)

// FindAddressChange reads a change of an address; nil if there is none.
func FindAddressChange(b *pg.Batch, in tenant.TenantID, id tenant.AddressChangeID, into **member.AddressChange) {
	addressChanges.Find(b.Queue(findAddressChange, in, id), into)
}

// FindOpenAddressChange reads the open change of a member's address; nil if there is none.
func FindOpenAddressChange(b *pg.Batch, in tenant.TenantID, of tenant.MemberID, into **member.AddressChange) {
	addressChanges.Find(b.Queue(findOpenAddressChange, in, of), into)
}

// ListOpenAddressChanges reads the open changes of the addresses of members.
func ListOpenAddressChanges(b *pg.Batch, in tenant.TenantID, of []tenant.MemberID, into *[]member.AddressChange) {
	addressChanges.List(b.Queue(listOpenAddressChanges, in, of), into)
}

// FindInvitedAddressChange reads the open change of the address of the member whom an invitation invites; nil if there
// is none.
func FindInvitedAddressChange(
	b *pg.Batch, in tenant.TenantID, id tenant.InvitationID, into **member.AddressChange,
) {
	addressChanges.Find(b.Queue(findInvitedAddressChange, in, id), into)
}

// FindMemberOfAddressChange reads the member whose address a change is about; nil if there is none.
func FindMemberOfAddressChange(b *pg.Batch, in tenant.TenantID, id tenant.AddressChangeID, into **member.Member) {
	members.Find(b.Queue(findAddressChanger, in, id), into)
}

// CountAddressChanges reads how many changes of a member's address others have made since a time.
func CountAddressChanges(b *pg.Batch, in tenant.TenantID, of tenant.MemberID, since time.Time, into *int) {
	b.Queue(`select count(*) from address_changes where tenant_id = $1 and member_id = $2 and created_at > $3`,
		in, of, since).Scan(into)
}

// InsertAddressChange inserts a change of an address.
func InsertAddressChange(tx *pg.Tx, in tenant.TenantID, c member.AddressChange) {
	tx.Write(insertAddressChange, addressChanges.Insert(in, &c)...)
}

// TellAddressChange writes that a mail to the old address has left: the first, or else the second.
func TellAddressChange(tx *pg.Tx, in tenant.TenantID, id tenant.AddressChangeID, at time.Time) {
	tx.Write(`
update address_changes set told_at = coalesce(told_at, $3), told_again_at =
  case when told_at is not null then coalesce(told_again_at, $3) end
where tenant_id = $1 and id = $2`, in, id, at)
}

// AgreeToAddressChange writes that the old address agrees to a change.
func AgreeToAddressChange(tx *pg.Tx, in tenant.TenantID, id tenant.AddressChangeID, at time.Time) {
	tx.Write(`update address_changes set agreed_at = $3 where tenant_id = $1 and id = $2`, in, id, at)
	DeletePlatformMailsAbout(tx, in, id.UUID)
}

// RefuseAddressChange writes that the old address refuses a change, which ends it.
func RefuseAddressChange(tx *pg.Tx, in tenant.TenantID, id tenant.AddressChangeID, at time.Time) {
	tx.Write(`update address_changes set refused_at = $3, ended_at = $3 where tenant_id = $1 and id = $2`, in, id, at)
	DeletePlatformMailsAbout(tx, in, id.UUID)
}

// EndAddressChange ends the open change of a member's address, if there is one, and deletes its mails that have not
// left.
func EndAddressChange(tx *pg.Tx, in tenant.TenantID, of tenant.MemberID, at time.Time) {
	tx.Write(`
delete from platform_mails p using address_changes c
where p.tenant_id = $1 and c.tenant_id = $1 and p.about = c.id and c.member_id = $2 and c.ended_at is null`, in, of)
	tx.Write(`update address_changes set ended_at = $3 where tenant_id = $1 and member_id = $2 and ended_at is null`,
		in, of, at)
}

// ProveAnew writes that a member has to prove their address anew. Their version stays.
func ProveAnew(tx *pg.Tx, in tenant.TenantID, m member.Member) {
	tx.Write(`
update members set sign_in_email = $3, by_invitation = $4, linked_by_email = $5, subject = $6,
  issuer = case when $6 = '' then '' else issuer end
where tenant_id = $1 and id = $2`, in, m.ID, m.SignInEmail, m.ByInvitation, m.LinkedByEmail, m.Subject)
}

// HasOldAddressChanges reads whether a change ended before a time.
func HasOldAddressChanges(b *pg.Batch, in tenant.TenantID, until time.Time, into *bool) {
	b.Queue(`select exists (select from address_changes where tenant_id = $1 and ended_at < $2)`, in, until).Scan(into)
}

// DeleteOldAddressChanges deletes the changes that ended before a time.
func DeleteOldAddressChanges(tx *pg.Tx, in tenant.TenantID, until time.Time) {
	tx.Write(`delete from address_changes where tenant_id = $1 and ended_at < $2`, in, until)
}
