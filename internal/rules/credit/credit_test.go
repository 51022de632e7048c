package credit_test

import (
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
)

var now = time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

func id[I ~struct{ tenant.UUID }]() I { return tenant.New[I](now) }

// kinds returns the kinds and amounts of ledger lines.
func kinds(lines []credit.Entry) map[credit.EntryKind]int {
	all := make(map[credit.EntryKind]int)
	for _, l := range lines {
		all[l.Kind] += l.Amount
	}
	return all
}

func sum(lines []credit.Entry) (total int) {
	for _, l := range lines {
		total += l.Amount
	}
	return total
}

// Rows and events have these values, also those that were written years ago.
func TestValues_StayAsTheyAreStored(t *testing.T) {
	t.Parallel()
	test.Eq(t, []credit.PlanKind{"UNLIMITED", "CREDITS", "COURSE"},
		[]credit.PlanKind{credit.Unlimited, credit.Credits, credit.Course})
	test.Eq(t, []credit.Status{"ACTIVE", "PAUSED", "DEBT", "EXPIRED", "CANCELLED"},
		[]credit.Status{credit.Active, credit.Paused, credit.Debt, credit.Expired, credit.Cancelled})
	test.Eq(t, []credit.EntryKind{"GRANT", "PERIOD", "BOOKING", "REFUND", "EXPIRY", "CORRECTION"},
		[]credit.EntryKind{
			credit.Grant, credit.Period, credit.Booking, credit.Refund, credit.Expiry, credit.Correction,
		})
	test.EqOp(t, "system", credit.SystemActor)
}

func TestStart_GrantsTheFirstCredits(t *testing.T) {
	t.Parallel()
	sub, member := id[tenant.SubscriptionID](), id[tenant.MemberID]()
	made := func(plan credit.Plan, change func(*credit.Subscription)) credit.Subscription {
		s := credit.Subscription{
			ID: sub, Member: member, Plan: plan, Status: credit.Active, StartsAt: now.Add(-day), Version: 1,
			CreatedAt: now, UpdatedAt: now,
		}
		change(&s)
		return s
	}
	pack := credit.Plan{Kind: credit.Credits, Credits: 8, Term: new(90 * day)}
	monthly := credit.Plan{Kind: credit.Credits, Credits: 8, Period: new(30 * day)}
	course := credit.Plan{Kind: credit.Course, Credits: 8, Period: new(30 * day)} // as only a broken row has
	line := credit.Entry{
		Subscription: sub, Line: 1, Kind: credit.Period, Amount: 8, Balance: 8, Actor: "system", At: now,
	}
	for name, tt := range map[string]struct {
		want   credit.Subscription
		ledger []credit.Entry
	}{
		"a pack": {made(pack, func(s *credit.Subscription) {
			s.EndsAt, s.Balance, s.Lines = new(now.Add(89*day)), 8, 1
		}), []credit.Entry{line}},
		"with periods": {made(monthly, func(s *credit.Subscription) {
			s.PeriodEndsAt, s.Balance, s.Lines = new(now.Add(29*day)), 8, 1
		}), []credit.Entry{line}},
		"without credits": {made(course, func(*credit.Subscription) {}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ledger := credit.Start(sub, member, tt.want.Plan, now.Add(-day), now)
			test.Eq(t, tt.want, got)
			test.Eq(t, tt.ledger, ledger)
		})
	}
}

// A subscription that starts in the past begins in its current period. The ledger has its first period, too.
func TestStart_InThePastBeginsInTheCurrentPeriod(t *testing.T) {
	t.Parallel()
	plan := credit.Plan{Kind: credit.Credits, Credits: 8, Period: new(30 * day)}
	s, lines := credit.Start(id[tenant.SubscriptionID](), id[tenant.MemberID](), plan, now.Add(-45*day), now)
	test.EqOp(t, now.Add(15*day), *s.PeriodEndsAt)
	test.EqOp(t, 8, s.Balance)
	must.Len(t, 3, lines)
	for i, want := range []struct{ amount, balance int }{{8, 8}, {-8, 0}, {8, 8}} {
		test.Eq(t, want, struct{ amount, balance int }{lines[i].Amount, lines[i].Balance})
		test.EqOp(t, i+1, lines[i].Line)
	}
}

