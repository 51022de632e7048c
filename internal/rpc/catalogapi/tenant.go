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

func (s *Catalog) CreateLocation(
	ctx context.Context, req *connect.Request[v1.CreateLocationRequest],
) (*connect.Response[v1.CreateLocationResponse], error) {
	l, err := s.Catalog.CreateLocation(ctx, request.Caller(ctx), locationValue(req.Msg.GetLocation()))
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.CreateLocationResponse{Location: locationMessage(l)})
}

func (s *Catalog) UpdateLocation(
	ctx context.Context, req *connect.Request[v1.UpdateLocationRequest],
) (*connect.Response[v1.UpdateLocationResponse], error) {
	sent := req.Msg.GetLocation()
	expect, err := convert.Expected(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	paths := req.Msg.GetUpdateMask().GetPaths()
	if slices.Contains(paths, "channels") {
		if err := convert.Must(ctx, "policy.write"); err != nil {
			return nil, err
		}
	}
	l, err := s.Catalog.UpdateLocation(
		ctx, request.Caller(ctx), convert.ID[tenant.LocationID](sent.GetId()), expect, editLocation(sent, paths),
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.UpdateLocationResponse{Location: locationMessage(l)})
}

func (s *Catalog) GetLocation(
	ctx context.Context, req *connect.Request[v1.GetLocationRequest],
) (*connect.Response[v1.GetLocationResponse], error) {
	l, err := s.Catalog.GetLocation(ctx, request.Caller(ctx), convert.ID[tenant.LocationID](req.Msg.GetLocationId()))
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.GetLocationResponse{Location: locationMessage(l)})
}

func (s *Catalog) ListLocations(
	ctx context.Context, req *connect.Request[v1.ListLocationsRequest],
) (*connect.Response[v1.ListLocationsResponse], error) {
	page, err := convert.OpenPage[convert.NameCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	q := appcatalog.LocationQuery{Inactive: req.Msg.GetIncludeInactive(), Limit: page.Size + 1}
	if page.After != nil {
		q.AfterName, q.AfterID.UUID = page.After.Name, page.After.ID
	}
	locations, err := s.Catalog.ListLocations(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	locations, next, err := convert.Cut(
		page, locations,
		func(l catalog.Location) convert.NameCursor { return convert.NameCursor{Name: l.Name, ID: l.ID.UUID} },
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.ListLocationsResponse{
		Locations: convert.Messages(locations, locationMessage), NextPageToken: next,
	})
}

func (s *Catalog) SetChannels(
	ctx context.Context, req *connect.Request[v1.SetChannelsRequest],
) (*connect.Response[v1.SetChannelsResponse], error) {
	expect, err := convert.Expected(req.Msg.GetEtag())
	if err != nil {
		return nil, err
	}
	l, err := s.Catalog.SetChannels(
		ctx, request.Caller(ctx), convert.ID[tenant.LocationID](req.Msg.GetLocationId()), expect,
		channelValues(req.Msg.GetChannels()),
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.SetChannelsResponse{Location: locationMessage(l)})
}

func (s *Catalog) CreateResource(
	ctx context.Context, req *connect.Request[v1.CreateResourceRequest],
) (*connect.Response[v1.CreateResourceResponse], error) {
	r, err := s.Catalog.CreateResource(ctx, request.Caller(ctx), resourceValue(req.Msg.GetResource()))
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.CreateResourceResponse{Resource: resourceMessage(r)})
}

func (s *Catalog) UpdateResource(
	ctx context.Context, req *connect.Request[v1.UpdateResourceRequest],
) (*connect.Response[v1.UpdateResourceResponse], error) {
	sent := req.Msg.GetResource()
	expect, err := convert.Expected(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	r, err := s.Catalog.UpdateResource(
		ctx, request.Caller(ctx), convert.ID[tenant.ResourceID](sent.GetId()), expect,
		editResource(sent, req.Msg.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.UpdateResourceResponse{Resource: resourceMessage(r)})
}

func (s *Catalog) ListResources(
	ctx context.Context, req *connect.Request[v1.ListResourcesRequest],
) (*connect.Response[v1.ListResourcesResponse], error) {
	page, err := convert.OpenPage[convert.NameCursor](req.Msg)
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
	resources, err := s.Catalog.ListResources(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	resources, next, err := convert.Cut(
		page, resources,
		func(r catalog.Resource) convert.NameCursor { return convert.NameCursor{Name: r.Name, ID: r.ID.UUID} },
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.ListResourcesResponse{
		Resources: convert.Messages(resources, resourceMessage), NextPageToken: next,
	})
}

func (s *Catalog) CreateService(
	ctx context.Context, req *connect.Request[v1.CreateServiceRequest],
) (*connect.Response[v1.CreateServiceResponse], error) {
	v, err := s.Catalog.CreateService(ctx, request.Caller(ctx), serviceValue(req.Msg.GetService()))
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.CreateServiceResponse{Service: serviceMessage(v)})
}

func (s *Catalog) UpdateService(
	ctx context.Context, req *connect.Request[v1.UpdateServiceRequest],
) (*connect.Response[v1.UpdateServiceResponse], error) {
	sent := req.Msg.GetService()
	expect, err := convert.Expected(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	v, err := s.Catalog.UpdateService(
		ctx, request.Caller(ctx), convert.ID[tenant.ServiceID](sent.GetId()), expect,
		editService(sent, req.Msg.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.UpdateServiceResponse{Service: serviceMessage(v)})
}

func (s *Catalog) GetService(
	ctx context.Context, req *connect.Request[v1.GetServiceRequest],
) (*connect.Response[v1.GetServiceResponse], error) {
	v, err := s.Catalog.GetService(ctx, request.Caller(ctx), convert.ID[tenant.ServiceID](req.Msg.GetServiceId()))
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.GetServiceResponse{Service: serviceMessage(v)})
}

func (s *Catalog) ListServices(
	ctx context.Context, req *connect.Request[v1.ListServicesRequest],
) (*connect.Response[v1.ListServicesResponse], error) {
	page, err := convert.OpenPage[convert.NameCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	q := appcatalog.ServiceQuery{
		Category: req.Msg.GetCategory(), Inactive: req.Msg.GetIncludeInactive(), Limit: page.Size + 1,
	}
	if page.After != nil {
		q.AfterName, q.AfterID.UUID = page.After.Name, page.After.ID
	}
	services, err := s.Catalog.ListServices(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	services, next, err := convert.Cut(
		page, services, func(v catalog.Service) convert.NameCursor { return convert.NameCursor{Name: v.Name, ID: v.ID.UUID} },
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.ListServicesResponse{
		Services: convert.Messages(services, serviceMessage), NextPageToken: next,
	})
}
