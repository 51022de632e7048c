package bookings

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
)

// CheckInResult is a booking whose party has arrived.
type CheckInResult struct {
	Booking booking.Booking
	// Already says that they had checked in before. The booking keeps the time and method of the first check-in.
	Already bool
}

// CheckIn marks a booking as attended, by staff. A caller with the permission counts as staff, whatever their roles
// are called.
func (s *Service) CheckIn(ctx context.Context, caller tenant.Caller, id tenant.BookingID) (CheckInResult, error) {
	checkIn := func(_ context.Context, tx *engine.Tx, b booking.Booking, slot booking.Slot) (CheckInResult, error) {
		facts := checkInFacts(b, slot)
		facts.Staff = true
		result, err := checkin.Decide(facts, checkin.Request{Method: checkin.Manual}, tx.Now)
		if err != nil {
			return CheckInResult{}, err
		}
		return CheckInResult{applyCheckIn(tx, b, result, event.BookingAttended{}), result.Unchanged}, nil
	}
	return changeAttendance(ctx, s, caller, "check_in.by_staff", id, checkIn)
}

// UndoCheckIn takes a check-in back: the booking is confirmed again.
func (s *Service) UndoCheckIn(ctx context.Context, caller tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
	undo := func(_ context.Context, tx *engine.Tx, b booking.Booking, slot booking.Slot) (booking.Booking, error) {
		result, err := checkin.Undo(checkInFacts(b, slot))
		if err != nil {
			return b, err
		}
		return applyCheckIn(tx, b, result, event.BookingCheckInUndone{}), nil
	}
	return changeAttendance(ctx, s, caller, "check_in.undo", id, undo)
}

// CheckInProof proves that a member is at the location.
type CheckInProof = checkin.Proof

// SelfCheckIn marks the caller's booking in a session as attended.
func (s *Service) SelfCheckIn(
	ctx context.Context, caller tenant.Caller, session tenant.SessionID, proof CheckInProof,
) (CheckInResult, error) {
	request, err := proof.Request()
	if err != nil {
		return CheckInResult{}, err
	}
	t := engine.Transaction{Name: "check_in.self", Replay: true}
	return engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (CheckInResult, error) {
		var b *booking.Booking
		var slot *booking.Slot
		var batch pg.Batch
		bookingdb.FindSlot(&batch, tx.Tenant, session, &slot)
		bookingdb.FindLastBooking(&batch, tx.Tenant, session, tx.Caller.Member, &b)
		if err := tx.Load(ctx, &batch); err != nil {
			return CheckInResult{}, err
		}
		if slot == nil {
			return CheckInResult{}, seats.ErrNoSession
		}
		if b == nil {
			b = &booking.Booking{}
		}
		result, err := checkin.Decide(checkInFacts(*b, *slot), request, tx.Now)
		if err != nil {
			return CheckInResult{}, err
		}
		// The code is checked last: a member without a booking, or too early, needs to know that rather than scan again.
		if request.Method == checkin.QR && !result.Unchanged {
			if err := s.keys.VerifyQR(proof.QR, tx.Tenant, session, tx.Now); err != nil {
				return CheckInResult{}, err
			}
		}
		return CheckInResult{applyCheckIn(tx, *b, result, event.BookingAttended{}), result.Unchanged}, nil
	})
}

// QRToken is the text of a QR code.
type QRToken struct {
	Text    string
	Expires time.Time
	Refresh time.Time // when to ask for the next one
}

// GetQRToken makes the text of a session's QR code.
func (s *Service) GetQRToken(
	ctx context.Context, caller tenant.Caller, session tenant.SessionID,
) (QRToken, error) {
	if err := s.checkTakesPlace(ctx, caller, session); err != nil {
		return QRToken{}, err
	}
	return s.qrToken(caller.Tenant, session, s.engine.Now()), nil
}

func (s *Service) qrToken(in tenant.TenantID, session tenant.SessionID, now time.Time) QRToken {
	text, expires := s.keys.SignQR(in, session, now, checkin.QRTTL)
	return QRToken{Text: text, Expires: expires, Refresh: now.Add(checkin.QRInterval)}
}

// checkTakesPlace rejects sessions that are cancelled or do not exist.
func (s *Service) checkTakesPlace(ctx context.Context, caller tenant.Caller, session tenant.SessionID) error {
	slot, err := engine.Get(ctx, s.engine, caller, seats.ErrNoSession, func(b *pg.Batch, into **booking.Slot) {
		bookingdb.FindSlot(b, caller.Tenant, session, into)
	})
	if err != nil {
		return err
	}
	return takesPlace(&slot)
}

func takesPlace(slot *booking.Slot) error {
	if slot == nil {
		return seats.ErrNoSession
	}
	return slot.State.CheckTakesPlace()
}

// checkInFacts are what the check-in rules need to know about a booking and its session.
func checkInFacts(b booking.Booking, s booking.Slot) checkin.Facts {
	facts := checkin.Facts{
		Status: checkin.Status(b.Status), Method: checkin.Method(b.CheckInMethod),
		Starts: s.StartsAt, Ends: s.EndsAt, SessionCancelled: s.State == catalog.Cancelled,
		Delivery: checkin.Delivery(s.Delivery), Location: (*checkin.Point)(s.Point), GPSMaxMeters: s.Policy.GPSMaxMeters,
		RequiresQR: s.Policy.CheckInRequiresQR, Window: windowOf(b, s),
	}
	if b.CheckedInAt != nil {
		facts.CheckedInAt = *b.CheckedInAt
	}
	return facts
}

// CheckInWindow is when members can check themselves in to a session.
func CheckInWindow(s booking.Slot) checkin.Window {
	w := checkin.Window{OpensBefore: s.Policy.CheckInOpensBefore, ClosesAfterEnd: s.Policy.CheckInClosesAfterEnd}
	if s.Policy.AutoNoShow {
		w.NoShowAfterStart = s.Policy.AutoNoShowAfterStart
	}
	return w
}

// windowOf is CheckInWindow for a booking: who booked after the start, such as a seat of someone who did not come, is
// not late because of that.
func windowOf(b booking.Booking, s booking.Slot) checkin.Window {
	w := CheckInWindow(s)
	if !b.CreatedAt.Before(s.StartsAt) {
		w.NoShowAfterStart = 0
	}
	return w
}

// NoShowFrom returns from when a booking whose party has not checked in is a no-show.
func NoShowFrom(b booking.Booking, s booking.Slot) time.Time {
	return windowOf(b, s).NoShowFrom(s.StartsAt, s.EndsAt, s.Policy.AutoNoShowAfter)
}

// applyCheckIn writes what a check-in, or its undo, changes in a booking.
func applyCheckIn(tx *engine.Tx, b booking.Booking, result checkin.Result, data event.Data) booking.Booking {
	if result.Unchanged {
		return b
	}
	b.Status, b.CheckedInAt, b.CheckInMethod = booking.Status(result.Status), nil, string(result.Method)
	if !result.CheckedInAt.IsZero() {
		b.CheckedInAt = &result.CheckedInAt
	}
	writeAttendance(tx, &b, data)
	return b
}
