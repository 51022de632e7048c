package accounts_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fault/faulttest"
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

// invite has a caller invite a member.
func invite(s *testkit.Studio, by tenant.Caller, id tenant.MemberID) (member.Invited, error) {
	s.T.Helper()
	all, err := s.App.Accounts.CreateInvitations(s.T.Context(), by, []accounts.Invitee{{Member: id}})
	if err != nil {
		return member.Invited{}, err
	}
	return all[0], nil
}

// newest returns the id of a member's newest invitation.
func newest(s *testkit.Studio, of tenant.MemberID) tenant.InvitationID {
	s.T.Helper()
	all := expect.Value(s.App.Accounts.ListInvitations(s.T.Context(), s.Owner,
		member.InvitationSearch{Member: of, Limit: 1}))(s.T)
	must.SliceLen(s.T, 1, all)
	return all[0].ID
}

// invited invites a member, and returns the link that the mail has.
func invited(s *testkit.Studio, id tenant.MemberID) string {
	s.T.Helper()
	expect.OK(s.T)(invite(s, s.Owner, id))
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
			s.NoError(s.App.Accounts.RevokeInvitation(ctx, s.Owner, newest(s, m.ID)))
		},
		"not the newest": func(s *testkit.Studio, m member.Member) {
			expect.OK(s.T)(invite(s, s.Owner, m.ID))
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
	expect.Reason(t, fault.AddressInDoubt)(invite(studio, studio.Owner, mia.ID))
	readdress(studio, mia.ID, "Mia@example.com") // hers, as before
	expect.OK(t)(invite(studio, studio.Owner, mia.ID))
}

func TestInvite_RefusesWhomItCannotReach(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	ctx := t.Context()
	nameless := expect.Value(studio.App.Accounts.CreateMember(ctx, studio.Owner, member.Member{Name: "No Mail"}))(t)
	expect.Reason(t, fault.InvalidField)(invite(studio, studio.Owner, nameless.ID))
	gone := addressee(studio, "Gone")
	expect.OK(t)(studio.App.Accounts.DeactivateMember(ctx, studio.Owner, gone.ID))
	expect.Reason(t, fault.InvalidField)(invite(studio, studio.Owner, gone.ID))
	expect.Reason(t, fault.MemberNotFound)(invite(studio, studio.Owner, testkit.NewID[tenant.MemberID]()))
	mia := addressee(studio, "Mia")
	other := studio.OtherTenant()
	expect.Reason(t, fault.MemberNotFound)(invite(studio, other.Owner, mia.ID))
}

// Nobody invites, or ends the invitation of, a member with permissions that they lack.
func TestInvite_RefusesMembersWithMorePermissions(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	ctx := t.Context()
	boss := studio.AddPerson("Boss", tenant.RoleAdmin)
	studio.Exec(`update members set email = 'boss@example.com' where id = $1`, boss.Member)
	expect.Reason(t, fault.PermissionDeniedReason)(
		invite(studio, studio.Coach, boss.Member))
	expect.OK(t)(invite(studio, studio.Owner, boss.Member))
	id := newest(studio, boss.Member)
	test.EqOp(t, fault.PermissionDeniedReason,
		fault.ReasonOf(studio.App.Accounts.RevokeInvitation(ctx, studio.Coach, id)))
	expect.Reason(t, fault.PermissionDeniedReason)(studio.App.Accounts.ResendInvitation(ctx, studio.Coach, id))
}

// More than so many in a day wait.
func TestInvite_LetsSoManyLeaveInADay(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := addressee(studio, "Mia")
	studio.Exec(`insert into invitations (tenant_id, id, member_id, address, roles, invited_by, created_at, sent_at,
			expires_at, revoked_at)
		select $1, gen_random_uuid(), $2, n || '@example.com', '{member}', 'desk', $3, $3, $3, $3
		from generate_series(1, $4) n`, studio.Tenant, mia.ID, testkit.Noon.Add(-time.Hour), member.MaxInvitations-1)
	last := expect.Value(invite(studio, studio.Owner, mia.ID))(t)
	test.EqOp(t, testkit.Noon, last.SentAt)
	waits := expect.Value(invite(studio, studio.Owner, mia.ID))(t)
	test.EqOp(t, testkit.Noon.Add(23*time.Hour), waits.SentAt)
	test.EqOp(t, waits.SentAt.Add(member.InvitationLife), waits.ExpiresAt)
	test.SliceEmpty(t, expect.Value(studio.App.Mails.Take(t.Context(), studio.Tenant))(t).Out)
	studio.Clock.Advance(23 * time.Hour)
	test.SliceLen(t, 1, expect.Value(studio.App.Mails.Take(t.Context(), studio.Tenant))(t).Out)
}

