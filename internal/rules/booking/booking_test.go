package booking_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

var now = time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)

func id[I ~struct{ tenant.UUID }]() I { return tenant.New[I](now) }

// openSlot returns a session that takes bookings.
func openSlot() booking.Slot {
	return booking.Slot{
		ID: id[tenant.SessionID](), StartsAt: now.Add(48 * time.Hour), EndsAt: now.Add(49 * time.Hour),
		LocalDate: civiltest.Date("2026-03-18"), Capacity: new(10), WaitlistCapacity: 5,
		State: catalog.Published, MinParty: 1, MaxParty: 4, Channels: catalog.Channels(), Rules: catalog.Defaults(),
	}
}

func onePerson() booking.Request {
	return booking.Request{ID: id[tenant.BookingID](), Party: 1, Channel: catalog.Online, Actor: "mia"}
}

// Rows and events have these values, also those that were written years ago.
func TestValues_StayAsTheyAreStored(t *testing.T) {
	t.Parallel()
	test.Eq(t, []booking.Status{"PENDING", "CONFIRMED", "ATTENDED", "NO_SHOW", "CANCELLED", "EXPIRED"}, []booking.Status{
		booking.Pending, booking.Confirmed, booking.Attended, booking.NoShow, booking.Cancelled, booking.Expired,
	})
	test.Eq(t, []booking.ItemStatus{"PENDING", "CONFIRMED", "CANCELLED"},
		[]booking.ItemStatus{booking.ItemPending, booking.ItemConfirmed, booking.ItemCancelled})
	test.Eq(t, []booking.Availability{"AVAILABLE", "HELD", "BOOKED", "BLOCKED"},
		[]booking.Availability{booking.Available, booking.Held, booking.Taken, booking.OffSale})
	test.Eq(t, []booking.EligibilityStatus{"ELIGIBLE", "WAITLIST", "BLOCKED", "BOOKED", "WAITLISTED"},
		[]booking.EligibilityStatus{
			booking.Eligible, booking.Waitlist, booking.Blocked, booking.Booked, booking.Waitlisted,
		})
}

func TestDecide_ReturnsFirstErrorInOrder(t *testing.T) {
	t.Parallel()
	f := booking.Facts{Slot: openSlot(), Booking: id[tenant.BookingID]()}
	f.Slot.State, f.Slot.TakesPayments, f.Slot.SeatsTaken, f.Slot.WaitlistCapacity = catalog.Draft, true, 10, 0
	f.Slot.StartsAt = now.Add(60 * 24 * time.Hour)
	f.Slot.EndsAt = f.Slot.StartsAt.Add(time.Hour)
	f.Slot.Channels = nil
	c := onePerson()
	c.Party = 9
	s := credit.Subscription{
		ID: id[tenant.SubscriptionID](), Status: credit.Debt, UsedToday: 1, UsedThisWeek: 2,
		Plan: credit.Plan{Kind: credit.Credits, DailyLimit: new(1), WeeklyLimit: new(2)},
	}
	steps := []struct {
		want fault.Reason
		fix  func()
	}{
		{fault.SessionNotOpen, func() { f.Slot.State = catalog.Published }},
		{fault.AdvanceWindow, func() {
			f.Slot.StartsAt, f.Slot.EndsAt = now.Add(time.Hour), now.Add(2*time.Hour)
		}},
		{fault.ChannelClosed, func() { f.Slot.Channels = catalog.Channels() }},
		{fault.PartySize, func() { c.Party = 1 }},
		{fault.AlreadyBooked, func() { f.Booking = tenant.BookingID{} }},
		{fault.NoActivePlan, func() { f.Subscriptions = []credit.Subscription{s} }},
		{fault.OutstandingBalance, func() { f.Subscriptions[0].Status = credit.Active }},
		{fault.DailyLimit, func() { f.Subscriptions[0].UsedToday = 0 }},
		{fault.WeeklyLimit, func() { f.Subscriptions[0].UsedThisWeek = 0 }},
		{fault.Overlap, func() { f.Busy = nil }},
		{fault.NoCredits, func() { f.Subscriptions[0].Balance = 1 }},
		{fault.SessionFull, func() { f.Slot.SeatsTaken = 9 }},
		{"", func() {}},
	}
	f.Busy = []civil.Span{{Start: now, End: now.Add(90 * time.Minute)}}
	for _, step := range steps {
		_, err := booking.Decide(f, c, now)
		must.EqOp(t, step.want, fault.ReasonOf(err), must.Sprintf("want %q (%v)", step.want, err))
		step.fix()
	}
}

