package bookings_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestBook_TakesASeatAndACredit(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := studio.AddMember("Mia")
	pack := studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 10}))
	id := studio.MustBook(mia, studio.AddSession(testkit.Session{}))

	b := expect.Value(studio.App.Bookings.GetBooking(context.Background(), testkit.SelfOnly(mia), id))(t)
	test.EqOp(t, booking.Confirmed, b.Status, test.Sprintf("booking is %+v", b))
	test.EqOp(t, 1, b.Credits, test.Sprintf("booking is %+v", b))
	test.EqOp(t, pack.ID, b.Subscription, test.Sprintf("booking is %+v", b))
	test.EqOp(t, "Mia", b.MemberName, test.Sprintf("booking is %+v", b))
	test.EqOp(t, 1, b.Party, test.Sprintf("booking is %+v", b))
	test.False(t, b.HasItems, test.Sprintf("booking is %+v", b))
	test.EqOp(t, 9, studio.Balance(pack), test.Sprint("balance"))
}

func TestBook_ReturnsEachReason(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := studio.AddMember("Mia")
	online := bookings.BookRequest{Party: 1, Channel: catalog.Online}
	ask := func(r bookings.BookRequest, session tenant.SessionID) bookings.BookRequest {
		r.Session = session
		return r
	}
	studio.SetPolicyOf(
		settings.PolicyTarget{Location: studio.Location}, func(p *catalog.PolicyLayer) {
			p.BookingClosesBefore = new(time.Hour)
		},
	)
	studio.EditLocation(
		studio.Location, func(l *catalog.Location) { l.Channels = []catalog.Channel{catalog.Online, catalog.WalkIn} },
	)
	deleted := studio.AddSession(testkit.Session{})
	studio.DeleteSession(deleted)

	for name, tt := range map[string]struct {
		as     tenant.Caller
		ask    bookings.BookRequest
		reason fault.Reason
		state  string
	}{
		"no such session": {mia, ask(online, testkit.NewID[tenant.SessionID]()), fault.SessionNotFound, ""},
		"deleted session": {mia, ask(online, deleted), fault.SessionNotFound, ""},
		"draft": {
			mia, ask(online, studio.AddSession(testkit.Session{State: catalog.Draft})), fault.SessionNotOpen, "draft",
		},
		"cancelled": {
			mia, ask(online, studio.AddSession(testkit.Session{State: catalog.Cancelled})), fault.SessionNotOpen, "cancelled",
		},
		"blocked": {
			mia, ask(online, studio.AddSession(testkit.Session{Blocked: true})), fault.SessionNotOpen, "blocked",
		},
		"started": {
			mia, ask(online, studio.AddSession(testkit.Session{Starts: testkit.Noon})), fault.SessionNotOpen, "started",
		},
		"closed an hour before": {
			mia, ask(online, studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(time.Hour)})), fault.SessionNotOpen,
			"closed",
		},
		"too far ahead": {
			mia, ask(online, studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(30*24*time.Hour + time.Second)})),
			fault.AdvanceWindow, "",
		},
		"channel off": {
			studio.Owner, ask(bookings.BookRequest{Party: 1, Channel: catalog.Phone}, studio.AddSession(testkit.Session{})),
			fault.ChannelClosed, "",
		},
		"walk-in by a member": {
			mia, ask(bookings.BookRequest{Party: 1, Channel: catalog.WalkIn}, studio.AddSession(testkit.Session{})),
			fault.PermissionDeniedReason, "",
		},
		"party too large": {
			mia, ask(bookings.BookRequest{Party: 5, Channel: catalog.Online}, studio.AddSession(testkit.Session{})),
			fault.PartySize,
			"",
		},
		"full without waitlist": {
			mia, ask(bookings.BookRequest{Party: 2, Channel: catalog.Online}, studio.AddSession(testkit.Session{Capacity: 1})),
			fault.SessionFull, "",
		},
		"full, rather not wait": {
			mia,
			ask(
				bookings.BookRequest{Party: 2, Channel: catalog.Online, RefuseFull: true},
				studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 3}),
			),
			fault.SessionFull, "",
		},
		"someone else's subscription": {
			mia,
			ask(
				bookings.BookRequest{Party: 1, Channel: catalog.Online, Subscription: testkit.NewID[tenant.SubscriptionID]()},
				studio.AddSession(testkit.Session{}),
			),
			fault.SubscriptionNotFound, "",
		},
		"no such member": {
			studio.Owner,
			ask(
				bookings.BookRequest{Party: 1, Channel: catalog.Online, Member: testkit.NewID[tenant.MemberID]()},
				studio.AddSession(testkit.Session{}),
			),
			fault.MemberNotFound, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.EqOp(t, tt.state,
				expect.Reason(t, tt.reason)(studio.App.Bookings.Book(t.Context(), tt.as, tt.ask)).Metadata["state"])
			test.EqOp(t, 0, studio.Count(`select count(*) from bookings where session_id = $1`, tt.ask.Session),
				test.Sprint("bookings were made"))
		})
	}
}

