package rpc

import (
	"context"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
	"github.com/berthhq/berth/policy"
)

// accessService serves berth.v1.AccessService.
type accessService struct {
	app    *app.App
	guard  *access.Guard
	issuer *token.Issuer
}

func (s *accessService) ListPermissions(context.Context, *connect.Request[v1.ListPermissionsRequest]) (*connect.Response[v1.ListPermissionsResponse], error) {
	return reply(&v1.ListPermissionsResponse{Permissions: messages(policy.Permissions(), permissionMessage)})
}

func (s *accessService) ListRoles(ctx context.Context, req *connect.Request[v1.ListRolesRequest]) (*connect.Response[v1.ListRolesResponse], error) {
	page, err := openPage[string](req.Msg)
	if err != nil {
		return nil, err
	}
	search := grant.Search{Limit: page.Size + 1}
	if page.After != nil {
		search.After = *page.After
	}
	roles, err := s.app.Accounts.ListRoles(ctx, caller(ctx), search)
	if err != nil {
		return nil, err
	}
	roles, next, err := cut(page, roles, func(r grant.Role) string { return r.Name })
	if err != nil {
		return nil, err
	}
	return reply(&v1.ListRolesResponse{Roles: messages(roles, roleMessage), NextPageToken: next})
}

func (s *accessService) CreateRole(ctx context.Context, req *connect.Request[v1.CreateRoleRequest]) (*connect.Response[v1.CreateRoleResponse], error) {
	r, err := s.app.Accounts.CreateRole(ctx, caller(ctx), roleValue(req.Msg.GetRole()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.CreateRoleResponse{Role: roleMessage(r)})
}

func (s *accessService) UpdateRole(ctx context.Context, req *connect.Request[v1.UpdateRoleRequest]) (*connect.Response[v1.UpdateRoleResponse], error) {
	sent := req.Msg.GetRole()
	expect, err := expected(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	r, err := s.app.Accounts.UpdateRole(ctx, caller(ctx), sent.GetName(), expect, editRole(sent, req.Msg.GetUpdateMask().GetPaths()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.UpdateRoleResponse{Role: roleMessage(r)})
}

func (s *accessService) DeleteRole(ctx context.Context, req *connect.Request[v1.DeleteRoleRequest]) (*connect.Response[v1.DeleteRoleResponse], error) {
	expect, err := expected(req.Msg.GetEtag())
	if err != nil {
		return nil, err
	}
	if err := s.app.Accounts.DeleteRole(ctx, caller(ctx), req.Msg.GetRole(), expect); err != nil {
		return nil, err
	}
	return reply(&v1.DeleteRoleResponse{})
}

func (s *accessService) AssignRole(ctx context.Context, req *connect.Request[v1.AssignRoleRequest]) (*connect.Response[v1.AssignRoleResponse], error) {
	roles, err := s.app.Accounts.AssignRole(ctx, caller(ctx), id[tenant.MemberID](req.Msg.GetMemberId()), req.Msg.GetRole())
	if err != nil {
		return nil, err
	}
	return reply(&v1.AssignRoleResponse{Roles: roles})
}

func (s *accessService) RevokeRole(ctx context.Context, req *connect.Request[v1.RevokeRoleRequest]) (*connect.Response[v1.RevokeRoleResponse], error) {
	roles, err := s.app.Accounts.RevokeRole(ctx, caller(ctx), id[tenant.MemberID](req.Msg.GetMemberId()), req.Msg.GetRole())
	if err != nil {
		return nil, err
	}
	return reply(&v1.RevokeRoleResponse{Roles: roles})
}

func (s *accessService) CheckAccess(ctx context.Context, req *connect.Request[v1.CheckAccessRequest]) (*connect.Response[v1.CheckAccessResponse], error) {
	answer, err := s.app.Accounts.CheckAccess(ctx, caller(ctx), s.guard, who(req.Msg), req.Msg.GetPermission())
	if err != nil {
		return nil, err
	}
	return reply(&v1.CheckAccessResponse{
		Allowed: answer.Allowed, ThroughRoles: answer.Through, GrantingRoles: answer.Giving, Active: answer.Active,
	})
}

func (s *accessService) CreateServiceAccount(ctx context.Context, req *connect.Request[v1.CreateServiceAccountRequest]) (*connect.Response[v1.CreateServiceAccountResponse], error) {
	a, key, err := s.app.Accounts.CreateServiceAccount(ctx, caller(ctx), grant.Account{
		Name: req.Msg.GetName(), Description: req.Msg.GetDescription(), Roles: req.Msg.GetRoles(),
	})
	if err != nil {
		return nil, err
	}
	return reply(&v1.CreateServiceAccountResponse{ServiceAccount: accountMessage(a), Key: key})
}

func (s *accessService) ListServiceAccounts(ctx context.Context, req *connect.Request[v1.ListServiceAccountsRequest]) (*connect.Response[v1.ListServiceAccountsResponse], error) {
	page, err := openPage[grant.AccountPosition](req.Msg)
	if err != nil {
		return nil, err
	}
	accounts, err := s.app.Accounts.ListServiceAccounts(ctx, caller(ctx), grant.AccountSearch{
		Revoked: req.Msg.GetIncludeRevoked(), After: page.After, Limit: page.Size + 1,
	})
	if err != nil {
		return nil, err
	}
	accounts, next, err := cut(page, accounts, func(a grant.Account) grant.AccountPosition {
		return grant.AccountPosition{Name: a.Name, ID: a.ID}
	})
	if err != nil {
		return nil, err
	}
	return reply(&v1.ListServiceAccountsResponse{ServiceAccounts: messages(accounts, accountMessage), NextPageToken: next})
}

func (s *accessService) RotateServiceAccountKey(ctx context.Context, req *connect.Request[v1.RotateServiceAccountKeyRequest]) (*connect.Response[v1.RotateServiceAccountKeyResponse], error) {
	a, key, err := s.app.Accounts.RotateServiceAccountKey(ctx, caller(ctx), id[tenant.ServiceAccountID](req.Msg.GetServiceAccountId()), span(req.Msg.GetOverlap()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.RotateServiceAccountKeyResponse{ServiceAccount: accountMessage(a), Key: key})
}

func (s *accessService) RevokeServiceAccount(ctx context.Context, req *connect.Request[v1.RevokeServiceAccountRequest]) (*connect.Response[v1.RevokeServiceAccountResponse], error) {
	a, err := s.app.Accounts.RevokeServiceAccount(ctx, caller(ctx), id[tenant.ServiceAccountID](req.Msg.GetServiceAccountId()))
	if err != nil {
		return nil, err
	}
	return reply(&v1.RevokeServiceAccountResponse{ServiceAccount: accountMessage(a)})
}

func (s *accessService) ExchangeKey(ctx context.Context, req *connect.Request[v1.ExchangeKeyRequest]) (*connect.Response[v1.ExchangeKeyResponse], error) {
	got, err := s.app.Accounts.ExchangeKey(ctx, s.issuer, id[tenant.TenantID](req.Msg.GetTenantId()), req.Msg.GetKey())
	if err != nil {
		return nil, err
	}
	return reply(&v1.ExchangeKeyResponse{AccessToken: got.Token, ExpiresIn: duration(got.ExpiresIn), TenantId: idText(got.Tenant)})
}
