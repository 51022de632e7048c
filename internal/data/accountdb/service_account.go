package accountdb

import (
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
)

// accountRow is a service account with its keys.
type accountRow struct {
	grant.ServiceAccount
	keys []accountKey
}

// accountKey is a key in the JSON that accounts reads.
type accountKey struct {
	ID        tenant.KeyID `json:"id"`
	CreatedAt time.Time    `json:"created_at"`
	ExpiresAt time.Time    `json:"expires_at"`
	UsedAt    time.Time    `json:"used_at"`
}

var accountRows = pg.NewTable("a", func(a *grant.ServiceAccount) []pg.Column {
	return []pg.Column{
		pg.Key("id", &a.ID),
		pg.Fixed("name", &a.Name),
		pg.Fixed("description", &a.Description),
		pg.Fixed("created_at", &a.CreatedAt),
		pg.Later("revoked_at", pg.Null(&a.RevokedAt)),
	}
})

var accounts = pg.ReadAs(func(a *accountRow) []pg.Column {
	return append(accountRows.Of(&a.ServiceAccount),
		pg.Read(`
  array(select r.role from service_account_roles r where r.tenant_id = a.tenant_id and r.account_id = a.id)`, &a.Roles),
		pg.Read(`
  (select coalesce(jsonb_agg(to_jsonb(k) order by k.created_at desc, k.id desc), '[]') from (
    select id, created_at, expires_at, used_at from service_account_keys
    where tenant_id = a.tenant_id and account_id = a.id) k)`, &a.keys))
}, func(a *accountRow) (grant.ServiceAccount, error) {
	grant.Sort(a.Roles)
	a.Keys = nil
	for _, k := range a.keys {
		a.Keys = append(a.Keys, grant.Key{
			ID: k.ID, CreatedAt: k.CreatedAt.UTC(), ExpiresAt: k.ExpiresAt.UTC(), UsedAt: k.UsedAt.UTC(),
		})
	}
	return a.ServiceAccount, nil
})

var (
	findAccount  = pg.SQL(`select ` + accounts.Columns() + ` from service_accounts a where a.tenant_id = $1 and a.id = $2`)
	listAccounts = pg.SQL(`select ` + accounts.Columns() + ` from service_accounts a
where a.tenant_id = $1 and case when a.revoked_at is null then 'ACTIVE' else 'REVOKED' end = any($4::text[])
  and ($5::text = '' or exists (
    select from service_account_roles r where r.tenant_id = a.tenant_id and r.account_id = a.id and r.role = $5))
  and (a.name_key, a.id) > (lower($2::text), coalesce($3::uuid, '00000000-0000-0000-0000-000000000000'))
order by a.name_key, a.id limit $6`)
	insertAccount = pg.SQL(`insert into service_accounts ` + accountRows.Values())
)

// FindAccount reads a service account, even a revoked one; nil if there is none.
func FindAccount(b *pg.Batch, in tenant.TenantID, id tenant.ServiceAccountID, into **grant.ServiceAccount) {
	accounts.Find(b.Queue(findAccount, in, id), into)
}

// ListAccounts reads service accounts by name, then id.
func ListAccounts(b *pg.Batch, in tenant.TenantID, s grant.ServiceAccountSearch, into *[]grant.ServiceAccount) {
	var after grant.ServiceAccountCursor
	if s.After != nil {
		after = *s.After
	}
	statuses := s.Statuses
	if len(statuses) == 0 {
		statuses = []grant.AccountStatus{grant.AccountActive}
	}
	accounts.List(b.Queue(listAccounts, in, after.Name, after.ID, statuses, s.Role, s.Limit), into)
}

// KeyFacts are what decides whether a key is valid.
type KeyFacts struct {
	Key     grant.Key
	Hash    []byte // of the secret
	Account tenant.ServiceAccountID
	Name    string // the account's
	Revoked bool   // the account is
}

// accountKeys is joined with each key's account `a`.
var accountKeys = pg.NewTable("k", func(k *KeyFacts) []pg.Column {
	return []pg.Column{
		pg.Key("id", &k.Key.ID),
		pg.Fixed("account_id", &k.Account),
		pg.Fixed("hash", &k.Hash),
		pg.Fixed("created_at", &k.Key.CreatedAt),
		pg.Later("expires_at", pg.Null(&k.Key.ExpiresAt)),
		pg.Later("used_at", pg.Null(&k.Key.UsedAt)),
		pg.Read("a.name", &k.Name),
		pg.Read("a.revoked_at is not null", &k.Revoked),
	}
})

var (
	findKey = pg.SQL(`
select ` + accountKeys.Columns() + `
from service_account_keys k join service_accounts a on a.tenant_id = k.tenant_id and a.id = k.account_id
where k.tenant_id = $1 and k.id = $2`)
	insertKey = pg.SQL(`insert into service_account_keys ` + accountKeys.Values())
)

// FindKey reads a key; nil if there is none.
func FindKey(b *pg.Batch, in tenant.TenantID, id tenant.KeyID, into **KeyFacts) {
	accountKeys.Find(b.Queue(findKey, in, id), into)
}

// InsertAccount inserts a service account without its keys.
func InsertAccount(tx *pg.Tx, in tenant.TenantID, a grant.ServiceAccount) {
	tx.Write(insertAccount, accountRows.Insert(in, &a)...)
	tx.Write(`
insert into service_account_roles (tenant_id, account_id, role) select $1, $2, role from unnest($3::text[]) as role`,
		in, a.ID, a.Roles)
}

// InsertKey inserts a key of a service account.
func InsertKey(tx *pg.Tx, in tenant.TenantID, account tenant.ServiceAccountID, k grant.Key, hash [32]byte) {
	tx.Write(insertKey, accountKeys.Insert(in, &KeyFacts{Key: k, Account: account, Hash: hash[:]})...)
}

// EndKeys makes the current keys of a service account expire at the given time, unless they expire earlier. It does not
// affect keys that the transaction inserts later.
func EndKeys(tx *pg.Tx, in tenant.TenantID, account tenant.ServiceAccountID, at time.Time) {
	tx.Write(`
update service_account_keys set expires_at = least(expires_at, $3) where tenant_id = $1 and account_id = $2`,
		in, account, at)
}

// RevokeAccount revokes a service account. It also takes the account's roles, so that they can be deleted.
func RevokeAccount(tx *pg.Tx, in tenant.TenantID, id tenant.ServiceAccountID, at time.Time) {
	EndKeys(tx, in, id, at)
	tx.Write(`delete from service_account_roles where tenant_id = $1 and account_id = $2`, in, id)
	tx.Write(`update service_accounts set revoked_at = $3 where tenant_id = $1 and id = $2`, in, id, at)
}

// MarkKeyUsed updates when a key was last exchanged.
func MarkKeyUsed(tx *pg.Tx, in tenant.TenantID, id tenant.KeyID, at time.Time) {
	tx.Write(`update service_account_keys set used_at = greatest(used_at, $3) where tenant_id = $1 and id = $2`,
		in, id, at)
}
