package catalogapi

import (
	"context"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	appcatalog "github.com/berthhq/berth/internal/app/catalog"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// CreateResource handles CatalogService.CreateResource.
func (s *Catalog) CreateResource(
	ctx context.Context, req *v1.CreateResourceRequest,
) (*v1.CreateResourceResponse, error) {
	r := resourceValue(req.GetResource())
	r.Location = convert.ID[tenant.LocationID](req.GetLocationId())
	r, err := s.Service.CreateResource(ctx, request.Caller(ctx), r)
	if err != nil {
		return nil, err
	}
	return &v1.CreateResourceResponse{Resource: resourceMessage(r)}, nil
}

// UpdateResource handles CatalogService.UpdateResource.
func (s *Catalog) UpdateResource(
	ctx context.Context, req *v1.UpdateResourceRequest,
) (*v1.UpdateResourceResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	r, err := s.Service.UpdateResource(
		ctx, request.Caller(ctx), convert.ID[tenant.ResourceID](req.GetResourceId()), expect,
		editResource(req.GetResource(), req.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return &v1.UpdateResourceResponse{Resource: resourceMessage(r)}, nil
}

// GetResource handles CatalogService.GetResource.
func (s *Catalog) GetResource(ctx context.Context, req *v1.GetResourceRequest) (*v1.GetResourceResponse, error) {
	found, err := s.Service.GetResource(ctx, request.Caller(ctx), convert.ID[tenant.ResourceID](req.ResourceId))
	if err != nil {
		return nil, err
	}
	return &v1.GetResourceResponse{Resource: resourceMessage(found)}, nil
}

// ListResources handles CatalogService.ListResources.
func (s *Catalog) ListResources(ctx context.Context, req *v1.ListResourcesRequest) (*v1.ListResourcesResponse, error) {
	page, err := convert.ParsePage[convert.NameCursor](req)
	if err != nil {
		return nil, err
	}
	q := appcatalog.ResourceQuery{
		Location: convert.ID[tenant.LocationID](req.GetFilter().GetLocationId()),
		Active:   activeValues(req.GetFilter().GetStatuses()), Limit: page.Limit(),
	}
	if page.After != nil {
		q.AfterName, q.AfterID.UUID = page.After.Name, page.After.ID
	}
	resources, err := s.Service.ListResources(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	resources, next := convert.Paginate(
		page, resources,
		func(r catalog.Resource) convert.NameCursor { return convert.NameCursor{Name: r.Name, ID: r.ID.UUID} },
	)
	return &v1.ListResourcesResponse{
		Resources: convert.Messages(resources, resourceMessage), NextPageToken: next,
	}, nil
}

func resourceMessage(r catalog.Resource) *v1.Resource {
	return &v1.Resource{
		Id:         convert.IDText(r.ID),
		LocationId: convert.IDText(r.Location),
		Name:       r.Name,
		Kind:       r.Kind,
		Active:     r.Active,
		Etag:       convert.Etag(r.Version),
		CreateTime: convert.Timestamp(r.CreatedAt),
		UpdateTime: convert.Timestamp(r.UpdatedAt),
	}
}

func resourceValue(m *v1.ResourceInput) catalog.Resource {
	return catalog.Resource{Name: m.GetName(), Kind: m.GetKind(), Active: convert.TrueUnlessSet(m.Active)}
}

func editResource(m *v1.ResourceInput, paths []string) func(*catalog.Resource) {
	sent := resourceValue(m)
	return func(r *catalog.Resource) {
		convert.Fields{
			"name":   convert.Field(&r.Name, sent.Name),
			"kind":   convert.Field(&r.Kind, sent.Kind),
			"active": convert.Field(&r.Active, sent.Active),
		}.Set(paths)
	}
}
