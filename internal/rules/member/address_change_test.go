package member_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

const day = 24 * time.Hour

func TestAddressChange_AllowsAfterConsentOrTwoMailsAndTheTimeToRefuse(t *testing.T) {
	t.Parallel()
	told, again := noon.Add(time.Minute), noon.Add(3*day)
	for name, c := range map[string]struct {
		change member.AddressChange
		from   time.Duration // since the change; 0: never
	}{
		"told twice":             {member.AddressChange{ToldAt: &told, ToldAgainAt: &again}, 7 * day},
		"told again late":        {member.AddressChange{ToldAt: &told, ToldAgainAt: new(noon.Add(6 * day))}, 10 * day},
		"told again early":       {member.AddressChange{ToldAt: &told, ToldAgainAt: &told}, 7 * day},
		"told once":              {member.AddressChange{ToldAt: &told}, 0},
		"never told":             {member.AddressChange{}, 0},
		"agreed":                 {member.AddressChange{AgreedAt: &told}, time.Nanosecond},
		"agreed, and then ended": {member.AddressChange{AgreedAt: &told, EndedAt: &again}, 0},
		"told twice, and refused": {member.AddressChange{
			ToldAt: &told, ToldAgainAt: &again, RefusedAt: &again, EndedAt: &again,
		}, 0},
	} {
		c.change.CreatedAt = noon
		if c.from > 1 {
			test.False(t, c.change.Allows(noon.Add(c.from-1)), test.Sprint(name))
		}
		test.EqOp(t, c.from > 0, c.change.Allows(noon.Add(max(c.from, 365*day))), test.Sprint(name))
		if c.from > 0 {
			test.True(t, c.change.Allows(noon.Add(c.from)), test.Sprint(name))
		}
	}
}

func TestAddressInDoubt_UnlessTheOldAddressAllowsThisOne(t *testing.T) {
	t.Parallel()
	allowed := func(from, to string) *member.AddressChange {
		return &member.AddressChange{From: from, To: to, CreatedAt: noon, AgreedAt: &noon}
	}
	open := member.AddressChange{From: "a@example.com", To: "b@example.com", CreatedAt: noon}
	for name, c := range map[string]struct {
		signIn, email string
		change        *member.AddressChange
		doubt         bool
	}{
		"nothing is proven":           {"", "b@example.com", nil, false},
		"the same in capitals":        {"a@example.com", "A@example.com", nil, false},
		"another":                     {"a@example.com", "b@example.com", nil, true},
		"none":                        {"a@example.com", "", nil, true},
		"another that is allowed":     {"a@example.com", "b@example.com", allowed("a@example.com", "B@example.com"), false},
		"a third":                     {"a@example.com", "c@example.com", allowed("a@example.com", "b@example.com"), true},
		"allowed by another than now": {"a@example.com", "b@example.com", allowed("c@example.com", "b@example.com"), true},
		"not answered":                {"a@example.com", "b@example.com", &open, true},
	} {
		m := member.Member{SignInEmail: c.signIn, Email: c.email, Status: member.Active}
		test.EqOp(t, c.doubt, m.AddressInDoubt(c.change, noon), test.Sprint(name))
		test.EqOp(t, !c.doubt, m.SignsInByCode(c.change, noon), test.Sprint(name))
		m.Status = member.Inactive
		test.False(t, m.SignsInByCode(c.change, noon), test.Sprint(name))
		m.Status, m.Roles = member.Active, []string{tenant.RoleAdmin, tenant.RoleMember}
		test.EqOp(t, name == "the same in capitals", m.SignsInByCode(c.change, noon), test.Sprint("admin:", name))
	}
	test.False(t, member.Member{Status: member.Active}.SignsInByCode(nil, noon))
}

func TestProvesAnew_WhoGetsMoreThanTheirAddressVouchesFor(t *testing.T) {
	t.Parallel()
	m := member.Member{Email: "a@example.com", SignInEmail: "A@example.com", Roles: []string{"coach", "member"}}
	test.True(t, m.ProvesAnew([]string{"admin", "coach", "member"}, false))
	test.True(t, m.ProvesAnew([]string{"owner"}, false))
	test.True(t, m.ProvesAnew([]string{"manager", "member"}, true))
	test.False(t, m.ProvesAnew([]string{"manager", "member"}, false))
	admin, none := m, m
	admin.Roles, none.Email = []string{"admin"}, ""
	test.False(t, admin.ProvesAnew([]string{"admin", "owner"}, false))
	test.False(t, none.ProvesAnew([]string{"admin"}, true), test.Sprint("no address"))
}

