package settingsapi

import (
	"context"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

func rulesTargetValue(location, service string) settings.PolicyTarget {
	return settings.PolicyTarget{
		Location: convert.ID[tenant.LocationID](location), Service: convert.ID[tenant.ServiceID](service),
	}
}

// GetWaitlistRules handles WaitlistService.GetWaitlistRules.
func (s *Settings) GetWaitlistRules(
	ctx context.Context, req *v1.GetWaitlistRulesRequest,
) (*v1.GetWaitlistRulesResponse, error) {
	effective, err := s.Service.GetWaitlistRules(ctx, request.Caller(ctx), rulesTargetValue(req.LocationId, req.ServiceId))
	if err != nil {
		return nil, err
	}
	return &v1.GetWaitlistRulesResponse{Effective: effectiveRulesMessage(effective)}, nil
}

// UpdateWaitlistRules handles WaitlistService.UpdateWaitlistRules.
func (s *Settings) UpdateWaitlistRules(
	ctx context.Context, req *v1.UpdateWaitlistRulesRequest,
) (*v1.UpdateWaitlistRulesResponse, error) {
	expect, err := convert.ExpectedVersion(req.Etag)
	if err != nil {
		return nil, err
	}
	effective, err := s.Service.UpdateWaitlistRules(ctx, request.Caller(ctx), settings.RulesEdit{
		Target: rulesTargetValue(req.LocationId, req.ServiceId), Expect: expect, Reason: req.Reason,
		Edit: editRules(req.Rules, req.GetUpdateMask().GetPaths()),
	})
	if err != nil {
		return nil, err
	}
	return &v1.UpdateWaitlistRulesResponse{Effective: effectiveRulesMessage(effective)}, nil
}

// ResetWaitlistRules handles WaitlistService.ResetWaitlistRules.
func (s *Settings) ResetWaitlistRules(
	ctx context.Context, req *v1.ResetWaitlistRulesRequest,
) (*v1.ResetWaitlistRulesResponse, error) {
	expect, err := convert.ExpectedVersion(req.Etag)
	if err != nil {
		return nil, err
	}
	effective, err := s.Service.UpdateWaitlistRules(ctx, request.Caller(ctx), settings.RulesEdit{
		Target: rulesTargetValue(req.LocationId, req.ServiceId), Expect: expect, Reason: req.Reason,
	})
	if err != nil {
		return nil, err
	}
	return &v1.ResetWaitlistRulesResponse{Effective: effectiveRulesMessage(effective)}, nil
}

// versionCursor is a position in the versions of waitlist rules.
type versionCursor struct{ Version int }

// ListWaitlistRulesVersions handles WaitlistService.ListWaitlistRulesVersions.
func (s *Settings) ListWaitlistRulesVersions(
	ctx context.Context, req *v1.ListWaitlistRulesVersionsRequest,
) (*v1.ListWaitlistRulesVersionsResponse, error) {
	page, err := convert.ParsePage[versionCursor](req)
	if err != nil {
		return nil, err
	}
	before := 0
	if page.After != nil {
		before = page.After.Version
	}
	versions, err := s.Service.ListWaitlistRulesVersions(
		ctx, request.Caller(ctx), rulesTargetValue(req.GetFilter().GetLocationId(), req.GetFilter().GetServiceId()),
		before, page.Limit(),
	)
	if err != nil {
		return nil, err
	}
	versions, next := convert.Paginate(
		page, versions, func(v waitlists.RulesVersion) versionCursor { return versionCursor{v.Version} },
	)
	knows, err := request.KnowsActors(ctx)
	if err != nil {
		return nil, err
	}
	for i := range versions {
		if !knows(versions[i].Actor) {
			versions[i].ActorName = ""
		}
	}
	return &v1.ListWaitlistRulesVersionsResponse{
		Versions: convert.Messages(versions, rulesVersionMessage), NextPageToken: next,
	}, nil
}

const (
	defaultPreview = 100
	maxPreview     = 500
)

// PreviewWaitlistRules handles WaitlistService.PreviewWaitlistRules.
func (s *Settings) PreviewWaitlistRules(
	ctx context.Context, req *v1.PreviewWaitlistRulesRequest,
) (*v1.PreviewWaitlistRulesResponse, error) {
	within := convert.SpanOrLast30Days(s.Now, req.DecidedWithin)
	limit := defaultPreview
	if req.Limit != nil {
		limit = min(int(*req.Limit), maxPreview)
	}
	previewed, name, err := s.Service.PreviewWaitlistRules(ctx, request.Caller(ctx), settings.RulesDraft{
		Target: rulesTargetValue(req.LocationId, req.ServiceId),
		Edit:   editRules(req.Rules, req.GetUpdateMask().GetPaths()),
		From:   within.Start, Until: within.End, Limit: limit,
	})
	if err != nil {
		return nil, err
	}
	response := &v1.PreviewWaitlistRulesResponse{}
	for _, p := range previewed {
		move := &v1.PreviewedWaitlistMove{
			Decision:  convert.DecisionMessage(name)(p.Decided),
			DraftMove: convert.Enum[v1.WaitlistMove](v1.WaitlistMove_value, convert.MovePrefix, p.Draft.Move),
			DraftMode: convert.Enum[v1.WaitlistMode](v1.WaitlistMode_value, convert.ModePrefix, p.Draft.Mode),
			Changed:   p.Difference.Changes(),
		}
		for i, v := range p.Draft.Verdicts {
			move.DraftVerdicts = append(move.DraftVerdicts, convert.VerdictMessage(p.Draft, v, i, p.Decided.Case.Slot, name))
		}
		if move.Changed {
			response.Changed++
			move.Sentences = waitlist.ExplainDifference(p.Difference, name)
		}
		response.GrantedBefore += int32(len(p.Decided.Decision.Grants))
		response.GrantedDraft += int32(len(p.Draft.Grants))
		response.HandedBackBefore += boolToInt(p.Decided.Decision.LeftMove != "")
		response.HandedBackDraft += boolToInt(p.Draft.LeftMove != "")
		response.Moves = append(response.Moves, move)
	}
	return response, nil
}

func boolToInt(b bool) int32 {
	if b {
		return 1
	}
	return 0
}
