package accountapi

import (
	"context"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/policy"
)

// ListPermissions handles AccessService.ListPermissions.
func (s *Accounts) ListPermissions(
	context.Context, *connect.Request[v1.ListPermissionsRequest],
) (*connect.Response[v1.ListPermissionsResponse], error) {
	return convert.Response(&v1.ListPermissionsResponse{
		Permissions: convert.Messages(policy.Permissions(), permissionMessage),
	})
}

// ListRoles handles AccessService.ListRoles.
func (s *Accounts) ListRoles(
	ctx context.Context, req *connect.Request[v1.ListRolesRequest],
) (*connect.Response[v1.ListRolesResponse], error) {
	page, err := convert.ParsePage[string](req.Msg)
	if err != nil {
		return nil, err
	}
	search := grant.RoleSearch{Limit: page.Size + 1}
	if page.After != nil {
		search.After = *page.After
	}
	roles, err := s.Service.ListRoles(ctx, request.Caller(ctx), search)
	if err != nil {
		return nil, err
	}
	roles, next, err := convert.Paginate(page, roles, func(r grant.Role) string { return r.Name })
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.ListRolesResponse{Roles: convert.Messages(roles, roleMessage), NextPageToken: next})
}

// CreateRole handles AccessService.CreateRole.
func (s *Accounts) CreateRole(
	ctx context.Context, req *connect.Request[v1.CreateRoleRequest],
) (*connect.Response[v1.CreateRoleResponse], error) {
	r, err := s.Service.CreateRole(ctx, request.Caller(ctx), roleValue(req.Msg.GetRole()))
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.CreateRoleResponse{Role: roleMessage(r)})
}

