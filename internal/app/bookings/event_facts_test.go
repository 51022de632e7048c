package bookings_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// story is a booking of two seats, with a partner's reference, that a plan with credits pays.
type story struct {
	*testkit.Studio
	mia      tenant.Caller
	pack     credit.Subscription
	from, to tenant.SessionID
	id       tenant.BookingID
}

func (s *story) book(change ...func(*bookings.BookRequest)) {
	s.T.Helper()
	two := func(r *bookings.BookRequest) { r.Party, r.ExternalRef = 2, "x-1" }
	s.id = expect.Value(s.Book(s.mia, s.from, append(change, two)...))(s.T).Booking.ID
}

func (s *story) hold() {
	s.T.Helper()
	s.book(func(r *bookings.BookRequest) { r.Hold = true })
}

// paid holds seats, and confirms them with a payment of fifty euros.
func (s *story) paid() {
	s.T.Helper()
	s.hold()
	expect.OK(s.T)(s.App.Bookings.ConfirmBooking(
		s.T.Context(), s.Owner, bookings.ConfirmRequest{ID: s.id, Paid: testkit.FiftyEuros},
	))
}

func (s *story) cancel(by tenant.Caller, r bookings.CancelRequest) {
	s.T.Helper()
	r.ID = s.id
	expect.OK(s.T)(s.App.Bookings.CancelBooking(s.T.Context(), by, r))
}

