package rpc

import (
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/policy"
)

// accessTest is a test server with a client of its AccessService.
type accessTest struct {
	*testServer
	berthv1connect.AccessServiceClient
}

func newAccessTest(t *testing.T) *accessTest {
	t.Helper()
	s := newTestServer(t)
	return &accessTest{s, berthv1connect.NewAccessServiceClient(s.Client, s.URL)}
}

func TestListPermissions_GroupsBySubject(t *testing.T) {
	t.Parallel()
	s := newAccessTest(t)
	response := expect.Value(s.ListPermissions(t.Context(), as(s.Token(t, "coach"), &v1.ListPermissionsRequest{})))(t)
	must.EqOp(t, len(policy.Permissions()), len(response.Msg.GetPermissions()), must.Sprintf("%v", response))
	var subjects []string
	for _, p := range response.Msg.GetPermissions() {
		subject, _, _ := strings.Cut(p.GetName(), ".")
		if len(subjects) == 0 || subjects[len(subjects)-1] != subject {
			test.False(t, slices.Contains(subjects, subject), test.Sprintf("%s is not in one group", subject))
			subjects = append(subjects, subject)
		}
		test.True(t, p.GetDescription() != "" && len(p.GetDefaultRoles()) != 0, test.Sprintf("%v", p))
	}
}

func TestRoles_CreateAssignUpdateAndDelete(t *testing.T) {
	t.Parallel()
	s := newAccessTest(t)
	owner := s.Token(t, "owner")
	created := expect.Value(s.CreateRole(t.Context(), as(owner, &v1.CreateRoleRequest{Role: &v1.Role{
		Name: "front_desk", Title: "Front desk", Description: "Answers.",
		Permissions: []string{"member.write", "member.read"},
		BuiltIn:     true, Holders: 7,
	}})))(t)
	want := &v1.Role{
		Name: "front_desk", Title: "Front desk", Description: "Answers.",
		Permissions: []string{"member.read", "member.write"}, Etag: "v1",
	}
	times := protocmp.IgnoreFields(&v1.Role{}, "create_time", "update_time")
	test.Eq(t, want, created.Msg.GetRole(), test.Cmp(protocmp.Transform(), times))
	after := expect.Value(s.UpdateRole(t.Context(), as(owner, &v1.UpdateRoleRequest{
		Role:       &v1.Role{Name: "front_desk", Title: "ignored", Permissions: []string{"member.read"}, Etag: "v1"},
		UpdateMask: mask("permissions", "description"),
	})))(t)
	want.Permissions, want.Description, want.Etag = []string{"member.read"}, "", "v2"
	test.Eq(t, want, after.Msg.GetRole(), test.Cmp(protocmp.Transform(), times))
	assigned := expect.Value(s.AssignRole(
		t.Context(), as(owner, &v1.AssignRoleRequest{MemberId: convert.IDText(s.Members["member"]), Role: "front_desk"}),
	))(t)
	must.True(t, slices.Equal(assigned.Msg.GetRoles(), []string{"member", "front_desk"}), must.Sprintf("%v", assigned))

	var listed []string
	request := &v1.ListRolesRequest{PageSize: 2}
	for {
		page := expect.Value(s.ListRoles(t.Context(), as(s.Token(t, "coach"), request)))(t)
		for _, r := range page.Msg.GetRoles() {
			listed = append(listed, r.GetName())
			test.True(
				t, (r.GetName() != "front_desk" || r.GetHolders() == 1 && !r.GetBuiltIn()) &&
					(r.GetName() != "owner" || r.GetHolders() == 1 && r.GetBuiltIn()),
				test.Sprintf("%v", r),
			)
		}
		if request.PageToken = page.Msg.GetNextPageToken(); request.GetPageToken() == "" {
			break
		}
	}
	test.SliceEqOp(t, []string{"owner", "admin", "coach", "member", "partner", "front_desk"}, listed)

	check, err := s.CheckAccess(t.Context(), as(owner, &v1.CheckAccessRequest{
		Who: &v1.CheckAccessRequest_Subject{Subject: "member"}, Permission: "member.read",
	}))
	granting := &v1.CheckAccessResponse{
		Allowed: true, Active: true, ThroughRoles: []string{"front_desk"},
		GrantingRoles: []string{"owner", "admin", "coach", "front_desk"},
	}
	must.NoError(t, err)
	test.Eq(t, granting, check.Msg, test.Cmp(protocmp.Transform()))
	revoked := expect.Value(s.RevokeRole(
		t.Context(), as(owner, &v1.RevokeRoleRequest{MemberId: convert.IDText(s.Members["member"]), Role: "front_desk"}),
	))(t)
	must.True(t, slices.Equal(revoked.Msg.GetRoles(), []string{"member"}), must.Sprintf("%v", revoked))
	_, err = s.DeleteRole(t.Context(), as(owner, &v1.DeleteRoleRequest{Role: "front_desk", Etag: "v2"}))
	test.NoError(t, err)
}

