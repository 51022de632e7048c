package catalogapi

import (
	"context"
	"slices"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	appcatalog "github.com/berthhq/berth/internal/app/catalog"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// CreateLocation handles TenantService.CreateLocation.
func (s *Catalog) CreateLocation(
	ctx context.Context, req *connect.Request[v1.CreateLocationRequest],
) (*connect.Response[v1.CreateLocationResponse], error) {
	l, err := s.Service.CreateLocation(ctx, request.Caller(ctx), locationValue(req.Msg.GetLocation()))
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.CreateLocationResponse{Location: locationMessage(l)})
}

// UpdateLocation handles TenantService.UpdateLocation.
func (s *Catalog) UpdateLocation(
	ctx context.Context, req *connect.Request[v1.UpdateLocationRequest],
) (*connect.Response[v1.UpdateLocationResponse], error) {
	sent := req.Msg.GetLocation()
	expect, err := convert.ExpectedVersion(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	paths := req.Msg.GetUpdateMask().GetPaths()
	if slices.Contains(paths, "channels") {
		if err := request.RequirePermission(ctx, "policy.write"); err != nil {
			return nil, err
		}
	}
	l, err := s.Service.UpdateLocation(
		ctx, request.Caller(ctx), convert.ID[tenant.LocationID](sent.GetId()), expect, editLocation(sent, paths),
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.UpdateLocationResponse{Location: locationMessage(l)})
}

// GetLocation handles TenantService.GetLocation.
func (s *Catalog) GetLocation(
	ctx context.Context, req *connect.Request[v1.GetLocationRequest],
) (*connect.Response[v1.GetLocationResponse], error) {
	l, err := s.Service.GetLocation(ctx, request.Caller(ctx), convert.ID[tenant.LocationID](req.Msg.GetLocationId()))
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.GetLocationResponse{Location: locationMessage(l)})
}

