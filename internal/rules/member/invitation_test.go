package member_test

import (
	"slices"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestInvite_WaitsForRoom(t *testing.T) {
	t.Parallel()
	m := member.Member{Email: "mia@example.com", Status: member.Active, Roles: []string{"member"}}
	full := func(oldest, latest time.Time) member.Departures {
		all := make(member.Departures, member.MaxInvitations)
		for i := range all {
			all[i] = latest
		}
		all[len(all)-1] = oldest
		return all
	}
	for _, tc := range []struct {
		leaves member.Departures
		want   time.Time
	}{
		{nil, noon},
		{full(noon, noon)[1:], noon},
		{full(noon.Add(-24*time.Hour), noon), noon},
		{full(noon.Add(-time.Hour), noon), noon.Add(23 * time.Hour)},
		{full(noon.Add(time.Hour), noon.Add(2*time.Hour)), noon.Add(25 * time.Hour)}, // others wait already
	} {
		i := expect.Value(m.Invite(tenant.InvitationID{}, "desk", &tc.leaves, nil, noon))(t)
		test.EqOp(t, tc.want, i.SentAt)
		test.EqOp(t, tc.want.Add(7*24*time.Hour), i.ExpiresAt)
		test.True(t, i.Good(m, nil, i.ExpiresAt.Add(-1)))
		test.False(t, i.Good(m, nil, i.ExpiresAt))
		test.SliceContains(t, tc.leaves, tc.want)
		test.True(t, slices.IsSortedFunc(tc.leaves, func(a, b time.Time) int { return b.Compare(a) }))
	}
}

// However many are invited at once, no more than so many leave within a day.
func TestDepartures_NeverExceedTheLimit(t *testing.T) {
	t.Parallel()
	var leaves member.Departures
	var all []time.Time
	for i := range 3*member.MaxInvitations + 5 {
		all = append(all, leaves.Add(noon.Add(time.Duration(i)*time.Second)))
	}
	for i := range len(all) - member.MaxInvitations {
		test.GreaterEq(t, member.InvitationDay, all[i+member.MaxInvitations].Sub(all[i]))
	}
}

func TestState_SaysWhatBecameOfAnInvitation(t *testing.T) {
	t.Parallel()
	i := member.Invitation{CreatedAt: noon, SentAt: noon.Add(time.Hour), ExpiresAt: noon.Add(2 * time.Hour)}
	for after, want := range map[time.Duration]member.InvitationState{
		0: member.InvitationWaiting, time.Hour: member.InvitationSent, 2*time.Hour - 1: member.InvitationSent,
		2 * time.Hour: member.InvitationExpired,
	} {
		test.EqOp(t, want, i.State(noon.Add(after)))
		test.NoError(t, i.CheckOpen())
	}
	i.RevokedAt = &noon
	test.EqOp(t, member.InvitationRevoked, i.State(noon))
	test.EqOp(t, fault.InvitationEnded, fault.ReasonOf(i.CheckOpen()))
	i.RevokedAt, i.AcceptedAt = nil, &noon
	test.EqOp(t, member.InvitationAccepted, i.State(noon.Add(3*time.Hour)))
	test.EqOp(t, fault.InvitationEnded, fault.ReasonOf(i.CheckOpen()))
}

func TestAccept_TakesOneAccount(t *testing.T) {
	t.Parallel()
	m := member.Member{Email: "mia@example.com", LinkedByEmail: true}
	i := member.Invitation{Address: "mia@example.com"}
	linked := expect.Value(m.AcceptAs("idp|7", i))(t)
	test.EqOp(t, "idp|7", linked.Subject)
	test.True(t, linked.Proven())
	test.False(t, linked.LinkedByEmail)
	expect.OK(t)(linked.AcceptAs("idp|7", i))
	expect.Reason(t, fault.AlreadyExistsReason)(linked.AcceptAs("idp|8", i))
}

// Whoever invites somebody vouches for the address, if nobody else does for all that they may do.
func TestAccept_IsVouchedFor(t *testing.T) {
	t.Parallel()
	i := member.Invitation{Address: "mia@example.com", InvitedBy: "ann"}
	m := member.Member{Email: "mia@example.com", EmailBy: "ben"}
	test.EqOp(t, "ben", m.Accept(i).EmailBy)
	m.ByInvitation = true
	test.EqOp(t, "ann", m.Accept(i).EmailBy)
	test.False(t, m.Accept(i).ByInvitation)
}

func TestGood_NeedsTheMemberWhoWasInvited(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)
	m := member.Member{Email: "mia@example.com", Status: member.Active, Roles: []string{"coach", "member"}}
	i := expect.Value(m.Invite(tenant.InvitationID{}, "desk", &member.Departures{}, nil, now))(t)
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
