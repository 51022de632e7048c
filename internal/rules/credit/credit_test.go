package credit_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

var now = time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

func id[I ~struct{ tenant.UUID }]() I { return tenant.New[I](now) }

type set = vary.Fields

// of returns the lines of a ledger as kinds, amounts and balances.
func of(lines []credit.Line) (all []string) {
	for _, l := range lines {
		all = append(all, fmt.Sprintf("%d %s %+d = %d", l.Number, l.Kind, l.Amount, l.Balance))
	}
	return all
}

// Rows and events have these values, also those that were written years ago.
func TestValues_StayAsTheyAreStored(t *testing.T) {
	t.Parallel()
	test.Eq(t, []credit.PlanKind{"UNLIMITED", "CREDITS", "COURSE"},
		[]credit.PlanKind{credit.Unlimited, credit.Credits, credit.Course})
	test.Eq(t, []credit.Status{"ACTIVE", "PAUSED", "DEBT", "EXPIRED", "CANCELLED"},
		[]credit.Status{credit.Active, credit.Paused, credit.Debt, credit.Expired, credit.Cancelled})
	test.Eq(t, []credit.LineKind{"GRANT", "PERIOD", "BOOKING", "REFUND", "EXPIRY", "CORRECTION"},
		[]credit.LineKind{
			credit.Grant, credit.Period, credit.Booking, credit.Refund, credit.Expiry, credit.Correction,
		})
	test.EqOp(t, "system", credit.SystemActor)
}

func TestStart_GrantsTheFirstCredits(t *testing.T) {
	t.Parallel()
	sub, member := id[tenant.SubscriptionID](), id[tenant.MemberID]()
	line := []credit.Line{{
		Subscription: sub, Number: 1, Kind: credit.Period, Amount: 8, Balance: 8, Actor: "system", At: now,
	}}
	for name, tt := range map[string]struct {
		plan   credit.Plan
		differ set // from a subscription without credits
		ledger []credit.Line
	}{
		"a pack": {
			credit.Plan{Kind: credit.Credits, Credits: 8, Term: new(90 * day)},
			set{"EndsAt": now.Add(89 * day), "Balance": 8, "Lines": 1}, line,
		},
		"with periods": {
			credit.Plan{Kind: credit.Credits, Credits: 8, Period: new(30 * day)},
			set{"PeriodEndsAt": now.Add(29 * day), "Balance": 8, "Lines": 1}, line,
		},
		// as only a broken row has
		"without credits": {credit.Plan{Kind: credit.Course, Credits: 8, Period: new(30 * day)}, nil, nil},
	} {
		got, ledger := credit.Start(sub, member, tt.plan, now.Add(-day), nil, now)
		test.Eq(t, vary.From(credit.Subscription{
			ID: sub, Member: member, Plan: tt.plan, Status: credit.Active, StartsAt: now.Add(-day), Version: 1,
			CreatedAt: now, UpdatedAt: now,
		}, tt.differ), got, test.Sprint(name))
		test.Eq(t, tt.ledger, ledger, test.Sprint(name))
	}
}

// A subscription that starts in the past begins in its current period. The ledger has its first period, too.
func TestStartTime_IsNowOrWithinAYear(t *testing.T) {
	t.Parallel()
	const year = 366 * day
	for asked, tt := range map[time.Time]struct {
		want time.Time
		err  string
	}{
		{}:                 {now, ""},
		now.Add(year):      {now.Add(year), ""},
		now.Add(-year):     {now.Add(-year), ""},
		now.Add(year + 1):  {time.Time{}, "INVALID_FIELD @subscription.start_time"},
		now.Add(-year - 1): {time.Time{}, "INVALID_FIELD @subscription.start_time"},
	} {
		got, err := credit.StartTime(asked, now)
		expect.Fault(t, tt.err, asked)(err)
		test.EqOp(t, tt.want, got, test.Sprint(asked))
	}
}