// An event of a booking says what has become of the booking, and what only that event knows.
func TestBookingEvents_SayWhatHappened(t *testing.T) {
	t.Parallel()
	type row struct {
		happens func(s *story)
		data    func(s *story) event.Data
		status  booking.Status
		payment payment.Status // empty: unpaid
		credits int            // by which the balance changes
		unpaid  bool           // by a subscription
	}
	says := func(data event.Data) func(*story) event.Data { return func(*story) event.Data { return data } }
	testkit.Each(t, map[string]row{
		"held": {
			happens: func(s *story) { s.hold() },
			data:    says(event.BookingHeld{}), status: booking.Pending, unpaid: true,
		},
		"released": {
			happens: func(s *story) {
				s.hold()
				expect.OK(s.T)(s.App.Bookings.ReleaseHold(s.T.Context(), s.mia, s.id))
			},
			data: says(event.BookingReleased{}), status: booking.Cancelled, unpaid: true,
		},
		"a hold that expired": {
			happens: func(s *story) {
				s.hold()
				s.Clock.Advance(24 * time.Hour)
				s.Sweep()
			},
			data: says(event.BookingExpired{}), status: booking.Expired, unpaid: true,
		},
		"booked": {
			happens: func(s *story) { s.book() },
			data:    says(event.BookingConfirmed{}), status: booking.Confirmed, credits: -2,
		},
		"a hold that a plan pays": {
			happens: func(s *story) {
				s.hold()
				expect.OK(s.T)(s.Confirm(s.mia, s.id))
			},
			data: says(event.BookingConfirmed{}), status: booking.Confirmed, credits: -2,
		},
		"a hold that was paid": {
			happens: (*story).paid,
			data:    says(event.BookingConfirmed{}), status: booking.Confirmed, payment: payment.Captured, unpaid: true,
		},
		"edited": {
			happens: func(s *story) {
				s.book()
				expect.OK(s.T)(s.App.Bookings.UpdateBooking(
					s.T.Context(), s.mia, s.id, nil, func(d *booking.Details) { d.Note = "window" },
				))
			},
			data: says(event.BookingUpdated{}), status: booking.Confirmed,
		},
		"paid back": {
			happens: func(s *story) {
				s.paid()
				back := *testkit.FiftyEuros
				back.Kind = payment.Refund
				expect.OK(s.T)(s.App.Bookings.RefundPayment(s.T.Context(), s.Owner, s.id, back))
			},
			data: says(event.BookingUpdated{}), status: booking.Confirmed, payment: payment.Refunded, unpaid: true,
		},
		"moved": {
			happens: func(s *story) {
				s.book()
				expect.OK(s.T)(s.Reschedule(s.Owner, s.id, s.to))
			},
			data: func(s *story) event.Data {
				return event.BookingRescheduled{FromSession: s.from, FromStart: testkit.InTwoDays, Notify: true}
			},
			status: booking.Confirmed,
		},
		"moved in silence": {
			happens: func(s *story) {
				s.book()
				expect.OK(s.T)(s.App.Bookings.RescheduleBooking(
					s.T.Context(), s.Owner, bookings.RescheduleRequest{ID: s.id, To: s.to},
				))
			},
			data: func(s *story) event.Data {
				return event.BookingRescheduled{FromSession: s.from, FromStart: testkit.InTwoDays}
			},
			status: booking.Confirmed,
		},
		"cancelled in time": {
			happens: func(s *story) {
				s.book()
				s.cancel(s.mia, bookings.CancelRequest{Reason: "ill", Notify: true})
			},
			data:   says(event.BookingCancelled{Refunded: true, Reason: "ill", Notify: true}),
			status: booking.Cancelled, credits: 2,
		},
		"cancelled late, in silence": {
			happens: func(s *story) {
				s.book()
				s.Clock.Set(testkit.InTwoDays.Add(-time.Minute))
				s.cancel(s.Owner, bookings.CancelRequest{OverrideWindow: true})
			},
			data: says(event.BookingCancelled{Late: true}), status: booking.Cancelled,
		},
		"cancelled with its session": {
			happens: func(s *story) {
				s.book()
				expect.OK(s.T)(s.App.Schedules.CancelSession(s.T.Context(), s.Owner, s.from, schedules.Removal{
					Reason: "flood", Notify: true,
				}))
			},
			data:   says(event.BookingCancelled{Refunded: true, Reason: "flood", Notify: true, SessionGone: true}),
			status: booking.Cancelled, credits: 2,
		},
		"attended": {
			happens: func(s *story) {
				s.book()
				s.Clock.Set(testkit.InTwoDays)
				expect.OK(s.T)(s.CheckIn(s.Coach, s.id))
			},
			data: says(event.BookingAttended{}), status: booking.Attended,
		},
		"a check-in that was undone": {
			happens: func(s *story) {
				s.book()
				s.Clock.Set(testkit.InTwoDays)
				expect.OK(s.T)(s.CheckIn(s.Coach, s.id))
				expect.OK(s.T)(s.App.Bookings.UndoCheckIn(s.T.Context(), s.Coach, s.id))
			},
			data: says(event.BookingCheckInUndone{}), status: booking.Confirmed,
		},
		"a no-show by hand": {
			happens: func(s *story) {
				s.book()
				s.Clock.Set(testkit.InTwoDays.Add(time.Hour))
				expect.OK(s.T)(s.App.Bookings.MarkNoShow(s.T.Context(), s.Coach, s.id))
			},
			data: says(event.BookingNoShow{}), status: booking.NoShow,
		},
		"a no-show by the policy": {
			happens: func(s *story) {
				s.SetPolicy(func(p *catalog.PolicyLayer) { p.AutoNoShow = new(true) })
				s.book()
				s.Clock.Set(testkit.InTwoDays.Add(2 * time.Hour))
				s.Sweep()
			},
			data: says(event.BookingNoShow{}), status: booking.NoShow,
		},
		"a no-show that had paid, by the policy": {
			happens: func(s *story) {
				s.SetPolicy(func(p *catalog.PolicyLayer) { p.AutoNoShow = new(true) })
				s.paid()
				s.Clock.Set(testkit.InTwoDays.Add(2 * time.Hour))
				s.Sweep()
			},
			data: says(event.BookingNoShow{}), status: booking.NoShow, payment: payment.Captured, unpaid: true,
		},
		"a no-show that was undone": {
			happens: func(s *story) {
				s.book()
				s.Clock.Set(testkit.InTwoDays.Add(time.Hour))
				expect.OK(s.T)(s.App.Bookings.MarkNoShow(s.T.Context(), s.Coach, s.id))
				expect.OK(s.T)(s.App.Bookings.UndoNoShow(s.T.Context(), s.Coach, s.id))
			},
			data: says(event.BookingNoShowUndone{}), status: booking.Confirmed,
		},
	}, func(studio *testkit.Studio, want row) {
		studio.TakePayments()
		s := &story{Studio: studio, mia: studio.AddMember("Mia")}
		s.pack = studio.Subscribe(s.mia, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 10}))
		s.from = studio.AddSession(testkit.Session{})
		s.to = studio.AddSession(testkit.Session{Starts: testkit.InTwoDays.Add(24 * time.Hour)})
		want.happens(s)
		data := want.data(s)
		e := studio.LastEvent(data.Type())
		payer := s.pack.ID
		if want.unpaid {
			payer = tenant.SubscriptionID{}
		}
		if want.payment == "" {
			want.payment = payment.Unpaid
		}
		test.EqOp(studio.T, s.id, e.Booking)
		test.Eq(studio.T, data, e.Data)
		test.EqOp(studio.T, string(want.status), e.Facts.Status)
		test.EqOp(studio.T, 2, e.Facts.Party)
		test.EqOp(studio.T, "x-1", e.Facts.ExternalRef)
		test.EqOp(studio.T, string(want.payment), e.Facts.Payment.Status)
		test.EqOp(studio.T, want.credits, e.Facts.Credits)
		test.EqOp(studio.T, payer, e.Facts.Subscription)
	})
}
