package accounts_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

var allStatuses = []credit.Status{credit.Active, credit.Paused, credit.Debt, credit.Expired, credit.Cancelled}

// endsAt edits the end of a subscription.
func endsAt(at time.Time) func(*credit.Subscription) {
	return func(s *credit.Subscription) { s.EndsAt = &at }
}

func endless(s *credit.Subscription) { s.EndsAt = nil }

// creditsOf writes what a member sees of their only subscription, with the last two lines of its ledger.
func creditsOf(studio *testkit.Studio, who tenant.Caller) string {
	studio.T.Helper()
	who = testkit.SelfOnly(who)
	app, ctx := studio.App.Accounts, studio.T.Context()
	sub := expect.Value(app.GetBalance(ctx, who, tenant.MemberID{}, allStatuses))(studio.T)[0]
	text := fmt.Sprintf("v%d %s %d", sub.Version, sub.Status, sub.Balance)
	for _, l := range expect.Value(app.ListCreditLines(ctx, who, sub.ID, accounts.LineQuery{Limit: 2}))(studio.T) {
		text += fmt.Sprintf("; %s", strings.TrimSpace(fmt.Sprint(l.Kind, " ", l.Amount, " ", l.Balance, " ", l.Reason)))
	}
	return text
}

// said returns the events about credits and subscriptions and the entries of the audit log, of this moment.
func said(studio *testkit.Studio) string {
	studio.T.Helper()
	return studio.Text(`select coalesce(string_agg(says, '; ' order by says), '') from (
		select type || ' ' || (data - 'subscription_id' - 'plan_id')::text as says from events
		where tenant_id = $1 and occurred_at = $2 and data ? 'subscription_id' and member_id is not null and actor <> ''
		union all select action || ' of a ' || target_kind || ': ' || reason || ' ' || changes::text from audit_entries
		where tenant_id = $1 and occurred_at = $2) x`, studio.Tenant, studio.Clock.Now())
}

