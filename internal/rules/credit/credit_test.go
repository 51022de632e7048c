package credit_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

var now = time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

func id[I ~struct{ tenant.UUID }]() I { return tenant.New[I](now) }

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
		lines   []credit.EntryKind
	}{
		"nothing changes within the period": {monthly, 3, 30*day - 1, 5, credit.Active, nil},
		"at its end the rest expires, then new ones": {
			monthly, 3, 30 * day, 8, credit.Active, []credit.EntryKind{credit.Expiry, credit.Period},
		},
		"a used-up period has nothing to expire": {
			monthly, 8, 30 * day, 8, credit.Active, []credit.EntryKind{credit.Period},
		},
		"several missed periods count as one": {
			monthly, 0, 100 * day, 8, credit.Active, []credit.EntryKind{credit.Expiry, credit.Period},
		},
		"a pack does not expire": {pack, 3, 1000 * day, 5, credit.Active, nil},
		"all expires at the end of the term": {
			term, 3, 90 * day, 0, credit.Expired, []credit.EntryKind{credit.Expiry},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := credit.Start(id[tenant.SubscriptionID](), id[tenant.MemberID](), tt.plan, now, now)
			s.Balance -= tt.spent
			got, lines := credit.Advance(s, now.Add(tt.after))
			if got.Balance != tt.balance || got.Status != tt.status {
				t.Errorf("balance %d, status %s", got.Balance, got.Status)
			}
			if len(lines) != len(tt.lines) {
				t.Fatalf("lines %+v", lines)
			}
			for i, kind := range tt.lines {
				if lines[i].Kind != kind {
					t.Errorf("line %d is %s, want %s", i, lines[i].Kind, kind)
				}
			}
			if again, more := credit.Advance(got, now.Add(tt.after)); again.Balance != got.Balance || len(more) != 0 {
				t.Errorf("advancing again added %+v", more)
			}
		})
	}
}

func TestStart_InThePastBeginsInTheCurrentPeriod(t *testing.T) {
	t.Parallel()
	plan := credit.Plan{Kind: credit.Credits, Credits: 8, Period: new(30 * day)}
	s, lines := credit.Start(id[tenant.SubscriptionID](), id[tenant.MemberID](), plan, now.Add(-45*day), now)
	if s.Balance != 8 || !s.PeriodEndsAt.Equal(now.Add(15*day)) || sum(lines) != 8 {
		t.Errorf("%+v with %+v", s, lines)
	}
}

func sum(lines []credit.Entry) int {
	total := 0
	for _, l := range lines {
		total += l.Amount
	}
	return total
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
		s, ledger := credit.Start(id[tenant.SubscriptionID](), id[tenant.MemberID](), plan, at, at)
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			at = at.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "days")) * day)
			var lines []credit.Entry
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
			if s.Balance < 0 {
				t.Fatalf("balance %d", s.Balance)
			}
			if s.Balance != sum(ledger) {
				t.Fatalf("balance %d, ledger %d", s.Balance, sum(ledger))
			}
			if n := len(ledger); n > 0 && ledger[n-1].Balance != s.Balance {
				t.Fatalf("the last line says %d, the balance is %d", ledger[n-1].Balance, s.Balance)
			}
		}
	})
}

