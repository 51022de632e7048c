package accountdb

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// pendingRow is a pending contact with its member.
type pendingRow struct {
	member.PendingContact
	owner tenant.MemberID
}

var pendingContacts = pg.NewTable("p", func(p *pendingRow) []pg.Column {
	return []pg.Column{
		pg.Key("member_id", &p.owner),
		pg.Key("kind", (*string)(&p.Kind)),
		pg.Col("address", &p.Address),
		pg.Col("code_id", &p.Code),
		pg.Col("code_hash", &p.CodeHash),
		pg.Col("guesses", &p.Guesses),
		pg.Col("expires_at", &p.ExpiresAt),
	}
})

var (
	listPendingContacts = pg.SQL(`select ` + pendingContacts.Columns() + ` from pending_contacts p
where p.tenant_id = $1 and p.member_id = any($2) order by p.kind`)
	putPendingContact = pg.SQL(`insert into pending_contacts ` + pendingContacts.Values() + `
on conflict (tenant_id, member_id, kind) do update set ` + pendingContacts.SetExcluded())
)

// ListPendingContacts reads the contacts of members that wait for confirmation, by kind. It adds them to the map.
func ListPendingContacts(
	b *pg.Batch, in tenant.TenantID, owners []tenant.MemberID, into map[tenant.MemberID][]member.PendingContact,
) {
	pendingContacts.Each(b.Queue(listPendingContacts, in, owners), func(p pendingRow) {
		into[p.owner] = append(into[p.owner], p.PendingContact)
	})
}

// PutPendingContact writes a contact that waits for confirmation. It replaces the one of the same kind.
func PutPendingContact(tx *pg.Tx, in tenant.TenantID, owner tenant.MemberID, p member.PendingContact) {
	tx.Write(putPendingContact, pendingContacts.Insert(in, &pendingRow{p, owner})...)
}

// DeletePendingContact deletes a member's contact of a kind that waits for confirmation, if there is one.
func DeletePendingContact(tx *pg.Tx, in tenant.TenantID, owner tenant.MemberID, kind member.ContactKind) {
	tx.Write(`delete from pending_contacts where tenant_id = $1 and member_id = $2 and kind = $3`,
		in, owner, string(kind))
}

// CountCodesOf counts the codes for contacts of a kind that a member asked for since a time.
func CountCodesOf(
	b *pg.Batch, in tenant.TenantID, owner tenant.MemberID, kind member.ContactKind, since time.Time, into *int,
) {
	b.Queue(`
select count(*) from contact_codes where tenant_id = $1 and member_id = $2 and kind = $3 and created_at > $4`,
		in, owner, string(kind), since).Scan(into)
}

// CountCodesTo counts the codes that were sent to an address since a time. The address is given by its keyed hashes.
func CountCodesTo(b *pg.Batch, in tenant.TenantID, hashes [][]byte, since time.Time, into *int) {
	b.Queue(`
select count(*) from contact_codes where tenant_id = $1 and address_hash = any($2) and created_at > $3 and sent`,
		in, hashes, since).Scan(into)
}

// CountGuesses counts the wrong guesses of the codes for an address that were made since a time, sent or not, of all
// members. The address is given by its keyed hashes.
func CountGuesses(b *pg.Batch, in tenant.TenantID, hashes [][]byte, since time.Time, into *int) {
	b.Queue(`
select coalesce(sum(guesses), 0)
from contact_codes where tenant_id = $1 and address_hash = any($2) and created_at > $3`,
		in, hashes, since).Scan(into)
}

// PutGuesses writes how many wrong guesses a code has.
func PutGuesses(tx *pg.Tx, in tenant.TenantID, code tenant.CodeID, guesses int) {
	tx.Write(`update contact_codes set guesses = $3 where tenant_id = $1 and id = $2`, in, code, guesses)
}

// InsertCode records that a member asked for a code, and whether it was sent.
func InsertCode(
	tx *pg.Tx, in tenant.TenantID, owner tenant.MemberID, p member.PendingContact, addressHash []byte, sent bool,
	at time.Time,
) {
	tx.Write(`
insert into contact_codes (tenant_id, id, member_id, kind, address_hash, sent, created_at)
values ($1, $2, $3, $4, $5, $6, $7)`,
		in, p.Code, owner, string(p.Kind), addressHash, sent, at)
}

// HasOldCodes reads whether a code was made before a time.
func HasOldCodes(b *pg.Batch, in tenant.TenantID, until time.Time, into *bool) {
	b.Queue(`select exists (select from contact_codes where tenant_id = $1 and created_at < $2)`, in, until).Scan(into)
}

// DeleteOldCodes deletes the codes that were made before a time.
func DeleteOldCodes(tx *pg.Tx, in tenant.TenantID, until time.Time) {
	tx.Write(`delete from contact_codes where tenant_id = $1 and created_at < $2`, in, until)
}

// ListZones reads the time zones of the tenant and its active locations, and the tenant's locale.
func ListZones(b *pg.Batch, in tenant.TenantID, zones *[]string, locale *string) {
	pg.Collect(b.Queue(`
select time_zone from tenants where tenant_id = $1
union select time_zone from locations where tenant_id = $1 and active order by 1`, in), zones, pgx.RowTo[string])
	b.Queue(`select locale from tenants where tenant_id = $1`, in).Scan(locale)
}

// FindTimeZone reads the time zone of the tenant.
func FindTimeZone(b *pg.Batch, in tenant.TenantID, zone *string) {
	b.Queue(`select time_zone from tenants where tenant_id = $1`, in).Scan(zone)
}

// ListLocationZones reads the time zones of the tenant's active locations, or its own if there is none, and its locale.
func ListLocationZones(b *pg.Batch, in tenant.TenantID, zones *[]string, locale *string) {
	pg.Collect(b.Queue(`
select time_zone from locations where tenant_id = $1 and active
union
select time_zone from tenants
where tenant_id = $1 and not exists (select from locations where tenant_id = $1 and active) order by 1`, in),
		zones, pgx.RowTo[string])
	b.Queue(`select locale from tenants where tenant_id = $1`, in).Scan(locale)
}
