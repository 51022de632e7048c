package app_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

func TestAuditOfAnEdit(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := engine.WithRequest(t.Context(), "request-1")
	if _, err := h.app.UpdateLocation(ctx, h.Owner, h.Location, nil, func(l *catalog.Location) { l.Name = "Quay" }); err != nil {
		t.Fatal(err)
	}
	h.exec(`update members set name = 'Someone Else' where tenant_id = $1 and id = $2`, h.Tenant, h.Owner.Member)
	got, err := h.app.ListAuditEntries(t.Context(), h.Owner, app.AuditQuery{Limit: 10})
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	want := app.AuditEntry{
		ID: got[0].ID, Actor: h.Owner.Member.String(), ActorKind: app.ByMember, ActorName: "Olga Owner", Subject: h.Owner.Subject,
		Action: "location.updated", TargetKind: "location", TargetID: h.Location.String(), Request: "request-1", At: noon,
		Changes: map[string]any{"before": map[string]any{"name": "Pier 1"}, "after": map[string]any{"name": "Quay"}},
	}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Error(diff)
	}
}

// The log of a tenant that several kinds of actors work in. Minutes are after noon.
func TestListAuditEntries(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	other := h.another()
	account := newID[tenant.ServiceAccountID]()
	h.exec(`insert into service_accounts (tenant_id, id, name, created_at) values ($1, $2, 'Kiosk', $3)`, h.Tenant, account, noon)
	batch := newID[tenant.BatchID]()
	target := newID[tenant.SessionID]().String()
	write := func(in tenant.TenantID, entries ...store.AuditEntry) {
		t.Helper()
		err := h.db.InTx(t.Context(), pg.Scope{Tenant: in}, "test", func(_ context.Context, tx *pg.Tx) error {
			for _, e := range entries {
				e.ID = newID[tenant.AuditID]()
				store.AppendAudit(tx, in, e)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	at := func(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }
	write(h.Tenant,
		store.AuditEntry{Actor: h.Owner.Actor(), Subject: h.Owner.Subject, Action: "session.cancelled", TargetKind: "session", TargetID: target, At: at(0)},
		store.AuditEntry{Actor: h.Coach.Actor(), Subject: h.Coach.Subject, Action: "session.updated", TargetKind: "session", TargetID: target, At: at(1)},
		store.AuditEntry{Actor: "sa:" + account.String(), Subject: "sa:" + account.String(), Action: "booking.cancelled", TargetKind: "booking", At: at(2)},
		store.AuditEntry{Actor: "system", Subject: "system", Action: "booking.expired", TargetKind: "booking", At: at(2)},
		store.AuditEntry{Actor: h.Owner.Actor(), Action: "session.deleted", TargetKind: "session", Batch: batch, Reason: "storm", At: at(3)},
		store.AuditEntry{Actor: h.Owner.Actor(), Action: "role.assigned", TargetKind: "role", TargetID: "coach", At: at(4)},
	)
	write(other.Tenant, store.AuditEntry{Actor: h.Owner.Actor(), Action: "session.cancelled", TargetKind: "session", TargetID: target, Batch: batch, At: at(0)})

	all := []string{"role.assigned", "session.deleted", "booking.expired", "booking.cancelled", "session.updated", "session.cancelled"}
	for name, c := range map[string]struct {
		query app.AuditQuery
		want  []string
	}{
		"all":             {app.AuditQuery{}, all},
		"by a member":     {app.AuditQuery{Actor: h.Owner.Member.UUID}, []string{"role.assigned", "session.deleted", "session.cancelled"}},
		"by an account":   {app.AuditQuery{Actor: account.UUID}, []string{"booking.cancelled"}},
		"by nobody":       {app.AuditQuery{Actor: newID[tenant.MemberID]().UUID}, nil},
		"by members":      {app.AuditQuery{ActorKind: app.ByMember}, []string{"role.assigned", "session.deleted", "session.updated", "session.cancelled"}},
		"by accounts":     {app.AuditQuery{ActorKind: app.ByServiceAccount}, []string{"booking.cancelled"}},
		"by itself":       {app.AuditQuery{ActorKind: app.BySystem}, []string{"booking.expired"}},
		"action":          {app.AuditQuery{Action: "session.cancelled"}, []string{"session.cancelled"}},
		"part of a name":  {app.AuditQuery{Action: "session"}, nil},
		"kind":            {app.AuditQuery{TargetKind: "session"}, []string{"session.deleted", "session.updated", "session.cancelled"}},
		"target":          {app.AuditQuery{TargetKind: "session", TargetID: target}, []string{"session.updated", "session.cancelled"}},
		"role":            {app.AuditQuery{TargetID: "coach"}, []string{"role.assigned"}},
		"batch":           {app.AuditQuery{Batch: batch}, []string{"session.deleted"}},
		"from":            {app.AuditQuery{From: at(3)}, []string{"role.assigned", "session.deleted"}},
		"until":           {app.AuditQuery{Until: at(1)}, []string{"session.cancelled"}},
		"span":            {app.AuditQuery{From: at(1), Until: at(3)}, []string{"booking.expired", "booking.cancelled", "session.updated"}},
		"all must hold":   {app.AuditQuery{Actor: h.Owner.Member.UUID, TargetKind: "session", From: at(1)}, []string{"session.deleted"}},
		"none holds them": {app.AuditQuery{Actor: h.Coach.Member.UUID, Batch: batch}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{1, 2, 100} {
				q := c.query
				q.Limit = size
				var got []string
				for {
					page, err := h.app.ListAuditEntries(t.Context(), h.Owner, q)
					if err != nil {
						t.Fatal(err)
					}
					for _, e := range page {
						got = append(got, e.Action)
					}
					if len(page) < size {
						break
					}
					q.AfterAt, q.AfterID = page[size-1].At, page[size-1].ID
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("pages of %d: %s", size, diff)
				}
			}
		})
	}

	t.Run("actors", func(t *testing.T) {
		t.Parallel()
		got, err := h.app.ListAuditEntries(t.Context(), h.Owner, app.AuditQuery{From: at(1), Until: at(3), Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		type actor struct {
			Kind          app.ActorKind
			Name, Subject string
		}
		var actors []actor
		for _, e := range got {
			actors = append(actors, actor{e.ActorKind, e.ActorName, e.Subject})
		}
		want := []actor{
			{app.BySystem, "", ""},
			{app.ByServiceAccount, "Kiosk", "sa:" + account.String()},
			{app.ByMember, "Carla Coach", h.Coach.Subject},
		}
		if diff := cmp.Diff(want, actors); diff != "" {
			t.Error(diff)
		}
	})
}
