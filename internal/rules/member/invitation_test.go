package member_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestInvite_WaitsForRoom(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)
	m := member.Member{Email: "mia@example.com", Status: member.Active, Roles: []string{"member"}}
	for _, tc := range []struct {
		before *time.Time
		want   time.Time
	}{
		{nil, now},
		{new(now.Add(-24 * time.Hour)), now},
		{new(now.Add(-time.Hour)), now.Add(23 * time.Hour)},
		{new(now.Add(time.Hour)), now.Add(25 * time.Hour)}, // others wait already
	} {
		i := expect.Value(m.Invite(tenant.InvitationID{}, "desk", tc.before, nil, now))(t)
		test.EqOp(t, tc.want, i.SentAt)
		test.EqOp(t, tc.want.Add(7*24*time.Hour), i.ExpiresAt)
		test.True(t, i.Good(m, nil, i.ExpiresAt.Add(-1)))
		test.False(t, i.Good(m, nil, i.ExpiresAt))
	}
}

func TestGood_NeedsTheMemberWhoWasInvited(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)
	m := member.Member{Email: "mia@example.com", Status: member.Active, Roles: []string{"coach", "member"}}
	i := expect.Value(m.Invite(tenant.InvitationID{}, "desk", nil, nil, now))(t)
	must.True(t, i.Good(m, nil, now))
	for why, change := range map[string]func(i *member.Invitation, m *member.Member){
		"accepted":       func(i *member.Invitation, _ *member.Member) { i.AcceptedAt = &now },
		"revoked":        func(i *member.Invitation, _ *member.Member) { i.RevokedAt = &now },
		"inactive":       func(_ *member.Invitation, m *member.Member) { m.Status = member.Inactive },
		"another member": func(i *member.Invitation, _ *member.Member) { i.Member = tenant.New[tenant.MemberID](now) },
		"another address": func(_ *member.Invitation, m *member.Member) {
			m.Email = "noa@example.com"
		},
		"an address that others replaced": func(_ *member.Invitation, m *member.Member) {
			m.SignInEmail = "noa@example.com"
		},
		"more roles": func(_ *member.Invitation, m *member.Member) { m.Roles = []string{"coach", "member", "owner"} },
	} {
		changed, of := i, m
		change(&changed, &of)
		test.False(t, changed.Good(of, nil, now), test.Sprint(why))
	}
	fewer := m
	fewer.Roles, fewer.SignInEmail = []string{"member"}, "MIA@example.com"
	test.True(t, i.Good(fewer, nil, now))
}
