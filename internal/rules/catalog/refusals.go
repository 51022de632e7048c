package catalog

import (
	"strconv"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// The refusals of this file have several rules in common: those for bookings, the waitlist, sessions and check-in.

// CheckParty rejects a party that is too small or too large: PARTY_SIZE.
func CheckParty(party, least, most int) error {
	if party < least || party > most {
		return fault.New(fault.InvalidArgument, fault.PartySize, "The party must be of %d to %d.", least, most).
			WithMetadata("min", strconv.Itoa(least)).WithMetadata("max", strconv.Itoa(most)).WithField("party_size")
	}
	return nil
}

// SeatsAvailable means that there is nothing to wait for, because a session has open seats.
func SeatsAvailable(session tenant.SessionID) *fault.Error {
	return fault.New(fault.FailedPrecondition, fault.SeatsAvailable, "There are seats: book one.").
		WithMetadata("session_id", session.String())
}

// AlreadyBooked means that a member already has an active booking or waitlist entry for the session.
func AlreadyBooked(member tenant.MemberID, booking tenant.BookingID, entry tenant.EntryID) *fault.Error {
	err := fault.New(fault.AlreadyExists, fault.AlreadyBooked, "Already booked for this session.").
		OwnedBy(member.String())
	if !booking.IsZero() {
		err = err.WithMetadata("booking_id", booking.String())
	}
	if !entry.IsZero() {
		err = err.WithMetadata("entry_id", entry.String())
	}
	return err
}

// NameTaken means that something else has the name, or the code, of a field.
func NameTaken(field, sentence string) *fault.Error {
	return fault.New(fault.AlreadyExists, fault.AlreadyExistsReason, "%s", sentence).WithField(field)
}

// CheckTakesPlace rejects a cancelled session: SESSION_STATE.
func (s SessionState) CheckTakesPlace() error {
	if s == Cancelled {
		return fault.New(fault.FailedPrecondition, fault.SessionState, "The session is cancelled.").
			WithMetadata("state", string(s))
	}
	return nil
}
