package accounts_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

func TestCheckAccess_NamesTheRolesThatGrantIt(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	guard := access.New(accounts.AccessSource(h.DB.DB))
	role(h, "desk", "credit.grant", "session.read")
	ana := h.AddPerson("Ana", "desk")
	assign(h, ana, tenant.RoleCoach)
	unbound := newMember(h, member.Member{Name: "Ben"})
	assign(h, tenant.Caller{Member: unbound.ID}, "desk")
	gone := h.AddPerson("Gus", tenant.RoleOwner)
	h.Deactivate(gone)
	goneUnbound := newMember(h, member.Member{Name: "Gil"})
	h.Deactivate(tenant.Caller{Member: goneUnbound.ID})
	robot, _ := h.AddAccount("Robot", tenant.RolePartner, "desk")
	dead, _ := h.AddAccount("Dead", tenant.RolePartner)
	if _, err := h.App.Accounts.RevokeServiceAccount(t.Context(), h.Owner, dead.ID); err != nil {
		t.Fatal(err)
	}

	reads := []string{"owner", "admin", "coach", "member", "partner", "desk"}
	grants := []string{"owner", "admin", "desk"}
	for name, c := range map[string]struct {
		who        accounts.AccessSubject
		permission string
		want       accounts.Access
	}{
		"through two": {
			accounts.AccessSubject{Member: ana.Member}, "session.read",
			accounts.Access{Allowed: true, Through: []string{"coach", "member", "desk"}, Giving: reads, Active: true},
		},
		"by subject": {
			accounts.AccessSubject{Subject: ana.Subject}, "credit.grant",
			accounts.Access{Allowed: true, Through: []string{"desk"}, Giving: grants, Active: true},
		},
		"not": {
			accounts.AccessSubject{Member: ana.Member}, "credit.refund",
			accounts.Access{Giving: []string{"owner", "admin"}, Active: true},
		},
		"unbound": {
			accounts.AccessSubject{Member: unbound.ID}, "session.read",
			accounts.Access{Allowed: true, Through: []string{"member", "desk"}, Giving: reads, Active: true},
		},
		"unbound, not": {
			accounts.AccessSubject{Member: unbound.ID}, "audit.read",
			accounts.Access{Giving: []string{"owner", "admin"}, Active: true},
		},
		"inactive":         {accounts.AccessSubject{Member: gone.Member}, "session.read", accounts.Access{Giving: reads}},
		"inactive unbound": {accounts.AccessSubject{Member: goneUnbound.ID}, "session.read", accounts.Access{Giving: reads}},
		"account": {
			accounts.AccessSubject{Account: robot.ID}, "credit.grant",
			accounts.Access{Allowed: true, Through: []string{"desk"}, Giving: grants, Active: true},
		},
		"revoked": {accounts.AccessSubject{Account: dead.ID}, "session.read", accounts.Access{Giving: reads}},
	} {
		got, err := h.App.Accounts.CheckAccess(t.Context(), h.Owner, guard, c.who, c.permission)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	theirs := h.OtherTenant()
	for name, c := range map[string]struct {
		who        accounts.AccessSubject
		permission string
		want       fault.Reason
	}{
		"no member": {
			accounts.AccessSubject{Member: testkit.NewID[tenant.MemberID]()}, "session.read", fault.MemberNotFound,
		},
		"other's member":  {accounts.AccessSubject{Member: theirs.Owner.Member}, "session.read", fault.MemberNotFound},
		"no subject":      {accounts.AccessSubject{Subject: "nobody"}, "session.read", fault.MemberNotFound},
		"other's subject": {accounts.AccessSubject{Subject: theirs.Owner.Subject}, "session.read", fault.MemberNotFound},
		"null":            {accounts.AccessSubject{Subject: "\x00"}, "session.read", fault.MemberNotFound},
		"account's": {
			accounts.AccessSubject{Subject: "sa:" + robot.ID.String()}, "session.read", fault.MemberNotFound,
		},
		"no account": {
			accounts.AccessSubject{Account: testkit.NewID[tenant.ServiceAccountID]()}, "session.read",
			fault.ServiceAccountNotFound,
		},
		"permission":       {accounts.AccessSubject{Member: ana.Member}, "world.rule", fault.PermissionNotFound},
		"permission too":   {accounts.AccessSubject{Member: unbound.ID}, "world.rule", fault.PermissionNotFound},
		"permission still": {accounts.AccessSubject{Account: robot.ID}, "world.rule", fault.PermissionNotFound},
	} {
		_, err := h.App.Accounts.CheckAccess(t.Context(), h.Owner, guard, c.who, c.permission)
		if fault.ReasonOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAccessSource_FindsSubjects(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	role(h, "desk", "session.read")
	ana := h.AddPerson("Ana", "desk")
	robot, _ := h.AddAccount("Robot", tenant.RolePartner)
	source := accounts.AccessSource(h.DB.DB)
	roles, err := source.Roles(t.Context(), h.Tenant)
	if diff := cmp.Diff([]access.Role{{Name: "desk", Permissions: []string{"session.read"}}}, roles); diff != "" ||
		err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for subject, want := range map[string]access.Holder{
		ana.Subject:               {Member: ana.Member, Roles: []string{"member", "desk"}, Active: true},
		"sa:" + robot.ID.String(): {Roles: []string{tenant.RolePartner}, Active: true},
		"sa:" + testkit.NewID[tenant.ServiceAccountID]().String(): {},
		"sa:":                         {},
		"sa:not-an-id":                {},
		"":                            {},
		"\x00":                        {},
		"system":                      {},
		h.OtherTenant().Owner.Subject: {},
		"sa:" + ana.Member.String():   {},
	} {
		got, err := source.Holder(t.Context(), h.Tenant, subject)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", subject, err, diff)
		}
	}
}

// node is one server of several on a database.
type node struct {
	app   *app.Services
	guard *access.Guard
	heard chan struct{} // of each notice, once the guard has forgotten
}

func openNode(h *testkit.Studio) *node {
	h.T.Helper()
	db, err := pg.Open(h.T.Context(), pg.Config{
		URL: h.DB.URL, CommandConns: 4, ReadConns: 4, StatementTimeout: testkit.Timeout, LockTimeout: testkit.Timeout,
		IdleTimeout: testkit.Timeout,
	})
	if err != nil {
		h.T.Fatal(err)
	}
	h.T.Cleanup(db.Close)
	n := &node{guard: access.New(accounts.AccessSource(db)), heard: make(chan struct{}, 100)}
	n.app = app.New(app.Config{DB: db, Now: h.Clock.Now, RolesChanged: n.guard.Invalidate})
	ctx, stop := context.WithCancel(h.T.Context())
	listening, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_ = db.Listen(ctx, accounts.AccessChannel, func(payload string) {
			n.guard.Invalidate(tenant.MustParse[tenant.TenantID](payload))
			n.heard <- struct{}{}
		}, func() {
			n.guard.InvalidateAll()
			close(listening)
		})
	}()
	h.T.Cleanup(func() { stop(); <-ended })
	<-listening
	return n
}

// A change of who may do what holds on the node where it was made when the call returns,
// and on every other when it hears of that, which it does within a second where the machine has time.
func TestAccess_ChangesApplyOnEveryNode(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	role(h, "desk", "session.read")
	ana := h.AddPerson("Ana", tenant.RoleMember)
	robot, _ := h.AddAccount("Robot", "desk")
	newcomer := tenant.Caller{Tenant: h.Tenant, Subject: "newcomer"}
	imported := tenant.Caller{Tenant: h.Tenant, Subject: "imported"}
	unbound := newMember(h, member.Member{Name: "Una"})
	here, there := openNode(h), openNode(h) // which hear nothing of what was before
	robotic := tenant.Caller{Tenant: h.Tenant, Subject: "sa:" + robot.ID.String()}
	ctx := t.Context()

	for _, c := range []struct {
		name       string
		who        tenant.Caller
		permission string
		before     bool
		change     func() error
	}{
		{"a role is given", ana, "audit.read", false, func() error {
			_, err := here.app.Accounts.AssignRole(ctx, h.Owner, ana.Member, tenant.RoleAdmin)
			return err
		}},
		{"a role is taken", ana, "audit.read", true, func() error {
			_, err := here.app.Accounts.RevokeRole(ctx, h.Owner, ana.Member, tenant.RoleAdmin)
			return err
		}},
		{"a member is suspended", ana, "session.read", true, func() error {
			_, err := here.app.Accounts.UpdateMember(ctx, h.Owner, ana.Member, nil, status(member.Inactive))
			return err
		}},
		{"a member comes back", ana, "session.read", false, func() error {
			_, err := here.app.Accounts.UpdateMember(ctx, h.Owner, ana.Member, nil, status(member.Active))
			return err
		}},
		{"a role is widened", robotic, "audit.read", false, func() error {
			_, err := here.app.Accounts.UpdateRole(ctx, h.Owner, "desk", nil, permits("session.read", "audit.read"))
			return err
		}},
		{"a role is narrowed", robotic, "session.read", true, func() error {
			_, err := here.app.Accounts.UpdateRole(ctx, h.Owner, "desk", nil, permits())
			return err
		}},
		{"a role is widened again", robotic, "audit.read", false, func() error {
			_, err := here.app.Accounts.UpdateRole(ctx, h.Owner, "desk", nil, permits("audit.read"))
			return err
		}},
		{"an account is revoked", robotic, "audit.read", true, func() error {
			_, err := here.app.Accounts.RevokeServiceAccount(ctx, h.Owner, robot.ID)
			return err
		}},
		{"somebody joins", newcomer, "session.read", false, func() error {
			_, err := here.app.Accounts.CreateMember(ctx, h.Owner, member.Member{Name: "Nina", Subject: newcomer.Subject})
			return err
		}},
		{"somebody is imported", imported, "session.read", false, func() error {
			_, err := here.app.Accounts.ImportMembers(
				ctx, h.Owner, []byte("name,subject\nIda,imported\n"), false, ignoreProgress,
			)
			return err
		}},
		{"a subject becomes known", tenant.Caller{Tenant: h.Tenant, Subject: "una"}, "session.read", false, func() error {
			_, err := here.app.Accounts.UpdateMember(
				ctx, h.Owner, unbound.ID, nil, func(m *member.Member) error { m.Subject = "una"; return nil },
			)
			return err
		}},
	} {
		allowed := func(n *node) bool {
			t.Helper()
			d, err := n.guard.Decide(ctx, h.Tenant, c.who.Subject, c.permission)
			if err != nil {
				t.Fatal(err)
			}
			return d.Allowed
		}
		if allowed(here) != c.before || allowed(there) != c.before {
			t.Fatalf("%s: allowed before: %v here, %v there", c.name, allowed(here), allowed(there))
		}
		start := time.Now()
		if err := c.change(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if allowed(here) == c.before {
			t.Errorf("%s: not here", c.name)
		}
		select {
		case <-there.heard:
		case <-time.After(testkit.Timeout):
			t.Fatalf("%s: the other node heard nothing", c.name)
		}
		took := time.Since(start)
		if allowed(there) == c.before {
			t.Errorf("%s: not there", c.name)
		}
		t.Logf("%s: there after %v", c.name, took)
		<-here.heard
	}
}

// The guard is not told of what changes nothing for it.
func TestAccess_ProfileEditsKeepTheCache(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	var told []string
	a := app.New(app.Config{
		DB: h.DB.DB, Now: h.Clock.Now, RolesChanged: func(tenant.TenantID) { told = append(told, "told") },
	})
	ana := h.AddMember("Ana")
	if _, err := a.Accounts.UpdateMember(t.Context(), h.Owner, ana.Member, nil, named("Ann")); err != nil {
		t.Fatal(err)
	}
	_, err := a.Accounts.AssignRole(t.Context(), h.Owner, ana.Member, "ghost")
	testkit.WantReason(t, err, fault.RoleNotFound)
	_, err = a.Accounts.CreateRole(t.Context(), ana, grant.Role{Name: "x", Permissions: []string{"audit.read"}})
	testkit.WantReason(t, err, fault.PermissionDeniedReason)
	if !slices.Equal(told, nil) {
		t.Errorf("told %d times", len(told))
	}
}
