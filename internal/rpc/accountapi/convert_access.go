package accountapi

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/policy"
)

const accountStatusPrefix = "SERVICE_ACCOUNT_STATUS_"

func permissionMessage(p policy.Permission) *v1.Permission {
	return &v1.Permission{Name: p.Name, Description: p.Description, DefaultRoles: p.Roles}
}

func roleMessage(r grant.Role) *v1.Role {
	return &v1.Role{
		Name:        r.Name,
		Title:       r.Title,
		Description: r.Description,
		Permissions: r.Permissions,
		BuiltIn:     r.BuiltIn,
		Holders:     int32(r.Holders),
		Etag:        convert.Etag(r.Version),
		CreateTime:  convert.Timestamp(r.CreatedAt),
		UpdateTime:  convert.Timestamp(r.UpdatedAt),
	}
}

func roleValue(name string, r *v1.RoleInput) grant.Role {
	return grant.Role{
		Name: name, Title: r.GetTitle(), Description: r.GetDescription(), Permissions: r.GetPermissions(),
	}
}

// editRole returns an edit that applies the fields named by an update mask.
func editRole(sent *v1.RoleInput, paths []string) func(*grant.Role) error {
	return func(r *grant.Role) error {
		from := roleValue(r.Name, sent)
		convert.Fields{
			"title":       convert.Field(&r.Title, from.Title),
			"description": convert.Field(&r.Description, from.Description),
			"permissions": convert.Field(&r.Permissions, from.Permissions),
		}.Set(paths)
		return nil
	}
}

func serviceAccountMessage(a grant.ServiceAccount) *v1.ServiceAccount {
	return &v1.ServiceAccount{
		Id:          convert.IDText(a.ID),
		Name:        a.Name,
		Description: a.Description,
		Roles:       a.Roles,
		Status: convert.Enum[v1.ServiceAccountStatus](
			v1.ServiceAccountStatus_value, accountStatusPrefix, a.Status(),
		),
		Keys:       convert.Messages(a.Keys, serviceAccountKeyMessage),
		RevokeTime: convert.Timestamp(a.RevokedAt),
		CreateTime: convert.Timestamp(a.CreatedAt),
	}
}

func serviceAccountValue(m *v1.ServiceAccountInput) grant.ServiceAccount {
	return grant.ServiceAccount{Name: m.GetName(), Description: m.GetDescription(), Roles: m.GetRoles()}
}

func serviceAccountSearch(filter *v1.ServiceAccountFilter) grant.ServiceAccountSearch {
	search := grant.ServiceAccountSearch{Role: filter.GetRole()}
	for _, status := range filter.GetStatuses() {
		search.Statuses = append(
			search.Statuses, convert.EnumName[grant.AccountStatus](accountStatusPrefix, status),
		)
	}
	return search
}

func serviceAccountKeyMessage(k grant.Key) *v1.ServiceAccountKey {
	return &v1.ServiceAccountKey{
		Id:           convert.IDText(k.ID),
		Prefix:       k.Prefix(),
		CreateTime:   convert.Timestamp(k.CreatedAt),
		ExpireTime:   convert.Timestamp(k.ExpiresAt),
		LastUsedTime: convert.Timestamp(k.UsedAt),
	}
}

func accessSubject(r *v1.CheckAccessRequest) accounts.AccessSubject {
	return accounts.AccessSubject{
		Member:  convert.ID[tenant.MemberID](r.GetMemberId()),
		Subject: r.GetSubject(),
		Account: convert.ID[tenant.ServiceAccountID](r.GetServiceAccountId()),
	}
}

func transferMessage(t grant.Transfer) *v1.OwnershipTransfer {
	return &v1.OwnershipTransfer{
		Id:           convert.IDText(t.ID),
		FromMemberId: convert.IDText(t.From.Member),
		FromName:     t.From.Name,
		ToMemberId:   convert.IDText(t.To.Member),
		ToName:       t.To.Name,
		CreateTime:   convert.Timestamp(t.CreatedAt),
		ExpireTime:   convert.Timestamp(t.ExpiresAt),
	}
}

// withoutCoachMessage returns nil if there are none.
func withoutCoachMessage(w session.LedSessions) *v1.SessionsWithoutCoach {
	if w.Count == 0 {
		return nil
	}
	return &v1.SessionsWithoutCoach{
		Count: int32(w.Count), Sessions: convert.Messages(w.Sessions, convert.SessionSummaryMessage),
	}
}