// linkTo returns the link of the newest mail to an address.
func linkTo(s *testkit.Studio, address string) (link string) {
	s.T.Helper()
	for _, o := range deliver(s) {
		if _, rest, found := strings.Cut(o.Message.Text, "https://berth.example"+accounts.InvitePath); found &&
			o.Message.To == address {
			link = strings.Fields(rest)[0]
		}
	}
	must.NotEqOp(s.T, "", link)
	return link
}

func TestCreateInvitations_InvitesMembersAndNewPeopleAtOnce(t *testing.T) {
	t.Parallel()
	s := testkit.New(t)
	mia := addressee(s, "Mia")
	all := expect.Value(s.App.Accounts.CreateInvitations(t.Context(), s.Owner, []accounts.Invitee{
		{Member: mia.ID},
		{New: member.Member{Name: "Cora", Email: "cora@example.com", Roles: []string{tenant.RoleCoach}, Locale: "de"}},
		{New: member.Member{Name: "Noa", Email: "Noa@example.com"}},
	}))(t)
	must.SliceLen(t, 3, all)
	test.EqOp(t, "Mia Cora Noa", all[0].Name+" "+all[1].Name+" "+all[2].Name)
	cora := expect.Value(s.App.Accounts.GetMember(t.Context(), s.Owner, all[1].Member))(t).Member
	test.Eq(t, []string{tenant.RoleCoach, tenant.RoleMember}, cora.Roles)
	test.EqOp(t, "", cora.ConfirmedEmail)
	test.EqOp(t, 1, audited(s, "role.assigned"))
	accepted := expect.Value(s.App.Accounts.AcceptInvitation(t.Context(), linkTo(s, "cora@example.com"), begin))(t)
	test.EqOp(t, cora.ID, accepted.ID)
	test.True(t, accepted.Proven())
	listed := expect.Value(s.App.Accounts.ListInvitations(t.Context(), s.Owner, member.InvitationSearch{
		States: []member.InvitationState{member.InvitationSent}, Limit: 9,
	}))(t)
	test.SliceLen(t, 2, listed)
}

// One who cannot be invited keeps all from it, and is named.
func TestCreateInvitations_NamesWhoCannotBeInvited(t *testing.T) {
	t.Parallel()
	s := testkit.New(t)
	mia := addressee(s, "Mia")
	clerk := s.AddPerson("Desk", tenant.RoleCoach)
	person := func(email string, roles ...string) accounts.Invitee {
		return accounts.Invitee{New: member.Member{Name: "Zoe", Email: email, Roles: roles}}
	}
	good := person("zoe@example.com")
	stranger := accounts.Invitee{Member: testkit.NewID[tenant.MemberID]()}
	for why, c := range map[string]struct {
		by   tenant.Caller
		who  accounts.Invitee
		want string
	}{
		"an address that a member has": {s.Owner, person("MIA@example.com"), "ALREADY_EXISTS@person.email"},
		"an unknown role":              {s.Owner, person("y@example.com", "nope"), "ROLE_NOT_FOUND@person.roles"},
		"a role beyond the caller's": {
			clerk, person("y@example.com", tenant.RoleAdmin), "PERMISSION_DENIED@person.roles",
		},
		"an unknown language": {s.Owner, accounts.Invitee{New: member.Member{
			Name: "Zoe", Email: "y@example.com", Locale: "xx-YYYYYYYYY",
		}}, "INVALID_FIELD@person.locale"},
		"twice":          {s.Owner, person("ZOE@example.com"), "INVALID_FIELD@person.email"},
		"nobody":         {s.Owner, stranger, "MEMBER_NOT_FOUND@member_id"},
		"without email":  {s.Owner, accounts.Invitee{Member: s.AddMember("Ana").Member}, "INVALID_FIELD@member_id"},
		"more powerful":  {clerk, accounts.Invitee{Member: s.Owner.Member}, "PERMISSION_DENIED@member_id"},
		"another tenant": {s.OtherTenant().Owner, accounts.Invitee{Member: mia.ID}, "MEMBER_NOT_FOUND@member_id"},
	} {
		_, err := s.App.Accounts.CreateInvitations(t.Context(), c.by, []accounts.Invitee{good, c.who})
		reason, field, _ := strings.Cut(c.want, "@")
		test.StrHasPrefix(t, reason+" @invitations[1]."+field, faulttest.Text(err), test.Sprint(why))
	}
	test.EqOp(t, 0, s.Count(`select count(*) from invitations`))
	test.EqOp(t, 0, s.Count(`select count(*) from members where email = 'zoe@example.com'`))
}

