package booking_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

var now = time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)

func id[I ~struct{ tenant.UUID }]() I { return tenant.New[I](now) }

// openSlot returns a session that takes bookings.
func openSlot() booking.Slot {
	return booking.Slot{
		ID: id[tenant.SessionID](), StartsAt: now.Add(48 * time.Hour), EndsAt: now.Add(49 * time.Hour),
		LocalDate: civil.MustParseDate("2026-03-18"), Capacity: new(10), WaitlistCapacity: 5,
		State: catalog.Published, MinParty: 1, MaxParty: 4, Channels: catalog.Channels(), Rules: catalog.Defaults(),
	}
}

func onePerson() booking.Request {
	return booking.Request{ID: id[tenant.BookingID](), Party: 1, Channel: catalog.Online, Actor: "mia"}
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
		if got := fault.ReasonOf(err); got != step.want {
			t.Fatalf("%q, want %q (%v)", got, step.want, err)
		}
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
			if fault.ReasonOf(err) != fault.NoCredits {
				t.Fatalf("%v, want NO_CREDITS", err)
			}
		case fits:
			if err != nil || plan.Wait {
				t.Fatalf("%+v, %v: want a booking", plan, err)
			}
			if !c.Staff && (plan.Payer.Balance != before-c.Party || plan.Credits != c.Party || len(plan.Ledger) != 1) {
				t.Fatalf("%+v from a balance of %d", plan, before)
			}
			if c.Staff && (plan.Payer != nil || plan.Credits != 0) {
				t.Fatalf("staff paid: %+v", plan)
			}
		case room:
			if err != nil || !plan.Wait || plan.Credits != 0 || len(plan.Ledger) != 0 {
				t.Fatalf("%+v, %v: want a waitlist entry, without credits", plan, err)
			}
		default:
			if fault.ReasonOf(err) != fault.SessionFull {
				t.Fatalf("%v, want SESSION_FULL", err)
			}
		}
		if pack.Balance != before {
			t.Fatal("Decide changed its facts")
		}
	})
}

func TestDecide_RenewsEndedPeriodBeforeCharging(t *testing.T) {
	t.Parallel()
	s := credit.Subscription{
		ID: id[tenant.SubscriptionID](), Status: credit.Active, Balance: 2, PeriodEndsAt: new(now.Add(-time.Hour)),
		Plan: credit.Plan{Kind: credit.Credits, Credits: 8, Period: new(30 * 24 * time.Hour)},
	}
	facts := booking.Facts{Slot: openSlot(), Subscriptions: []credit.Subscription{s}}
	plan, err := booking.Decide(facts, onePerson(), now)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []credit.EntryKind
	for _, l := range plan.Ledger {
		kinds = append(kinds, l.Kind)
	}
	want := []credit.EntryKind{credit.Expiry, credit.Period, credit.Booking}
	if plan.Payer.Balance != 7 || !slices.Equal(kinds, want) {
		t.Errorf("balance %d with %v", plan.Payer.Balance, kinds)
	}
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
			if got.Status != tt.want {
				t.Fatalf("%+v, want %s", got, tt.want)
			}
			if tt.reason != "" && got.Refusal.Reason != tt.reason {
				t.Errorf("%v, want %s", got.Refusal, tt.reason)
			}
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
		plan, err := booking.Decide(booking.Facts{Slot: s, Subscriptions: []credit.Subscription{pack}}, c, now)
		if err != nil {
			t.Fatal(err)
		}
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
			if err == nil {
				t.Fatal("a late cancellation was accepted")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if got.SeatsFreed != c.Party || !got.ReleasesQuota || got.Late != late || got.Refunded == late {
			t.Fatalf("%+v, late %t", got, late)
		}
		if want := 5; !late && plan.Payer.Balance != want {
			t.Fatalf("balance %d, want %d", plan.Payer.Balance, want)
		}
		again, err := booking.Cancel(got.Booking, plan.Payer, booking.CancelRequest{Admin: true}, at)
		if err != nil || !again.Unchanged || again.SeatsFreed != 0 || len(again.Ledger) != 0 {
			t.Fatalf("again: %+v, %v", again, err)
		}
	})
}

func TestNoShow_IsMarkedAfterStartAndUndoneIfPartyFits(t *testing.T) {
	t.Parallel()
	s := openSlot()
	b := booking.Booking{Party: 1, Status: booking.Confirmed, StartsAt: s.StartsAt, EndsAt: s.EndsAt}
	if _, _, err := booking.MarkNoShow(b, s.StartsAt.Add(-time.Second)); fault.ReasonOf(err) != fault.SessionNotOpen {
		t.Error(err)
	}
	missed, changed, err := booking.MarkNoShow(b, s.StartsAt)
	if err != nil || !changed || missed.Status != booking.NoShow {
		t.Fatalf("%+v, %v", missed, err)
	}
	for _, status := range []booking.Status{booking.Pending, booking.Attended, booking.Cancelled, booking.Expired} {
		_, _, err := booking.MarkNoShow(booking.Booking{Status: status}, s.StartsAt)
		if fault.ReasonOf(err) != fault.BookingState {
			t.Errorf("%s: %v", status, err)
		}
	}
	full := s
	full.SeatsTaken = 10
	if _, _, err := booking.UndoNoShow(missed, full); fault.ReasonOf(err) != fault.SessionFull {
		t.Error(err)
	}
	back, changed, err := booking.UndoNoShow(missed, s)
	if err != nil || !changed || back.Status != booking.Confirmed {
		t.Errorf("%+v, %v", back, err)
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
		c, err := booking.Cancel(b, &payer, booking.CancelRequest{Actor: "mia"}, now)
		if err != nil || c.Payer.Balance != 9 {
			t.Errorf("renewed before %t: balance %d, %v", renewed, c.Payer.Balance, err)
		}
	}
}
