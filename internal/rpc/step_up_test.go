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
		_, err := tenants.UpdateTenant(t.Context(), as(token, &v1.UpdateTenantRequest{
			Tenant: &v1.Tenant{Id: s.Tenant.String(), StepUp: asked}, UpdateMask: mask("step_up"),
		}))
		return err
	}
	role := func(token string) error {
		_, err := s.AssignRole(t.Context(), as(token, &v1.AssignRoleRequest{
			MemberId: s.Members["member"].String(), Role: "coach",
		}))
		return err
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
	denied := apiErrorOf(t, ask(s.Token(t, "admin"), five))
	test.EqOp(t, "admin.manage", denied.Metadata["permission"])
	test.EqOp(t, "STEP_UP_REQUIRED", apiErrorOf(t, ask(stale, five)).Reason,
		test.Sprint("they could not turn it off again"))
	must.NoError(t, ask(fresh, five))
	for name, call := range map[string]func() error{
		"a token without a time":    func() error { return role(stale) },
		"a sign-in of an hour ago":  func() error { return role(s.signedIn(t, "owner", time.Hour)) },
		"who turns it off":          func() error { return ask(stale, nil) },
		"who is to confirm it":      func() error { return confirm(t.Context(), s, s.Token(t, "member")) },
		"who may not read requests": func() error { return role(s.signedIn(t, "admin", time.Hour)) },
	} {
		got := apiErrorOf(t, call())
		test.EqOp(t, connect.CodePermissionDenied, got.Code, test.Sprint(name))
		test.EqOp(t, "STEP_UP_REQUIRED", got.Reason, test.Sprint(name))
		test.EqOp(t, "300", got.Metadata["max_age"], test.Sprint(name))
		test.EqOp(t, "mfa phr", got.Metadata["acr_values"], test.Sprint(name))
	}
	test.EqOp(t, "PERMISSION_DENIED", apiErrorOf(t, role(s.Token(t, "coach"))).Reason,
		test.Sprint("who may not do it at all learns nothing of it"))
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
		test.EqOp(t, "INVALID_FIELD", apiErrorOf(t, ask(fresh, wrong)).Reason, test.Sprint(wrong))
	}
}

func confirm(ctx context.Context, s *accessTest, token string) error {
	_, err := s.ConfirmOwnershipTransfer(ctx, as(token, &v1.ConfirmOwnershipTransferRequest{TransferId: someSession}))
	return err
}
