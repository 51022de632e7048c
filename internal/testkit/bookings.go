package testkit

import (
	"context"

	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Book books one seat online.
func (s *Studio) Book(
	who tenant.Caller, session tenant.SessionID, change ...func(*bookings.BookRequest),
) (seats.Result, error) {
	r := bookings.BookRequest{Session: session, Party: 1, Channel: catalog.Online}
	for _, f := range change {
		f(&r)
	}
	return s.App.Bookings.Book(context.Background(), who, r)
}

// MustBook books one seat and fails the test unless it is confirmed.
func (s *Studio) MustBook(who tenant.Caller, session tenant.SessionID) tenant.BookingID {
	s.T.Helper()
	result := expect.Value(s.Book(who, session))(s.T)
	must.NotNil(s.T, result.Booking, must.Sprintf("book: waitlisted as %+v", result.Entry))
	return result.Booking.ID
}

// MustWaitlist books one seat in a full session and fails the test unless that leads to the waitlist.
func (s *Studio) MustWaitlist(who tenant.Caller, session tenant.SessionID) tenant.EntryID {
	s.T.Helper()
	result := expect.Value(s.Book(who, session))(s.T)
	must.NotNil(s.T, result.Entry, must.Sprint("book: confirmed, though the session should be full"))
	return result.Entry.ID
}

// Hold holds one seat. Partners may hold for others, but later access only what they created.
func (s *Studio) Hold(
	who tenant.Caller, session tenant.SessionID, change ...func(*bookings.BookRequest),
) (seats.Result, error) {
	who.SelfOnly = false
	return s.Book(who, session, append([]func(*bookings.BookRequest){asHold}, change...)...)
}

func asHold(r *bookings.BookRequest) { r.Hold = true }

// MustHold holds one seat and fails the test if that is refused.
func (s *Studio) MustHold(
	who tenant.Caller, session tenant.SessionID, change ...func(*bookings.BookRequest),
) booking.Booking {
	s.T.Helper()
	return *expect.Value(s.Hold(who, session, change...))(s.T).Booking
}

// WithItems adds items to a request.
func WithItems(choices ...booking.ItemChoice) func(*bookings.BookRequest) {
	return func(r *bookings.BookRequest) { r.Items = choices }
}

// ForGuest makes a request one for a guest of a tier.
func ForGuest(name, tier string) func(*bookings.BookRequest) {
	return func(r *bookings.BookRequest) {
		r.Guest, r.GuestTier, r.Contact = true, tier, booking.Contact{Name: name, Phone: "+49301234"}
	}
}

// Confirm confirms a hold.
func (s *Studio) Confirm(who tenant.Caller, id tenant.BookingID) (seats.Result, error) {
	return s.App.Bookings.ConfirmBooking(context.Background(), SelfOnly(who), bookings.ConfirmRequest{ID: id})
}

// FiftyEuros is a captured payment.
var FiftyEuros = &payment.Facts{
	Kind: payment.Capture, Amount: credit.Money{Currency: "EUR", Units: 50}, Method: "card",
}

// Reschedule moves a booking with its items to another session.
func (s *Studio) Reschedule(
	by tenant.Caller, id tenant.BookingID, to tenant.SessionID,
) (bookings.RescheduleResult, error) {
	return s.App.Bookings.RescheduleBooking(
		context.Background(), by, bookings.RescheduleRequest{ID: id, To: to, MoveItems: true, Notify: true},
	)
}

// Cancel cancels the caller's own booking or entry.
func (s *Studio) Cancel(who tenant.Caller, id tenant.BookingID) (seats.CancelResult, error) {
	return s.App.Bookings.CancelBooking(
		context.Background(), SelfOnly(who), bookings.CancelRequest{ID: id, Notify: true},
	)
}

// MustCancel cancels the caller's own booking, a moment later, and fails the test if that is refused.
func (s *Studio) MustCancel(who tenant.Caller, id tenant.BookingID) seats.CancelResult {
	s.T.Helper()
	s.Tick()
	return expect.Value(s.Cancel(who, id))(s.T)
}

// CheckIn checks a booking in.
func (s *Studio) CheckIn(by tenant.Caller, id tenant.BookingID) (bookings.CheckInResult, error) {
	return s.App.Bookings.CheckIn(context.Background(), by, id)
}

// ScanQR returns what a member sends who scans the session's QR code now.
func (s *Studio) ScanQR(session tenant.SessionID) bookings.CheckInProof {
	s.T.Helper()
	qr := expect.Value(s.App.Bookings.GetQRToken(context.Background(), s.Coach, session))(s.T)
	return bookings.CheckInProof{QR: qr.Text}
}

// SelfCheckIn lets a member check in to a session.
func (s *Studio) SelfCheckIn(
	who tenant.Caller, session tenant.SessionID, proof bookings.CheckInProof,
) (bookings.CheckInResult, error) {
	return s.App.Bookings.SelfCheckIn(context.Background(), who, session, proof)
}

// BookingStatus returns the status of a booking.
func (s *Studio) BookingStatus(id tenant.BookingID) string {
	s.T.Helper()
	return s.Text(`select status from bookings where tenant_id = $1 and id = $2`, s.Tenant, id)
}

// SeatsTaken returns how many seats of a session are taken, by bookings, holds and offers.
func (s *Studio) SeatsTaken(session tenant.SessionID) int {
	s.T.Helper()
	return s.Count(`select seats_taken from sessions where tenant_id = $1 and id = $2`, s.Tenant, session)
}
