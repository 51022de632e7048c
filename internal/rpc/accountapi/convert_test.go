package accountapi

import (
	"testing"

	"github.com/shoenig/test"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/rpc/convert/converttest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/signin"
)

// Every field is converted to the field of the same meaning, in both directions.
func TestConversions_CarryEveryField(t *testing.T) {
	t.Parallel()
	var l converttest.Lines
	converttest.Add(&l, subscriptionMessage, func(s *credit.Subscription) {
		s.Status, s.Plan.Kind = credit.Paused, credit.Course
	})
	converttest.Add(&l, func(line accounts.CreditLine) *v1.CreditLine {
		return lineMessage(line, nil)
	}, func(e *accounts.CreditLine) {
		e.Kind, e.Actor = credit.Correction, "0190a000-0000-7000-8000-00000000000a"
	})
	converttest.AddBack(&l, subscriptionQuery)
	converttest.AddBack(&l, lineQuery)
	converttest.AddBack(&l, func(m *v1.SubscriptionInput) credit.Subscription {
		var edited credit.Subscription
		editSubscription(m, []string{"end_time"})(&edited)
		return edited
	})
	converttest.Add(&l, memberMessage, func(m *member.Member) { m.Status = member.Inactive })
	converttest.AddBack(&l, memberValue)
	converttest.AddBack(&l, func(m *v1.MemberInput) member.Member {
		var edited member.Member
		test.NoError(t, editMember(m, []string{
			"subject", "name", "email", "phone", "tier", "tags", "locale", "time_zone", "notes",
		})(&edited))
		return edited
	})
	converttest.AddBack(&l, func(m *v1.MeInput) member.Member {
		var edited member.Member
		test.NoError(t, editMe(m, []string{"name", "email", "phone", "locale", "time_zone"})(&edited))
		return edited
	})
	converttest.Add(&l, func(i member.Invited) *v1.Invitation {
		return invitationMessage(i, member.InvitationExpired)
	})
	converttest.AddBack(&l, inviteeValue)
	converttest.AddBack(&l, invitationSearch)
	converttest.AddBack(&l, memberSearch)
	converttest.AddBack(&l, deviceSearch)
	converttest.Add(&l, pendingMessage, func(p *member.PendingContact) { p.Kind = member.ByPhone })
	converttest.Add(&l, deviceMessage, func(d *member.Device) { d.Kind = member.Android })
	converttest.Add(&l, signInMessage, func(s *signin.ListedSignIn) { s.Method = signin.ByPasskey })
	converttest.Add(&l, passkeyMessage)
	converttest.AddBack(&l, signInQuery)
	converttest.Add(&l, tenantMessage)
	converttest.AddBack(&l, func(m *v1.TenantInput) catalog.Tenant {
		var edited catalog.Tenant
		editTenant(m, []string{
			"name", "time_zone", "locale", "currency", "takes_payments", "audit_member_reads", "brand", "step_up",
		})(&edited)
		return edited
	})
	converttest.Add(&l, roleMessage)
	converttest.AddBack(&l, func(m *v1.RoleInput) grant.Role { return roleValue("", m) })
	converttest.AddBack(&l, func(m *v1.RoleInput) grant.Role {
		var edited grant.Role
		test.NoError(t, editRole(m, []string{"title", "description", "permissions"})(&edited))
		return edited
	})
	converttest.Add(&l, serviceAccountMessage)
	converttest.AddBack(&l, serviceAccountValue)
	converttest.AddBack(&l, serviceAccountSearch)
	converttest.AddBack(&l, auditQueryValue)
	converttest.AddBack(&l, accessSubject)
	converttest.Add(&l, transferMessage)
	l.Check(t, "testdata/fields.txt")
}
