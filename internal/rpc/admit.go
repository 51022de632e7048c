package rpc

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
)

// admission lets requests in: who calls, in which tenant, whether they may, and
// only then whether the message is right, so that strangers learn nothing from
// what is said about it.
type admission struct {
	rules     map[string]Rule
	verifier  *token.Verifier
	guard     *access.Guard
	validator protovalidate.Validator
}

// authenticate reads the token before anything of the body is read.
func (a *admission) authenticate(ctx context.Context, procedure string, header http.Header) error {
	rule, ok := a.rules[procedure]
	if !ok {
		return errUnguarded
	}
	if rule.Kind == v1.Access_RULE_PUBLIC {
		return nil
	}
	scheme, raw, _ := strings.Cut(header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		raw = "" // which is refused like no token at all
	}
	principal, err := a.verifier.Verify(ctx, strings.TrimSpace(raw))
	if err != nil {
		return err
	}
	request.CallOf(ctx).Principal = principal
	return nil
}

var errUnguarded = errors.New("rpc: a procedure that the contract does not know")

// admit judges a request message. Whoever reads it later finds its tenant named.
func (a *admission) admit(ctx context.Context, procedure string, message any) error {
	m, err := protoMessage(message)
	if err != nil {
		return err
	}
	rule, ok := a.rules[procedure]
	if !ok {
		return errUnguarded
	}
	if err := undecoded(m); err != nil {
		return err
	}
	if rule.Kind != v1.Access_RULE_PUBLIC {
		c := request.CallOf(ctx)
		in, err := scope(c.Principal, m, rule)
		if err != nil {
			return err
		}
		c.Decide = func(ctx context.Context) (tenant.Caller, error) { return a.decide(ctx, in, c.Principal.Subject, rule) }
		if c.Caller, err = c.Decide(ctx); err != nil {
			return err
		}
		c.Admitted = true
	}
	return a.validate(m)
}

// scope finds the tenant that a request is about and writes it into the message.
// The token is the first wall between tenants: a name that is not on it is
// refused without looking it up.
func scope(principal token.Principal, m proto.Message, rule Rule) (in tenant.TenantID, err error) {
	named := m.ProtoReflect().Get(rule.tenantID).String()
	switch {
	case named != "":
		if in, err = tenant.Parse[tenant.TenantID](named); err != nil {
			return in, fault.Invalid("tenant_id", "tenant_id must be a UUID.")
		}
		if !principal.ValidFor(in) {
			return in, errForbidden
		}
	case len(principal.Tenants) == 1:
		in = principal.Tenants[0]
	case len(principal.Tenants) == 0:
		return in, errForbidden
	default:
		return in, errWhichTenant
	}
	m.ProtoReflect().Set(rule.tenantID, protoreflect.ValueOfString(in.String()))
	return in, nil
}

var (
	errForbidden   = fault.New(fault.PermissionDenied, fault.TenantForbidden, "The token is not good for that tenant.")
	errWhichTenant = fault.New(
		fault.InvalidArgument, fault.TenantRequired, "The token is good for several tenants: name one in tenant_id.",
	).WithField("tenant_id")
)

// decide asks the guard. RULE_SELF lets every active member in for things of
// their own, service accounts where the contract says so, and who holds the widening
// permission for everyone's.
func (a *admission) decide(ctx context.Context, in tenant.TenantID, subject string, rule Rule) (tenant.Caller, error) {
	who := tenant.Caller{Tenant: in, Subject: subject}
	if rule.Permission == "" {
		holder, err := a.guard.Holder(ctx, in, subject)
		if err != nil {
			return who, err
		}
		who.Member, who.Roles, who.SelfOnly = holder.Member, holder.Roles, true
		if !holder.Active || !rule.hasOwn(holder.Member) {
			return who, errNoMember
		}
		return who, nil
	}
	decision, err := a.guard.Decide(ctx, in, subject, rule.Permission)
	if err != nil {
		return who, err
	}
	who.Member, who.Roles = decision.Member, decision.Roles
	if decision.Allowed {
		return who, nil
	}
	who.SelfOnly = rule.Kind == v1.Access_RULE_SELF && decision.Active && rule.hasOwn(decision.Member)
	if !who.SelfOnly {
		return who, fault.New(fault.PermissionDenied, fault.PermissionDeniedReason, "The permission %s is needed.", rule.Permission).
			WithMetadata("permission", rule.Permission)
	}
	return who, nil
}

// hasOwn reports whether there may be things of an active caller's own. A service account has no membership.
func (r Rule) hasOwn(membership tenant.MemberID) bool { return r.Accounts || !membership.IsZero() }

var errNoMember = fault.New(fault.PermissionDenied, fault.PermissionDeniedReason, "Only active members of the tenant may do this.")

// validator has the rules of every request compiled, so that a wrong one shows
// before anybody is served, and nobody waits for it. The contract is the same for
// the life of the process, and compiling it takes time.
var validator = sync.OnceValues(func() (protovalidate.Validator, error) {
	rules, err := Rules()
	if err != nil {
		return nil, err
	}
	var requests []protoreflect.MessageDescriptor
	for _, rule := range rules {
		requests = append(requests, rule.request)
	}
	return protovalidate.New(protovalidate.WithMessageDescriptors(requests...), protovalidate.WithDisableLazy())
})

func (a *admission) validate(m proto.Message) error {
	if err := storable(m.ProtoReflect(), ""); err != nil {
		return err
	}
	err := a.validator.Validate(m)
	var found *protovalidate.ValidationError
	if errors.As(err, &found) && len(found.Violations) > 0 {
		return invalid(found)
	}
	return err // nil, or a rule that does not compile or run
}

// names of the services in the contract, in order, for reflection and health.
func serviceNames(rules map[string]Rule) []string {
	var names []string
	for procedure := range rules {
		name, _, _ := strings.Cut(strings.TrimPrefix(procedure, "/"), "/")
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
