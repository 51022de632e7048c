package accountapi

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/tenant"
)

// auditCursor is a position in the audit log.
type auditCursor struct {
	At time.Time
	ID tenant.AuditID
}

// ListAuditEntries handles AuditService.ListAuditEntries.
func (s *Accounts) ListAuditEntries(
	ctx context.Context, req *v1.ListAuditEntriesRequest,
) (*v1.ListAuditEntriesResponse, error) {
	page, err := convert.ParsePage[auditCursor](req)
	if err != nil {
		return nil, err
	}
	q := auditQueryValue(req.GetFilter())
	q.Limit = page.Limit()
	if page.After != nil {
		q.AfterAt, q.AfterID = page.After.At, page.After.ID
	}
	entries, err := s.Service.ListAuditEntries(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	entries, next := convert.Paginate(
		page, entries, func(e accounts.AuditEntry) auditCursor { return auditCursor{e.At, e.ID} },
	)
	knows, err := request.KnowsActors(ctx)
	if err != nil {
		return nil, err
	}
	response := &v1.ListAuditEntriesResponse{NextPageToken: next}
	for _, e := range entries {
		if !knows(e.Actor) {
			e.ActorName = ""
		}
		message, err := auditMessage(e)
		if err != nil {
			return nil, err
		}
		response.Entries = append(response.Entries, message)
	}
	return response, nil
}

func auditQueryValue(f *v1.AuditEntryFilter) accounts.AuditQuery {
	return accounts.AuditQuery{
		Actor:      convert.ID[tenant.MemberID](f.GetActorId()).UUID,
		ActorKind:  convert.EnumName[accounts.ActorKind](convert.ActorKindPrefix, f.GetActorKind()),
		Action:     f.GetAction(),
		TargetKind: f.GetTargetKind(),
		TargetID:   f.GetTargetId(),
		Batch:      convert.ID[tenant.BatchID](f.GetBatchId()),
		From:       convert.Time(f.GetOccurredWithin().GetStart()),
		Until:      convert.Time(f.GetOccurredWithin().GetEnd()),
	}
}

func auditMessage(e accounts.AuditEntry) (*v1.AuditEntry, error) {
	changes, err := structpb.NewStruct(e.Changes)
	if err != nil {
		return nil, err
	}
	return &v1.AuditEntry{
		Id:         convert.IDText(e.ID),
		Time:       convert.Timestamp(e.At),
		Actor:      convert.Actor(e.Actor, e.ActorName),
		Action:     e.Action,
		TargetKind: e.TargetKind,
		TargetId:   e.TargetID,
		BatchId:    convert.IDText(e.Batch),
		Reason:     e.Reason,
		Changes:    changes,
		RequestId:  e.Request,
		Address:    e.Address,
		Client:     e.Client,
		Subject:    e.Subject,
	}, nil
}