func TestResendAndRevoke_EndTheEarlierLink(t *testing.T) {
	t.Parallel()
	s := testkit.New(t)
	ctx, mia := t.Context(), addressee(s, "Mia")
	first := invited(s, mia.ID)
	id := newest(s, mia.ID)
	again := expect.Value(s.App.Accounts.ResendInvitation(ctx, s.Owner, id))(t)
	test.EqOp(t, "Mia", again.Name)
	refused(s, "replaced", first)
	expect.Reason(t, fault.InvitationEnded)(s.App.Accounts.ResendInvitation(ctx, s.Owner, id))
	second := linkTo(s, "mia@example.com")
	for range 2 {
		s.NoError(s.App.Accounts.RevokeInvitation(ctx, s.Owner, again.ID))
	}
	test.EqOp(t, 1, audited(s, "member.invitation_revoked"))
	refused(s, "revoked", second)
	expect.Reason(t, fault.InvitationEnded)(s.App.Accounts.ResendInvitation(ctx, s.Owner, again.ID))

	s.Clock.Advance(time.Second)
	expect.OK(t)(s.App.Accounts.AcceptInvitation(ctx, invited(s, mia.ID), begin))
	used := newest(s, mia.ID)
	test.EqOp(t, fault.InvitationEnded, fault.ReasonOf(s.App.Accounts.RevokeInvitation(ctx, s.Owner, used)))
	expect.Reason(t, fault.InvitationEnded)(s.App.Accounts.ResendInvitation(ctx, s.Owner, used))
	expect.Reason(t, fault.InvitationNotFound)(s.App.Accounts.ResendInvitation(ctx, s.OtherTenant().Owner, used))

	ben := addressee(s, "Ben")
	invited(s, ben.ID)
	s.Clock.Advance(member.InvitationLife)
	expect.OK(t)(s.App.Accounts.ResendInvitation(ctx, s.Owner, newest(s, ben.ID)))
	s.Clock.Advance(member.InvitationLife + member.InvitationsKept + time.Second)
	expect.OK(t)(s.App.Housekeeping.SweepTenant(ctx, s.Tenant))
	test.EqOp(t, 0, s.Count(`select count(*) from invitations`))
}

// An account of the identity provider becomes the member whom a link invites, owners and admins too, once.
func TestAcceptInvitationAs_LinksOneAccount(t *testing.T) {
	t.Parallel()
	s := testkit.New(t)
	ctx, accept := t.Context(), s.App.Accounts.AcceptInvitationAs
	const issuer = "https://idp.example"
	as := func(who string) tenant.Caller { return tenant.Caller{Tenant: s.Tenant, Subject: "idp|" + who} }
	all := expect.Value(s.App.Accounts.CreateInvitations(ctx, s.Owner, []accounts.Invitee{
		{New: member.Member{Name: "Ada", Email: "ada@example.com", Roles: []string{tenant.RoleAdmin}}},
	}))(t)
	link := linkTo(s, "ada@example.com")
	expect.Reason(t, fault.NotAMember, "a token of the service")(accept(ctx, as("ada"), "", link))
	expect.Reason(t, fault.AlreadyExistsReason, "another member")(accept(ctx, s.Owner, issuer, link))
	other := as("ada")
	other.Tenant = s.OtherTenant().Tenant
	expect.Reason(t, fault.LinkInvalid, "another tenant")(accept(ctx, other, issuer, link))
	expect.Reason(t, fault.LinkInvalid, "forged")(accept(ctx, as("ada"), issuer, link[1:]))
	ada := expect.Value(accept(ctx, as("ada"), issuer, link))(t)
	test.EqOp(t, all[0].Member, ada.ID)
	test.EqOp(t, "idp|ada "+issuer, s.Text(`select subject || ' ' || issuer from members where id = $1`, ada.ID))
	test.EqOp(t, "ada@example.com", s.Text(`select sign_in_email from members where id = $1`, ada.ID))
	expect.Reason(t, fault.LinkInvalid, "used")(accept(ctx, as("ada"), issuer, link))

	expect.OK(t)(invite(s, s.Owner, ada.ID))
	next := linkTo(s, "ada@example.com")
	expect.Reason(t, fault.AlreadyExistsReason, "another account")(accept(ctx, as("eve"), issuer, next))
	self := as("ada")
	self.Member = ada.ID
	expect.OK(t)(accept(ctx, self, issuer, next))
}

