package accounts_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
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
	h := testkit.New(t)
	members := func() int { return h.Count(`select count(*) from members where tenant_id = $1`, h.Tenant) }
	there := members()
	const n = 2500
	var progress []member.Progress
	tell := func(p member.Progress) error { progress = append(progress, p); return nil }

	report, err := h.App.Accounts.ImportMembers(t.Context(), h.Owner, people(n), true, tell)
	if err != nil || report != (accounts.MemberImport{Rows: n}) || members() != there {
		t.Fatalf("dry run: %+v, %v, %d members", report, err, members())
	}
	report, err = h.App.Accounts.ImportMembers(t.Context(), h.Owner, people(n), false, tell)
	if err != nil || report.Imported != n || report.Batch.IsZero() || members() != there+n {
		t.Fatalf("%+v, %v, %d members", report, err, members())
	}
	var read []int
	for _, p := range progress {
		read = append(read, p.Read)
	}
	if diff := cmp.Diff([]int{1000, 2000, 2500, 1000, 2000, 2500}, read); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	found, err := h.App.Accounts.ListMembers(t.Context(), h.Owner, member.Search{Query: "m2499@", Limit: 2})
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	want := member.Member{
		ID: found[0].ID, Name: "Member 2499", Email: "m2499@example.com", Subject: "subject-2499", Tags: []string{"a", "b"},
		Roles: []string{tenant.RoleMember}, Status: member.Active, Version: 1, CreatedAt: testkit.Noon,
		UpdatedAt: testkit.Noon,
	}
	if diff := cmp.Diff(want, found[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := h.Count(`select count(*) from audit_entries where tenant_id = $1 and action = 'member.imported'
		and batch_id = $2
		and (changes->>'members')::int = $3`, h.Tenant, report.Batch, n); got != 1 {
		t.Errorf("%d audit entries", got)
	}
	if got := h.Count(`select count(distinct member_id) from events
		where tenant_id = $1 and type = 'member.changed' and occurred_at >= $2`, h.Tenant, testkit.Noon); got != n {
		t.Errorf("%d events", got)
	}

	// Again: every row is there.
	progress = nil
	report, err = h.App.Accounts.ImportMembers(t.Context(), h.Owner, people(n), false, tell)
	if err != nil || report != (accounts.MemberImport{Rows: n, Wrong: n}) || members() != there+n {
		t.Fatalf("again: %+v, %v", report, err)
	}
	if last := progress[2]; last.Wrong != n || last.OK != 0 || len(last.Problems) != 1000 {
		t.Errorf("%d wrong, %d right, %d problems", last.Wrong, last.OK, len(last.Problems))
	}
}

func TestImportMembers_CreatesAllRowsOrNone(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	before := h.Count(`select count(*) from members`)
	for name, c := range map[string]struct {
		file  string
		wrong int
	}{
		"one wrong row":  {"name,phone\nAna,\nBen,12\n", 1},
		"no name":        {"name,phone\nAna,\n,+351912345678\n", 1},
		"twice":          {"name,email\nAna,a@example.com\nBen,A@example.com\n", 1},
		"subject twice":  {"name,subject\nAna,a\nBen,a\n", 1},
		"taken":          {"name,subject\nAna," + h.Owner.Subject + "\n", 1},
		"unknown column": {"name,shoe size\nAna,37\n", 1},
		"nobody":         {"name\n", 0},
		"null":           {"name,email\n\"A\x00\",b@example.com\n", 1},
	} {
		report, err := h.App.Accounts.ImportMembers(t.Context(), h.Owner, []byte(c.file), false, ignoreProgress)
		if err != nil || report.Wrong != c.wrong || report.Imported != 0 || !report.Batch.IsZero() {
			t.Errorf("%s: %+v, %v", name, report, err)
		}
	}
	_, err := h.App.Accounts.ImportMembers(t.Context(), h.Owner, []byte("\xff\xfe"), false, ignoreProgress)
	testkit.WantReason(t, err, fault.ImportInvalid)
	left := errors.New("the client left")
	_, err = h.App.Accounts.ImportMembers(
		t.Context(), h.Owner, people(3), false, func(member.Progress) error { return left },
	)
	if !errors.Is(err, left) {
		t.Error(err)
	}
	if after := h.Count(`select count(*) from members`); after != before {
		t.Errorf("%d members more", after-before)
	}
}

// Two imports of one file at once: one makes all, the other learns which rows were taken meanwhile.
func TestImportMembers_OnceAtTheSameTime(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	reports := make([]accounts.MemberImport, 3)
	problems := make([]int, len(reports))
	errs := testkit.ParallelErrors(len(reports), func(i int) (err error) {
		reports[i], err = h.App.Accounts.ImportMembers(t.Context(), h.Owner, people(300), false,
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
			if r.Wrong != 300 || problems[i] != 600 {
				t.Errorf("%+v, %d problems told", r, problems[i])
			}
		}
	}
	if imported != 300 || wrong != 2 || testkit.CountReasons(errs)[""] != len(reports) {
		t.Errorf("%d imported, %d turned down, %v", imported, wrong, errs)
	}
}
