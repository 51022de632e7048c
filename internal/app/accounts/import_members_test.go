package accounts_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// people writes a file of so many members.
func people(n int) string {
	var file strings.Builder
	file.WriteString("name,email,subject,tags\n")
	for i := range n {
		fmt.Fprintf(&file, "Member %d,m%d@example.com,subject-%d,a;b\n", i, i, i)
	}
	return file.String()
}

func TestImportMembers_CreatesEveryRow(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	members := func() int { return studio.Count(`select count(*) from members where tenant_id = $1`, studio.Tenant) }
	there := members()
	const n = 2500

	imported := studio.ImportMembers(people(n), true)
	test.SliceEmpty(t, imported.Members, test.Sprint("dry run"))
	test.EqOp(t, 0, imported.InvalidRows(), test.Sprint("dry run"))
	test.True(t, imported.Batch.IsZero(), test.Sprint("dry run"))
	must.EqOp(t, there, members(), must.Sprint("dry run"))
	imported = studio.ImportMembers(people(n), false)
	must.SliceLen(t, n, imported.Members)
	must.False(t, imported.Batch.IsZero())
	must.EqOp(t, there+n, members())
	found := expect.Value(
		studio.App.Accounts.ListMembers(t.Context(), studio.Owner, member.Search{Query: "m2499@", Limit: 2}),
	)(t)
	must.EqOp(t, 1, len(found), must.Sprintf("%v", found))
	want := member.Member{
		ID: found[0].ID, Name: "Member 2499", Email: "m2499@example.com", Subject: "subject-2499", Tags: []string{"a", "b"},
		Roles: []string{tenant.RoleMember}, Status: member.Active, EmailBy: studio.Owner.Member.String(), Version: 1,
		CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon,
	}
	test.Eq(t, want, found[0])
	test.EqOp(t, 1, studio.Count(`select count(*) from audit_entries where tenant_id = $1 and action = 'member.imported'
		and batch_id = $2
		and (changes->>'members')::int = $3`, studio.Tenant, imported.Batch, n), test.Sprint("audit entries"))
	test.EqOp(t, n, studio.Count(`select count(distinct member_id) from events
		where tenant_id = $1 and type = 'member.changed' and occurred_at >= $2`, studio.Tenant, testkit.Noon),
		test.Sprint("events"))

	// Again: every row is there.
	imported = studio.ImportMembers(people(n), false)
	test.EqOp(t, n, imported.InvalidRows(), test.Sprint("again"))
	test.SliceLen(t, 2*n, imported.Problems(), test.Sprint("again"))
	test.SliceEmpty(t, imported.Members, test.Sprint("again"))
	must.EqOp(t, there+n, members(), must.Sprint("again"))
}

func TestImportMembers_CreatesAllRowsOrNone(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	before := studio.Count(`select count(*) from members`)
	for name, c := range map[string]struct {
		file  string
		wrong int
	}{
		"one wrong row": {"name,phone\nAna,\nBen,12\n", 1},
		"no name":       {"name,phone\nAna,\n,+351912345678\n", 1},
		"twice":         {"name,email\nAna,a@example.com\nANA,A@example.com\n", 1},
		"subject twice": {"name,subject\nAna,a\nBen,a\n", 1},
		"taken":         {"name,subject\nAna," + studio.Owner.Subject + "\n", 1},
		"no members":    {"name\n", 0},
		"null":          {"name,email\n\"A\x00\",b@example.com\n", 1},
	} {
		imported := studio.ImportMembers(c.file, false)
		test.EqOp(t, c.wrong, imported.InvalidRows(), test.Sprintf("%s: %+v", name, imported))
		test.SliceEmpty(t, imported.Members, test.Sprintf("%s: %+v", name, imported))
		test.True(t, imported.Batch.IsZero(), test.Sprintf("%s: %+v", name, imported))
	}
	test.EqOp(t, before, studio.Count(`select count(*) from members`))
}

