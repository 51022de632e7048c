package accounts_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/policy"
)

// newMember makes a member as staff does.
func newMember(studio *testkit.Studio, m member.Member) member.Member {
	studio.T.Helper()
	return expect.Value(studio.App.Accounts.CreateMember(studio.T.Context(), studio.Coach, m))(studio.T)
}

// edit makes a mutation of a member's status.
func named(name string) func(*member.Member) error {
	return func(m *member.Member) error { m.Name = name; return nil }
}

func TestCreateMember_StoresNormalizedFields(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	made := newMember(studio, member.Member{
		Name: " Ana ", Email: "Ana@Example.com", Phone: "+351 912 345 678", Tags: []string{"a", "b"},
		Notes: "Likes the window.",
		Roles: []string{tenant.RoleOwner}, Status: member.Inactive, // not for the sender to say
	})
	read, err := studio.App.Accounts.GetMember(t.Context(), studio.Coach, made.ID)
	must.NoError(t, err)
	test.Eq(t, made, read.Member, test.Sprint("read otherwise than made (-made +read)"))
	want := member.Member{
		ID: made.ID, Name: "Ana", Email: "Ana@Example.com", Phone: "+351912345678", Tags: []string{"a", "b"},
		Notes: "Likes the window.",
		Roles: []string{tenant.RoleMember}, Status: member.Active, EmailBy: studio.Coach.Member.String(), Version: 1,
		CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon,
	}
	test.Eq(t, want, read.Member)
	test.EqOp(t, 1, studio.Count(`select count(*) from audit_entries where tenant_id = $1 and action = 'member.created'
		and target_id = $2
		and actor = $3 and changes->'after'->>'email' = 'Ana@Example.com'`,
		studio.Tenant, made.ID.String(), studio.Coach.Member.String()), test.Sprint("audit entries"))
	test.EqOp(t, 1, studio.Count(
		`select count(*) from events where tenant_id = $1 and type = 'member.changed' and member_id = $2`, studio.Tenant,
		made.ID,
	), test.Sprint("events"))

	for name, m := range map[string]member.Member{
		"email":   {Name: "B", Email: "aNA@example.COM"},
		"subject": {Name: "B", Subject: studio.Owner.Subject},
	} {
		test.EqOp(t, "member."+name, expect.Reason(t, fault.AlreadyExistsReason)(
			studio.App.Accounts.CreateMember(t.Context(), studio.Coach, m)).Field)
	}
	expect.OK(t)(studio.OtherTenant().App.Accounts.CreateMember(
		t.Context(), studio.OtherTenant().Coach, member.Member{Name: "B", Email: made.Email},
	))
	expect.Reason(t, fault.InvalidField)(
		studio.App.Accounts.CreateMember(t.Context(), studio.Coach, member.Member{Name: "B", Phone: "12"}),
	)
}

func TestCreateMember_ConcurrentCallsTakeAnEmailOnce(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	errs := testkit.ParallelErrors(6, func(i int) error {
		return expect.Error(studio.App.Accounts.CreateMember(
			t.Context(), studio.Coach, member.Member{Name: fmt.Sprint("Ana ", i), Email: "ana@example.com", Subject: "ana"},
		))
	})
	test.Eq(t, map[fault.Reason]int{"": 1, fault.AlreadyExistsReason: 5}, testkit.CountReasons(errs))
}

