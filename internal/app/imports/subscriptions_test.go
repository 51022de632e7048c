package imports_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/imports"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/fileimport"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func addPlans(studio *testkit.Studio) {
	studio.AddPlan(credit.Plan{Name: "Ten", Kind: credit.Credits, Credits: 10})
	month := 30 * 24 * time.Hour
	studio.AddPlan(credit.Plan{Name: "Monthly", Kind: credit.Credits, Credits: 8, Period: &month})
	studio.AddPlan(credit.Plan{Name: "Flat", Kind: credit.Unlimited})
}

func importPlans(studio *testkit.Studio, by tenant.Caller, req imports.Request) fileimport.Import {
	studio.T.Helper()
	first := expect.Value(studio.App.Imports.ImportSubscriptions(studio.T.Context(), by, req))(studio.T)
	test.EqOp(studio.T, fileimport.Subscriptions, first.Kind)
	return ended(studio, first.ID)
}

// The ledger has what the file has, before and after the import, and nobody is told.
func TestImportSubscriptions_TakesOverCredits(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	addPlans(studio)
	ana := studio.AddMemberWith(member.Member{Name: "Ana Sá", Email: "ana@example.com"})
	studio.AddMemberWith(member.Member{Name: "Bo", Phone: "+351912345678"})
	const file = "E-Mail;Handy;Tarif;Restguthaben;Nächste Abrechnung;Gültig bis\n" +
		"ANA@example.com;;ten;7;;31.12.2026\n;+351 912 345 678;Monthly;3;2026-04-01;\nana@example.com;;Flat;;;\n"
	held := func() int { return studio.Count(`select count(*) from subscriptions`) }

	tried := importPlans(studio, studio.Owner, request(file, true))
	test.EqOp(t, fileimport.Succeeded, tried.Status, test.Sprint(tried.Problems))
	test.Eq(t, &fileimport.Total{File: 10, Ledger: 10}, tried.Total)
	test.EqOp(t, 0, held(), test.Sprint("a dry run"))

	done := importPlans(studio, studio.Owner, request(file, false))
	test.EqOp(t, fileimport.Succeeded, done.Status)
	test.EqOp(t, 3, done.Created)
	test.Eq(t, &fileimport.Total{File: 10, Ledger: 10}, done.Total)
	test.EqOp(t, 3, held())
	test.EqOp(t, 10, studio.Count(`select sum(balance) from subscriptions`))
	test.EqOp(t, "GRANT 7 7 1 Imported", studio.Text(`select concat_ws(' ', e.kind, e.amount, e.balance, e.line, e.reason)
		from credit_entries e join subscriptions u on u.id = e.subscription_id where u.member_id = $1`, ana.Member))
	test.Eq(t, map[string]any{"subscriptions": 3.0, "credits": 10.0}, studio.LastAudit("subscription.imported"))
	test.EqOp(t, 3, studio.Count(`select count(*) from events where type = 'subscription.changed'`))
	test.EqOp(t, 0, studio.Count(`select count(*) from notices`))

	again := importPlans(studio, studio.Owner, request(file, false))
	test.EqOp(t, fileimport.Failed, again.Status)
	test.Nil(t, again.Total)
	test.SliceLen(t, 3, again.Problems)
	test.Eq(t, problem(2, fault.AlreadyExistsReason, "plan", "The member has this plan."), again.Problems[0])
	test.EqOp(t, 3, held())
	// The credits are used as any others, and the next period begins on its day.
	studio.TakePayments()
	studio.Clock.Set(time.Date(2026, 4, 2, 12, 0, 0, 0, time.UTC))
	studio.Sweep()
	test.EqOp(t, 8, studio.Count(`select u.balance from subscriptions u join plans p on p.id = u.plan_id
		where p.name = 'Monthly'`))
}

