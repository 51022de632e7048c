package bookings_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

func TestBook_TakesASeatAndACredit(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia := h.AddMember("Mia")
	pack := h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 10}))
	class := h.AddSession(testkit.Session{})

	id := h.MustBook(mia, class)

	b, err := h.App.Bookings.GetBooking(context.Background(), testkit.SelfOnly(mia), id)
	if err != nil {
		t.Fatal(err)
	}
	if b.Status != booking.Confirmed || b.Credits != 1 || b.Subscription != pack.ID || b.MemberName != "Mia" ||
		b.Party != 1 {
		t.Errorf("booking is %+v", b)
	}
	if got := h.Balance(pack); got != 9 {
		t.Errorf("balance %d, want 9", got)
	}
	h.WantSound()
}

func TestBook_ReturnsEachReason(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia := h.AddMember("Mia")
	online := bookings.BookRequest{Party: 1, Channel: catalog.Online}
	ask := func(r bookings.BookRequest, session tenant.SessionID) bookings.BookRequest {
		r.Session = session
		return r
	}
	h.SetPolicyOf(
		settings.PolicyTarget{Location: h.Location}, func(p *catalog.Policy) { p.BookingCloses = new(time.Hour) },
	)
	h.EditLocation(
		h.Location, func(l *catalog.Location) { l.Channels = []catalog.Channel{catalog.Online, catalog.WalkIn} },
	)
	deleted := h.AddSession(testkit.Session{})
	h.DeleteSession(deleted)

	for name, tt := range map[string]struct {
		as     tenant.Caller
		ask    bookings.BookRequest
		reason fault.Reason
		state  string
	}{
		"no such session": {mia, ask(online, testkit.NewID[tenant.SessionID]()), fault.SessionNotFound, ""},
		"deleted session": {mia, ask(online, deleted), fault.SessionNotFound, ""},
		"draft": {
			mia, ask(online, h.AddSession(testkit.Session{State: catalog.Draft})), fault.SessionNotOpen, "draft",
		},
		"cancelled": {
			mia, ask(online, h.AddSession(testkit.Session{State: catalog.Cancelled})), fault.SessionNotOpen, "cancelled",
		},
		"blocked": {
			mia, ask(online, h.AddSession(testkit.Session{Blocked: true})), fault.SessionNotOpen, "blocked",
		},
		"started": {
			mia, ask(online, h.AddSession(testkit.Session{Starts: testkit.Noon})), fault.SessionNotOpen, "started",
		},
		"closed an hour before": {
			mia, ask(online, h.AddSession(testkit.Session{Starts: testkit.Noon.Add(time.Hour)})), fault.SessionNotOpen, "closed",
		},
		"too far ahead": {
			mia, ask(online, h.AddSession(testkit.Session{Starts: testkit.Noon.Add(30*24*time.Hour + time.Second)})),
			fault.AdvanceWindow, "",
		},
		"channel off": {
			h.Owner, ask(bookings.BookRequest{Party: 1, Channel: catalog.Phone}, h.AddSession(testkit.Session{})),
			fault.ChannelClosed, "",
		},
		"walk-in by a member": {
			mia, ask(bookings.BookRequest{Party: 1, Channel: catalog.WalkIn}, h.AddSession(testkit.Session{})),
			fault.ChannelClosed, "",
		},
		"party too large": {
			mia, ask(bookings.BookRequest{Party: 5, Channel: catalog.Online}, h.AddSession(testkit.Session{})), fault.PartySize,
			"",
		},
		"full without waitlist": {
			mia, ask(bookings.BookRequest{Party: 2, Channel: catalog.Online}, h.AddSession(testkit.Session{Capacity: 1})),
			fault.SessionFull, "",
		},
		"full, rather not wait": {
			mia,
			ask(
				bookings.BookRequest{Party: 2, Channel: catalog.Online, NoWaitlist: true},
				h.AddSession(testkit.Session{Capacity: 1, Waitlist: 3}),
			),
			fault.SessionFull, "",
		},
		"someone else's subscription": {
			mia,
			ask(
				bookings.BookRequest{Party: 1, Channel: catalog.Online, Subscription: testkit.NewID[tenant.SubscriptionID]()},
				h.AddSession(testkit.Session{}),
			),
			fault.SubscriptionNotFound, "",
		},
		"no such member": {
			h.Owner,
			ask(
				bookings.BookRequest{Party: 1, Channel: catalog.Online, Member: testkit.NewID[tenant.MemberID]()},
				h.AddSession(testkit.Session{}),
			),
			fault.MemberNotFound, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := h.App.Bookings.Book(context.Background(), tt.as, tt.ask)
			testkit.WantReason(t, err, tt.reason)
			if tt.state != "" && testkit.Meta(t, err, "state") != tt.state {
				t.Errorf("state %q, want %q", testkit.Meta(t, err, "state"), tt.state)
			}
			if n := h.Count(`select count(*) from bookings where session_id = $1`, tt.ask.Session); n != 0 {
				t.Errorf("%d bookings were made", n)
			}
		})
	}
}