func TestSubscriptions_ChangesAreKeptAndSaid(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	app, owner, ana := studio.App.Accounts, studio.Owner, studio.AddMember("Ana")
	pack := studio.AddPlan(credit.Plan{Name: "Pack", Kind: credit.Credits, Credits: 4, Period: new(72 * time.Hour)})
	class := studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(100 * time.Hour)})
	studio.Clock.Advance(time.Second)
	sub := expect.Value(app.CreateSubscription(
		t.Context(), owner, accounts.NewSubscription{Member: ana.Member, Plan: pack.ID, Reason: "paid"},
	))(t)
	grant := func(amount int, why string) func() error {
		return func() error { return expect.Error(app.GrantCredits(t.Context(), owner, sub.ID, amount, why)) }
	}
	end := func(at time.Time, why string) func() error {
		return func() error {
			return expect.Error(app.UpdateSubscription(t.Context(), owner, sub.ID, nil, endsAt(at), why))
		}
	}
	become := func(status credit.Status, why string) func() error {
		return func() error {
			return expect.Error(app.SetSubscriptionStatus(t.Context(), owner, sub.ID, status, why))
		}
	}
	var booked tenant.BookingID
	for _, step := range []struct {
		name          string
		after         time.Duration
		do            func() error
		credits, said string
	}{
		{
			"it starts with the first credits", 0, func() error { return nil }, "v1 ACTIVE 4; PERIOD 4 4",
			`subscription.changed {"status": "ACTIVE"}; ` +
				`subscription.created of a subscription: paid {"plan": "Pack", "status": "ACTIVE"}`,
		},
		{
			"credits are given", time.Second, grant(3, "a gift"), "v1 ACTIVE 7; GRANT 3 7 a gift; PERIOD 4 4",
			`credit.granted of a subscription: a gift {"amount": 3, "balance": 7}; ` +
				`credits.changed {"amount": 3, "balance": 7}`,
		},
		{
			"and taken", time.Second, grant(-2, "a slip"), "v1 ACTIVE 5; CORRECTION -2 5 a slip; GRANT 3 7 a gift",
			`credit.granted of a subscription: a slip {"amount": -2, "balance": 5}; ` +
				`credits.changed {"amount": -2, "balance": 5}`,
		},
		{"a booking takes one", time.Second, func() error {
			booked = studio.MustBook(ana, class)
			return nil
		}, "v1 ACTIVE 4; BOOKING -1 4; CORRECTION -2 5 a slip", ""},
		{
			"which is given back", time.Second,
			func() error { return expect.Error(app.RefundCredit(t.Context(), owner, booked, "goodwill")) },
			"v1 ACTIVE 5; REFUND 1 5 goodwill; BOOKING -1 4",
			`credit.refunded of a subscription: goodwill {"amount": 1, "balance": 5}; ` +
				`credits.changed {"amount": 1, "balance": 5}`,
		},
		{
			"it pauses", time.Second, become(credit.Paused, "away"), "v2 PAUSED 5; REFUND 1 5 goodwill; BOOKING -1 4",
			`subscription.changed {"status": "PAUSED", "previous_status": "ACTIVE"}; ` +
				`subscription.status_set of a subscription: away {"plan": "Pack", "status": "PAUSED"}`,
		},
		{
			"pausing again changes nothing", time.Second, become(credit.Paused, "again"),
			"v2 PAUSED 5; REFUND 1 5 goodwill; BOOKING -1 4", "",
		},
		{
			"it goes on", time.Second, become(credit.Active, "back"), "v3 ACTIVE 5; REFUND 1 5 goodwill; BOOKING -1 4",
			`subscription.changed {"status": "ACTIVE", "previous_status": "PAUSED"}; ` +
				`subscription.status_set of a subscription: back {"plan": "Pack", "status": "ACTIVE"}`,
		},
		{
			"its end moves", time.Second, end(testkit.Noon.Add(1000*time.Hour), "a gift"),
			"v4 ACTIVE 5; REFUND 1 5 goodwill; BOOKING -1 4",
			`subscription.changed {"status": "ACTIVE", "end_time": "2026-04-27T04:00:00Z", ` +
				`"previous_status": "ACTIVE"}; subscription.updated of a subscription: a gift ` +
				`{"after": {"end_time": "2026-04-27T04:00:00Z"}, "before": {"end_time": null}}`,
		},
		{
			"to the same time, which changes nothing", time.Second, end(testkit.Noon.Add(1000*time.Hour), "again"),
			"v4 ACTIVE 5; REFUND 1 5 goodwill; BOOKING -1 4", "",
		},
		{
			"and away", time.Second,
			func() error {
				return expect.Error(app.UpdateSubscription(t.Context(), owner, sub.ID, new(4), endless, "again"))
			},
			"v5 ACTIVE 5; REFUND 1 5 goodwill; BOOKING -1 4",
			`subscription.changed {"status": "ACTIVE", "previous_status": "ACTIVE", ` +
				`"previous_end_time": "2026-04-27T04:00:00Z"}; subscription.updated of a subscription: again ` +
				`{"after": {"end_time": null}, "before": {"end_time": "2026-04-27T04:00:00Z"}}`,
		},
		{
			"a new period counts before it is written", 72 * time.Hour, func() error { return nil },
			"v5 ACTIVE 4; REFUND 1 5 goodwill; BOOKING -1 4", "",
		},
		{
			"and is written with the next change, even of nothing else", time.Second, become(credit.Active, "so"),
			"v6 ACTIVE 4; PERIOD 4 4; EXPIRY -5 0",
			`subscription.changed {"status": "ACTIVE", "previous_status": "ACTIVE"}; ` +
				`subscription.status_set of a subscription: so {"plan": "Pack", "status": "ACTIVE"}`,
		},
		{
			"or with credits", 72 * time.Hour, grant(1, "a gift"), "v6 ACTIVE 5; GRANT 1 5 a gift; PERIOD 4 4",
			`credit.granted of a subscription: a gift {"amount": 1, "balance": 5}; ` +
				`credits.changed {"amount": 1, "balance": 5}`,
		},
	} {
		studio.Clock.Advance(step.after)
		must.NoError(t, step.do(), must.Sprint(step.name))
		test.EqOp(t, step.credits, creditsOf(studio, ana), test.Sprint(step.name))
		test.EqOp(t, step.said, said(studio), test.Sprint(step.name))
	}
	lines := expect.Value(app.ListCreditLines(t.Context(), owner, sub.ID, accounts.LineQuery{Before: 3, Limit: 9}))(t)
	must.SliceLen(t, 2, lines, must.Sprintf("before the third: %+v", lines))
	charged := expect.Value(app.ListCreditLines(t.Context(), owner, sub.ID, accounts.LineQuery{
		Kinds: []credit.LineKind{credit.Booking}, Limit: 9,
	}))(t)
	must.SliceLen(t, 1, charged)
	test.EqOp(t, class, charged[0].Session.ID)
	test.EqOp(t, testkit.Noon.Add(100*time.Hour), charged[0].Session.StartsAt)
	test.EqOp(t, 2, lines[0].Number, test.Sprintf("before the third: %+v", lines))
	test.EqOp(t, 1, lines[1].Number, test.Sprintf("before the third: %+v", lines))
	expect.OK(t)(app.SetSubscriptionStatus(t.Context(), owner, sub.ID, credit.Cancelled, ""))
	for want, statuses := range [][]credit.Status{nil, {credit.Cancelled}} { // those that have not ended, or some
		test.SliceLen(t, want, expect.Value(app.GetBalance(t.Context(), owner, ana.Member, statuses))(t))
	}
}

