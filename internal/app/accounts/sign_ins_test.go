package accounts_test

import (
	"context"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/signins"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/signin"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// inBrowser signs a member in with a browser, and returns the sign-in, and the member as their requests are from then
// on.
func inBrowser(s *testkit.Studio, as tenant.Caller, browser string) (signin.SignIn, tenant.Caller) {
	s.T.Helper()
	ctx := engine.WithRequest(s.T.Context(), engine.Request{Client: browser, Address: "192.0.2.1"})
	secret := signins.NewSecret(as.Tenant)
	in := expect.Value(engine.Transact(ctx, s.App.Engine, as, engine.Transaction{Name: "test"},
		func(ctx context.Context, tx *engine.Tx) (signin.SignIn, error) {
			return signins.Start(tx, secret, as.Member, signin.ByCode), ctx.Err()
		}))(s.T)
	as.SignIn, as.SelfOnly = expect.Value(s.App.SignIns.Use(ctx, secret))(s.T).Claims.SignIn, true
	return in, as
}

func TestSignIns_AreListedTheLastUsedFirst(t *testing.T) {
	t.Parallel()
	s := testkit.New(t)
	ana, ben := s.AddMember("Ana"), s.AddMember("Ben")
	first, own := inBrowser(s, ana, "Firefox")
	s.Clock.Advance(time.Hour)
	second, _ := inBrowser(s, ana, "Safari")
	inBrowser(s, ben, "Chrome")
	want := []signin.ListedSignIn{{SignIn: second}, {SignIn: first, Current: true}}
	test.Eq(t, want, expect.Value(s.App.Accounts.ListSignIns(t.Context(), own, tenant.MemberID{}))(t))
	want[1].Current = false
	test.Eq(t, want, expect.Value(s.App.Accounts.ListSignIns(t.Context(), s.Owner, ana.Member))(t))
	s.Clock.Advance(signin.Idle - time.Minute)
	left := expect.Value(s.App.Accounts.ListSignIns(t.Context(), own, ana.Member))(t)
	test.Len(t, 1, left, test.Sprint("the other was not used for 30 days"))
}

func TestSignIns_AreTheMembersOwn(t *testing.T) {
	t.Parallel()
	s := testkit.New(t)
	ctx := t.Context()
	ana, other := s.AddMember("Ana"), s.OtherTenant()
	in, _ := inBrowser(s, ana, "Firefox")
	_, ben := inBrowser(s, s.AddMember("Ben"), "Firefox")
	for _, who := range []tenant.Caller{ben, other.Owner, tenant.System(s.Tenant)} {
		q := accounts.SignInQuery{Member: ana.Member}
		if who.Member.IsZero() {
			q.Member = who.Member
		}
		expect.Reason(t, fault.MemberNotFound)(s.App.Accounts.ListSignIns(ctx, who, q.Member))
		expect.Reason(t, fault.MemberNotFound)(s.App.Accounts.EndSignIns(ctx, who, q))
	}
	// The id of another's sign-in ends nothing.
	ended := expect.Value(s.App.Accounts.EndSignIns(ctx, ben, accounts.SignInQuery{IDs: []tenant.SignInID{in.ID}}))(t)
	test.EqOp(t, 0, ended)
	test.EqOp(t, 2, s.Count(`select count(*) from sign_ins where tenant_id = $1`, s.Tenant))
}

func TestEndSignIns_EndsWhatItIsAsked(t *testing.T) {
	t.Parallel()
	s := testkit.New(t)
	ana := s.AddMember("Ana")
	one, own := inBrowser(s, ana, "Firefox")
	two, _ := inBrowser(s, ana, "Safari")
	inBrowser(s, ana, "Chrome")
	end := func(q accounts.SignInQuery, want int) {
		t.Helper()
		for _, want := range []int{want, 0} { // again, it changes nothing
			test.EqOp(t, want, expect.Value(s.App.Accounts.EndSignIns(t.Context(), own, q))(t))
		}
	}
	end(accounts.SignInQuery{IDs: []tenant.SignInID{two.ID}}, 1)
	end(accounts.SignInQuery{KeepCurrent: true}, 1)
	left := expect.Value(s.App.Accounts.ListSignIns(t.Context(), own, ana.Member))(t)
	must.Len(t, 1, left)
	test.EqOp(t, one.ID, left[0].ID)
	end(accounts.SignInQuery{IDs: []tenant.SignInID{one.ID}, KeepCurrent: true}, 0)
	end(accounts.SignInQuery{}, 1)
	test.EqOp(t, 3, s.Count(`select count(*) from audit_entries where action = 'sign_in.ended' and target_id = $1::text
		and actor = $1::text`, ana.Member))
}

// Staff sign out whom they may edit.
func TestEndSignIns_LeavesThoseWithMorePermissions(t *testing.T) {
	t.Parallel()
	s := testkit.New(t)
	boss, ana := s.AddPerson("Boss", tenant.RoleAdmin), s.AddMember("Ana")
	inBrowser(s, boss, "Firefox")
	inBrowser(s, ana, "Firefox")
	end := func(by tenant.Caller, of tenant.MemberID) error {
		_, err := s.App.Accounts.EndSignIns(t.Context(), by, accounts.SignInQuery{Member: of})
		return err
	}
	test.EqOp(t, fault.PermissionDeniedReason, fault.ReasonOf(end(s.Coach, boss.Member)))
	test.NoError(t, end(s.Coach, ana.Member))
	test.NoError(t, end(s.Owner, boss.Member))
	test.EqOp(t, 0, s.Count(`select count(*) from sign_ins where tenant_id = $1`, s.Tenant))
}