func TestAdvance_ExpiresAndGrantsCreditsOncePerPeriod(t *testing.T) {
	t.Parallel()
	monthly := credit.Plan{Kind: credit.Credits, Credits: 8, Period: new(30 * day)}
	pack := credit.Plan{Kind: credit.Credits, Credits: 8}
	term := credit.Plan{Kind: credit.Credits, Credits: 8, Period: new(30 * day), Term: new(90 * day)}
	type lines = map[credit.EntryKind]int
	for name, tt := range map[string]struct {
		plan    credit.Plan
		spent   int
		after   time.Duration
		balance int
		status  credit.Status
		ends    *time.Time // the period then
		lines   lines
	}{
		"nothing changes within the period": {
			monthly, 3, 30*day - 1, 5, credit.Active, new(now.Add(30 * day)), lines{},
		},
		"at its end the rest expires, then new ones": {
			monthly, 3, 30 * day, 8, credit.Active, new(now.Add(60 * day)), lines{credit.Expiry: -5, credit.Period: 8},
		},
		"a used-up period has nothing to expire": {
			monthly, 8, 30 * day, 8, credit.Active, new(now.Add(60 * day)), lines{credit.Period: 8},
		},
		"several missed periods count as one": {
			monthly, 0, 100 * day, 8, credit.Active, new(now.Add(120 * day)), lines{credit.Expiry: -8, credit.Period: 8},
		},
		"a pack does not expire":             {pack, 3, 1000 * day, 5, credit.Active, nil, lines{}},
		"all expires at the end of the term": {term, 3, 90 * day, 0, credit.Expired, nil, lines{credit.Expiry: -5}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := credit.Start(id[tenant.SubscriptionID](), id[tenant.MemberID](), tt.plan, now, now)
			s.Balance -= tt.spent
			got, ledger := credit.Advance(s, now.Add(tt.after))
			test.EqOp(t, tt.balance, got.Balance)
			test.EqOp(t, tt.status, got.Status)
			test.Eq(t, tt.ends, got.PeriodEndsAt)
			test.Eq(t, tt.lines, kinds(ledger))
			again, more := credit.Advance(got, now.Add(tt.after))
			test.Eq(t, got, again)
			test.SliceEmpty(t, more)
		})
	}
}

// A subscription that has ended stays as it is, even if a period ends later.
func TestAdvance_LeavesEndedSubscriptionsUnchanged(t *testing.T) {
	t.Parallel()
	plan := credit.Plan{Kind: credit.Credits, Credits: 8, Period: new(30 * day), Term: new(90 * day)}
	for _, status := range []credit.Status{credit.Expired, credit.Cancelled} {
		s, _ := credit.Start(id[tenant.SubscriptionID](), id[tenant.MemberID](), plan, now, now)
		s.Status, s.Balance = status, 3
		for name, at := range map[string]time.Time{"period": now.Add(40 * day), "term": now.Add(100 * day)} {
			got, lines := credit.Advance(s, at)
			test.Eq(t, s, got, test.Sprintf("%s, after its %s", status, name))
			test.SliceEmpty(t, lines)
		}
	}
}

func TestAvailableCredits_CountsActiveSubscriptions(t *testing.T) {
	t.Parallel()
	sub := func(kind credit.PlanKind, status credit.Status, balance int) credit.Subscription {
		return credit.Subscription{Plan: credit.Plan{Kind: kind}, Status: status, Balance: balance}
	}
	for name, tt := range map[string]struct {
		subs      []credit.Subscription
		balance   int
		unlimited bool
	}{
		"none": {},
		"credits": {
			[]credit.Subscription{sub(credit.Credits, credit.Active, 3), sub(credit.Credits, credit.Active, 4)}, 7, false,
		},
		"a course is not unlimited": {[]credit.Subscription{sub(credit.Course, credit.Active, 0)}, 0, false},
		"unlimited, then credits": {
			[]credit.Subscription{sub(credit.Unlimited, credit.Active, 0), sub(credit.Credits, credit.Active, 2)}, 2, true,
		},
		"credits, then unlimited": {
			[]credit.Subscription{sub(credit.Credits, credit.Active, 2), sub(credit.Unlimited, credit.Active, 0)}, 2, true,
		},
		"paused ones do not count": {
			[]credit.Subscription{sub(credit.Unlimited, credit.Paused, 0), sub(credit.Credits, credit.Debt, 5)}, 0, false,
		},
	} {
		balance, unlimited := credit.AvailableCredits(tt.subs)
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
			must.NonNegative(t, s.Balance)
			must.EqOp(t, sum(ledger), s.Balance)
			must.EqOp(t, len(ledger), s.Lines)
			if n := len(ledger); n > 0 {
				must.Eq(t, [2]int{n, s.Balance}, [2]int{ledger[n-1].Line, ledger[n-1].Balance})
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
	future.StartsAt = now.Add(1)
	starts := of(credit.Unlimited, credit.Active)
	starts.StartsAt = now
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
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := credit.ChoosePayer(tt.have, tt.named, tt.pays, now)
			must.EqOp(t, tt.err, faulttest.Text(err))
			if err != nil {
				return
			}
			test.EqOp(t, tt.want.IsZero(), got == nil)
			if got != nil {
				test.EqOp(t, tt.want, got.ID)
			}
		})
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
		test.EqOp(t, tt.want, faulttest.Text(s.CheckQuota(on)), test.Sprintf("%+v", tt))
		test.EqOp(t, tt.perDay != nil || tt.perWeek != nil, s.Plan.HasQuota())
	}
}

