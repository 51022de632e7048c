// Package waitlist decides who gets a freed place, and can say why.
package waitlist

import (
	"errors"
	"time"

	"github.com/berthhq/berth/internal/catalog"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// Status is where an entry is in its life.
type Status string

// The statuses.
const (
	Waiting   Status = "WAITING"
	Offered   Status = "OFFERED"
	Booked    Status = "BOOKED"
	Cancelled Status = "CANCELLED"
	Expired   Status = "EXPIRED"
)

// Entry is a wish for a place in a session.
type Entry struct {
	ID           tenant.EntryID
	Session      tenant.SessionID
	Member       tenant.MemberID
	Party        int
	Status       Status
	Seq          int64 // the order of joining within the session
	Subscription tenant.SubscriptionID
	Channel      catalog.Channel
	ByStaff      bool
	ExternalRef  string
	RequestHash  []byte
	Note         string
	Booking      tenant.BookingID // where it got a place
	PassedOver   string           // the reason for which a freed seat last passed it by
	CreatedBy    string
	CreatedAt    time.Time

	// Read along for those who look at it; not part of its own row.
	Position      int // in the queue, from 1; 0 when it no longer waits
	MemberName    string
	MemberTier    string
	MemberActive  bool
	SessionTitle  string
	SessionStarts time.Time
	TimeZone      string
}

// Trigger is why seats are free.
type Trigger string

// The triggers.
const (
	ByCancellation Trigger = "CANCELLATION"
	ByNoShow       Trigger = "NO_SHOW"
	ByCapacity     Trigger = "CAPACITY_RAISED"
	ByUnblock      Trigger = "UNBLOCKED"
	ByPublish      Trigger = "PUBLISHED"
	ByExpiredHold  Trigger = "HOLD_EXPIRED"
	ByRelease      Trigger = "HOLD_RELEASED"
	ByReschedule   Trigger = "RESCHEDULED"
)

// Move is what becomes of freed seats. Every freed seat ends in exactly one.
type Move string

// The moves.
const (
	NobodyFits Move = "NOBODY_FITS"
	Offer      Move = "OFFER" // with automatic promotion the offer is accepted at once
)

// Candidate is an entry in fair order, with what its booking would say.
type Candidate struct {
	Entry Entry
	// Refused is why it cannot be booked; nil where it can.
	Refused error
}

// Verdict is the judgement on one entry.
type Verdict struct {
	Entry  tenant.EntryID  `json:"entry_id"`
	Member tenant.MemberID `json:"member_id"`
	// Reason is PROMOTED, NO_SEATS_LEFT, PARTY_SIZE, or the refusal that its booking would get.
	Reason string `json:"reason"`
}

// Verdicts that are no refusals.
const (
	Promoted    = "PROMOTED"
	NoSeatsLeft = "NO_SEATS_LEFT"
)

// Decision is a move with the judgement on every entry considered.
type Decision struct {
	Move     Move
	Promote  []Entry // in order
	Verdicts []Verdict
}

// Decide promotes, in order of joining, all that can be booked into the open
// seats; nil seats are unlimited. A party that is larger than what is left is
// passed over for a smaller one, and keeps its place in the queue.
func Decide(seats *int, candidates []Candidate) Decision {
	d := Decision{Move: NobodyFits}
	left := 0
	if seats != nil {
		left = *seats
	}
	for _, c := range candidates {
		verdict := Verdict{Entry: c.Entry.ID, Member: c.Entry.Member}
		switch {
		case seats != nil && left == 0:
			verdict.Reason = NoSeatsLeft
		case seats != nil && c.Entry.Party > left:
			verdict.Reason = string(fault.PartySize)
		case c.Refused != nil:
			verdict.Reason = reason(c.Refused)
		default:
			verdict.Reason = Promoted
			d.Move = Offer
			d.Promote = append(d.Promote, c.Entry)
			left -= c.Entry.Party
		}
		d.Verdicts = append(d.Verdicts, verdict)
	}
	return d
}

func reason(err error) string {
	if refusal, ok := errors.AsType[*fault.Error](err); ok {
		return string(refusal.Reason)
	}
	return string(fault.InternalError)
}

// grace is how long a promoted member may think about it.
const grace = time.Hour

// GraceUntil is the end of the time in which a member who was promoted at now may cancel without
// penalty, wherever the cancellation window stands: they did not choose the moment.
func GraceUntil(now, starts time.Time) time.Time {
	if until := now.Add(grace); until.Before(starts) {
		return until
	}
	return starts
}
