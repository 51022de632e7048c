package accountapi

import (
	"context"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/catalog"
)

func tenantMessage(t catalog.Tenant) *v1.Tenant {
	return &v1.Tenant{
		Id:            convert.IDText(t.ID),
		Name:          t.Name,
		TimeZone:      t.TimeZone,
		Locale:        t.Locale,
		Currency:      t.Currency,
		TakesPayments: t.TakesPayments,
		Brand:         convert.BrandMessage(t.Brand),
		Etag:          convert.Etag(t.Version),
		CreateTime:    convert.Timestamp(t.CreatedAt),
		UpdateTime:    convert.Timestamp(t.UpdatedAt),
	}
}

// editTenant returns an edit that applies the fields named by an update mask. The contract's rules have checked the
// names.
func editTenant(m *v1.Tenant, paths []string) func(*catalog.Tenant) {
	return func(t *catalog.Tenant) {
		for _, path := range paths {
			switch path {
			case "name":
				t.Name = m.GetName()
			case "time_zone":
				t.TimeZone = m.GetTimeZone()
			case "locale":
				t.Locale = m.GetLocale()
			case "currency":
				t.Currency = m.GetCurrency()
			case "takes_payments":
				t.TakesPayments = m.GetTakesPayments()
			case "brand":
				t.Brand = convert.BrandValue(m.GetBrand())
			case "brand.logo_url":
				t.Brand.LogoURL = m.GetBrand().GetLogoUrl()
			case "brand.accent_color":
				t.Brand.Accent = m.GetBrand().GetAccentColor()
			}
		}
	}
}

// GetTenant handles TenantService.GetTenant.
func (s *Accounts) GetTenant(
	ctx context.Context, _ *connect.Request[v1.GetTenantRequest],
) (*connect.Response[v1.GetTenantResponse], error) {
	t, err := s.Service.GetTenant(ctx, request.Caller(ctx))
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.GetTenantResponse{Tenant: tenantMessage(t)})
}

// UpdateTenant handles TenantService.UpdateTenant.
func (s *Accounts) UpdateTenant(
	ctx context.Context, req *connect.Request[v1.UpdateTenantRequest],
) (*connect.Response[v1.UpdateTenantResponse], error) {
	expect, err := convert.ExpectedVersion(req.Msg.GetTenant().GetEtag())
	if err != nil {
		return nil, err
	}
	t, err := s.Service.UpdateTenant(
		ctx, request.Caller(ctx), expect, editTenant(req.Msg.GetTenant(), req.Msg.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.UpdateTenantResponse{Tenant: tenantMessage(t)})
}
