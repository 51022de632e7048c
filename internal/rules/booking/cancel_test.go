package booking_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// cancellation is a request to cancel a booking of two that is paid with two credits.
type cancellation struct {
	booking.Booking
	booking.CancelRequest
	Payer *credit.Subscription
	At    time.Time
}

func (c cancellation) do() (booking.CancelResult, error) {
	return booking.Cancel(c.Booking, c.Payer, c.CancelRequest, c.At)
}

// Before the deadline, cancelling undoes seats, credits, quota, items and check-in. The payment stays: refunding is an
// act of its own. After it, the credits are lost, and members need a policy that allows it.
func TestCancel_UndoesTheBookingUnlessLate(t *testing.T) {
	t.Parallel()
	start := now.Add(48 * time.Hour)
	deadline, end := start.Add(-24*time.Hour), start.Add(time.Hour)
	b := booking.Booking{
		ID: id[tenant.BookingID](), Party: 2, Status: booking.Confirmed, StartsAt: start, EndsAt: end,
		Policy: catalog.Defaults(), Credits: 2, Counted: true, CheckedInAt: &now, CheckInMethod: "QR",
	}
	none := []booking.ItemLine{{Status: booking.ItemCancelled}, {Status: booking.ItemCancelled}}
	paying := pack(set{"Lines": 6})
	const state = "BOOKING_STATE status="
	late := set{
		"Late": true, "Booking.LateCancelled": true, "Booking.Credits": 2, "Payer": nil, "Ledger": nil, "Refunded": false,
	}
	for name, tt := range map[string]struct {
		differ  set
		refused string
		want    set // how the result differs from that of one in time
	}{
		"in time": {nil, "", nil},
		"late": {
			set{"At": deadline.Add(1)}, "CANCELLATION_WINDOW deadline=2026-03-17T12:00:00Z hours_before=24", nil,
		},
		"late, by an admin":   {set{"At": deadline.Add(1), "OverrideWindow": true}, "", late},
		"after it, by one":    {set{"At": end, "OverrideWindow": true}, "", late},
		"late, but allowed":   {set{"At": deadline.Add(1), "Policy.AllowLateCancellation": true}, "", late},
		"allowed, in the end": {set{"At": end.Add(-1), "Policy.AllowLateCancellation": true}, "", late},
		"allowed, after it":   {set{"At": end, "Policy.AllowLateCancellation": true}, state + "CONFIRMED", nil},
		"the session is gone": {set{"At": end, "SessionGone": true}, "", set{"SessionGone": true}},
		"authorized":          {set{"Payment.Status": payment.Authorized}, "", nil},
		"captured":            {set{"Payment.Status": payment.Captured}, "", nil},
		"not counted":         {set{"Counted": false}, "", set{"ReleasesQuota": false}},
		"without credits":     {set{"Credits": 0}, "", set{"Payer": nil, "Ledger": nil, "Refunded": false}},
		"paid by none": {
			set{"Payer": nil}, "", set{"Booking.Credits": 2, "Payer": nil, "Ledger": nil, "Refunded": false},
		},
		"a hold":             {set{"Status": booking.Pending}, "", set{"HoldsEnded": 1}},
		"attended":           {set{"Status": booking.Attended}, state + "ATTENDED", nil},
		"attended, but gone": {set{"Status": booking.Attended, "SessionGone": true}, "", set{"SessionGone": true}},
		"a no-show":          {set{"Status": booking.NoShow}, state + "NO_SHOW", nil},
		"a no-show, but gone": {
			set{"Status": booking.NoShow, "SessionGone": true}, "", set{"SessionGone": true, "SeatsFreed": 0},
		},
		"expired":           {set{"Status": booking.Expired}, state + "EXPIRED", nil},
		"expired, and gone": {set{"Status": booking.Expired, "SessionGone": true}, state + "EXPIRED", nil},
	} {
		c := cancellation{b, booking.CancelRequest{Actor: "mia", Reason: "ill"}, new(paying), deadline}
		c.Items = []booking.ItemLine{{Status: booking.ItemConfirmed}, {Status: booking.ItemPending}}
		c = vary.From(c, tt.differ)
		want := vary.From(booking.CancelResult{
			Booking: vary.From(c.Booking, set{
				"Status": booking.Cancelled, "CancelReason": "ill", "CancelledAt": c.At, "Credits": 0, "Counted": false,
				"CheckedInAt": nil, "CheckInMethod": "", "Items": none,
			}),
			SeatsFreed: 2, ReleasesQuota: true, Refunded: true, Payer: new(vary.From(paying, set{"Balance": 5, "Lines": 7})),
			Ledger: []credit.Line{{
				Subscription: paying.ID, Number: 7, Kind: credit.Refund, Amount: 2, Balance: 5, Booking: b.ID, Actor: "mia",
				Reason: "ill", At: c.At,
			}},
		}, tt.want)
		got, err := c.do()
		test.EqOp(t, tt.refused, faulttest.Text(err), test.Sprint(name))
		if err == nil {
			test.Eq(t, want, got, test.Sprint(name))
		}
	}
}

