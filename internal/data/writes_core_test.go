package data

import (
	"time"

	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

var coreWrites = []write{
	{coredb.RenewSnapshot, nil, "tenants  {snapshot_version=2}"},
	{coredb.DeleteOldKeys, args{now, 1}, "idempotency_keys -ana old"},
	{coredb.DeleteOldKeys, args{now, 9}, `
idempotency_keys -ana key
idempotency_keys -ana old`},
	{coredb.DeleteOldKeys, args{now.Add(-time.Second), 9}, "idempotency_keys -ana old"},
	{coredb.GiveKeyBack, args{
		coredb.Claim{Principal: "ana", Key: "key"},
	}, "idempotency_keys -ana key"},
	{coredb.GiveKeyBack, args{coredb.Claim{Principal: "bo", Key: "key"}}, ""},
	{coredb.GiveKeyBack, args{coredb.Claim{Principal: "ana", Key: "x"}}, ""},
	{coredb.AppendAudit, args{coredb.AuditEntry{
		ID: id[tenant.AuditID]("second"), Actor: uuid("member").String(), Subject: "ana", Action: "BOOK",
		TargetKind: "booking", TargetID: "x", Address: "::1", Client: "curl", At: start,
	}}, "audit_entries +second {action=BOOK actor=member actor_name=Ana actor_subject=ana address=::1 " +
		"client=curl occurred_at=2026-03-02T08:00:00+00:00 target_id=x target_kind=booking}"},
	{coredb.AppendAudit, args{coredb.AuditEntry{
		ID: id[tenant.AuditID]("second"), Actor: "sa:" + uuid("account").String(), Subject: "s", Action: "BOOK",
		TargetKind: "booking", TargetID: "x", Address: "::1", Client: "curl", At: start,
	}}, "audit_entries +second {action=BOOK actor=sa:account actor_name=Kiosk actor_subject=s " +
		"address=::1 client=curl occurred_at=2026-03-02T08:00:00+00:00 target_id=x target_kind=booking}"},
	{coredb.AppendAudit, args{coredb.AuditEntry{
		ID: id[tenant.AuditID]("second"), Actor: "system", Subject: "s", Action: "BOOK", TargetKind: "booking",
		TargetID: "x", Address: "::1", Client: "curl", At: start,
	}}, "audit_entries +second {action=BOOK actor=system occurred_at=2026-03-02T08:00:00+00:00 " +
		"target_id=x target_kind=booking}"},
	{func(tx *pg.Tx, in tenant.TenantID, ana, bo coredb.Claim) {
		coredb.GiveKeyBack(tx, in, ana)
		coredb.GiveKeyBack(tx, in, bo)
	}, args{
		coredb.Claim{Principal: "ana", Key: "key"},
		coredb.Claim{Principal: "bo", Key: "old"},
	}, "idempotency_keys -ana key"},
	{coredb.AnswerKey, args{
		coredb.Claim{Principal: "ana", Key: "key", Hash: []byte{1}, At: now}, "{}",
	}, "idempotency_keys ana key {answer={}}"},
}
