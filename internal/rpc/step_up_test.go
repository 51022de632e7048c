package rpc

import (
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rpc/admission"
	"github.com/berthhq/berth/internal/rpc/rpctest"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/token"
)

// signedIn signs a token for a subject who signed in some time ago.
func (s *testServer) signedIn(t *testing.T, subject string, ago time.Duration) string {
	t.Helper()
	return rpctest.Issue(t, s.issuer, token.Claims{
		Subject: subject, Tenants: []tenant.TenantID{s.Tenant}, SignedInAt: time.Now().Add(-ago),
	}, time.Hour)
}

func TestStepUp_IsAskedForWhatTheContractSays(t *testing.T) {
	t.Parallel()
	var procedures []string
	for procedure, rule := range expect.Value(admission.Rules())(t) {
		if rule.StepUp {
			procedures = append(procedures, strings.TrimPrefix(procedure, "/berth.v1."))
		}
	}
	slices.Sort(procedures)
	test.Eq(t, []string{
		"AccessService/AssignRole",
		"AccessService/ConfirmOwnershipTransfer",
		"AccessService/CreateRole",
		"AccessService/CreateServiceAccount",
		"AccessService/DeleteRole",
		"AccessService/RevokeRole",
		"AccessService/RevokeServiceAccount",
		"AccessService/RotateServiceAccountKey",
		"AccessService/TransferOwnership",
		"AccessService/UpdateRole",
		"NotificationService/UpdateNotificationSenders",
		"NotificationService/VerifySendingDomain",
	}, procedures)
}

func TestStepUp_AsksPeopleForARecentSignIn(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	demand := func(asked *v1.StepUp) proto.Message {
		return &v1.UpdateTenantRequest{
			Tenant: &v1.TenantInput{StepUp: asked}, UpdateMask: mask("step_up"),
		}
	}
	role := &v1.AssignRoleRequest{MemberId: s.Members["member"].String(), Role: "coach"}
	_, key, err := s.App.Accounts.CreateServiceAccount(
		t.Context(), s.caller("owner"), grant.ServiceAccount{Name: "Sync", Roles: []string{"admin"}},
	)
	must.NoError(t, err)
	exchanged := ask[*v1.ExchangeKeyResponse](t, s, "", &v1.ExchangeKeyRequest{Key: key}).GetAccessToken()
	stale, fresh := s.Token(t, "owner"), s.signedIn(t, "owner", time.Minute)
	five := &v1.StepUp{MaxAge: durationpb.New(5 * time.Minute), AcrValues: []string{"mfa", "phr"}}

	expect.OK(t)(s.call(t, stale, role)) // off by default
	refused(t, "permission=admin.manage")(s.call(t, s.Token(t, "admin"), demand(five)))
	refused(t, "STEP_UP_REQUIRED", test.Sprint("they could not turn it off again"))(s.call(t, stale, demand(five)))
	expect.OK(t)(s.call(t, fresh, demand(five)))
	for name, c := range map[string]struct {
		token   string
		request proto.Message
	}{
		"a token without a time":   {stale, role},
		"a sign-in of an hour ago": {s.signedIn(t, "owner", time.Hour), role},
		"who turns it off":         {stale, demand(nil)},
		"who is to confirm it": {
			s.Token(t, "member"), &v1.ConfirmOwnershipTransferRequest{TransferId: someSession},
		},
		"who may not read requests": {s.signedIn(t, "admin", time.Hour), role},
	} {
		failsAs(t, apiError{Code: connect.CodePermissionDenied, Reason: "STEP_UP_REQUIRED", Metadata: map[string]string{
			"max_age": "300", "acr_values": "mfa phr",
		}}, test.Sprint(name))(s.call(t, c.token, c.request))
	}
	refused(t, "PERMISSION_DENIED", test.Sprint("who may not do it at all learns nothing of it"))(
		s.call(t, s.Token(t, "coach"), role),
	)
	expect.OK(t)(s.call(t, fresh, role))
	expect.OK(t)(s.call(t, exchanged, role)) // programs do not sign in
	test.Eq(t, five, ask[*v1.GetTenantResponse](t, s, stale, &v1.GetTenantRequest{}).GetTenant().GetStepUp(),
		test.Cmp(protocmp.Transform()))
	expect.OK(t)(s.call(t, fresh, demand(nil)))
	expect.OK(t)(s.call(t, stale, role))
	for _, wrong := range []*v1.StepUp{
		{}, {MaxAge: durationpb.New(time.Second)}, {MaxAge: durationpb.New(25 * time.Hour)}, {AcrValues: []string{"a b"}},
		{AcrValues: []string{""}}, {AcrValues: strings.Split("a,b,c,d,e,f,g,h,i,j,k", ",")},
	} {
		refused(t, "INVALID_FIELD", test.Sprint(wrong))(s.call(t, fresh, demand(wrong)))
	}
}