func TestUpdateMember_EditsFieldsAndRecordsThem(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	made := newMember(studio, member.Member{Name: "Ana", Notes: "old"})

	after := expect.Value(studio.App.Accounts.UpdateMember(t.Context(), studio.Coach, made.ID, new(1),
		func(m *member.Member) error {
			m.Tier, m.Notes, m.Subject = "gold", "", "ana"
			return nil
		}))(t)
	must.EqOp(t, 2, after.Version)
	must.EqOp(t, "gold", after.Tier)
	must.EqOp(t, "ana", after.Subject)
	must.EqOp(t, "", after.Notes)
	test.EqOp(t, 1, studio.Count(`select count(*) from audit_entries where tenant_id = $1 and action = 'member.updated'
		and target_id = $2
		and changes = '{"before": {"tier": "", "notes": "old", "subject": ""},
		"after": {"tier": "gold", "notes": "", "subject": "ana"}}'`,
		studio.Tenant, made.ID.String()), test.Sprint("audit entries"))

	same := expect.Value(studio.App.Accounts.UpdateMember(
		t.Context(), studio.Coach, made.ID, nil, func(m *member.Member) error { m.Tier = " gold"; return nil },
	))(t)
	test.EqOp(t, 2, same.Version, test.Sprintf("an edit that changes nothing: version %d", same.Version))
	expect.Reason(t, fault.ETagMismatch)(
		studio.App.Accounts.UpdateMember(t.Context(), studio.Coach, made.ID, new(1), named("B")),
	)
	expect.Reason(t, fault.InvalidField)(studio.App.Accounts.UpdateMember(
		t.Context(), studio.Coach, made.ID, nil, func(m *member.Member) error { m.Subject = "ben"; return nil },
	))
	expect.Reason(t, fault.MemberNotFound)(
		studio.App.Accounts.UpdateMember(t.Context(), studio.Coach, testkit.NewID[tenant.MemberID](), nil, named("B")),
	)
	test.ErrorIs(t, expect.Error(studio.App.Accounts.UpdateMember(
		t.Context(), studio.Coach, made.ID, nil, func(m *member.Member) error { m.Tier = "iron"; return context.Canceled },
	)), context.Canceled)

	other := newMember(studio, member.Member{Name: "Ben", Email: "ben@example.com"})
	expect.Reason(t, fault.AlreadyExistsReason)(studio.App.Accounts.UpdateMember(
		t.Context(), studio.Coach, made.ID, nil, func(m *member.Member) error { m.Email = "BEN@example.com"; return nil },
	))
	expect.Reason(t, fault.AlreadyExistsReason)(studio.App.Accounts.UpdateMember(
		t.Context(), studio.Coach, other.ID, nil, func(m *member.Member) error { m.Subject = "ana"; return nil },
	))
}

func TestUpdateMember_RejectsTheSecondOfTwoEdits(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	made := newMember(studio, member.Member{Name: "Ana"})
	errs := testkit.ParallelErrors(4, func(i int) error {
		return expect.Error(studio.App.Accounts.UpdateMember(
			t.Context(), studio.Coach, made.ID, new(1), named(fmt.Sprint("Ana ", i)),
		))
	})
	test.Eq(t, map[fault.Reason]int{"": 1, fault.ETagMismatch: 3}, testkit.CountReasons(errs))
}

// Whatever is another tenant's looks the same as what is not there.
func TestMembers_HidesOtherTenants(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	theirs := studio.OtherTenant()
	stranger := newMember(theirs, member.Member{Name: "Ana", Subject: "ana"})
	device := expect.Value(studio.App.Accounts.RegisterDevice(t.Context(), theirs.Coach, member.IOS, "token"))(t)
	account, _ := theirs.AddAccount("Robot", tenant.RolePartner)

	absent := testkit.NewID[tenant.MemberID]()
	for name, call := range map[string]func(tenant.MemberID, tenant.DeviceID, tenant.ServiceAccountID) error{
		"GetMember": func(id tenant.MemberID, _ tenant.DeviceID, _ tenant.ServiceAccountID) error {
			return expect.Error(studio.App.Accounts.GetMember(t.Context(), studio.Owner, id))
		},
		"UpdateMember": func(id tenant.MemberID, _ tenant.DeviceID, _ tenant.ServiceAccountID) error {
			return expect.Error(studio.App.Accounts.UpdateMember(t.Context(), studio.Owner, id, nil, named("B")))
		},
		"AssignRole": func(id tenant.MemberID, _ tenant.DeviceID, _ tenant.ServiceAccountID) error {
			return expect.Error(studio.App.Accounts.AssignRole(t.Context(), studio.Owner, id, tenant.RoleCoach))
		},
		"RevokeRole": func(id tenant.MemberID, _ tenant.DeviceID, _ tenant.ServiceAccountID) error {
			return expect.Error(studio.App.Accounts.RevokeRole(t.Context(), studio.Owner, id, tenant.RoleMember))
		},
		"UnregisterDevice": func(_ tenant.MemberID, id tenant.DeviceID, _ tenant.ServiceAccountID) error {
			return studio.App.Accounts.UnregisterDevice(t.Context(), studio.Coach, id)
		},
		"RotateServiceAccountKey": func(_ tenant.MemberID, _ tenant.DeviceID, id tenant.ServiceAccountID) error {
			return expect.Error(studio.App.Accounts.RotateServiceAccountKey(t.Context(), studio.Owner, id, 0))
		},
		"RevokeServiceAccount": func(_ tenant.MemberID, _ tenant.DeviceID, id tenant.ServiceAccountID) error {
			return expect.Error(studio.App.Accounts.RevokeServiceAccount(t.Context(), studio.Owner, id))
		},
	} {
		other := call(stranger.ID, device.ID, account.ID)
		none := call(absent, testkit.NewID[tenant.DeviceID](), testkit.NewID[tenant.ServiceAccountID]())
		test.Error(t, other, test.Sprintf("%s: another tenant's %v, absent %v", name, other, none))
		test.Error(t, none, test.Sprintf("%s: another tenant's %v, absent %v", name, other, none))
		test.EqOp(t, none.Error(), other.Error(), test.Sprintf("%s: another tenant's %v, absent %v", name, other, none))
		test.EqOp(t, fault.NotFound, other.(*fault.Error).Kind,
			test.Sprintf("%s: another tenant's %v, absent %v", name, other, none))
	}
	test.SliceEmpty(t, expect.Value(
		studio.App.Accounts.ListMembers(t.Context(), studio.Owner, member.Search{Query: "Ana", Limit: 10}),
	)(t))
}