func TestImportSubscriptions_LeavesOutRowsWithProblems(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	addPlans(studio)
	admin := studio.AddPerson("Adam", tenant.RoleAdmin)
	studio.Deactivate(studio.AddMember("Gone"))
	studio.AddMember("Ana")
	file := "name,plan,balance\nAna,Ten,5\nGone,Ten,6\nAna,Twelve,7\nAdam,Ten,8\nAna,Monthly,1\n"
	req := imports.Request{File: []byte(file), LeaveOut: true}
	done := importPlans(studio, admin, req)
	test.EqOp(t, fileimport.Succeeded, done.Status)
	test.EqOp(t, 1, done.Created)
	test.Eq(t, &fileimport.Total{File: 5, Ledger: 5}, done.Total)
	want := []fileimport.Problem{
		problem(3, fault.MemberNotFound, "name", "No active member has this name."),
		problem(4, fault.PlanNotFound, "plan", `There is no active plan "Twelve".`),
		problem(5, fault.PermissionDeniedReason, "", "Someone else manages your own plans and credits, or an owner does."),
		problem(6, fault.InvalidField, "renewal", "Give the day on which the plan gives new credits."),
	}
	test.Eq(t, want, done.Problems)
	// Owners manage their own.
	studio.Exec(`update members set name = 'Olga', name_key = 'olga' where id = $1`, studio.Owner.Member)
	done = importPlans(studio, studio.Owner, request("name,plan,balance\nOlga,Ten,5\n", false))
	test.EqOp(t, 1, done.Created, test.Sprint(done.Problems))
}

// Of two imports of one file at the same time, one creates its plans, and the other finds them.
func TestImportSubscriptions_TwoAtOnceCreateOnce(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	addPlans(studio)
	var file strings.Builder
	file.WriteString("name,plan,balance\n")
	for i := range 40 {
		name := fmt.Sprint("Member ", i)
		studio.AddMember(name)
		file.WriteString(name + ",Ten,2\n")
	}
	started := make([]tenant.ImportID, 2)
	for i := range started {
		started[i] = expect.Value(studio.App.Imports.ImportSubscriptions(
			t.Context(), studio.Owner, request(file.String(), false)))(t).ID
	}
	nodes := []*testkit.Studio{studio, studio.OtherNode()}
	errs := make(chan error)
	for _, node := range nodes {
		go func() { errs <- node.App.Imports.RunDue(t.Context(), studio.Tenant) }()
	}
	for range nodes {
		must.NoError(t, <-errs)
	}
	var all []fileimport.Status
	for _, id := range started {
		all = append(all, ended(studio, id).Status)
	}
	test.SliceContainsAll(t, all, []fileimport.Status{fileimport.Succeeded, fileimport.Failed})
	test.EqOp(t, 80, studio.Count(`select sum(balance) from subscriptions`))
}

// A file of thousands of rows is imported in one transaction.
func TestImportSubscriptions_TakesLargeFiles(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	addPlans(studio)
	const rows = 10_000
	var members, plans strings.Builder
	members.WriteString("name,email\n")
	plans.WriteString("email,plan,balance\n")
	for i := range rows {
		fmt.Fprintf(&members, "Member %d,m%d@example.com\n", i, i)
		fmt.Fprintf(&plans, "m%d@example.com,Ten,3\n", i)
	}
	studio.ImportMembers(members.String(), false)
	done := importPlans(studio, studio.Owner, request(plans.String(), false))
	test.EqOp(t, rows, done.Created)
	test.Eq(t, &fileimport.Total{File: 3 * rows, Ledger: 3 * rows}, done.Total)
}

func TestImports_OfPlansStayInTheirTenant(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	addPlans(studio)
	there := studio.OtherTenant()
	there.AddMemberWith(member.Member{Name: "Ana", Email: "ana@example.com"})
	done := importPlans(studio, studio.Owner, request("email,plan,balance\nana@example.com,Ten,1\n", false))
	test.Eq(t, []fileimport.Problem{
		problem(2, fault.MemberNotFound, "email", "No active member has this email."),
	}, done.Problems)
}