func TestPayer_PicksTheOnlyOrNamedSubscription(t *testing.T) {
	t.Parallel()
	of := func(kind credit.PlanKind, status credit.Status) credit.Subscription {
		return credit.Subscription{
			ID: id[tenant.SubscriptionID](), Plan: credit.Plan{Kind: kind}, Status: status, StartsAt: now.Add(-day),
		}
	}
	active, other := of(credit.Credits, credit.Active), of(credit.Unlimited, credit.Active)
	paused, debt := of(credit.Unlimited, credit.Paused), of(credit.Unlimited, credit.Debt)
	course := of(credit.Course, credit.Active)
	future := of(credit.Unlimited, credit.Active)
	future.StartsAt = now.Add(time.Second)
	for name, tt := range map[string]struct {
		have   []credit.Subscription
		named  tenant.SubscriptionID
		pays   bool
		want   tenant.SubscriptionID
		reason fault.Reason
	}{
		"the only one":         {have: []credit.Subscription{active, paused, course}, want: active.ID},
		"none":                 {},
		"none, payments taken": {pays: true, reason: fault.NoActivePlan},
		"only a paused one, payments taken": {
			have: []credit.Subscription{paused}, pays: true, reason: fault.NoActivePlan,
		},
		"only a course, payments taken": {
			have: []credit.Subscription{course}, pays: true, reason: fault.NoActivePlan,
		},
		"not started":        {have: []credit.Subscription{future}, pays: true, reason: fault.NoActivePlan},
		"several":            {have: []credit.Subscription{active, other}, reason: fault.PlanChoiceRequired},
		"several, one named": {have: []credit.Subscription{active, other}, named: other.ID, want: other.ID},
		"one active, one in debt": {
			have: []credit.Subscription{active, debt}, reason: fault.PlanChoiceRequired,
		},
		"the only one is in debt": {have: []credit.Subscription{debt}, reason: fault.OutstandingBalance},
		"a named one in debt": {
			have: []credit.Subscription{active, debt}, named: debt.ID, reason: fault.OutstandingBalance,
		},
		"a named course": {
			have: []credit.Subscription{course}, named: course.ID, reason: fault.NoActivePlan,
		},
		"a named paused one": {
			have: []credit.Subscription{paused}, named: paused.ID, reason: fault.NoActivePlan,
		},
		"a named one of another member": {
			have: []credit.Subscription{active}, named: other.ID, reason: fault.SubscriptionNotFound,
		},
		"one in debt, the active one named": {
			have: []credit.Subscription{active, debt}, named: active.ID, want: active.ID,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := credit.ChoosePayer(tt.have, tt.named, tt.pays, now)
			if fault.ReasonOf(err) != tt.reason {
				t.Fatalf("%v, want %s", err, tt.reason)
			}
			if err == nil && !tt.want.IsZero() && (got == nil || got.ID != tt.want) {
				t.Errorf("%+v pays", got)
			}
			if err == nil && tt.want.IsZero() && got != nil {
				t.Errorf("%+v pays", got)
			}
		})
	}
}

func TestCheckQuota_ChecksDailyThenWeeklyLimit(t *testing.T) {
	t.Parallel()
	on := civil.MustParseDate("2026-03-18") // a Wednesday
	s := credit.Subscription{Plan: credit.Plan{DailyLimit: new(1), WeeklyLimit: new(3)}}
	for _, tt := range []struct {
		today, week int
		reason      fault.Reason
	}{{0, 0, ""}, {0, 2, ""}, {1, 1, fault.DailyLimit}, {0, 3, fault.WeeklyLimit}, {1, 3, fault.DailyLimit}} {
		s.UsedToday, s.UsedThisWeek = tt.today, tt.week
		if got := fault.ReasonOf(s.CheckQuota(on)); got != tt.reason {
			t.Errorf("%d today, %d this week: %q, want %q", tt.today, tt.week, got, tt.reason)
		}
	}
}

func TestSetStatus_AllowsOnlyListedTransitions(t *testing.T) {
	t.Parallel()
	allowed := map[credit.Status][]credit.Status{
		credit.Active:    {credit.Active, credit.Paused, credit.Debt, credit.Cancelled},
		credit.Paused:    {credit.Paused, credit.Active, credit.Debt, credit.Cancelled},
		credit.Debt:      {credit.Debt, credit.Active, credit.Cancelled},
		credit.Expired:   {},
		credit.Cancelled: {credit.Cancelled},
	}
	for from, to := range allowed {
		for _, target := range []credit.Status{credit.Active, credit.Paused, credit.Debt, credit.Cancelled} {
			s := credit.Subscription{Status: from}
			changed, err := s.SetStatus(target)
			want := false
			for _, ok := range to {
				want = want || ok == target
			}
			if (err == nil) != want || changed != (want && from != target) {
				t.Errorf("%s to %s: changed %t, %v", from, target, changed, err)
			}
		}
	}
}

func TestPlanValidate_NamesTheInvalidField(t *testing.T) {
	t.Parallel()
	good := credit.Plan{Name: "Ten classes", Kind: credit.Credits, Credits: 10}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for field, edit := range map[string]func(*credit.Plan){
		"plan.name":                func(p *credit.Plan) { p.Name = "" },
		"plan.credits":             func(p *credit.Plan) { p.Credits = 0 },
		"plan.period":              func(p *credit.Plan) { p.Kind, p.Credits, p.Period = credit.Unlimited, 0, new(day) },
		"plan.term":                func(p *credit.Plan) { p.Term = new(time.Hour) },
		"plan.daily_limit":         func(p *credit.Plan) { p.DailyLimit = new(0) },
		"plan.weekly_limit":        func(p *credit.Plan) { p.WeeklyLimit = new(0) },
		"plan.price.currency_code": func(p *credit.Plan) { p.Price.Units = 5 },
		"plan.price":               func(p *credit.Plan) { p.Price = credit.Money{Currency: "EUR", Units: -1} },
	} {
		p := good
		edit(&p)
		err, ok := p.Validate().(*fault.Error)
		if !ok || err.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