func TestBook_RejectsSecondBookingBySameMember(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia, noa := studio.AddMember("Mia"), studio.AddMember("Noa")
	class := studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 3})
	id := studio.MustBook(mia, class)

	twice := func(who tenant.Caller, class tenant.SessionID, change ...func(*bookings.BookRequest)) map[string]string {
		t.Helper()
		return expect.Reason(t, fault.AlreadyBooked)(studio.Book(who, class, change...)).Metadata
	}
	test.EqOp(t, id.String(), twice(mia, class)["booking_id"])
	test.EqOp(t, studio.MustWaitlist(noa, class).String(), twice(noa, class)["entry_id"])

	// A party that does not fit waits although a seat is open. A member with a booking cannot wait for another.
	two := studio.AddSession(testkit.Session{Capacity: 2, Waitlist: 3})
	id = studio.MustBook(mia, two)
	test.EqOp(t, id.String(), twice(mia, two, func(r *bookings.BookRequest) { r.Party = 2 })["booking_id"])

	// Nor does it matter that their last credit is gone.
	zoe := studio.AddMember("Zoe")
	studio.Subscribe(zoe, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 1}))
	roomy := studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(80 * time.Hour)})
	id = studio.MustBook(zoe, roomy)
	test.EqOp(t, id.String(), twice(zoe, roomy)["booking_id"])

	// On a plan that forbids overlaps, too.
	studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Unlimited}))
	open := studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(72 * time.Hour)})
	id = studio.MustBook(mia, open)
	test.EqOp(t, id.String(), twice(mia, open)["booking_id"])
}

// A cancelled booking does not prevent another.
func TestBook_AgainAfterCancelling(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia, class := studio.AddMember("Mia"), studio.AddSession(testkit.Session{})
	expect.OK(t)(studio.Cancel(mia, studio.MustBook(mia, class)))
	studio.MustBook(mia, class)
}