// Decide confirms exactly if the party fits, and adds to the waitlist exactly if it does not fit and the waitlist has
// room. It never takes credits without a booking.
func TestDecide_BooksIfPartyFitsElseWaitsIfRoom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := openSlot()
		s.Capacity = nil
		if rapid.Bool().Draw(t, "limited") {
			s.Capacity = new(rapid.IntRange(0, 6).Draw(t, "capacity"))
			s.SeatsTaken = rapid.IntRange(0, *s.Capacity).Draw(t, "taken")
		}
		s.WaitlistCapacity = rapid.IntRange(0, 3).Draw(t, "room")
		s.Waiting = rapid.IntRange(0, s.WaitlistCapacity).Draw(t, "waiting")
		s.Rules.WaitlistEnabled = rapid.Bool().Draw(t, "enabled")
		c := onePerson()
		c.Party = rapid.IntRange(1, 4).Draw(t, "party")
		c.Staff = rapid.Bool().Draw(t, "staff")
		c.NoWaitlist = rapid.Bool().Draw(t, "noWaitlist")
		pack := credit.Subscription{
			ID: id[tenant.SubscriptionID](), Status: credit.Active, Balance: rapid.IntRange(0, 5).Draw(t, "balance"),
			Plan: credit.Plan{Kind: credit.Credits, Credits: 5},
		}
		before := pack.Balance

		plan, err := booking.Decide(booking.Facts{Slot: s, Subscriptions: []credit.Subscription{pack}}, c, now)

		fits := s.Capacity == nil || s.SeatsTaken+c.Party <= *s.Capacity
		room := s.Rules.WaitlistEnabled && s.Waiting < s.WaitlistCapacity && !c.NoWaitlist
		paid := c.Staff || before >= c.Party
		switch {
		case !paid:
			must.EqOp(t, fault.NoCredits, fault.ReasonOf(err), must.Sprintf("%v, want NO_CREDITS", err))
		case fits:
			must.True(t, err == nil && !plan.Wait, must.Sprintf("%+v, %v: want a booking", plan, err))
			must.False(
				t, !c.Staff && (plan.Payer.Balance != before-c.Party || plan.Credits != c.Party || len(plan.Ledger) != 1),
				must.Sprintf("%+v from a balance of %d", plan, before),
			)
			must.False(t, c.Staff && (plan.Payer != nil || plan.Credits != 0), must.Sprintf("staff paid: %+v", plan))
		case room:
			must.True(
				t, err == nil && plan.Wait && plan.Credits == 0 && len(plan.Ledger) == 0,
				must.Sprintf("%+v, %v: want a waitlist entry, without credits", plan, err),
			)
		default:
			must.EqOp(t, fault.SessionFull, fault.ReasonOf(err), must.Sprintf("%v, want SESSION_FULL", err))
		}
		must.EqOp(t, before, pack.Balance, must.Sprint("Decide changed its facts"))
	})
}

func TestDecide_RenewsEndedPeriodBeforeCharging(t *testing.T) {
	t.Parallel()
	s := credit.Subscription{
		ID: id[tenant.SubscriptionID](), Status: credit.Active, Balance: 2, PeriodEndsAt: new(now.Add(-time.Hour)),
		Plan: credit.Plan{Kind: credit.Credits, Credits: 8, Period: new(30 * 24 * time.Hour)},
	}
	facts := booking.Facts{Slot: openSlot(), Subscriptions: []credit.Subscription{s}}
	plan := expect.Value(booking.Decide(facts, onePerson(), now))(t)
	var kinds []credit.EntryKind
	for _, l := range plan.Ledger {
		kinds = append(kinds, l.Kind)
	}
	want := []credit.EntryKind{credit.Expiry, credit.Period, credit.Booking}
	test.True(
		t, plan.Payer.Balance == 7 && slices.Equal(kinds, want),
		test.Sprintf("balance %d with %v", plan.Payer.Balance, kinds),
	)
}

