package accountdb

import (
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/signin"
	"github.com/berthhq/berth/internal/tenant"
)

// signInRow is a sign-in with the hash of its secret, which is written but not read.
type signInRow struct {
	signin.SignIn
	hash []byte
}

func signInColumns(s *signin.SignIn) []pg.Column {
	return []pg.Column{
		pg.Key("id", &s.ID),
		pg.Fixed("member_id", &s.Member),
		pg.Fixed("method", &s.Method),
		pg.Fixed("browser", &s.Browser),
		pg.Fixed("address", &s.Address),
		pg.Fixed("created_at", &s.CreatedAt),
		pg.Col("used_at", &s.UsedAt),
		pg.Col("expires_at", &s.ExpiresAt),
	}
}

var (
	signIns    = pg.NewTable("s", signInColumns)
	signInRows = pg.NewTable("", func(s *signInRow) []pg.Column {
		return append(signInColumns(&s.SignIn), pg.Fixed("token_hash", &s.hash))
	})
	signedIn = pg.NewReader(func(s *signin.SignedIn) []pg.Column {
		return append(signIns.Of(&s.SignIn),
			pg.Read("m.name", &s.Name), pg.Read("m.email", &s.Email),
			pg.Read("m.locale", &s.Locale), pg.Read("m.status", &s.Status), pg.Read("m.subject <> ''", &s.Linked))
	})
)

var listedSignIns = pg.NewReader(func(s *signin.ListedSignIn) []pg.Column {
	return append(signIns.Of(&s.SignIn), pg.Read("encode(substr(s.token_hash, 1, 16), 'hex') = $3", &s.Current))
})

var (
	listSignIns = pg.SQL(`
select ` + listedSignIns.Columns() + ` from sign_ins s
where s.tenant_id = $1 and s.member_id = $2 and s.expires_at > $4
order by s.used_at desc, s.id desc`)
	findSignIn = pg.SQL(`
select ` + signedIn.Columns() + ` from sign_ins s
  join members m on m.tenant_id = s.tenant_id and m.id = s.member_id
where s.tenant_id = $1 and s.token_hash = $2`)
	insertSignIn = pg.SQL(`insert into sign_ins ` + signInRows.Values())
	updateSignIn = pg.SQL(`update sign_ins set ` + signIns.Set() + ` where tenant_id = $1 and id = $2`)
)

// FindSignIn reads the sign-in with the hash of a secret; nil if there is none.
func FindSignIn(b *pg.Batch, in tenant.TenantID, hash []byte, into **signin.SignedIn) {
	signedIn.Find(b.Queue(findSignIn, in, hash), into)
}

// ListSignIns reads the sign-ins of a member that are good at a time, the last used first. Current is the one with the
// mark, which is the first half of the hash of its secret, in hexadecimal.
func ListSignIns(
	b *pg.Batch, in tenant.TenantID, of tenant.MemberID, mark string, now time.Time, into *[]signin.ListedSignIn,
) {
	listedSignIns.List(b.Queue(listSignIns, in, of, mark, now), into)
}

// InsertSignIn inserts a sign-in with the hash of its secret.
func InsertSignIn(tx *pg.Tx, in tenant.TenantID, s signin.SignIn, hash []byte) {
	tx.Write(insertSignIn, signInRows.Insert(in, &signInRow{s, hash})...)
}

// UpdateSignIn writes when a sign-in was used.
func UpdateSignIn(tx *pg.Tx, in tenant.TenantID, s signin.SignIn) {
	tx.Write(updateSignIn, signIns.Update(in, &s)...)
}

// TrimSignIns deletes a member's sign-ins that were used longest ago, beyond the given number.
func TrimSignIns(tx *pg.Tx, in tenant.TenantID, owner tenant.MemberID, limit int) {
	tx.Write(`
delete from sign_ins where tenant_id = $1 and id in (
  select id from sign_ins where tenant_id = $1 and member_id = $2 order by used_at desc, id desc offset $3)`,
		in, owner, limit)
}

// DeleteSignInsOf deletes the sign-ins and passkeys of a member.
func DeleteSignInsOf(tx *pg.Tx, in tenant.TenantID, owner tenant.MemberID) {
	tx.Write(`delete from passkeys where tenant_id = $1 and member_id = $2`, in, owner)
	tx.Write(`delete from sign_ins where tenant_id = $1 and member_id = $2`, in, owner)
}

// HasOldSignIns reads whether a sign-in expired before a time, or a code was made before codesUntil.
func HasOldSignIns(b *pg.Batch, in tenant.TenantID, until, codesUntil time.Time, into *bool) {
	b.Queue(`select exists (select from sign_ins where tenant_id = $1 and expires_at < $2)
  or exists (select from sign_in_codes where tenant_id = $1 and created_at < $3)`, in, until, codesUntil).Scan(into)
}

// DeleteOldSignIns deletes the sign-ins that expired before a time, and the codes that were made before codesUntil.
func DeleteOldSignIns(tx *pg.Tx, in tenant.TenantID, until, codesUntil time.Time) {
	tx.Write(`delete from sign_ins where tenant_id = $1 and expires_at < $2`, in, until)
	tx.Write(`delete from sign_in_codes where tenant_id = $1 and created_at < $2`, in, codesUntil)
}

// DeleteSignIn deletes a sign-in.
func DeleteSignIn(tx *pg.Tx, in tenant.TenantID, id tenant.SignInID) {
	tx.Write(`delete from sign_ins where tenant_id = $1 and id = $2`, in, id)
}