func TestProveAnew_EndsWhatTheAddressHasProven(t *testing.T) {
	t.Parallel()
	const mail = "a@example.com"
	unproven := func(m *member.Member) { m.SignInEmail = "" }
	at := member.Member{Email: mail, SignInEmail: mail, Status: member.Active}
	for name, c := range map[string]struct {
		change, after func(m *member.Member)
		invite        bool
	}{
		"proven":   {func(*member.Member) {}, unproven, true},
		"inactive": {func(m *member.Member) { m.Status = member.Inactive }, unproven, false},
		"not yet":  {unproven, func(*member.Member) {}, false},
		"in doubt": {func(m *member.Member) { m.SignInEmail = "b@example.com" }, func(*member.Member) {}, false},
		"typed":    {func(m *member.Member) { m.Subject = "idp|7" }, unproven, false},
		"linked": {
			func(m *member.Member) { m.Subject, m.LinkedByEmail = "idp|7", true },
			func(m *member.Member) { m.Subject, m.LinkedByEmail, m.SignInEmail = "", false, "" }, true,
		},
	} {
		m := at
		c.change(&m)
		want := m
		c.after(&want)
		want.ByInvitation = true
		after, invite := m.ProveAnew()
		test.Eq(t, want, after, test.Sprint(name))
		test.EqOp(t, c.invite, invite, test.Sprint(name))
		test.False(t, after.SignsInByCode(nil, noon), test.Sprint(name))
	}
}

func TestEnter_SaysWhoVouchesForAnAddress(t *testing.T) {
	t.Parallel()
	before := member.Member{Email: "a@example.com", EmailBy: "ben", ByInvitation: true}
	for email, want := range map[string]member.Member{
		"A@example.com": {Email: "A@example.com", EmailBy: "ben", ByInvitation: true},
		"b@example.com": {Email: "b@example.com", EmailBy: "ann"},
		"":              {},
	} {
		after := before
		after.Email = email
		test.Eq(t, want, after.Enter(before, "ann"))
	}
}

func TestChangeAddress_AsksTheOldOneSoOftenInADay(t *testing.T) {
	t.Parallel()
	id := tenant.New[tenant.AddressChangeID](noon)
	m := member.Member{Email: "b@example.com", SignInEmail: "a@example.com"}
	want := member.AddressChange{
		ID: id, From: "a@example.com", To: "b@example.com", ChangedBy: "desk", CreatedAt: noon,
	}
	must.Eq(t, &want, expect.Value(m.ChangeAddress(id, "desk", member.MaxAddressChanges-1, noon))(t))
	_, err := m.ChangeAddress(id, "desk", member.MaxAddressChanges, noon)
	test.EqOp(t, fault.QuotaExceeded, fault.ReasonOf(err))
	for _, quiet := range []member.Member{
		{Email: "a@example.com"}, {SignInEmail: "a@example.com"}, {Email: "A@example.com", SignInEmail: "a@example.com"},
	} {
		must.Nil(t, expect.Value(quiet.ChangeAddress(id, "desk", member.MaxAddressChanges, noon))(t))
	}
}

func TestRefuse_PutsTheOldAddressBackIfItIsFree(t *testing.T) {
	t.Parallel()
	m := member.Member{Email: "b@example.com", ConfirmedEmail: "b@example.com", SignInEmail: "a@example.com"}
	c := member.AddressChange{From: "a@example.com", To: "B@example.com"}
	back := m.Refuse(c, false)
	test.True(t, back.Proven())
	test.EqOp(t, "a@example.com", back.Email)
	none := m.Refuse(c, true)
	test.EqOp(t, "", none.Email+none.ConfirmedEmail)
	test.EqOp(t, "a@example.com", none.SignInEmail)
	m.Email = "c@example.com"
	test.Eq(t, m, m.Refuse(c, false))
}
