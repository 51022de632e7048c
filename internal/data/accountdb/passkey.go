package accountdb

import (
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/signin"
	"github.com/berthhq/berth/internal/tenant"
)

var passkeys = pg.NewTable("p", func(p *signin.Passkey) []pg.Column {
	return []pg.Column{
		pg.Key("id", &p.ID),
		pg.Fixed("member_id", &p.Member),
		pg.Fixed("credential_id", &p.CredentialID),
		pg.Col("credential", &p.Credential),
		pg.Fixed("name", &p.Name),
		pg.Fixed("created_at", &p.CreatedAt),
		pg.Col("used_at", &p.UsedAt),
		pg.Col("asked_at", &p.AskedAt),
	}
})

var (
	listPasskeys = pg.SQL(`select ` + passkeys.Columns() + ` from passkeys p
where p.tenant_id = $1 and p.member_id = $2 order by p.created_at desc, p.id desc`)
	findPasskey = pg.SQL(`select ` + passkeys.Columns() + ` from passkeys p
where p.tenant_id = $1 and p.credential_id = $2`)
	insertPasskey = pg.SQL(`insert into passkeys ` + passkeys.Values())
	updatePasskey = pg.SQL(`update passkeys set ` + passkeys.Set() + ` where tenant_id = $1 and id = $2`)
)

// ListPasskeys reads the passkeys of a member, the newest first.
func ListPasskeys(b *pg.Batch, in tenant.TenantID, owner tenant.MemberID, into *[]signin.Passkey) {
	passkeys.List(b.Queue(listPasskeys, in, owner), into)
}

// FindPasskey reads the passkey with a credential id; nil if there is none.
func FindPasskey(b *pg.Batch, in tenant.TenantID, credential []byte, into **signin.Passkey) {
	passkeys.Find(b.Queue(findPasskey, in, credential), into)
}

// InsertPasskey inserts a passkey.
func InsertPasskey(tx *pg.Tx, in tenant.TenantID, p signin.Passkey) {
	tx.Write(insertPasskey, passkeys.Insert(in, &p)...)
}

// UpdatePasskey writes a use of a passkey.
func UpdatePasskey(tx *pg.Tx, in tenant.TenantID, p signin.Passkey) {
	tx.Write(updatePasskey, passkeys.Update(in, &p)...)
}

// DeletePasskey deletes a passkey of a member.
func DeletePasskey(tx *pg.Tx, in tenant.TenantID, owner tenant.MemberID, id tenant.PasskeyID) {
	tx.Write(`delete from passkeys where tenant_id = $1 and member_id = $2 and id = $3`, in, owner, id)
}