// Charge, Refund and Adjust change the balance with one line of the ledger, or not at all.
func TestLedger_HasOneLineForEachChange(t *testing.T) {
	t.Parallel()
	booked, sub := id[tenant.BookingID](), id[tenant.SubscriptionID]()
	of := func(kind credit.PlanKind, status credit.Status) credit.Subscription {
		return credit.Subscription{ID: sub, Plan: credit.Plan{Kind: kind}, Status: status, Balance: 3, Lines: 4}
	}
	pack := of(credit.Credits, credit.Active)
	type change = func(*credit.Subscription) ([]credit.Entry, int, error)
	charge := func(seats int) change {
		return func(s *credit.Subscription) ([]credit.Entry, int, error) {
			return s.Charge(nil, booked, seats, "mia", now)
		}
	}
	adjust := func(amount int) change {
		return func(s *credit.Subscription) ([]credit.Entry, int, error) {
			lines, err := s.Adjust(amount, "kim", "gift", now)
			return lines, 0, err
		}
	}
	refund := func(credits int) change {
		return func(s *credit.Subscription) ([]credit.Entry, int, error) {
			return s.Refund(nil, booked, credits, "mia", "ill", now), 0, nil
		}
	}
	for name, tt := range map[string]struct {
		of      credit.Subscription
		change  change
		line    credit.Entry
		credits int
		err     string
	}{
		"one seat":  {pack, charge(1), credit.Entry{Kind: credit.Booking, Amount: -1, Booking: booked, Actor: "mia"}, 1, ""},
		"the last":  {pack, charge(3), credit.Entry{Kind: credit.Booking, Amount: -3, Booking: booked, Actor: "mia"}, 3, ""},
		"too many":  {pack, charge(4), credit.Entry{}, 0, "NO_CREDITS balance=3 needed=4"},
		"unlimited": {of(credit.Unlimited, credit.Active), charge(4), credit.Entry{}, 0, ""},
		"a refund, even if it has ended": {
			of(credit.Credits, credit.Cancelled), refund(2),
			credit.Entry{Kind: credit.Refund, Amount: 2, Booking: booked, Actor: "mia", Reason: "ill"}, 0, "",
		},
		"a refund of nothing": {pack, refund(0), credit.Entry{}, 0, ""},
		"a grant": {
			pack, adjust(1), credit.Entry{Kind: credit.Grant, Amount: 1, Actor: "kim", Reason: "gift"}, 0, "",
		},
		"a correction": {
			pack, adjust(-1), credit.Entry{Kind: credit.Correction, Amount: -1, Actor: "kim", Reason: "gift"}, 0, "",
		},
		"a correction to zero": {
			pack, adjust(-3), credit.Entry{Kind: credit.Correction, Amount: -3, Actor: "kim", Reason: "gift"}, 0, "",
		},
		"a correction below zero":  {pack, adjust(-4), credit.Entry{}, 0, "NO_CREDITS @amount balance=3"},
		"an adjustment of nothing": {pack, adjust(0), credit.Entry{}, 0, ""},
		"a grant to an unlimited plan": {
			of(credit.Unlimited, credit.Active), adjust(1), credit.Entry{}, 0, "SUBSCRIPTION_STATE kind=UNLIMITED",
		},
		"a grant after the end": {
			of(credit.Credits, credit.Expired), adjust(1), credit.Entry{}, 0, "SUBSCRIPTION_STATE status=EXPIRED",
		},
		"a grant after the cancellation": {
			of(credit.Credits, credit.Cancelled), adjust(1), credit.Entry{}, 0, "SUBSCRIPTION_STATE status=CANCELLED",
		},
		"a grant to one in debt": {
			of(credit.Credits, credit.Debt), adjust(1),
			credit.Entry{Kind: credit.Grant, Amount: 1, Actor: "kim", Reason: "gift"}, 0, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, want := tt.of, tt.of
			var ledger []credit.Entry
			if tt.line.Amount != 0 {
				want.Balance, want.Lines = 3+tt.line.Amount, 5
				tt.line.Subscription, tt.line.Line, tt.line.Balance, tt.line.At = sub, 5, want.Balance, now
				ledger = []credit.Entry{tt.line}
			}
			lines, credits, err := tt.change(&s)
			test.EqOp(t, tt.err, faulttest.Text(err))
			test.Eq(t, ledger, lines)
			test.EqOp(t, tt.credits, credits)
			test.Eq(t, want, s)
		})
	}
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

