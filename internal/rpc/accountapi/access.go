package accountapi

import (
	"context"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/policy"
)

// ListPermissions handles AccessService.ListPermissions.
func (s *Accounts) ListPermissions(context.Context, *v1.ListPermissionsRequest) (*v1.ListPermissionsResponse, error) {
	return &v1.ListPermissionsResponse{Permissions: convert.Messages(policy.Permissions(), permissionMessage)}, nil
}

// GetRole handles AccessService.GetRole.
func (s *Accounts) GetRole(ctx context.Context, req *v1.GetRoleRequest) (*v1.GetRoleResponse, error) {
	found, err := s.Service.GetRole(ctx, request.Caller(ctx), req.GetName())
	if err != nil {
		return nil, err
	}
	return &v1.GetRoleResponse{Role: roleMessage(found)}, nil
}

// ListRoles handles AccessService.ListRoles.
func (s *Accounts) ListRoles(ctx context.Context, req *v1.ListRolesRequest) (*v1.ListRolesResponse, error) {
	page, err := convert.ParsePage[string](req)
	if err != nil {
		return nil, err
	}
	search := grant.RoleSearch{Permission: req.GetFilter().GetPermission(), Limit: page.Limit()}
	if filter := req.GetFilter(); filter != nil {
		search.BuiltIn = filter.BuiltIn
	}
	if page.After != nil {
		search.After = *page.After
	}
	roles, err := s.Service.ListRoles(ctx, request.Caller(ctx), search)
	if err != nil {
		return nil, err
	}
	roles, next := convert.Paginate(page, roles, func(r grant.Role) string { return r.Name })
	return &v1.ListRolesResponse{Roles: convert.Messages(roles, roleMessage), NextPageToken: next}, nil
}

// CreateRole handles AccessService.CreateRole.
func (s *Accounts) CreateRole(ctx context.Context, req *v1.CreateRoleRequest) (*v1.CreateRoleResponse, error) {
	r, err := s.Service.CreateRole(ctx, request.Caller(ctx), roleValue(req.GetName(), req.GetRole()))
	if err != nil {
		return nil, err
	}
	return &v1.CreateRoleResponse{Role: roleMessage(r)}, nil
}

