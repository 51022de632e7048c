package waitlists_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/housekeeping"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// passing is a member who is passed over for some reason, and what ends that.
type passing struct {
	*testkit.Studio
	mia   tenant.Caller
	sub   credit.Subscription
	class tenant.SessionID
}

// setStatus sets the status of the subscription.
func (p passing) setStatus(to credit.Status) {
	expect.OK(p.T)(p.App.Accounts.SetSubscriptionStatus(context.Background(), p.Owner, p.sub.ID, to, ""))
}

// bookAt makes a booking of the member that starts before the session or after it.
func (p passing) bookAt(later time.Duration) tenant.BookingID {
	starts := p.GetSession(p.class).StartsAt.Add(later)
	return p.MustBook(p.mia, p.AddSession(testkit.Session{Starts: starts, Capacity: 3}))
}

// Each reason that can go, and how it goes.
var passedOver = map[string]struct {
	plan   credit.Plan
	reason fault.Reason
	spoil  func(passing) (repair func())
}{
	"credits are granted": {credit.Plan{Kind: credit.Credits, Credits: 1}, fault.NoCredits, func(p passing) func() {
		p.bookAt(20 * time.Hour)
		return func() {
			_, _, err := p.App.Accounts.GrantCredits(context.Background(), p.Owner, p.sub.ID, 1, "")
			must.NoError(p.T, err)
		}
	}},
	"a credit is refunded": {credit.Plan{Kind: credit.Credits, Credits: 1}, fault.NoCredits, func(p passing) func() {
		b := p.bookAt(20 * time.Hour)
		return func() {
			_, _, err := p.App.Accounts.RefundCredit(context.Background(), p.Owner, b, "")
			must.NoError(p.T, err)
		}
	}},
	"a cancellation returns a credit": {
		credit.Plan{Kind: credit.Credits, Credits: 1}, fault.NoCredits, func(p passing) func() {
			b := p.bookAt(20 * time.Hour)
			return func() { p.MustCancel(p.mia, b) }
		},
	},
	"credits are renewed": {
		credit.Plan{Kind: credit.Credits, Credits: 1, Period: new(30 * time.Hour)}, fault.NoCredits,
		func(p passing) func() {
			p.bookAt(20 * time.Hour)
			return func() { p.Clock.Set(testkit.Noon.Add(30 * time.Hour)) }
		},
	},
	"a plan is sold": {credit.Plan{Kind: credit.Unlimited}, fault.NoActivePlan, func(p passing) func() {
		p.TakePayments()
		p.setStatus(credit.Cancelled)
		return func() { p.Subscribe(p.mia, p.AddPlan(credit.Plan{Name: "New", Kind: credit.Unlimited})) }
	}},
	"a plan is resumed": {credit.Plan{Kind: credit.Unlimited}, fault.NoActivePlan, func(p passing) func() {
		p.TakePayments()
		p.setStatus(credit.Paused)
		return func() { p.setStatus(credit.Active) }
	}},
	"a plan is out of debt": {credit.Plan{Kind: credit.Unlimited}, fault.OutstandingBalance, func(p passing) func() {
		p.setStatus(credit.Debt)
		return func() { p.setStatus(credit.Active) }
	}},
	"one of two plans ends": {credit.Plan{Kind: credit.Unlimited}, fault.PlanChoiceRequired, func(p passing) func() {
		p.Subscribe(p.mia, p.AddPlan(credit.Plan{Name: "Other", Kind: credit.Unlimited}))
		return func() { p.setStatus(credit.Cancelled) }
	}},
	"the member is reactivated": {credit.Plan{Kind: credit.Unlimited}, fault.MemberNotFound, func(p passing) func() {
		expect.OK(p.T)(p.App.Accounts.DeactivateMember(context.Background(), p.Owner, p.mia.Member))
		return func() { expect.OK(p.T)(p.App.Accounts.ReactivateMember(context.Background(), p.Owner, p.mia.Member)) }
	}},
	"an overlapping booking is cancelled": {credit.Plan{Kind: credit.Unlimited}, fault.Overlap, func(p passing) func() {
		b := p.bookAt(0)
		return func() { p.MustCancel(p.mia, b) }
	}},
	"an overlapping booking is moved": {credit.Plan{Kind: credit.Unlimited}, fault.Overlap, func(p passing) func() {
		b := p.bookAt(0)
		to := p.AddSession(testkit.Session{Starts: p.GetSession(p.class).StartsAt.Add(20 * time.Hour), Capacity: 1})
		return func() { expect.OK(p.T)(p.Reschedule(testkit.SelfOnly(p.mia), b, to)) }
	}},
	"an overlapping session is cancelled": {credit.Plan{Kind: credit.Unlimited}, fault.Overlap, func(p passing) func() {
		other := p.AddSession(testkit.Session{Starts: p.GetSession(p.class).StartsAt, Capacity: 1})
		p.MustBook(p.mia, other)
		return func() { p.CancelSession(other) }
	}},
	"a booking of the day is cancelled": {
		credit.Plan{Kind: credit.Unlimited, DailyLimit: new(1)}, fault.DailyLimit, func(p passing) func() {
			b := p.bookAt(4 * time.Hour)
			return func() { p.MustCancel(p.mia, b) }
		},
	},
	"a booking of the week is cancelled": {
		credit.Plan{Kind: credit.Unlimited, WeeklyLimit: new(1)}, fault.WeeklyLimit, func(p passing) func() {
			b := p.bookAt(20 * time.Hour)
			return func() { p.MustCancel(p.mia, b) }
		},
	},
}

