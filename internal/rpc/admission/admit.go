package admission

// Steps 2, and 7 to 9: who calls, in which tenant, whether they may, and whether the message is valid.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	validatepb "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
)

// checks authenticates and authorizes requests: who calls, in which tenant, and whether they may. Only then it
// validates the message, so that strangers learn nothing from validation errors.
type checks struct {
	rules     map[string]Rule
	verifier  *token.Verifier
	guard     *access.Guard
	validator protovalidate.Validator
	limits    limits
	rates     *rates
	// stepUp reads which sign-in a tenant asks people for.
	stepUp     func(context.Context, tenant.TenantID) (catalog.StepUp, error)
	actorNames func(context.Context, tenant.Caller, []string) (map[string]string, error)
	// bindIssuer makes an issuer the one of a member's tokens, if it was one of others until now.
	bindIssuer func(ctx context.Context, by tenant.Caller, issuer string, others []string) error
	// issuers are those of members who are bound again, to the issuer of their next token. The empty one is that of
	// members who have not signed in yet.
	issuers []string
	// trustEmails says that an email is the caller's if the sign-in service has verified it.
	trustEmails bool
	now         func() time.Time
}

// authenticate verifies the token. It runs before the body is read.
func (c *checks) authenticate(ctx context.Context, rule Rule, header http.Header) error {
	if rule.Kind == v1.Access_RULE_UNSPECIFIED {
		return errUnknownProcedure // a public RPC says so in the contract; what says nothing is refused
	}
	if rule.Kind == v1.Access_RULE_PUBLIC {
		return nil
	}
	if len(header.Values("Authorization")) > 1 {
		return token.ErrSeveral // proxies and servers may disagree which one counts
	}
	scheme, raw, _ := strings.Cut(header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		raw = "" // rejected like a missing token
	}
	principal, err := c.verifier.Verify(ctx, strings.TrimSpace(raw))
	if err != nil {
		return c.rates.rejectToken(ctx, raw, err)
	}
	request.CallFrom(ctx).Principal = principal
	return nil
}

var errUnknownProcedure = errors.New("rpc: the procedure is not in the contract")

// admit authorizes a caller for a request message and validates it. It writes the tenant into the message.
func (c *checks) admit(ctx context.Context, procedure string, message any) error {
	m, err := protoMessage(message)
	if err != nil {
		return err
	}
	rule, ok := c.rules[procedure]
	if !ok {
		return errUnknownProcedure
	}
	undecodable := decodeError(m)
	if rule.Kind != v1.Access_RULE_PUBLIC {
		call := request.CallFrom(ctx)
		id, err := resolveTenant(call.Principal, m, rule)
		if err = cmp.Or(undecodable, err); err != nil {
			return err // who calls tenants of others takes nothing from them
		}
		if err := c.rates.takeTenant(id, call.Principal); err != nil {
			return err
		}
		call.Authorize = func(ctx context.Context) (tenant.Caller, error) {
			caller, err := c.authorize(ctx, id, call.Principal, rule)
			if by := call.Principal; by.Verified && c.trustEmails && !by.Own {
				caller.Email = by.Email
			}
			return caller, err
		}
		if call.Caller, err = call.Authorize(ctx); err != nil {
			return err
		}
		call.ActorNames = c.actorNames
		call.StepUp = func(ctx context.Context, next ...catalog.StepUp) error {
			return c.checkStepUp(ctx, id, call.Principal, next)
		}
		if rule.StepUp {
			if err := call.StepUp(ctx); err != nil {
				return err
			}
		}
		call.Admitted = true
	}
	if undecodable != nil {
		return undecodable
	}
	return c.validate(m)
}

// checkStepUp rejects people whose sign-in is neither recent nor strong enough for the tenant. Service accounts do not
// sign in.
func (c *checks) checkStepUp(
	ctx context.Context, id tenant.TenantID, by token.Principal, next []catalog.StepUp,
) error {
	if strings.HasPrefix(by.Subject, tenant.AccountPrefix) {
		return nil
	}
	asked, err := c.stepUp(ctx, id)
	if err != nil {
		return err
	}
	now := c.now()
	for _, asked := range append(next, asked) {
		if err := asked.Check(by.SignedInAt, by.ACR, now); err != nil {
			return err
		}
	}
	return nil
}

// resolveTenant returns the tenant of a request and writes it into the message. A tenant that the token does not name
// is rejected without a lookup, which keeps tenants apart even if everything behind it fails.
func resolveTenant(principal token.Principal, m proto.Message, rule Rule) (id tenant.TenantID, err error) {
	named := m.ProtoReflect().Get(rule.tenantID).String()
	switch {
	case named != "":
		if id, err = tenant.Parse[tenant.TenantID](named); err != nil {
			return id, fault.Invalid("tenant_id", "tenant_id must be a UUID.")
		}
		if !principal.ValidFor(id) {
			return id, errTenantForbidden
		}
	case len(principal.Tenants) == 1:
		id = principal.Tenants[0]
	case len(principal.Tenants) == 0:
		return id, errTenantForbidden
	default:
		return id, errTenantRequired
	}
	m.ProtoReflect().Set(rule.tenantID, protoreflect.ValueOfString(id.String()))
	return id, nil
}

var (
	errTenantForbidden = fault.New(
		fault.PermissionDenied, fault.TenantForbidden, "The token is not valid for this tenant.",
	)
	errTenantRequired = fault.New(
		fault.InvalidArgument, fault.TenantRequired, "The token is valid for several tenants. Set tenant_id to one of them.",
	).WithField("tenant_id")
)