// An address gets so many invitations in a day, however they are asked for. A role is given nevertheless.
func TestInvite_SendsAnAddressSoManyInADay(t *testing.T) {
	t.Parallel()
	s := testkit.New(t)
	ctx := t.Context()
	mia := addressee(s, "Mia")
	last := expect.Value(invite(s, s.Owner, mia.ID))(t)
	for range member.MaxInvitationsTo - 1 {
		last = expect.Value(s.App.Accounts.ResendInvitation(ctx, s.Owner, last.ID))(t)
	}
	_, again := s.App.Accounts.ResendInvitation(ctx, s.Owner, last.ID)
	test.EqOp(t, "QUOTA_EXCEEDED @member_id limit=5 quota=invitations_to_address", faulttest.Text(again))
	_, created := invite(s, s.Owner, mia.ID)
	test.EqOp(t, "QUOTA_EXCEEDED @invitations[0].member_id limit=5 quota=invitations_to_address", faulttest.Text(created))
	s.EditMember(tenant.Caller{Member: mia.ID}, func(m *member.Member) { m.Email = "" })
	_, other := s.App.Accounts.CreateInvitations(ctx, s.Owner, []accounts.Invitee{
		{New: member.Member{Name: "Mia", Email: "MIA@example.com"}},
	})
	test.EqOp(t, "QUOTA_EXCEEDED @invitations[0].person.email limit=5 quota=invitations_to_address", faulttest.Text(other))
	expect.OK(t)(invite(s, s.Owner, addressee(s, "Noa").ID))

	s.Exec(`update members set email = 'mia@example.com', confirmed_email = 'mia@example.com',
		sign_in_email = 'mia@example.com', email_by = $2 where id = $1`, mia.ID, s.Coach.Actor())
	expect.OK(t)(s.App.Accounts.AssignRole(ctx, s.Owner, mia.ID, tenant.RoleAdmin))
	test.EqOp(t, member.MaxInvitationsTo, s.Count(`select count(*) from invitations where member_id = $1`, mia.ID))
	s.Clock.Advance(member.InvitationDay)
	expect.OK(t)(invite(s, s.Owner, mia.ID))
}

// Each invitation counts that is made, sent again or revoked, by whatever call; and none that was refused.
func TestInvitations_CountForOperators(t *testing.T) {
	t.Parallel()
	changed := 0
	s := testkit.New(t)
	config := s.Config()
	config.InvitationChanged = func() { changed++ }
	made := app.New(config).Accounts
	ctx := t.Context()
	counts := func(want int, why string) {
		t.Helper()
		test.EqOp(t, want, changed, test.Sprint(why))
		changed = 0
	}
	mia, noa := addressee(s, "Mia"), addressee(s, "Noa")
	expect.OK(t)(made.CreateInvitations(ctx, s.Owner, []accounts.Invitee{{Member: mia.ID}, {Member: noa.ID}}))
	counts(2, "two at once")
	expect.OK(t)(made.ResendInvitation(ctx, s.Owner, newest(s, mia.ID)))
	counts(1, "sent again")
	for range 2 {
		s.NoError(made.RevokeInvitation(ctx, s.Owner, newest(s, noa.ID)))
	}
	counts(1, "revoked once")
	expect.Reason(t, fault.InvitationEnded)(made.ResendInvitation(ctx, s.Owner, newest(s, noa.ID)))
	counts(0, "refused")
	s.Exec(`update members set confirmed_email = email, sign_in_email = email where id = $1`, noa.ID)
	expect.OK(t)(made.AssignRole(ctx, s.Owner, noa.ID, tenant.RoleAdmin))
	counts(1, "by a role")
	_, err := made.InviteOwner(ctx, s.Tenant, "nobody@example.com")
	test.EqOp(t, fault.MemberNotFound, fault.ReasonOf(err))
	counts(0, "nobody")
}