// Cancelling undoes booking: it returns all credits and seats that were taken, unless it is late. To cancel again
// changes nothing.
func TestCancel_ReturnsWhatBookingTookUnlessLate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		yes := func(name string) bool { return rapid.Bool().Draw(t, name) }
		paying := pack(set{"Balance": 5, "Plan.DailyLimit": 3})
		a := try(set{"Party": rapid.IntRange(1, 4).Draw(t, "party"), "Subscriptions": []credit.Subscription{paying}})
		result := expect.Value(a.decide(now))(t)
		b := booking.Booking{
			ID: a.ID, Party: a.Party, Status: booking.Confirmed, Credits: result.Credits, Counted: result.Counted,
			StartsAt: a.Slot.StartsAt, EndsAt: a.Slot.EndsAt, Policy: a.Slot.Policy,
		}
		b.Policy.AllowLateCancellation = yes("late allowed")
		at := now.Add(time.Duration(rapid.IntRange(0, 72).Draw(t, "hours")) * time.Hour)
		request := booking.CancelRequest{OverrideWindow: yes("override"), SessionGone: yes("gone")}
		c := cancellation{b, request, result.Payer, at}

		got, err := c.do()

		late := at.After(b.StartsAt.Add(-24*time.Hour)) && !c.SessionGone
		if late && !c.OverrideWindow && (!b.Policy.AllowLateCancellation || !at.Before(b.EndsAt)) {
			must.Error(t, err)
			return
		}
		must.NoError(t, err)
		must.EqOp(t, a.Party, got.SeatsFreed)
		must.True(t, got.ReleasesQuota)
		must.EqOp(t, late, got.Late)
		must.EqOp(t, !late, got.Refunded)
		must.EqOp(t, map[bool]int{true: 5 - a.Party, false: 5}[late], result.Payer.Balance)
		want := booking.CancelResult{Booking: got.Booking, Unchanged: true, Late: late}
		must.Eq(t, want, expect.Value(booking.Cancel(got.Booking, result.Payer, c.CancelRequest, at))(t))
	})
}

// What is said of a cancellation beforehand is what happens.
func TestCancellation_IsWhatCancelDoes(t *testing.T) {
	t.Parallel()
	statuses := []booking.Status{
		booking.Pending, booking.Confirmed, booking.Attended, booking.NoShow, booking.Cancelled, booking.Expired,
	}
	rapid.Check(t, func(t *rapid.T) {
		s := openSlot()
		b := booking.Booking{
			Party: 2, Status: rapid.SampledFrom(statuses).Draw(t, "status"), Credits: rapid.IntRange(0, 2).Draw(t, "credits"),
			StartsAt: s.StartsAt, EndsAt: s.EndsAt, Policy: s.Policy,
		}
		b.Policy.AllowLateCancellation = rapid.Bool().Draw(t, "late allowed")
		at := now.Add(time.Duration(rapid.IntRange(0, 72).Draw(t, "hours")) * time.Hour)
		said := b.Cancellation(at)
		got, err := booking.Cancel(b, new(pack(nil)), booking.CancelRequest{}, at)
		if said == nil {
			must.True(t, err != nil && b.Status != booking.Confirmed && b.Status != booking.Pending || got.Unchanged)
			return
		}
		must.EqOp(t, said.Reason, fault.ReasonOf(err))
		must.EqOp(t, said.Kind == booking.RefusedCancellation, err != nil)
		if err == nil {
			must.EqOp(t, said.Kind == booking.LateCancellation, got.Late)
			must.EqOp(t, said.Credits, b.Credits-got.Booking.Credits)
		}
	})
}

// A refund after the end of the period counts in the new period, whether or not the renewal ran before.
func TestCancel_RefundAfterPeriodEndGoesToNewPeriod(t *testing.T) {
	t.Parallel()
	ended := pack(set{"PeriodEndsAt": now.Add(-time.Hour), "Plan.Credits": 8, "Plan.Period": 30 * 24 * time.Hour})
	renewed, _ := credit.Advance(ended, now)
	for _, payer := range []credit.Subscription{ended, renewed} {
		s := openSlot()
		b := booking.Booking{Party: 1, Status: booking.Confirmed, Credits: 1, StartsAt: s.StartsAt, EndsAt: s.EndsAt}
		test.EqOp(t, 9, expect.Value(booking.Cancel(b, &payer, booking.CancelRequest{}, now))(t).Payer.Balance)
	}
}

