package rpc

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestListAuditEntries_ReturnsChangesAndActors(t *testing.T) {
	t.Parallel()
	s := newTenantTest(t)
	created := s.location(t, &v1.Location{Name: "Pier 1"})
	request := as(
		s.Token(t, "admin"),
		&v1.UpdateLocationRequest{Location: &v1.Location{Id: created.GetId(), Name: "Quay"}, UpdateMask: mask("name")},
	)
	request.Header().Set(requestIDHeader, "request-1")
	request.Header().Set("User-Agent", "kiosk/1")
	expect.OK(t)(s.UpdateLocation(t.Context(), request))
	page := ask[*v1.ListAuditEntriesResponse](t, s, s.owner, &v1.ListAuditEntriesRequest{
		TargetKind: "location", TargetId: created.GetId(), PageSize: 1,
	})
	must.True(t, len(page.GetEntries()) == 1 && page.GetNextPageToken() != "", must.Sprint(page))
	changes := expect.Value(structpb.NewStruct(map[string]any{
		"before": map[string]any{"name": "Pier 1"}, "after": map[string]any{"name": "Quay"},
	}))(t)
	want := &v1.AuditEntry{
		Actor: &v1.AuditActor{
			Kind: v1.AuditActorKind_AUDIT_ACTOR_KIND_MEMBER, Id: s.Members["admin"].String(), Subject: "admin", Name: "Admin",
		},
		Action: "location.updated", TargetKind: "location", TargetId: created.GetId(), Changes: changes,
		RequestId: "request-1", Address: "127.0.0.1", Client: "kiosk/1",
	}
	got := page.GetEntries()[0]
	test.Eq(t, want, got, test.Cmp(protocmp.Transform(), protocmp.IgnoreFields(&v1.AuditEntry{}, "id", "time")))
	test.True(t, got.GetId() != "" && time.Since(got.GetTime().AsTime()) <= time.Minute, test.Sprint(got))
	rest := ask[*v1.ListAuditEntriesResponse](t, s, s.owner, &v1.ListAuditEntriesRequest{
		TargetKind: "location", TargetId: created.GetId(), PageSize: 1, PageToken: page.GetNextPageToken(),
	})
	test.True(
		t, len(rest.GetEntries()) == 1 && rest.GetEntries()[0].GetAction() == "location.created" &&
			rest.GetNextPageToken() == "",
		test.Sprint(rest),
	)

	// The tenant itself was not created by one of its members.
	first := ask[*v1.ListAuditEntriesResponse](t, s, s.owner, &v1.ListAuditEntriesRequest{
		ActorKind: v1.AuditActorKind_AUDIT_ACTOR_KIND_SYSTEM, Action: "tenant.created",
	})
	must.EqOp(t, 1, len(first.GetEntries()), must.Sprint(first))
	system := &v1.AuditActor{Kind: v1.AuditActorKind_AUDIT_ACTOR_KIND_SYSTEM}
	diff := cmp.Diff(system, first.GetEntries()[0].GetActor(), protocmp.Transform())
	test.True(t, diff == "" && first.GetEntries()[0].GetAction() == "tenant.created", test.Sprint(first, diff))

	for name, q := range map[string]*v1.ListAuditEntriesRequest{
		"another query's token": {TargetKind: "location", PageToken: page.GetNextPageToken()},
		"no token":              {PageToken: "1"},
		"huge page":             {PageSize: 501},
		"NUL":                   {TargetId: "\x00"},
		"no action":             {Action: "Session.Cancelled"},
		"backwards": {TimeRange: &v1.TimeRange{
			Start: timestamppb.New(time.Unix(9, 0)), End: timestamppb.New(time.Unix(8, 0)),
		}},
	} {
		refused(t, "invalid_argument INVALID_FIELD", test.Sprint(name))(s.call(t, s.owner, q))
	}
	for _, role := range []string{"coach", "member"} {
		refused(t, "PERMISSION_DENIED", test.Sprint(role))(s.call(t, s.Token(t, role), &v1.ListAuditEntriesRequest{}))
	}
}

func TestListAuditEntries_Filters(t *testing.T) {
	t.Parallel()
	s := newTenantTest(t)
	batch := "0190a000-0000-7000-8000-0000000000bb"
	for i, actor := range []string{
		s.Members["owner"].String(), "sa:" + someSession, "system", s.Members["admin"].String(),
	} {
		must.NoError(t, s.DB.InTx(t.Context(), pg.Scope{Tenant: s.Tenant}, "test", func(_ context.Context, tx *pg.Tx) error {
			coredb.AppendAudit(tx, s.Tenant, coredb.AuditEntry{
				ID:    tenant.MustParse[tenant.AuditID](fmt.Sprintf("0190a000-0000-7000-8000-00000000000%d", i)),
				Actor: actor, Action: fmt.Sprintf("thing.%d", i), TargetKind: "thing", TargetID: fmt.Sprint("t-", i),
				Batch: tenant.MustParse[tenant.BatchID](batch), At: time.Date(2026, 3, 16, 12, i, 0, 0, time.UTC),
			})
			return nil
		}))
	}
	at := func(minute int) *timestamppb.Timestamp {
		return timestamppb.New(time.Date(2026, 3, 16, 12, minute, 0, 0, time.UTC))
	}
	for name, c := range map[string]struct {
		query *v1.ListAuditEntriesRequest
		want  []string
	}{
		"batch":   {&v1.ListAuditEntriesRequest{}, []string{"thing.3", "thing.2", "thing.1", "thing.0"}},
		"member":  {&v1.ListAuditEntriesRequest{ActorId: s.Members["owner"].String()}, []string{"thing.0"}},
		"account": {&v1.ListAuditEntriesRequest{ActorId: someSession}, []string{"thing.1"}},
		"accounts": {
			&v1.ListAuditEntriesRequest{ActorKind: v1.AuditActorKind_AUDIT_ACTOR_KIND_SERVICE_ACCOUNT}, []string{"thing.1"},
		},
		"members": {
			&v1.ListAuditEntriesRequest{ActorKind: v1.AuditActorKind_AUDIT_ACTOR_KIND_MEMBER}, []string{"thing.3", "thing.0"},
		},
		"action": {&v1.ListAuditEntriesRequest{Action: "thing.2"}, []string{"thing.2"}},
		"target": {&v1.ListAuditEntriesRequest{TargetKind: "thing", TargetId: "t-3"}, []string{"thing.3"}},
		"span": {
			&v1.ListAuditEntriesRequest{TimeRange: &v1.TimeRange{Start: at(1), End: at(3)}}, []string{"thing.2", "thing.1"},
		},
	} {
		c.query.BatchId = batch
		test.Eq(t, c.want, s.items(t, s.owner, c.query, "action"), test.Sprint(name))
	}
	response := ask[*v1.ListAuditEntriesResponse](t, s, s.owner, &v1.ListAuditEntriesRequest{Action: "thing.1"})
	test.True(
		t, response.GetEntries()[0].GetActor().GetId() == someSession &&
			response.GetEntries()[0].GetBatchId() == batch,
		test.Sprint(response),
	)
}
