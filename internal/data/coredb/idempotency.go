package coredb

import (
	"encoding/json"
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// Claim is one use of an idempotency key by a principal.
type Claim struct {
	Principal, Key string
	Hash           []byte // SHA-256 of the request
	At             time.Time
	// Since is the age limit: an earlier use of the key does not count.
	Since time.Time
}

// Name is unique among the keys of a tenant.
func (c Claim) Name() [2]string { return [2]string{c.Principal, c.Key} }

// KeyUsed reports whether a transaction failed because the key that it claimed had been used.
func KeyUsed(err error) bool { return pg.IsCheck(err, "idempotency_keys_once") }

type answerRow struct {
	Claim
	answer json.RawMessage
}

func claimColumns(c *Claim) []pg.Column {
	return []pg.Column{
		pg.Key("principal", &c.Principal),
		pg.Key("key", &c.Key),
		pg.Fixed("request_hash", &c.Hash),
		pg.Fixed("created_at", &c.At),
	}
}

var (
	claims  = pg.NewTable("", claimColumns)
	answers = pg.NewTable("", func(a *answerRow) []pg.Column {
		return append(claimColumns(&a.Claim), pg.Fixed("answer", pg.JSON(&a.answer)))
	})
)

var (
	claimKey = pg.SQL(`
insert into idempotency_keys as k ` + claims.Values() + `
on conflict (tenant_id, principal, key) do update set
  used = k.created_at > ` + claims.Extra(1) + `,
  request_hash = excluded.request_hash, answer = null, created_at = excluded.created_at`)
	claimKeys = pg.SQL(`
insert into idempotency_keys as k ` + claims.Rows() + `
on conflict (tenant_id, principal, key) do update set
  request_hash = excluded.request_hash, answer = null, created_at = excluded.created_at
where k.created_at <= ` + claims.Extra(1) + `
returning k.principal, k.key`)
	answerKeys = pg.SQL(`
insert into idempotency_keys ` + answers.Rows() + `
on conflict (tenant_id, principal, key) do update set answer = excluded.answer`)
)

// ClaimKey claims an idempotency key. If the key has been used the transaction fails: see KeyUsed. If another
// transaction is claiming the key, this one waits for its end.
//
// A single statement finds the conflict and turns it into an error. It does not read: a SELECT would take predicate
// locks on the index pages where all other keys are inserted. Because the statement itself fails, it can be sent ahead
// of the transaction's next statements, in the same round trip, and they do not run.
func ClaimKey(tx *pg.Tx, in tenant.TenantID, c Claim) {
	tx.Write(claimKey, append(claims.Insert(in, &c), c.Since)...)
}

// ClaimKeys claims idempotency keys, and calls claimed for each. It leaves out keys that have been used. It does not
// read, because of the predicate locks: see ClaimKey.
func ClaimKeys(b *pg.Batch, in tenant.TenantID, all []Claim, claimed func(Claim)) {
	if len(all) == 0 {
		return
	}
	rows := pg.Array(all, func(c Claim) *Claim { return &c })
	var c Claim
	b.Queue(claimKeys, append(claims.InsertAll(in, rows), all[0].Since)...).
		Each(func() { claimed(c) }, &c.Principal, &c.Key)
}

var newAnswers = pg.RowWriter[*answerRow]{
	Rank: RankKeys,
	Write: func(tx *pg.Tx, in tenant.TenantID, rows []*answerRow) {
		tx.Write(answerKeys, answers.InsertAll(in, rows)...)
	},
}

// AnswerKey stores the answer, a JSON text, under a key that the transaction has claimed. It is an upsert because an
// update would take predicate locks: see ClaimKey.
func AnswerKey(tx *pg.Tx, in tenant.TenantID, c Claim, text string) {
	newAnswers.Add(tx, in, &answerRow{c, json.RawMessage(text)})
}

var releasedKeys = pg.RowWriter[Claim]{
	Rank: RankKeys,
	Write: func(tx *pg.Tx, in tenant.TenantID, rows []Claim) {
		tx.Write(`
delete from idempotency_keys k using unnest($2::text[], $3::text[]) as x (principal, key)
where k.tenant_id = $1 and k.key = any($3)
  and k.principal = x.principal and k.key = x.key`,
			in,
			pg.Array(rows, func(c Claim) string { return c.Principal }),
			pg.Array(rows, func(c Claim) string { return c.Key }))
	},
}

// GiveKeyBack deletes a key that the transaction has claimed.
func GiveKeyBack(tx *pg.Tx, in tenant.TenantID, c Claim) { releasedKeys.Add(tx, in, c) }

// Answered is a stored answer, and the hash of its request.
type Answered struct {
	Hash   []byte
	Answer string // JSON
}

var answered = pg.NewReader(func(a *Answered) []pg.Column {
	return []pg.Column{pg.Read("request_hash", &a.Hash), pg.Read("answer::text", &a.Answer)}
})

var findAnswer = pg.SQL(`
select ` + answered.Columns() + ` from idempotency_keys
where tenant_id = $1 and principal = $2 and key = $3 and created_at > $4`)

// FindAnswer reads the answer that is stored under a key; nil if there is none.
func FindAnswer(b *pg.Batch, in tenant.TenantID, c Claim, into **Answered) {
	answered.Find(b.Queue(findAnswer, in, c.Principal, c.Key, c.Since), into)
}

// HasOldKeys reads whether any key was last used at or before a time.
func HasOldKeys(b *pg.Batch, in tenant.TenantID, until time.Time, into *bool) {
	b.Queue(`select exists (select from idempotency_keys where tenant_id = $1 and created_at <= $2)`, in, until).Scan(into)
}

// DeleteOldKeys deletes the oldest keys that were last used at or before a time, up to the limit.
func DeleteOldKeys(tx *pg.Tx, in tenant.TenantID, until time.Time, limit int) {
	tx.Write(`
delete from idempotency_keys where tenant_id = $1 and (principal, key) in (
  select principal, key from idempotency_keys
  where tenant_id = $1 and created_at <= $2 order by created_at limit $3)`, in, until, limit)
}
