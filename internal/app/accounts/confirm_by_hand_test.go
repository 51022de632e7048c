package accounts_test

import (
	"context"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/signins"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/signin"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// confirmByHand has a caller confirm a contact of a member.
func confirmByHand(
	s *testkit.Studio, by, of tenant.Caller, kind member.ContactKind, address string,
) (member.Member, error) {
	return s.App.Accounts.ConfirmMemberContact(
		s.T.Context(), by, of.Member, member.Contact{Kind: kind, Address: address}, "at the desk",
	)
}

// Strangers who use up the codes of a number do not keep its owner from it: who knows them confirms it by hand. The
// owner cannot tell from the answers that there were strangers.
func TestConfirmByHand_HelpsTheOwnerOfATriedNumber(t *testing.T) {
	t.Parallel()
	s := messagetest.New(t)
	const number = "+4915112345678"
	for range member.MaxCodes {
		expect.OK(t)(newNumber(s.Studio, s.AddMember("Mallory"), number))
	}
	s.Deliver()
	must.SliceLen(t, member.MaxCodes, s.Provider.Take())
	ana := testkit.SelfOnly(s.AddMember("Ana"))
	me := expect.Value(newNumber(s.Studio, ana, number))(t)
	must.SliceLen(t, 1, me.Pending)
	test.EqOp(t, testkit.Noon.Add(member.CodeLifetime), me.Pending[0].ExpiresAt.UTC(), test.Sprint("as for the others"))
	s.Deliver()
	test.SliceEmpty(t, s.Provider.Take())
	_, err := s.App.Accounts.ConfirmContact(t.Context(), ana, member.ByPhone, "123456")
	test.EqOp(t, "CONTACT_CODE_INVALID @code guesses_left=4", faulttest.Text(err))

	seen := expect.Value(s.App.Accounts.GetMember(t.Context(), s.Coach, ana.Member))(t)
	must.SliceLen(t, 1, seen.Pending)
	test.EqOp(t, number, seen.Pending[0].Address)
	m := expect.Value(confirmByHand(s.Studio, s.Coach, ana, member.ByPhone, number))(t)
	test.EqOp(t, number, m.Phone)
	test.True(t, m.Confirmed(member.ByPhone, ""))
	got := expect.Value(s.App.Accounts.GetMe(t.Context(), ana))(t)
	test.SliceEmpty(t, got.Pending)
	test.EqOp(t, m.Version, got.Member.Version)
	test.Eq(t, map[string]any{"kind": "PHONE", "before": "", "after": number}, s.LastAudit("contact.confirmed_by_hand"))
	test.EqOp(t, s.Coach.Member.String()+" at the desk", s.Text(
		`select actor || ' ' || reason from audit_entries where action = 'contact.confirmed_by_hand'`))
	expect.Reason(t, fault.ContactNotPending, "it is confirmed")(
		confirmByHand(s.Studio, s.Coach, ana, member.ByPhone, number))
}

// A number that gets no text messages, and an address that staff entered, can only be confirmed by hand.
func TestConfirmByHand_TakesWhatTheMemberHas(t *testing.T) {
	t.Parallel()
	s := messagetest.New(t)
	ana := testkit.SelfOnly(s.AddMember("Ana"))
	_, err := newNumber(s.Studio, ana, "+4930123456")
	test.EqOp(t, "CONTACT_NOT_MOBILE @member.phone", faulttest.Text(err))
	s.EditMember(ana, func(m *member.Member) { m.Phone = "+4930123456" })
	for _, other := range []string{"", "+4930123457", "+4915112345678"} {
		expect.Reason(t, fault.ContactNotPending, other)(confirmByHand(s.Studio, s.Coach, ana, member.ByPhone, other))
	}
	m := expect.Value(confirmByHand(s.Studio, s.Coach, ana, member.ByPhone, "+4930123456"))(t)
	test.True(t, m.Confirmed(member.ByPhone, ""))
}

// An address that takes the place of another by hand ends what signed in with the other: somebody else may be there.
// One that the member has already ends nothing.
func TestConfirmByHand_EndsTheSignInsOfTheOldAddress(t *testing.T) {
	t.Parallel()
	s := testkit.New(t)
	mia := signedIn(s)
	deliver(s)
	secret := signins.NewSecret(s.Tenant)
	self := testkit.SelfOnly(tenant.Caller{Tenant: s.Tenant, Member: mia.ID, Subject: tenant.MemberSubject(mia.ID)})
	expect.OK(t)(engine.Transact(t.Context(), s.App.Engine, self, engine.Transaction{Name: "test"},
		func(ctx context.Context, tx *engine.Tx) (signin.SignIn, error) {
			return signins.Start(tx, secret, mia.ID, signin.ByCode), ctx.Err()
		}))
	link := invited(s, mia.ID)
	s.Exec(`update members set confirmed_email = '' where id = $1`, mia.ID)
	expect.OK(t)(confirmByHand(s, s.Coach, self, member.ByEmail, "mia@example.com"))
	expect.OK(t)(s.App.SignIns.Use(t.Context(), secret))
	expect.OK(t)(s.App.Accounts.GetInvitationLink(t.Context(), link))

	expect.OK(t)(newAddress(s, self, "new@example.com"))
	expect.OK(t)(confirmByHand(s, s.Coach, self, member.ByEmail, "new@example.com"))
	expect.Reason(t, fault.SignInEnded)(s.App.SignIns.Use(t.Context(), secret))
	refused(s, "it was for the old address", link)
	test.EqOp(t, "new@example.com", emailOf(s, mia.ID))
	test.EqOp(t, s.Coach.Actor(), s.Text(`select email_by from members where id = $1`, mia.ID))
	expect.Reason(t, fault.AddressInDoubt, "the old one is asked")(invite(s, s.Owner, mia.ID))
}

// Nobody confirms their own contacts, nor those of someone with more permissions, nor an address of someone else.
func TestConfirmByHand_Refuses(t *testing.T) {
	t.Parallel()
	s := messagetest.New(t)
	expect.OK(t)(newAddress(s.Studio, s.Coach, "coach@example.com"))
	expect.Reason(t, fault.PermissionDeniedReason, "oneself")(
		confirmByHand(s.Studio, s.Coach, s.Coach, member.ByEmail, "coach@example.com"))
	ada := s.AddPerson("Ada", tenant.RoleAdmin)
	expect.OK(t)(newAddress(s.Studio, ada, "ada@new.example"))
	expect.Reason(t, fault.PermissionDeniedReason, "an admin")(
		confirmByHand(s.Studio, s.Coach, ada, member.ByEmail, "ada@new.example"))
	expect.OK(t)(confirmByHand(s.Studio, s.Owner, ada, member.ByEmail, "ada@new.example"))
	ben, ana := s.AddReachable("Ben"), s.AddMember("Ana")
	expect.OK(t)(newAddress(s.Studio, ana, "BEN@example.com"))
	_, err := confirmByHand(s.Studio, s.Coach, ana, member.ByEmail, "ben@example.com")
	test.EqOp(t, "ALREADY_EXISTS @member.email", faulttest.Text(err))
	test.EqOp(t, "ben@example.com", expect.Value(s.App.Accounts.GetMe(t.Context(), ben))(t).Member.Email)
	expect.Reason(t, fault.MemberNotFound)(
		confirmByHand(
			s.Studio, s.Coach, tenant.Caller{Member: testkit.NewID[tenant.MemberID]()}, member.ByEmail, "a@b.example",
		),
	)
}