func TestEligibilityOf_PredictsDecide(t *testing.T) {
	t.Parallel()
	booked, entry := id[tenant.BookingID](), id[tenant.EntryID]()
	full := openSlot()
	full.SeatsTaken = 10
	draft := openSlot()
	draft.State = catalog.Draft
	pairs := openSlot()
	pairs.MinParty, pairs.SeatsTaken, pairs.WaitlistCapacity = 2, 9, 0
	for name, tt := range map[string]struct {
		facts  booking.Facts
		want   booking.EligibilityStatus
		reason fault.Reason
	}{
		"open":                      {booking.Facts{Slot: openSlot()}, booking.Eligible, ""},
		"full":                      {booking.Facts{Slot: full}, booking.Waitlist, ""},
		"draft":                     {booking.Facts{Slot: draft}, booking.Blocked, fault.SessionNotOpen},
		"booked":                    {booking.Facts{Slot: full, Booking: booked}, booking.Booked, ""},
		"waits":                     {booking.Facts{Slot: full, Entry: entry}, booking.Waitlisted, ""},
		"one seat left, pairs only": {booking.Facts{Slot: pairs}, booking.Blocked, fault.SessionFull},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := onePerson()
			c.Party = 0
			got := booking.EligibilityOf(tt.facts, c, now)
			must.EqOp(t, tt.want, got.Status, must.Sprintf("%+v, want", got))
			test.False(
				t, tt.reason != "" && got.Refusal.Reason != tt.reason, test.Sprintf("%v, want %s", got.Refusal, tt.reason),
			)
		})
	}
}

// Cancelling undoes booking: it returns all credits and seats that were taken, unless it is late.
func TestCancel_ReturnsWhatBookingTookUnlessLate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := openSlot()
		c := onePerson()
		c.Party = rapid.IntRange(1, 4).Draw(t, "party")
		pack := credit.Subscription{
			ID: id[tenant.SubscriptionID](), Status: credit.Active, Balance: 5,
			Plan: credit.Plan{Kind: credit.Credits, Credits: 5, DailyLimit: new(3)},
		}
		plan := expect.Value(booking.Decide(booking.Facts{Slot: s, Subscriptions: []credit.Subscription{pack}}, c, now))(t)
		b := booking.Booking{
			ID: c.ID, Party: c.Party, Status: booking.Confirmed, Credits: plan.Credits, Counted: plan.Counted,
			StartsAt: s.StartsAt, EndsAt: s.EndsAt, Rules: s.Rules,
		}
		b.Rules.AllowLateCancellation = rapid.Bool().Draw(t, "lateAllowed")
		admin := rapid.Bool().Draw(t, "admin")
		gone := rapid.Bool().Draw(t, "gone")
		at := now.Add(time.Duration(rapid.IntRange(0, 72).Draw(t, "hours")) * time.Hour)

		got, err := booking.Cancel(b, plan.Payer, booking.CancelRequest{Actor: "mia", Admin: admin, SessionGone: gone}, at)

		late := at.After(s.StartsAt.Add(-24*time.Hour)) && !gone
		if late && !admin && (!b.Rules.AllowLateCancellation || !at.Before(s.EndsAt)) {
			must.Error(t, err, must.Sprint("a late cancellation was accepted"))
			return
		}
		must.NoError(t, err)
		must.True(
			t, got.SeatsFreed == c.Party && got.ReleasesQuota && got.Late == late && got.Refunded != late,
			must.Sprintf("%+v, late %t", got, late),
		)
		want := 5
		must.False(t, !late && plan.Payer.Balance != want, must.Sprintf("balance %d, want %d", plan.Payer.Balance, want))
		again := expect.Value(booking.Cancel(got.Booking, plan.Payer, booking.CancelRequest{Admin: true}, at))(t)
		must.True(t, again.Unchanged && again.SeatsFreed == 0 && len(again.Ledger) == 0, must.Sprintf("again: %+v", again))
	})
}

