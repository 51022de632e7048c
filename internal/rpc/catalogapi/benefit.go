package catalogapi

import (
	"context"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/catalog"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// editCatalog is the permission of those who see the patterns of membership numbers.
const editCatalog = "catalog.write"

// CreateBenefitProvider handles CatalogService.CreateBenefitProvider.
func (s *Catalog) CreateBenefitProvider(
	ctx context.Context, req *v1.CreateBenefitProviderRequest,
) (*v1.CreateBenefitProviderResponse, error) {
	provider := providerValue(req.Provider)
	provider.Code = req.ProviderCode
	provider, err := s.Service.CreateBenefitProvider(ctx, request.Caller(ctx), provider)
	if err != nil {
		return nil, err
	}
	return &v1.CreateBenefitProviderResponse{Provider: providerMessage(provider)}, nil
}

// UpdateBenefitProvider handles CatalogService.UpdateBenefitProvider.
func (s *Catalog) UpdateBenefitProvider(
	ctx context.Context, req *v1.UpdateBenefitProviderRequest,
) (*v1.UpdateBenefitProviderResponse, error) {
	expect, err := convert.ExpectedVersion(req.Etag)
	if err != nil {
		return nil, err
	}
	edited := providerValue(req.Provider)
	provider, err := s.Service.UpdateBenefitProvider(ctx, request.Caller(ctx), req.ProviderCode, expect,
		func(p *booking.BenefitProvider) error {
			unknown := convert.Fields{
				"name":             convert.Field(&p.Name, edited.Name),
				"number_pattern":   convert.Field(&p.Pattern, edited.Pattern),
				"discount_percent": convert.Field(&p.Percent, edited.Percent),
				"active":           convert.Field(&p.Active, edited.Active),
				"verification":     convert.Field(&p.Verification, edited.Verification),
				"families":         convert.Field(&p.Families, edited.Families),
			}.Set(req.UpdateMask.GetPaths())
			if unknown != "" {
				return fault.Invalid("update_mask", "A benefit provider has no field %q.", unknown)
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	return &v1.UpdateBenefitProviderResponse{Provider: providerMessage(provider)}, nil
}

// GetBenefitProvider handles CatalogService.GetBenefitProvider.
func (s *Catalog) GetBenefitProvider(
	ctx context.Context, req *v1.GetBenefitProviderRequest,
) (*v1.GetBenefitProviderResponse, error) {
	caller, err := request.CallerWith(ctx, editCatalog)
	if err != nil {
		return nil, err
	}
	found, err := s.Service.GetBenefitProvider(ctx, caller, req.ProviderCode)
	if err != nil {
		return nil, err
	}
	return &v1.GetBenefitProviderResponse{Provider: providerMessage(visible(caller, found))}, nil
}

// visible hides what lets a caller without the permission make up numbers: their pattern, and how many there are.
func visible(caller tenant.Caller, p booking.BenefitProvider) booking.BenefitProvider {
	if caller.SelfOnly {
		p.Pattern, p.Numbers = "", 0
	}
	return p
}

// ListBenefitProviders handles CatalogService.ListBenefitProviders.
func (s *Catalog) ListBenefitProviders(
	ctx context.Context, _ *v1.ListBenefitProvidersRequest,
) (*v1.ListBenefitProvidersResponse, error) {
	caller, err := request.CallerWith(ctx, editCatalog)
	if err != nil {
		return nil, err
	}
	providers, err := s.Service.ListBenefitProviders(ctx, caller)
	if err != nil {
		return nil, err
	}
	for i, p := range providers {
		providers[i] = visible(caller, p)
	}
	return &v1.ListBenefitProvidersResponse{Providers: convert.Messages(providers, providerMessage)}, nil
}

// UpdateBenefitNumbers handles CatalogService.UpdateBenefitNumbers.
func (s *Catalog) UpdateBenefitNumbers(
	ctx context.Context, req *v1.UpdateBenefitNumbersRequest,
) (*v1.UpdateBenefitNumbersResponse, error) {
	provider, err := s.Service.UpdateBenefitNumbers(ctx, request.Caller(ctx), req.ProviderCode, catalog.BenefitNumbers{
		Add: req.Add, Remove: req.Remove, Replace: req.Replace,
	})
	if err != nil {
		return nil, err
	}
	return &v1.UpdateBenefitNumbersResponse{Provider: providerMessage(provider)}, nil
}

// ListBenefitMemberships handles CatalogService.ListBenefitMemberships.
func (s *Catalog) ListBenefitMemberships(
	ctx context.Context, req *v1.ListBenefitMembershipsRequest,
) (*v1.ListBenefitMembershipsResponse, error) {
	page, err := convert.ParsePage[convert.NameCursor](req)
	if err != nil {
		return nil, err
	}
	query := membershipQueryValue(req.GetFilter())
	query.Provider, query.Limit = req.ProviderCode, page.Limit()
	if page.After != nil {
		query.AfterKey, query.AfterMember = page.After.Name, tenant.MemberID{UUID: page.After.ID}
	}
	found, err := s.Service.ListBenefitMemberships(ctx, request.Caller(ctx), query)
	if err != nil {
		return nil, err
	}
	found, next := convert.Paginate(page, found, func(m catalog.ListedMembership) convert.NameCursor {
		return convert.NameCursor{Name: m.Key, ID: m.Member.UUID}
	})
	return &v1.ListBenefitMembershipsResponse{
		Memberships: convert.Messages(found, membershipMessage), NextPageToken: next,
	}, nil
}

// DeleteBenefitMembership handles CatalogService.DeleteBenefitMembership.
func (s *Catalog) DeleteBenefitMembership(
	ctx context.Context, req *v1.DeleteBenefitMembershipRequest,
) (*v1.DeleteBenefitMembershipResponse, error) {
	err := s.Service.DeleteBenefitMembership(
		ctx, request.Caller(ctx), req.ProviderCode, convert.ID[tenant.MemberID](req.MemberId))
	if err != nil {
		return nil, err
	}
	return &v1.DeleteBenefitMembershipResponse{}, nil
}

func providerMessage(p booking.BenefitProvider) *v1.BenefitProvider {
	return &v1.BenefitProvider{
		Code: p.Code, Name: p.Name, NumberPattern: p.Pattern, DiscountPercent: int32(p.Percent), Active: p.Active,
		Verification: convert.Enum[v1.BenefitVerification](
			v1.BenefitVerification_value, verificationPrefix, p.Verification),
		Families: p.Families, NumberCount: int32(p.Numbers), Etag: convert.Etag(p.Version),
	}
}

func providerValue(p *v1.BenefitProviderInput) booking.BenefitProvider {
	return booking.BenefitProvider{
		Name: p.GetName(), Pattern: p.GetNumberPattern(), Percent: int(p.GetDiscountPercent()),
		Active: convert.TrueUnlessSet(p.Active), Verification: verificationValue(p.GetVerification()),
		Families: p.GetFamilies(),
	}
}

const verificationPrefix = "BENEFIT_VERIFICATION_"

func verificationValue(v v1.BenefitVerification) booking.Verification {
	if v == v1.BenefitVerification_BENEFIT_VERIFICATION_UNSPECIFIED {
		return booking.Unverified
	}
	return convert.EnumName[booking.Verification](verificationPrefix, v)
}

func membershipQueryValue(f *v1.BenefitMembershipFilter) catalog.MembershipQuery {
	q := catalog.MembershipQuery{
		Key: booking.BenefitKey(f.GetMembershipNumber()), Member: convert.ID[tenant.MemberID](f.GetMemberId()),
	}
	if f != nil {
		q.Verified = f.Verified
	}
	return q
}

func membershipMessage(m catalog.ListedMembership) *v1.BenefitMembership {
	return &v1.BenefitMembership{
		ProviderCode: m.Provider, MemberId: convert.IDText(m.Member), MemberName: m.MemberName,
		MembershipNumber: m.Number, Verified: m.Verified, CreateTime: convert.Timestamp(m.CreatedAt),
	}
}
