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

func (s *Accounts) ListPermissions(
	context.Context, *connect.Request[v1.ListPermissionsRequest],
) (*connect.Response[v1.ListPermissionsResponse], error) {
	return convert.Reply(&v1.ListPermissionsResponse{
		Permissions: convert.Messages(policy.Permissions(), permissionMessage),
	})
}

func (s *Accounts) ListRoles(
	ctx context.Context, req *connect.Request[v1.ListRolesRequest],
) (*connect.Response[v1.ListRolesResponse], error) {
	page, err := convert.OpenPage[string](req.Msg)
	if err != nil {
		return nil, err
	}
	search := grant.RoleSearch{Limit: page.Size + 1}
	if page.After != nil {
		search.After = *page.After
	}
	roles, err := s.Accounts.ListRoles(ctx, request.Caller(ctx), search)
	if err != nil {
		return nil, err
	}
	roles, next, err := convert.Cut(page, roles, func(r grant.Role) string { return r.Name })
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.ListRolesResponse{Roles: convert.Messages(roles, roleMessage), NextPageToken: next})
}

func (s *Accounts) CreateRole(
	ctx context.Context, req *connect.Request[v1.CreateRoleRequest],
) (*connect.Response[v1.CreateRoleResponse], error) {
	r, err := s.Accounts.CreateRole(ctx, request.Caller(ctx), roleValue(req.Msg.GetRole()))
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.CreateRoleResponse{Role: roleMessage(r)})
}

func (s *Accounts) UpdateRole(
	ctx context.Context, req *connect.Request[v1.UpdateRoleRequest],
) (*connect.Response[v1.UpdateRoleResponse], error) {
	sent := req.Msg.GetRole()
	expect, err := convert.Expected(sent.GetEtag())
	if err != nil {
		return nil, err
	}
	r, err := s.Accounts.UpdateRole(
		ctx, request.Caller(ctx), sent.GetName(), expect, editRole(sent, req.Msg.GetUpdateMask().GetPaths()),
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.UpdateRoleResponse{Role: roleMessage(r)})
}

func (s *Accounts) DeleteRole(
	ctx context.Context, req *connect.Request[v1.DeleteRoleRequest],
) (*connect.Response[v1.DeleteRoleResponse], error) {
	expect, err := convert.Expected(req.Msg.GetEtag())
	if err != nil {
		return nil, err
	}
	if err := s.Accounts.DeleteRole(ctx, request.Caller(ctx), req.Msg.GetRole(), expect); err != nil {
		return nil, err
	}
	return convert.Reply(&v1.DeleteRoleResponse{})
}

func (s *Accounts) AssignRole(
	ctx context.Context, req *connect.Request[v1.AssignRoleRequest],
) (*connect.Response[v1.AssignRoleResponse], error) {
	roles, err := s.Accounts.AssignRole(
		ctx, request.Caller(ctx), convert.ID[tenant.MemberID](req.Msg.GetMemberId()), req.Msg.GetRole(),
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.AssignRoleResponse{Roles: roles})
}

func (s *Accounts) RevokeRole(
	ctx context.Context, req *connect.Request[v1.RevokeRoleRequest],
) (*connect.Response[v1.RevokeRoleResponse], error) {
	roles, err := s.Accounts.RevokeRole(
		ctx, request.Caller(ctx), convert.ID[tenant.MemberID](req.Msg.GetMemberId()), req.Msg.GetRole(),
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.RevokeRoleResponse{Roles: roles})
}

func (s *Accounts) CheckAccess(
	ctx context.Context, req *connect.Request[v1.CheckAccessRequest],
) (*connect.Response[v1.CheckAccessResponse], error) {
	answer, err := s.Accounts.CheckAccess(ctx, request.Caller(ctx), s.Guard, who(req.Msg), req.Msg.GetPermission())
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.CheckAccessResponse{
		Allowed: answer.Allowed, ThroughRoles: answer.Through, GrantingRoles: answer.Giving, Active: answer.Active,
	})
}

func (s *Accounts) CreateServiceAccount(
	ctx context.Context, req *connect.Request[v1.CreateServiceAccountRequest],
) (*connect.Response[v1.CreateServiceAccountResponse], error) {
	a, key, err := s.Accounts.CreateServiceAccount(ctx, request.Caller(ctx), grant.ServiceAccount{
		Name: req.Msg.GetName(), Description: req.Msg.GetDescription(), Roles: req.Msg.GetRoles(),
	})
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.CreateServiceAccountResponse{ServiceAccount: accountMessage(a), Key: key})
}

func (s *Accounts) ListServiceAccounts(
	ctx context.Context, req *connect.Request[v1.ListServiceAccountsRequest],
) (*connect.Response[v1.ListServiceAccountsResponse], error) {
	page, err := convert.OpenPage[grant.ServiceAccountCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	accounts, err := s.Accounts.ListServiceAccounts(ctx, request.Caller(ctx), grant.ServiceAccountSearch{
		Revoked: req.Msg.GetIncludeRevoked(), After: page.After, Limit: page.Size + 1,
	})
	if err != nil {
		return nil, err
	}
	accounts, next, err := convert.Cut(page, accounts, func(a grant.ServiceAccount) grant.ServiceAccountCursor {
		return grant.ServiceAccountCursor{Name: a.Name, ID: a.ID}
	})
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.ListServiceAccountsResponse{
		ServiceAccounts: convert.Messages(accounts, accountMessage), NextPageToken: next,
	})
}

func (s *Accounts) RotateServiceAccountKey(
	ctx context.Context, req *connect.Request[v1.RotateServiceAccountKeyRequest],
) (*connect.Response[v1.RotateServiceAccountKeyResponse], error) {
	a, key, err := s.Accounts.RotateServiceAccountKey(
		ctx, request.Caller(ctx), convert.ID[tenant.ServiceAccountID](req.Msg.GetServiceAccountId()),
		convert.Span(req.Msg.GetOverlap()),
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.RotateServiceAccountKeyResponse{ServiceAccount: accountMessage(a), Key: key})
}

func (s *Accounts) RevokeServiceAccount(
	ctx context.Context, req *connect.Request[v1.RevokeServiceAccountRequest],
) (*connect.Response[v1.RevokeServiceAccountResponse], error) {
	a, err := s.Accounts.RevokeServiceAccount(
		ctx, request.Caller(ctx), convert.ID[tenant.ServiceAccountID](req.Msg.GetServiceAccountId()),
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.RevokeServiceAccountResponse{ServiceAccount: accountMessage(a)})
}

func (s *Accounts) ExchangeKey(
	ctx context.Context, req *connect.Request[v1.ExchangeKeyRequest],
) (*connect.Response[v1.ExchangeKeyResponse], error) {
	got, err := s.Accounts.ExchangeKey(ctx, s.Issuer, convert.ID[tenant.TenantID](req.Msg.GetTenantId()), req.Msg.GetKey())
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.ExchangeKeyResponse{
		AccessToken: got.Token, ExpiresIn: convert.Duration(got.ExpiresIn), TenantId: convert.IDText(got.Tenant),
	})
}
