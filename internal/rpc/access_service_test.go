package rpc

import (
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/traffic"
)

func TestAccessRPCs_RejectInvalidRequests(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	owner := s.Token(t, "owner")
	expect.OK(t)(s.call(t, owner, &v1.CreateRoleRequest{Name: "desk"}))
	expect.OK(t)(s.call(t, owner, &v1.AssignRoleRequest{MemberId: convert.IDText(s.Members["coach"]), Role: "desk"}))
	absent := convert.IDText(tenant.New[tenant.MemberID](time.Now()))
	coach := convert.IDText(s.Members["coach"])
	account := func(name string, roles ...string) *v1.CreateServiceAccountRequest {
		return &v1.CreateServiceAccountRequest{ServiceAccount: &v1.ServiceAccountInput{Name: name, Roles: roles}}
	}
	for name, c := range map[string]struct {
		request proto.Message
		want    string
	}{
		"role without a name": {&v1.CreateRoleRequest{Role: &v1.RoleInput{}}, "INVALID_FIELD field=name"},
		"role with a bad name": {
			&v1.CreateRoleRequest{Name: "Front-Desk"}, "INVALID_FIELD field=name",
		},
		"role that is there": {&v1.CreateRoleRequest{Name: "desk"}, "ALREADY_EXISTS field=name"},
		"role that is built in": {
			&v1.CreateRoleRequest{Name: "owner"}, "ALREADY_EXISTS field=name",
		},
		"unknown permission": {
			&v1.CreateRoleRequest{Name: "x", Role: &v1.RoleInput{Permissions: []string{"world.rule"}}},
			"PERMISSION_NOT_FOUND permission=world.rule",
		},
		"null in a title": {
			&v1.CreateRoleRequest{Name: "x", Role: &v1.RoleInput{Title: "\x00"}}, "INVALID_FIELD field=role.title",
		},
		"update of none": {
			&v1.UpdateRoleRequest{Name: "ghost", Role: &v1.RoleInput{}, UpdateMask: mask("title")}, "ROLE_NOT_FOUND",
		},
		"update of built in": {
			&v1.UpdateRoleRequest{Name: "owner", Role: &v1.RoleInput{}, UpdateMask: mask("permissions")}, "ROLE_BUILT_IN",
		},
		"update of a name": {
			&v1.UpdateRoleRequest{Name: "desk", Role: &v1.RoleInput{}, UpdateMask: mask("name")},
			"INVALID_FIELD field=update_mask",
		},
		"update of old": {
			&v1.UpdateRoleRequest{
				Name: "desk", Role: &v1.RoleInput{}, UpdateMask: mask("title"), Etag: "v9",
			}, "ETAG_MISMATCH",
		},
		"delete of none":        {&v1.DeleteRoleRequest{Name: "ghost"}, "ROLE_NOT_FOUND"},
		"delete of held":        {&v1.DeleteRoleRequest{Name: "desk"}, "ROLE_IN_USE holders=1"},
		"delete of built in":    {&v1.DeleteRoleRequest{Name: "partner"}, "ROLE_BUILT_IN"},
		"delete of old":         {&v1.DeleteRoleRequest{Name: "desk", Etag: "v9"}, "ETAG_MISMATCH"},
		"assign to none":        {&v1.AssignRoleRequest{MemberId: absent, Role: "desk"}, "MEMBER_NOT_FOUND"},
		"assign none":           {&v1.AssignRoleRequest{MemberId: coach, Role: "ghost"}, "ROLE_NOT_FOUND"},
		"assign by no id":       {&v1.AssignRoleRequest{MemberId: "1", Role: "desk"}, "INVALID_FIELD field=member_id"},
		"no account":            {&v1.CreateServiceAccountRequest{}, "INVALID_FIELD field=service_account"},
		"account without roles": {account("x"), "INVALID_FIELD field=service_account.roles"},
		"account of no role":    {account("x", "ghost"), "ROLE_NOT_FOUND"},
		"account of an owner":   {account("x", "owner"), "INVALID_FIELD field=service_account.roles"},
		"account without name":  {account("", "desk"), "INVALID_FIELD field=service_account.name"},
		"blank account":         {account(" ", "desk"), "INVALID_FIELD field=service_account.name"},
		"rotate of none": {
			&v1.RotateServiceAccountKeyRequest{ServiceAccountId: absent}, "SERVICE_ACCOUNT_NOT_FOUND",
		},
		"rotate with long overlap": {
			&v1.RotateServiceAccountKeyRequest{ServiceAccountId: absent, Overlap: durationpb.New(8 * 24 * time.Hour)},
			"INVALID_FIELD field=overlap",
		},
		"rotate with negative overlap": {
			&v1.RotateServiceAccountKeyRequest{ServiceAccountId: absent, Overlap: durationpb.New(-time.Second)},
			"INVALID_FIELD field=overlap",
		},
		"exchange of nothing": {&v1.ExchangeKeyRequest{}, "INVALID_FIELD field=key"},
		"exchange of garbage": {&v1.ExchangeKeyRequest{Key: "berth_x"}, "KEY_INVALID"},
		"exchange of much":    {&v1.ExchangeKeyRequest{Key: strings.Repeat("x", 201)}, "INVALID_FIELD field=key"},
		"exchange in no tenant": {
			&v1.ExchangeKeyRequest{TenantId: "x", Key: "y"}, "INVALID_FIELD field=tenant_id",
		},
		"check without a subject": {
			&v1.CheckAccessRequest{Permission: "member.read"}, "INVALID_FIELD field=who",
		},
		"check of nothing": {&v1.CheckAccessRequest{
			Who: &v1.CheckAccessRequest_MemberId{MemberId: coach}, Permission: "world.rule",
		}, "PERMISSION_NOT_FOUND"},
	} {
		refused(t, c.want, test.Sprint(name))(s.call(t, owner, c.request))
	}
}

