package waitlist

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// OfferStatus is where an offer is in its life.
type OfferStatus string

// The statuses of offers.
const (
	Live      OfferStatus = "LIVE"
	Accepted  OfferStatus = "ACCEPTED"
	Declined  OfferStatus = "DECLINED"
	RanOut    OfferStatus = "EXPIRED"
	Withdrawn OfferStatus = "WITHDRAWN"
)

// Offer is a freed place reserved for an entry for a limited time.
type Offer struct {
	ID      tenant.OfferID
	Round   tenant.RoundID
	Session tenant.SessionID
	Entry   tenant.EntryID
	Member  tenant.MemberID
	Seats   int
	// Shared: it reserves nothing by itself. The round keeps the seats for the first who claims them.
	Shared    bool
	Status    OfferStatus
	Try       int // counts the offers of a round, void ones too, from 1
	ByHand    bool
	Score     int // of its entry, when it was made
	CreatedAt time.Time
	ExpiresAt time.Time
	ClosedAt  *time.Time // when it was answered, or ended otherwise
	Booking   tenant.BookingID
	Reason    string // why it was withdrawn
	Void      bool   // withdrawn, and as good as never made: see Cause
	ClaimHash []byte // SHA-256 of the token in its link
	Code      string // the digits by which a text message answers it

	// Read along for those who look at it; not part of its own row.
	MemberName    string
	SessionTitle  string
	SessionStarts time.Time
	SessionEnds   time.Time
	TimeZone      string
	LocationName  string
	Queue         Queue
	ServiceName   string
}

// Due reports whether an offer has run out, whether or not anybody has noticed.
func (o Offer) Due(now time.Time) bool { return o.Status == Live && !now.Before(o.ExpiresAt) }

// Answerable refuses an answer to an offer that is no longer live: OFFER_NOT_LIVE.
func (o Offer) Answerable(now time.Time) error {
	status := o.Status
	if o.Due(now) {
		status = RanOut
	}
	if status == Live {
		return nil
	}
	says := map[OfferStatus]string{
		Accepted: "The offer was accepted before.", Declined: "The offer was declined before.",
		RanOut: "The offer has expired.", Withdrawn: "The offer was withdrawn.",
	}
	err := fault.New(
		fault.FailedPrecondition, fault.OfferNotLive, "%s", says[status],
	).WithMetadata("status", string(status))
	if !o.Booking.IsZero() {
		err = err.WithMetadata("booking_id", o.Booking.String())
	}
	return err
}

// Close ends a live offer.
func (o Offer) Close(as OfferStatus, reason string, now time.Time) Offer {
	o.Status, o.Reason, o.ClosedAt = as, reason, &now
	return o
}

// Reserves is how many seats an offer keeps by itself.
func (o Offer) Reserves() int {
	if o.Shared || o.Status != Live {
		return 0
	}
	return o.Seats
}

// Round is what becomes of seats that were freed at one moment: who was asked for them, one after the other.
type Round struct {
	ID      tenant.RoundID   `json:"id,omitzero"`
	Session tenant.SessionID `json:"-"`
	// seats that it gives: those when it began, or all that were open since, if more
	Freed int `json:"freed"`
	// Keeps are the seats that it keeps for whoever claims them first; none in the other modes.
	Keeps int `json:"keeps,omitempty"`
	// whose offers in it are not void, in the order in which they were asked
	Tried  []tenant.EntryID `json:"tried,omitempty"`
	Offers int              `json:"offers,omitempty"` // that were made in it, void ones too
	Opened time.Time        `json:"-"`
	Closed *time.Time       `json:"-"`
}

// Ask counts an entry that is made an offer among those who were asked, and gives the number of the offer.
func (r *Round) Ask(e tenant.EntryID) (try int) {
	r.Tried, r.Offers = append(slices.Clip(r.Tried), e), r.Offers+1
	return r.Offers
}

// Returned says what becomes of an entry whose offer ended without a booking. One that was withdrawn, whatever for, is
// not among the offers that it may let go.
func (r Rules) Returned(e Entry, as OfferStatus) Status {
	var closes bool
	switch as {
	case Declined:
		closes = r.AfterDecline == CloseEntry
	case RanOut:
		closes = r.AfterExpiry == CloseEntry
	default:
		return Waiting // it was not theirs to lose
	}
	switch {
	case !closes && (r.MaxOffersPerEntry == 0 || e.Tries < r.MaxOffersPerEntry):
		return Waiting
	case as == Declined:
		return Cancelled
	default:
		return Expired
	}
}
