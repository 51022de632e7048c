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
	"github.com/berthhq/berth/internal/data/accountdb"
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
	test.Eq(t, want, expect.Value(s.App.Accounts.ListSignIns(t.Context(), own, tenant.MemberID{}))(t).SignIns)
	want[1].Current = false
	test.Eq(t, want, expect.Value(s.App.Accounts.ListSignIns(t.Context(), s.Owner, ana.Member))(t).SignIns)
	s.Clock.Advance(signin.Idle - time.Minute)
	left := expect.Value(s.App.Accounts.ListSignIns(t.Context(), own, ana.Member))(t).SignIns
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
	left := expect.Value(s.App.Accounts.ListSignIns(t.Context(), own, ana.Member))(t).SignIns
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

// passkeyOf adds a passkey of a member, with which nobody can sign in.
func passkeyOf(s *testkit.Studio, of tenant.Caller) tenant.PasskeyID {
	s.T.Helper()
	return expect.Value(engine.Transact(s.T.Context(), s.App.Engine, of, engine.Transaction{Name: "test"},
		func(ctx context.Context, tx *engine.Tx) (tenant.PasskeyID, error) {
			id := tenant.NextID[tenant.PasskeyID](tx.IDs)
			accountdb.InsertPasskey(tx.Tx, tx.Tenant, signin.Passkey{
				ID: id, Member: of.Member, CredentialID: id.UUID[:], Credential: []byte("{}"), Name: "Firefox",
				CreatedAt: tx.Now, UsedAt: tx.Now, AskedAt: tx.Now,
			})
			return id, ctx.Err()
		}))(s.T)
}

// A passkey is removed by its member, or by staff who may edit them.
func TestRemovePasskey_OfWhomOneMayEdit(t *testing.T) {
	t.Parallel()
	s := testkit.New(t)
	ctx := t.Context()
	boss, ana, ben, other := s.AddPerson("Boss", tenant.RoleAdmin), s.AddMember("Ana"), s.AddMember("Ben"), s.OtherTenant()
	bosss, first, second := passkeyOf(s, boss), passkeyOf(s, ana), passkeyOf(s, ana)
	left := func() int {
		return len(expect.Value(s.App.Accounts.ListSignIns(ctx, s.Owner, ana.Member))(t).Passkeys)
	}
	remove := func(by tenant.Caller, of tenant.MemberID, id tenant.PasskeyID) fault.Reason {
		return fault.ReasonOf(s.App.Accounts.RemovePasskey(ctx, by, of, id))
	}
	test.EqOp(t, fault.PermissionDeniedReason, remove(s.Coach, boss.Member, bosss))
	ben.SelfOnly = true
	test.EqOp(t, fault.MemberNotFound, remove(ben, ana.Member, first))
	test.EqOp(t, fault.MemberNotFound, remove(other.Owner, ana.Member, first))
	test.EqOp(t, "", remove(ben, ben.Member, first), test.Sprint("another's is ignored"))
	test.EqOp(t, 2, left())
	for range 2 {
		test.EqOp(t, "", remove(ana, tenant.MemberID{}, first))
	}
	test.EqOp(t, 1, left())
	test.EqOp(t, "", remove(s.Coach, ana.Member, second))
	test.EqOp(t, 0, left())
	test.EqOp(t, 2, s.Count(`select count(*) from audit_entries where action = 'passkey.removed' and target_id = $1::text`,
		ana.Member))
}
