package record_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestChanges_LeavesOutWhatIsNotThere(t *testing.T) {
	t.Parallel()
	one, other := map[string]any{"a": 1}, map[string]any{"a": 2}
	test.Eq(t, map[string]any{"before": one, "after": other}, record.Changes(one, other))
	test.Eq(t, map[string]any{"after": other}, record.Changes(nil, other))
	test.Eq(t, map[string]any{"before": one}, record.Changes(one, nil))
}

// The audit log has the caller, the time and the request of an act, alone and batched.
func TestAudit_RecordsCallerAndRequest(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	e := engine.New(engine.Config{DB: db.DB, Now: time.Now})
	caller := tenant.Caller{
		Tenant: tenant.New[tenant.TenantID](time.Now()), Subject: "test", Member: tenant.New[tenant.MemberID](time.Now()),
	}
	target := tenant.New[tenant.MemberID](time.Now())
	var at, found time.Time
	audit := func(ctx context.Context, tx *engine.Tx) (tenant.MemberID, error) {
		at = tx.Now
		record.Audit(tx, "member.updated", "member", target.UUID, "moved", map[string]any{"after": "x"})
		return target, ctx.Err()
	}
	ctx := engine.WithRequest(t.Context(), engine.Request{ID: "r1", Address: "192.0.2.1", Client: "kiosk"})
	expect.OK(t)(engine.Transact(ctx, e, caller, engine.Transaction{Name: "test"}, audit))
	expect.OK(t)(engine.RunBatched(ctx, e, caller, engine.Batched[tenant.MemberID]{
		Name: "test",
		Locate: func(context.Context, engine.Reader) (engine.Located[tenant.MemberID], error) {
			return engine.Alone(engine.Locks{}, audit), nil
		},
	}))
	rows, _ := db.Owner.Query(t.Context(), `select concat_ws(' ', actor, actor_subject, action, target_kind, target_id,
		reason, changes, request_id, address, client), occurred_at from audit_entries order by occurred_at`)
	texts := expect.Value(pgx.CollectRows(rows, func(row pgx.CollectableRow) (text string, err error) {
		return text, row.Scan(&text, &found)
	}))(t)
	want := caller.Member.String() + " test member.updated member " + target.String() +
		` moved {"after": "x"} r1 192.0.2.1 kiosk`
	test.Eq(t, []string{want, want}, texts)
	test.Eq(t, at, found.UTC())
}