func TestSubscribe_TakesAnEndInsteadOfThePlansTerm(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	ana, plan := studio.AddMember("Ana"), studio.AddPlan(credit.Plan{Kind: credit.Unlimited, Term: new(48 * time.Hour)})
	now := studio.Clock.Now()
	for name, tt := range map[string]struct {
		ends *time.Time
		want time.Time
		err  string
	}{
		"after the term": {nil, now.Add(48 * time.Hour), ""},
		"earlier":        {new(now.Add(24 * time.Hour)), now.Add(24 * time.Hour), ""},
		"later":          {new(now.Add(72 * time.Hour)), now.Add(72 * time.Hour), ""},
		"at once":        {&now, time.Time{}, "INVALID_FIELD @subscription.end_time"},
	} {
		sub, err := studio.App.Accounts.CreateSubscription(t.Context(), studio.Owner, accounts.NewSubscription{
			Member: ana.Member, Plan: plan.ID, Ends: tt.ends,
		})
		expect.Fault(t, tt.err, name)(err)
		if err == nil {
			stored := expect.Value(studio.App.Accounts.GetSubscription(t.Context(), studio.Owner, sub.ID))(t)
			test.Eq(t, &tt.want, stored.EndsAt, test.Sprint(name))
		}
	}
}

// Lists and reads show a subscription as it is now, also after its end while it is still stored as active.
func TestListSubscriptions_SelectsAsOfNow(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	app, owner, ana, ben := studio.App.Accounts, studio.Owner, studio.AddMember("Ana"), studio.AddMember("Ben")
	pack := studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 4, Term: new(48 * time.Hour)})
	open := studio.AddPlan(credit.Plan{Kind: credit.Unlimited})
	subscribe := func(member tenant.Caller, plan credit.Plan) credit.Subscription {
		studio.Clock.Advance(time.Second) // ids of one millisecond have no order
		return studio.Subscribe(member, plan)
	}
	ends, stays, others := subscribe(ana, pack), subscribe(ana, open), subscribe(ben, open)
	studio.Clock.Advance(49 * time.Hour)
	test.EqOp(t, credit.Expired, expect.Value(app.GetSubscription(t.Context(), owner, ends.ID))(t).Status)
	for name, tt := range map[string]struct {
		by   tenant.Caller
		q    accounts.SubscriptionQuery
		want []tenant.SubscriptionID
	}{
		"those that have not ended, newest first": {owner, accounts.SubscriptionQuery{}, []tenant.SubscriptionID{
			others.ID, stays.ID,
		}},
		"one's own":           {testkit.SelfOnly(ana), accounts.SubscriptionQuery{}, []tenant.SubscriptionID{stays.ID}},
		"not those of others": {testkit.SelfOnly(ana), accounts.SubscriptionQuery{Member: ben.Member}, nil},
		"of a member":         {owner, accounts.SubscriptionQuery{Member: ana.Member}, []tenant.SubscriptionID{stays.ID}},
		"of a plan": {owner, accounts.SubscriptionQuery{Plan: pack.ID, Statuses: allStatuses},
			[]tenant.SubscriptionID{ends.ID}},
		"that expired": {owner, accounts.SubscriptionQuery{Statuses: []credit.Status{credit.Expired}},
			[]tenant.SubscriptionID{ends.ID}},
		"none are active any more": {owner, accounts.SubscriptionQuery{Plan: pack.ID}, nil},
		"after a page": {owner, accounts.SubscriptionQuery{Statuses: allStatuses, Before: others.ID},
			[]tenant.SubscriptionID{stays.ID, ends.ID}},
		"by their end": {owner, accounts.SubscriptionQuery{
			Statuses: allStatuses, EndsFrom: *ends.EndsAt, EndsUntil: ends.EndsAt.Add(time.Microsecond),
		}, []tenant.SubscriptionID{ends.ID}},
		"before their end": {owner, accounts.SubscriptionQuery{Statuses: allStatuses, EndsUntil: *ends.EndsAt}, nil},
	} {
		tt.q.Limit = 9
		var got []tenant.SubscriptionID
		for _, s := range expect.Value(app.ListSubscriptions(t.Context(), tt.by, tt.q))(t) {
			got = append(got, s.ID)
		}
		test.Eq(t, tt.want, got, test.Sprint(name))
	}
}

