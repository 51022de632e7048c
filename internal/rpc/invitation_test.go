package rpc

import (
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Who is a member already accepts an invitation of their own, which gives them what it says, and no other.
func TestAcceptInvitation_OfWhoIsAMemberAlready(t *testing.T) {
	t.Parallel()
	later := time.Duration(0)
	s := newTestServer(t, func(c *app.Config) { c.Now = func() time.Time { return time.Now().Add(later) } })
	ctx, client := t.Context(), berthv1connect.NewInvitationServiceClient(s.Client, s.URL)
	owner := s.caller("owner")
	add := func(name string) member.Member {
		return expect.Value(s.App.Accounts.CreateMember(ctx, owner, member.Member{
			Subject: name, Name: name, Email: name + "@example.com",
		}))(t)
	}
	invite := func(by tenant.Caller, id tenant.MemberID) (link string) {
		expect.OK(t)(s.App.Accounts.CreateInvitations(ctx, by, []accounts.Invitee{{Member: id}}))
		taken := expect.Value(s.App.Mails.Take(ctx, by.Tenant))(t)
		must.SliceLen(t, 1, taken.Out)
		_, link, found := strings.Cut(taken.Out[0].Message.Text, accounts.InvitePath)
		must.True(t, found)
		return strings.Fields(link)[0]
	}
	accept := func(subject, link string) (*v1.Member, error) {
		answer, err := client.AcceptInvitation(ctx, as(s.Token(t, subject), &v1.AcceptInvitationRequest{Link: link}))
		if err != nil {
			return nil, err
		}
		return answer.Msg.GetMember(), nil
	}
	// confirmed is what an invitation changes: the proven address, and whether permissions wait for it.
	confirmed := func(id tenant.MemberID) (email string, waits bool) {
		must.NoError(t, s.DB.Owner.QueryRow(ctx, `select sign_in_email, by_invitation from members
			where tenant_id = $1 and id = $2`, s.Tenant, id).Scan(&email, &waits))
		return email, waits
	}

	mia, eve := add("mia"), add("eve")
	expect.OK(t)(s.App.Accounts.AssignRole(ctx, owner, mia.ID, tenant.RoleAdmin))
	link := invite(owner, mia.ID)
	_, waits := confirmed(mia.ID)
	test.True(t, waits)
	refused(t, "already_exists ALREADY_EXISTS")(accept("eve", link))
	email, waits := confirmed(mia.ID)
	test.True(t, waits && email == "")
	email, _ = confirmed(eve.ID)
	test.EqOp(t, "", email)
	got := expect.Value(accept("mia", link))(t)
	test.EqOp(t, mia.ID.String(), got.GetId())
	test.True(t, got.GetEmailConfirmed())
	test.SliceContains(t, got.GetRoles(), tenant.RoleAdmin)
	email, waits = confirmed(mia.ID)
	test.True(t, !waits && email == "mia@example.com")

	refused(t, "LINK_INVALID", test.Sprint("used"))(accept("mia", link))
	older := invite(owner, eve.ID)
	newer := invite(owner, eve.ID)
	refused(t, "LINK_INVALID", test.Sprint("replaced"))(accept("eve", older))
	later = member.InvitationLife + time.Hour
	refused(t, "LINK_INVALID", test.Sprint("old"))(accept("eve", newer))
	other := s.NewTenant(t, "Other")
	theirs := expect.Value(s.App.Accounts.CreateMember(ctx, tenant.System(other), member.Member{
		Subject: "eve", Name: "Eve", Email: "eve@example.com",
	}))(t)
	refused(t, "LINK_INVALID", test.Sprint("another tenant's"))(accept("eve", invite(tenant.System(other), theirs.ID)))
	email, _ = confirmed(eve.ID)
	test.EqOp(t, "", email)
	expect.OK(t)(accept("eve", invite(owner, eve.ID)))
}