func TestNoShow_IsMarkedAfterTheStartAndUndoneIfThePartyFits(t *testing.T) {
	t.Parallel()
	const free, full = 1, 0
	for name, tt := range map[string]struct {
		status       booking.Status
		at           time.Duration // after the start
		open         int
		marked, back string // errors
	}{
		"before the start":    {booking.Confirmed, -1, full, "SESSION_NOT_OPEN state=not_started", ""},
		"at the start":        {booking.Confirmed, 0, full, "", ""},
		"a no-show":           {booking.NoShow, -1, free, "", ""},
		"a no-show, now full": {booking.NoShow, 0, full, "", "SESSION_FULL"},
		"a hold":              {booking.Pending, 0, free, "BOOKING_STATE status=PENDING", "BOOKING_STATE status=PENDING"},
		"one that has attended": {
			booking.Attended, 0, free, "BOOKING_STATE status=ATTENDED", "BOOKING_STATE status=ATTENDED",
		},
		"one that was cancelled": {
			booking.Cancelled, 0, free, "BOOKING_STATE status=CANCELLED", "BOOKING_STATE status=CANCELLED",
		},
		"one that has expired": {booking.Expired, 0, free, "BOOKING_STATE status=EXPIRED", "BOOKING_STATE status=EXPIRED"},
	} {
		b := booking.Booking{Party: 1, Status: tt.status, StartsAt: now}
		check := func(want string, to booking.Status, got booking.Booking, changed bool, err error) {
			test.EqOp(t, want, faulttest.Text(err), test.Sprint(name))
			if want != "" {
				to = tt.status
			}
			test.EqOp(t, to, got.Status, test.Sprint(name))
			test.EqOp(t, to != tt.status, changed, test.Sprint(name))
		}
		got, changed, err := booking.MarkNoShow(b, now.Add(tt.at))
		check(tt.marked, booking.NoShow, got, changed, err)
		got, changed, err = booking.UndoNoShow(b, booking.Slot{Capacity: new(tt.open)})
		check(tt.back, booking.Confirmed, got, changed, err)
	}
}

// A refund after the end of the period counts in the new period, whether or not the renewal ran before.
func TestCancel_RefundAfterPeriodEndGoesToNewPeriod(t *testing.T) {
	t.Parallel()
	for _, renewed := range []bool{false, true} {
		payer := credit.Subscription{
			ID: id[tenant.SubscriptionID](), Status: credit.Active, Balance: 7, PeriodEndsAt: new(now.Add(-time.Hour)),
			Plan: credit.Plan{Kind: credit.Credits, Credits: 8, Period: new(30 * 24 * time.Hour)},
		}
		if renewed {
			payer, _ = credit.Advance(payer, now)
		}
		s := openSlot()
		b := booking.Booking{
			Party: 1, Status: booking.Confirmed, Credits: 1, StartsAt: s.StartsAt, EndsAt: s.EndsAt, Rules: s.Rules,
		}
		c := expect.Value(booking.Cancel(b, &payer, booking.CancelRequest{Actor: "mia"}, now))(t)
		test.EqOp(t, 9, c.Payer.Balance, test.Sprintf("renewed before %t: balance %d", renewed, c.Payer.Balance))
	}
}

func TestCancel_DependsOnTheStatus(t *testing.T) {
	t.Parallel()
	for status, tt := range map[booking.Status]struct {
		want, gone  string // gone: of the session
		freed, held int
	}{
		booking.Pending: {"", "", 2, 1}, booking.Confirmed: {"", "", 2, 0}, booking.Cancelled: {"", "", 0, 0},
		booking.Attended: {"BOOKING_STATE status=ATTENDED", "", 2, 0},
		booking.NoShow:   {"BOOKING_STATE status=NO_SHOW", "", 0, 0},
		booking.Expired:  {"BOOKING_STATE status=EXPIRED", "BOOKING_STATE status=EXPIRED", 0, 0},
	} {
		for gone, text := range map[bool]string{false: tt.want, true: tt.gone} {
			b := booking.Booking{Party: 2, Status: status, StartsAt: now.Add(48 * time.Hour), Rules: catalog.Defaults()}
			want := booking.CancelResult{Booking: b, Unchanged: true}
			if status != booking.Cancelled {
				want = booking.CancelResult{Booking: b, SessionGone: gone, SeatsFreed: tt.freed, HoldsEnded: tt.held}
				want.Booking.Status, want.Booking.CancelReason, want.Booking.CancelledAt = booking.Cancelled, "ill", &now
			}
			got, err := booking.Cancel(b, nil, booking.CancelRequest{SessionGone: gone, Reason: "ill"}, now)
			test.EqOp(t, text, faulttest.Text(err), test.Sprintf("%s, gone %v", status, gone))
			if err == nil {
				test.Eq(t, want, got, test.Sprintf("%s, gone %v", status, gone))
			}
		}
	}
}