func TestCheckEdit_AcceptsAnEndAheadOfOpenSubscriptions(t *testing.T) {
	t.Parallel()
	starts := now.Add(10 * day)
	for name, tt := range map[string]struct {
		status credit.Status
		ends   *time.Time
		err    string
	}{
		"no end":                   {credit.Active, nil, ""},
		"just after now":           {credit.Debt, new(now.Add(1)), ""},
		"now":                      {credit.Active, &now, "INVALID_FIELD @subscription.end_time"},
		"in the past":              {credit.Paused, new(now.Add(-day)), "INVALID_FIELD @subscription.end_time"},
		"3,660 days ahead":         {credit.Active, new(now.Add(3660 * day)), ""},
		"more than that":           {credit.Active, new(now.Add(3660*day + 1)), "INVALID_FIELD @subscription.end_time"},
		"of one that has expired":  {credit.Expired, new(now.Add(day)), "SUBSCRIPTION_STATE status=EXPIRED"},
		"of one that is cancelled": {credit.Cancelled, nil, "SUBSCRIPTION_STATE status=CANCELLED"},
	} {
		s := credit.Subscription{Status: tt.status, StartsAt: now.Add(-day), EndsAt: tt.ends}
		expect.Fault(t, tt.err, name)(s.CheckEdit(now))
	}
	for ends, err := range map[time.Time]string{starts: "INVALID_FIELD @subscription.end_time", starts.Add(1): ""} {
		s := credit.Subscription{Status: credit.Active, StartsAt: starts, EndsAt: &ends}
		expect.Fault(t, err, ends)(s.CheckEdit(now))
	}
}

func TestStart_TakesAnEndInsteadOfThePlansTerm(t *testing.T) {
	t.Parallel()
	plan := credit.Plan{Kind: credit.Credits, Credits: 8, Term: new(30 * day)}
	for _, ends := range []*time.Time{nil, new(now.Add(20 * day))} {
		s, lines := credit.Start(id[tenant.SubscriptionID](), id[tenant.MemberID](), plan, now.Add(-45*day), ends, now)
		if ends == nil {
			test.EqOp(t, now.Add(-15*day), *s.EndsAt)
			test.EqOp(t, credit.Expired, s.Status)
			continue
		}
		test.EqOp(t, *ends, *s.EndsAt)
		test.EqOp(t, credit.Active, s.Status)
		test.Eq(t, []string{"1 PERIOD +8 = 8"}, of(lines))
	}
}

func TestStart_InThePastBeginsInTheCurrentPeriod(t *testing.T) {
	t.Parallel()
	plan := credit.Plan{Kind: credit.Credits, Credits: 8, Period: new(30 * day)}
	s, lines := credit.Start(id[tenant.SubscriptionID](), id[tenant.MemberID](), plan, now.Add(-45*day), nil, now)
	test.EqOp(t, now.Add(15*day), *s.PeriodEndsAt)
	test.EqOp(t, 8, s.Balance)
	test.Eq(t, []string{"1 PERIOD +8 = 8", "2 EXPIRY -8 = 0", "3 PERIOD +8 = 8"}, of(lines))
}

func TestAdvance_ExpiresAndGrantsCreditsOncePerPeriod(t *testing.T) {
	t.Parallel()
	monthly := credit.Plan{Kind: credit.Credits, Credits: 8, Period: new(30 * day)}
	pack := credit.Plan{Kind: credit.Credits, Credits: 8}
	term := credit.Plan{Kind: credit.Credits, Credits: 8, Period: new(30 * day), Term: new(90 * day)}
	for name, tt := range map[string]struct {
		plan    credit.Plan
		spent   int
		after   time.Duration
		balance int
		status  credit.Status
		ends    *time.Time // the period then
		lines   []string
	}{
		"nothing changes within the period": {monthly, 3, 30*day - 1, 5, credit.Active, new(now.Add(30 * day)), nil},
		"at its end the rest expires, then new ones": {
			monthly, 3, 30 * day, 8, credit.Active, new(now.Add(60 * day)), []string{"2 EXPIRY -5 = 0", "3 PERIOD +8 = 8"},
		},
		"a used-up period has nothing to expire": {
			monthly, 8, 30 * day, 8, credit.Active, new(now.Add(60 * day)), []string{"2 PERIOD +8 = 8"},
		},
		"several missed periods count as one": {
			monthly, 0, 100 * day, 8, credit.Active, new(now.Add(120 * day)), []string{"2 EXPIRY -8 = 0", "3 PERIOD +8 = 8"},
		},
		"a pack does not expire":             {pack, 3, 1000 * day, 5, credit.Active, nil, nil},
		"all expires at the end of the term": {term, 3, 90 * day, 0, credit.Expired, nil, []string{"2 EXPIRY -5 = 0"}},
	} {
		s, _ := credit.Start(id[tenant.SubscriptionID](), id[tenant.MemberID](), tt.plan, now, nil, now)
		s.Balance -= tt.spent
		got, ledger := credit.Advance(s, now.Add(tt.after))
		want := vary.From(s, set{
			"Balance": tt.balance, "Status": tt.status, "PeriodEndsAt": tt.ends, "Lines": 1 + len(tt.lines),
		})
		test.Eq(t, want, got, test.Sprint(name))
		test.Eq(t, tt.lines, of(ledger), test.Sprint(name))
		again, more := credit.Advance(got, now.Add(tt.after))
		test.Eq(t, got, again, test.Sprint(name))
		test.SliceEmpty(t, more, test.Sprint(name))
	}
}

