package booking

import (
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// The permissions that the rules of booking ask for. What a role is called does not matter.
const (
	// CreateForOthers and HoldForOthers are to book and to hold for others, and to say that someone called or came.
	CreateForOthers = catalog.CreateForOthers
	HoldForOthers   = catalog.HoldForOthers
	// OwnFree makes one's own bookings free: no plan pays, and no limit of a plan applies.
	OwnFree = "booking.own_free"
	// AfterStart is to book from when booking closes until the end of the session, and RecordPast after that.
	AfterStart = "booking.after_start"
	RecordPast = "booking.record_past"
	// BeforeOpening is to book before the advance window opens.
	BeforeOpening = "booking.before_opening"
	// BlockedSession is to book in a blocked session.
	BlockedSession = "booking.blocked_session"
	// OverCapacity is to raise the capacity of a full session in order to book.
	OverCapacity = "booking.over_capacity"
)

// forOthers is the permission to act for others.
func (r Request) forOthers() string {
	if r.Hold {
		return HoldForOthers
	}
	return CreateForOthers
}

// exempt reports whether a permission of the caller lifts a refusal of the session's times or its state. Holds and
// waitlists have no such exemptions: they are for seats that members may book.
func (r Request) exempt(permission string) bool {
	return r.May[permission] && !r.Hold && !r.JoinWaitlist && !r.Promotion
}

// IsFree reports whether a caller's booking for a member is free: one's own, if the caller may, and those for others.
func IsFree(caller tenant.Caller, of tenant.MemberID) bool {
	if of == caller.Member {
		return caller.May[OwnFree]
	}
	return caller.May[CreateForOthers]
}