// ListLocations handles TenantService.ListLocations.
func (s *Catalog) ListLocations(
	ctx context.Context, req *connect.Request[v1.ListLocationsRequest],
) (*connect.Response[v1.ListLocationsResponse], error) {
	page, err := convert.ParsePage[convert.NameCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	q := appcatalog.LocationQuery{Inactive: req.Msg.GetIncludeInactive(), Limit: page.Size + 1}
	if page.After != nil {
		q.AfterName, q.AfterID.UUID = page.After.Name, page.After.ID
	}
	locations, err := s.Service.ListLocations(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	locations, next, err := convert.Paginate(
		page, locations,
		func(l catalog.Location) convert.NameCursor { return convert.NameCursor{Name: l.Name, ID: l.ID.UUID} },
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.ListLocationsResponse{
		Locations: convert.Messages(locations, locationMessage), NextPageToken: next,
	})
}

// SetChannels handles TenantService.SetChannels.
func (s *Catalog) SetChannels(
	ctx context.Context, req *connect.Request[v1.SetChannelsRequest],
) (*connect.Response[v1.SetChannelsResponse], error) {
	expect, err := convert.ExpectedVersion(req.Msg.GetEtag())
	if err != nil {
		return nil, err
	}
	l, err := s.Service.SetChannels(
		ctx, request.Caller(ctx), convert.ID[tenant.LocationID](req.Msg.GetLocationId()), expect,
		channelValues(req.Msg.GetChannels()),
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.SetChannelsResponse{Location: locationMessage(l)})
}

// CreateResource handles TenantService.CreateResource.
func (s *Catalog) CreateResource(
	ctx context.Context, req *connect.Request[v1.CreateResourceRequest],
) (*connect.Response[v1.CreateResourceResponse], error) {
	r, err := s.Service.CreateResource(ctx, request.Caller(ctx), resourceValue(req.Msg.GetResource()))
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.CreateResourceResponse{Resource: resourceMessage(r)})
}

// UpdateResource handles TenantService.UpdateResource.
func (s *Catalog) UpdateResource(
	ctx context.Context, req *connect.Request[v1.UpdateResourceRequest],
) (*connect.Response[v1.UpdateResourceResponse], error) {
	sent := req.Msg.GetResource()
	expect, err := convert.ExpectedVersion(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	r, err := s.Service.UpdateResource(
		ctx, request.Caller(ctx), convert.ID[tenant.ResourceID](sent.GetId()), expect,
		editResource(sent, req.Msg.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.UpdateResourceResponse{Resource: resourceMessage(r)})
}

// ListResources handles TenantService.ListResources.
func (s *Catalog) ListResources(
	ctx context.Context, req *connect.Request[v1.ListResourcesRequest],
) (*connect.Response[v1.ListResourcesResponse], error) {
	page, err := convert.ParsePage[convert.NameCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	q := appcatalog.ResourceQuery{
		Location: convert.ID[tenant.LocationID](req.Msg.GetLocationId()), Inactive: req.Msg.GetIncludeInactive(),
		Limit: page.Size + 1,
	}
	if page.After != nil {
		q.AfterName, q.AfterID.UUID = page.After.Name, page.After.ID
	}
	resources, err := s.Service.ListResources(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	resources, next, err := convert.Paginate(
		page, resources,
		func(r catalog.Resource) convert.NameCursor { return convert.NameCursor{Name: r.Name, ID: r.ID.UUID} },
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.ListResourcesResponse{
		Resources: convert.Messages(resources, resourceMessage), NextPageToken: next,
	})
}

// CreateService handles TenantService.CreateService.
func (s *Catalog) CreateService(
	ctx context.Context, req *connect.Request[v1.CreateServiceRequest],
) (*connect.Response[v1.CreateServiceResponse], error) {
	v, err := s.Service.CreateService(ctx, request.Caller(ctx), serviceValue(req.Msg.GetService()))
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.CreateServiceResponse{Service: serviceMessage(v)})
}

// UpdateService handles TenantService.UpdateService.
func (s *Catalog) UpdateService(
	ctx context.Context, req *connect.Request[v1.UpdateServiceRequest],
) (*connect.Response[v1.UpdateServiceResponse], error) {
	sent := req.Msg.GetService()
	expect, err := convert.ExpectedVersion(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	v, err := s.Service.UpdateService(
		ctx, request.Caller(ctx), convert.ID[tenant.ServiceID](sent.GetId()), expect,
		editService(sent, req.Msg.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.UpdateServiceResponse{Service: serviceMessage(v)})
}

// GetService handles TenantService.GetService.
func (s *Catalog) GetService(
	ctx context.Context, req *connect.Request[v1.GetServiceRequest],
) (*connect.Response[v1.GetServiceResponse], error) {
	v, err := s.Service.GetService(ctx, request.Caller(ctx), convert.ID[tenant.ServiceID](req.Msg.GetServiceId()))
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.GetServiceResponse{Service: serviceMessage(v)})
}

// ListServices handles TenantService.ListServices.
func (s *Catalog) ListServices(
	ctx context.Context, req *connect.Request[v1.ListServicesRequest],
) (*connect.Response[v1.ListServicesResponse], error) {
	page, err := convert.ParsePage[convert.NameCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	q := appcatalog.ServiceQuery{
		Category: req.Msg.GetCategory(), Inactive: req.Msg.GetIncludeInactive(), Limit: page.Size + 1,
	}
	if page.After != nil {
		q.AfterName, q.AfterID.UUID = page.After.Name, page.After.ID
	}
	services, err := s.Service.ListServices(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	services, next, err := convert.Paginate(
		page, services, func(v catalog.Service) convert.NameCursor { return convert.NameCursor{Name: v.Name, ID: v.ID.UUID} },
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.ListServicesResponse{
		Services: convert.Messages(services, serviceMessage), NextPageToken: next,
	})
}