// Whatever became of the booking, its credits are refunded once, into the current period.
func TestRefundCredits_ReturnsTheCreditsOnce(t *testing.T) {
	t.Parallel()
	payer := pack(nil)
	b := booking.Booking{ID: id[tenant.BookingID](), Status: booking.Attended, Credits: 2}
	want, before := vary.From(b, set{"Credits": 0}), payer
	after, sub, ledger, err := booking.RefundCredits(b, &payer, "kim", "gift", now)
	expect.Fault(t, "")(err)
	test.Eq(t, want, after)
	test.Eq(t, before, payer)
	paid, renewal := credit.Advance(before, now)
	test.Eq(t, paid.Refund(renewal, b.ID, 2, "kim", "gift", now), ledger)
	test.Eq(t, paid, sub)
	expect.Fault(t, "NOTHING_TO_REFUND", "again")(booking.RefundCredits(after, &sub, "kim", "gift", now))
	expect.Fault(t, "NOTHING_TO_REFUND", "without a payer")(booking.RefundCredits(b, nil, "kim", "gift", now))
}

func TestCancelDeadline_IsTheLaterOfWindowAndGrace(t *testing.T) {
	t.Parallel()
	deadline := now.Add(47 * time.Hour)
	gold := map[string]catalog.TierPolicy{"gold": {CancellationWindow: new(time.Hour)}}
	for want, grace := range map[time.Duration][]*time.Time{
		0: {nil, new(deadline.Add(-1)), new(deadline)}, 1: {new(deadline.Add(1))},
	} {
		for _, until := range grace {
			b := booking.Booking{StartsAt: now.Add(48 * time.Hour), MemberTier: "gold", GraceUntil: until}
			b.Policy.TierCancellations = gold
			test.EqOp(t, deadline.Add(want), b.CancelDeadline(), test.Sprint(until))
		}
	}
}

// A session that is moved can start before the grace of its promoted members ends.
func TestCancelDeadline_IsTheStartAtTheLatest(t *testing.T) {
	t.Parallel()
	b := booking.Booking{StartsAt: now.Add(time.Hour), GraceUntil: new(now.Add(2 * time.Hour))}
	test.EqOp(t, b.StartsAt, b.CancelDeadline())
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
		check := func(want string, to booking.Status) func(booking.Booking, bool, error) {
			return func(got booking.Booking, changed bool, err error) {
				if want != "" {
					to = tt.status
				}
				test.EqOp(t, want, faulttest.Text(err), test.Sprint(name))
				test.EqOp(t, to, got.Status, test.Sprint(name))
				test.EqOp(t, to != tt.status, changed, test.Sprint(name))
			}
		}
		check(tt.marked, booking.NoShow)(booking.MarkNoShow(b, now.Add(tt.at)))
		check(tt.back, booking.Confirmed)(booking.UndoNoShow(b, booking.Slot{Capacity: new(tt.open)}))
	}
}

// Of the bookings that a sweep finds, those are marked whose party did not come, once in each session.
func TestMarkAbsent_MarksWhoDidNotCome(t *testing.T) {
	t.Parallel()
	from := now.Add(30 * time.Minute)
	due := func(b booking.Booking, _ booking.Slot) time.Time {
		if b.CreatedAt.Before(b.StartsAt) {
			return from
		}
		return from.Add(time.Hour)
	}
	marks, leaves := catalog.BookingPolicy{AutoNoShow: true}, catalog.BookingPolicy{}
	absence := booking.Absence{Booking: booking.Booking{
		ID: id[tenant.BookingID](), Party: 2, Status: booking.Confirmed, StartsAt: now.Add(-time.Hour), EndsAt: now,
	}}
	for name, tt := range map[string]struct {
		rules  catalog.BookingPolicy
		at     time.Time
		differ set
		want   bool
	}{
		"who did not come":                      {marks, from, nil, true},
		"while they can still come":             {marks, from.Add(-1), nil, false},
		"where staff mark":                      {leaves, from, nil, false},
		"who came":                              {marks, from, set{"Status": booking.Attended}, false},
		"who cancelled":                         {marks, from, set{"Status": booking.Cancelled}, false},
		"whose mark staff took back":            {marks, from, set{"MarkedAt": from}, false},
		"marked at the start":                   {marks, from, set{"MarkedAt": now.Add(-time.Hour)}, false},
		"who was moved here after another mark": {marks, from, set{"MarkedAt": now.Add(-time.Hour - 1)}, true},
		"who booked late, and can still come":   {marks, from, set{"CreatedAt": now}, false},
	} {
		c := vary.From(absence, tt.differ)
		var want []booking.Booking
		if tt.want {
			want = []booking.Booking{vary.From(c.Booking, set{"Status": booking.NoShow})}
		}
		got, err := booking.MarkAbsent(booking.Slot{Policy: tt.rules}, []booking.Absence{c}, due, tt.at)
		expect.Fault(t, "", name)(err)
		test.Eq(t, want, got, test.Sprint(name))
	}
	ahead := vary.From(absence, set{"StartsAt": from.Add(1)})
	expect.Fault(t, "SESSION_NOT_OPEN state=not_started")(
		booking.MarkAbsent(booking.Slot{Policy: marks}, []booking.Absence{ahead}, due, from))
}