// A subscription that has ended stays as it is, even if a period ends later.
func TestAdvance_LeavesEndedSubscriptionsUnchanged(t *testing.T) {
	t.Parallel()
	plan := credit.Plan{Kind: credit.Credits, Credits: 8, Period: new(30 * day), Term: new(90 * day)}
	for _, status := range []credit.Status{credit.Expired, credit.Cancelled} {
		s, _ := credit.Start(id[tenant.SubscriptionID](), id[tenant.MemberID](), plan, now, nil, now)
		s.Status, s.Balance = status, 3
		for _, at := range []time.Time{now.Add(40 * day), now.Add(100 * day)} { // after its period, after its term
			got, lines := credit.Advance(s, at)
			test.Eq(t, s, got, test.Sprint(status, at))
			test.SliceEmpty(t, lines)
		}
	}
}

func TestAvailableCredits_CountsActiveSubscriptions(t *testing.T) {
	t.Parallel()
	type have []credit.Subscription
	credits := func(status credit.Status, balance int) credit.Subscription {
		return credit.Subscription{Plan: credit.Plan{Kind: credit.Credits}, Status: status, Balance: balance}
	}
	all := credit.Subscription{Plan: credit.Plan{Kind: credit.Unlimited}, Status: credit.Active}
	for name, tt := range map[string]struct {
		have      have
		balance   int
		unlimited bool
	}{
		"none":                    {},
		"credits":                 {have{credits(credit.Active, 3), credits(credit.Active, 4)}, 7, false},
		"unlimited, then credits": {have{all, credits(credit.Active, 2)}, 2, true},
		"credits, then unlimited": {have{credits(credit.Active, 2), all}, 2, true},
		"a course":                {have{vary.From(all, set{"Plan.Kind": credit.Course})}, 0, false},
		"paused, in debt":         {have{vary.From(all, set{"Status": credit.Paused}), credits(credit.Debt, 5)}, 0, false},
	} {
		balance, unlimited := credit.AvailableCredits(tt.have)
		test.EqOp(t, tt.balance, balance, test.Sprint(name))
		test.EqOp(t, tt.unlimited, unlimited, test.Sprint(name))
	}
}

// After any sequence of changes, the balance is the sum of the ledger, equals the balance of the last line, and is
// never negative.
func TestBalance_IsAlwaysTheSumOfTheLedger(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		plan := credit.Plan{Kind: credit.Credits, Credits: rapid.IntRange(1, 12).Draw(t, "credits")}
		if rapid.Bool().Draw(t, "periodic") {
			plan.Period = new(time.Duration(rapid.IntRange(1, 60).Draw(t, "period")) * day)
		}
		if rapid.Bool().Draw(t, "ends") {
			plan.Term = new(time.Duration(rapid.IntRange(1, 120).Draw(t, "term")) * day)
		}
		at := now
		s, ledger := credit.Start(id[tenant.SubscriptionID](), id[tenant.MemberID](), plan, at, nil, at)
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			at = at.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "days")) * day)
			var lines []credit.Line
			s, lines = credit.Advance(s, at)
			ledger = append(ledger, lines...)
			lines = nil
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				lines, _, _ = s.Charge(nil, id[tenant.BookingID](), rapid.IntRange(1, 4).Draw(t, "seats"), "a", at)
			case 1:
				lines = s.Refund(nil, id[tenant.BookingID](), rapid.IntRange(0, 4).Draw(t, "back"), "a", "", at)
			case 2:
				amount := rapid.IntRange(-5, 5).Filter(func(n int) bool { return n != 0 }).Draw(t, "amount")
				lines, _ = s.Adjust(amount, "a", "", at)
			}
			ledger = append(ledger, lines...)
			must.NonNegative(t, s.Balance)
			balance := 0
			for i, l := range ledger {
				balance += l.Amount
				must.EqOp(t, i+1, l.Number)
				must.EqOp(t, balance, l.Balance)
			}
			must.EqOp(t, len(ledger), s.Lines)
			must.EqOp(t, balance, s.Balance)
		}
	})
}