func TestAccessRPCs_RejectInvalidRequests(t *testing.T) {
	t.Parallel()
	s := newAccessTest(t)
	owner := s.Token(t, "owner")
	expect.OK(t)(s.CreateRole(t.Context(), as(owner, &v1.CreateRoleRequest{Role: &v1.Role{Name: "desk"}})))
	expect.OK(t)(s.AssignRole(
		t.Context(), as(owner, &v1.AssignRoleRequest{MemberId: convert.IDText(s.Members["coach"]), Role: "desk"}),
	))
	absent := convert.IDText(tenant.New[tenant.MemberID](time.Now()))
	create := func(r *v1.Role) func(string) error {
		return func(token string) error {
			return errorOf(s.CreateRole(t.Context(), as(token, &v1.CreateRoleRequest{Role: r})))
		}
	}
	update := func(r *v1.Role, paths ...string) func(string) error {
		return func(token string) error {
			return errorOf(s.UpdateRole(t.Context(), as(token, &v1.UpdateRoleRequest{Role: r, UpdateMask: mask(paths...)})))
		}
	}
	remove := func(name, etag string) func(string) error {
		return func(token string) error {
			return errorOf(s.DeleteRole(t.Context(), as(token, &v1.DeleteRoleRequest{Role: name, Etag: etag})))
		}
	}
	assign := func(member, role string) func(string) error {
		return func(token string) error {
			return errorOf(s.AssignRole(t.Context(), as(token, &v1.AssignRoleRequest{MemberId: member, Role: role})))
		}
	}
	account := func(name string, roles ...string) func(string) error {
		return func(token string) error {
			return errorOf(
				s.CreateServiceAccount(t.Context(), as(token, &v1.CreateServiceAccountRequest{Name: name, Roles: roles})),
			)
		}
	}
	rotate := func(overlap *durationpb.Duration) func(string) error {
		return func(token string) error {
			return errorOf(s.RotateServiceAccountKey(
				t.Context(), as(token, &v1.RotateServiceAccountKeyRequest{ServiceAccountId: absent, Overlap: overlap}),
			))
		}
	}
	exchange := func(request *v1.ExchangeKeyRequest) func(string) error {
		return func(string) error {
			return errorOf(s.ExchangeKey(t.Context(), connect.NewRequest(request)))
		}
	}
	for name, c := range map[string]struct {
		call func(token string) error
		want string
	}{
		"no role":               {create(nil), "INVALID_FIELD field=role"},
		"role without a name":   {create(&v1.Role{}), "INVALID_FIELD field=role"},
		"role with a bad name":  {create(&v1.Role{Name: "Front-Desk"}), "INVALID_FIELD field=role.name"},
		"role that is there":    {create(&v1.Role{Name: "desk"}), "ALREADY_EXISTS field=role.name"},
		"role that is built in": {create(&v1.Role{Name: "owner"}), "ALREADY_EXISTS field=role.name"},
		"unknown permission": {
			create(&v1.Role{Name: "x", Permissions: []string{"world.rule"}}), "PERMISSION_NOT_FOUND permission=world.rule",
		},
		"null in a title":              {create(&v1.Role{Name: "x", Title: "\x00"}), "INVALID_FIELD field=role.title"},
		"update of none":               {update(&v1.Role{Name: "ghost"}, "title"), "ROLE_NOT_FOUND"},
		"update of built in":           {update(&v1.Role{Name: "owner"}, "permissions"), "ROLE_BUILT_IN"},
		"update of a name":             {update(&v1.Role{Name: "desk"}, "name"), "INVALID_FIELD field=update_mask"},
		"update of old":                {update(&v1.Role{Name: "desk", Etag: "v9"}, "title"), "ETAG_MISMATCH"},
		"delete of none":               {remove("ghost", ""), "ROLE_NOT_FOUND"},
		"delete of held":               {remove("desk", ""), "ROLE_IN_USE holders=1"},
		"delete of built in":           {remove("partner", ""), "ROLE_BUILT_IN"},
		"delete of old":                {remove("desk", "v9"), "ETAG_MISMATCH"},
		"assign to none":               {assign(absent, "desk"), "MEMBER_NOT_FOUND"},
		"assign none":                  {assign(convert.IDText(s.Members["coach"]), "ghost"), "ROLE_NOT_FOUND"},
		"assign by no id":              {assign("1", "desk"), "INVALID_FIELD field=member_id"},
		"account without roles":        {account("x"), "INVALID_FIELD field=roles"},
		"account of no role":           {account("x", "ghost"), "ROLE_NOT_FOUND"},
		"account without name":         {account("", "desk"), "INVALID_FIELD field=name"},
		"blank account":                {account(" ", "desk"), "INVALID_FIELD field=name"},
		"rotate of none":               {rotate(nil), "SERVICE_ACCOUNT_NOT_FOUND"},
		"rotate with long overlap":     {rotate(durationpb.New(8 * 24 * time.Hour)), "INVALID_FIELD field=overlap"},
		"rotate with negative overlap": {rotate(durationpb.New(-time.Second)), "INVALID_FIELD field=overlap"},
		"exchange of nothing":          {exchange(&v1.ExchangeKeyRequest{}), "INVALID_FIELD field=key"},
		"exchange of garbage":          {exchange(&v1.ExchangeKeyRequest{Key: "berth_x"}), "KEY_INVALID"},
		"exchange of much": {
			exchange(&v1.ExchangeKeyRequest{Key: strings.Repeat("x", 201)}), "INVALID_FIELD field=key",
		},
		"exchange in no tenant": {
			exchange(&v1.ExchangeKeyRequest{TenantId: "x", Key: "y"}), "INVALID_FIELD field=tenant_id",
		},
		"check without a subject": {func(token string) error {
			return errorOf(s.CheckAccess(t.Context(), as(token, &v1.CheckAccessRequest{Permission: "member.read"})))
		}, "INVALID_FIELD field=who"},
		"check of nothing": {func(token string) error {
			return errorOf(s.CheckAccess(t.Context(), as(token, &v1.CheckAccessRequest{
				Who: &v1.CheckAccessRequest_MemberId{MemberId: convert.IDText(s.Members["coach"])}, Permission: "world.rule",
			})))
		}, "PERMISSION_NOT_FOUND"},
	} {
		refused(t, c.want, test.Sprint(name))(c.call(owner))
	}
	// A coach may call none of these RPCs.
	for name, call := range map[string]func(string) error{
		"create": create(&v1.Role{Name: "mine"}), "update": update(&v1.Role{Name: "desk"}, "title"),
		"delete": remove("desk", ""),
		"assign": assign(convert.IDText(s.Members["coach"]), "owner"), "account": account("Mine", "owner"),
		"rotate": rotate(nil),
	} {
		refused(t, "PERMISSION_DENIED", test.Sprint(name))(call(s.Token(t, "coach")))
	}
}

