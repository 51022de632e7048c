package store

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
)

const accountColumns = `
  a.id, a.name, a.description, a.created_at, a.revoked_at,
  array(select r.role from service_account_roles r where r.tenant_id = a.tenant_id and r.account_id = a.id),
  (select coalesce(jsonb_agg(to_jsonb(k) order by k.created_at desc, k.id desc), '[]') from (
    select id, created_at, expires_at, used_at from service_account_keys where tenant_id = a.tenant_id and account_id = a.id) k)`

// keyRow is a key as accountColumns gives it.
type keyRow struct {
	ID        tenant.KeyID `json:"id"`
	CreatedAt time.Time    `json:"created_at"`
	ExpiresAt time.Time    `json:"expires_at"`
	UsedAt    time.Time    `json:"used_at"`
}

func scanAccount(row pgx.Row) (grant.Account, error) {
	var a grant.Account
	var revoked *time.Time
	var encoded []byte
	err := row.Scan(&a.ID, &a.Name, &a.Description, &a.CreatedAt, &revoked, &a.Roles, &encoded)
	if err != nil {
		return a, err
	}
	if revoked != nil {
		a.RevokedAt = *revoked
	}
	grant.Sort(a.Roles)
	var keys []keyRow
	if err := json.Unmarshal(encoded, &keys); err != nil {
		return a, fmt.Errorf("service account keys: %w", err)
	}
	for _, k := range keys {
		a.Keys = append(a.Keys, grant.Key{ID: k.ID, CreatedAt: k.CreatedAt.UTC(), ExpiresAt: k.ExpiresAt.UTC(), UsedAt: k.UsedAt.UTC()})
	}
	return a, nil
}

// FindAccount reads a service account, revoked or not; nil where there is none.
func FindAccount(b *pg.Batch, in tenant.TenantID, id tenant.ServiceAccountID, into **grant.Account) {
	b.Queue(`select`+accountColumns+` from service_accounts a where a.tenant_id = $1 and a.id = $2`, in, id).
		QueryRow(func(row pgx.Row) error {
			a, err := scanAccount(row)
			return found(into, a, err)
		})
}

// ListAccounts reads service accounts by name, then id.
func ListAccounts(b *pg.Batch, in tenant.TenantID, s grant.AccountSearch, into *[]grant.Account) {
	var after grant.AccountPosition
	if s.After != nil {
		after = *s.After
	}
	pg.Collect(b.Queue(`select`+accountColumns+` from service_accounts a
where a.tenant_id = $1 and ($4 or a.revoked_at is null)
  and (a.name_key, a.id) > (lower($2::text), coalesce($3::uuid, '00000000-0000-0000-0000-000000000000'))
order by a.name_key, a.id limit $5`, in, after.Name, after.ID, s.Revoked, s.Limit), into,
		func(row pgx.CollectableRow) (grant.Account, error) { return scanAccount(row) })
}

// KeyFacts is what a key is judged by.
type KeyFacts struct {
	Key     grant.Key
	Hash    []byte // of its secret
	Account tenant.ServiceAccountID
	Name    string // the account's
	Revoked bool   // the account
}

// FindKey reads a key; nil where there is none.
func FindKey(b *pg.Batch, in tenant.TenantID, id tenant.KeyID, into **KeyFacts) {
	b.Queue(`
select k.id, k.created_at, k.expires_at, k.used_at, k.hash, a.id, a.name, a.revoked_at is not null
from service_account_keys k join service_accounts a on a.tenant_id = k.tenant_id and a.id = k.account_id
where k.tenant_id = $1 and k.id = $2`, in, id).QueryRow(func(row pgx.Row) error {
		var f KeyFacts
		var expires, used *time.Time
		err := row.Scan(&f.Key.ID, &f.Key.CreatedAt, &expires, &used, &f.Hash, &f.Account, &f.Name, &f.Revoked)
		if expires != nil {
			f.Key.ExpiresAt = *expires
		}
		if used != nil {
			f.Key.UsedAt = *used
		}
		return found(into, f, err)
	})
}

// InsertAccount writes a new service account with the transaction, without keys.
func InsertAccount(tx *pg.Tx, in tenant.TenantID, a grant.Account) {
	tx.Write(`insert into service_accounts (tenant_id, id, name, description, created_at) values ($1, $2, $3, $4, $5)`,
		in, a.ID, a.Name, a.Description, a.CreatedAt)
	tx.Write(`insert into service_account_roles (tenant_id, account_id, role) select $1, $2, role from unnest($3::text[]) as role`,
		in, a.ID, a.Roles)
}

// InsertKey writes a new key of a service account with the transaction.
func InsertKey(tx *pg.Tx, in tenant.TenantID, account tenant.ServiceAccountID, k grant.Key, hash [32]byte) {
	tx.Write(`insert into service_account_keys (tenant_id, id, account_id, hash, created_at) values ($1, $2, $3, $4, $5)`,
		in, k.ID, account, hash[:], k.CreatedAt)
}

// EndKeys lets the keys that a service account has end with the transaction at
// that time, unless they end sooner. Keys written after it in the same transaction stay.
func EndKeys(tx *pg.Tx, in tenant.TenantID, account tenant.ServiceAccountID, at time.Time) {
	tx.Write(`update service_account_keys set expires_at = $3
where tenant_id = $1 and account_id = $2 and (expires_at is null or expires_at > $3)`, in, account, at)
}

// RevokeAccount ends a service account with the transaction. It holds no role
// from then on, so that it stands in the way of no role's deletion.
func RevokeAccount(tx *pg.Tx, in tenant.TenantID, id tenant.ServiceAccountID, at time.Time) {
	EndKeys(tx, in, id, at)
	tx.Write(`delete from service_account_roles where tenant_id = $1 and account_id = $2`, in, id)
	tx.Write(`update service_accounts set revoked_at = $3 where tenant_id = $1 and id = $2`, in, id, at)
}

// UseKey writes with the transaction when a key was last exchanged.
func UseKey(tx *pg.Tx, in tenant.TenantID, id tenant.KeyID, at time.Time) {
	tx.Write(`update service_account_keys set used_at = $3 where tenant_id = $1 and id = $2 and (used_at is null or used_at < $3)`, in, id, at)
}