func TestPayer_PicksTheOnlyOrNamedSubscription(t *testing.T) {
	t.Parallel()
	plan := func(kind credit.PlanKind, status credit.Status) credit.Subscription {
		return credit.Subscription{
			ID: id[tenant.SubscriptionID](), Plan: credit.Plan{Kind: kind}, Status: status, StartsAt: now.Add(-day),
		}
	}
	active, other := plan(credit.Credits, credit.Active), plan(credit.Unlimited, credit.Active)
	paused, debt := plan(credit.Unlimited, credit.Paused), plan(credit.Unlimited, credit.Debt)
	course := plan(credit.Course, credit.Active)
	future, starts := vary.From(other, set{"StartsAt": now.Add(1)}), vary.From(other, set{"StartsAt": now})
	choice := "PLAN_CHOICE_REQUIRED @subscription_id subscription_ids="
	for name, tt := range map[string]struct {
		have  []credit.Subscription
		named tenant.SubscriptionID
		pays  bool
		want  tenant.SubscriptionID
		err   string
	}{
		"the only one":         {have: []credit.Subscription{active, paused, course}, want: active.ID},
		"none":                 {},
		"none, payments taken": {pays: true, err: "NO_ACTIVE_PLAN"},
		"only a paused one, payments taken": {
			have: []credit.Subscription{paused}, pays: true, err: "NO_ACTIVE_PLAN",
		},
		"only a course, payments taken": {
			have: []credit.Subscription{course}, pays: true, err: "NO_ACTIVE_PLAN",
		},
		"not started": {have: []credit.Subscription{future}, pays: true, err: "NO_ACTIVE_PLAN"},
		"starts now":  {have: []credit.Subscription{starts}, pays: true, want: starts.ID},
		"several": {
			have: []credit.Subscription{active, other}, err: choice + active.ID.String() + "," + other.ID.String(),
		},
		"several, one named": {have: []credit.Subscription{active, other}, named: other.ID, want: other.ID},
		"one active, one in debt": {
			have: []credit.Subscription{active, debt}, err: choice + active.ID.String() + "," + debt.ID.String(),
		},
		"the only one is in debt": {have: []credit.Subscription{debt}, err: "OUTSTANDING_BALANCE"},
		"a named one in debt": {
			have: []credit.Subscription{active, debt}, named: debt.ID, err: "OUTSTANDING_BALANCE",
		},
		"a named course": {
			have: []credit.Subscription{course}, named: course.ID, err: "NO_ACTIVE_PLAN @subscription_id status=ACTIVE",
		},
		"a named paused one": {
			have: []credit.Subscription{paused}, named: paused.ID, err: "NO_ACTIVE_PLAN @subscription_id status=PAUSED",
		},
		"a named one of another member": {
			have: []credit.Subscription{active}, named: other.ID, err: "SUBSCRIPTION_NOT_FOUND @subscription_id",
		},
		"one in debt, the active one named": {
			have: []credit.Subscription{active, debt}, named: active.ID, want: active.ID,
		},
	} {
		got, err := credit.ChoosePayer(tt.have, tt.named, tt.pays, now)
		test.EqOp(t, tt.err, faulttest.Text(err), test.Sprint(name))
		if err == nil && got != nil {
			test.EqOp(t, tt.want, got.ID, test.Sprint(name))
		}
		test.EqOp(t, tt.want.IsZero() && tt.err == "", got == nil && err == nil, test.Sprint(name))
	}
}

