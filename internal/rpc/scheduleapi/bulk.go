package scheduleapi

import (
	"context"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/session"
)

var bulkActions = map[v1.BulkSessionAction]session.BulkAction{
	v1.BulkSessionAction_BULK_SESSION_ACTION_PUBLISH: session.BulkPublish,
	v1.BulkSessionAction_BULK_SESSION_ACTION_CANCEL:  session.BulkCancel,
	v1.BulkSessionAction_BULK_SESSION_ACTION_DELETE:  session.BulkDelete,
}

// PreviewBulkSessions handles SessionService.PreviewBulkSessions.
func (s *Schedules) PreviewBulkSessions(
	ctx context.Context, req *v1.PreviewBulkSessionsRequest,
) (*v1.PreviewBulkSessionsResponse, error) {
	if err := mayIncludeEnded(ctx, req.GetIncludeEnded()); err != nil {
		return nil, err
	}
	found, token, err := s.Service.PreviewBulkSessions(ctx, request.Caller(ctx), bulkActions[req.GetAction()],
		schedules.BulkRequest{
			Filter: FilterValue(req.GetFilter()), IncludeBooked: req.GetIncludeBooked(), IncludeEnded: req.GetIncludeEnded(),
		})
	if err != nil {
		return nil, err
	}
	return &v1.PreviewBulkSessionsResponse{
		Matched: int32(found.Matched), WithActiveBookings: int32(found.Booked), ActiveBookings: int32(found.Bookings),
		Samples: convert.Messages(found.Samples, matchMessage), Token: token, EndedLeftOut: int32(found.Ended),
	}, nil
}

// BulkPublishSessions handles SessionService.BulkPublishSessions.
func (s *Schedules) BulkPublishSessions(
	ctx context.Context, req *v1.BulkPublishSessionsRequest,
) (*v1.BulkPublishSessionsResponse, error) {
	done, err := s.Service.BulkPublishSessions(ctx, request.Caller(ctx), schedules.BulkRequest{
		Filter: FilterValue(req.GetFilter()), Token: req.GetToken(),
	})
	if err != nil {
		return nil, err
	}
	return &v1.BulkPublishSessionsResponse{Published: int32(done.Sessions), BatchId: convert.IDText(done.Batch)}, nil
}

// BulkDeleteSessions handles SessionService.BulkDeleteSessions.
func (s *Schedules) BulkDeleteSessions(
	ctx context.Context, req *v1.BulkDeleteSessionsRequest,
) (*v1.BulkDeleteSessionsResponse, error) {
	if err := mayIncludeEnded(ctx, req.GetIncludeEnded()); err != nil {
		return nil, err
	}
	done, err := s.Service.BulkDeleteSessions(ctx, request.Caller(ctx), schedules.BulkRequest{
		Filter: FilterValue(req.GetFilter()), IncludeBooked: req.GetIncludeBooked(),
		IncludeEnded: req.GetIncludeEnded(), Token: req.GetToken(),
		Reason: req.GetReason(), Notify: convert.TrueUnlessSet(req.Notify),
	})
	if err != nil {
		return nil, err
	}
	return &v1.BulkDeleteSessionsResponse{
		Deleted: int32(done.Sessions), BookingsCancelled: int32(done.Bookings), EntriesCancelled: int32(done.Entries),
		CreditsRefunded: int32(done.Credits), BatchId: convert.IDText(done.Batch),
		EndedLeftOut: int32(done.Ended),
	}, nil
}

// BulkCancelSessions handles SessionService.BulkCancelSessions.
func (s *Schedules) BulkCancelSessions(
	ctx context.Context, req *v1.BulkCancelSessionsRequest,
) (*v1.BulkCancelSessionsResponse, error) {
	if err := mayIncludeEnded(ctx, req.GetIncludeEnded()); err != nil {
		return nil, err
	}
	done, err := s.Service.BulkCancelSessions(ctx, request.Caller(ctx), schedules.BulkRequest{
		Filter: FilterValue(req.GetFilter()), IncludeBooked: req.GetIncludeBooked(),
		IncludeEnded: req.GetIncludeEnded(), Token: req.GetToken(),
		Reason: req.GetReason(), Notify: convert.TrueUnlessSet(req.Notify),
	})
	if err != nil {
		return nil, err
	}
	return &v1.BulkCancelSessionsResponse{
		Cancelled: int32(done.Sessions), BookingsCancelled: int32(done.Bookings), EntriesCancelled: int32(done.Entries),
		CreditsRefunded: int32(done.Credits), BatchId: convert.IDText(done.Batch),
		EndedLeftOut: int32(done.Ended),
	}, nil
}

// mayIncludeEnded returns an error if sessions that have ended are to change, and the caller may not do that.
func mayIncludeEnded(ctx context.Context, include bool) error {
	if !include {
		return nil
	}
	return request.RequirePermission(ctx, session.ChangeEnded)
}
