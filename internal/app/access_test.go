package app_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

func TestCheckAccess(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	guard := access.New(app.AccessSource(h.db.DB))
	h.role("desk", "credit.grant", "session.read")
	ana := h.person("Ana", "desk")
	h.assign(ana, tenant.RoleCoach)
	unbound := h.newMember(member.Member{Name: "Ben"})
	h.assign(tenant.Caller{Member: unbound.ID}, "desk")
	gone := h.person("Gus", tenant.RoleOwner)
	h.exec(`update members set status = 'INACTIVE' where id = $1`, gone.Member)
	goneUnbound := h.newMember(member.Member{Name: "Gil"})
	h.exec(`update members set status = 'INACTIVE' where id = $1`, goneUnbound.ID)
	robot, _ := h.account("Robot", tenant.RolePartner, "desk")
	dead, _ := h.account("Dead", tenant.RolePartner)
	if _, err := h.app.RevokeServiceAccount(t.Context(), h.Owner, dead.ID); err != nil {
		t.Fatal(err)
	}

	reads := []string{"owner", "admin", "coach", "member", "partner", "desk"}
	grants := []string{"owner", "admin", "desk"}
	for name, c := range map[string]struct {
		who        app.Who
		permission string
		want       app.Access
	}{
		"through two":      {app.Who{Member: ana.Member}, "session.read", app.Access{Allowed: true, Through: []string{"coach", "desk"}, Giving: reads, Active: true}},
		"by subject":       {app.Who{Subject: ana.Subject}, "credit.grant", app.Access{Allowed: true, Through: []string{"desk"}, Giving: grants, Active: true}},
		"not":              {app.Who{Member: ana.Member}, "credit.refund", app.Access{Giving: []string{"owner", "admin"}, Active: true}},
		"unbound":          {app.Who{Member: unbound.ID}, "session.read", app.Access{Allowed: true, Through: []string{"member", "desk"}, Giving: reads, Active: true}},
		"unbound, not":     {app.Who{Member: unbound.ID}, "audit.read", app.Access{Giving: []string{"owner", "admin"}, Active: true}},
		"inactive":         {app.Who{Member: gone.Member}, "session.read", app.Access{Giving: reads}},
		"inactive unbound": {app.Who{Member: goneUnbound.ID}, "session.read", app.Access{Giving: reads}},
		"account":          {app.Who{Account: robot.ID}, "credit.grant", app.Access{Allowed: true, Through: []string{"desk"}, Giving: grants, Active: true}},
		"revoked":          {app.Who{Account: dead.ID}, "session.read", app.Access{Giving: reads}},
	} {
		got, err := h.app.CheckAccess(t.Context(), h.Owner, guard, c.who, c.permission)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	theirs := h.another()
	for name, c := range map[string]struct {
		who        app.Who
		permission string
		want       fault.Reason
	}{
		"no member":        {app.Who{Member: newID[tenant.MemberID]()}, "session.read", fault.MemberNotFound},
		"other's member":   {app.Who{Member: theirs.Owner.Member}, "session.read", fault.MemberNotFound},
		"no subject":       {app.Who{Subject: "nobody"}, "session.read", fault.MemberNotFound},
		"other's subject":  {app.Who{Subject: theirs.Owner.Subject}, "session.read", fault.MemberNotFound},
		"null":             {app.Who{Subject: "\x00"}, "session.read", fault.MemberNotFound},
		"account's":        {app.Who{Subject: "sa:" + robot.ID.String()}, "session.read", fault.MemberNotFound},
		"no account":       {app.Who{Account: newID[tenant.ServiceAccountID]()}, "session.read", fault.ServiceAccountNotFound},
		"permission":       {app.Who{Member: ana.Member}, "world.rule", fault.PermissionNotFound},
		"permission too":   {app.Who{Member: unbound.ID}, "world.rule", fault.PermissionNotFound},
		"permission still": {app.Who{Account: robot.ID}, "world.rule", fault.PermissionNotFound},
	} {
		_, err := h.app.CheckAccess(t.Context(), h.Owner, guard, c.who, c.permission)
		if fault.ReasonOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheSourceKnowsWhoIsWho(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.role("desk", "session.read")
	ana := h.person("Ana", "desk")
	robot, _ := h.account("Robot", tenant.RolePartner)
	source := app.AccessSource(h.db.DB)
	roles, err := source.Roles(t.Context(), h.Tenant)
	if diff := cmp.Diff([]access.Role{{Name: "desk", Permissions: []string{"session.read"}}}, roles); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for subject, want := range map[string]access.Holder{
		ana.Subject:               {Member: ana.Member, Roles: []string{"desk"}, Active: true},
		"sa:" + robot.ID.String(): {Roles: []string{tenant.RolePartner}, Active: true},
		"sa:" + newID[tenant.ServiceAccountID]().String(): {},
		"sa:":                       {},
		"sa:not-an-id":              {},
		"":                          {},
		"\x00":                      {},
		"system":                    {},
		h.another().Owner.Subject:   {},
		"sa:" + ana.Member.String(): {},
	} {
		got, err := source.Holder(t.Context(), h.Tenant, subject)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", subject, err, diff)
		}
	}
}

// node is one server of several on a database.
type node struct {
	app   *app.App
	guard *access.Guard
	heard chan struct{} // of each notice, once the guard has forgotten
}

func (h *house) node() *node {
	h.t.Helper()
	db, err := pg.Open(h.t.Context(), pg.Config{
		URL: h.db.URL, CommandConns: 4, ReadConns: 4, StatementTimeout: patience, LockTimeout: patience, IdleTimeout: patience,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(db.Close)
	n := &node{guard: access.New(app.AccessSource(db)), heard: make(chan struct{}, 100)}
	n.app = app.New(app.Config{DB: db, Now: h.clock.Now, RolesChanged: n.guard.Invalidate})
	ctx, stop := context.WithCancel(h.t.Context())
	listening, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_ = db.Listen(ctx, app.AccessChannel, func(payload string) {
			n.guard.Invalidate(tenant.MustParse[tenant.TenantID](payload))
			n.heard <- struct{}{}
		}, func() {
			n.guard.InvalidateAll()
			close(listening)
		})
	}()
	h.t.Cleanup(func() { stop(); <-ended })
	<-listening
	return n
}

// A change of who may do what holds on the node where it was made when the call returns,
// and on every other when it hears of that, which it does within a second where the machine has time.
func TestChangesHoldOnEveryNode(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.role("desk", "session.read")
	ana := h.person("Ana", tenant.RoleMember)
	robot, _ := h.account("Robot", "desk")
	newcomer := tenant.Caller{Tenant: h.Tenant, Subject: "newcomer"}
	imported := tenant.Caller{Tenant: h.Tenant, Subject: "imported"}
	unbound := h.newMember(member.Member{Name: "Una"})
	here, there := h.node(), h.node() // which hear nothing of what was before
	robotic := tenant.Caller{Tenant: h.Tenant, Subject: "sa:" + robot.ID.String()}
	ctx := t.Context()

	for _, c := range []struct {
		name       string
		who        tenant.Caller
		permission string
		before     bool
		change     func() error
	}{
		{"a role is given", ana, "audit.read", false, func() error { _, err := here.app.AssignRole(ctx, h.Owner, ana.Member, tenant.RoleAdmin); return err }},
		{"a role is taken", ana, "audit.read", true, func() error { _, err := here.app.RevokeRole(ctx, h.Owner, ana.Member, tenant.RoleAdmin); return err }},
		{"a member is suspended", ana, "session.read", true, func() error {
			_, err := here.app.UpdateMember(ctx, h.Owner, ana.Member, nil, status(member.Inactive))
			return err
		}},
		{"a member comes back", ana, "session.read", false, func() error {
			_, err := here.app.UpdateMember(ctx, h.Owner, ana.Member, nil, status(member.Active))
			return err
		}},
		{"a role is widened", robotic, "audit.read", false, func() error {
			_, err := here.app.UpdateRole(ctx, h.Owner, "desk", nil, permits("session.read", "audit.read"))
			return err
		}},
		{"a role is narrowed", robotic, "session.read", true, func() error { _, err := here.app.UpdateRole(ctx, h.Owner, "desk", nil, permits()); return err }},
		{"a role is widened again", robotic, "audit.read", false, func() error {
			_, err := here.app.UpdateRole(ctx, h.Owner, "desk", nil, permits("audit.read"))
			return err
		}},
		{"an account is revoked", robotic, "audit.read", true, func() error { _, err := here.app.RevokeServiceAccount(ctx, h.Owner, robot.ID); return err }},
		{"somebody joins", newcomer, "session.read", false, func() error {
			_, err := here.app.CreateMember(ctx, h.Owner, member.Member{Name: "Nina", Subject: newcomer.Subject})
			return err
		}},
		{"somebody is imported", imported, "session.read", false, func() error {
			_, err := here.app.ImportMembers(ctx, h.Owner, []byte("name,subject\nIda,imported\n"), false, ignoreProgress)
			return err
		}},
		{"a subject becomes known", tenant.Caller{Tenant: h.Tenant, Subject: "una"}, "session.read", false, func() error {
			_, err := here.app.UpdateMember(ctx, h.Owner, unbound.ID, nil, func(m *member.Member) error { m.Subject = "una"; return nil })
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
		case <-time.After(patience):
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
func TestEditsOfProfilesKeepTheGuardsMemory(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var told []string
	a := app.New(app.Config{DB: h.db.DB, Now: h.clock.Now, RolesChanged: func(tenant.TenantID) { told = append(told, "told") }})
	ana := h.member("Ana")
	if _, err := a.UpdateMember(t.Context(), h.Owner, ana.Member, nil, named("Ann")); err != nil {
		t.Fatal(err)
	}
	_, err := a.AssignRole(t.Context(), h.Owner, ana.Member, "ghost")
	wantReason(t, err, fault.RoleNotFound)
	_, err = a.CreateRole(t.Context(), ana, grant.Role{Name: "x", Permissions: []string{"audit.read"}})
	wantReason(t, err, fault.Denied)
	if !slices.Equal(told, nil) {
		t.Errorf("told %d times", len(told))
	}
}
