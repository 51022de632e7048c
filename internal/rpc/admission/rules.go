package admission

// For step 8: who may call which RPC, as the contract says.

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/policy"
)

// Rule says who may call an RPC, as declared in the contract.
type Rule struct {
	Procedure  string // "/berth.v1.BookingService/Book"
	Kind       v1.Access_Rule
	Permission string // "" if the RPC needs none
	// Accounts allows service accounts to access what they created, with RULE_SELF.
	Accounts bool
	StepUp   bool // people need the sign-in that the tenant asks for
	// Deprecated is since when the RPC is; zero if it is not.
	Deprecated time.Time

	ReadOnly  bool // has no side effects
	Cacheable bool // the caller's private cache may store responses
	request   protoreflect.MessageDescriptor
	tenantID  protoreflect.FieldDescriptor // of the request
}

// mutates reports whether the RPC has side effects and a caller.
func (r Rule) mutates() bool { return !r.ReadOnly && r.Kind != v1.Access_RULE_PUBLIC }

// deprecatedMonths is for how long a deprecated RPC goes on working.
const deprecatedMonths = 12

// tellDeprecated sets the headers that tell of a deprecated RPC: RFC 9745 and RFC 8594.
func (r Rule) tellDeprecated(response http.Header) {
	if !r.Deprecated.IsZero() {
		response.Set("Deprecation", "@"+strconv.FormatInt(r.Deprecated.Unix(), 10))
		response.Set("Sunset", r.Deprecated.AddDate(0, deprecatedMonths, 0).Format(http.TimeFormat))
	}
}

const contract = protoreflect.FullName("berth.v1")

// Rules returns the rule of every RPC in the contract by procedure. An RPC that does not declare a rule, or that
// declares a permission that does not exist, is an error, since an RPC without a rule must not be served.
func Rules() (map[string]Rule, error) {
	rules := make(map[string]Rule)
	var invalid error
	protoregistry.GlobalFiles.RangeFilesByPackage(contract, func(file protoreflect.FileDescriptor) bool {
		for s := range file.Services().Len() {
			methods := file.Services().Get(s).Methods()
			for m := range methods.Len() {
				rule, err := ruleOf(methods.Get(m))
				if err != nil {
					invalid = errors.Join(invalid, fmt.Errorf("%s: %w", methods.Get(m).FullName(), err))
				}
				rules[rule.Procedure] = rule
			}
		}
		return true
	})
	return rules, invalid
}

func ruleOf(method protoreflect.MethodDescriptor) (Rule, error) {
	rule := Rule{
		Procedure: fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name()),
		ReadOnly:  isReadOnly(method),
		request:   method.Input(),
		tenantID:  method.Input().Fields().ByName("tenant_id"),
	}
	access, _ := proto.GetExtension(method.Options(), v1.E_Access).(*v1.Access)
	rule.Kind, rule.Permission, rule.Accounts = access.GetRule(), access.GetPermission(), access.GetServiceAccounts()
	rule.StepUp = access.GetStepUp()
	if since := access.GetDeprecatedSince(); since != "" {
		var err error
		if rule.Deprecated, err = time.Parse(time.DateOnly, since); err != nil {
			return rule, fmt.Errorf("deprecated_since: %w", err)
		}
	}
	if options, _ := method.Options().(*descriptorpb.MethodOptions); options.GetDeprecated() == rule.Deprecated.IsZero() {
		return rule, errors.New("deprecated and deprecated_since go together")
	}

	rule.Cacheable = rule.ReadOnly && cacheablePermissions[rule.Permission]

	_, known := policy.IndexOf(rule.Permission)
	switch {
	case method.IsStreamingClient():
		return rule, errors.New("a stream of requests may name several tenants")
	case rule.Permission != "" && !known:
		return rule, fmt.Errorf("there is no permission %q", rule.Permission)
	case rule.Kind == v1.Access_RULE_PUBLIC: // a signature or a key names the tenant
	case rule.tenantID == nil || rule.tenantID.Kind() != protoreflect.StringKind || rule.tenantID.Number() != 1:
		return rule, fmt.Errorf("%s lacks string tenant_id = 1", rule.request.FullName())
	}
	if rule.Accounts && rule.Kind != v1.Access_RULE_SELF {
		return rule, errors.New("service_accounts without RULE_SELF")
	}
	switch rule.Kind {
	case v1.Access_RULE_PERMISSION:
		if rule.Permission == "" {
			return rule, errors.New("RULE_PERMISSION without a permission")
		}
	case v1.Access_RULE_PUBLIC:
		if rule.Permission != "" {
			return rule, errors.New("RULE_PUBLIC with a permission")
		}
	case v1.Access_RULE_TOKEN:
		if rule.Permission != "" {
			return rule, errors.New("RULE_TOKEN with a permission")
		}
	case v1.Access_RULE_SELF:
	default:
		return rule, errors.New("the option (berth.v1.access) is missing")
	}
	return rule, nil
}

// isReadOnly reports whether an RPC changes nothing. Reads whose request has a secret are IDEMPOTENT: Connect serves
// those without side effects over GET, too, which has the request in its URL.
func isReadOnly(method protoreflect.MethodDescriptor) bool {
	options, _ := method.Options().(*descriptorpb.MethodOptions)
	return options.GetIdempotencyLevel() != descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN
}
