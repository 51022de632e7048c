package rpc

import (
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/tenant"
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
	response, err := s.ListPermissions(t.Context(), as(s.Token(t, "coach"), &v1.ListPermissionsRequest{}))
	if err != nil || len(response.Msg.GetPermissions()) != len(policy.Permissions()) {
		t.Fatalf("%v, %v", response, err)
	}
	var subjects []string
	for _, p := range response.Msg.GetPermissions() {
		subject, _, _ := strings.Cut(p.GetName(), ".")
		if len(subjects) == 0 || subjects[len(subjects)-1] != subject {
			if slices.Contains(subjects, subject) {
				t.Errorf("%s is not in one group", subject)
			}
			subjects = append(subjects, subject)
		}
		if p.GetDescription() == "" || len(p.GetDefaultRoles()) == 0 {
			t.Errorf("%v", p)
		}
	}
}

func TestRoles_CreateAssignUpdateAndDelete(t *testing.T) {
	t.Parallel()
	s := newAccessTest(t)
	owner := s.Token(t, "owner")
	created, err := s.CreateRole(t.Context(), as(owner, &v1.CreateRoleRequest{Role: &v1.Role{
		Name: "front_desk", Title: "Front desk", Description: "Answers.",
		Permissions: []string{"member.write", "member.read"},
		BuiltIn:     true, Holders: 7,
	}}))
	if err != nil {
		t.Fatal(err)
	}
	want := &v1.Role{
		Name: "front_desk", Title: "Front desk", Description: "Answers.",
		Permissions: []string{"member.read", "member.write"}, Etag: "v1",
	}
	times := protocmp.IgnoreFields(&v1.Role{}, "create_time", "update_time")
	if diff := cmp.Diff(want, created.Msg.GetRole(), protocmp.Transform(), times); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	after, err := s.UpdateRole(t.Context(), as(owner, &v1.UpdateRoleRequest{
		Role:       &v1.Role{Name: "front_desk", Title: "ignored", Permissions: []string{"member.read"}, Etag: "v1"},
		UpdateMask: mask("permissions", "description"),
	}))
	if err != nil {
		t.Fatal(err)
	}
	want.Permissions, want.Description, want.Etag = []string{"member.read"}, "", "v2"
	if diff := cmp.Diff(want, after.Msg.GetRole(), protocmp.Transform(), times); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	assigned, err := s.AssignRole(
		t.Context(), as(owner, &v1.AssignRoleRequest{MemberId: convert.IDText(s.Members["member"]), Role: "front_desk"}),
	)
	if err != nil || !slices.Equal(assigned.Msg.GetRoles(), []string{"member", "front_desk"}) {
		t.Fatalf("%v, %v", assigned, err)
	}

	var listed []string
	request := &v1.ListRolesRequest{PageSize: 2}
	for {
		page, err := s.ListRoles(t.Context(), as(s.Token(t, "coach"), request))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Msg.GetRoles() {
			listed = append(listed, r.GetName())
			if r.GetName() == "front_desk" && (r.GetHolders() != 1 || r.GetBuiltIn()) || r.GetName() == "owner" &&
				(r.GetHolders() != 1 || !r.GetBuiltIn()) {
				t.Errorf("%v", r)
			}
		}
		if request.PageToken = page.Msg.GetNextPageToken(); request.GetPageToken() == "" {
			break
		}
	}
	if !slices.Equal(listed, []string{"owner", "admin", "coach", "member", "partner", "front_desk"}) {
		t.Errorf("%v", listed)
	}

	check, err := s.CheckAccess(t.Context(), as(owner, &v1.CheckAccessRequest{
		Who: &v1.CheckAccessRequest_Subject{Subject: "member"}, Permission: "member.read",
	}))
	granting := &v1.CheckAccessResponse{
		Allowed: true, Active: true, ThroughRoles: []string{"front_desk"},
		GrantingRoles: []string{"owner", "admin", "coach", "front_desk"},
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(granting, check.Msg, protocmp.Transform()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	revoked, err := s.RevokeRole(
		t.Context(), as(owner, &v1.RevokeRoleRequest{MemberId: convert.IDText(s.Members["member"]), Role: "front_desk"}),
	)
	if err != nil || !slices.Equal(revoked.Msg.GetRoles(), []string{"member"}) {
		t.Fatalf("%v, %v", revoked, err)
	}
	if _, err := s.DeleteRole(t.Context(), as(owner, &v1.DeleteRoleRequest{Role: "front_desk", Etag: "v2"})); err != nil {
		t.Error(err)
	}
}

func TestAccessRPCs_RejectInvalidRequests(t *testing.T) {
	t.Parallel()
	s := newAccessTest(t)
	owner := s.Token(t, "owner")
	if _, err := s.CreateRole(t.Context(), as(owner, &v1.CreateRoleRequest{Role: &v1.Role{Name: "desk"}})); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AssignRole(
		t.Context(), as(owner, &v1.AssignRoleRequest{MemberId: convert.IDText(s.Members["coach"]), Role: "desk"}),
	); err != nil {
		t.Fatal(err)
	}
	absent := convert.IDText(tenant.New[tenant.MemberID](time.Now()))
	create := func(r *v1.Role) func(string) error {
		return func(token string) error {
			_, err := s.CreateRole(t.Context(), as(token, &v1.CreateRoleRequest{Role: r}))
			return err
		}
	}
	update := func(r *v1.Role, paths ...string) func(string) error {
		return func(token string) error {
			_, err := s.UpdateRole(t.Context(), as(token, &v1.UpdateRoleRequest{Role: r, UpdateMask: mask(paths...)}))
			return err
		}
	}
	remove := func(name, etag string) func(string) error {
		return func(token string) error {
			_, err := s.DeleteRole(t.Context(), as(token, &v1.DeleteRoleRequest{Role: name, Etag: etag}))
			return err
		}
	}
	assign := func(member, role string) func(string) error {
		return func(token string) error {
			_, err := s.AssignRole(t.Context(), as(token, &v1.AssignRoleRequest{MemberId: member, Role: role}))
			return err
		}
	}
	account := func(name string, roles ...string) func(string) error {
		return func(token string) error {
			_, err := s.CreateServiceAccount(t.Context(), as(token, &v1.CreateServiceAccountRequest{Name: name, Roles: roles}))
			return err
		}
	}
	rotate := func(overlap *durationpb.Duration) func(string) error {
		return func(token string) error {
			_, err := s.RotateServiceAccountKey(
				t.Context(), as(token, &v1.RotateServiceAccountKeyRequest{ServiceAccountId: absent, Overlap: overlap}),
			)
			return err
		}
	}
	exchange := func(request *v1.ExchangeKeyRequest) func(string) error {
		return func(string) error {
			_, err := s.ExchangeKey(t.Context(), connect.NewRequest(request))
			return err
		}
	}
	for name, c := range map[string]struct {
		call   func(token string) error
		reason string
		key    string // a key of the metadata, and its value
		value  string
	}{
		"no role":               {create(nil), "INVALID_FIELD", "field", "role"},
		"role without a name":   {create(&v1.Role{}), "INVALID_FIELD", "field", "role"},
		"role with a bad name":  {create(&v1.Role{Name: "Front-Desk"}), "INVALID_FIELD", "field", "role.name"},
		"role that is there":    {create(&v1.Role{Name: "desk"}), "ALREADY_EXISTS", "field", "role.name"},
		"role that is built in": {create(&v1.Role{Name: "owner"}), "ALREADY_EXISTS", "field", "role.name"},
		"unknown permission": {
			create(&v1.Role{Name: "x", Permissions: []string{"world.rule"}}), "PERMISSION_NOT_FOUND", "permission", "world.rule",
		},
		"null in a title":              {create(&v1.Role{Name: "x", Title: "\x00"}), "INVALID_FIELD", "field", "role.title"},
		"update of none":               {update(&v1.Role{Name: "ghost"}, "title"), "ROLE_NOT_FOUND", "", ""},
		"update of built in":           {update(&v1.Role{Name: "owner"}, "permissions"), "ROLE_BUILT_IN", "", ""},
		"update of a name":             {update(&v1.Role{Name: "desk"}, "name"), "INVALID_FIELD", "field", "update_mask"},
		"update of old":                {update(&v1.Role{Name: "desk", Etag: "v9"}, "title"), "ETAG_MISMATCH", "", ""},
		"delete of none":               {remove("ghost", ""), "ROLE_NOT_FOUND", "", ""},
		"delete of held":               {remove("desk", ""), "ROLE_IN_USE", "holders", "1"},
		"delete of built in":           {remove("partner", ""), "ROLE_BUILT_IN", "", ""},
		"delete of old":                {remove("desk", "v9"), "ETAG_MISMATCH", "", ""},
		"assign to none":               {assign(absent, "desk"), "MEMBER_NOT_FOUND", "", ""},
		"assign none":                  {assign(convert.IDText(s.Members["coach"]), "ghost"), "ROLE_NOT_FOUND", "", ""},
		"assign by no id":              {assign("1", "desk"), "INVALID_FIELD", "field", "member_id"},
		"account without roles":        {account("x"), "INVALID_FIELD", "field", "roles"},
		"account of no role":           {account("x", "ghost"), "ROLE_NOT_FOUND", "", ""},
		"account without name":         {account("", "desk"), "INVALID_FIELD", "field", "name"},
		"blank account":                {account(" ", "desk"), "INVALID_FIELD", "field", "name"},
		"rotate of none":               {rotate(nil), "SERVICE_ACCOUNT_NOT_FOUND", "", ""},
		"rotate with long overlap":     {rotate(durationpb.New(8 * 24 * time.Hour)), "INVALID_FIELD", "field", "overlap"},
		"rotate with negative overlap": {rotate(durationpb.New(-time.Second)), "INVALID_FIELD", "field", "overlap"},
		"exchange of nothing":          {exchange(&v1.ExchangeKeyRequest{}), "INVALID_FIELD", "field", "key"},
		"exchange of garbage":          {exchange(&v1.ExchangeKeyRequest{Key: "berth_x"}), "KEY_INVALID", "", ""},
		"exchange of much": {
			exchange(&v1.ExchangeKeyRequest{Key: strings.Repeat("x", 201)}), "INVALID_FIELD", "field", "key",
		},
		"exchange in no tenant": {
			exchange(&v1.ExchangeKeyRequest{TenantId: "x", Key: "y"}), "INVALID_FIELD", "field", "tenant_id",
		},
		"check without a subject": {func(token string) error {
			_, err := s.CheckAccess(t.Context(), as(token, &v1.CheckAccessRequest{Permission: "member.read"}))
			return err
		}, "INVALID_FIELD", "field", "who"},
		"check of nothing": {func(token string) error {
			_, err := s.CheckAccess(t.Context(), as(token, &v1.CheckAccessRequest{
				Who: &v1.CheckAccessRequest_MemberId{MemberId: convert.IDText(s.Members["coach"])}, Permission: "world.rule",
			}))
			return err
		}, "PERMISSION_NOT_FOUND", "", ""},
	} {
		err := c.call(owner)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		got := apiErrorOf(t, err)
		if got.Reason != c.reason || (c.key != "" && got.Metadata[c.key] != c.value) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// A coach may call none of these RPCs.
	for name, call := range map[string]func(string) error{
		"create": create(&v1.Role{Name: "mine"}), "update": update(&v1.Role{Name: "desk"}, "title"),
		"delete": remove("desk", ""),
		"assign": assign(convert.IDText(s.Members["coach"]), "owner"), "account": account("Mine", "owner"),
		"rotate": rotate(nil),
	} {
		if got := apiErrorOf(t, call(s.Token(t, "coach"))); got.Reason != "PERMISSION_DENIED" ||
			got.Metadata["permission"] == "" {
			t.Errorf("%s by a coach: %+v", name, got)
		}
	}
}

// The life of a service account: creation, its key, a token, a call, a new key, revocation.
func TestServiceAccount_CallsUntilRevoked(t *testing.T) {
	t.Parallel()
	s := newAccessTest(t)
	owner := s.Token(t, "owner")
	created, err := s.CreateServiceAccount(t.Context(), as(owner, &v1.CreateServiceAccountRequest{
		Name: "Gateway", Description: "Sells.", Roles: []string{"partner", "coach"},
	}))
	if err != nil {
		t.Fatal(err)
	}
	account, key := created.Msg.GetServiceAccount(), created.Msg.GetKey()
	if !slices.Equal(account.GetRoles(), []string{"coach", "partner"}) || len(account.GetKeys()) != 1 ||
		!strings.HasPrefix(key, account.GetKeys()[0].GetPrefix()) ||
		account.GetDescription() != "Sells." || account.GetRevokeTime() != nil ||
		account.GetKeys()[0].GetExpireTime() != nil {
		t.Errorf("%v", account)
	}
	token, err := s.ExchangeKey(t.Context(), connect.NewRequest(&v1.ExchangeKeyRequest{Key: key}))
	if err != nil {
		t.Fatal(err)
	}
	if remaining := token.Msg.GetExpiresIn().AsDuration(); remaining <= 14*time.Minute || remaining > 15*time.Minute ||
		token.Msg.GetTenantId() != s.Tenant.String() {
		t.Errorf("%v in %s", remaining, token.Msg.GetTenantId())
	}
	members := berthv1connect.NewMemberServiceClient(s.Client, s.URL)
	call := func() error {
		_, err := members.ListMembers(t.Context(), as(token.Msg.GetAccessToken(), &v1.ListMembersRequest{}))
		return err
	}
	if err := call(); err != nil {
		t.Fatal(err)
	}
	_, err = s.CreateRole(t.Context(), as(token.Msg.GetAccessToken(), &v1.CreateRoleRequest{Role: &v1.Role{Name: "mine"}}))
	if got := apiErrorOf(t, err); got.Reason != "PERMISSION_DENIED" || got.Metadata["permission"] != "role.write" {
		t.Errorf("%+v", got)
	}
	_, err = members.GetMe(t.Context(), as(token.Msg.GetAccessToken(), &v1.GetMeRequest{}))
	if got := apiErrorOf(t, err); got.Code != connect.CodePermissionDenied {
		t.Errorf("%+v", got)
	}

	rotated, err := s.RotateServiceAccountKey(t.Context(), as(owner, &v1.RotateServiceAccountKeyRequest{
		ServiceAccountId: account.GetId(), Overlap: durationpb.New(time.Hour),
	}))
	if err != nil || len(rotated.Msg.GetServiceAccount().GetKeys()) != 2 || rotated.Msg.GetKey() == key {
		t.Fatalf("%v, %v", rotated, err)
	}
	for _, k := range []string{key, rotated.Msg.GetKey()} {
		if _, err := s.ExchangeKey(
			t.Context(), connect.NewRequest(&v1.ExchangeKeyRequest{Key: k, TenantId: s.Tenant.String()}),
		); err != nil {
			t.Error(err)
		}
	}
	other := s.NewTenant(t, "Other tenant")
	_, err = s.ExchangeKey(t.Context(), connect.NewRequest(&v1.ExchangeKeyRequest{Key: key, TenantId: other.String()}))
	if got := apiErrorOf(t, err); got.Reason != "KEY_INVALID" || got.Code != connect.CodeUnauthenticated {
		t.Errorf("%+v", got)
	}
	check, err := s.CheckAccess(t.Context(), as(owner, &v1.CheckAccessRequest{
		Who: &v1.CheckAccessRequest_ServiceAccountId{ServiceAccountId: account.GetId()}, Permission: "session.read",
	}))
	if err != nil || !check.Msg.GetAllowed() || !slices.Equal(check.Msg.GetThroughRoles(), []string{"coach", "partner"}) {
		t.Errorf("%v, %v", check, err)
	}

	revoked, err := s.RevokeServiceAccount(
		t.Context(), as(owner, &v1.RevokeServiceAccountRequest{ServiceAccountId: account.GetId()}),
	)
	if err != nil || revoked.Msg.GetServiceAccount().GetRevokeTime() == nil {
		t.Fatalf("%v, %v", revoked, err)
	}
	if got := apiErrorOf(t, call()); got.Reason != "PERMISSION_DENIED" {
		t.Errorf("the token of a revoked account: %+v", got)
	}
	for _, all := range []bool{false, true} {
		list, err := s.ListServiceAccounts(
			t.Context(), as(owner, &v1.ListServiceAccountsRequest{IncludeRevoked: all, PageSize: 1}),
		)
		if err != nil || (len(list.Msg.GetServiceAccounts()) == 1) != all || list.Msg.GetNextPageToken() != "" {
			t.Errorf("%v, %v", list, err)
		}
	}
}