func TestBook_ChoosesThePayer(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	pack := studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 1})
	unlimited := studio.AddPlan(credit.Plan{Kind: credit.Unlimited})
	course := studio.AddPlan(credit.Plan{Kind: credit.Course})

	t.Run("none, and the tenant takes no payments: booked without accounting", func(t *testing.T) {
		t.Parallel()
		mia := studio.AddMember("Mia")
		b := expect.Value(studio.App.Bookings.GetBooking(
			context.Background(), testkit.SelfOnly(mia), studio.MustBook(mia, studio.AddSession(testkit.Session{})),
		))(t)
		test.True(t, b.Subscription.IsZero(), test.Sprintf("booking is %+v", b))
		test.EqOp(t, 0, b.Credits, test.Sprintf("booking is %+v", b))
	})
	t.Run("several: one must be named", func(t *testing.T) {
		t.Parallel()
		mia := studio.AddMember("Mia")
		one, two := studio.Subscribe(mia, pack), studio.Subscribe(mia, unlimited)
		class := studio.AddSession(testkit.Session{})
		got := expect.Reason(t, fault.PlanChoiceRequired)(studio.Book(mia, class)).Metadata["subscription_ids"]
		test.StrContains(t, got, one.ID.String(), test.Sprintf("subscription_ids %q", got))
		test.StrContains(t, got, two.ID.String(), test.Sprintf("subscription_ids %q", got))
		expect.OK(t)(studio.App.Bookings.Book(
			context.Background(), mia,
			bookings.BookRequest{Session: class, Party: 1, Channel: catalog.Online, Subscription: two.ID},
		))
		test.EqOp(t, 1, studio.Balance(one), test.Sprint("the other's balance"))
	})
	t.Run("unlimited moves no credits", func(t *testing.T) {
		t.Parallel()
		mia := studio.AddMember("Mia")
		s := studio.Subscribe(mia, unlimited)
		studio.MustBook(mia, studio.AddSession(testkit.Session{}))
		test.EqOp(t, 0, studio.Count(`select count(*) from credit_entries where subscription_id = $1`, s.ID),
			test.Sprint("ledger lines"))
	})
	t.Run("a course is never picked, nor taken when named", func(t *testing.T) {
		t.Parallel()
		mia := studio.AddMember("Mia")
		c, one := studio.Subscribe(mia, course), studio.Subscribe(mia, pack)
		studio.MustBook(mia, studio.AddSession(testkit.Session{}))
		test.EqOp(t, 0, studio.Balance(one), test.Sprint("the pack's balance is so something else paid"))
		expect.Reason(t, fault.NoActivePlan)(studio.App.Bookings.Book(context.Background(), mia, bookings.BookRequest{
			Session: studio.AddSession(testkit.Session{}), Party: 1, Channel: catalog.Online, Subscription: c.ID}))
	})
	t.Run("debt", func(t *testing.T) {
		t.Parallel()
		mia := studio.AddMember("Mia")
		expect.OK(t)(studio.App.Accounts.SetSubscriptionStatus(
			context.Background(), studio.Owner, studio.Subscribe(mia, unlimited).ID, credit.Debt, "unpaid",
		))
		expect.Reason(t, fault.OutstandingBalance)(studio.Book(mia, studio.AddSession(testkit.Session{})))
	})
	t.Run("no credits remaining", func(t *testing.T) {
		t.Parallel()
		mia := studio.AddMember("Mia")
		studio.Subscribe(mia, pack)
		studio.MustBook(mia, studio.AddSession(testkit.Session{}))
		expect.Reason(t, fault.NoCredits)(
			studio.Book(mia, studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(50 * time.Hour)})),
		)
	})
	t.Run("staff bypass credits", func(t *testing.T) {
		t.Parallel()
		mia := studio.AddMember("Mia")
		s := studio.Subscribe(mia, pack)
		expect.OK(t)(studio.App.Bookings.Book(context.Background(), studio.Coach, bookings.BookRequest{
			Session: studio.AddSession(testkit.Session{}), Member: mia.Member, Party: 1, Channel: catalog.Phone}))
		test.EqOp(t, 1, studio.Balance(s), test.Sprint("balance"))
	})
	t.Run("staff who name a subscription book on it", func(t *testing.T) {
		t.Parallel()
		mia := studio.AddMember("Mia")
		s := studio.Subscribe(mia, pack)
		expect.OK(t)(studio.App.Bookings.Book(context.Background(), studio.Coach, bookings.BookRequest{
			Session: studio.AddSession(testkit.Session{}), Member: mia.Member, Party: 1, Channel: catalog.Phone,
			Subscription: s.ID}))
		test.EqOp(t, 0, studio.Balance(s), test.Sprint("balance"))
	})
}

func TestBook_WithoutAPlanWhereTheTenantTakesPayments(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.TakePayments()
	mia := studio.AddMember("Mia")
	expect.Reason(t, fault.NoActivePlan)(studio.Book(mia, studio.AddSession(testkit.Session{})))

	paused := studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Unlimited}))
	expect.OK(t)(studio.App.Accounts.SetSubscriptionStatus(
		context.Background(), studio.Owner, paused.ID, credit.Paused, "",
	))
	expect.Reason(t, fault.NoActivePlan)(studio.Book(mia, studio.AddSession(testkit.Session{})))
}