func TestPlanValidate_NamesTheInvalidField(t *testing.T) {
	t.Parallel()
	unlimited := func(change func(*credit.Plan)) func(*credit.Plan) {
		return func(p *credit.Plan) {
			p.Kind, p.Credits = credit.Unlimited, 0
			change(p)
		}
	}
	for name, tt := range map[string]struct {
		change func(*credit.Plan)
		field  string
	}{
		"least": {func(p *credit.Plan) {
			p.Name, p.Credits, p.Period, p.Term, p.DailyLimit, p.WeeklyLimit = "é", 1, new(day), new(day), new(1), new(1)
		}, ""},
		"most": {func(p *credit.Plan) {
			p.Name, p.Credits, p.Period, p.Term = strings.Repeat("é", 200), 10_000, new(400*day), new(3660*day)
			p.Price = credit.Money{Currency: "EUR", Units: 9, Nanos: 999_999_999}
		}, ""},
		"unlimited":                {unlimited(func(p *credit.Plan) { p.Term = new(30 * day) }), ""},
		"free, in euros":           {func(p *credit.Plan) { p.Price.Currency = "EUR" }, ""},
		"no name":                  {func(p *credit.Plan) { p.Name = "" }, "plan.name"},
		"long name":                {func(p *credit.Plan) { p.Name = strings.Repeat("é", 201) }, "plan.name"},
		"no credits":               {func(p *credit.Plan) { p.Credits = 0 }, "plan.credits"},
		"many credits":             {func(p *credit.Plan) { p.Credits = 10_001 }, "plan.credits"},
		"unlimited, with credits":  {unlimited(func(p *credit.Plan) { p.Credits = 1 }), "plan.credits"},
		"unlimited, with a period": {unlimited(func(p *credit.Plan) { p.Period = new(day) }), "plan.period"},
		"short period":             {func(p *credit.Plan) { p.Period = new(day - 1) }, "plan.period"},
		"long period":              {func(p *credit.Plan) { p.Period = new(400*day + 1) }, "plan.period"},
		"short term":               {func(p *credit.Plan) { p.Term = new(day - 1) }, "plan.term"},
		"long term":                {func(p *credit.Plan) { p.Term = new(3660*day + 1) }, "plan.term"},
		"no bookings per day":      {func(p *credit.Plan) { p.DailyLimit = new(0) }, "plan.daily_limit"},
		"no bookings per week":     {func(p *credit.Plan) { p.WeeklyLimit = new(0) }, "plan.weekly_limit"},
		"units without currency":   {func(p *credit.Plan) { p.Price.Units = 5 }, "plan.price.currency_code"},
		"nanos without currency":   {func(p *credit.Plan) { p.Price.Nanos = 5 }, "plan.price.currency_code"},
		"negative price": {
			func(p *credit.Plan) { p.Price = credit.Money{Currency: "EUR", Units: -1} }, "plan.price",
		},
		"negative nanos": {
			func(p *credit.Plan) { p.Price = credit.Money{Currency: "EUR", Nanos: -1} }, "plan.price",
		},
		"a billion nanos": {
			func(p *credit.Plan) { p.Price = credit.Money{Currency: "EUR", Nanos: 1e9} }, "plan.price",
		},
	} {
		p, want := credit.Plan{Name: "Ten classes", Kind: credit.Credits, Credits: 10}, ""
		tt.change(&p)
		if tt.field != "" {
			want = "INVALID_FIELD @" + tt.field
		}
		test.EqOp(t, want, faulttest.Text(p.Validate()), test.Sprint(name))
	}
}