func TestCheckQuota_ChecksDailyThenWeeklyLimit(t *testing.T) {
	t.Parallel()
	on := civiltest.Date("2026-03-18") // a Wednesday
	const daily, weekly = "DAILY_LIMIT date=2026-03-18 limit=1", "WEEKLY_LIMIT limit=3 week=2026-03-16"
	for _, tt := range []struct {
		perDay, perWeek *int
		today, week     int
		want            string
	}{
		{new(1), new(3), 0, 0, ""},
		{new(1), new(3), 0, 2, ""},
		{new(1), new(3), 1, 1, daily},
		{new(1), new(3), 0, 3, weekly},
		{new(1), new(3), 1, 3, daily},
		{new(1), nil, 0, 9, ""},
		{new(1), nil, 2, 9, daily},
		{nil, new(3), 9, 2, ""},
		{nil, new(3), 9, 4, weekly},
		{nil, nil, 9, 9, ""},
	} {
		s := credit.Subscription{UsedToday: tt.today, UsedThisWeek: tt.week}
		s.Plan.DailyLimit, s.Plan.WeeklyLimit = tt.perDay, tt.perWeek
		expect.Fault(t, tt.want, tt)(s.CheckQuota(on))
		test.EqOp(t, tt.perDay != nil || tt.perWeek != nil, s.Plan.HasQuota())
	}
}

// Charge, Refund and Adjust change the balance with one line of the ledger, or not at all.
func TestLedger_HasOneLineForEachChange(t *testing.T) {
	t.Parallel()
	booked, sub := id[tenant.BookingID](), id[tenant.SubscriptionID]()
	booking := credit.Line{Kind: credit.Booking, Booking: booked, Actor: "mia"}
	refund := credit.Line{Kind: credit.Refund, Booking: booked, Actor: "mia", Reason: "ill"}
	grant := credit.Line{Kind: credit.Grant, Actor: "kim", Reason: "gift"}
	correction := credit.Line{Kind: credit.Correction, Actor: "kim", Reason: "gift"}
	for name, tt := range map[string]struct {
		differ set // from three credits
		line   credit.Line
		amount int
		err    string
	}{
		"one seat":                 {nil, booking, -1, ""},
		"the last":                 {nil, booking, -3, ""},
		"too many":                 {nil, booking, -4, "NO_CREDITS balance=3 needed=4"},
		"a refund":                 {nil, refund, 2, ""},
		"a refund after the end":   {set{"Status": credit.Cancelled}, refund, 2, ""},
		"a refund of nothing":      {nil, refund, 0, ""},
		"a grant":                  {nil, grant, 1, ""},
		"a correction":             {nil, correction, -1, ""},
		"a correction to zero":     {nil, correction, -3, ""},
		"a correction below zero":  {nil, correction, -4, "NO_CREDITS @amount balance=3"},
		"an adjustment of nothing": {nil, grant, 0, ""},
		"a grant to an unlimited plan": {
			set{"Plan.Kind": credit.Unlimited}, grant, 1, "SUBSCRIPTION_STATE kind=UNLIMITED",
		},
		"a grant after the end":          {set{"Status": credit.Expired}, grant, 1, "SUBSCRIPTION_STATE status=EXPIRED"},
		"a grant after the cancellation": {set{"Status": credit.Cancelled}, grant, 1, "SUBSCRIPTION_STATE status=CANCELLED"},
		"a grant to one in debt":         {set{"Status": credit.Debt}, grant, 1, ""},
	} {
		before := vary.From(credit.Subscription{
			ID: sub, Plan: credit.Plan{Kind: credit.Credits}, Status: credit.Active, Balance: 3, Lines: 4,
		}, tt.differ)
		s, want, ledger := before, before, []credit.Line(nil)
		if tt.amount != 0 && tt.err == "" {
			want = vary.From(before, set{"Balance": 3 + tt.amount, "Lines": 5})
			ledger = []credit.Line{vary.From(tt.line, set{
				"Subscription": sub, "Number": 5, "Amount": tt.amount, "Balance": want.Balance, "At": now,
			})}
		}
		var (
			lines []credit.Line
			err   error
		)
		switch tt.line.Kind {
		case credit.Booking:
			var credits int
			lines, credits, err = s.Charge(nil, booked, -tt.amount, "mia", now)
			test.EqOp(t, before.Balance-s.Balance, credits, test.Sprint(name))
		case credit.Refund:
			lines = s.Refund(nil, booked, tt.amount, "mia", "ill", now)
		default:
			lines, err = s.Adjust(tt.amount, "kim", "gift", now)
		}
		test.EqOp(t, tt.err, faulttest.Text(err), test.Sprint(name))
		test.Eq(t, ledger, lines, test.Sprint(name))
		test.Eq(t, want, s, test.Sprint(name))
	}
	unlimited := credit.Subscription{Plan: credit.Plan{Kind: credit.Unlimited}}
	lines, credits, err := unlimited.Charge(nil, booked, 4, "mia", now)
	test.Eq(
		t, []any{[]credit.Line(nil), 0, error(nil)}, []any{lines, credits, err}, test.Sprint("unlimited plans cost none"),
	)
}

