package member

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

func TestLink(t *testing.T) {
	t.Parallel()
	good := Member{Email: "mia@example.com", Status: Active, Roles: []string{tenant.RoleMember}}
	with := func(change func(*Member)) Member {
		m := good
		change(&m)
		return m
	}
	as := func(roles ...string) Member { return with(func(m *Member) { m.Roles = roles }) }
	const address = "mia@example.com"
	for name, tt := range map[string]struct {
		m     Member
		email string
		want  fault.Reason
	}{
		"the address":     {good, address, ""},
		"ignoring case":   {good, "Mia@Example.COM", ""},
		"another address": {good, "mia@example.org", fault.NotAMember},
		"no address":      {with(func(m *Member) { m.Email = "" }), "", fault.NotAMember},
		"inactive":        {with(func(m *Member) { m.Status = Inactive }), address, fault.NotAMember},
		"linked already":  {with(func(m *Member) { m.Subject = "other" }), address, fault.NotAMember},
		"an address that others replaced": {
			with(func(m *Member) { m.SignInEmail = "mia@example.net" }), address, fault.NotAMember,
		},
		"a coach":  {as(tenant.RoleCoach), address, ""},
		"an admin": {as(tenant.RoleAdmin), address, fault.InvitationRequired},
		"an owner": {as(tenant.RoleCoach, tenant.RoleOwner), address, fault.InvitationRequired},
	} {
		linked, err := tt.m.Link("auth0|7", tt.email, nil, time.Time{})
		test.EqOp(t, tt.want, fault.ReasonOf(err), test.Sprint(name))
		if tt.want != "" {
			test.Eq(t, tt.m, linked, test.Sprint(name))
			continue
		}
		test.EqOp(t, "auth0|7", linked.Subject, test.Sprint(name))
		test.True(t, linked.Proven(), test.Sprint(name))
	}
}