func TestBook_QuotasCountLocalDaysAndWeeks(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	berlin, _ := time.LoadLocation("Europe/Berlin")
	at := func(day, hour, minute int) tenant.SessionID {
		return studio.AddSession(testkit.Session{Starts: time.Date(2026, 3, day, hour, minute, 0, 0, berlin), Minutes: 20})
	}
	t.Run("day", func(t *testing.T) {
		t.Parallel()
		mia := studio.AddMember("Mia")
		studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Unlimited, DailyLimit: new(2)}))
		studio.MustBook(mia, at(18, 0, 15)) // still the 17th in UTC
		second := studio.MustBook(mia, at(18, 23, 30))
		third := at(18, 12, 0)
		test.Eq(t, map[string]string{"limit": "2", "date": "2026-03-18"},
			expect.Reason(t, fault.DailyLimit)(studio.Book(mia, third)).Metadata)
		studio.MustBook(mia, at(19, 0, 15))
		expect.OK(t)(studio.Cancel(mia, second))
		studio.MustBook(mia, third)
	})
	t.Run("week", func(t *testing.T) {
		t.Parallel()
		mia := studio.AddMember("Mia")
		studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Unlimited, WeeklyLimit: new(2)}))
		studio.MustBook(mia, at(17, 10, 0)) // Tuesday
		studio.MustBook(mia, at(22, 23, 0)) // Sunday
		refused := expect.Reason(t, fault.WeeklyLimit)(studio.Book(mia, at(20, 10, 0)))
		test.Eq(t, map[string]string{"limit": "2", "week": "2026-03-16"}, refused.Metadata)
		studio.MustBook(mia, at(23, 0, 10)) // Monday, still Sunday in UTC
	})
	t.Run("a limit set later counts what is there", func(t *testing.T) {
		t.Parallel()
		mia, p := studio.AddMember("Mia"), studio.AddPlan(credit.Plan{Kind: credit.Unlimited})
		studio.Subscribe(mia, p)
		first := studio.MustBook(mia, at(18, 10, 0))
		expect.OK(t)(
			studio.App.Catalog.UpdatePlan(context.Background(), studio.Owner, p.ID, nil, func(p *credit.Plan) error {
				p.DailyLimit = new(1)
				return nil
			}),
		)
		again := at(18, 11, 0)
		expect.Reason(t, fault.DailyLimit)(studio.Book(mia, again))
		expect.OK(t)(studio.Cancel(mia, first))
		studio.MustBook(mia, again)
	})
}

func TestBook_RejectsOverlapUnlessThePlanAllowsIt(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	strict := studio.AddPlan(credit.Plan{Kind: credit.Unlimited})
	lax := studio.AddPlan(credit.Plan{Kind: credit.Unlimited, AllowOverlap: true})
	start := testkit.Noon.Add(48 * time.Hour)

	mia := studio.AddMember("Mia")
	studio.Subscribe(mia, strict)
	studio.MustBook(mia, studio.AddSession(testkit.Session{Starts: start}))
	expect.Reason(t, fault.Overlap)(
		studio.Book(mia, studio.AddSession(testkit.Session{Starts: start.Add(59 * time.Minute)})),
	)
	studio.MustBook(mia, studio.AddSession(testkit.Session{Starts: start.Add(time.Hour)})) // back to back is no overlap

	noa := studio.AddMember("Noa")
	studio.Subscribe(noa, lax)
	studio.MustBook(noa, studio.AddSession(testkit.Session{Starts: start}))
	studio.MustBook(noa, studio.AddSession(testkit.Session{Starts: start}))
}

