package main

import (
	"testing"

	"github.com/shoenig/test"
	"google.golang.org/grpc/codes"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// If the database rejects every statement, then every RPC fails that needs it: none takes what it could not read for
// empty, or says that something is done which is not.
func TestEveryRPC_FailsIfTheDatabaseDoes(t *testing.T) {
	t.Parallel()
	live := newLive(t)
	w := newWorld(t, live)
	token, built := w.token("owner"), w.buildAll()
	// The roles are cached, unless a late notice of a change drops them. Then all calls fail where roles are read.
	call[*v1.GetTenantResponse](t, live, token, "TenantService/GetTenant", new(v1.GetTenantRequest))
	expect.OK(t)(live.DB.Owner.Exec(t.Context(), `revoke all on all tables in schema public from berth_app`))
	test.EqOp(t, codes.Internal, live.try(t.Context(), w.token("coach"), // nothing is known of the coach
		procedureNamed(t, "TenantService/GetTenant"), new(v1.GetTenantRequest)).Code)
	for _, p := range procedures() {
		if p.Short() == "AccessService/ListPermissions" {
			continue // reads none: permissions are the same for all tenants
		}
		for _, request := range built[p.Short()] {
			got := live.try(t.Context(), token, p, request)
			test.EqOp(t, codes.Internal, got.Code, test.Sprintf("%s: %s", p.Short(), got))
		}
	}
}
