package accounts_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/mails"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// deliver sends the mails that are due.
func deliver(s *testkit.Studio) []mails.Outgoing {
	s.T.Helper()
	out := expect.Value(s.App.Mails.Take(s.T.Context(), s.Tenant))(s.T).Out
	for _, o := range out {
		expect.OK(s.T)(s.App.Mails.Settle(s.T.Context(), s.Tenant, o, nil))
	}
	return out
}

// signedIn returns Mia, who has accepted an invitation to her address.
func signedIn(s *testkit.Studio) member.Member {
	s.T.Helper()
	m := addressee(s, "Mia")
	expect.OK(s.T)(invite(s, s.Owner, m.ID))
	for _, o := range deliver(s) {
		if o.Kind == content.MailInvitation {
			_, link, _ := strings.Cut(o.Message.Text, "https://berth.example"+accounts.InvitePath)
			expect.OK(s.T)(s.App.Accounts.AcceptInvitation(s.T.Context(), strings.Fields(link)[0], begin))
		}
	}
	must.EqOp(s.T, m.Email, s.Text(`select sign_in_email from members where id = $1`, m.ID))
	return m
}

// asked returns the link of the only mail that is due, which asks Mia's old address.
func asked(s *testkit.Studio) string {
	s.T.Helper()
	out := deliver(s)
	must.SliceLen(s.T, 1, out)
	must.EqOp(s.T, content.MailAddressChanged, out[0].Kind)
	must.EqOp(s.T, "mia@example.com", out[0].Message.To)
	_, link, found := strings.Cut(out[0].Message.Text, "https://berth.example"+accounts.AddressPath)
	must.True(s.T, found)
	return strings.Fields(link)[0]
}

func emailOf(s *testkit.Studio, id tenant.MemberID) string {
	return s.Text(`select email from members where id = $1`, id)
}

// Staff who put their own address in the place of a member's do not sign in with it: not by confirming it by hand, by
// an invitation, by another change, or by an account at the identity provider.
func TestAddressChange_SignsNobodyElseIn(t *testing.T) {
	t.Parallel()
	s := testkit.New(t)
	ctx := t.Context()
	config := s.Config()
	config.LinkByEmail = true
	linking := app.New(config).Accounts
	as := func(who string) tenant.Caller {
		return tenant.Caller{Tenant: s.Tenant, Subject: "idp|" + who, Email: who + "@example.com"}
	}
	mia := signedIn(s)
	check := func(why string) {
		t.Helper()
		_, again := invite(s, s.Owner, mia.ID)
		test.EqOp(t, fault.AddressInDoubt, fault.ReasonOf(again), test.Sprint(why))
		_, linked := linking.LinkMe(ctx, as("desk"), "https://idp.example")
		test.EqOp(t, fault.NotAMember, fault.ReasonOf(linked), test.Sprint(why))
	}
	readdress(s, mia.ID, "desk@example.com")
	check("changed")
	expect.OK(t)(confirmByHand(s, s.Coach, tenant.Caller{Member: mia.ID}, member.ByEmail, "desk@example.com"))
	check("confirmed by hand")
	readdress(s, mia.ID, "")
	readdress(s, mia.ID, "desk@example.com")
	check("removed, and entered again")
	s.Clock.Advance(30 * 24 * time.Hour)
	check("long ago, but no mail has left")
	expect.OK(t)(s.App.Accounts.DeactivateMember(ctx, s.Owner, mia.ID))
	expect.OK(t)(s.App.Accounts.ReactivateMember(ctx, s.Owner, mia.ID))
	check("deactivated, and active again")
	test.EqOp(t, "mia@example.com", s.Text(`select sign_in_email from members where id = $1`, mia.ID))
	readdress(s, mia.ID, "mia@example.com")
	expect.OK(t)(linking.LinkMe(ctx, as("mia"), "https://idp.example"))
}

