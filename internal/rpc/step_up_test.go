package rpc

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/token"
)

// signedIn signs a token for a subject who signed in some time ago.
func (s *testServer) signedIn(t *testing.T, subject string, ago time.Duration) string {
	t.Helper()
	raw, _, err := s.issuer.Issue(token.Claims{
		Subject: subject, Tenants: []tenant.TenantID{s.Tenant}, SignedInAt: time.Now().Add(-ago),
	}, time.Hour)
	must.NoError(t, err)
	return raw
}

func TestStepUp_IsAskedForWhatTheContractSays(t *testing.T) {
	t.Parallel()
	var procedures []string
	for procedure, rule := range expect.Value(Rules())(t) {
		if rule.StepUp {
			procedures = append(procedures, strings.TrimPrefix(procedure, "/berth.v1."))
		}
	}
	slices.Sort(procedures)
	test.Eq(t, []string{
		"AccessService/AssignRole", "AccessService/ConfirmOwnershipTransfer", "AccessService/CreateRole",
		"AccessService/CreateServiceAccount", "AccessService/DeleteRole", "AccessService/RevokeRole",
		"AccessService/RevokeServiceAccount", "AccessService/RotateServiceAccountKey", "AccessService/TransferOwnership",
		"AccessService/UpdateRole", "NotificationService/UpdateSenders", "NotificationService/VerifySendingDomain",
	}, procedures)
}

func TestStepUp_AsksPeopleForARecentSignIn(t *testing.T) {
	t.Parallel()
	s := newAccessTest(t)
	tenants := berthv1connect.NewTenantServiceClient(s.Client, s.URL)
	ask := func(token string, asked *v1.StepUp) error {
		return errorOf(tenants.UpdateTenant(t.Context(), as(token, &v1.UpdateTenantRequest{
			Tenant: &v1.Tenant{Id: s.Tenant.String(), StepUp: asked}, UpdateMask: mask("step_up"),
		})))
	}
	role := func(token string) error {
		return errorOf(s.AssignRole(t.Context(), as(token, &v1.AssignRoleRequest{
			MemberId: s.Members["member"].String(), Role: "coach",
		})))
	}
	_, key, err := s.App.Accounts.CreateServiceAccount(
		t.Context(), s.caller("owner"), grant.ServiceAccount{Name: "Sync", Roles: []string{"admin"}},
	)
	must.NoError(t, err)
	exchanged := expect.Value(
		s.ExchangeKey(t.Context(), connect.NewRequest(&v1.ExchangeKeyRequest{Key: key})),
	)(t).Msg.GetAccessToken()
	stale, fresh := s.Token(t, "owner"), s.signedIn(t, "owner", time.Minute)
	five := &v1.StepUp{MaxAge: durationpb.New(5 * time.Minute), AcrValues: []string{"mfa", "phr"}}

	must.NoError(t, role(stale), must.Sprint("off by default"))
	refused(t, "permission=admin.manage")(ask(s.Token(t, "admin"), five))
	refused(t, "STEP_UP_REQUIRED", test.Sprint("they could not turn it off again"))(ask(stale, five))
	must.NoError(t, ask(fresh, five))
	for name, err := range map[string]error{
		"a token without a time":    role(stale),
		"a sign-in of an hour ago":  role(s.signedIn(t, "owner", time.Hour)),
		"who turns it off":          ask(stale, nil),
		"who is to confirm it":      confirm(t.Context(), s, s.Token(t, "member")),
		"who may not read requests": role(s.signedIn(t, "admin", time.Hour)),
	} {
		failsAs(t, apiError{connect.CodePermissionDenied, "STEP_UP_REQUIRED", map[string]string{
			"max_age": "300", "acr_values": "mfa phr",
		}}, test.Sprint(name))(err)
	}
	refused(t, "PERMISSION_DENIED", test.Sprint("who may not do it at all learns nothing of it"))(
		role(s.Token(t, "coach")),
	)
	test.NoError(t, role(fresh))
	test.NoError(t, role(exchanged), test.Sprint("programs do not sign in"))
	read := expect.Value(tenants.GetTenant(t.Context(), as(stale, &v1.GetTenantRequest{})))(t).Msg.GetTenant()
	test.EqOp(t, "mfa,phr", strings.Join(read.GetStepUp().GetAcrValues(), ","))
	test.EqOp(t, 5*time.Minute, read.GetStepUp().GetMaxAge().AsDuration())
	test.NoError(t, ask(fresh, nil))
	test.NoError(t, role(stale))
	for _, wrong := range []*v1.StepUp{
		{}, {MaxAge: durationpb.New(time.Second)}, {MaxAge: durationpb.New(25 * time.Hour)}, {AcrValues: []string{"a b"}},
		{AcrValues: []string{""}}, {AcrValues: strings.Split("a,b,c,d,e,f,g,h,i,j,k", ",")},
	} {
		refused(t, "INVALID_FIELD", test.Sprint(wrong))(ask(fresh, wrong))
	}
}

func confirm(ctx context.Context, s *accessTest, token string) error {
	return errorOf(
		s.ConfirmOwnershipTransfer(ctx, as(token, &v1.ConfirmOwnershipTransferRequest{TransferId: someSession})),
	)
}