// The life of a service account: creation, its key, a token, a call, a new key, revocation.
func TestServiceAccount_CallsUntilRevoked(t *testing.T) {
	t.Parallel()
	s := newAccessTest(t)
	owner := s.Token(t, "owner")
	created := expect.Value(s.CreateServiceAccount(t.Context(), as(owner, &v1.CreateServiceAccountRequest{
		Name: "Gateway", Description: "Sells.", Roles: []string{"partner", "coach"},
	})))(t)
	account, key := created.Msg.GetServiceAccount(), created.Msg.GetKey()
	test.True(
		t, slices.Equal(account.GetRoles(), []string{"coach", "partner"}) && len(account.GetKeys()) == 1 &&
			strings.HasPrefix(key, account.GetKeys()[0].GetPrefix()) && account.GetDescription() == "Sells." &&
			account.GetRevokeTime() == nil && account.GetKeys()[0].GetExpireTime() == nil,
		test.Sprintf("%v", account),
	)
	token := expect.Value(s.ExchangeKey(t.Context(), connect.NewRequest(&v1.ExchangeKeyRequest{Key: key})))(t)
	remaining := token.Msg.GetExpiresIn().AsDuration()
	test.True(
		t, remaining > 14*time.Minute && remaining <= 15*time.Minute && token.Msg.GetTenantId() == s.Tenant.String(),
		test.Sprintf("%v in %s", remaining, token.Msg.GetTenantId()),
	)
	members := berthv1connect.NewMemberServiceClient(s.Client, s.URL)
	call := func() error {
		return errorOf(members.ListMembers(t.Context(), as(token.Msg.GetAccessToken(), &v1.ListMembersRequest{})))
	}
	must.NoError(t, call())
	request := as(token.Msg.GetAccessToken(), &v1.CreateRoleRequest{Role: &v1.Role{Name: "mine"}})
	refused(t, "PERMISSION_DENIED permission=role.write")(s.CreateRole(t.Context(), request))
	refused(t, "permission_denied")(members.GetMe(t.Context(), as(token.Msg.GetAccessToken(), &v1.GetMeRequest{})))

	rotated := expect.Value(s.RotateServiceAccountKey(t.Context(), as(owner, &v1.RotateServiceAccountKeyRequest{
		ServiceAccountId: account.GetId(), Overlap: durationpb.New(time.Hour),
	})))(t)
	must.True(
		t, len(rotated.Msg.GetServiceAccount().GetKeys()) == 2 && rotated.Msg.GetKey() != key, must.Sprintf("%v", rotated),
	)
	for _, k := range []string{key, rotated.Msg.GetKey()} {
		expect.OK(t)(s.ExchangeKey(
			t.Context(), connect.NewRequest(&v1.ExchangeKeyRequest{Key: k, TenantId: s.Tenant.String()}),
		))
	}
	other := s.NewTenant(t, "Other tenant")
	refused(t, "unauthenticated KEY_INVALID")(
		s.ExchangeKey(t.Context(), connect.NewRequest(&v1.ExchangeKeyRequest{Key: key, TenantId: other.String()})),
	)
	check := expect.Value(s.CheckAccess(t.Context(), as(owner, &v1.CheckAccessRequest{
		Who: &v1.CheckAccessRequest_ServiceAccountId{ServiceAccountId: account.GetId()}, Permission: "session.read",
	})))(t)
	test.True(
		t, check.Msg.GetAllowed() && slices.Equal(check.Msg.GetThroughRoles(), []string{"coach", "partner"}),
		test.Sprintf("%v", check),
	)

	revoked := expect.Value(s.RevokeServiceAccount(
		t.Context(), as(owner, &v1.RevokeServiceAccountRequest{ServiceAccountId: account.GetId()}),
	))(t)
	must.NotNil(t, revoked.Msg.GetServiceAccount().GetRevokeTime(), must.Sprintf("%v", revoked))
	refused(t, "PERMISSION_DENIED", test.Sprint("the token of a revoked account"))(call())
	for _, all := range []bool{false, true} {
		list := expect.Value(s.ListServiceAccounts(
			t.Context(), as(owner, &v1.ListServiceAccountsRequest{IncludeRevoked: all, PageSize: 1}),
		))(t)
		test.True(
			t, (len(list.Msg.GetServiceAccounts()) == 1) == all && list.Msg.GetNextPageToken() == "", test.Sprintf("%v", list),
		)
	}
}
