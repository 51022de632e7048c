package rpc

import (
	"context"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/tenant"
)

// auditService serves berth.v1.AuditService.
type auditService struct{ app *app.App }

const actorKindPrefix = "AUDIT_ACTOR_KIND_"

// auditCursor is a position in the log.
type auditCursor struct {
	At time.Time
	ID tenant.AuditID
}

func (s *auditService) ListAuditEntries(ctx context.Context, req *connect.Request[v1.ListAuditEntriesRequest]) (*connect.Response[v1.ListAuditEntriesResponse], error) {
	page, err := openPage[auditCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	q := accounts.AuditQuery{
		Actor:      id[tenant.MemberID](req.Msg.GetActorId()).UUID,
		ActorKind:  word[accounts.ActorKind](actorKindPrefix, req.Msg.GetActorKind()),
		Action:     req.Msg.GetAction(),
		TargetKind: req.Msg.GetTargetKind(),
		TargetID:   req.Msg.GetTargetId(),
		Batch:      id[tenant.BatchID](req.Msg.GetBatchId()),
		From:       instant(req.Msg.GetTimeRange().GetStart()),
		Until:      instant(req.Msg.GetTimeRange().GetEnd()),
		Limit:      page.Size + 1,
	}
	if page.After != nil {
		q.AfterAt, q.AfterID = page.After.At, page.After.ID
	}
	entries, err := s.app.Accounts.ListAuditEntries(ctx, caller(ctx), q)
	if err != nil {
		return nil, err
	}
	entries, next, err := cut(page, entries, func(e accounts.AuditEntry) auditCursor { return auditCursor{e.At, e.ID} })
	if err != nil {
		return nil, err
	}
	answer := &v1.ListAuditEntriesResponse{NextPageToken: next}
	for _, e := range entries {
		message, err := auditMessage(e)
		if err != nil {
			return nil, err
		}
		answer.Entries = append(answer.Entries, message)
	}
	return reply(answer)
}

func auditMessage(e accounts.AuditEntry) (*v1.AuditEntry, error) {
	changes, err := structpb.NewStruct(e.Changes)
	if err != nil {
		return nil, err
	}
	actor := &v1.AuditActor{
		Kind: enum[v1.AuditActorKind](v1.AuditActorKind_value, actorKindPrefix, e.ActorKind), Subject: e.Subject, Name: e.ActorName,
	}
	if e.ActorKind != accounts.BySystem {
		actor.Id = strings.TrimPrefix(e.Actor, "sa:")
	}
	return &v1.AuditEntry{
		Id:         idText(e.ID),
		Time:       timestamp(e.At),
		Actor:      actor,
		Action:     e.Action,
		TargetKind: e.TargetKind,
		TargetId:   e.TargetID,
		BatchId:    idText(e.Batch),
		Reason:     e.Reason,
		Changes:    changes,
		RequestId:  e.Request,
	}, nil
}