func TestSubscriptions_ReturnEachReason(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	app, owner, there := studio.App.Accounts, studio.Owner, studio.OtherTenant()
	ana, ben := studio.AddMember("Ana"), studio.AddMember("Ben")
	pack := studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 4})
	sub, stray := studio.Subscribe(ana, pack), testkit.NewID[tenant.SubscriptionID]()
	free, paid := studio.MustBook(ben, studio.AddSession(testkit.Session{})),
		studio.MustBook(ana, studio.AddSession(testkit.Session{}))
	studio.Deactivate(ben)
	old := studio.AddPlan(credit.Plan{Kind: credit.Unlimited})
	expect.OK(t)(studio.App.Catalog.UpdatePlan(t.Context(), owner, old.ID, nil, func(p *credit.Plan) error {
		p.Active = false
		return nil
	}))
	expect.OK(t)(app.RefundCredit(t.Context(), owner, paid, ""))
	subscribe := func(who tenant.MemberID, plan tenant.PlanID, after time.Duration) error {
		return expect.Error(app.CreateSubscription(t.Context(), owner, accounts.NewSubscription{
			Member: who, Plan: plan, Starts: testkit.Noon.Add(after),
		}))
	}
	endAt := func(by tenant.Caller, id tenant.SubscriptionID, after time.Duration) error {
		return expect.Error(app.UpdateSubscription(t.Context(), by, id, nil, endsAt(testkit.Noon.Add(after)), ""))
	}
	const year = 366 * 24 * time.Hour
	for name, tt := range map[string]struct {
		want string
		err  error
	}{
		"a plan that is sold no more": {"PLAN_NOT_FOUND", subscribe(ana.Member, old.ID, 0)},
		"another tenant's plan":       {"PLAN_NOT_FOUND", subscribe(ana.Member, there.AddPlan(pack).ID, 0)},
		"no such member":              {"MEMBER_NOT_FOUND", subscribe(testkit.NewID[tenant.MemberID](), pack.ID, 0)},
		"a member who has left":       {"MEMBER_NOT_FOUND", subscribe(ben.Member, pack.ID, 0)},
		"in more than a year":         {"INVALID_FIELD @subscription.start_time", subscribe(ana.Member, pack.ID, year+1)},
		"more than a year ago":        {"INVALID_FIELD @subscription.start_time", subscribe(ana.Member, pack.ID, -year-1)},
		"in a year":                   {"", subscribe(ana.Member, pack.ID, year)},
		"a year ago":                  {"", subscribe(ana.Member, pack.ID, -year)},
		"a booking without a credit": {
			"NOTHING_TO_REFUND", expect.Error(app.RefundCredit(t.Context(), owner, free, "")),
		},
		"a credit that was given back": {
			"NOTHING_TO_REFUND", expect.Error(app.RefundCredit(t.Context(), owner, paid, "")),
		},
		"more than there are": {
			"NO_CREDITS @amount balance=4", expect.Error(app.GrantCredits(t.Context(), owner, sub.ID, -5, "")),
		},
		"credits of no subscription": {
			"SUBSCRIPTION_NOT_FOUND", expect.Error(app.GrantCredits(t.Context(), owner, stray, 1, "")),
		},
		"credits of another tenant": {
			"SUBSCRIPTION_NOT_FOUND", expect.Error(app.GrantCredits(t.Context(), there.Owner, sub.ID, 1, "")),
		},
		"the status of another tenant's": {
			"SUBSCRIPTION_NOT_FOUND",
			expect.Error(app.SetSubscriptionStatus(t.Context(), there.Owner, sub.ID, credit.Paused, "")),
		},
		"an end for no subscription": {"SUBSCRIPTION_NOT_FOUND", endAt(owner, stray, time.Hour)},
		"an end in another tenant":   {"SUBSCRIPTION_NOT_FOUND", endAt(there.Owner, sub.ID, time.Hour)},
		"an end in the past":         {"INVALID_FIELD @subscription.end_time", endAt(owner, sub.ID, -time.Hour)},
		"a subscription of another tenant": {
			"SUBSCRIPTION_NOT_FOUND", expect.Error(app.GetSubscription(t.Context(), there.Owner, sub.ID)),
		},
		"a subscription of another member": {
			"SUBSCRIPTION_NOT_FOUND", expect.Error(app.GetSubscription(t.Context(), testkit.SelfOnly(ben), sub.ID)),
		},
		"a ledger of another tenant": {
			"SUBSCRIPTION_NOT_FOUND",
			expect.Error(app.ListCreditLines(t.Context(), there.Owner, sub.ID, accounts.LineQuery{Limit: 9})),
		},
		"a ledger of another member": {
			"SUBSCRIPTION_NOT_FOUND",
			expect.Error(app.ListCreditLines(t.Context(), testkit.SelfOnly(ben), sub.ID, accounts.LineQuery{Limit: 9})),
		},
		"a balance of another member": {
			"MEMBER_NOT_FOUND", expect.Error(app.GetBalance(t.Context(), testkit.SelfOnly(ben), ana.Member, allStatuses)),
		},
		"a balance in another tenant": {
			"MEMBER_NOT_FOUND", expect.Error(app.GetBalance(t.Context(), there.Owner, ana.Member, allStatuses)),
		},
	} {
		expect.Fault(t, tt.want, name)(tt.err)
	}
}

