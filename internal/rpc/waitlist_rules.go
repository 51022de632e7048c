package rpc

import (
	"context"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

func rulesTarget(location, service string) settings.PolicyTarget {
	return settings.PolicyTarget{Location: id[tenant.LocationID](location), Service: id[tenant.ServiceID](service)}
}

func (s *waitlistService) GetRules(ctx context.Context, req *connect.Request[v1.GetRulesRequest]) (*connect.Response[v1.GetRulesResponse], error) {
	effective, err := s.app.Settings.GetRules(ctx, caller(ctx), rulesTarget(req.Msg.LocationId, req.Msg.ServiceId))
	if err != nil {
		return nil, err
	}
	return reply(&v1.GetRulesResponse{Effective: effectiveRulesMessage(effective)})
}

func (s *waitlistService) UpdateRules(ctx context.Context, req *connect.Request[v1.UpdateRulesRequest]) (*connect.Response[v1.UpdateRulesResponse], error) {
	expect, err := expected(req.Msg.Etag)
	if err != nil {
		return nil, err
	}
	effective, err := s.app.Settings.UpdateRules(ctx, caller(ctx), settings.RulesEdit{
		Target: rulesTarget(req.Msg.LocationId, req.Msg.ServiceId), Expect: expect, Reason: req.Msg.Reason,
		Edit: editRules(req.Msg.Rules, req.Msg.GetUpdateMask().GetPaths()),
	})
	if err != nil {
		return nil, err
	}
	return reply(&v1.UpdateRulesResponse{Effective: effectiveRulesMessage(effective)})
}

func (s *waitlistService) ResetRules(ctx context.Context, req *connect.Request[v1.ResetRulesRequest]) (*connect.Response[v1.ResetRulesResponse], error) {
	expect, err := expected(req.Msg.Etag)
	if err != nil {
		return nil, err
	}
	effective, err := s.app.Settings.UpdateRules(ctx, caller(ctx), settings.RulesEdit{
		Target: rulesTarget(req.Msg.LocationId, req.Msg.ServiceId), Expect: expect, Reason: req.Msg.Reason,
	})
	if err != nil {
		return nil, err
	}
	return reply(&v1.ResetRulesResponse{Effective: effectiveRulesMessage(effective)})
}

// versionCursor is a position in the edits of rules.
type versionCursor struct{ Version int }

func (s *waitlistService) ListRulesVersions(ctx context.Context, req *connect.Request[v1.ListRulesVersionsRequest]) (*connect.Response[v1.ListRulesVersionsResponse], error) {
	page, err := openPage[versionCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	before := 0
	if page.After != nil {
		before = page.After.Version
	}
	versions, err := s.app.Settings.ListRulesVersions(ctx, caller(ctx), rulesTarget(req.Msg.LocationId, req.Msg.ServiceId), before, page.Size+1)
	if err != nil {
		return nil, err
	}
	versions, next, err := cut(page, versions, func(v waitlists.RulesVersion) versionCursor { return versionCursor{v.Version} })
	if err != nil {
		return nil, err
	}
	return reply(&v1.ListRulesVersionsResponse{Versions: messages(versions, rulesVersionMessage), NextPageToken: next})
}

const (
	defaultPreview = 100
	maxPreview     = 500
)

func (s *waitlistService) PreviewRules(ctx context.Context, req *connect.Request[v1.PreviewRulesRequest]) (*connect.Response[v1.PreviewRulesResponse], error) {
	within := s.lastMonth(req.Msg.DecidedWithin)
	limit := defaultPreview
	if req.Msg.Limit > 0 {
		limit = min(int(req.Msg.Limit), maxPreview)
	}
	previewed, name, err := s.app.Settings.PreviewRules(ctx, caller(ctx), settings.RulesDraft{
		Target: rulesTarget(req.Msg.LocationId, req.Msg.ServiceId), Edit: editRules(req.Msg.Rules, req.Msg.GetUpdateMask().GetPaths()),
		From: within.Start, Until: within.End, Limit: limit,
	})
	if err != nil {
		return nil, err
	}
	answer := &v1.PreviewRulesResponse{}
	for _, p := range previewed {
		move := &v1.PreviewedMove{
			Decision: decisionMessage(name)(p.Decided), DraftMove: enum[v1.WaitlistMove](v1.WaitlistMove_value, movePrefix, p.Draft.Move),
			DraftMode: enum[v1.WaitlistMode](v1.WaitlistMode_value, modePrefix, p.Draft.Mode), Changed: p.Difference.Changes(),
		}
		for i, v := range p.Draft.Verdicts {
			move.DraftVerdicts = append(move.DraftVerdicts, verdictMessage(p.Draft, v, i, p.Decided.Case.Slot, name))
		}
		if move.Changed {
			answer.Changed++
			move.Sentences = waitlist.ExplainDifference(p.Difference, name)
		}
		answer.GrantedBefore += int32(len(p.Decided.Decision.Grants))
		answer.GrantedDraft += int32(len(p.Draft.Grants))
		answer.HandedBackBefore += one(p.Decided.Decision.LeftMove != "")
		answer.HandedBackDraft += one(p.Draft.LeftMove != "")
		answer.Moves = append(answer.Moves, move)
	}
	return reply(answer)
}

func one(b bool) int32 {
	if b {
		return 1
	}
	return 0
}