func TestBook_RejectsSecondBookingBySameMember(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia, noa := h.AddMember("Mia"), h.AddMember("Noa")
	class := h.AddSession(testkit.Session{Capacity: 1, Waitlist: 3})
	id := h.MustBook(mia, class)

	_, err := h.Book(mia, class)
	testkit.WantReason(t, err, fault.AlreadyBooked)
	if got := testkit.Meta(t, err, "booking_id"); got != id.String() {
		t.Errorf("booking_id %q, want %s", got, id)
	}
	entry := h.MustWaitlist(noa, class)
	_, err = h.Book(noa, class)
	testkit.WantReason(t, err, fault.AlreadyBooked)
	if got := testkit.Meta(t, err, "entry_id"); got != entry.String() {
		t.Errorf("entry_id %q, want %s", got, entry)
	}

	// With a seat left, too, where a party does not fit: whoever has a place waits for no other.
	two := h.AddSession(testkit.Session{Capacity: 2, Waitlist: 3})
	id = h.MustBook(mia, two)
	_, err = h.App.Bookings.Book(
		context.Background(), mia, bookings.BookRequest{Session: two, Party: 2, Channel: catalog.Online},
	)
	testkit.WantReason(t, err, fault.AlreadyBooked)
	if got := testkit.Meta(t, err, "booking_id"); got != id.String() {
		t.Errorf("booking_id %q, want %s", got, id)
	}

	// Nor does it matter that their last credit is gone.
	zoe := h.AddMember("Zoe")
	h.Subscribe(zoe, h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 1}))
	roomy := h.AddSession(testkit.Session{Starts: testkit.Noon.Add(80 * time.Hour)})
	id = h.MustBook(zoe, roomy)
	_, err = h.Book(zoe, roomy)
	testkit.WantReason(t, err, fault.AlreadyBooked)
	if got := testkit.Meta(t, err, "booking_id"); got != id.String() {
		t.Errorf("booking_id %q, want %s", got, id)
	}

	// On a plan that forbids overlaps, too.
	h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Unlimited}))
	open := h.AddSession(testkit.Session{Starts: testkit.Noon.Add(72 * time.Hour)})
	id = h.MustBook(mia, open)
	_, err = h.Book(mia, open)
	testkit.WantReason(t, err, fault.AlreadyBooked)
	if got := testkit.Meta(t, err, "booking_id"); got != id.String() {
		t.Errorf("booking_id %q, want %s", got, id)
	}
	h.WantSound()
}

// A cancelled booking does not stand in the way of another.
func TestBook_AgainAfterCancelling(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia := h.AddMember("Mia")
	class := h.AddSession(testkit.Session{})
	if _, err := h.Cancel(mia, h.MustBook(mia, class)); err != nil {
		t.Fatal(err)
	}
	h.MustBook(mia, class)
	h.WantSound()
}

