package accountapi

import (
	"context"
	"slices"

	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/grant"
)

func tenantMessage(t catalog.Tenant) *v1.Tenant {
	return &v1.Tenant{
		Id:               convert.IDText(t.ID),
		Name:             t.Name,
		TimeZone:         t.TimeZone,
		Locale:           t.Locale,
		Currency:         t.Currency,
		TakesPayments:    t.TakesPayments,
		AuditMemberReads: t.AuditMemberReads,
		StepUp:           stepUpMessage(t.StepUp),
		Brand:            convert.BrandMessage(t.Brand),
		Etag:             convert.Etag(t.Version),
		CreateTime:       convert.Timestamp(t.CreatedAt),
		UpdateTime:       convert.Timestamp(t.UpdatedAt),
	}
}

func stepUpMessage(s catalog.StepUp) *v1.StepUp {
	if s.MaxAge == 0 && len(s.ACRValues) == 0 {
		return nil
	}
	m := &v1.StepUp{AcrValues: s.ACRValues}
	if s.MaxAge > 0 {
		m.MaxAge = durationpb.New(s.MaxAge)
	}
	return m
}

func stepUpValue(m *v1.StepUp) catalog.StepUp {
	return catalog.StepUp{MaxAge: m.GetMaxAge().AsDuration(), ACRValues: m.GetAcrValues()}
}

// editTenant returns an edit that applies the fields named by an update mask. The contract's rules have checked the
// names.
func editTenant(m *v1.TenantInput, paths []string) func(*catalog.Tenant) {
	return func(t *catalog.Tenant) {
		convert.Fields{
			"name":               convert.Field(&t.Name, m.GetName()),
			"time_zone":          convert.Field(&t.TimeZone, m.GetTimeZone()),
			"locale":             convert.Field(&t.Locale, m.GetLocale()),
			"currency":           convert.Field(&t.Currency, m.GetCurrency()),
			"audit_member_reads": convert.Field(&t.AuditMemberReads, m.GetAuditMemberReads()),
			"takes_payments":     convert.Field(&t.TakesPayments, m.GetTakesPayments()),
			"step_up":            convert.Field(&t.StepUp, stepUpValue(m.GetStepUp())),
			"brand":              convert.Field(&t.Brand, convert.BrandValue(m.GetBrand())),
			"brand.logo_url":     convert.Field(&t.Brand.LogoURL, m.GetBrand().GetLogoUrl()),
			"brand.accent_color": convert.Field(&t.Brand.Accent, m.GetBrand().GetAccentColor()),
		}.Set(paths)
	}
}

// GetTenant handles TenantService.GetTenant.
func (s *Accounts) GetTenant(ctx context.Context, _ *v1.GetTenantRequest) (*v1.GetTenantResponse, error) {
	t, err := s.Service.GetTenant(ctx, request.Caller(ctx))
	if err != nil {
		return nil, err
	}
	return &v1.GetTenantResponse{Tenant: tenantMessage(t)}, nil
}

// UpdateTenant handles TenantService.UpdateTenant.
func (s *Accounts) UpdateTenant(ctx context.Context, req *v1.UpdateTenantRequest) (*v1.UpdateTenantResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	if slices.Contains(req.GetUpdateMask().GetPaths(), "step_up") {
		// Otherwise an admin, or a thief of a token, could turn it off. And owners whose tokens do not state how they signed
		// in could turn it on, but not off.
		err := request.RequirePermission(ctx, grant.ManageAdmins)
		if err == nil {
			err = request.RequireStepUp(ctx, stepUpValue(req.GetTenant().GetStepUp()))
		}
		if err != nil {
			return nil, err
		}
	}
	t, err := s.Service.UpdateTenant(
		ctx, request.Caller(ctx), expect, editTenant(req.GetTenant(), req.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return &v1.UpdateTenantResponse{Tenant: tenantMessage(t)}, nil
}
