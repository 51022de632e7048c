package accounts_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func begin(*engine.Tx, tenant.MemberID) {}

// addressee creates a member with an address that staff entered.
func addressee(s *testkit.Studio, name string) member.Member {
	s.T.Helper()
	return expect.Value(s.App.Accounts.CreateMember(s.T.Context(), s.Owner, member.Member{
		Name: name, Email: strings.ToLower(name) + "@example.com",
	}))(s.T)
}

// invited invites a member, and returns the link that the mail has.
func invited(s *testkit.Studio, id tenant.MemberID) string {
	s.T.Helper()
	expect.OK(s.T)(s.App.Accounts.InviteMember(s.T.Context(), s.Owner, id))
	taken := expect.Value(s.App.Mails.Take(s.T.Context(), s.Tenant))(s.T)
	must.SliceLen(s.T, 1, taken.Out)
	_, link, found := strings.Cut(taken.Out[0].Message.Text, "https://berth.example"+accounts.InvitePath)
	must.True(s.T, found)
	return strings.Fields(link)[0]
}

// refused fails the test if a link is good, and checks that it says nothing about who exists.
func refused(s *testkit.Studio, why, link string) {
	s.T.Helper()
	_, shown := s.App.Accounts.GetInvitationLink(s.T.Context(), link)
	test.EqOp(s.T, fault.LinkInvalid, fault.ReasonOf(shown), test.Sprint(why))
	_, accepted := s.App.Accounts.AcceptInvitation(s.T.Context(), link, begin)
	test.EqOp(s.T, fault.LinkInvalid, fault.ReasonOf(accepted), test.Sprint(why))
}

func TestInvitation_ConfirmsTheAddressOnce(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := addressee(studio, "Mia")
	link := invited(studio, mia.ID)
	for range 2 { // opening changes nothing
		shown := expect.Value(studio.App.Accounts.GetInvitationLink(t.Context(), link))(t)
		test.EqOp(t, "Harbour Yoga", shown.Tenant)
		test.EqOp(t, "Mia", shown.Name)
		test.EqOp(t, "mia@example.com", shown.Address)
	}
	test.EqOp(t, "", studio.Text(`select confirmed_email from members where id = $1`, mia.ID))
	var began tenant.MemberID
	accepted := expect.Value(studio.App.Accounts.AcceptInvitation(t.Context(), link,
		func(_ *engine.Tx, as tenant.MemberID) { began = as }))(t)
	test.EqOp(t, mia.ID, began)
	test.EqOp(t, 2, accepted.Version)
	test.EqOp(t, "mia@example.com", studio.Text(`select confirmed_email from members where id = $1`, mia.ID))
	test.EqOp(t, mia.ID.String(), studio.Text(
		`select actor from audit_entries where action = 'member.invitation_accepted'`))
	test.EqOp(t, studio.Owner.Member.String(), studio.Text(
		`select actor from audit_entries where action = 'member.invited'`))
	refused(studio, "used", link)
}

func TestInvitation_IsGoodForNothingElse(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for why, spoil := range map[string]func(s *testkit.Studio, m member.Member){
		"too old": func(s *testkit.Studio, _ member.Member) { s.Clock.Advance(member.InvitationLife) },
		"revoked": func(s *testkit.Studio, m member.Member) {
			s.NoError(s.App.Accounts.RevokeInvitation(ctx, s.Owner, m.ID))
		},
		"not the newest": func(s *testkit.Studio, m member.Member) {
			expect.OK(s.T)(s.App.Accounts.InviteMember(ctx, s.Owner, m.ID))
		},
		"the address has changed": func(s *testkit.Studio, m member.Member) { readdress(s, m.ID, "other@example.com") },
		"the address has changed, and is back": func(s *testkit.Studio, m member.Member) {
			readdress(s, m.ID, "other@example.com")
			readdress(s, m.ID, "mia@example.com")
		},
		"deactivated": func(s *testkit.Studio, m member.Member) {
			expect.OK(s.T)(s.App.Accounts.DeactivateMember(ctx, s.Owner, m.ID))
		},
		"deactivated, and active again": func(s *testkit.Studio, m member.Member) {
			expect.OK(s.T)(s.App.Accounts.DeactivateMember(ctx, s.Owner, m.ID))
			expect.OK(s.T)(s.App.Accounts.ReactivateMember(ctx, s.Owner, m.ID))
		},
		"an admin since": func(s *testkit.Studio, m member.Member) {
			s.Exec(`insert into member_roles values ($1, $2, 'admin', now())`, s.Tenant, m.ID)
		},
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			studio := testkit.New(t)
			mia := addressee(studio, "Mia")
			link := invited(studio, mia.ID)
			spoil(studio, mia)
			refused(studio, why, link)
			test.EqOp(t, "", studio.Text(`select confirmed_email from members where id = $1`, mia.ID))
		})
	}
}

func readdress(s *testkit.Studio, id tenant.MemberID, email string) {
	s.T.Helper()
	expect.OK(s.T)(s.App.Accounts.UpdateMember(s.T.Context(), s.Owner, id, nil, func(m *member.Member) error {
		m.Email = email
		return nil
	}))
}