func TestAddressChange_OldAddressAgrees(t *testing.T) {
	t.Parallel()
	s := testkit.New(t)
	ctx := t.Context()
	mia := signedIn(s)
	readdress(s, mia.ID, "new@example.com")
	link := asked(s)
	for range 2 { // opening changes nothing
		shown := expect.Value(s.App.Accounts.GetAddressLink(ctx, link))(t)
		test.Eq(t, accounts.AddressLink{Tenant: "Harbour Yoga", Brand: shown.Brand, Address: "n***@example.com"}, shown)
	}
	expect.Reason(t, fault.AddressInDoubt)(invite(s, s.Owner, mia.ID))
	for range 2 {
		s.NoError(s.App.Accounts.AgreeToAddress(ctx, link))
	}
	test.True(t, expect.Value(s.App.Accounts.GetAddressLink(ctx, link))(t).Agreed)
	test.EqOp(t, 1, audited(s, "member.address_agreed"))
	test.EqOp(t, 0, s.Count(`select count(*) from platform_mails`), test.Sprint("the second mail is not needed"))
	expect.OK(t)(s.App.Accounts.AcceptInvitation(ctx, invited(s, mia.ID), begin))
	test.EqOp(t, "new@example.com", s.Text(`select sign_in_email from members where id = $1`, mia.ID))
	expect.Reason(t, fault.LinkInvalid, "it is over")(s.App.Accounts.GetAddressLink(ctx, link))
	test.EqOp(t, fault.LinkInvalid, fault.ReasonOf(s.App.Accounts.RefuseAddress(ctx, link)))
}

// Who has agreed to one address has not agreed to the next.
func TestAddressChange_ConsentIsForOneAddress(t *testing.T) {
	t.Parallel()
	s := testkit.New(t)
	mia := signedIn(s)
	readdress(s, mia.ID, "new@example.com")
	s.NoError(s.App.Accounts.AgreeToAddress(t.Context(), asked(s)))
	readdress(s, mia.ID, "desk@example.com")
	expect.Reason(t, fault.AddressInDoubt)(invite(s, s.Owner, mia.ID))
	asked(s)
}

func TestAddressChange_OldAddressRefuses(t *testing.T) {
	t.Parallel()
	s := testkit.New(t)
	ctx := t.Context()
	mia := signedIn(s)
	readdress(s, mia.ID, "desk@example.com")
	link := asked(s)
	s.NoError(s.App.Accounts.AgreeToAddress(ctx, link))
	waiting := invited(s, mia.ID)
	s.NoError(s.App.Accounts.RefuseAddress(ctx, link)) // also after agreeing by mistake
	test.EqOp(t, "mia@example.com", emailOf(s, mia.ID))
	test.EqOp(t, mia.ID.String(), s.Text(`select actor from audit_entries where action = 'member.address_refused'`))
	refused(s, "of the refused address", waiting)
	test.EqOp(t, 0, s.Count(`select count(*) from platform_mails where kind = 'ADDRESS_CHANGED'`))
	for _, decide := range []error{s.App.Accounts.RefuseAddress(ctx, link), s.App.Accounts.AgreeToAddress(ctx, link)} {
		test.EqOp(t, fault.LinkInvalid, fault.ReasonOf(decide))
	}
	expect.OK(t)(invite(s, s.Owner, mia.ID))
}

// An old address that another member has by now does not come back; the refused one goes all the same.
func TestAddressChange_RefusesAlsoIfTheOldAddressIsTaken(t *testing.T) {
	t.Parallel()
	s := testkit.New(t)
	mia := signedIn(s)
	readdress(s, mia.ID, "desk@example.com")
	link := asked(s)
	addressee(s, "MIA")
	s.NoError(s.App.Accounts.RefuseAddress(t.Context(), link))
	test.EqOp(t, "", emailOf(s, mia.ID))
}

// Without an answer, the new address can be proven a week later, if the old one was told twice.
func TestAddressChange_WithoutAnswer(t *testing.T) {
	t.Parallel()
	s := testkit.New(t)
	ctx := t.Context()
	mia := signedIn(s)
	readdress(s, mia.ID, "new@example.com")
	first := asked(s)
	s.Clock.Advance(member.TellAgain - time.Second)
	must.SliceEmpty(t, deliver(s))
	s.Clock.Advance(time.Second)
	test.EqOp(t, first, asked(s))
	s.Clock.Advance(member.AddressAnswer - time.Second)
	expect.Reason(t, fault.AddressInDoubt)(invite(s, s.Owner, mia.ID))
	s.Clock.Advance(time.Second)
	expect.OK(t)(s.App.Accounts.AcceptInvitation(ctx, invited(s, mia.ID), begin))
	s.Clock.Advance(member.AddressChangeLife - time.Second)
	s.NoError(s.App.Accounts.SweepAddressChanges(ctx, s.Tenant))
	test.EqOp(t, 1, s.Count(`select count(*) from address_changes`))
	s.Clock.Advance(2 * time.Second)
	expect.OK(t)(s.App.Housekeeping.SweepTenant(ctx, s.Tenant))
	test.EqOp(t, 0, s.Count(`select count(*) from address_changes`))
}

