package accountdb

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/signin"
	"github.com/berthhq/berth/internal/tenant"
)

// SignInAddress is the keyed hash of an address by which a member may ask for a code.
type SignInAddress struct {
	Member tenant.MemberID
	Hash   []byte
}

// PutSignInAddresses writes by which addresses members may ask for codes. The key is a checksum of that of the hashes.
func PutSignInAddresses(tx *pg.Tx, in tenant.TenantID, all []SignInAddress, key []byte) {
	owners := pg.Array(all, func(a SignInAddress) tenant.MemberID { return a.Member })
	hashes := pg.Array(all, func(a SignInAddress) []byte { return a.Hash })
	tx.Write(`
insert into sign_in_addresses (tenant_id, member_id, address_hash, key_check)
select $1, a.member_id, a.hash, $4 from unnest($2::uuid[], $3::bytea[]) as a (member_id, hash)
on conflict (tenant_id, member_id) do update set address_hash = excluded.address_hash, key_check = excluded.key_check`,
		in, owners, hashes, key)
}

// DeleteSignInAddress lets a member ask for no code.
func DeleteSignInAddress(tx *pg.Tx, in tenant.TenantID, owner tenant.MemberID) {
	tx.Write(`delete from sign_in_addresses where tenant_id = $1 and member_id = $2`, in, owner)
}

// ListTenantsOfAddress reads the first tenants in which an address may ask for a code, as an operator. The address is
// given by its keyed hashes.
func ListTenantsOfAddress(b *pg.Batch, hashes [][]byte, limit int, into *[]tenant.TenantID) {
	pg.Collect(b.Queue(`
select distinct tenant_id from sign_in_addresses where address_hash = any($1) order by tenant_id limit $2`,
		hashes, limit), into, pgx.RowTo[tenant.TenantID])
}

// HasOldAddresses reads whether there are hashes with another key than that of the checksum.
func HasOldAddresses(b *pg.Batch, in tenant.TenantID, key []byte, into *bool) {
	b.Queue(`select exists (select from sign_in_addresses where tenant_id = $1 and key_check < $2)
  or exists (select from sign_in_addresses where tenant_id = $1 and key_check > $2)`, in, key).Scan(into)
}

// ListOldAddresses reads the first members whose hashes have another key than that of the checksum.
func ListOldAddresses(b *pg.Batch, in tenant.TenantID, key []byte, limit int, into *[]member.Member) {
	members.List(b.Queue(listOldAddresses, in, key, limit), into)
}

var signInCodes = pg.NewTable("c", func(c *signin.Code) []pg.Column {
	return []pg.Column{
		pg.Key("id", &c.ID),
		pg.Fixed("member_id", &c.Member),
		pg.Fixed("address_hash", &c.AddressHash),
		pg.Fixed("browser_hash", &c.BrowserHash),
		pg.Fixed("code_hash", &c.CodeHash),
		pg.Fixed("digits", &c.Digits),
		pg.Col("guesses", &c.Guesses),
		pg.Col("used", &c.Used),
		pg.Fixed("created_at", &c.CreatedAt),
		pg.Fixed("expires_at", &c.ExpiresAt),
	}
})

var (
	findSignInCode = pg.SQL(`select ` + signInCodes.Columns() + ` from sign_in_codes c
where c.tenant_id = $1 and c.id = $2`)
	insertSignInCodes = pg.SQL(`insert into sign_in_codes ` + signInCodes.Rows())
	updateSignInCode  = pg.SQL(`update sign_in_codes set ` + signInCodes.Set() + ` where tenant_id = $1 and id = $2`)
)

// CountSignInCodes counts the codes that an address got since a time: for a browser that has signed in to it before, or
// with nil for all others.
func CountSignInCodes(b *pg.Batch, in tenant.TenantID, hashes [][]byte, browser []byte, since time.Time, into *int) {
	b.Queue(`
select count(*) from sign_in_codes
where tenant_id = $1 and address_hash = any($2) and created_at > $3 and browser_hash is not distinct from $4`,
		in, hashes, since, browser).Scan(into)
}

// FindSignInCode reads a code; nil if there is none.
func FindSignInCode(b *pg.Batch, in tenant.TenantID, id tenant.CodeID, into **signin.Code) {
	signInCodes.Find(b.Queue(findSignInCode, in, id), into)
}

// InsertSignInCodes inserts codes. The statement is the same for none.
func InsertSignInCodes(tx *pg.Tx, in tenant.TenantID, all ...signin.Code) {
	rows := pg.Array(all, func(c signin.Code) *signin.Code { return &c })
	tx.Write(insertSignInCodes, signInCodes.InsertAll(in, rows)...)
}

// UpdateSignInCode writes the guesses of a code, and whether it was used.
func UpdateSignInCode(tx *pg.Tx, in tenant.TenantID, c signin.Code) {
	tx.Write(updateSignInCode, signInCodes.Update(in, &c)...)
}

// CountSignInGuesses counts the wrong codes since an hour.
func CountSignInGuesses(b *pg.Batch, in tenant.TenantID, since time.Time, into *int) {
	b.Queue(`select coalesce(sum(guesses), 0) from sign_in_guesses where tenant_id = $1 and hour >= $2`,
		in, since).Scan(into)
}

// AddSignInGuess counts a wrong code, at one of a few places.
func AddSignInGuess(tx *pg.Tx, in tenant.TenantID, hour time.Time, place int) {
	tx.Write(`
insert into sign_in_guesses (tenant_id, hour, place, guesses) values ($1, $2, $3, 1)
on conflict (tenant_id, hour, place) do update set guesses = sign_in_guesses.guesses + 1`, in, hour, place)
}

// DeleteOldSignInGuesses deletes the counts of the hours before one.
func DeleteOldSignInGuesses(tx *pg.Tx, in tenant.TenantID, until time.Time) {
	tx.Write(`delete from sign_in_guesses where tenant_id = $1 and hour < $2`, in, until)
}
