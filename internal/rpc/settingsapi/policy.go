package settingsapi

import (
	"context"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/tenant"
)

// GetPolicy handles CatalogService.GetPolicy.
func (s *Settings) GetPolicy(ctx context.Context, req *v1.GetPolicyRequest) (*v1.GetPolicyResponse, error) {
	effective, err := s.Service.GetPolicy(ctx, request.Caller(ctx), settings.PolicyTarget{
		Location: convert.ID[tenant.LocationID](req.GetLocationId()),
		Service:  convert.ID[tenant.ServiceID](req.GetServiceId()),
	})
	if err != nil {
		return nil, err
	}
	return &v1.GetPolicyResponse{Effective: effectiveMessage(effective)}, nil
}

// UpdatePolicy handles CatalogService.UpdatePolicy.
func (s *Settings) UpdatePolicy(ctx context.Context, req *v1.UpdatePolicyRequest) (*v1.UpdatePolicyResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	effective, err := s.Service.UpdatePolicy(
		ctx, request.Caller(ctx), policyTargetValue(req.GetLevel(), req.GetTargetId()), expect,
		editPolicy(req.GetPolicy(), req.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	message := effectiveMessage(effective)
	return &v1.UpdatePolicyResponse{Layer: message.Layers[len(message.Layers)-1], Effective: message}, nil
}