func TestBook_ChoosesThePayer(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	pack := h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 1})
	unlimited := h.AddPlan(credit.Plan{Kind: credit.Unlimited})
	course := h.AddPlan(credit.Plan{Kind: credit.Course})

	t.Run("none, and the tenant takes no payments: booked without accounting", func(t *testing.T) {
		t.Parallel()
		mia := h.AddMember("Mia")
		b, err := h.App.Bookings.GetBooking(
			context.Background(), testkit.SelfOnly(mia), h.MustBook(mia, h.AddSession(testkit.Session{})),
		)
		if err != nil || !b.Subscription.IsZero() || b.Credits != 0 {
			t.Errorf("booking is %+v (%v)", b, err)
		}
	})
	t.Run("several: one must be named", func(t *testing.T) {
		t.Parallel()
		mia := h.AddMember("Mia")
		one, two := h.Subscribe(mia, pack), h.Subscribe(mia, unlimited)
		class := h.AddSession(testkit.Session{})
		_, err := h.Book(mia, class)
		testkit.WantReason(t, err, fault.PlanChoiceRequired)
		if got := testkit.Meta(t, err, "subscription_ids"); !strings.Contains(got, one.ID.String()) ||
			!strings.Contains(got, two.ID.String()) {
			t.Errorf("subscription_ids %q", got)
		}
		if _, err := h.App.Bookings.Book(
			context.Background(), mia,
			bookings.BookRequest{Session: class, Party: 1, Channel: catalog.Online, Subscription: two.ID},
		); err != nil {
			t.Fatal(err)
		}
		if got := h.Balance(one); got != 1 {
			t.Errorf("the other's balance is %d", got)
		}
	})
	t.Run("unlimited moves no credits", func(t *testing.T) {
		t.Parallel()
		mia := h.AddMember("Mia")
		s := h.Subscribe(mia, unlimited)
		h.MustBook(mia, h.AddSession(testkit.Session{}))
		if n := h.Count(`select count(*) from credit_entries where subscription_id = $1`, s.ID); n != 0 {
			t.Errorf("%d ledger lines", n)
		}
	})
	t.Run("a course is never picked, nor taken when named", func(t *testing.T) {
		t.Parallel()
		mia := h.AddMember("Mia")
		c := h.Subscribe(mia, course)
		one := h.Subscribe(mia, pack)
		h.MustBook(mia, h.AddSession(testkit.Session{}))
		if got := h.Balance(one); got != 0 {
			t.Errorf("the pack's balance is %d, so something else paid", got)
		}
		_, err := h.App.Bookings.Book(context.Background(), mia, bookings.BookRequest{
			Session: h.AddSession(testkit.Session{}), Party: 1, Channel: catalog.Online, Subscription: c.ID})
		testkit.WantReason(t, err, fault.NoActivePlan)
	})
	t.Run("debt", func(t *testing.T) {
		t.Parallel()
		mia := h.AddMember("Mia")
		s := h.Subscribe(mia, unlimited)
		if _, err := h.App.Accounts.SetSubscriptionStatus(
			context.Background(), h.Owner, s.ID, credit.Debt, "unpaid",
		); err != nil {
			t.Fatal(err)
		}
		_, err := h.Book(mia, h.AddSession(testkit.Session{}))
		testkit.WantReason(t, err, fault.OutstandingBalance)
	})
	t.Run("no credits remaining", func(t *testing.T) {
		t.Parallel()
		mia := h.AddMember("Mia")
		h.Subscribe(mia, pack)
		h.MustBook(mia, h.AddSession(testkit.Session{}))
		_, err := h.Book(mia, h.AddSession(testkit.Session{Starts: testkit.Noon.Add(50 * time.Hour)}))
		testkit.WantReason(t, err, fault.NoCredits)
	})
	t.Run("staff bypass credits", func(t *testing.T) {
		t.Parallel()
		mia := h.AddMember("Mia")
		s := h.Subscribe(mia, pack)
		if _, err := h.App.Bookings.Book(context.Background(), h.Coach, bookings.BookRequest{
			Session: h.AddSession(testkit.Session{}), Member: mia.Member, Party: 1, Channel: catalog.Phone}); err != nil {
			t.Fatal(err)
		}
		if got := h.Balance(s); got != 1 {
			t.Errorf("balance %d, want 1", got)
		}
	})
	t.Run("staff who name a subscription book on it", func(t *testing.T) {
		t.Parallel()
		mia := h.AddMember("Mia")
		s := h.Subscribe(mia, pack)
		if _, err := h.App.Bookings.Book(context.Background(), h.Coach, bookings.BookRequest{
			Session: h.AddSession(testkit.Session{}), Member: mia.Member, Party: 1, Channel: catalog.Phone,
			Subscription: s.ID}); err != nil {
			t.Fatal(err)
		}
		if got := h.Balance(s); got != 0 {
			t.Errorf("balance %d, want 0", got)
		}
	})
}

func TestBook_WithoutAPlanWhereTheTenantTakesPayments(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.TakePayments()
	mia := h.AddMember("Mia")
	_, err := h.Book(mia, h.AddSession(testkit.Session{}))
	testkit.WantReason(t, err, fault.NoActivePlan)

	paused := h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Unlimited}))
	if _, err := h.App.Accounts.SetSubscriptionStatus(
		context.Background(), h.Owner, paused.ID, credit.Paused, "",
	); err != nil {
		t.Fatal(err)
	}
	_, err = h.Book(mia, h.AddSession(testkit.Session{}))
	testkit.WantReason(t, err, fault.NoActivePlan)
}