// Under row-level security an index is used only for what leaks nothing. Postgres plans with an index only if there are
// many members, so they are inserted by SQL.
func TestListMembers_UsesAnIndex(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.Exec(`insert into members (tenant_id, id, name, name_key, email, created_at, updated_at)
		select $1, gen_random_uuid(), 'Member ' || n, 'member ' || n, 'm' || n || '@example.com', $2, $2
		from generate_series(1, 5000) n`, studio.Tenant, testkit.Noon)
	studio.Exec(`analyze members`)
	for sql, index := range map[string]string{
		`explain select id from members m where m.tenant_id = $1 and (m.name_key, m.id) > ('member 3',
			coalesce(null::uuid, '00000000-0000-0000-0000-000000000000'))
		 order by m.name_key, m.id limit 50`: "members_name",
		`explain select id from members m where m.tenant_id = $1 and m.email_key = lower('M7@example.com')
			and m.email_key <> ''`: "members_email",
		`explain select id from members m where m.tenant_id = $1 and m.subject = 'x'
			and m.subject <> ''`: "members_subject",
	} {
		var plan strings.Builder
		err := studio.DB.Read(t.Context(), pg.Scope{Tenant: studio.Tenant}, func(ctx context.Context, tx *pg.ReadTx) error {
			var (
				lines []string
				batch pg.Batch
			)
			pg.Collect(batch.Queue(sql, studio.Tenant), &lines, pgx.RowTo[string])
			err := tx.Load(ctx, &batch)
			plan.WriteString(strings.Join(lines, "\n"))
			return err
		})
		test.NoError(t, err)
		test.StrContains(t, plan.String(), index)
		test.StrContains(t, plan.String(), "Index Cond: ((tenant_id")
		test.NotEqOp(t, 0, strings.Count(plan.String(), "ROW(")+strings.Count(plan.String(), "_key =")+strings.Count(
			plan.String(), "subject =",
		))
	}
}