func TestInvitation_IsNotForged(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia, seals := addressee(studio, "Mia"), studio.Config().Seals
	link := invited(studio, mia.ID)
	id := expect.Value(tenant.Parse[tenant.InvitationID](studio.Text(`select id::text from invitations`)))(t)
	for why, text := range map[string]string{
		"empty": "", "garbage": "abc", "cut": link[:len(link)-1],
		"of another purpose": seals.Sign(studio.Tenant, "confirm", id.UUID[:]),
		"of another tenant":  seals.Sign(studio.OtherTenant().Tenant, "invitation", id.UUID[:]),
		"of nothing":         seals.Sign(studio.Tenant, "invitation", mia.ID.UUID[:]),
		"too long":           seals.Sign(studio.Tenant, "invitation", append(id.UUID[:], 0)),
	} {
		refused(studio, why, text)
	}
	expect.OK(t)(studio.App.Accounts.AcceptInvitation(t.Context(), link, begin))
}

// Of several who accept at once, on two nodes, one does.
func TestInvitation_IsAcceptedByOne(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	link := invited(studio, addressee(studio, "Mia").ID)
	var all sync.WaitGroup
	var mu sync.Mutex
	accepted := 0
	for range 6 {
		all.Go(func() {
			if _, err := studio.App.Accounts.AcceptInvitation(t.Context(), link, begin); err == nil {
				mu.Lock()
				accepted++
				mu.Unlock()
			} else {
				test.EqOp(t, fault.LinkInvalid, fault.ReasonOf(err))
			}
		})
	}
	all.Wait()
	test.EqOp(t, 1, accepted)
}

// Who replaces the address that a member has confirmed does not get the invitation of that member.
func TestInvite_RefusesAnAddressThatOthersReplaced(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := addressee(studio, "Mia")
	expect.OK(t)(studio.App.Accounts.AcceptInvitation(t.Context(), invited(studio, mia.ID), begin))
	readdress(studio, mia.ID, "desk@example.com")
	expect.Reason(t, fault.InvalidField)(studio.App.Accounts.InviteMember(t.Context(), studio.Owner, mia.ID))
	readdress(studio, mia.ID, "Mia@example.com") // hers, as before
	expect.OK(t)(studio.App.Accounts.InviteMember(t.Context(), studio.Owner, mia.ID))
}

func TestInvite_RefusesWhomItCannotReach(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	ctx, invite := t.Context(), studio.App.Accounts.InviteMember
	nameless := expect.Value(studio.App.Accounts.CreateMember(ctx, studio.Owner, member.Member{Name: "No Mail"}))(t)
	expect.Reason(t, fault.InvalidField)(invite(ctx, studio.Owner, nameless.ID))
	gone := addressee(studio, "Gone")
	expect.OK(t)(studio.App.Accounts.DeactivateMember(ctx, studio.Owner, gone.ID))
	expect.Reason(t, fault.InvalidField)(invite(ctx, studio.Owner, gone.ID))
	expect.Reason(t, fault.MemberNotFound)(invite(ctx, studio.Owner, testkit.NewID[tenant.MemberID]()))
	mia := addressee(studio, "Mia")
	other := studio.OtherTenant()
	expect.Reason(t, fault.MemberNotFound)(invite(ctx, other.Owner, mia.ID))
}

// Nobody invites, or ends the invitation of, a member with permissions that they lack.
func TestInvite_RefusesMembersWithMorePermissions(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	ctx := t.Context()
	boss := studio.AddPerson("Boss", tenant.RoleAdmin)
	studio.Exec(`update members set email = 'boss@example.com' where id = $1`, boss.Member)
	expect.Reason(t, fault.PermissionDeniedReason)(
		studio.App.Accounts.InviteMember(ctx, studio.Coach, boss.Member))
	test.EqOp(t, fault.PermissionDeniedReason,
		fault.ReasonOf(studio.App.Accounts.RevokeInvitation(ctx, studio.Coach, boss.Member)))
	expect.OK(t)(studio.App.Accounts.InviteMember(ctx, studio.Owner, boss.Member))
}

// More than so many in a day wait.
func TestInvite_LetsSoManyLeaveInADay(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := addressee(studio, "Mia")
	studio.Exec(`insert into invitations (tenant_id, id, member_id, address, roles, invited_by, created_at, sent_at,
			expires_at, revoked_at)
		select $1, gen_random_uuid(), $2, 'mia@example.com', '{member}', 'desk', $3, $3, $3, $3
		from generate_series(1, $4)`, studio.Tenant, mia.ID, testkit.Noon.Add(-time.Hour), member.MaxInvitations-1)
	last := expect.Value(studio.App.Accounts.InviteMember(t.Context(), studio.Owner, mia.ID))(t)
	test.EqOp(t, testkit.Noon, last.SentAt)
	waits := expect.Value(studio.App.Accounts.InviteMember(t.Context(), studio.Owner, mia.ID))(t)
	test.EqOp(t, testkit.Noon.Add(23*time.Hour), waits.SentAt)
	test.EqOp(t, waits.SentAt.Add(member.InvitationLife), waits.ExpiresAt)
	test.SliceEmpty(t, expect.Value(studio.App.Mails.Take(t.Context(), studio.Tenant))(t).Out)
	studio.Clock.Advance(23 * time.Hour)
	test.SliceLen(t, 1, expect.Value(studio.App.Mails.Take(t.Context(), studio.Tenant))(t).Out)
}
