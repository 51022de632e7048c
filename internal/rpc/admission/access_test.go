package admission

import (
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/token"
)

var update = flag.Bool("update", false, "write testdata/access.golden")

// The rules are read from the contract, and the guard decides by the default policy. A change of either shows in the
// golden file, and a new RPC is a new line.
func TestRules_MatchGoldenMatrix(t *testing.T) {
	t.Parallel()
	rules := expect.Value(Rules())(t)
	a := checks{rules: rules, guard: access.New(stubRoles{})}
	subjects := []string{"owner", "admin", "coach", "member", "sa:partner", "gardener", "left", "stranger"}
	titles := []string{"owner", "admin", "coach", "member", "partner", "role without permissions", "inactive", "stranger"}

	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "# yes: on everyone's things; own: on their own; -: not at all. "+
		"Written by go test ./internal/rpc/admission -update")
	fmt.Fprintln(table, strings.Join(append([]string{"rpc", "rule", "permission"}, titles...), "\t"))
	for _, procedure := range slices.Sorted(maps.Keys(rules)) {
		rule := rules[procedure]
		line := []string{
			strings.TrimPrefix(procedure, "/berth.v1."), strings.TrimPrefix(rule.Kind.String(), "RULE_"), rule.Permission,
		}
		if rule.Permission == "" {
			line[2] = "-"
		}
		for _, subject := range subjects {
			line = append(line, accessResult(t, &a, subject, rule))
		}
		fmt.Fprintln(table, strings.Join(line, "\t"))
	}
	must.NoError(t, table.Flush())
	const golden = "testdata/access.golden"
	if *update {
		must.NoError(t, os.WriteFile(golden, []byte(out.String()), 0o644))
	}
	test.Eq(t, string(expect.Value(os.ReadFile(golden))(t)), out.String(),
		test.Sprint("the matrix has changed; if that is meant, run with -update"))
}

func accessResult(t *testing.T, a *checks, subject string, rule Rule) string {
	t.Helper()
	if rule.Kind == v1.Access_RULE_PUBLIC {
		return "yes"
	}
	caller, err := a.authorize(t.Context(), tenantA, token.Principal{Subject: subject, Own: true}, rule)
	switch {
	case fault.ReasonOf(err) == fault.PermissionDeniedReason, fault.ReasonOf(err) == fault.NotAMember,
		fault.ReasonOf(err) == fault.MemberInactive:
		return "-"
	case err != nil:
		t.Fatal(err)
	case caller.SelfOnly:
		return "own"
	}
	return "yes"
}

// Mistakes in the contract are reported at start.
func TestRuleOf_RejectsInvalidRules(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		access   *v1.Access
		request  string
		stream   bool
		complain string
	}{
		"none":        {nil, "BookRequest", false, "the option (berth.v1.access) is missing"},
		"unspecified": {&v1.Access{Permission: "booking.create"}, "BookRequest", false, "is missing"},
		"unknown permission": {
			&v1.Access{Rule: v1.Access_RULE_PERMISSION, Permission: "booking.steal"}, "BookRequest", false, "booking.steal",
		},
		"widening by nothing": {
			&v1.Access{Rule: v1.Access_RULE_SELF, Permission: "booking.steal"}, "BookRequest", false, "booking.steal",
		},
		"no permission": {&v1.Access{Rule: v1.Access_RULE_PERMISSION}, "BookRequest", false, "without a permission"},
		"public and permitted": {
			&v1.Access{Rule: v1.Access_RULE_PUBLIC, Permission: "booking.create"}, "BookRequest", false, "RULE_PUBLIC",
		},
		"token with a permission": {
			&v1.Access{Rule: v1.Access_RULE_TOKEN, Permission: "booking.create"}, "BookRequest", false, "RULE_TOKEN",
		},
		"no tenant":          {&v1.Access{Rule: v1.Access_RULE_SELF}, "TimeRange", false, "tenant_id"},
		"stream of requests": {&v1.Access{Rule: v1.Access_RULE_SELF}, "BookRequest", true, "stream"},
		"accounts for nothing": {
			&v1.Access{Rule: v1.Access_RULE_PERMISSION, Permission: "booking.read", ServiceAccounts: true}, "BookRequest", false,
			"service_accounts",
		},
		"deprecated without its option": {
			&v1.Access{Rule: v1.Access_RULE_SELF, DeprecatedSince: "2030-01-31"}, "BookRequest", false, "go together",
		},
		"deprecated some day": {
			&v1.Access{Rule: v1.Access_RULE_SELF, DeprecatedSince: "soon"}, "BookRequest", false, "deprecated_since",
		},
		"good":   {&v1.Access{Rule: v1.Access_RULE_SELF, Permission: "booking.read"}, "BookRequest", false, ""},
		"public": {&v1.Access{Rule: v1.Access_RULE_PUBLIC}, "TimeRange", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ruleOf(methodWith(t, tt.access, tt.request, tt.stream))
			if tt.complain == "" {
				test.NoError(t, err)
			} else {
				test.ErrorContains(t, err, tt.complain)
			}
		})
	}
}

// methodWith returns the descriptor of an invented RPC with messages of the contract.
func methodWith(t *testing.T, access *v1.Access, request string, stream bool) protoreflect.MethodDescriptor {
	t.Helper()
	options := new(descriptorpb.MethodOptions)
	if access != nil {
		proto.SetExtension(options, v1.E_Access, access)
	}
	imports := []string{v1.File_berth_v1_booking_service_proto.Path(), v1.File_berth_v1_common_proto.Path()}
	return expect.Value(protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: new("made/up.proto"), Package: new("made.up"), Syntax: new("proto3"), Dependency: imports,
		Service: []*descriptorpb.ServiceDescriptorProto{{
			Name: new("Service"),
			Method: []*descriptorpb.MethodDescriptorProto{{
				Name: new("Method"), InputType: new(".berth.v1." + request), OutputType: new(".berth.v1.BookResponse"),
				ClientStreaming: new(stream), Options: options,
			}},
		}},
	}, protoregistry.GlobalFiles))(t).Services().Get(0).Methods().Get(0)
}

// Whoever calls a deprecated RPC is told since when it is, and until when it works, also by a refusal.
func TestDeprecated_IsToldInHeaders(t *testing.T) {
	t.Parallel()
	chain := expect.Value(New(Config{
		Guard: access.New(stubRoles{}), Now: time.Now, Verifier: expect.Value(token.NewVerifier(time.Now))(t),
		Logger: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	}))(t)
	const procedure = berthv1connect.BookingServiceGetBookingProcedure
	headers := func() http.Header {
		response := httptest.NewRecorder()
		chain.Handle(http.NotFoundHandler()).ServeHTTP(response, httptest.NewRequest(http.MethodPost, procedure, nil))
		test.EqOp(t, http.StatusUnauthorized, response.Code)
		return response.Header()
	}
	test.EqOp(t, "", headers().Get("Deprecation"))
	test.EqOp(t, "", headers().Get("Sunset"))
	rule := chain.rules[procedure]
	rule.Deprecated = time.Date(2030, 1, 31, 0, 0, 0, 0, time.UTC)
	chain.rules[procedure] = rule
	test.EqOp(t, "@1896048000", headers().Get("Deprecation"))
	test.EqOp(t, "Fri, 31 Jan 2031 00:00:00 GMT", headers().Get("Sunset"))
}