// authorize returns the caller if the guard allows the RPC. RULE_TOKEN allows people who are no members, too, as
// callers without a member. RULE_SELF allows every active member to access what is their own, and service accounts if
// the contract says so. The permission of such an RPC, if it has one, allows access to what is everyone's.
func (c *checks) authorize(
	ctx context.Context, id tenant.TenantID, by token.Principal, rule Rule,
) (tenant.Caller, error) {
	caller := tenant.Caller{Tenant: id, Subject: by.SubjectIn(id), SignIn: by.SignIn}
	if rule.Permission == "" {
		holder, err := c.guard.Holder(ctx, id, caller.Subject)
		if err != nil {
			return caller, err
		}
		caller.Member, caller.Roles, caller.May, caller.SelfOnly = holder.Member, holder.Roles, holder.May, true
		if rule.Kind == v1.Access_RULE_TOKEN && !holder.Active && !strings.HasPrefix(by.Subject, tenant.AccountPrefix) {
			return caller, nil // who becomes a member only now
		}
		if !holder.Active || !rule.allowsSelf(holder.Member) {
			return caller, notActive(by, holder.Deactivated, holder.Issuer)
		}
		return caller, c.checkIssuer(ctx, by, caller, holder.Issuer)
	}
	decision, err := c.guard.Decide(ctx, id, caller.Subject, rule.Permission)
	if err != nil {
		return caller, err
	}
	caller.Member, caller.Roles, caller.May = decision.Member, decision.Roles, decision.May
	if decision.Allowed {
		return caller, c.checkIssuer(ctx, by, caller, decision.Issuer)
	}
	caller.SelfOnly = rule.Kind == v1.Access_RULE_SELF && decision.Active && rule.allowsSelf(decision.Member)
	if !caller.SelfOnly && decision.Deactivated {
		return caller, notActive(by, decision.Deactivated, decision.Issuer)
	}
	if !caller.SelfOnly {
		return caller, fault.New(
			fault.PermissionDenied, fault.PermissionDeniedReason, "The permission %s is needed.", rule.Permission,
		).
			WithMetadata("permission", rule.Permission)
	}
	return caller, c.checkIssuer(ctx, by, caller, decision.Issuer)
}

// checkIssuer rejects a token whose subject belongs to a member, but at another issuer: two people can have the same
// subject there. A member belongs to the issuer of their first token. Berth's own tokens are for any member.
func (c *checks) checkIssuer(ctx context.Context, by token.Principal, caller tenant.Caller, issuer string) error {
	switch {
	case by.Own, issuer == by.Issuer:
		return nil
	case slices.Contains(c.issuers, issuer):
		return c.bindIssuer(ctx, caller, by.Issuer, c.issuers)
	default:
		return errNotActiveMember.WithCause(fmt.Errorf("rpc: the member's tokens come from %s", issuer))
	}
}

// allowsSelf reports whether an active caller can own what the RPC accesses. Service accounts have no member ID.
func (r Rule) allowsSelf(member tenant.MemberID) bool { return r.Accounts || !member.IsZero() }

var errNotActiveMember = fault.New(
	fault.PermissionDenied, fault.NotAMember, "Only active members of the tenant may do this.",
)

// notActive is the error for a caller who is no active member. Whose membership was deactivated learns that, if the
// token is theirs: the same subject at another issuer may be someone else's.
func notActive(by token.Principal, deactivated bool, issuer string) error {
	if deactivated && (by.Own || issuer == by.Issuer) {
		return errMemberInactive
	}
	return errNotActiveMember
}

var errMemberInactive = fault.New(
	fault.PermissionDenied, fault.MemberInactive, "Your membership was deactivated.",
)

// validator has the compiled rules of every request. They are compiled at start, so that an invalid rule shows before
// the first request and no request waits. Compiling takes time and the contract never changes, so the process does it
// only once.
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

func (c *checks) validate(m proto.Message) error {
	if err := c.limits.check(m.ProtoReflect(), ""); err != nil {
		return err
	}
	err := c.validator.Validate(m)
	found, ok := errors.AsType[*protovalidate.ValidationError](err)
	if !ok || len(found.Violations) == 0 {
		return err // nil, or an error of a rule itself
	}
	found.Violations = slices.DeleteFunc(found.Violations, func(v *protovalidate.Violation) bool {
		return keepsText(m.ProtoReflect(), v.Proto)
	})
	if len(found.Violations) == 0 {
		return nil
	}
	return validationFault(found)
}

// keepsText reports whether a violation is in a text that an update leaves as it is: update_mask does not name it.
// Clients send back what they have read, and what was stored before a later rule must not be in the way of other edits.
// Other values can be converted before the mask is looked at, so they are right in any case.
func keepsText(m protoreflect.Message, v *validatepb.Violation) bool {
	if rule := v.GetRuleId(); rule != "string.email" && rule != "string.pattern" {
		return false
	}
	fields, path := m.Descriptor().Fields(), v.GetField().GetElements()
	mask := fields.ByName("update_mask")
	if mask == nil || !m.Has(mask) || len(path) < 2 {
		return false
	}
	// What is updated comes before its mask.
	if updated := fields.Get(mask.Index() - 1); path[0].GetFieldName() != string(updated.Name()) {
		return false
	}
	paths := m.Get(mask).Message().Interface().(*fieldmaskpb.FieldMask).GetPaths()
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(named string) bool {
		first, _, _ := strings.Cut(named, ".")
		return first == path[1].GetFieldName() || first == "*"
	})
}
