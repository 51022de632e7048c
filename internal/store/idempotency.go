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

// AnswerKey keeps the answer, a JSON text, with the key that the transaction has claimed. It is an upsert for
// the sake of what ClaimKey says about predicate locks.
func AnswerKey(tx *pg.Tx, in tenant.TenantID, c Claim, answer string) {
	tx.Write(`
insert into idempotency_keys (tenant_id, principal, procedure, key, request_hash, created_at, answer)
values ($1, $2, $3, $4, $5, $6, $7)
on conflict (tenant_id, principal, procedure, key) do update set answer = excluded.answer`,
		in, c.Principal, c.Procedure, c.Key, c.Hash, c.At, answer)
}

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
