package accounts_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/policy"
)

// newMember makes a member as staff does.
func newMember(h *testkit.Studio, m member.Member) member.Member {
	h.T.Helper()
	made, err := h.App.Accounts.CreateMember(h.T.Context(), h.Coach, m)
	if err != nil {
		h.T.Fatal(err)
	}
	return made
}

// edit makes a mutation of a member's status.
func status(s member.Status) func(*member.Member) error {
	return func(m *member.Member) error { m.Status = s; return nil }
}

func named(name string) func(*member.Member) error {
	return func(m *member.Member) error { m.Name = name; return nil }
}

func TestCreateMember_StoresNormalizedFields(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	made := newMember(h, member.Member{
		Name: " Ana ", Email: "Ana@Example.com", Phone: "+351 912 345 678", Tags: []string{"a", "b"},
		Notes: "Likes the window.",
		Roles: []string{tenant.RoleOwner}, Status: member.Inactive, // not for the sender to say
	})
	read, _, err := h.App.Accounts.GetMember(t.Context(), h.Coach, made.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(made, read); diff != "" {
		t.Errorf("read otherwise than made (-made +read):\n%s", diff)
	}
	want := member.Member{
		ID: made.ID, Name: "Ana", Email: "Ana@Example.com", Phone: "+351912345678", Tags: []string{"a", "b"},
		Notes: "Likes the window.",
		Roles: []string{tenant.RoleMember}, Status: member.Active, Version: 1, CreatedAt: testkit.Noon,
		UpdatedAt: testkit.Noon,
	}
	if diff := cmp.Diff(want, read); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := h.Count(`select count(*) from audit_entries where tenant_id = $1 and action = 'member.created'
		and target_id = $2
		and actor = $3 and changes->'after'->>'email' = 'Ana@Example.com'`,
		h.Tenant, made.ID.String(), h.Coach.Member.String()); n != 1 {
		t.Errorf("%d audit entries", n)
	}
	if n := h.Count(
		`select count(*) from events where tenant_id = $1 and type = 'member.changed' and member_id = $2`, h.Tenant, made.ID,
	); n != 1 {
		t.Errorf("%d events", n)
	}

	for name, m := range map[string]member.Member{
		"email":   {Name: "B", Email: "aNA@example.COM"},
		"subject": {Name: "B", Subject: h.Owner.Subject},
	} {
		_, err := h.App.Accounts.CreateMember(t.Context(), h.Coach, m)
		testkit.WantReason(t, err, fault.AlreadyExistsReason)
		if f := err.(*fault.Error); f.Field != "member."+name {
			t.Errorf("field %q", f.Field)
		}
	}
	if _, err := h.OtherTenant().App.Accounts.CreateMember(
		t.Context(), h.OtherTenant().Coach, member.Member{Name: "B", Email: made.Email},
	); err != nil {
		t.Errorf("another tenant's emails are its own: %v", err)
	}
	_, err = h.App.Accounts.CreateMember(t.Context(), h.Coach, member.Member{Name: "B", Phone: "12"})
	testkit.WantReason(t, err, fault.InvalidField)
}

func TestCreateMember_ConcurrentCallsTakeAnEmailOnce(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	errs := testkit.ParallelErrors(6, func(i int) error {
		_, err := h.App.Accounts.CreateMember(
			t.Context(), h.Coach, member.Member{Name: fmt.Sprint("Ana ", i), Email: "ana@example.com", Subject: "ana"},
		)
		return err
	})
	if diff := cmp.Diff(
		map[fault.Reason]int{"": 1, fault.AlreadyExistsReason: 5}, testkit.CountReasons(errs),
	); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUpdateMember_EditsFieldsAndRecordsThem(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	made := newMember(h, member.Member{Name: "Ana", Notes: "old"})

	after, err := h.App.Accounts.UpdateMember(t.Context(), h.Coach, made.ID, new(1), func(m *member.Member) error {
		m.Tier, m.Notes, m.Subject = "gold", "", "ana"
		return nil
	})
	if err != nil || after.Version != 2 || after.Tier != "gold" || after.Subject != "ana" || after.Notes != "" {
		t.Fatalf("%+v, %v", after, err)
	}
	if n := h.Count(`select count(*) from audit_entries where tenant_id = $1 and action = 'member.updated'
		and target_id = $2
		and changes = '{"before": {"tier": "", "notes": "old", "subject": ""},
		"after": {"tier": "gold", "notes": "", "subject": "ana"}}'`,
		h.Tenant, made.ID.String()); n != 1 {
		t.Errorf("%d audit entries", n)
	}

	same, err := h.App.Accounts.UpdateMember(
		t.Context(), h.Coach, made.ID, nil, func(m *member.Member) error { m.Tier = " gold"; return nil },
	)
	if err != nil || same.Version != 2 {
		t.Errorf("an edit that changes nothing: version %d, %v", same.Version, err)
	}
	_, err = h.App.Accounts.UpdateMember(t.Context(), h.Coach, made.ID, new(1), named("B"))
	testkit.WantReason(t, err, fault.ETagMismatch)
	_, err = h.App.Accounts.UpdateMember(
		t.Context(), h.Coach, made.ID, nil, func(m *member.Member) error { m.Subject = "ben"; return nil },
	)
	testkit.WantReason(t, err, fault.InvalidField)
	_, err = h.App.Accounts.UpdateMember(t.Context(), h.Coach, testkit.NewID[tenant.MemberID](), nil, named("B"))
	testkit.WantReason(t, err, fault.MemberNotFound)

	other := newMember(h, member.Member{Name: "Ben", Email: "ben@example.com"})
	_, err = h.App.Accounts.UpdateMember(
		t.Context(), h.Coach, made.ID, nil, func(m *member.Member) error { m.Email = "BEN@example.com"; return nil },
	)
	testkit.WantReason(t, err, fault.AlreadyExistsReason)
	_, err = h.App.Accounts.UpdateMember(
		t.Context(), h.Coach, other.ID, nil, func(m *member.Member) error { m.Subject = "ana"; return nil },
	)
	testkit.WantReason(t, err, fault.AlreadyExistsReason)
}

func TestUpdateMember_RejectsTheSecondOfTwoEdits(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	made := newMember(h, member.Member{Name: "Ana"})
	errs := testkit.ParallelErrors(4, func(i int) error {
		_, err := h.App.Accounts.UpdateMember(t.Context(), h.Coach, made.ID, new(1), named(fmt.Sprint("Ana ", i)))
		return err
	})
	if diff := cmp.Diff(map[fault.Reason]int{"": 1, fault.ETagMismatch: 3}, testkit.CountReasons(errs)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Whatever is another tenant's looks the same as what is not there.
func TestMembers_HidesOtherTenants(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	theirs := h.OtherTenant()
	stranger := newMember(theirs, member.Member{Name: "Ana", Subject: "ana"})
	device, err := h.App.Accounts.RegisterDevice(t.Context(), theirs.Coach, member.IOS, "token")
	if err != nil {
		t.Fatal(err)
	}
	account, _ := theirs.AddAccount("Robot", tenant.RolePartner)

	absent := testkit.NewID[tenant.MemberID]()
	for name, call := range map[string]func(tenant.MemberID, tenant.DeviceID, tenant.ServiceAccountID) error{
		"GetMember": func(id tenant.MemberID, _ tenant.DeviceID, _ tenant.ServiceAccountID) error {
			_, _, err := h.App.Accounts.GetMember(t.Context(), h.Owner, id)
			return err
		},
		"UpdateMember": func(id tenant.MemberID, _ tenant.DeviceID, _ tenant.ServiceAccountID) error {
			_, err := h.App.Accounts.UpdateMember(t.Context(), h.Owner, id, nil, named("B"))
			return err
		},
		"AssignRole": func(id tenant.MemberID, _ tenant.DeviceID, _ tenant.ServiceAccountID) error {
			_, err := h.App.Accounts.AssignRole(t.Context(), h.Owner, id, tenant.RoleCoach)
			return err
		},
		"RevokeRole": func(id tenant.MemberID, _ tenant.DeviceID, _ tenant.ServiceAccountID) error {
			_, err := h.App.Accounts.RevokeRole(t.Context(), h.Owner, id, tenant.RoleMember)
			return err
		},
		"UnregisterDevice": func(_ tenant.MemberID, id tenant.DeviceID, _ tenant.ServiceAccountID) error {
			return h.App.Accounts.UnregisterDevice(t.Context(), h.Coach, id)
		},
		"RotateServiceAccountKey": func(_ tenant.MemberID, _ tenant.DeviceID, id tenant.ServiceAccountID) error {
			_, _, err := h.App.Accounts.RotateServiceAccountKey(t.Context(), h.Owner, id, 0)
			return err
		},
		"RevokeServiceAccount": func(_ tenant.MemberID, _ tenant.DeviceID, id tenant.ServiceAccountID) error {
			_, err := h.App.Accounts.RevokeServiceAccount(t.Context(), h.Owner, id)
			return err
		},
	} {
		other := call(stranger.ID, device.ID, account.ID)
		none := call(absent, testkit.NewID[tenant.DeviceID](), testkit.NewID[tenant.ServiceAccountID]())
		if other == nil || none == nil || other.Error() != none.Error() || other.(*fault.Error).Kind != fault.NotFound {
			t.Errorf("%s: another tenant's %v, absent %v", name, other, none)
		}
	}
	found, err := h.App.Accounts.ListMembers(t.Context(), h.Owner, member.Search{Query: "Ana", Limit: 10})
	if err != nil || len(found) != 0 {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestListMembers_FiltersAndPages(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	for _, m := range []member.Member{
		{Name: "ben", Email: "ben@example.com", Tier: "gold", Tags: []string{"vip", "new"}},
		{Name: "Ana 100%", Email: "ana_1@example.com", Phone: "+351912345678", Tier: "gold"},
		{Name: "Ben", Tags: []string{"vip"}},
		{Name: "Zoë"},
	} {
		newMember(h, m)
	}
	gone := newMember(h, member.Member{Name: "gone"})
	if _, err := h.App.Accounts.UpdateMember(t.Context(), h.Coach, gone.ID, nil, status(member.Inactive)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		search member.Search
		want   string
	}{
		"all":          {member.Search{}, "Ana 100%,ben,Ben,Carla Coach,gone,Olga Owner,Zoë"},
		"name":         {member.Search{Query: "EN"}, "ben,Ben"},
		"email":        {member.Search{Query: "N@exam"}, "ben"},
		"phone":        {member.Search{Query: "912 345"}, "Ana 100%"},
		"percent":      {member.Search{Query: "%"}, "Ana 100%"},
		"underscore":   {member.Search{Query: "_"}, "Ana 100%"},
		"accents":      {member.Search{Query: "ZOË"}, "Zoë"},
		"role":         {member.Search{Role: tenant.RoleCoach}, "Carla Coach"},
		"no such role": {member.Search{Role: "wizard"}, ""},
		"tier":         {member.Search{Tier: "gold"}, "Ana 100%,ben"},
		"tier exactly": {member.Search{Tier: "Gold"}, ""},
		"tag":          {member.Search{Tag: "vip"}, "ben,Ben"},
		"status":       {member.Search{Status: member.Inactive}, "gone"},
		"all must hold": {
			member.Search{Query: "ben", Tag: "vip", Tier: "gold", Role: tenant.RoleMember, Status: member.Active}, "ben",
		},
		"nothing":        {member.Search{Query: "nobody"}, ""},
		"null":           {member.Search{Query: "\x00"}, ""},
		"null in tag":    {member.Search{Tag: "a\x00"}, ""},
		"as one injects": {member.Search{Query: "' or 1=1 --"}, ""},
		"very long":      {member.Search{Query: strings.Repeat("x", 1<<16)}, ""},
	} {
		for _, size := range []int{1, 2, 50} {
			var names []string
			search := c.search
			search.Limit = size
			for {
				page, err := h.App.Accounts.ListMembers(t.Context(), h.Coach, search)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				for _, m := range page {
					names = append(names, m.Name)
				}
				if len(page) < size {
					break
				}
				last := page[len(page)-1]
				search.After = &member.Cursor{Name: last.Name, ID: last.ID}
			}
			if got := strings.Join(names, ","); got != c.want && strings.ReplaceAll(got, "Ben,ben", "ben,Ben") != c.want {
				t.Errorf("%s by %d: %s, want %s", name, size, got, c.want)
			}
		}
	}
}

// Under row-level security an index is used only for what leaks nothing. Postgres plans with an index only if there are
// many members, so they are inserted by SQL.
func TestListMembers_UsesAnIndex(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.Exec(`insert into members (tenant_id, id, name, email, created_at, updated_at)
		select $1, gen_random_uuid(), 'Member ' || n, 'm' || n || '@example.com', $2, $2 from generate_series(1,
		5000) n`, h.Tenant, testkit.Noon)
	h.Exec(`analyze members`)
	for sql, index := range map[string]string{
		`explain select id from members m where m.tenant_id = $1 and (m.name_key, m.id) > (lower('Member 3'),
			coalesce(null::uuid, '00000000-0000-0000-0000-000000000000'))
		 order by m.name_key, m.id limit 50`: "members_name",
		`explain select id from members m where m.tenant_id = $1 and m.email_key = lower('M7@example.com')
			and m.email_key <> ''`: "members_email",
		`explain select id from members m where m.tenant_id = $1 and m.subject = 'x'
			and m.subject <> ''`: "members_subject",
	} {
		var plan strings.Builder
		err := h.DB.Read(t.Context(), pg.Scope{Tenant: h.Tenant}, func(ctx context.Context, tx *pg.ReadTx) error {
			var lines []string
			var batch pg.Batch
			pg.Collect(batch.Queue(sql, h.Tenant), &lines, pgx.RowTo[string])
			err := tx.Load(ctx, &batch)
			plan.WriteString(strings.Join(lines, "\n"))
			return err
		})
		if err != nil || !strings.Contains(plan.String(), index) ||
			!strings.Contains(plan.String(), "Index Cond: ((tenant_id") ||
			strings.Count(plan.String(), "ROW(")+strings.Count(plan.String(), "_key =")+strings.Count(
				plan.String(), "subject =",
			) == 0 {
			t.Errorf("%v\n%s", err, plan.String())
		}
	}
}

func TestUpdateMe_KeepsNotesOfStaff(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ana := h.AddMember("Ana")
	h.EditMember(ana, func(m *member.Member) { m.Notes = "difficult" })

	after, err := h.App.Accounts.UpdateMe(
		t.Context(), testkit.SelfOnly(ana), new(2),
		func(m *member.Member) error { m.Name, m.Locale = "Ann", "pt"; return nil },
	)
	if err != nil || after.Name != "Ann" || after.Notes != "" || after.Version != 3 {
		t.Fatalf("%+v, %v", after, err)
	}
	if n := h.Count(
		`select count(*) from members where id = $1 and notes = 'difficult' and name = 'Ann'`, ana.Member,
	); n != 1 {
		t.Error("the notes of staff are gone")
	}
	_, err = h.App.Accounts.UpdateMe(t.Context(), testkit.SelfOnly(ana), new(1), named("B"))
	testkit.WantReason(t, err, fault.ETagMismatch)
	_, err = h.App.Accounts.UpdateMe(
		t.Context(), testkit.SelfOnly(ana), nil, func(m *member.Member) error { m.Phone = "1"; return nil },
	)
	testkit.WantReason(t, err, fault.InvalidField)

	me, err := h.App.Accounts.GetMe(t.Context(), testkit.SelfOnly(ana))
	if err != nil || me.Member.Notes != "" || me.Member.Name != "Ann" || len(me.Devices) != 0 {
		t.Fatalf("%+v, %v", me, err)
	}
	var want []string
	for _, p := range policy.Permissions() {
		if slices.Contains(p.Roles, tenant.RoleMember) {
			want = append(want, p.Name)
		}
	}
	if diff := cmp.Diff(want, me.Permissions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	robot := tenant.Caller{
		Tenant: h.Tenant, Subject: "sa:" + testkit.NewID[tenant.ServiceAccountID]().String(), SelfOnly: true,
	}
	_, err = h.App.Accounts.GetMe(t.Context(), robot)
	testkit.WantReason(t, err, fault.MemberNotFound)
	_, err = h.App.Accounts.UpdateMe(t.Context(), robot, nil, named("B"))
	testkit.WantReason(t, err, fault.MemberNotFound)
	_, err = h.App.Accounts.RegisterDevice(t.Context(), robot, member.Web, "token")
	testkit.WantReason(t, err, fault.MemberNotFound)
}

// An owner who has edited themselves may hold more than they can give, never less.
func TestUpdateMember_OwnersEditThemselves(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	if _, err := h.App.Accounts.UpdateMe(t.Context(), testkit.SelfOnly(h.Owner), nil, named("Olga O.")); err != nil {
		t.Error(err)
	}
}

func TestDevices_RegisterOncePerToken(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ana, ben := testkit.SelfOnly(h.AddMember("Ana")), testkit.SelfOnly(h.AddMember("Ben"))
	first, err := h.App.Accounts.RegisterDevice(t.Context(), ana, member.IOS, "phone")
	if err != nil || first.Kind != member.IOS || !first.CreatedAt.Equal(testkit.Noon) {
		t.Fatalf("%+v, %v", first, err)
	}
	h.Clock.Set(testkit.Noon.Add(time.Second))
	again, err := h.App.Accounts.RegisterDevice(t.Context(), ana, member.IOS, "phone")
	if err != nil || again.ID != first.ID || !again.CreatedAt.Equal(testkit.Noon) || !again.SeenAt.After(first.SeenAt) {
		t.Fatalf("registered again: %+v, %v", again, err)
	}
	taken, err := h.App.Accounts.RegisterDevice(t.Context(), ben, member.Android, "phone")
	if err != nil || taken.ID != first.ID || !taken.CreatedAt.After(testkit.Noon) || taken.Kind != member.Android {
		t.Fatalf("of somebody else: %+v, %v", taken, err)
	}
	if me, err := h.App.Accounts.GetMe(t.Context(), ana); err != nil || len(me.Devices) != 0 {
		t.Errorf("it still is the other's too: %+v, %v", me.Devices, err)
	}
	testkit.WantReason(t, h.App.Accounts.UnregisterDevice(t.Context(), ana, taken.ID), fault.DeviceNotFound)
	if err := h.App.Accounts.UnregisterDevice(t.Context(), ben, taken.ID); err != nil {
		t.Error(err)
	}
	testkit.WantReason(t, h.App.Accounts.UnregisterDevice(t.Context(), ben, taken.ID), fault.DeviceNotFound)
	_, err = h.App.Accounts.RegisterDevice(t.Context(), ana, member.Web, "a\x00")
	testkit.WantReason(t, err, fault.InvalidField)

	for i := range member.MaxDevices + 3 {
		h.Clock.Set(testkit.Noon.Add(time.Duration(i+1) * time.Hour))
		if _, err := h.App.Accounts.RegisterDevice(t.Context(), ana, member.Web, fmt.Sprint("browser ", i)); err != nil {
			t.Fatal(err)
		}
	}
	me, err := h.App.Accounts.GetMe(t.Context(), ana)
	if err != nil || len(me.Devices) != member.MaxDevices || !me.Devices[0].SeenAt.After(me.Devices[1].SeenAt) {
		t.Errorf("%d devices, %v", len(me.Devices), err)
	}
	errs := testkit.ParallelErrors(4, func(i int) error {
		_, err := h.App.Accounts.RegisterDevice(t.Context(), []tenant.Caller{ana, ben}[i%2], member.Web, "shared")
		return err
	})
	if n := h.Count(`select count(*) from devices where token = 'shared'`); n != 1 || testkit.CountReasons(errs)[""] != 4 {
		t.Errorf("%d rows of one token, %v", n, errs)
	}
}

func TestRevokeRole_KeepsTheLastOwner(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	_, err := h.App.Accounts.UpdateMember(t.Context(), h.Owner, h.Owner.Member, nil, status(member.Inactive))
	testkit.WantReason(t, err, fault.LastOwner)
	_, err = h.App.Accounts.RevokeRole(t.Context(), h.Owner, h.Owner.Member, tenant.RoleOwner)
	testkit.WantReason(t, err, fault.LastOwner)

	second := h.AddPerson("Otto", tenant.RoleOwner)
	if _, err := h.App.Accounts.UpdateMember(
		t.Context(), h.Owner, second.Member, nil, status(member.Inactive),
	); err != nil {
		t.Fatal(err)
	}
	// An owner who is not active counts for nothing.
	_, err = h.App.Accounts.RevokeRole(t.Context(), h.Owner, h.Owner.Member, tenant.RoleOwner)
	testkit.WantReason(t, err, fault.LastOwner)
	// And may lose the role at any time.
	if _, err := h.App.Accounts.RevokeRole(t.Context(), h.Owner, second.Member, tenant.RoleOwner); err != nil {
		t.Error(err)
	}
}

func TestRevokeRole_ConcurrentCallsLeaveAnOwner(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	admin := h.AddPerson("Ada", tenant.RoleAdmin)
	for round := range 8 {
		owners := []tenant.MemberID{h.Owner.Member}
		for i := range 3 {
			owners = append(owners, h.AddPerson(fmt.Sprint("Owner ", round, i), tenant.RoleOwner).Member)
		}
		errs := testkit.ParallelErrors(len(owners), func(i int) error {
			if (i+round)%2 == 0 {
				_, err := h.App.Accounts.RevokeRole(t.Context(), admin, owners[i], tenant.RoleOwner)
				return err
			}
			_, err := h.App.Accounts.UpdateMember(t.Context(), admin, owners[i], nil, status(member.Inactive))
			return err
		})
		if diff := cmp.Diff(map[fault.Reason]int{"": 3, fault.LastOwner: 1}, testkit.CountReasons(errs)); diff != "" {
			t.Fatalf("round %d (-want +got):\n%s", round, diff)
		}
		const active = `from members m join member_roles r on r.tenant_id = m.tenant_id and r.member_id = m.id
			where m.tenant_id = $1 and r.role = 'owner' and m.status = 'ACTIVE'`
		if n := h.Count(`select count(*) `+active, h.Tenant); n != 1 {
			t.Fatalf("round %d: %d active owners", round, n)
		}
		if err := h.DB.Owner.QueryRow(t.Context(), `select m.id `+active, h.Tenant).Scan(&h.Owner.Member); err != nil {
			t.Fatal(err)
		}
	}
}

// What protects the last owner is that the transactions are serializable: with anything
// less, two that each see the other's owner both commit.
func TestRevokeRole_LosesTheLastOwnerBelowSerializable(t *testing.T) {
	t.Parallel()
	for level, lost := range map[pgx.TxIsoLevel]bool{pgx.RepeatableRead: true, pgx.Serializable: false} {
		t.Run(string(level), func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			owners := []tenant.MemberID{h.Owner.Member, h.AddPerson("Otto", tenant.RoleOwner).Member}
			var open []pgx.Tx
			var failed error
			for i, id := range owners {
				tx, err := h.DB.Owner.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: level})
				if err != nil {
					t.Fatal(err)
				}
				defer tx.Rollback(context.WithoutCancel(t.Context()))
				open = append(open, tx)
				var others int
				err = tx.QueryRow(t.Context(), `select count(*) from member_roles r join members m on m.tenant_id = r.tenant_id
					and m.id = r.member_id
					where r.tenant_id = $1 and r.role = 'owner' and r.member_id <> $2
					and m.status = 'ACTIVE'`, h.Tenant, id).Scan(&others)
				if err != nil || others != 1 {
					t.Fatalf("owner %d sees %d others: %v", i, others, err)
				}
			}
			for i, tx := range open {
				_, err := tx.Exec(
					t.Context(), `update members set status = 'INACTIVE' where tenant_id = $1 and id = $2`, h.Tenant, owners[i],
				)
				if err == nil {
					err = tx.Commit(t.Context())
				}
				if err != nil {
					failed = err
				}
			}
			left := h.Count(`select count(*) from members m join member_roles r on r.tenant_id = m.tenant_id
				and r.member_id = m.id
				where m.tenant_id = $1 and r.role = 'owner' and m.status = 'ACTIVE'`, h.Tenant)
			if (left == 0) != lost || (pg.Code(failed) == "40001") == lost {
				t.Errorf("%d owners left, %v", left, failed)
			}
		})
	}
}