// UpdateRole handles AccessService.UpdateRole.
func (s *Accounts) UpdateRole(ctx context.Context, req *v1.UpdateRoleRequest) (*v1.UpdateRoleResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	r, err := s.Service.UpdateRole(
		ctx, request.Caller(ctx), req.GetName(), expect, editRole(req.GetRole(), req.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return &v1.UpdateRoleResponse{Role: roleMessage(r)}, nil
}

// DeleteRole handles AccessService.DeleteRole.
func (s *Accounts) DeleteRole(ctx context.Context, req *v1.DeleteRoleRequest) (*v1.DeleteRoleResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	if err := s.Service.DeleteRole(ctx, request.Caller(ctx), req.GetName(), expect); err != nil {
		return nil, err
	}
	return &v1.DeleteRoleResponse{}, nil
}

// AssignRole handles AccessService.AssignRole.
func (s *Accounts) AssignRole(ctx context.Context, req *v1.AssignRoleRequest) (*v1.AssignRoleResponse, error) {
	roles, err := s.Service.AssignRole(
		ctx, request.Caller(ctx), convert.ID[tenant.MemberID](req.GetMemberId()), req.GetRole(),
	)
	if err != nil {
		return nil, err
	}
	return &v1.AssignRoleResponse{Roles: roles}, nil
}

// RevokeRole handles AccessService.RevokeRole.
func (s *Accounts) RevokeRole(ctx context.Context, req *v1.RevokeRoleRequest) (*v1.RevokeRoleResponse, error) {
	left, err := s.Service.RevokeRole(
		ctx, request.Caller(ctx), convert.ID[tenant.MemberID](req.GetMemberId()), req.GetRole(),
	)
	if err != nil {
		return nil, err
	}
	return &v1.RevokeRoleResponse{
		Roles: left.Roles, SessionsWithoutCoach: withoutCoachMessage(left.WithoutCoach),
	}, nil
}

// CheckAccess handles AccessService.CheckAccess.
func (s *Accounts) CheckAccess(ctx context.Context, req *v1.CheckAccessRequest) (*v1.CheckAccessResponse, error) {
	access, err := s.Service.CheckAccess(
		ctx, request.Caller(ctx), s.Guard, accessSubject(req), req.GetPermission(),
	)
	if err != nil {
		return nil, err
	}
	return &v1.CheckAccessResponse{
		Allowed: access.Allowed, ThroughRoles: access.Through, GrantingRoles: access.Giving, Active: access.Active,
	}, nil
}

// CreateServiceAccount handles AccessService.CreateServiceAccount.
func (s *Accounts) CreateServiceAccount(
	ctx context.Context, req *v1.CreateServiceAccountRequest,
) (*v1.CreateServiceAccountResponse, error) {
	a, key, err := s.Service.CreateServiceAccount(
		ctx, request.Caller(ctx), serviceAccountValue(req.GetServiceAccount()),
	)
	if err != nil {
		return nil, err
	}
	return &v1.CreateServiceAccountResponse{ServiceAccount: serviceAccountMessage(a), Key: key}, nil
}

// GetServiceAccount handles AccessService.GetServiceAccount.
func (s *Accounts) GetServiceAccount(
	ctx context.Context, req *v1.GetServiceAccountRequest,
) (*v1.GetServiceAccountResponse, error) {
	found, err := s.Service.GetServiceAccount(
		ctx, request.Caller(ctx), convert.ID[tenant.ServiceAccountID](req.ServiceAccountId),
	)
	if err != nil {
		return nil, err
	}
	return &v1.GetServiceAccountResponse{ServiceAccount: serviceAccountMessage(found)}, nil
}

// ListServiceAccounts handles AccessService.ListServiceAccounts.
func (s *Accounts) ListServiceAccounts(
	ctx context.Context, req *v1.ListServiceAccountsRequest,
) (*v1.ListServiceAccountsResponse, error) {
	page, err := convert.ParsePage[grant.ServiceAccountCursor](req)
	if err != nil {
		return nil, err
	}
	search := serviceAccountSearch(req.GetFilter())
	search.After, search.Limit = page.After, page.Limit()
	accounts, err := s.Service.ListServiceAccounts(ctx, request.Caller(ctx), search)
	if err != nil {
		return nil, err
	}
	accounts, next := convert.Paginate(page, accounts, func(a grant.ServiceAccount) grant.ServiceAccountCursor {
		return grant.ServiceAccountCursor{Name: a.Name, ID: a.ID}
	})
	return &v1.ListServiceAccountsResponse{
		ServiceAccounts: convert.Messages(accounts, serviceAccountMessage), NextPageToken: next,
	}, nil
}

// RotateServiceAccountKey handles AccessService.RotateServiceAccountKey.
func (s *Accounts) RotateServiceAccountKey(
	ctx context.Context, req *v1.RotateServiceAccountKeyRequest,
) (*v1.RotateServiceAccountKeyResponse, error) {
	a, key, err := s.Service.RotateServiceAccountKey(
		ctx, request.Caller(ctx), convert.ID[tenant.ServiceAccountID](req.GetServiceAccountId()),
		convert.DurationValue(req.GetOverlap()),
	)
	if err != nil {
		return nil, err
	}
	return &v1.RotateServiceAccountKeyResponse{ServiceAccount: serviceAccountMessage(a), Key: key}, nil
}

// RevokeServiceAccount handles AccessService.RevokeServiceAccount.
func (s *Accounts) RevokeServiceAccount(
	ctx context.Context, req *v1.RevokeServiceAccountRequest,
) (*v1.RevokeServiceAccountResponse, error) {
	a, err := s.Service.RevokeServiceAccount(
		ctx, request.Caller(ctx), convert.ID[tenant.ServiceAccountID](req.GetServiceAccountId()),
	)
	if err != nil {
		return nil, err
	}
	return &v1.RevokeServiceAccountResponse{ServiceAccount: serviceAccountMessage(a)}, nil
}

// ExchangeKey handles AccessService.ExchangeKey.
func (s *Accounts) ExchangeKey(ctx context.Context, req *v1.ExchangeKeyRequest) (*v1.ExchangeKeyResponse, error) {
	exchanged, err := s.Service.ExchangeKey(
		ctx, s.Issuer, convert.ID[tenant.TenantID](req.GetTenantId()), req.GetKey(),
	)
	if err != nil {
		return nil, err
	}
	return &v1.ExchangeKeyResponse{
		AccessToken: exchanged.Token, ExpiresIn: convert.DurationMessage(exchanged.ExpiresIn),
		TenantId: convert.IDText(exchanged.Tenant),
	}, nil
}
