package bookings

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/tenant"
)

// CheckInResult is a booking whose party has come.
type CheckInResult struct {
	Booking booking.Booking
	// Already: they had checked in before. Time and method are those of the first time.
	Already bool
}

// CheckIn notes that a party has come, as staff see it. Whoever was let in for this is staff, whatever their roles are called.
func (s *Service) CheckIn(ctx context.Context, caller tenant.Caller, id tenant.BookingID) (CheckInResult, error) {
	var in CheckInResult
	_, err := s.changeAttendance(ctx, caller, "checkin.staff", id, func(_ context.Context, tx *engine.Tx, b booking.Booking, s booking.Slot) (booking.Booking, error) {
		facts := arrival(b, s)
		facts.Staff = true
		plan, err := checkin.Decide(facts, checkin.Request{Method: checkin.Manual}, tx.Now)
		if err != nil {
			return b, err
		}
		in = CheckInResult{follow(tx, b, plan, outbox.BookingAttended), plan.Unchanged}
		return in.Booking, nil
	}, &in)
	return in, err
}

// UndoCheckIn takes that back: the booking is confirmed again.
func (s *Service) UndoCheckIn(ctx context.Context, caller tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
	return s.changeAttendance(ctx, caller, "checkin.undo", id, func(_ context.Context, tx *engine.Tx, b booking.Booking, s booking.Slot) (booking.Booking, error) {
		plan, err := checkin.Undo(arrival(b, s))
		if err != nil {
			return b, err
		}
		return follow(tx, b, plan, outbox.BookingCheckInUndone), nil
	})
}

// CheckInProof is what shows that somebody is there: one of the two.
type CheckInProof struct {
	QR    string // the text of the code that they scanned
	Point *catalog.Point
}

func (p CheckInProof) command() (checkin.Request, error) {
	switch {
	case p.QR != "" && p.Point == nil:
		return checkin.Request{Method: checkin.QR}, nil
	case p.QR == "" && p.Point != nil && p.Point.Valid():
		return checkin.Request{Method: checkin.GPS, Point: checkin.Point(*p.Point)}, nil
	case p.QR == "" && p.Point != nil:
		return checkin.Request{}, fault.Invalid("position", "The latitude is -90 to 90 degrees, the longitude -180 to 180.")
	default:
		return checkin.Request{}, fault.Invalid("proof", "Give the text of a QR code, or a position.")
	}
}

// SelfCheckIn notes that the caller has come to a session that they have booked.
func (s *Service) SelfCheckIn(ctx context.Context, caller tenant.Caller, session tenant.SessionID, proof CheckInProof) (CheckInResult, error) {
	command, err := proof.command()
	if err != nil {
		return CheckInResult{}, err
	}
	var in CheckInResult
	err = s.engine.Write(ctx, caller, "checkin.self", func(ctx context.Context, tx *engine.Tx) error {
		var b *booking.Booking
		var slot *booking.Slot
		var batch pg.Batch
		bookingdb.FindSlot(&batch, tx.Tenant, session, &slot)
		bookingdb.FindActiveBooking(&batch, tx.Tenant, session, tx.Caller.Member, &b)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if slot == nil {
			return seats.ErrNoSession
		}
		if b == nil {
			b = &booking.Booking{}
		}
		plan, err := checkin.Decide(arrival(*b, *slot), command, tx.Now)
		if err != nil {
			return err
		}
		// The code comes last: who has no booking, or is too early, is told that rather than to scan again.
		if command.Method == checkin.QR && !plan.Unchanged {
			if err := s.keys.VerifyQR(proof.QR, tx.Tenant, session, tx.Now); err != nil {
				return err
			}
		}
		in = CheckInResult{follow(tx, *b, plan, outbox.BookingAttended), plan.Unchanged}
		return nil
	}, engine.Answers(&in))
	return in, err
}

// QRToken is the text of a QR code.
type QRToken struct {
	Text    string
	Expires time.Time
	Refresh time.Time // ask for the next one then
}

// GetQRToken makes the text of a session's QR code.
func (s *Service) GetQRToken(ctx context.Context, caller tenant.Caller, session tenant.SessionID) (QRToken, error) {
	if err := s.takesPlace(ctx, caller, session); err != nil {
		return QRToken{}, err
	}
	return s.qrToken(caller.Tenant, session, s.engine.Now()), nil
}

func (s *Service) qrToken(in tenant.TenantID, session tenant.SessionID, now time.Time) QRToken {
	text, expires := s.keys.SignQR(in, session, now, checkin.QRTTL)
	return QRToken{Text: text, Expires: expires, Refresh: now.Add(checkin.QRInterval)}
}

// takesPlace refuses sessions that nobody can come to.
func (s *Service) takesPlace(ctx context.Context, caller tenant.Caller, session tenant.SessionID) error {
	var slot *booking.Slot
	var batch pg.Batch
	bookingdb.FindSlot(&batch, caller.Tenant, session, &slot)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return err
	}
	switch {
	case slot == nil:
		return seats.ErrNoSession
	case slot.State == catalog.Cancelled:
		return fault.New(fault.FailedPrecondition, fault.SessionState, "The session is cancelled.").WithMetadata("state", string(slot.State))
	}
	return nil
}

// arrival is what checking a booking in depends on.
func arrival(b booking.Booking, s booking.Slot) checkin.Facts {
	facts := checkin.Facts{
		Status: checkin.Status(b.Status), Method: checkin.Method(b.CheckInMethod),
		Starts: s.StartsAt, Ends: s.EndsAt, SessionCancelled: s.State == catalog.Cancelled,
		Delivery: checkin.Delivery(s.Delivery), Location: (*checkin.Point)(s.Point), GPSMaxMeters: s.Rules.GPSMaxMeters, Window: CheckInWindow(s),
	}
	if b.CheckedInAt != nil {
		facts.CheckedInAt = *b.CheckedInAt
	}
	return facts
}

// CheckInWindow is when members check themselves in to a session.
func CheckInWindow(s booking.Slot) checkin.Window {
	return checkin.Window{OpensBefore: s.Rules.CheckInOpens, ClosesAfterEnd: s.Rules.CheckInCloses}
}

// follow writes what a plan makes of a booking, if it changes anything.
func follow(tx *engine.Tx, b booking.Booking, plan checkin.Result, what outbox.Type) booking.Booking {
	if plan.Unchanged {
		return b
	}
	b.Status, b.CheckedInAt, b.CheckInMethod = booking.Status(plan.Status), nil, string(plan.Method)
	if !plan.CheckedInAt.IsZero() {
		b.CheckedInAt = &plan.CheckedInAt
	}
	attended(tx, b, what)
	return b
}
