package accounts_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// people writes a file of so many members.
func people(n int) []byte {
	var file bytes.Buffer
	file.WriteString("name,email,subject,tags\n")
	for i := range n {
		fmt.Fprintf(&file, "Member %d,m%d@example.com,subject-%d,a;b\n", i, i, i)
	}
	return file.Bytes()
}

func TestImportMembers_CreatesEveryRow(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	members := func() int { return studio.Count(`select count(*) from members where tenant_id = $1`, studio.Tenant) }
	there := members()
	const n = 2500
	var progress []member.Progress
	tell := func(p member.Progress) error { progress = append(progress, p); return nil }

	imported, err := studio.App.Accounts.ImportMembers(t.Context(), studio.Owner, people(n), true, tell)
	must.NoError(t, err, must.Sprintf("dry run: %+v, %v, %d members", imported, err, members()))
	must.EqOp(t, (accounts.MemberImport{Rows: n}), imported,
		must.Sprintf("dry run: %+v, %v, %d members", imported, err, members()))
	must.EqOp(t, there, members(), must.Sprintf("dry run: %+v, %v, %d members", imported, err, members()))
	imported, err = studio.App.Accounts.ImportMembers(t.Context(), studio.Owner, people(n), false, tell)
	must.NoError(t, err, must.Sprintf("%+v, %v, %d members", imported, err, members()))
	must.EqOp(t, n, imported.Imported, must.Sprintf("%+v, %v, %d members", imported, err, members()))
	must.False(t, imported.Batch.IsZero(), must.Sprintf("%+v, %v, %d members", imported, err, members()))
	must.EqOp(t, there+n, members(), must.Sprintf("%+v, %v, %d members", imported, err, members()))
	var read []int
	for _, p := range progress {
		read = append(read, p.Read)
	}
	test.Eq(t, []int{1000, 2000, 2500, 1000, 2000, 2500}, read)
	found := expect.Value(
		studio.App.Accounts.ListMembers(t.Context(), studio.Owner, member.Search{Query: "m2499@", Limit: 2}),
	)(t)
	must.EqOp(t, 1, len(found), must.Sprintf("%v", found))
	want := member.Member{
		ID: found[0].ID, Name: "Member 2499", Email: "m2499@example.com", Subject: "subject-2499", Tags: []string{"a", "b"},
		Roles: []string{tenant.RoleMember}, Status: member.Active, Version: 1, CreatedAt: testkit.Noon,
		UpdatedAt: testkit.Noon,
	}
	test.Eq(t, want, found[0])
	test.EqOp(t, 1, studio.Count(`select count(*) from audit_entries where tenant_id = $1 and action = 'member.imported'
		and batch_id = $2
		and (changes->>'members')::int = $3`, studio.Tenant, imported.Batch, n), test.Sprint("audit entries"))
	test.EqOp(t, n, studio.Count(`select count(distinct member_id) from events
		where tenant_id = $1 and type = 'member.changed' and occurred_at >= $2`, studio.Tenant, testkit.Noon),
		test.Sprint("events"))

	// Again: every row is there.
	progress = nil
	imported = expect.Value(studio.App.Accounts.ImportMembers(t.Context(), studio.Owner, people(n), false, tell))(t)
	must.EqOp(t, (accounts.MemberImport{Rows: n, Wrong: n}), imported, must.Sprintf("again: %+v", imported))
	must.EqOp(t, there+n, members(), must.Sprintf("again: %+v", imported))
	last := progress[2]
	test.EqOp(t, n, last.Wrong,
		test.Sprintf("%d wrong, %d right, %d problems", last.Wrong, last.OK, len(last.Problems)))
	test.EqOp(t, 0, last.OK, test.Sprintf("%d wrong, %d right, %d problems", last.Wrong, last.OK, len(last.Problems)))
	test.SliceLen(t, 1000, last.Problems,
		test.Sprintf("%d wrong, %d right, %d problems", last.Wrong, last.OK, len(last.Problems)))
}

func TestImportMembers_CreatesAllRowsOrNone(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	before := studio.Count(`select count(*) from members`)
	for name, c := range map[string]struct {
		file  string
		wrong int
	}{
		"one wrong row":  {"name,phone\nAna,\nBen,12\n", 1},
		"no name":        {"name,phone\nAna,\n,+351912345678\n", 1},
		"twice":          {"name,email\nAna,a@example.com\nBen,A@example.com\n", 1},
		"subject twice":  {"name,subject\nAna,a\nBen,a\n", 1},
		"taken":          {"name,subject\nAna," + studio.Owner.Subject + "\n", 1},
		"unknown column": {"name,shoe size\nAna,37\n", 1},
		"no members":     {"name\n", 0},
		"null":           {"name,email\n\"A\x00\",b@example.com\n", 1},
	} {
		imported := expect.Value(
			studio.App.Accounts.ImportMembers(t.Context(), studio.Owner, []byte(c.file), false, ignoreProgress),
		)(t)
		test.EqOp(t, c.wrong, imported.Wrong, test.Sprintf("%s: %+v", name, imported))
		test.EqOp(t, 0, imported.Imported, test.Sprintf("%s: %+v", name, imported))
		test.True(t, imported.Batch.IsZero(), test.Sprintf("%s: %+v", name, imported))
	}
	expect.Reason(t, fault.ImportInvalid)(
		studio.App.Accounts.ImportMembers(t.Context(), studio.Owner, []byte("\xff\xfe"), false, ignoreProgress),
	)
	left := errors.New("the client left")
	_, err := studio.App.Accounts.ImportMembers(
		t.Context(), studio.Owner, people(3), false, func(member.Progress) error { return left },
	)
	test.ErrorIs(t, err, left)
	after := studio.Count(`select count(*) from members`)
	test.EqOp(t, before, after, test.Sprintf("%d members more", after-before))
}

// Two imports of one file at the same time: one creates all members, and the other reports the rows that are now taken.
func TestImportMembers_OnceAtTheSameTime(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	reports := make([]accounts.MemberImport, 3)
	problems := make([]int, len(reports))
	errs := testkit.ParallelErrors(len(reports), func(i int) (err error) {
		reports[i], err = studio.App.Accounts.ImportMembers(t.Context(), studio.Owner, people(300), false,
			func(p member.Progress) error {
				problems[i] += len(p.Problems)
				return nil
			})
		return err
	})
	var imported, wrong int
	for i, r := range reports {
		imported += r.Imported
		if r.Wrong > 0 {
			wrong++
			test.EqOp(t, 300, r.Wrong, test.Sprintf("%+v, %d problems told", r, problems[i]))
			test.EqOp(t, 600, problems[i], test.Sprintf("%+v, %d problems told", r, problems[i]))
		}
	}
	test.EqOp(t, 300, imported, test.Sprintf("%d imported, %d turned down, %v", imported, wrong, errs))
	test.EqOp(t, 2, wrong, test.Sprintf("%d imported, %d turned down, %v", imported, wrong, errs))
	test.EqOp(t, len(reports), testkit.CountReasons(errs)[""],
		test.Sprintf("%d imported, %d turned down, %v", imported, wrong, errs))
}
