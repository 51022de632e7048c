package scheduleapi

import (
	"context"
	"time"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// createPublished is the permission to publish sessions as they are created.
const createPublished = "session.create_published"

func mayCreatePublished(ctx context.Context, publish bool) error {
	if !publish {
		return nil
	}
	return request.RequirePermission(ctx, createPublished)
}

// CreateSession handles SessionService.CreateSession.
func (s *Schedules) CreateSession(
	ctx context.Context, req *v1.CreateSessionRequest,
) (*v1.CreateSessionResponse, error) {
	if err := mayCreatePublished(ctx, req.GetPublish()); err != nil {
		return nil, err
	}
	created, err := s.Service.CreateSession(
		ctx, request.Caller(ctx), inputValue(req.GetSession()), req.GetPublish(),
	)
	if err != nil {
		return nil, err
	}
	return &v1.CreateSessionResponse{Session: sessionMessage(created)}, nil
}

// UpdateSession handles SessionService.UpdateSession.
func (s *Schedules) UpdateSession(
	ctx context.Context, req *v1.UpdateSessionRequest,
) (*v1.UpdateSessionResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	after, promoted, err := s.Service.UpdateSession(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.GetSessionId()), expect,
		inputValue(req.GetSession()), fieldsOf(inputFields, req.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return &v1.UpdateSessionResponse{Session: sessionMessage(after), Promoted: int32(promoted)}, nil
}

// GetSession handles SessionService.GetSession.
func (s *Schedules) GetSession(ctx context.Context, req *v1.GetSessionRequest) (*v1.GetSessionResponse, error) {
	session, err := s.Service.GetSession(ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.GetSessionId()))
	if err != nil {
		return nil, err
	}
	return &v1.GetSessionResponse{Session: sessionViewMessage(session)}, nil
}

// sessionCursor is a position in a list of sessions ordered by start, then id.
type sessionCursor struct {
	Start time.Time
	ID    tenant.SessionID
}

// ListSessions handles SessionService.ListSessions.
func (s *Schedules) ListSessions(ctx context.Context, req *v1.ListSessionsRequest) (*v1.ListSessionsResponse, error) {
	page, err := convert.ParsePage[sessionCursor](req)
	if err != nil {
		return nil, err
	}
	q := schedules.SessionQuery{Filter: FilterValue(req.GetFilter()), Limit: page.Limit()}
	if page.After != nil {
		q.AfterStart, q.AfterID = page.After.Start, page.After.ID
	}
	sessions, err := s.Service.ListSessions(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	sessions, next := convert.Paginate(
		page, sessions, func(v schedules.SessionView) sessionCursor { return sessionCursor{v.StartsAt, v.ID} },
	)
	return &v1.ListSessionsResponse{
		Sessions: convert.Messages(sessions, sessionViewMessage), NextPageToken: next,
	}, nil
}

// FindSubstitutes handles SessionService.FindSubstitutes.
func (s *Schedules) FindSubstitutes(
	ctx context.Context, req *v1.FindSubstitutesRequest,
) (*v1.FindSubstitutesResponse, error) {
	found, err := s.Service.FindSubstitutes(ctx, request.Caller(ctx), convert.ID[tenant.MemberID](req.GetCoachId()),
		convert.Time(req.GetStartsWithin().GetStart()), convert.Time(req.GetStartsWithin().GetEnd()))
	if err != nil {
		return nil, err
	}
	return &v1.FindSubstitutesResponse{
		Count: int32(found.Count), Sessions: convert.Messages(found.Sessions, convert.SessionSummaryMessage),
		Substitutes: convert.Messages(found.Substitutes, func(u session.Substitute) *v1.Substitute {
			return &v1.Substitute{MemberId: convert.IDText(u.Member), Name: u.Name, SessionIds: idTexts(u.Sessions)}
		}),
	}, nil
}

// PublishSession handles SessionService.PublishSession.
func (s *Schedules) PublishSession(
	ctx context.Context, req *v1.PublishSessionRequest,
) (*v1.PublishSessionResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	after, err := s.Service.PublishSession(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.GetSessionId()), expect,
	)
	if err != nil {
		return nil, err
	}
	return &v1.PublishSessionResponse{Session: sessionMessage(after)}, nil
}

// UnpublishSession handles SessionService.UnpublishSession.
func (s *Schedules) UnpublishSession(
	ctx context.Context, req *v1.UnpublishSessionRequest,
) (*v1.UnpublishSessionResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	after, err := s.Service.UnpublishSession(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.GetSessionId()), expect,
	)
	if err != nil {
		return nil, err
	}
	return &v1.UnpublishSessionResponse{Session: sessionMessage(after)}, nil
}

// CancelSession handles SessionService.CancelSession.
func (s *Schedules) CancelSession(
	ctx context.Context, req *v1.CancelSessionRequest,
) (*v1.CancelSessionResponse, error) {
	if err := mayIncludeEnded(ctx, req.GetIncludeEnded()); err != nil {
		return nil, err
	}
	c, err := s.Service.CancelSession(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.GetSessionId()), schedules.Removal{
			Reason: req.GetReason(), Notify: convert.TrueUnlessSet(req.Notify), IncludeEnded: req.GetIncludeEnded(),
		},
	)
	if err != nil {
		return nil, err
	}
	return &v1.CancelSessionResponse{
		Session: sessionMessage(c.Session), BookingsCancelled: int32(c.Bookings), EntriesCancelled: int32(c.Entries),
		CreditsRefunded: int32(c.Credits),
	}, nil
}

// DeleteSession handles SessionService.DeleteSession.
func (s *Schedules) DeleteSession(
	ctx context.Context, req *v1.DeleteSessionRequest,
) (*v1.DeleteSessionResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	if err := mayIncludeEnded(ctx, req.GetIncludeEnded()); err != nil {
		return nil, err
	}
	id := convert.ID[tenant.SessionID](req.GetSessionId())
	r := schedules.Removal{Reason: req.GetReason(), IncludeEnded: req.GetIncludeEnded()}
	if err := s.Service.DeleteSession(ctx, request.Caller(ctx), id, expect, r); err != nil {
		return nil, err
	}
	return &v1.DeleteSessionResponse{}, nil
}

// BlockSession handles SessionService.BlockSession.
func (s *Schedules) BlockSession(ctx context.Context, req *v1.BlockSessionRequest) (*v1.BlockSessionResponse, error) {
	after, err := s.Service.BlockSession(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.GetSessionId()), req.GetReason(),
	)
	if err != nil {
		return nil, err
	}
	return &v1.BlockSessionResponse{Session: sessionMessage(after)}, nil
}

// UnblockSession handles SessionService.UnblockSession.
func (s *Schedules) UnblockSession(
	ctx context.Context, req *v1.UnblockSessionRequest,
) (*v1.UnblockSessionResponse, error) {
	after, promoted, err := s.Service.UnblockSession(
		ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.GetSessionId()),
	)
	if err != nil {
		return nil, err
	}
	return &v1.UnblockSessionResponse{Session: sessionMessage(after), Promoted: int32(promoted)}, nil
}
