package imports_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/imports"
	"github.com/berthhq/berth/internal/csvfile"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/fileimport"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

const (
	good  = testkit.ImportHeader + "Vinyasa,Pier 1,2026-03-28,18:00,19:30,,,,12,3,Late flow,,\n"
	wrong = testkit.ImportHeader + "Boxing,Pier 1,2026-03-28,18:00,19:30,,,,,,,,\n" +
		"Vinyasa,Pier 1,2026-03-29,18:00,19:30,,,,,,,,\n"
)

func request(file string, dryRun bool) imports.Request {
	return imports.Request{File: []byte(file), DryRun: dryRun}
}

// started starts an import as the owner.
func started(studio *testkit.Studio, file string, dryRun bool) fileimport.Import {
	studio.T.Helper()
	return expect.Value(studio.App.Imports.ImportSessions(
		context.Background(), studio.Owner, request(file, dryRun), true))(studio.T)
}

// ended works on what is due, and reads an import.
func ended(studio *testkit.Studio, id tenant.ImportID) fileimport.Import {
	studio.T.Helper()
	must.NoError(studio.T, studio.App.Imports.RunDue(context.Background(), studio.Tenant))
	return expect.Value(studio.App.Imports.GetImport(context.Background(), studio.Owner, id, false))(studio.T)
}

func problem(row int, reason fault.Reason, column, message string) fileimport.Problem {
	return fileimport.Problem{Row: row, Problem: csvfile.Problem{Reason: reason, Column: column, Message: message}}
}

func sessions(studio *testkit.Studio) int {
	return studio.Count(`select count(*) from sessions where tenant_id = $1`, studio.Tenant)
}

func TestImportSessions_AnswersAtOnceAndEndsLater(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	first := started(studio, good, false)
	test.EqOp(t, fileimport.Pending, first.Status)
	test.EqOp(t, 1, first.Rows)
	test.EqOp(t, 0, sessions(studio))
	done := ended(studio, first.ID)
	test.EqOp(t, fileimport.Succeeded, done.Status)
	test.EqOp(t, 1, done.Done)
	test.EqOp(t, 1, done.Created)
	test.EqOp(t, testkit.Noon, done.EndedAt)
	test.EqOp(t, studio.Owner.Actor(), done.Actor)
	test.EqOp(t, 1, sessions(studio))
	test.EqOp(t, 1, studio.Count(
		`select count(*) from audit_entries where action = 'session.imported' and batch_id = $1 and actor = $2`,
		done.Batch, done.Actor))
	test.EqOp(t, 1, studio.Count(`select count(*) from imports where file is null`), test.Sprint("the file is kept"))
	again := ended(studio, first.ID)
	test.Eq(t, done, again)
	test.EqOp(t, 1, sessions(studio))
}

func TestImportSessions_ReportsProblems(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	published := strings.ReplaceAll(good, ",,\n", ",,published\n")
	for name, tt := range map[string]struct {
		file       string
		mayPublish bool
		want       []fileimport.Problem
	}{
		"an unknown name": {wrong, true, []fileimport.Problem{
			problem(2, fault.ServiceNotFound, "service", `There is no active service "Boxing".`),
		}},
		"published by one who may not": {published, false, []fileimport.Problem{
			problem(2, fault.PermissionDeniedReason, "status", "Publishing needs the permission session.create_published."),
		}},
		"no such column": {"service,location,date,st\x00art day,end\n", true, []fileimport.Problem{
			problem(1, fault.InvalidField, "start", "The column is missing."),
		}},
	} {
		for _, dry := range []bool{true, false} {
			first := expect.Value(studio.App.Imports.ImportSessions(
				t.Context(), studio.Owner, request(tt.file, dry), tt.mayPublish))(t)
			done := ended(studio, first.ID)
			test.EqOp(t, fileimport.Failed, done.Status, test.Sprint(name))
			test.Eq(t, tt.want, done.Problems, test.Sprint(name))
			test.EqOp(t, 1, done.Invalid, test.Sprint(name))
			test.EqOp(t, done.Rows, done.Done, test.Sprint(name))
		}
	}
	test.EqOp(t, 0, sessions(studio))
}