// Nobody but owners starts, resumes or tops up a plan of their own.
func TestSubscriptions_OfOnesOwnAreForOthers(t *testing.T) {
	t.Parallel()
	studio, ctx := testkit.New(t), t.Context()
	app, admin := studio.App.Accounts, studio.AddPerson("Ada", tenant.RoleAdmin)
	pack := studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 4})
	for _, c := range []struct {
		by, of tenant.Caller
		want   fault.Reason
	}{
		{admin, admin, fault.PermissionDeniedReason}, {admin, studio.AddMember("Mia"), ""}, {studio.Owner, studio.Owner, ""},
	} {
		sub := studio.Subscribe(c.of, pack)
		booked := expect.Value(studio.Book(
			c.of, studio.AddSession(testkit.Session{}), func(r *bookings.BookRequest) { r.Subscription = sub.ID },
		))(t).Booking
		for _, err := range []error{
			expect.Error(app.CreateSubscription(ctx, c.by, accounts.NewSubscription{Member: c.of.Member, Plan: pack.ID})),
			expect.Error(app.GrantCredits(ctx, c.by, sub.ID, 3, "")),
			expect.Error(app.UpdateSubscription(ctx, c.by, sub.ID, nil, endsAt(testkit.Noon.Add(time.Hour)), "")),
			expect.Error(app.SetSubscriptionStatus(ctx, c.by, sub.ID, credit.Paused, "")),
			expect.Error(app.RefundCredit(ctx, c.by, booked.ID, "")),
		} {
			test.EqOp(t, c.want, fault.ReasonOf(err), test.Sprintf("%v", err))
		}
	}
}
