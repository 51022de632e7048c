package bookings_test

import (
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestFaults_FailTheCall(t *testing.T) {
	t.Parallel()
	s := testkit.NewFaults(t)
	app, ctx := s.App.Bookings, t.Context()
	mia, noa := s.AddMember("Mia"), s.AddMember("Noa")
	s.Subscribe(mia, s.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 9, AllowOverlap: true}))
	cart := testkit.WithItems(booking.ItemChoice{Item: s.AddItem("Cart", 2, nil).ID, Quantity: 1})
	refund := *testkit.FiftyEuros
	refund.Kind, refund.Amount.Units = payment.Refund, 10
	class, later := s.AddSession(testkit.Session{Waitlist: 3, Capacity: 4}), s.AddSession(testkit.Session{})
	held, released, booked := s.MustHold(mia, class, cart), s.MustHold(noa, later), s.MustBook(s.Coach, class)
	week := days("2026-03-16", "2026-03-22")
	// A booking that counts toward a quota moves to a session where a larger party waits.
	s.Subscribe(noa, s.AddPlan(credit.Plan{Kind: credit.Unlimited, DailyLimit: new(9)}))
	moving := s.MustBook(noa, s.AddSession(testkit.Session{Starts: testkit.Noon.Add(70 * time.Hour)}))
	awaited := s.AddSession(testkit.Session{Starts: testkit.Noon.Add(72 * time.Hour), Capacity: 3, Waitlist: 3})
	s.MustBook(s.Owner, awaited)
	two := testkit.ForSessions(awaited)
	two.Party = 3
	s.MustJoin(mia, two)
	s.WantErrors(
		func() error { return expect.Error(s.Book(mia, later)) },
		func() error {
			return expect.Error(app.ConfirmBooking(ctx, s.Owner, bookings.ConfirmRequest{ID: held.ID}))
		},
		func() error {
			return expect.Error(app.RecordPayment(ctx, s.Owner, held.ID, *testkit.FiftyEuros, false))
		},
		func() error {
			return expect.Error(app.RefundPayment(ctx, s.Owner, held.ID, refund))
		},
		func() error { return expect.Error(app.ReleaseHold(ctx, s.Owner, released.ID)) },
		func() error { return expect.Error(app.GetBooking(ctx, s.Owner, held.ID)) },
		func() error { return expect.Error(app.ListPaymentLines(ctx, s.Owner, held.ID)) },
		func() error {
			_, _, err := app.BatchGetBookings(ctx, s.Owner, []tenant.BookingID{held.ID})
			return err
		},
		func() error {
			return expect.Error(app.UpdateBooking(ctx, s.Owner, held.ID, nil, func(d *booking.Details) { d.Note += "." }))
		},
		func() error {
			return expect.Error(app.ListBookings(ctx, testkit.SelfOnly(mia), bookings.BookingQuery{Limit: 9}))
		},
		func() error { return expect.Error(app.GetSessionRoster(ctx, s.Coach, class)) },
		func() error {
			return expect.Error(app.ListAttendance(ctx, s.Owner, bookings.AttendanceQuery{Member: mia.Member, Limit: 9}))
		},
		func() error { return expect.Error(app.GetAttendanceSummary(ctx, s.Owner, week)) },
		func() error { return expect.Error(app.GetBookingTrend(ctx, s.Owner, week, false)) },
		func() error {
			return expect.Error(app.GetUtilization(ctx, s.Owner, week, bookings.UseByLocation))
		},
		func() error { return expect.Error(s.Reschedule(s.Owner, booked, later)) },
		func() error { return expect.Error(s.Reschedule(s.Owner, moving, awaited)) },
		func() error { return expect.Error(s.Cancel(s.Coach, booked)) },
	)
	s.Clock.Set(testkit.InTwoDays)
	scan := s.ScanQR(class)
	link := expect.Value(app.CreateDisplayLink(ctx, s.Coach, class))(t)
	shown := expect.Value(app.GetCheckInDisplay(ctx, link.Token))(t)
	s.WantErrors(
		func() error { return expect.Error(app.GetCheckInDisplay(ctx, shown.Next)) },
		func() error { return expect.Error(app.CreateDisplayLink(ctx, s.Coach, class)) },
		func() error { return expect.Error(app.GetCheckInDisplay(ctx, link.Token)) },
		func() error { return expect.Error(app.ListDisplayLinks(ctx, s.Coach, class)) },
		func() error { return expect.Error(app.RevokeDisplayLink(ctx, s.Coach, link.Link.ID)) },
		func() error { return expect.Error(app.GetQRToken(ctx, s.Coach, class)) },
		func() error { return expect.Error(s.CheckIn(s.Coach, held.ID)) },
		func() error { return expect.Error(app.UndoCheckIn(ctx, s.Coach, held.ID)) },
		func() error { return expect.Error(s.SelfCheckIn(mia, class, scan)) },
	)
	expect.OK(t)(app.UndoCheckIn(ctx, s.Coach, held.ID))
	s.Clock.Advance(2 * time.Hour)
	s.WantErrors(
		func() error { return expect.Error(app.MarkNoShow(ctx, s.Coach, held.ID)) },
		func() error { return expect.Error(app.UndoNoShow(ctx, s.Coach, held.ID)) },
	)
}