func TestUpdateMe_KeepsNotesOfStaff(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	ana := studio.AddMember("Ana")
	studio.EditMember(ana, func(m *member.Member) { m.Notes = "difficult" })

	after := expect.Value(studio.App.Accounts.UpdateMe(
		t.Context(), testkit.SelfOnly(ana), new(2),
		func(m *member.Member) error { m.Name, m.Locale = "Ann", "pt"; return nil },
	))(t).Member
	must.EqOp(t, "Ann", after.Name)
	must.EqOp(t, "", after.Notes)
	must.EqOp(t, 3, after.Version)
	test.EqOp(t, 1, studio.Count(
		`select count(*) from members where id = $1 and notes = 'difficult' and name = 'Ann'`, ana.Member,
	), test.Sprint("the notes of staff are gone"))
	expect.Reason(t, fault.ETagMismatch)(
		studio.App.Accounts.UpdateMe(t.Context(), testkit.SelfOnly(ana), new(1), named("B")),
	)
	expect.Reason(t, fault.InvalidField)(studio.App.Accounts.UpdateMe(
		t.Context(), testkit.SelfOnly(ana), nil, func(m *member.Member) error { m.Phone = "1"; return nil },
	))

	me := expect.Value(studio.App.Accounts.GetMe(t.Context(), testkit.SelfOnly(ana)))(t)
	must.EqOp(t, "", me.Member.Notes)
	must.EqOp(t, "Ann", me.Member.Name)
	must.SliceEmpty(t, me.Devices)
	var want []string
	for _, p := range policy.Permissions() {
		if slices.Contains(p.Roles, tenant.RoleMember) {
			want = append(want, p.Name)
		}
	}
	test.Eq(t, want, me.Permissions)
	robot := tenant.Caller{
		Tenant: studio.Tenant, Subject: "sa:" + testkit.NewID[tenant.ServiceAccountID]().String(), SelfOnly: true,
	}
	expect.Reason(t, fault.MemberNotFound)(studio.App.Accounts.GetMe(t.Context(), robot))
	expect.Reason(t, fault.MemberNotFound)(studio.App.Accounts.UpdateMe(t.Context(), robot, nil, named("B")))
	expect.Reason(t, fault.MemberNotFound)(studio.App.Accounts.RegisterDevice(t.Context(), robot, member.Web, "token"))
}

// An owner who has edited themselves may hold more than they can give, never less.
func TestUpdateMember_OwnersEditThemselves(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	expect.OK(t)(studio.App.Accounts.UpdateMe(
		t.Context(), testkit.SelfOnly(studio.Owner), nil, named("Olga O."),
	))
}

func TestDevices_RegisterOncePerToken(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	ana, ben := testkit.SelfOnly(studio.AddMember("Ana")), testkit.SelfOnly(studio.AddMember("Ben"))
	first := expect.Value(studio.App.Accounts.RegisterDevice(t.Context(), ana, member.IOS, "phone"))(t)
	must.EqOp(t, member.IOS, first.Kind)
	must.True(t, first.CreatedAt.Equal(testkit.Noon), must.Sprintf("%+v", first))
	studio.Clock.Set(testkit.Noon.Add(time.Second))
	again := expect.Value(studio.App.Accounts.RegisterDevice(t.Context(), ana, member.IOS, "phone"))(t)
	must.EqOp(t, first.ID, again.ID, must.Sprintf("registered again: %+v", again))
	must.True(t, again.CreatedAt.Equal(testkit.Noon), must.Sprintf("registered again: %+v", again))
	must.True(t, again.SeenAt.After(first.SeenAt), must.Sprintf("registered again: %+v", again))
	taken := expect.Value(studio.App.Accounts.RegisterDevice(t.Context(), ben, member.Android, "phone"))(t)
	must.EqOp(t, first.ID, taken.ID, must.Sprintf("of another member: %+v", taken))
	must.True(t, taken.CreatedAt.After(testkit.Noon), must.Sprintf("of another member: %+v", taken))
	must.EqOp(t, member.Android, taken.Kind, must.Sprintf("of another member: %+v", taken))
	test.SliceEmpty(t, expect.Value(studio.App.Accounts.GetMe(t.Context(), ana))(t).Devices)
	expect.Reason(t, fault.DeviceNotFound)(studio.App.Accounts.UnregisterDevice(t.Context(), ana, taken.ID))
	test.NoError(t, studio.App.Accounts.UnregisterDevice(t.Context(), ben, taken.ID))
	expect.Reason(t, fault.DeviceNotFound)(studio.App.Accounts.UnregisterDevice(t.Context(), ben, taken.ID))
	expect.Reason(t, fault.InvalidField)(studio.App.Accounts.RegisterDevice(t.Context(), ana, member.Web, "a\x00"))

	for i := range member.MaxDevices + 3 {
		studio.Clock.Set(testkit.Noon.Add(time.Duration(i+1) * time.Hour))
		expect.OK(t)(studio.App.Accounts.RegisterDevice(t.Context(), ana, member.Web, fmt.Sprint("browser ", i)))
	}
	me := expect.Value(studio.App.Accounts.GetMe(t.Context(), ana))(t)
	must.SliceLen(t, member.MaxDevices, me.Devices, must.Sprintf("%d devices", len(me.Devices)))
	test.True(t, me.Devices[0].SeenAt.After(me.Devices[1].SeenAt), test.Sprintf("%d devices", len(me.Devices)))
	errs := testkit.ParallelErrors(4, func(i int) error {
		return expect.Error(studio.App.Accounts.RegisterDevice(
			t.Context(), []tenant.Caller{ana, ben}[i%2], member.Web, "shared",
		))
	})
	hash := studio.Config().Seals.Hashes(studio.Tenant, "device", "shared")[0]
	n := studio.Count(`select count(*) from devices where token_hash = $1 and token is null`, hash)
	test.EqOp(t, 1, n, test.Sprintf("%d rows of one token, %v", n, errs))
	test.EqOp(t, 4, testkit.CountReasons(errs)[""], test.Sprintf("%d rows of one token, %v", n, errs))
}

