package credit_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

var (
	month   = 30 * day
	halves  = 182 * day
	pack    = credit.Plan{Name: "Ten", Kind: credit.Credits, Credits: 10}
	monthly = credit.Plan{Name: "Monthly", Kind: credit.Credits, Credits: 8, Period: &month}
	termed  = credit.Plan{Name: "Half a year", Kind: credit.Unlimited, Term: &halves}
)

func parseImport(t testing.TB, lines ...string) *credit.Import {
	t.Helper()
	return expect.Value(credit.ParseImport([]byte(strings.Join(lines, "\n") + "\n")))(t)
}

func TestParseImport_MatchesColumnsInThreeLanguages(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"Client,Email,Membership,Visits remaining,Start date,Next billing date,Expiration date": "name email plan balance " +
			"start renewal end",
		"Vorname;Nachname;E-Mail;Tarif;Restguthaben;Vertragsbeginn;Nächste Abrechnung;Gültig bis": "first_name last_name " +
			"email plan balance start renewal end",
		"Prénom;Nom de famille;Courriel;Formule;Crédits restants;Début;Prochaine échéance;Date d'expiration": "first_name " +
			"last_name email plan balance start renewal end",
	} {
		var got []string
		for _, m := range parseImport(t, header).Columns {
			got = append(got, m.Field)
		}
		test.EqOp(t, want, strings.Join(got, " "), test.Sprint(header))
	}
}

// The days are those of the zone, also the one on which its clocks change at midnight.
func TestStartImported_TakesOverWhatIsLeft(t *testing.T) {
	t.Parallel()
	cairo := expect.Value(time.LoadLocation("Africa/Cairo"))(t) // on 2026-04-24 there is no midnight
	for _, c := range []struct {
		plan                         credit.Plan
		balance, start, renewal, end string
		want                         string // the problems, or else what it becomes
	}{
		{pack, "7", "2026-01-05", "", "", "from 01-05 00:00, 1 GRANT +7 = 7"},
		{pack, "7", "5.1.2026", "", "2026-04-23", "from 01-05 00:00, until 04-24 01:00, 1 GRANT +7 = 7"},
		{pack, "0", "", "", "", "from 03-16 14:00"},
		{pack, "7", "2026-03-16 00:00", "", "", "from 03-16 00:00, 1 GRANT +7 = 7"},
		{pack, "7", "", "", "2026-03-16", "from 03-16 14:00, until 03-17 00:00, 1 GRANT +7 = 7"},
		{monthly, "3", "2025-06-01", "2026-03-17", "", "from 06-01 00:00, renews 03-17 00:00, 1 GRANT +3 = 3"},
		{termed, "", "2026-01-05", "", "", "from 01-05 00:00, until 07-06 01:00"},
		{termed, "0", "2025-01-05", "", "2026-12-31", "from 01-05 00:00, until 01-01 00:00"},
		{pack, "", "", "", "", "balance: Say how many credits are left: 0 if none are."},
		{pack, "-1", "", "", "", "balance: \"-1\" is not a number of credits from 0 to 100000."},
		{pack, "2.5", "", "", "", "balance: \"2.5\" is not a number of credits from 0 to 100000."},
		{pack, "7", "05/01/2026", "", "", "start: \"05/01/2026\" is not a day in the form 2026-12-31 or 31.12.2026."},
		{pack, "7", "2016-01-01", "", "", "start: A plan begins within the last ten years or the next year."},
		{pack, "7", "2027-05-01", "", "", "start: A plan begins within the last ten years or the next year."},
		{pack, "7", "2026-05-01", "", "2026-04-30", "end: A plan ends after it starts."},
		{pack, "7", "", "", "2026-03-15", "end: The plan has ended, so nothing is left of it."},
		{pack, "7", "", "", "2036-12-31", "end: A plan ends within ten years."},
		{pack, "7", "", "2026-04-01", "", "renewal: This plan does not renew credits: leave it empty."},
		{termed, "", "2025-01-05", "", "", "end: By its term the plan has ended: give its last day if it has not."},
		{termed, "3", "", "", "", "balance: This plan does not use credits: leave it empty."},
		{monthly, "3", "", "", "", "renewal: Give the day on which the plan gives new credits."},
		{monthly, "3", "", "2026-03-16", "", "renewal: The day has come: give the next one, and the credits of that period."},
		{monthly, "3", "2026-05-01", "2026-04-30", "", "renewal: A period ends after the plan starts."},
		{monthly, "3", "", "2036-12-31", "", "renewal: A period ends within ten years."},
	} {
		file := parseImport(t, "name;plan;balance;start;renewal;end",
			fmt.Sprintf("Ana;%s;%s;%s;%s;%s", c.plan.Name, c.balance, c.start, c.renewal, c.end))
		row := &file.Rows[0]
		row.Member = id[tenant.MemberID]()
		s, lines, ok := row.StartImported(id[tenant.SubscriptionID](), c.plan, cairo, "adam", now)
		var got []string
		for _, p := range row.Problems {
			test.False(t, ok)
			got = append(got, p.Column+": "+p.Message)
		}
		if ok {
			const layout = "01-02 15:04"
			got = append(got, "from "+s.StartsAt.In(cairo).Format(layout))
			if s.PeriodEndsAt != nil {
				got = append(got, "renews "+s.PeriodEndsAt.In(cairo).Format(layout))
			}
			if s.EndsAt != nil {
				got = append(got, "until "+s.EndsAt.In(cairo).Format(layout))
			}
			got = append(got, of(lines)...)
			test.EqOp(t, credit.Active, s.Status)
			test.EqOp(t, row.Member, s.Member)
		}
		test.EqOp(t, c.want, strings.Join(got, ", "), test.Sprintf("%s %+v", c.plan.Name, c))
	}
}