// A policy that allows late cancellation allows it until the session is over. It costs the credits.
func TestCancel_IsPossibleUntilTheEndIfThePolicyAllowsIt(t *testing.T) {
	t.Parallel()
	b := booking.Booking{
		Party: 1, Status: booking.Confirmed, StartsAt: now.Add(-time.Hour), EndsAt: now, Rules: catalog.Defaults(),
	}
	b.Rules.AllowLateCancellation = true
	_, err := booking.Cancel(b, nil, booking.CancelRequest{}, now.Add(-1))
	test.NoError(t, err)
	_, err = booking.Cancel(b, nil, booking.CancelRequest{}, now)
	test.EqOp(t, "BOOKING_STATE status=CONFIRMED", faulttest.Text(err))
}

// The refund is one line of the payer's ledger. A booking without credits has none.
func TestCancel_RefundsWithOneLineForTheBooking(t *testing.T) {
	t.Parallel()
	b := booking.Booking{
		ID: id[tenant.BookingID](), Party: 1, Status: booking.Confirmed, StartsAt: now.Add(48 * time.Hour), Credits: 2,
	}
	payer := credit.Subscription{ID: id[tenant.SubscriptionID](), Balance: 4, Lines: 6}
	c := booking.CancelRequest{Actor: "mia", Reason: "ill"}
	got, err := booking.Cancel(b, &payer, c, now)
	test.NoError(t, err)
	test.Eq(t, []credit.Entry{{
		Subscription: payer.ID, Line: 7, Kind: credit.Refund, Amount: 2, Balance: 6, Booking: b.ID, Actor: "mia",
		Reason: "ill", At: now,
	}}, got.Ledger)
	b.Credits = 0
	got, err = booking.Cancel(b, &payer, c, now)
	test.NoError(t, err)
	test.True(t, got.Payer == nil && !got.Refunded && got.Ledger == nil)
}

// A cancellation before the deadline undoes items, quota and check-in. The payment stays: refunding is
// an act of its own.
func TestCancel_UndoesTheRestOfTheBooking(t *testing.T) {
	t.Parallel()
	made := func() booking.Booking {
		return booking.Booking{
			Party: 1, Status: booking.Confirmed, StartsAt: now.Add(24 * time.Hour), EndsAt: now.Add(25 * time.Hour),
			Rules: catalog.Defaults(), Credits: 1, Counted: true, CheckedInAt: &now, CheckInMethod: "QR",
			Items: []booking.ItemLine{{Status: booking.ItemConfirmed}, {Status: booking.ItemPending}},
		}
	}
	for _, before := range []payment.Status{payment.Unpaid, payment.Authorized, payment.Captured} {
		for _, late := range []bool{false, true} {
			b, payer := made(), &credit.Subscription{ID: id[tenant.SubscriptionID](), Balance: 4}
			b.Payment.Status = before
			at := b.CancellableUntil()
			if late {
				at = at.Add(1)
			}
			got := expect.Value(booking.Cancel(b, payer, booking.CancelRequest{Admin: true}, at))(t)
			test.True(
				t, got.Booking.Payment.Status == before && got.Late == late && got.Booking.LateCancelled == late &&
					got.Refunded != late && (late || got.Payer.Balance == 5 && got.Booking.Credits == 0) &&
					(!late || got.Payer == nil && got.Booking.Credits == 1),
				test.Sprintf("%s, late %v: %+v", before, late, got),
			)
			c := got.Booking
			test.True(
				t, !c.Counted && c.CheckedInAt == nil && c.CheckInMethod == "" && c.Items[0].Status == booking.ItemCancelled &&
					c.Items[1].Status == booking.ItemCancelled,
				test.Sprintf("%s, late %v: %+v", before, late, c),
			)
			_, err := booking.Cancel(b, nil, booking.CancelRequest{}, at)
			if late {
				test.EqOp(t, "CANCELLATION_WINDOW deadline=2026-03-16T12:00:00Z hours_before=24", faulttest.Text(err))
			}
		}
	}
}

