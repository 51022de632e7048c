package settingsapi

import (
	"context"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/tenant"
)

// GetPolicy handles TenantService.GetPolicy.
func (s *Settings) GetPolicy(
	ctx context.Context, req *connect.Request[v1.GetPolicyRequest],
) (*connect.Response[v1.GetPolicyResponse], error) {
	effective, err := s.Service.GetPolicy(ctx, request.Caller(ctx), settings.PolicyTarget{
		Location: convert.ID[tenant.LocationID](req.Msg.GetLocationId()),
		Service:  convert.ID[tenant.ServiceID](req.Msg.GetServiceId()),
	})
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.GetPolicyResponse{Effective: effectiveMessage(effective)})
}

// UpdatePolicy handles TenantService.UpdatePolicy.
func (s *Settings) UpdatePolicy(
	ctx context.Context, req *connect.Request[v1.UpdatePolicyRequest],
) (*connect.Response[v1.UpdatePolicyResponse], error) {
	sent := req.Msg.GetLayer()
	expect, err := convert.ExpectedVersion(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	effective, err := s.Service.UpdatePolicy(
		ctx, request.Caller(ctx), policyTargetValue(sent), expect,
		editPolicy(sent.GetPolicy(), req.Msg.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	message := effectiveMessage(effective)
	return convert.Response(&v1.UpdatePolicyResponse{Layer: message.Layers[len(message.Layers)-1], Effective: message})
}