func TestImportMembers_TakesTheChosenColumns(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	req := imports.Request{
		File:    []byte("Nr.,Who,Mobile phone,Joined\n1,Ana Sá,+351912345678,2020\n"),
		Columns: []csvfile.Match{{Header: "Who", Field: "name"}},
	}
	first := expect.Value(studio.App.Imports.ImportMembers(t.Context(), studio.Owner, req))(t)
	want := []csvfile.Match{
		{Header: "Nr."}, {Header: "Who", Field: "name"}, {Header: "Mobile phone", Field: "phone"}, {Header: "Joined"},
	}
	test.Eq(t, want, first.Columns)
	done := ended(studio, first.ID)
	test.EqOp(t, fileimport.Succeeded, done.Status)
	test.Eq(t, want, done.Columns)
	test.EqOp(t, 1, studio.Count(`select count(*) from members where name = 'Ana Sá' and phone = '+351912345678'`))
	req.Columns[0].Header = "Whose"
	expect.Fault(t, "INVALID_FIELD @columns")(studio.App.Imports.ImportMembers(t.Context(), studio.Owner, req))
}

func TestImportSessions_OnlyChecksInADryRun(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	done := ended(studio, started(studio, good, true).ID)
	test.EqOp(t, fileimport.Succeeded, done.Status)
	test.EqOp(t, 0, done.Created)
	test.EqOp(t, 0, sessions(studio))
}

func TestImportSessions_RefusesWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	expect.Reason(t, fault.ImportInvalid)(
		studio.App.Imports.ImportSessions(t.Context(), studio.Owner, request("\"", false), true))
	for range fileimport.MaxUnended {
		started(studio, good, true)
	}
	full := expect.Reason(t, fault.QuotaExceeded)(
		studio.App.Imports.ImportSessions(t.Context(), studio.Owner, request(good, false), true))
	test.EqOp(t, "imports", full.Metadata["quota"])
	must.NoError(t, studio.App.Imports.RunDue(t.Context(), studio.Tenant))
	started(studio, good, true)
}

func TestImportMembers_AnswersAtOnceAndEndsLater(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	members := func() int { return studio.Count(`select count(*) from members where tenant_id = $1`, studio.Tenant) }
	there := members()
	load := func(file string, dryRun bool) fileimport.Import {
		first := expect.Value(studio.App.Imports.ImportMembers(t.Context(), studio.Owner, request(file, dryRun)))(t)
		test.EqOp(t, fileimport.Pending, first.Status)
		test.EqOp(t, fileimport.Members, first.Kind)
		return ended(studio, first.ID)
	}
	const file = "name,email,phone\nAna,ana@example.com,\nBen,ben@example.com,\n"
	done := load(file, true)
	test.EqOp(t, fileimport.Succeeded, done.Status)
	test.EqOp(t, 0, done.Created)
	test.EqOp(t, there, members(), test.Sprint("a dry run"))

	done = load(file, false)
	test.EqOp(t, fileimport.Succeeded, done.Status)
	test.EqOp(t, 2, done.Done)
	test.EqOp(t, 2, done.Created)
	test.EqOp(t, there+2, members())
	test.EqOp(t, 1, studio.Count(
		`select count(*) from audit_entries where action = 'member.imported' and batch_id = $1 and actor = $2`,
		done.Batch, done.Actor))
	test.EqOp(t, 0, studio.Count(`select count(*) from imports where file is not null`), test.Sprint("contacts are kept"))

	done = load("name,email,phone\nAna,ANA@example.com,12\n", false)
	test.EqOp(t, fileimport.Failed, done.Status)
	test.Eq(t, []fileimport.Problem{
		problem(2, fault.InvalidField, "phone",
			`"12": It is not a phone number in E.164, such as +351912345678.`),
		problem(2, fault.AlreadyExistsReason, "email", "Another member has this email."),
	}, done.Problems)
	test.EqOp(t, there+2, members())
	expect.Reason(t, fault.ImportInvalid)(
		studio.App.Imports.ImportMembers(t.Context(), studio.Owner, request("\"", false)))
}

// After a node stopped, its progress can still be seen, and another goes on: no member is created twice.
func TestImportMembers_GoesOnAfterANodeStopped(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	members := func() int { return studio.Count(`select count(*) from members where tenant_id = $1`, studio.Tenant) }
	there := members()
	var file strings.Builder
	file.WriteString("name\n")
	for i := range 1200 {
		fmt.Fprintf(&file, "Member %d\n", i) // who could be created twice
	}
	first := expect.Value(studio.App.Imports.ImportMembers(
		t.Context(), studio.Owner, request(file.String(), false)))(t)
	// As a node leaves it that stopped in the middle.
	studio.Exec(`update imports set status = 'RUNNING', attempts = 1, rows_done = 500, due_at = $1`,
		testkit.Noon.Add(fileimport.Lease))
	running := ended(studio, first.ID)
	test.EqOp(t, fileimport.Running, running.Status)
	test.EqOp(t, 500, running.Done)
	studio.Clock.Advance(fileimport.Lease)
	done := ended(studio, first.ID)
	test.EqOp(t, fileimport.Succeeded, done.Status)
	test.EqOp(t, 1200, done.Created)
	test.EqOp(t, there+1200, members())
}

