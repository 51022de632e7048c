package scheduleapi

import (
	"context"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// CreateSeries handles SessionService.CreateSeries.
func (s *Schedules) CreateSeries(ctx context.Context, req *v1.CreateSeriesRequest) (*v1.CreateSeriesResponse, error) {
	if err := mayCreatePublished(ctx, req.GetPublish()); err != nil {
		return nil, err
	}
	in := seriesInputValue(req.GetSeries())
	in.Publish = req.GetPublish()
	series, created, err := s.Service.CreateSeries(ctx, request.Caller(ctx), in)
	if err != nil {
		return nil, err
	}
	return &v1.CreateSeriesResponse{Series: seriesMessage(series), SessionIds: idTexts(created)}, nil
}

var seriesScopes = map[v1.SeriesEditScope]schedules.SeriesScope{
	v1.SeriesEditScope_SERIES_EDIT_SCOPE_ONE:       schedules.One,
	v1.SeriesEditScope_SERIES_EDIT_SCOPE_FOLLOWING: schedules.Following,
	v1.SeriesEditScope_SERIES_EDIT_SCOPE_ALL:       schedules.All,
}

// UpdateSeries handles SessionService.UpdateSeries.
func (s *Schedules) UpdateSeries(ctx context.Context, req *v1.UpdateSeriesRequest) (*v1.UpdateSeriesResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	in := seriesInputValue(req.GetSeries())
	done, err := s.Service.UpdateSeries(ctx, request.Caller(ctx), schedules.SeriesEdit{
		Series: convert.ID[tenant.SeriesID](req.GetSeriesId()), Scope: seriesScopes[req.GetScope()],
		Session: convert.ID[tenant.SessionID](req.GetSessionId()), Expect: expect,
		Template: in.Template, Fields: fieldsOf(inputFields, req.GetUpdateMask().GetPaths()),
		Pattern: in.Pattern, PatternFields: fieldsOf(patternFields, req.GetUpdateMask().GetPaths()),
	})
	if err != nil {
		return nil, err
	}
	return &v1.UpdateSeriesResponse{
		Series: seriesMessage(done.Series), UpdatedSessionIds: idTexts(done.Updated),
		CreatedSessionIds: idTexts(done.Created), CancelledSessionIds: idTexts(done.Cancelled),
	}, nil
}

// EndSeries handles SessionService.EndSeries.
func (s *Schedules) EndSeries(ctx context.Context, req *v1.EndSeriesRequest) (*v1.EndSeriesResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	done, err := s.Service.EndSeries(ctx, request.Caller(ctx), schedules.SeriesEndRequest{
		Series: convert.ID[tenant.SeriesID](req.GetSeriesId()), Date: convert.DateValue(req.GetEndDate()), Expect: expect,
		Reason: req.GetReason(), Notify: convert.TrueUnlessSet(req.Notify),
	})
	if err != nil {
		return nil, err
	}
	return &v1.EndSeriesResponse{
		Series: seriesMessage(done.Series), CancelledSessionIds: idTexts(done.Cancelled),
		DeletedSessionIds: idTexts(done.Deleted), BookingsCancelled: int32(done.Bookings),
		EntriesCancelled: int32(done.Entries), CreditsRefunded: int32(done.Credits),
	}, nil
}

// GetSeries handles SessionService.GetSeries.
func (s *Schedules) GetSeries(ctx context.Context, req *v1.GetSeriesRequest) (*v1.GetSeriesResponse, error) {
	series, err := s.Service.GetSeries(ctx, request.Caller(ctx), convert.ID[tenant.SeriesID](req.GetSeriesId()))
	if err != nil {
		return nil, err
	}
	return &v1.GetSeriesResponse{Series: seriesMessage(series)}, nil
}

// ListSeries handles SessionService.ListSeries.
func (s *Schedules) ListSeries(ctx context.Context, req *v1.ListSeriesRequest) (*v1.ListSeriesResponse, error) {
	page, err := convert.ParsePage[convert.NameCursor](req)
	if err != nil {
		return nil, err
	}
	q := schedules.SeriesQuery{SeriesFilter: seriesFilterValue(req.GetFilter()), Limit: page.Limit()}
	if page.After != nil {
		q.AfterTitle, q.AfterID.UUID = page.After.Name, page.After.ID
	}
	series, err := s.Service.ListSeries(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	series, next := convert.Paginate(
		page, series, func(s session.Series) convert.NameCursor { return convert.NameCursor{Name: s.Title, ID: s.ID.UUID} },
	)
	return &v1.ListSeriesResponse{Series: convert.Messages(series, seriesMessage), NextPageToken: next}, nil
}