// Staff bypass credits and quotas, never capacity.
func TestBook_StaffDoNotBypassCapacity(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	class := h.AddSession(testkit.Session{Capacity: 1})
	h.MustBook(h.AddMember("Mia"), class)
	_, err := h.Book(h.Owner, class)
	testkit.WantReason(t, err, fault.SessionFull)
}

func TestBook_QuotasCountLocalDaysAndWeeks(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	berlin, _ := time.LoadLocation("Europe/Berlin")
	at := func(day, hour, minute int) tenant.SessionID {
		return h.AddSession(testkit.Session{Starts: time.Date(2026, 3, day, hour, minute, 0, 0, berlin), Minutes: 20})
	}
	t.Run("day", func(t *testing.T) {
		t.Parallel()
		mia := h.AddMember("Mia")
		h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Unlimited, DailyLimit: new(2)}))
		h.MustBook(mia, at(18, 0, 15)) // still the 17th in UTC
		second := h.MustBook(mia, at(18, 23, 30))
		third := at(18, 12, 0)
		_, err := h.Book(mia, third)
		testkit.WantReason(t, err, fault.DailyLimit)
		if testkit.Meta(t, err, "limit") != "2" || testkit.Meta(t, err, "date") != "2026-03-18" {
			t.Errorf("metadata of %v", err)
		}
		h.MustBook(mia, at(19, 0, 15))
		if _, err := h.Cancel(mia, second); err != nil {
			t.Fatal(err)
		}
		h.MustBook(mia, third)
	})
	t.Run("week", func(t *testing.T) {
		t.Parallel()
		mia := h.AddMember("Mia")
		h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Unlimited, WeeklyLimit: new(2)}))
		h.MustBook(mia, at(17, 10, 0)) // Tuesday
		h.MustBook(mia, at(22, 23, 0)) // Sunday
		_, err := h.Book(mia, at(20, 10, 0))
		testkit.WantReason(t, err, fault.WeeklyLimit)
		if testkit.Meta(t, err, "limit") != "2" || testkit.Meta(t, err, "week") != "2026-03-16" {
			t.Errorf("metadata of %v", err)
		}
		h.MustBook(mia, at(23, 0, 10)) // Monday, still Sunday in UTC
	})
	t.Run("a limit set later counts what is there", func(t *testing.T) {
		t.Parallel()
		mia := h.AddMember("Mia")
		p := h.AddPlan(credit.Plan{Kind: credit.Unlimited})
		h.Subscribe(mia, p)
		first := h.MustBook(mia, at(18, 10, 0))
		if _, err := h.App.Catalog.UpdatePlan(context.Background(), h.Owner, p.ID, nil, func(p *credit.Plan) error {
			p.DailyLimit = new(1)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		again := at(18, 11, 0)
		_, err := h.Book(mia, again)
		testkit.WantReason(t, err, fault.DailyLimit)
		if _, err := h.Cancel(mia, first); err != nil {
			t.Fatal(err)
		}
		h.MustBook(mia, again)
	})
	t.Cleanup(h.WantSound)
}

func TestBook_RejectsOverlapUnlessThePlanAllowsIt(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	strict := h.AddPlan(credit.Plan{Kind: credit.Unlimited})
	lax := h.AddPlan(credit.Plan{Kind: credit.Unlimited, AllowOverlap: true})
	start := testkit.Noon.Add(48 * time.Hour)

	mia := h.AddMember("Mia")
	h.Subscribe(mia, strict)
	h.MustBook(mia, h.AddSession(testkit.Session{Starts: start}))
	_, err := h.Book(mia, h.AddSession(testkit.Session{Starts: start.Add(59 * time.Minute)}))
	testkit.WantReason(t, err, fault.Overlap)
	h.MustBook(mia, h.AddSession(testkit.Session{Starts: start.Add(time.Hour)})) // back to back is no overlap

	noa := h.AddMember("Noa")
	h.Subscribe(noa, lax)
	h.MustBook(noa, h.AddSession(testkit.Session{Starts: start}))
	h.MustBook(noa, h.AddSession(testkit.Session{Starts: start}))
	h.WantSound()
}

func TestBook_HappensOncePerExternalReference(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia := h.AddMember("Mia")
	class := h.AddSession(testkit.Session{Capacity: 1, Waitlist: 2})
	ask := bookings.BookRequest{Session: class, Party: 1, Channel: catalog.Online, ExternalRef: "order-1"}
	ctx := context.Background()

	first, err := h.App.Bookings.Book(ctx, mia, ask)
	if err != nil || first.Repeated {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := h.App.Bookings.Book(ctx, mia, ask)
	if err != nil || !again.Repeated || again.Booking.ID != first.Booking.ID {
		t.Fatalf("%+v, %v", again, err)
	}
	other := ask
	other.Note = "by the window"
	_, err = h.App.Bookings.Book(ctx, mia, other)
	testkit.WantReason(t, err, fault.ExternalRefConflict)

	// The reference of an entry goes over to its booking.
	noa := h.AddMember("Noa")
	wait := bookings.BookRequest{Session: class, Party: 1, Channel: catalog.Online, ExternalRef: "order-2"}
	waits, err := h.App.Bookings.Book(ctx, noa, wait)
	if err != nil || waits.Entry == nil {
		t.Fatalf("%+v, %v", waits, err)
	}
	if again, err := h.App.Bookings.Book(ctx, noa, wait); err != nil || !again.Repeated ||
		again.Entry.ID != waits.Entry.ID {
		t.Fatalf("%+v, %v", again, err)
	}
	if _, err := h.Cancel(mia, first.Booking.ID); err != nil {
		t.Fatal(err)
	}
	if again, err := h.App.Bookings.Book(ctx, noa, wait); err != nil || !again.Repeated || again.Booking == nil {
		t.Fatalf("%+v, %v", again, err)
	}

	// In another tenant the same reference means something else.
	there := h.OtherTenant()
	leo := there.AddMember("Leo")
	ask.Session = there.AddSession(testkit.Session{})
	if place, err := there.App.Bookings.Book(ctx, leo, ask); err != nil || place.Repeated {
		t.Fatalf("%+v, %v", place, err)
	}
	h.WantSound()
}

func TestBook_ConcurrentCallsWithOneReferenceBookOnce(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia := h.AddMember("Mia")
	ask := bookings.BookRequest{
		Session: h.AddSession(testkit.Session{}), Party: 1, Channel: catalog.Online, ExternalRef: "order-1",
	}
	ids := make([]tenant.BookingID, 20)
	testkit.Parallel(len(ids), func(i int) {
		place, err := h.App.Bookings.Book(context.Background(), mia, ask)
		if err != nil {
			t.Errorf("%d: %v", i, err)
			return
		}
		ids[i] = place.Booking.ID
	})
	for _, id := range ids {
		if id != ids[0] {
			t.Errorf("%s and %s", id, ids[0])
		}
	}
	h.WantSound()
}

func TestBook_ConcurrentCallsTakeTheLastSeatOnce(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	const seats, people = 3, 60
	class := h.AddSession(testkit.Session{Capacity: seats})
	members := make([]tenant.Caller, people)
	for i := range members {
		members[i] = h.AddMember(fmt.Sprintf("Member %d", i))
	}
	outcomes := make([]string, people)
	testkit.Parallel(people, func(i int) {
		_, err := h.Book(members[i], class)
		outcomes[i] = string(fault.ReasonOf(err))
		if err != nil && outcomes[i] == "" {
			t.Errorf("%d: %v", i, err)
		}
	})
	got := strings.Count(strings.Join(outcomes, ",")+",", ",") - strings.Count(strings.Join(outcomes, " "), "SESSION_FULL")
	if got != seats {
		t.Errorf("%d of %d got one of %d seats: %v", got, people, seats, outcomes)
	}
	h.WantSound()
}

// Book one's last credit in two sessions at the same moment.
func TestBook_ConcurrentCallsSpendTheLastCreditOnce(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia := h.AddMember("Mia")
	pack := h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 1, AllowOverlap: true}))
	classes := make([]tenant.SessionID, 10)
	for i := range classes {
		classes[i] = h.AddSession(testkit.Session{})
	}
	booked := make([]bool, len(classes))
	testkit.Parallel(len(classes), func(i int) {
		_, err := h.Book(mia, classes[i])
		booked[i] = err == nil
		if err != nil {
			testkit.WantReason(t, err, fault.NoCredits)
		}
	})
	n := 0
	for _, b := range booked {
		if b {
			n++
		}
	}
	if n != 1 || h.Balance(pack) != 0 {
		t.Errorf("%d sessions booked with one credit, balance %d", n, h.Balance(pack))
	}
	h.WantSound()
}