// A node that stopped in the middle leaves its import to another, once its lease has ended. Whatever became of the
// first attempt, the sessions are created once.
func TestRunDue_GoesOnAfterANodeStopped(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	first := started(studio, good, false)
	// As a node leaves it that stopped after it took the import.
	studio.Exec(`update imports set status = 'RUNNING', attempts = 1, due_at = $1`, testkit.Noon.Add(fileimport.Lease))
	test.EqOp(t, fileimport.Running, ended(studio, first.ID).Status)
	test.EqOp(t, 0, sessions(studio))
	studio.Clock.Advance(fileimport.Lease)
	done := ended(studio, first.ID)
	test.EqOp(t, fileimport.Succeeded, done.Status)
	test.EqOp(t, 2, done.Attempts)
	test.EqOp(t, 1, sessions(studio))
}

func TestRunDue_GivesUpAfterManyAttempts(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	first := started(studio, good, false)
	studio.Exec(`update imports set status = 'RUNNING', attempts = 10`)
	done := ended(studio, first.ID)
	test.EqOp(t, fileimport.Failed, done.Status)
	test.EqOp(t, 0, done.Problems[0].Row)
	test.EqOp(t, 0, sessions(studio))
}

func TestImports_HideOtherTenants(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	there := studio.OtherTenant()
	theirs := started(there, good, true)
	expect.Reason(t, fault.ImportNotFound)(studio.App.Imports.GetImport(t.Context(), studio.Owner, theirs.ID, false))
	test.SliceEmpty(t, expect.Value(studio.App.Imports.ListImports(t.Context(), studio.Owner,
		imports.ImportQuery{Limit: 9}))(t))
	must.NoError(t, studio.App.Imports.RunDue(t.Context(), studio.Tenant))
	got := expect.Value(there.App.Imports.GetImport(t.Context(), there.Owner, theirs.ID, false))(t)
	test.EqOp(t, fileimport.Pending, got.Status)
}

func TestListImports_FiltersAndPages(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	first := ended(studio, started(studio, wrong, false).ID)
	studio.Clock.Advance(time.Hour)
	second := started(studio, good, true)
	list := func(q imports.ImportQuery) string {
		if q.Limit == 0 {
			q.Limit = 9
		}
		var all []string
		for _, i := range expect.Value(studio.App.Imports.ListImports(t.Context(), studio.Owner, q))(t) {
			all = append(all, map[tenant.ImportID]string{first.ID: "first", second.ID: "second"}[i.ID])
			test.SliceEmpty(t, i.Problems)
		}
		return fmt.Sprint(all)
	}
	test.EqOp(t, "[second first]", list(imports.ImportQuery{}))
	test.EqOp(t, "[second]", list(imports.ImportQuery{Limit: 1}))
	test.EqOp(t, "[first]", list(imports.ImportQuery{BeforeID: second.ID}))
	test.EqOp(t, "[first]", list(imports.ImportQuery{Statuses: []fileimport.Status{fileimport.Failed}}))
	test.EqOp(t, "[second]", list(imports.ImportQuery{From: testkit.Noon.Add(time.Minute)}))
	test.EqOp(t, "[first]", list(imports.ImportQuery{Until: testkit.Noon.Add(time.Minute)}))
	test.EqOp(t, "[second first]", list(imports.ImportQuery{Kinds: []fileimport.Kind{fileimport.Sessions}}))
}

func TestSweep_DeletesExpiredImports(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	ended(studio, started(studio, good, true).ID)
	studio.Clock.Advance(fileimport.Life)
	expect.OK(t)(studio.App.Housekeeping.SweepTenant(t.Context(), studio.Tenant))
	test.EqOp(t, 1, studio.Count(`select count(*) from imports`))
	studio.Clock.Advance(time.Second)
	expect.OK(t)(studio.App.Housekeeping.SweepTenant(t.Context(), studio.Tenant))
	test.EqOp(t, 0, studio.Count(`select count(*) from imports`))
}

