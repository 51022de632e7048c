package rpc

import (
	"context"
	"fmt"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

func TestListAuditEntries_ReturnsChangesAndActors(t *testing.T) {
	t.Parallel()
	s := newTenantTest(t)
	log := berthv1connect.NewAuditServiceClient(s.Client, s.URL)
	list := func(q *v1.ListAuditEntriesRequest) (*v1.ListAuditEntriesResponse, error) {
		response, err := log.ListAuditEntries(t.Context(), as(s.owner, q))
		if err != nil {
			return nil, err
		}
		return response.Msg, nil
	}

	created := s.location(t, &v1.Location{Name: "Pier 1"})
	request := as(
		s.Token(t, "admin"),
		&v1.UpdateLocationRequest{Location: &v1.Location{Id: created.GetId(), Name: "Quay"}, UpdateMask: mask("name")},
	)
	request.Header().Set(requestIDHeader, "request-1")
	if _, err := s.UpdateLocation(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	page, err := list(&v1.ListAuditEntriesRequest{TargetKind: "location", TargetId: created.GetId(), PageSize: 1})
	if err != nil || len(page.GetEntries()) != 1 || page.GetNextPageToken() == "" {
		t.Fatal(page, err)
	}
	changes, err := structpb.NewStruct(map[string]any{
		"before": map[string]any{"name": "Pier 1"}, "after": map[string]any{"name": "Quay"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &v1.AuditEntry{
		Actor: &v1.AuditActor{
			Kind: v1.AuditActorKind_AUDIT_ACTOR_KIND_MEMBER, Id: s.Members["admin"].String(), Subject: "admin", Name: "Admin",
		},
		Action: "location.updated", TargetKind: "location", TargetId: created.GetId(), Changes: changes,
		RequestId: "request-1",
	}
	got := page.GetEntries()[0]
	if diff := cmp.Diff(
		want, got, protocmp.Transform(), protocmp.IgnoreFields(&v1.AuditEntry{}, "id", "time"),
	); diff != "" {
		t.Error(diff)
	}
	if got.GetId() == "" || time.Since(got.GetTime().AsTime()) > time.Minute {
		t.Error(got)
	}
	rest, err := list(&v1.ListAuditEntriesRequest{
		TargetKind: "location", TargetId: created.GetId(), PageSize: 1, PageToken: page.GetNextPageToken(),
	})
	if err != nil || len(rest.GetEntries()) != 1 || rest.GetEntries()[0].GetAction() != "location.created" ||
		rest.GetNextPageToken() != "" {
		t.Error(rest, err)
	}

	// The tenant itself was not created by one of its members.
	first, err := list(&v1.ListAuditEntriesRequest{
		ActorKind: v1.AuditActorKind_AUDIT_ACTOR_KIND_SYSTEM, Action: "tenant.created",
	})
	if err != nil || len(first.GetEntries()) != 1 {
		t.Fatal(first, err)
	}
	system := &v1.AuditActor{Kind: v1.AuditActorKind_AUDIT_ACTOR_KIND_SYSTEM}
	if diff := cmp.Diff(system, first.GetEntries()[0].GetActor(), protocmp.Transform()); diff != "" ||
		first.GetEntries()[0].GetAction() != "tenant.created" {
		t.Error(first, diff)
	}

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
		_, err := list(q)
		if got := apiErrorOf(t, err); got.Code != connect.CodeInvalidArgument || got.Reason != "INVALID_FIELD" {
			t.Errorf("%s: %v", name, got)
		}
	}
	for _, role := range []string{"coach", "member"} {
		_, err := log.ListAuditEntries(t.Context(), as(s.Token(t, role), &v1.ListAuditEntriesRequest{}))
		if got := apiErrorOf(t, err); got.Reason != "PERMISSION_DENIED" {
			t.Errorf("%s: %v", role, got)
		}
	}
}

func TestListAuditEntries_Filters(t *testing.T) {
	t.Parallel()
	s := newTenantTest(t)
	log := berthv1connect.NewAuditServiceClient(s.Client, s.URL)
	batch := "0190a000-0000-7000-8000-0000000000bb"
	for i, actor := range []string{
		s.Members["owner"].String(), "sa:" + someSession, "system", s.Members["admin"].String(),
	} {
		err := s.DB.InTx(t.Context(), pg.Scope{Tenant: s.Tenant}, "test", func(_ context.Context, tx *pg.Tx) error {
			coredb.AppendAudit(tx, s.Tenant, coredb.AuditEntry{
				ID:    tenant.MustParse[tenant.AuditID](fmt.Sprintf("0190a000-0000-7000-8000-00000000000%d", i)),
				Actor: actor, Action: fmt.Sprintf("thing.%d", i), TargetKind: "thing", TargetID: fmt.Sprint("t-", i),
				Batch: tenant.MustParse[tenant.BatchID](batch), At: time.Date(2026, 3, 16, 12, i, 0, 0, time.UTC),
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
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
		response, err := log.ListAuditEntries(t.Context(), as(s.owner, c.query))
		if err != nil {
			t.Fatal(name, err)
		}
		var got []string
		for _, e := range response.Msg.GetEntries() {
			got = append(got, e.GetAction())
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	response, err := log.ListAuditEntries(t.Context(), as(s.owner, &v1.ListAuditEntriesRequest{Action: "thing.1"}))
	if err != nil || response.Msg.GetEntries()[0].GetActor().GetId() != someSession ||
		response.Msg.GetEntries()[0].GetBatchId() != batch {
		t.Error(response, err)
	}
}
