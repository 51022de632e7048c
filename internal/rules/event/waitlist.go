package event

import (
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// waitlistTypes are the types of this file.
var waitlistTypes = []stored{
	as(WaitlistJoined{}), as(WaitlistLeft{Notify: true}), as(WaitlistPromoted{}), as(WaitlistChanged{}),
	as(WaitlistStaffNote{}),
	as(OfferCreated{}), as(OfferExtended{}), as(OfferAccepted{}), as(OfferDeclined{}), as(OfferExpired{}),
	as(OfferWithdrawn{}),
}

// WaitlistJoined says that a member joined a waitlist.
type WaitlistJoined struct {
	Position int `json:"position" see:"own"`
}

// Type implements Data.
func (WaitlistJoined) Type() Type { return "waitlist.joined" }

// WaitlistLeft says that an entry left a waitlist without seats.
type WaitlistLeft struct {
	Reason string `json:"reason" see:"own"`
	Notify bool   `json:"notify"`
	// TellUntil: the entry could no longer get a seat, and its member is told so until this time.
	TellUntil time.Time `json:"tell_until,omitzero"`
}

// Type implements Data.
func (WaitlistLeft) Type() Type { return "waitlist.left" }

// WaitlistPromoted says that an entry was promoted: the event is also about its booking.
type WaitlistPromoted struct{}

// Type implements Data.
func (WaitlistPromoted) Type() Type { return "waitlist.promoted" }

// WaitlistChanged says that staff flagged, scored or moved an entry.
type WaitlistChanged struct {
	Flagged        bool `json:"flagged"`
	Score          *int `json:"score"` // null: by the rules
	Position       int  `json:"position" see:"own"`
	PositionBefore int  `json:"position_before"`
}

// Type implements Data.
func (WaitlistChanged) Type() Type { return "waitlist.changed" }

// WaitlistStaffNote says that a decision of the waitlist left staff something to do.
type WaitlistStaffNote struct {
	Decision tenant.DecisionID `json:"decision_id"`
	Move     string            `json:"move"`
	Note     string            `json:"note"`
}

// Type implements Data.
func (WaitlistStaffNote) Type() Type { return "waitlist.staff_note" }

// OfferCreated says that seats were offered to an entry.
type OfferCreated struct {
	Expires      time.Time `json:"expire_time" see:"own"`
	FirstToClaim bool      `json:"first_to_claim" see:"own"` // others got the same offer
	Try          int       `json:"try"`
}

// Type implements Data.
func (OfferCreated) Type() Type { return "offer.created" }

// OfferExtended says that an offer is live for longer, because its member was told later than planned.
type OfferExtended struct {
	Expires time.Time `json:"expire_time" see:"own"`
}

// Type implements Data.
func (OfferExtended) Type() Type { return "offer.extended" }

// OfferEnd is what the events say with which an offer ends.
type OfferEnd struct {
	Reason string `json:"reason,omitempty" see:"own"`
}

// OfferAccepted says that an offer was accepted.
type OfferAccepted OfferEnd

// Type implements Data.
func (OfferAccepted) Type() Type { return "offer.accepted" }

// OfferDeclined says that an offer was declined.
type OfferDeclined OfferEnd

// Type implements Data.
func (OfferDeclined) Type() Type { return "offer.declined" }

// OfferExpired says that an offer expired without an answer.
type OfferExpired OfferEnd

// Type implements Data.
func (OfferExpired) Type() Type { return "offer.expired" }

// OfferWithdrawn says that an offer was withdrawn.
type OfferWithdrawn struct {
	Cause  string `json:"cause" see:"own"`
	Reason string `json:"reason,omitempty" see:"own"` // what staff said
}

// Type implements Data.
func (OfferWithdrawn) Type() Type { return "offer.withdrawn" }