// Only time makes a subscription expire, and nothing brings back one that has ended.
func TestSetStatus_AllowsOnlyListedTransitions(t *testing.T) {
	t.Parallel()
	all := []credit.Status{credit.Active, credit.Paused, credit.Debt, credit.Cancelled, credit.Expired}
	for from, allowed := range map[credit.Status]string{
		credit.Active: "PAUSED DEBT CANCELLED", credit.Paused: "ACTIVE DEBT CANCELLED", credit.Debt: "ACTIVE CANCELLED",
		credit.Expired: "", credit.Cancelled: "",
	} {
		for _, to := range all {
			s, want, err := credit.Subscription{Status: from}, to, ""
			may := strings.Contains(allowed, string(to))
			if !may && from != to {
				want, err = from, "SUBSCRIPTION_STATE status="+string(from)
			}
			changed, got := s.SetStatus(to)
			test.EqOp(t, err, faulttest.Text(got), test.Sprintf("%s to %s", from, to))
			test.EqOp(t, may, changed, test.Sprintf("%s to %s", from, to))
			test.EqOp(t, want, s.Status)
		}
	}
}

func TestPlanCheckEdit_KeepsTheKind(t *testing.T) {
	t.Parallel()
	before := credit.Plan{Name: "Ten classes", Kind: credit.Credits}
	expect.Fault(t, "")(credit.Plan{Name: "Ten", Kind: credit.Credits, Credits: 10}.ValidateEdit(before))
	expect.Fault(t, "INVALID_FIELD @plan.kind")(credit.Plan{Kind: credit.Unlimited}.ValidateEdit(before))
}

func TestPlanValidate_NamesTheInvalidField(t *testing.T) {
	t.Parallel()
	const most = 3660 * day
	expect.InvalidField(t, credit.Plan{Name: "Ten classes", Kind: credit.Credits, Credits: 10}, map[string][]set{
		"": {
			nil, {"Name": "é", "Credits": 1, "Period": day, "Term": day, "DailyLimit": 1, "WeeklyLimit": 1},
			{"Name": strings.Repeat("é", 200), "Credits": 10_000, "Period": 400 * day, "Term": most},
			{"Price": credit.Money{Currency: "EUR", Units: 9, Nanos: 999_999_999}}, {"Price.Currency": "EUR"},
			{"Kind": credit.Unlimited, "Credits": 0, "Term": 30 * day},
		},
		"plan.name": {{"Name": ""}, {"Name": strings.Repeat("é", 201)}, {"Name": "A\u200bB"}},
		"plan.credits": {
			{"Credits": 0}, {"Credits": 10_001}, {"Kind": credit.Unlimited, "Credits": 1}, {"Kind": credit.Course},
		},
		"plan.period": {
			{"Kind": credit.Unlimited, "Credits": 0, "Period": day}, {"Period": day - 1}, {"Period": 400*day + 1},
		},
		"plan.term":                {{"Term": day - 1}, {"Term": most + 1}},
		"plan.daily_limit":         {{"DailyLimit": 0}},
		"plan.weekly_limit":        {{"WeeklyLimit": 0}},
		"plan.price.currency_code": {{"Price.Units": 5}, {"Price.Nanos": 5}},
		"plan.price": {
			{"Price": credit.Money{Currency: "EUR", Units: -1}}, {"Price": credit.Money{Currency: "EUR", Nanos: -1}},
			{"Price": credit.Money{Currency: "EUR", Nanos: 1e9}},
		},
	})
}