func TestRevokeRole_KeepsTheLastOwner(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	expect.Reason(t, fault.LastOwner)(studio.App.Accounts.DeactivateMember(t.Context(), studio.Owner, studio.Owner.Member))
	expect.Reason(t, fault.LastOwner)(
		studio.App.Accounts.RevokeRole(t.Context(), studio.Owner, studio.Owner.Member, tenant.RoleOwner),
	)

	second := studio.AddPerson("Otto", tenant.RoleOwner)
	expect.OK(t)(studio.App.Accounts.DeactivateMember(t.Context(), studio.Owner, second.Member))
	// An owner who is not active counts for nothing.
	expect.Reason(t, fault.LastOwner)(
		studio.App.Accounts.RevokeRole(t.Context(), studio.Owner, studio.Owner.Member, tenant.RoleOwner),
	)
	// And may lose the role at any time.
	expect.OK(t)(studio.App.Accounts.RevokeRole(t.Context(), studio.Owner, second.Member, tenant.RoleOwner))
}

func TestRevokeRole_ConcurrentCallsLeaveAnOwner(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	operator := tenant.System(studio.Tenant)
	for round := range 8 {
		owners := []tenant.MemberID{studio.Owner.Member}
		for i := range 3 {
			owners = append(owners, studio.AddPerson(fmt.Sprint("Owner ", round, i), tenant.RoleOwner).Member)
		}
		errs := testkit.ParallelErrors(len(owners), func(i int) error {
			if (i+round)%2 == 0 {
				return expect.Error(studio.App.Accounts.RevokeRole(t.Context(), operator, owners[i], tenant.RoleOwner))
			}
			return expect.Error(studio.App.Accounts.DeactivateMember(t.Context(), operator, owners[i]))
		})
		must.Eq(t, map[fault.Reason]int{"": 3, fault.LastOwner: 1}, testkit.CountReasons(errs),
			must.Sprintf("round %d", round))
		const active = `from members m join member_roles r on r.tenant_id = m.tenant_id and r.member_id = m.id
			where m.tenant_id = $1 and r.role = 'owner' and m.status = 'ACTIVE'`
		must.EqOp(t, 1, studio.Count(`select count(*) `+active, studio.Tenant),
			must.Sprintf("round %d: active owners", round))
		must.NoError(t, studio.DB.Owner.QueryRow(
			t.Context(), `select m.id `+active, studio.Tenant,
		).Scan(&studio.Owner.Member))
	}
}