// Of several imports of one file at the same time, one creates all members. The others report the rows that are now
// taken, even if the check before did not find them.
func TestImportMembers_RaceForTheSameMembers(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	reports := make([]accounts.MemberImport, 3)
	errs := testkit.ParallelErrors(len(reports), func(i int) (err error) {
		parsed := expect.Value(member.ParseImport([]byte(people(300))))(t)
		reports[i], err = studio.App.Accounts.ImportMembers(t.Context(), studio.Owner, parsed, false, nil)
		return err
	})
	imported, refused := 0, 0
	for _, r := range reports {
		imported += len(r.Members)
		if len(r.Members) == 0 {
			refused++
			test.EqOp(t, 300, r.InvalidRows())
			test.SliceLen(t, 600, r.Problems())
		}
	}
	test.EqOp(t, 300, imported, test.Sprint(errs))
	test.EqOp(t, 2, refused, test.Sprint(errs))
	test.EqOp(t, len(reports), testkit.CountReasons(errs)[""], test.Sprint(errs))
}

// A family shares an address: the first has it. Whoever is there already is found again, also without the address.
func TestImportMembers_LeavesASharedAddressToOneMember(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	const family = "Name,Email,Mobile Phone\n\"Kilbride, Maeve\",maeve@example.com,0170 1234567\n" +
		"\"Kilbride, Tara\",Maeve@example.com,\n"
	imported := studio.ImportMembers(family, false)
	must.SliceLen(t, 2, imported.Members, must.Sprintf("%v", imported.Problems()))
	test.SliceLen(t, 3, imported.Notes())
	test.EqOp(t, 1, studio.Count(`select count(*) from members
		where name = 'Maeve Kilbride' and email = 'maeve@example.com' and phone = '+491701234567'`))
	test.EqOp(t, 1, studio.Count(`select count(*) from members where name = 'Tara Kilbride' and email = ''`))

	again := studio.ImportMembers(family, false)
	test.EqOp(t, 2, again.InvalidRows())
	again = studio.ImportMembers("name,email\nTara Kilbride,maeve@example.com\n", false)
	test.EqOp(t, 1, again.InvalidRows(), test.Sprint("alone"))
	brother := studio.ImportMembers("name,email\nOisín Kilbride,MAEVE@example.com\n", false)
	test.SliceLen(t, 1, brother.Members)
	test.EqOp(t, "A member with another name has this email, and keeps it.", brother.Notes()[0].Message)
	test.EqOp(t, 1, studio.Count(`select count(*) from members where name = 'Oisín Kilbride' and email = ''`))
}

// A tenant with locations in several countries is asked which one it is.
func TestImportMembers_ReadsNumbersOfAllCountriesOfTheTenant(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.Exec(`update tenants set time_zone = 'Europe/Berlin' where tenant_id = $1`, studio.Tenant)
	studio.Exec(`update locations set time_zone = 'Europe/Vienna' where tenant_id = $1`, studio.Tenant)
	imported := studio.ImportMembers("name,phone\nAna,0664 1234567\nBen,030 9018200\n", false)
	must.SliceLen(t, 1, imported.Problems())
	test.EqOp(t, 2, imported.Problems()[0].Row)
	test.StrContains(t, imported.Problems()[0].Message, "several countries")
	test.EqOp(t, "+49309018200", imported.Rows[1].Member.Phone)
}

// Two files with people of one family race: each address has one member, and nobody is lost.
func TestImportMembers_RaceForASharedAddress(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	names := []string{"Maeve", "Tara", "Oisín"}
	reports := make([]accounts.MemberImport, len(names))
	errs := testkit.ParallelErrors(len(names), func(i int) (err error) {
		parsed := expect.Value(member.ParseImport([]byte("name,email\n" + names[i] + ",maeve@example.com\n")))(t)
		reports[i], err = studio.App.Accounts.ImportMembers(t.Context(), studio.Owner, parsed, false, nil)
		return err
	})
	test.EqOp(t, len(names), testkit.CountReasons(errs)[""], test.Sprint(errs))
	notes := 0
	for _, r := range reports {
		test.SliceLen(t, 1, r.Members)
		notes += len(r.Notes())
	}
	test.EqOp(t, 2, notes)
	test.EqOp(t, 1, studio.Count(`select count(*) from members where email = 'maeve@example.com'`))
	test.EqOp(t, 3, studio.Count(`select count(*) from members where name = any($1)`, names))
}
