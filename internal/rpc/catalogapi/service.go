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

// CreateService handles CatalogService.CreateService.
func (s *Catalog) CreateService(ctx context.Context, req *v1.CreateServiceRequest) (*v1.CreateServiceResponse, error) {
	v, err := s.Service.CreateService(ctx, request.Caller(ctx), serviceValue(req.GetService()))
	if err != nil {
		return nil, err
	}
	return &v1.CreateServiceResponse{Service: serviceMessage(v)}, nil
}

// UpdateService handles CatalogService.UpdateService.
func (s *Catalog) UpdateService(ctx context.Context, req *v1.UpdateServiceRequest) (*v1.UpdateServiceResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	v, err := s.Service.UpdateService(
		ctx, request.Caller(ctx), convert.ID[tenant.ServiceID](req.GetServiceId()), expect,
		editService(req.GetService(), req.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return &v1.UpdateServiceResponse{Service: serviceMessage(v)}, nil
}

// GetService handles CatalogService.GetService.
func (s *Catalog) GetService(ctx context.Context, req *v1.GetServiceRequest) (*v1.GetServiceResponse, error) {
	v, err := s.Service.GetService(ctx, request.Caller(ctx), convert.ID[tenant.ServiceID](req.GetServiceId()))
	if err != nil {
		return nil, err
	}
	return &v1.GetServiceResponse{Service: serviceMessage(v)}, nil
}

// ListServices handles CatalogService.ListServices.
func (s *Catalog) ListServices(ctx context.Context, req *v1.ListServicesRequest) (*v1.ListServicesResponse, error) {
	page, err := convert.ParsePage[convert.NameCursor](req)
	if err != nil {
		return nil, err
	}
	q := appcatalog.ServiceQuery{
		Category: req.GetFilter().GetCategory(), Active: activeValues(req.GetFilter().GetStatuses()), Limit: page.Limit(),
	}
	if page.After != nil {
		q.AfterName, q.AfterID.UUID = page.After.Name, page.After.ID
	}
	services, err := s.Service.ListServices(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	services, next := convert.Paginate(
		page, services, func(v catalog.Service) convert.NameCursor { return convert.NameCursor{Name: v.Name, ID: v.ID.UUID} },
	)
	return &v1.ListServicesResponse{
		Services: convert.Messages(services, serviceMessage), NextPageToken: next,
	}, nil
}

func serviceMessage(s catalog.Service) *v1.Service {
	return &v1.Service{
		Id:                      convert.IDText(s.ID),
		Name:                    s.Name,
		Description:             s.Description,
		Category:                s.Category,
		Duration:                convert.DurationMessage(s.Duration),
		DefaultCapacity:         convert.OptionalInt32(s.DefaultCapacity),
		DefaultWaitlistCapacity: int32(s.DefaultWaitlistCapacity),
		MinParty:                int32(s.MinParty),
		MaxParty:                int32(s.MaxParty),
		Delivery:                convert.Enum[v1.DeliveryMode](v1.DeliveryMode_value, convert.DeliveryPrefix, s.Delivery),
		Color:                   s.Color,
		Active:                  s.Active,
		Etag:                    convert.Etag(s.Version),
		CreateTime:              convert.Timestamp(s.CreatedAt),
		UpdateTime:              convert.Timestamp(s.UpdatedAt),
	}
}

func serviceValue(m *v1.ServiceInput) catalog.Service {
	return catalog.Service{
		Name:                    m.GetName(),
		Description:             m.GetDescription(),
		Category:                m.GetCategory(),
		Duration:                convert.DurationValue(m.GetDuration()),
		DefaultCapacity:         convert.OptionalInt(m.DefaultCapacity),
		DefaultWaitlistCapacity: int(m.GetDefaultWaitlistCapacity()),
		MinParty:                int(m.GetMinParty()),
		MaxParty:                int(m.GetMaxParty()),
		Delivery:                convert.EnumName[catalog.Delivery](convert.DeliveryPrefix, m.GetDelivery()),
		Color:                   m.GetColor(),
		Active:                  convert.TrueUnlessSet(m.Active),
	}
}

func editService(m *v1.ServiceInput, paths []string) func(*catalog.Service) {
	sent := serviceValue(m)
	return func(s *catalog.Service) {
		convert.Fields{
			"name":                      convert.Field(&s.Name, sent.Name),
			"description":               convert.Field(&s.Description, sent.Description),
			"category":                  convert.Field(&s.Category, sent.Category),
			"duration":                  convert.Field(&s.Duration, sent.Duration),
			"default_capacity":          convert.Field(&s.DefaultCapacity, sent.DefaultCapacity),
			"default_waitlist_capacity": convert.Field(&s.DefaultWaitlistCapacity, sent.DefaultWaitlistCapacity),
			"min_party":                 convert.Field(&s.MinParty, sent.MinParty),
			"max_party":                 convert.Field(&s.MaxParty, sent.MaxParty),
			"delivery":                  convert.Field(&s.Delivery, sent.Delivery),
			"color":                     convert.Field(&s.Color, sent.Color),
			"active":                    convert.Field(&s.Active, sent.Active),
		}.Set(paths)
	}
}