// Who invents claim links shuts out no one behind the same address: keys and links of the service still work.
func TestPublicRPCs_AnswerWhatWasMadeWhileOthersInvent(t *testing.T) {
	t.Parallel()
	var with Config
	with.Admission.Rates.Addresses = traffic.NewAddresses(traffic.Rate{PerSecond: 0.01, Burst: 5}, nil, time.Now)
	s := startTestServer(t, with)
	owner := tenant.Caller{Tenant: s.Tenant, Member: s.Members["owner"], Subject: "owner"}
	_, key, err := s.App.Accounts.CreateServiceAccount(t.Context(), owner, grant.ServiceAccount{
		Name: "Robot", Roles: []string{tenant.RolePartner},
	})
	must.NoError(t, err)
	claims := berthv1connect.NewWaitlistServiceClient(s.Client, s.URL)
	exchange := func(key string) error {
		_, err := berthv1connect.NewAccessServiceClient(s.Client, s.URL).
			ExchangeKey(t.Context(), connect.NewRequest(&v1.ExchangeKeyRequest{Key: key}))
		return err
	}
	var last error
	for range 6 {
		_, last = claims.GetWaitlistClaim(
			t.Context(), connect.NewRequest(&v1.GetWaitlistClaimRequest{Token: strings.Repeat("A", 43)}),
		)
	}
	test.EqOp(t, connect.CodeResourceExhausted, connect.CodeOf(last))
	for range 10 {
		test.NoError(t, exchange(key))
	}
	for i := range len(key) {
		if changed := []byte(key); i >= len("berth_") {
			changed[i] = map[bool]byte{true: '1', false: '0'}[key[i] == '0']
			test.EqOp(t, connect.CodeResourceExhausted, connect.CodeOf(exchange(string(changed))), test.Sprint(i))
		}
	}
	test.NoError(t, exchange(key))
}