// passOver runs a test for each of these, with a seat that its member did not get and that is open.
func passOver(t *testing.T, run func(p passing, entry tenant.EntryID, repair func())) {
	t.Helper()
	for name, tt := range passedOver {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := passing{Studio: testkit.New(t)}
			var who []tenant.Caller
			var booked []tenant.BookingID
			p.class, who, booked = p.AddFullSession(1)
			p.mia = p.AddMember("Mia")
			tt.plan.Name = "Plan"
			p.sub = p.Subscribe(p.mia, p.AddPlan(tt.plan))
			entry := p.MustJoin(p.mia, testkit.ForSessions(p.class)).ID
			repair := tt.spoil(p)
			p.MustCancel(who[0], booked[0])
			test.EqOp(t, waitlist.VerdictReason(tt.reason), p.Entry(entry).PassedOver)
			run(p, entry, repair)
			p.WantSound()
		})
	}
}

// An entry that was passed over gets its offer once the reason is gone.
func TestRecheck_OffersOnceTheReasonIsGone(t *testing.T) {
	t.Parallel()
	passOver(t, func(p passing, entry tenant.EntryID, repair func()) {
		must.NoError(p.T, p.App.Housekeeping.FillDue(context.Background(), p.Tenant))
		test.EqOp(p.T, 1, len(p.Decisions(p.class)), test.Sprint("nothing has changed"))
		p.Tick()
		repair()
		must.NoError(p.T, p.App.Housekeeping.FillDue(context.Background(), p.Tenant))
		p.WantEntries(map[tenant.EntryID]waitlist.Status{entry: waitlist.Offered})
		test.EqOp(p.T, waitlist.ByRecheck, p.LastDecision(p.class).Case.Trigger)
		test.EqOp(p.T, 0, p.Count(`select count(*) from members where recheck_at is not null`))
	})
}

// Where the node ends before it has looked, a sweep does.
func TestSweep_RechecksOnceTheReasonIsGone(t *testing.T) {
	t.Parallel()
	passOver(t, func(p passing, entry tenant.EntryID, repair func()) {
		p.Tick()
		repair()
		for range p.Sweep().Renewed { // its alarm would be next
			test.EqOp(p.T, housekeeping.SweepResult{}, p.Sweep(), test.Sprint("that is no defect"))
		}
		p.WantEntries(map[tenant.EntryID]waitlist.Status{entry: waitlist.Offered})
	})
}

// The node on which the reason goes gives the seat within five seconds, also when credits are renewed.
func TestRecheck_TakesSeconds(t *testing.T) {
	t.Parallel()
	passOver(t, func(p passing, entry tenant.EntryID, repair func()) {
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan struct{})
		p.Sweep() // when the node starts
		go func() {
			defer close(done)
			p.App.Housekeeping.RunAlarms(ctx, slog.New(slog.DiscardHandler))
		}()
		repair()
		p.Clock.Set(p.Clock.Now().Add(4 * time.Second))
		testkit.Eventually(p.T, "the node fills the seat", func() bool {
			return p.Count(`select count(*) from waitlist_offers where entry_id = $1`, entry) > 0
		})
		stop()
		<-done
	})
}

// A recheck goes on with the round: who had their turn is not asked again, and who gave the seat up does not get it.
func TestRecheck_IsInTheSameRound(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class, who, booked := studio.AddFullSession(1)
	first, mia := studio.AddMember("First"), studio.AddMember("Mia")
	sub := studio.Subscribe(mia, studio.AddPlan(credit.Plan{Name: "Pack", Kind: credit.Credits, Credits: 1}))
	asked := studio.MustJoin(first, testkit.ForSessions(class)).ID
	entry := studio.MustJoin(mia, testkit.ForSessions(class)).ID
	studio.MustBook(mia, studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(90 * time.Hour)}))
	studio.MustCancel(who[0], booked[0])
	o := studio.LiveOffer(asked)
	expect.OK(t)(studio.Decline(first, o, false))
	test.EqOp(t, waitlist.VerdictReason(fault.NoCredits), studio.Entry(entry).PassedOver)
	_, _, err := studio.App.Accounts.GrantCredits(t.Context(), studio.Owner, sub.ID, 1, "")
	must.NoError(t, err)
	must.NoError(t, studio.App.Housekeeping.FillDue(t.Context(), studio.Tenant))
	studio.WantEntries(map[tenant.EntryID]waitlist.Status{asked: waitlist.Waiting, entry: waitlist.Offered})
	test.EqOp(t, o.Round, studio.LiveOffer(entry).Round)
	test.EqOp(t, waitlist.AlreadyOffered, studio.Entry(asked).PassedOver)
	studio.WantSound()
}

// Only members who wait are marked, and a mark that is set while the seats are filled stays.
func TestRecheck_MarksWhoWaits(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.Subscribe(studio.AddMember("Noa"), studio.AddPlan(credit.Plan{Name: "Plan", Kind: credit.Unlimited}))
	marks := func() int { return studio.Count(`select count(*) from members where recheck_at is not null`) }
	test.EqOp(t, 0, marks())
	class, _, _ := studio.AddFullSession(1)
	mia := studio.AddMember("Mia")
	studio.MustJoin(mia, testkit.ForSessions(class))
	studio.Subscribe(mia, studio.AddPlan(credit.Plan{Name: "Other", Kind: credit.Unlimited}))
	test.EqOp(t, 1, marks())
}