// UpdateRole handles AccessService.UpdateRole.
func (s *Accounts) UpdateRole(
	ctx context.Context, req *connect.Request[v1.UpdateRoleRequest],
) (*connect.Response[v1.UpdateRoleResponse], error) {
	sent := req.Msg.GetRole()
	expect, err := convert.ExpectedVersion(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	r, err := s.Service.UpdateRole(
		ctx, request.Caller(ctx), sent.GetName(), expect, editRole(sent, req.Msg.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.UpdateRoleResponse{Role: roleMessage(r)})
}

// DeleteRole handles AccessService.DeleteRole.
func (s *Accounts) DeleteRole(
	ctx context.Context, req *connect.Request[v1.DeleteRoleRequest],
) (*connect.Response[v1.DeleteRoleResponse], error) {
	expect, err := convert.ExpectedVersion(req.Msg.GetEtag())
	if err != nil {
		return nil, err
	}
	if err := s.Service.DeleteRole(ctx, request.Caller(ctx), req.Msg.GetRole(), expect); err != nil {
		return nil, err
	}
	return convert.Response(&v1.DeleteRoleResponse{})
}

// AssignRole handles AccessService.AssignRole.
func (s *Accounts) AssignRole(
	ctx context.Context, req *connect.Request[v1.AssignRoleRequest],
) (*connect.Response[v1.AssignRoleResponse], error) {
	roles, err := s.Service.AssignRole(
		ctx, request.Caller(ctx), convert.ID[tenant.MemberID](req.Msg.GetMemberId()), req.Msg.GetRole(),
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.AssignRoleResponse{Roles: roles})
}

// RevokeRole handles AccessService.RevokeRole.
func (s *Accounts) RevokeRole(
	ctx context.Context, req *connect.Request[v1.RevokeRoleRequest],
) (*connect.Response[v1.RevokeRoleResponse], error) {
	roles, err := s.Service.RevokeRole(
		ctx, request.Caller(ctx), convert.ID[tenant.MemberID](req.Msg.GetMemberId()), req.Msg.GetRole(),
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.RevokeRoleResponse{Roles: roles})
}

// CheckAccess handles AccessService.CheckAccess.
func (s *Accounts) CheckAccess(
	ctx context.Context, req *connect.Request[v1.CheckAccessRequest],
) (*connect.Response[v1.CheckAccessResponse], error) {
	access, err := s.Service.CheckAccess(
		ctx, request.Caller(ctx), s.Guard, accessSubject(req.Msg), req.Msg.GetPermission(),
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.CheckAccessResponse{
		Allowed: access.Allowed, ThroughRoles: access.Through, GrantingRoles: access.Giving, Active: access.Active,
	})
}

// CreateServiceAccount handles AccessService.CreateServiceAccount.
func (s *Accounts) CreateServiceAccount(
	ctx context.Context, req *connect.Request[v1.CreateServiceAccountRequest],
) (*connect.Response[v1.CreateServiceAccountResponse], error) {
	a, key, err := s.Service.CreateServiceAccount(ctx, request.Caller(ctx), grant.ServiceAccount{
		Name: req.Msg.GetName(), Description: req.Msg.GetDescription(), Roles: req.Msg.GetRoles(),
	})
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.CreateServiceAccountResponse{ServiceAccount: serviceAccountMessage(a), Key: key})
}

// ListServiceAccounts handles AccessService.ListServiceAccounts.
func (s *Accounts) ListServiceAccounts(
	ctx context.Context, req *connect.Request[v1.ListServiceAccountsRequest],
) (*connect.Response[v1.ListServiceAccountsResponse], error) {
	page, err := convert.ParsePage[grant.ServiceAccountCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	accounts, err := s.Service.ListServiceAccounts(ctx, request.Caller(ctx), grant.ServiceAccountSearch{
		Revoked: req.Msg.GetIncludeRevoked(), After: page.After, Limit: page.Size + 1,
	})
	if err != nil {
		return nil, err
	}
	accounts, next, err := convert.Paginate(page, accounts, func(a grant.ServiceAccount) grant.ServiceAccountCursor {
		return grant.ServiceAccountCursor{Name: a.Name, ID: a.ID}
	})
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.ListServiceAccountsResponse{
		ServiceAccounts: convert.Messages(accounts, serviceAccountMessage), NextPageToken: next,
	})
}

// RotateServiceAccountKey handles AccessService.RotateServiceAccountKey.
func (s *Accounts) RotateServiceAccountKey(
	ctx context.Context, req *connect.Request[v1.RotateServiceAccountKeyRequest],
) (*connect.Response[v1.RotateServiceAccountKeyResponse], error) {
	a, key, err := s.Service.RotateServiceAccountKey(
		ctx, request.Caller(ctx), convert.ID[tenant.ServiceAccountID](req.Msg.GetServiceAccountId()),
		convert.DurationValue(req.Msg.GetOverlap()),
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.RotateServiceAccountKeyResponse{ServiceAccount: serviceAccountMessage(a), Key: key})
}

// RevokeServiceAccount handles AccessService.RevokeServiceAccount.
func (s *Accounts) RevokeServiceAccount(
	ctx context.Context, req *connect.Request[v1.RevokeServiceAccountRequest],
) (*connect.Response[v1.RevokeServiceAccountResponse], error) {
	a, err := s.Service.RevokeServiceAccount(
		ctx, request.Caller(ctx), convert.ID[tenant.ServiceAccountID](req.Msg.GetServiceAccountId()),
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.RevokeServiceAccountResponse{ServiceAccount: serviceAccountMessage(a)})
}

// ExchangeKey handles AccessService.ExchangeKey.
func (s *Accounts) ExchangeKey(
	ctx context.Context, req *connect.Request[v1.ExchangeKeyRequest],
) (*connect.Response[v1.ExchangeKeyResponse], error) {
	exchanged, err := s.Service.ExchangeKey(
		ctx, s.Issuer, convert.ID[tenant.TenantID](req.Msg.GetTenantId()), req.Msg.GetKey(),
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.ExchangeKeyResponse{
		AccessToken: exchanged.Token, ExpiresIn: convert.DurationMessage(exchanged.ExpiresIn),
		TenantId: convert.IDText(exchanged.Tenant),
	})
}