// Each owner removes the next one, all at once. A removed one cannot remove others, so some stay.
func TestRevokeRole_OwnersRemoveEachOther(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	owners := []tenant.Caller{
		studio.Owner, studio.AddPerson("Otto", tenant.RoleOwner), studio.AddPerson("Olga", tenant.RoleOwner),
	}
	errs := testkit.ParallelErrors(len(owners), func(i int) error {
		return expect.Error(studio.App.Accounts.RevokeRole(
			t.Context(), owners[i], owners[(i+1)%len(owners)].Member, tenant.RoleOwner,
		))
	})
	got := testkit.CountReasons(errs)
	test.EqOp(t, len(owners)-got[""], studio.Count(
		`select count(*) from member_roles where tenant_id = $1 and role = 'owner'`, studio.Tenant,
	))
	test.True(t, got[""] == 1 || got[""] == 2, test.Sprintf("%v", got))
	test.EqOp(t, len(owners)-got[""], got[fault.PermissionDeniedReason], test.Sprintf("%v", got))
}

// What protects the last owner is that the transactions are serializable: with anything
// less, two that each see the other's owner both commit.
func TestRevokeRole_LosesTheLastOwnerBelowSerializable(t *testing.T) {
	t.Parallel()
	for level, lost := range map[pgx.TxIsoLevel]bool{pgx.RepeatableRead: true, pgx.Serializable: false} {
		t.Run(string(level), func(t *testing.T) {
			t.Parallel()
			studio := testkit.New(t)
			owners := []tenant.MemberID{studio.Owner.Member, studio.AddPerson("Otto", tenant.RoleOwner).Member}
			var (
				open   []pgx.Tx
				failed error
			)
			for i, id := range owners {
				tx := expect.Value(studio.DB.Owner.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: level}))(t)
				defer tx.Rollback(context.WithoutCancel(t.Context()))
				open = append(open, tx)
				var others int
				err := tx.QueryRow(t.Context(), `select count(*) from member_roles r join members m on m.tenant_id = r.tenant_id
					and m.id = r.member_id
					where r.tenant_id = $1 and r.role = 'owner' and r.member_id <> $2
					and m.status = 'ACTIVE'`, studio.Tenant, id).Scan(&others)
				must.NoError(t, err, must.Sprintf("owner %d sees %d others: %v", i, others, err))
				must.EqOp(t, 1, others, must.Sprintf("owner %d sees %d others: %v", i, others, err))
			}
			for i, tx := range open {
				_, err := tx.Exec(
					t.Context(), `update members set status = 'INACTIVE' where tenant_id = $1 and id = $2`, studio.Tenant, owners[i],
				)
				if err == nil {
					err = tx.Commit(t.Context())
				}
				if err != nil {
					failed = err
				}
			}
			left := studio.Count(`select count(*) from members m join member_roles r on r.tenant_id = m.tenant_id
				and r.member_id = m.id
				where m.tenant_id = $1 and r.role = 'owner' and m.status = 'ACTIVE'`, studio.Tenant)
			test.EqOp(t, lost, (left == 0), test.Sprintf("%d owners left, %v", left, failed))
			test.NotEqOp(t, lost, (pg.Code(failed) == "40001"), test.Sprintf("%d owners left, %v", left, failed))
		})
	}
}

// Letters with accents are composed or apart, and people search with or without them.
func TestListMembers_SearchesWithoutAccents(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.ImportMembers("name,email\nJose\u0301 Mun\u0303oz,jose@example.com\nJosé Pérez,perez@example.com\n", false)
	names := func(query string) (all []string) {
		found := expect.Value(studio.App.Accounts.ListMembers(
			t.Context(), studio.Owner, member.Search{Query: query, Limit: 10}))(t)
		for _, m := range found {
			all = append(all, m.Name)
		}
		return all
	}
	for _, query := range []string{"José", "Jose\u0301", "jose", "JOSÉ"} {
		test.Eq(t, []string{"José Muñoz", "José Pérez"}, names(query), test.Sprintf("%q", query))
	}
	test.Eq(t, []string{"José Muñoz"}, names("munoz"))
	found := expect.Value(studio.App.Accounts.ListMembers(
		t.Context(), studio.Owner, member.Search{Query: "munoz", Limit: 1}))(t)
	m := expect.Value(studio.App.Accounts.UpdateMember(t.Context(), studio.Owner, found[0].ID, nil,
		func(m *member.Member) error { m.Name = "Zoë Muñoz"; return nil }))(t)
	test.Eq(t, []string{m.Name}, names("zoe"))
}