func TestRejectHeld_FindsPlansThatMembersHave(t *testing.T) {
	t.Parallel()
	file := parseImport(t, "name,plan,balance", "Ana,ten,5", "Bo,Ten,5", "Bo,Ten,6", "Bo,TEN,5", "Ana,Monthly,5")
	ana, bo := id[tenant.MemberID](), id[tenant.MemberID]()
	for i := range file.Rows {
		file.Rows[i].Member = bo
	}
	file.Rows[0].Member, file.Rows[4].Member = ana, ana
	credit.RejectHeld(file.Rows, []credit.Subscription{{Member: ana, Plan: pack, Status: credit.Paused}})
	var got []string
	for _, p := range file.Problems() {
		test.EqOp(t, fault.AlreadyExistsReason, p.Reason)
		got = append(got, fmt.Sprint(p.Row, " ", p.Column, ": ", p.Message))
	}
	test.SliceEqOp(t, []string{"2 plan: The member has this plan.", "5 plan: Row 3 says the same."}, got)
}

// Both sums are equal, or the row that differs is named.
func TestCheckImported_ComparesFileAndLedger(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		balances := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 20).Draw(t, "balances")
		rows, sum := make([]credit.ImportRow, len(balances)), 0
		for i := range balances {
			rows[i].Number, rows[i].Balance = i+2, &balances[i]
			sum += balances[i]
		}
		ledger := append([]int(nil), balances...)
		file, total, err := credit.CheckImported(rows, ledger)
		must.NoError(t, err)
		must.EqOp(t, sum, file)
		must.EqOp(t, sum, total)
		at := rapid.IntRange(0, len(ledger)-1).Draw(t, "at")
		ledger[at]++
		_, _, err = credit.CheckImported(rows, ledger)
		must.EqOp(t, fault.ImportMismatch, fault.ReasonOf(err))
		must.ErrorContains(t, err, fmt.Sprintf("Row %d has %d credits left, and the ledger would have %d.",
			at+2, balances[at], balances[at]+1))
	})
}

func TestUndoImported_TakesWhatIsLeft(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 25, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		status  credit.Status
		balance int
		want    credit.Status
		amounts []int
		changed bool
	}{
		"credits":       {credit.Active, 7, credit.Cancelled, []int{-7}, true},
		"none left":     {credit.Paused, 0, credit.Cancelled, nil, true},
		"has expired":   {credit.Expired, 0, credit.Expired, nil, false},
		"was cancelled": {credit.Cancelled, 2, credit.Cancelled, []int{-2}, true},
	} {
		s := credit.Subscription{Status: tt.status, Balance: tt.balance, Lines: 3}
		lines, changed := s.UndoImported(nil, "olga", "Import undone", now)
		test.EqOp(t, tt.changed, changed, test.Sprint(name))
		test.EqOp(t, tt.want, s.Status, test.Sprint(name))
		test.EqOp(t, 0, s.Balance, test.Sprint(name))
		var amounts []int
		for _, l := range lines {
			test.EqOp(t, credit.Correction, l.Kind, test.Sprint(name))
			amounts = append(amounts, l.Amount)
		}
		test.Eq(t, tt.amounts, amounts, test.Sprint(name))
	}
}