func TestBook_HappensOncePerExternalReference(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetPromoting()
	mia, class := studio.AddMember("Mia"), studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 2})
	ask := bookings.BookRequest{Session: class, Party: 1, Channel: catalog.Online, ExternalRef: "order-1"}

	first := expect.Value(studio.App.Bookings.Book(t.Context(), mia, ask))(t)
	must.False(t, first.Repeated, must.Sprintf("%+v", first))
	again := expect.Value(studio.App.Bookings.Book(t.Context(), mia, ask))(t)
	must.True(t, again.Repeated, must.Sprintf("%+v", again))
	must.EqOp(t, first.Booking.ID, again.Booking.ID)
	other := ask
	other.Note = "by the window"
	expect.Reason(t, fault.ExternalRefConflict)(studio.App.Bookings.Book(t.Context(), mia, other))
	studio.MustBook(studio.AddMember("Noa"), studio.AddSession(testkit.Session{}))
	test.EqOp(t, 1, studio.Count(`select count(request_hash) from bookings`), test.Sprint("requests with a reference"))

	// The reference of an entry goes over to its booking.
	noa := studio.AddMember("Noa")
	wait := bookings.BookRequest{Session: class, Party: 1, Channel: catalog.Online, ExternalRef: "order-2"}
	waits := expect.Value(studio.App.Bookings.Book(t.Context(), noa, wait))(t)
	must.NotNil(t, waits.Entry, must.Sprintf("%+v", waits))
	again = expect.Value(studio.App.Bookings.Book(t.Context(), noa, wait))(t)
	must.True(t, again.Repeated, must.Sprintf("%+v", again))
	test.Eq(t, waits.Entry, again.Entry, test.Cmp(cmpopts.EquateEmpty()))
	expect.OK(t)(studio.Cancel(mia, first.Booking.ID))
	again = expect.Value(studio.App.Bookings.Book(t.Context(), noa, wait))(t)
	must.True(t, again.Repeated, must.Sprintf("%+v", again))
	must.NotNil(t, again.Booking)

	// In another tenant the same reference means something else.
	there := studio.OtherTenant()
	leo := there.AddMember("Leo")
	ask.Session = there.AddSession(testkit.Session{})
	result := expect.Value(there.App.Bookings.Book(t.Context(), leo, ask))(t)
	must.False(t, result.Repeated, must.Sprintf("%+v", result))
}

func TestBook_ConcurrentCallsWithOneReferenceBookOnce(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := studio.AddMember("Mia")
	ask := bookings.BookRequest{
		Session: studio.AddSession(testkit.Session{}), Party: 1, Channel: catalog.Online, ExternalRef: "order-1",
	}
	ids := make([]tenant.BookingID, 20)
	testkit.Parallel(len(ids), func(i int) {
		ids[i] = expect.Value(studio.App.Bookings.Book(t.Context(), mia, ask))(t).Booking.ID
	})
	for _, id := range ids {
		test.EqOp(t, ids[0], id, test.Sprintf("%s and %s", id, ids[0]))
	}
}

func TestBook_ConcurrentCallsTakeTheLastSeatOnce(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	const seats, people = 3, 60
	class := studio.AddSession(testkit.Session{Capacity: seats})
	members := make([]tenant.Caller, people)
	for i := range members {
		members[i] = studio.AddMember(fmt.Sprintf("Member %d", i))
	}
	errs := testkit.ParallelErrors(people, func(i int) error { return expect.Error(studio.Book(members[i], class)) })
	test.Eq(t, map[fault.Reason]int{"": seats, fault.SessionFull: people - seats}, testkit.CountReasons(errs))
}

// Book one's last credit in two sessions at the same moment.
func TestBook_ConcurrentCallsSpendTheLastCreditOnce(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := studio.AddMember("Mia")
	pack := studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 1, AllowOverlap: true}))
	classes := make([]tenant.SessionID, 10)
	for i := range classes {
		classes[i] = studio.AddSession(testkit.Session{})
	}
	errs := testkit.ParallelErrors(len(classes), func(i int) error { return expect.Error(studio.Book(mia, classes[i])) })
	test.Eq(t, map[fault.Reason]int{"": 1, fault.NoCredits: len(classes) - 1}, testkit.CountReasons(errs))
	test.EqOp(t, 0, studio.Balance(pack))
}