// Nobody fills a mailbox by changing an address to and fro. Back is always possible.
func TestAddressChange_AsksSoOftenInADay(t *testing.T) {
	t.Parallel()
	s := testkit.New(t)
	mia := signedIn(s)
	for range member.MaxAddressChanges {
		readdress(s, mia.ID, "desk@example.com")
		readdress(s, mia.ID, "mia@example.com")
	}
	must.SliceEmpty(t, deliver(s), must.Sprint("what was taken back asks nobody"))
	again := func(m *member.Member) error { m.Email = "desk@example.com"; return nil }
	expect.Reason(t, fault.QuotaExceeded)(s.App.Accounts.UpdateMember(t.Context(), s.Owner, mia.ID, nil, again))
	s.Clock.Advance(member.AddressDay)
	expect.OK(t)(s.App.Accounts.UpdateMember(t.Context(), s.Owner, mia.ID, nil, again))
}

func TestAddressLink_IsNotForged(t *testing.T) {
	t.Parallel()
	s := testkit.New(t)
	mia, seals := signedIn(s), s.Config().Seals
	readdress(s, mia.ID, "desk@example.com")
	link := asked(s)
	id := expect.Value(tenant.Parse[tenant.AddressChangeID](s.Text(`select id::text from address_changes`)))(t)
	for why, text := range map[string]string{
		"empty": "", "garbage": "abc", "cut": link[:len(link)-1],
		"of another purpose": seals.Sign(s.Tenant, "invitation", id.UUID[:]),
		"of another tenant":  seals.Sign(s.OtherTenant().Tenant, "address", id.UUID[:]),
		"of nothing":         seals.Sign(s.Tenant, "address", mia.ID.UUID[:]),
		"too long":           seals.Sign(s.Tenant, "address", append(id.UUID[:], 0)),
	} {
		expect.Reason(t, fault.LinkInvalid, why)(s.App.Accounts.GetAddressLink(t.Context(), text))
		test.EqOp(t, fault.LinkInvalid, fault.ReasonOf(s.App.Accounts.AgreeToAddress(t.Context(), text)), test.Sprint(why))
		test.EqOp(t, fault.LinkInvalid, fault.ReasonOf(s.App.Accounts.RefuseAddress(t.Context(), text)), test.Sprint(why))
	}
	test.EqOp(t, "desk@example.com", emailOf(s, mia.ID))
}

// Who entered an address, and signed in with it, is not an owner or admin when the member becomes one: an invitation by
// those who may make somebody one comes first.
func TestRoles_OwnersAndAdminsProveTheirAddressAnew(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for why, promote := range map[string]func(s *testkit.Studio, to member.Member){
		"assigned": func(s *testkit.Studio, to member.Member) {
			expect.OK(t)(s.App.Accounts.AssignRole(ctx, s.Owner, to.ID, tenant.RoleAdmin))
		},
		"transferred": func(s *testkit.Studio, to member.Member) {
			offer := expect.Value(s.App.Accounts.TransferOwnership(ctx, s.Owner, to.ID))(t)
			expect.OK(t)(s.App.Accounts.ConfirmOwnershipTransfer(ctx, tenant.Caller{Tenant: s.Tenant, Member: to.ID}, offer.ID))
		},
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			s := testkit.New(t)
			mia := signedIn(s)
			s.Exec(`insert into sign_ins (tenant_id, id, member_id, token_hash, method, created_at, used_at, expires_at)
				select $1, gen_random_uuid(), $2, sha256('s'), 'CODE', $3, $3, $3::timestamptz + interval '1 day'`,
				s.Tenant, mia.ID, testkit.Noon)
			expect.OK(t)(s.App.Accounts.AssignRole(ctx, s.Owner, mia.ID, tenant.RoleCoach))
			test.EqOp(t, 1, s.Count(`select count(*) from sign_ins`), test.Sprint("not for other roles"))
			promote(s, mia)
			test.EqOp(t, 0, s.Count(`select count(*) from sign_ins`))
			now := expect.Value(s.App.Accounts.GetMember(ctx, s.Owner, mia.ID))(t).Member
			test.False(t, now.SignsInByCode(nil, s.Clock.Now()))
			var link string
			for _, o := range deliver(s) {
				_, rest, _ := strings.Cut(o.Message.Text, "https://berth.example"+accounts.InvitePath)
				link = strings.Fields(rest)[0]
			}
			after := expect.Value(s.App.Accounts.AcceptInvitation(ctx, link, begin))(t)
			test.True(t, after.SignsInByCode(nil, s.Clock.Now()))
		})
	}
}