func TestCancellableUntil_IsTheLaterOfWindowAndGrace(t *testing.T) {
	t.Parallel()
	b := booking.Booking{StartsAt: now.Add(48 * time.Hour), Rules: catalog.Defaults(), MemberTier: "gold"}
	b.Rules.Tiers = map[string]catalog.TierPolicy{"gold": {Cancellation: new(time.Hour)}}
	deadline := now.Add(47 * time.Hour)
	for grace, want := range map[time.Duration]time.Time{-1: deadline, 0: deadline, 1: deadline.Add(1)} {
		b.GraceUntil = new(deadline.Add(grace))
		got := b.CancellableUntil()
		test.True(t, got.Equal(want), test.Sprintf("grace %d: %s, want %s", grace, got, want))
	}
	if b.GraceUntil = nil; !b.CancellableUntil().Equal(deadline) {
		t.Error(b.CancellableUntil())
	}
}

func TestSnapshot_CompletesSlotsOfKnownPlaces(t *testing.T) {
	t.Parallel()
	in, plan := id[tenant.TenantID](), id[tenant.PlanID]()
	slot := booking.Slot{Location: id[tenant.LocationID](), Service: id[tenant.ServiceID](), Title: "Yoga"}
	point := &catalog.Point{Latitude: 52.5, Longitude: 13.4}
	s := &booking.Snapshot{
		TakesPayments: true,
		Locations: map[tenant.LocationID]booking.SnapshotLocation{
			slot.Location: {TimeZone: "Europe/Berlin", Point: point, Channels: []catalog.Channel{catalog.Phone}},
		},
		Services: map[tenant.ServiceID]booking.SnapshotService{
			slot.Service: {MinParty: 2, MaxParty: 3, Delivery: catalog.Feed},
		},
		Plans: map[tenant.PlanID]credit.Plan{plan: {}},
		Policies: map[tenant.UUID]*catalog.Layer{
			in.UUID: catalog.Policy{
				HoldTTL: new(time.Minute), Advance: new(time.Hour), BookingCloses: new(time.Minute),
			}.Layer(),
			slot.Location.UUID: catalog.Policy{Advance: new(2 * time.Hour), BookingCloses: new(2 * time.Minute)}.Layer(),
			slot.Service.UUID:  catalog.Policy{BookingCloses: new(3 * time.Minute)}.Layer(),
		},
	}
	want := slot
	want.TimeZone, want.Point, want.Channels = "Europe/Berlin", point, []catalog.Channel{catalog.Phone}
	want.MinParty, want.MaxParty, want.Delivery, want.TakesPayments = 2, 3, catalog.Feed, true
	want.Rules = catalog.Defaults()
	want.Rules.HoldTTL, want.Rules.Advance, want.Rules.BookingCloses = time.Minute, 2*time.Hour, 3*time.Minute
	got, known := s.Complete(slot, in)
	diff := cmp.Diff(want, got)
	test.True(t, diff == "" && known, test.Sprintf("known %v (-want +got):\n%s", known, diff))
	away, other := slot, slot
	away.Location, other.Service = id[tenant.LocationID](), id[tenant.ServiceID]()
	for name, slot := range map[string]booking.Slot{"location": away, "service": other} {
		_, known := s.Complete(slot, in)
		test.False(t, known, test.Sprintf("an unknown %s is known", name))
	}
	if _, known := (*booking.Snapshot)(nil).Complete(slot, in); known || (*booking.Snapshot)(nil).HasPlan(plan) {
		t.Error("no snapshot knows something")
	}
	test.True(t, s.HasPlan(plan) && !s.HasPlan(id[tenant.PlanID]()), test.Sprint("it has the wrong plans"))
}
