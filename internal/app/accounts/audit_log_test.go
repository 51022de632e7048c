package accounts_test

import (
	"context"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
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
		ID: got[0].ID, Actor: studio.Owner.Member.String(), ActorKind: accounts.ByMember, ActorName: "Olga Owner",
		Subject: studio.Owner.Subject,
		Action:  "location.updated", TargetKind: "location", TargetID: studio.Location.String(),
		Request: "request-1", Address: "192.0.2.7", Client: "curl/8",
		At:      testkit.Noon,
		Changes: map[string]any{"before": map[string]any{"name": "Pier 1"}, "after": map[string]any{"name": "Quay"}},
	}
	test.Eq(t, want, got[0])
}

// The log of a tenant that several kinds of actors work in. Minutes are after noon.
func TestListAuditEntries_FiltersAndPages(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	other := studio.OtherTenant()
	studio.Clock.Advance(-time.Minute)
	kiosk, _ := studio.AddAccount("Kiosk", tenant.RolePartner)
	studio.Clock.Advance(time.Minute)
	account := kiosk.ID
	batch := testkit.NewID[tenant.BatchID]()
	target := testkit.NewID[tenant.SessionID]().String()
	write := func(in tenant.TenantID, entries ...coredb.AuditEntry) {
		t.Helper()
		must.NoError(t, studio.DB.InTx(t.Context(), pg.Scope{Tenant: in}, "test", func(_ context.Context, tx *pg.Tx) error {
			for _, e := range entries {
				e.ID = testkit.NewID[tenant.AuditID]()
				coredb.AppendAudit(tx, in, e)
			}
			return nil
		}))
	}
	at := func(minute int) time.Time { return testkit.Noon.Add(time.Duration(minute) * time.Minute) }
	write(studio.Tenant,
		coredb.AuditEntry{
			Actor: studio.Owner.Actor(), Subject: studio.Owner.Subject, Action: "session.cancelled", TargetKind: "session",
			TargetID: target, At: at(0),
		},
		coredb.AuditEntry{
			Actor: studio.Coach.Actor(), Subject: studio.Coach.Subject, Action: "session.updated", TargetKind: "session",
			TargetID: target,
			At:       at(1),
		},
		coredb.AuditEntry{
			Actor: "sa:" + account.String(), Subject: "sa:" + account.String(), Action: "booking.cancelled",
			TargetKind: "booking", At: at(2),
		},
		coredb.AuditEntry{Actor: "system", Subject: "system", Action: "booking.expired", TargetKind: "booking", At: at(2)},
		coredb.AuditEntry{
			Actor: studio.Owner.Actor(), Action: "session.deleted", TargetKind: "session", Batch: batch, Reason: "storm",
			At: at(3),
		},
		coredb.AuditEntry{
			Actor: studio.Owner.Actor(), Action: "role.assigned", TargetKind: "role", TargetID: "coach", At: at(4),
		},
	)
	write(
		other.Tenant,
		coredb.AuditEntry{
			Actor: studio.Owner.Actor(), Action: "session.cancelled", TargetKind: "session", TargetID: target, Batch: batch,
			At: at(0),
		},
	)

	all := []string{
		"role.assigned", "session.deleted", "booking.expired", "booking.cancelled", "session.updated", "session.cancelled",
	}
	for name, c := range map[string]struct {
		query accounts.AuditQuery
		want  []string
	}{
		"all": {accounts.AuditQuery{From: at(0)}, all},
		"by a member": {
			accounts.AuditQuery{Actor: studio.Owner.Member.UUID, From: at(0)},
			[]string{"role.assigned", "session.deleted", "session.cancelled"},
		},
		"by an account": {accounts.AuditQuery{Actor: account.UUID}, []string{"booking.cancelled"}},
		"by unknown":    {accounts.AuditQuery{Actor: testkit.NewID[tenant.MemberID]().UUID}, nil},
		"by members": {
			accounts.AuditQuery{ActorKind: accounts.ByMember, From: at(0)},
			[]string{"role.assigned", "session.deleted", "session.updated", "session.cancelled"},
		},
		"by accounts":    {accounts.AuditQuery{ActorKind: accounts.ByServiceAccount}, []string{"booking.cancelled"}},
		"by itself":      {accounts.AuditQuery{ActorKind: accounts.BySystem, From: at(0)}, []string{"booking.expired"}},
		"action":         {accounts.AuditQuery{Action: "session.cancelled"}, []string{"session.cancelled"}},
		"part of a name": {accounts.AuditQuery{Action: "session"}, nil},
		"kind": {
			accounts.AuditQuery{TargetKind: "session"}, []string{"session.deleted", "session.updated", "session.cancelled"},
		},
		"target": {
			accounts.AuditQuery{TargetKind: "session", TargetID: target}, []string{"session.updated", "session.cancelled"},
		},
		"role":  {accounts.AuditQuery{TargetID: "coach"}, []string{"role.assigned"}},
		"batch": {accounts.AuditQuery{Batch: batch}, []string{"session.deleted"}},
		"from":  {accounts.AuditQuery{From: at(3)}, []string{"role.assigned", "session.deleted"}},
		"until": {accounts.AuditQuery{From: at(0), Until: at(1)}, []string{"session.cancelled"}},
		"span": {
			accounts.AuditQuery{From: at(1), Until: at(3)}, []string{"booking.expired", "booking.cancelled", "session.updated"},
		},
		"all must hold": {
			accounts.AuditQuery{Actor: studio.Owner.Member.UUID, TargetKind: "session", From: at(1)},
			[]string{"session.deleted"},
		},
		"none holds them": {accounts.AuditQuery{Actor: studio.Coach.Member.UUID, Batch: batch}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{1, 2, 100} {
				q := c.query
				q.Limit = size
				var got []string
				for {
					page := expect.Value(studio.App.Accounts.ListAuditEntries(t.Context(), studio.Owner, q))(t)
					for _, e := range page {
						got = append(got, e.Action)
					}
					if len(page) < size {
						break
					}
					q.AfterAt, q.AfterID = page[size-1].At, page[size-1].ID
				}
				test.Eq(t, c.want, got, test.Sprintf("pages of %d", size))
			}
		})
	}

	t.Run("actors", func(t *testing.T) {
		t.Parallel()
		got := expect.Value(studio.App.Accounts.ListAuditEntries(
			t.Context(), studio.Owner, accounts.AuditQuery{From: at(1), Until: at(3), Limit: 10},
		))(t)
		type actor struct {
			Kind          accounts.ActorKind
			Name, Subject string
		}
		var actors []actor
		for _, e := range got {
			actors = append(actors, actor{e.ActorKind, e.ActorName, e.Subject})
		}
		want := []actor{
			{accounts.BySystem, "", ""},
			{accounts.ByServiceAccount, "Kiosk", "sa:" + account.String()},
			{accounts.ByMember, "Carla Coach", studio.Coach.Subject},
		}
		test.Eq(t, want, actors)
	})
}
