package rpc

import (
	"context"
	"slices"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app"
	appcatalog "github.com/berthhq/berth/internal/app/catalog"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// tenantService serves berth.v1.TenantService.
type tenantService struct{ app *app.App }

func (s *tenantService) GetTenant(ctx context.Context, _ *connect.Request[v1.GetTenantRequest]) (*connect.Response[v1.GetTenantResponse], error) {
	t, err := s.app.Accounts.GetTenant(ctx, caller(ctx))
	if err != nil {
		return nil, err
	}
	return reply(&v1.GetTenantResponse{Tenant: tenantMessage(t)})
}

func (s *tenantService) UpdateTenant(ctx context.Context, req *connect.Request[v1.UpdateTenantRequest]) (*connect.Response[v1.UpdateTenantResponse], error) {
	expect, err := expected(req.Msg.GetTenant().GetEtag())
	if err != nil {
		return nil, err
	}
	t, err := s.app.Accounts.UpdateTenant(ctx, caller(ctx), expect, editTenant(req.Msg.GetTenant(), req.Msg.GetUpdateMask().GetPaths()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.UpdateTenantResponse{Tenant: tenantMessage(t)})
}

func (s *tenantService) CreateLocation(ctx context.Context, req *connect.Request[v1.CreateLocationRequest]) (*connect.Response[v1.CreateLocationResponse], error) {
	l, err := s.app.Catalog.CreateLocation(ctx, caller(ctx), locationValue(req.Msg.GetLocation()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.CreateLocationResponse{Location: locationMessage(l)})
}

func (s *tenantService) UpdateLocation(ctx context.Context, req *connect.Request[v1.UpdateLocationRequest]) (*connect.Response[v1.UpdateLocationResponse], error) {
	sent := req.Msg.GetLocation()
	expect, err := expected(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	paths := req.Msg.GetUpdateMask().GetPaths()
	if slices.Contains(paths, "channels") {
		if err := must(ctx, "policy.write"); err != nil {
			return nil, err
		}
	}
	l, err := s.app.Catalog.UpdateLocation(ctx, caller(ctx), id[tenant.LocationID](sent.GetId()), expect, editLocation(sent, paths))
	if err != nil {
		return nil, err
	}
	return reply(&v1.UpdateLocationResponse{Location: locationMessage(l)})
}

func (s *tenantService) GetLocation(ctx context.Context, req *connect.Request[v1.GetLocationRequest]) (*connect.Response[v1.GetLocationResponse], error) {
	l, err := s.app.Catalog.GetLocation(ctx, caller(ctx), id[tenant.LocationID](req.Msg.GetLocationId()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.GetLocationResponse{Location: locationMessage(l)})
}

func (s *tenantService) ListLocations(ctx context.Context, req *connect.Request[v1.ListLocationsRequest]) (*connect.Response[v1.ListLocationsResponse], error) {
	page, err := openPage[nameCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	q := appcatalog.LocationQuery{Inactive: req.Msg.GetIncludeInactive(), Limit: page.Size + 1}
	if page.After != nil {
		q.AfterName, q.AfterID.UUID = page.After.Name, page.After.ID
	}
	locations, err := s.app.Catalog.ListLocations(ctx, caller(ctx), q)
	if err != nil {
		return nil, err
	}
	locations, next, err := cut(page, locations, func(l catalog.Location) nameCursor { return nameCursor{l.Name, l.ID.UUID} })
	if err != nil {
		return nil, err
	}
	return reply(&v1.ListLocationsResponse{Locations: messages(locations, locationMessage), NextPageToken: next})
}

func (s *tenantService) SetChannels(ctx context.Context, req *connect.Request[v1.SetChannelsRequest]) (*connect.Response[v1.SetChannelsResponse], error) {
	expect, err := expected(req.Msg.GetEtag())
	if err != nil {
		return nil, err
	}
	l, err := s.app.Catalog.SetChannels(ctx, caller(ctx), id[tenant.LocationID](req.Msg.GetLocationId()), expect, channelValues(req.Msg.GetChannels()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.SetChannelsResponse{Location: locationMessage(l)})
}

func (s *tenantService) CreateResource(ctx context.Context, req *connect.Request[v1.CreateResourceRequest]) (*connect.Response[v1.CreateResourceResponse], error) {
	r, err := s.app.Catalog.CreateResource(ctx, caller(ctx), resourceValue(req.Msg.GetResource()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.CreateResourceResponse{Resource: resourceMessage(r)})
}

func (s *tenantService) UpdateResource(ctx context.Context, req *connect.Request[v1.UpdateResourceRequest]) (*connect.Response[v1.UpdateResourceResponse], error) {
	sent := req.Msg.GetResource()
	expect, err := expected(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	r, err := s.app.Catalog.UpdateResource(ctx, caller(ctx), id[tenant.ResourceID](sent.GetId()), expect, editResource(sent, req.Msg.GetUpdateMask().GetPaths()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.UpdateResourceResponse{Resource: resourceMessage(r)})
}

func (s *tenantService) ListResources(ctx context.Context, req *connect.Request[v1.ListResourcesRequest]) (*connect.Response[v1.ListResourcesResponse], error) {
	page, err := openPage[nameCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	q := appcatalog.ResourceQuery{
		Location: id[tenant.LocationID](req.Msg.GetLocationId()), Inactive: req.Msg.GetIncludeInactive(), Limit: page.Size + 1,
	}
	if page.After != nil {
		q.AfterName, q.AfterID.UUID = page.After.Name, page.After.ID
	}
	resources, err := s.app.Catalog.ListResources(ctx, caller(ctx), q)
	if err != nil {
		return nil, err
	}
	resources, next, err := cut(page, resources, func(r catalog.Resource) nameCursor { return nameCursor{r.Name, r.ID.UUID} })
	if err != nil {
		return nil, err
	}
	return reply(&v1.ListResourcesResponse{Resources: messages(resources, resourceMessage), NextPageToken: next})
}

func (s *tenantService) CreateService(ctx context.Context, req *connect.Request[v1.CreateServiceRequest]) (*connect.Response[v1.CreateServiceResponse], error) {
	v, err := s.app.Catalog.CreateService(ctx, caller(ctx), serviceValue(req.Msg.GetService()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.CreateServiceResponse{Service: serviceMessage(v)})
}

func (s *tenantService) UpdateService(ctx context.Context, req *connect.Request[v1.UpdateServiceRequest]) (*connect.Response[v1.UpdateServiceResponse], error) {
	sent := req.Msg.GetService()
	expect, err := expected(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	v, err := s.app.Catalog.UpdateService(ctx, caller(ctx), id[tenant.ServiceID](sent.GetId()), expect, editService(sent, req.Msg.GetUpdateMask().GetPaths()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.UpdateServiceResponse{Service: serviceMessage(v)})
}

func (s *tenantService) GetService(ctx context.Context, req *connect.Request[v1.GetServiceRequest]) (*connect.Response[v1.GetServiceResponse], error) {
	v, err := s.app.Catalog.GetService(ctx, caller(ctx), id[tenant.ServiceID](req.Msg.GetServiceId()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.GetServiceResponse{Service: serviceMessage(v)})
}

func (s *tenantService) ListServices(ctx context.Context, req *connect.Request[v1.ListServicesRequest]) (*connect.Response[v1.ListServicesResponse], error) {
	page, err := openPage[nameCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	q := appcatalog.ServiceQuery{Category: req.Msg.GetCategory(), Inactive: req.Msg.GetIncludeInactive(), Limit: page.Size + 1}
	if page.After != nil {
		q.AfterName, q.AfterID.UUID = page.After.Name, page.After.ID
	}
	services, err := s.app.Catalog.ListServices(ctx, caller(ctx), q)
	if err != nil {
		return nil, err
	}
	services, next, err := cut(page, services, func(v catalog.Service) nameCursor { return nameCursor{v.Name, v.ID.UUID} })
	if err != nil {
		return nil, err
	}
	return reply(&v1.ListServicesResponse{Services: messages(services, serviceMessage), NextPageToken: next})
}

func (s *tenantService) GetPolicy(ctx context.Context, req *connect.Request[v1.GetPolicyRequest]) (*connect.Response[v1.GetPolicyResponse], error) {
	effective, err := s.app.Settings.GetPolicy(ctx, caller(ctx), settings.PolicyTarget{
		Location: id[tenant.LocationID](req.Msg.GetLocationId()), Service: id[tenant.ServiceID](req.Msg.GetServiceId()),
	})
	if err != nil {
		return nil, err
	}
	return reply(&v1.GetPolicyResponse{Effective: effectiveMessage(effective)})
}

func (s *tenantService) UpdatePolicy(ctx context.Context, req *connect.Request[v1.UpdatePolicyRequest]) (*connect.Response[v1.UpdatePolicyResponse], error) {
	sent := req.Msg.GetLayer()
	expect, err := expected(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	effective, err := s.app.Settings.UpdatePolicy(ctx, caller(ctx), policyTarget(sent), expect, editPolicy(sent.GetPolicy(), req.Msg.GetUpdateMask().GetPaths()))
	if err != nil {
		return nil, err
	}
	message := effectiveMessage(effective)
	return reply(&v1.UpdatePolicyResponse{Layer: message.Layers[len(message.Layers)-1], Effective: message})
}
