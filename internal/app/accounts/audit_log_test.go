package accounts_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestAudit_RecordsAnEdit(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	ctx := engine.WithRequest(t.Context(), engine.Request{ID: "request-1", Address: "192.0.2.7", Client: "curl/8"})
	expect.OK(t)(studio.App.Catalog.UpdateLocation(
		ctx, studio.Owner, studio.Location, nil, func(l *catalog.Location) { l.Name = "Quay" },
	))
	studio.Clock.Advance(time.Minute)
	studio.EditMember(studio.Owner, func(m *member.Member) { m.Name = "Someone Else" })
	got := expect.Value(studio.App.Accounts.ListAuditEntries(t.Context(), studio.Owner, accounts.AuditQuery{
		From: testkit.Noon, Until: studio.Clock.Now(), Limit: 10,
	}))(t)
	must.EqOp(t, 1, len(got), must.Sprint(got))
	want := accounts.AuditEntry{
		ID: got[0].ID, Actor: studio.Owner.Member.String(), ActorName: "Olga Owner",
		Subject: studio.Owner.Subject,
		Action:  "location.updated", TargetKind: "location", TargetID: studio.Location.String(),
		Request: "request-1", Address: "192.0.2.7", Client: "curl/8",
		At:      testkit.Noon,
		Changes: map[string]any{"before": map[string]any{"name": "Pier 1"}, "after": map[string]any{"name": "Quay"}},
	}
	test.Eq(t, want, got[0])
}