// leaveOut imports a file of members without the rows that have problems.
func leaveOut(studio *testkit.Studio, file string, dryRun bool) fileimport.Import {
	studio.T.Helper()
	req := imports.Request{File: []byte(file), DryRun: dryRun, LeaveOut: true}
	first := expect.Value(studio.App.Imports.ImportMembers(context.Background(), studio.Owner, req))(studio.T)
	must.True(studio.T, first.LeaveOut)
	return ended(studio, first.ID)
}

func TestImportMembers_LeavesOutRowsWithProblems(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	members := func() int { return studio.Count(`select count(*) from members where tenant_id = $1`, studio.Tenant) }
	there := members()
	const file = "name,email,Visits\nAna,ana@example.com,1\nBen,ben@,2\nCid,,3\n"
	done := leaveOut(studio, file, true)
	test.EqOp(t, fileimport.Succeeded, done.Status)
	test.EqOp(t, 1, done.Invalid)
	test.EqOp(t, there, members(), test.Sprint("a dry run"))

	done = leaveOut(studio, file, false)
	test.EqOp(t, fileimport.Succeeded, done.Status)
	test.EqOp(t, 2, done.Created)
	test.EqOp(t, 1, done.Invalid)
	test.EqOp(t, 3, done.Problems[0].Row)
	test.EqOp(t, there+2, members())

	left := func() string {
		return string(expect.Value(studio.App.Imports.GetImport(t.Context(), studio.Owner, done.ID, true))(t).LeftOut)
	}
	rows := left()
	test.EqOp(t, "\ufeffname,email,Visits,Problem\r\nBen,ben@,2,\"email: \"\"ben@\"\": It is not an email address, "+
		"such as ana@example.com.\"\r\n", rows)
	test.Nil(t, done.LeftOut, test.Sprint("not asked for"))
	mended := leaveOut(studio, strings.Replace(rows, "ben@", "ben@example.com", 1), false)
	test.EqOp(t, 1, mended.Created)
	test.EqOp(t, there+3, members())

	// Rows of people who may never be members are kept for a day, and the import itself for longer.
	studio.Clock.Advance(fileimport.LeftOutLife)
	expect.OK(t)(studio.App.Housekeeping.SweepTenant(t.Context(), studio.Tenant))
	test.NotEqOp(t, "", left())
	studio.Clock.Advance(time.Second)
	test.EqOp(t, "", left(), test.Sprint("before the sweep"))
	expect.OK(t)(studio.App.Housekeeping.SweepTenant(t.Context(), studio.Tenant))
	test.EqOp(t, 0, studio.Count(`select count(*) from imports where left_out is not null`))
	test.EqOp(t, 2, studio.Count(`select count(*) from imports where created > 0`))
}

func TestImportMembers_FailsIfNoRowIsLeft(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	for _, file := range []string{"name,email\nAna,ana@\n", "colour\nred\n"} {
		done := leaveOut(studio, file, false)
		test.EqOp(t, fileimport.Failed, done.Status, test.Sprint(file))
		test.EqOp(t, 0, done.Created, test.Sprint(file))
	}
}

// Rows that turn out to be taken as they are created, by sessions there or by each other, are left out, too.
func TestImportSessions_LeavesOutRowsThatClash(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.Exec(`update members set email = 'mia@example.com' where id = $1`, studio.Coach.Member)
	file := testkit.ImportHeader +
		"Vinyasa,Pier 1,2026-03-28,18:00,19:30,,,mia@example.com,12,3,One,,\n" +
		"Vinyasa,Pier 1,2026-03-28,19:00,20:30,,,mia@example.com,12,3,Two,,\n" +
		"Vinyasa,Pier 1,2026-03-28,20:00,21:30,,,mia@example.com,12,3,Three,,\n"
	for _, dry := range []bool{true, false} {
		req := imports.Request{File: []byte(file), DryRun: dry, LeaveOut: true}
		first := expect.Value(studio.App.Imports.ImportSessions(t.Context(), studio.Owner, req, true))(t)
		done := ended(studio, first.ID)
		test.EqOp(t, fileimport.Succeeded, done.Status)
		test.EqOp(t, 2, done.Invalid)
		test.EqOp(t, map[bool]int{true: 0, false: 1}[dry], done.Created)
		for _, p := range done.Problems {
			test.EqOp(t, fault.StaffBusy, p.Reason)
		}
	}
	test.EqOp(t, 1, sessions(studio))
}
