package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// Claim names one use of an idempotency key: who sent it, to which procedure.
type Claim struct {
	Principal, Procedure, Key string
	Hash                      []byte // SHA-256 of what was asked for
	At                        time.Time
	// Since is when a use still counts: older ones are as good as forgotten.
	Since time.Time
}

// Name tells a tenant's keys apart.
func (c Claim) Name() string { return c.Principal + "\x00" + c.Procedure + "\x00" + c.Key }

// KeyUsed reports whether a transaction failed because the key that it claimed was used already.
func KeyUsed(err error) bool { return pg.IsCheck(err, "idempotency_keys_once") }

// ClaimKey takes an idempotency key with the transaction, which fails where that was done before: see KeyUsed. Who comes while
// another transaction has it waits for that one's end.
//
// The conflict is found, and turned into an error, by one statement that asks for nothing: a SELECT would take
// predicate locks on the index pages where everybody else's keys go. That it fails by itself lets it travel
// ahead of whatever the transaction sends, and keeps the rest of that from happening.
func ClaimKey(tx *pg.Tx, in tenant.TenantID, c Claim) {
	tx.Write(`
insert into idempotency_keys as k (tenant_id, principal, procedure, key, request_hash, created_at)
values ($1, $2, $3, $4, $5, $6)
on conflict (tenant_id, principal, procedure, key) do update set
  used = k.created_at > $7, request_hash = excluded.request_hash, answer = null, created_at = excluded.created_at`,
		in, c.Principal, c.Procedure, c.Key, c.Hash, c.At, c.Since)
}

// ClaimKeys takes idempotency keys with the batch's transaction, and says which: those that were used before
// are left as they are. It asks for nothing either, for the sake of what ClaimKey says about predicate locks.
func ClaimKeys(b *pg.Batch, in tenant.TenantID, claims []Claim, claimed func(Claim)) {
	if len(claims) == 0 {
		return
	}
	b.Queue(`
insert into idempotency_keys as k (tenant_id, principal, procedure, key, request_hash, created_at)
select $1, x.principal, x.procedure, x.key, x.request_hash, x.created_at
from unnest($2::text[], $3::text[], $4::text[], $5::bytea[], $6::timestamptz[]) as x (principal, procedure, key, request_hash, created_at)
on conflict (tenant_id, principal, procedure, key) do update set
  request_hash = excluded.request_hash, answer = null, created_at = excluded.created_at
where k.created_at <= $7
returning k.principal, k.procedure, k.key`, append(claimColumns(in, claims), claims[0].Since)...).Query(func(rows pgx.Rows) error {
		var c Claim
		_, err := pgx.ForEachRow(rows, []any{&c.Principal, &c.Procedure, &c.Key}, func() error {
			claimed(c)
			return nil
		})
		return err
	})
}

func claimColumns(in tenant.TenantID, claims []Claim) []any {
	return []any{
		in,
		column(claims, func(c Claim) string { return c.Principal }),
		column(claims, func(c Claim) string { return c.Procedure }),
		column(claims, func(c Claim) string { return c.Key }),
		column(claims, func(c Claim) []byte { return c.Hash }),
		column(claims, func(c Claim) time.Time { return c.At }),
	}
}

type answer struct {
	Claim
	text string
}

var answersKept = pg.Rows[answer]{
	Rank: rankKeys,
	Write: func(tx *pg.Tx, in tenant.TenantID, rows []answer) {
		tx.Write(`
insert into idempotency_keys (tenant_id, principal, procedure, key, request_hash, created_at, answer)
select $1, x.principal, x.procedure, x.key, x.request_hash, x.created_at, x.answer
from unnest($2::text[], $3::text[], $4::text[], $5::bytea[], $6::timestamptz[], $7::jsonb[])
  as x (principal, procedure, key, request_hash, created_at, answer)
on conflict (tenant_id, principal, procedure, key) do update set answer = excluded.answer`,
			append(claimColumns(in, column(rows, func(a answer) Claim { return a.Claim })),
				column(rows, func(a answer) string { return a.text }))...)
	},
}

// AnswerKey keeps the answer, a JSON text, with the key that the transaction has claimed. It is an upsert for
// the sake of what ClaimKey says about predicate locks.
func AnswerKey(tx *pg.Tx, in tenant.TenantID, c Claim, text string) {
	answersKept.Add(tx, in, answer{c, text})
}

var keysGivenBack = pg.Rows[Claim]{
	Rank: rankKeys,
	Write: func(tx *pg.Tx, in tenant.TenantID, rows []Claim) {
		tx.Write(`
delete from idempotency_keys k using unnest($2::text[], $3::text[], $4::text[]) as x (principal, procedure, key)
where k.tenant_id = $1 and k.key = any($4) and k.principal = x.principal and k.procedure = x.procedure and k.key = x.key`,
			claimColumns(in, rows)[:4]...)
	},
}

// GiveKeyBack forgets, with the transaction, a key that it has claimed.
func GiveKeyBack(tx *pg.Tx, in tenant.TenantID, c Claim) { keysGivenBack.Add(tx, in, c) }

// Answered is what an idempotency key was used for.
type Answered struct {
	Hash   []byte
	Answer string // JSON
}

// FindAnswer reads what a key was used for.
func FindAnswer(b *pg.Batch, in tenant.TenantID, c Claim, into **Answered) {
	b.Queue(`
select request_hash, answer::text from idempotency_keys
where tenant_id = $1 and principal = $2 and procedure = $3 and key = $4 and created_at > $5`,
		in, c.Principal, c.Procedure, c.Key, c.Since).QueryRow(func(row pgx.Row) error {
		var a Answered
		err := row.Scan(&a.Hash, &a.Answer)
		return found(into, a, err)
	})
}

// HasOldKeys tells whether any key was last used by the given time.
func HasOldKeys(b *pg.Batch, in tenant.TenantID, until time.Time, into *bool) {
	b.Queue(`select exists (select from idempotency_keys where tenant_id = $1 and created_at <= $2)`, in, until).Scan(into)
}

// DeleteOldKeys deletes with the transaction so many keys that were last used by the given time.
func DeleteOldKeys(tx *pg.Tx, in tenant.TenantID, until time.Time, most int) {
	tx.Write(`
delete from idempotency_keys where tenant_id = $1 and (principal, procedure, key) in (
  select principal, procedure, key from idempotency_keys where tenant_id = $1 and created_at <= $2 order by created_at limit $3)`, in, until, most)
}
