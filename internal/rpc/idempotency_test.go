package rpc

import (
	"net/http"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"google.golang.org/protobuf/testing/protocmp"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestIdempotencyKey_ReplaysStoredResponse(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	eachProtocol(t, func(t *testing.T, web *http.Client, options connect.ClientOption) {
		credits := berthv1connect.NewCreditServiceClient(web, s.URL, options)
		name := t.Name()
		longest := name + strings.Repeat("~", 200-len(name))
		create := func(role, plan string, keys ...string) (*connect.Response[v1.CreatePlanResponse], error) {
			request := as(
				s.Token(t, role), &v1.CreatePlanRequest{Plan: &v1.PlanInput{Name: plan, Kind: v1.PlanKind_PLAN_KIND_UNLIMITED}},
			)
			request.Header()["Idempotency-Key"] = keys
			return credits.CreatePlan(t.Context(), request)
		}
		first := expect.Value(create("owner", name, longest))(t)
		second := expect.Value(create("owner", name, longest))(t)
		test.Eq(t, first.Msg, second.Msg, test.Cmp(protocmp.Transform()), test.Sprint("answers differ"))
		for i, response := range []*connect.Response[v1.CreatePlanResponse]{first, second} {
			test.EqOp(t, []string{"", "true"}[i], response.Header().Get("X-Idempotent"),
				test.Sprintf("answer %d: X-Idempotent", i))
			test.EqOp(t, longest, response.Header().Get("X-Idempotency-Key"), test.Sprintf("answer %d: X-Idempotency-Key", i))
		}

		failsAs(t, apiError{
			Code: connect.CodeAlreadyExists, Reason: "IDEMPOTENCY_CONFLICT",
		})(create("owner", name+" other", longest))
		// Another caller's key is another key, so this call runs and fails because the plan's name is taken.
		refused(t, "ALREADY_EXISTS")(create("admin", name, longest))

		members := berthv1connect.NewMemberServiceClient(web, s.URL, options)
		csv := []byte(
			"name,email\nMia," + strings.ToLower(strings.NewReplacer("/", "-", "+", "-").Replace(name)) + "@example.com\n",
		)
		upload := func(keys ...string) (*connect.Response[v1.ImportMembersResponse], error) {
			request := as(s.Token(t, "owner"), &v1.ImportMembersRequest{Csv: csv})
			request.Header()["Idempotency-Key"] = keys
			return members.ImportMembers(t.Context(), request)
		}
		for _, wrong := range [][]string{{"with space"}, {strings.Repeat("k", 201)}, {"one", "two"}} {
			refused(t, "invalid_argument INVALID_FIELD Idempotency-Key")(create("owner", name+" wrong", wrong...))
			refused(t, "invalid_argument INVALID_FIELD Idempotency-Key")(upload(wrong...))
		}
		started := expect.Value(upload(name))(t)
		again := expect.Value(upload(name))(t)
		test.NotEqOp(t, "", started.Msg.GetFileImport().GetId())
		test.Eq(t, started.Msg, again.Msg, test.Cmp(protocmp.Transform()))
		test.EqOp(t, "", started.Header().Get("X-Idempotent"))
		test.EqOp(t, "true", again.Header().Get("X-Idempotent"))
	})
}

// Reads ignore the header, even if it is invalid.
func TestIdempotencyKey_IsIgnoredByReads(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	request := as(s.Token(t, tenant.RoleOwner), &v1.GetTenantRequest{})
	request.Header().Set("Idempotency-Key", "not visible: \t")
	response := expect.Value(berthv1connect.NewTenantServiceClient(s.Client, s.URL).GetTenant(t.Context(), request))(t)
	test.EqOp(t, "", response.Header().Get("X-Idempotency-Key"), test.Sprint(response))
}
