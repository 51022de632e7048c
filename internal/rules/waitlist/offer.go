package waitlist

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// OfferStatus is the status of an offer.
type OfferStatus string

// The statuses of offers.
const (
	Live      OfferStatus = "LIVE"
	Accepted  OfferStatus = "ACCEPTED"
	Declined  OfferStatus = "DECLINED"
	RanOut    OfferStatus = "EXPIRED"
	Withdrawn OfferStatus = "WITHDRAWN"
)

// Offer reserves freed seats for an entry for a limited time.
type Offer struct {
	ID      tenant.OfferID
	Round   tenant.RoundID
	Session tenant.SessionID
	Entry   tenant.EntryID
	Member  tenant.MemberID
	Seats   int
	// Shared offers reserve no seats of their own. The round keeps the seats for the first to claim.
	Shared    bool
	Status    OfferStatus
	Try       int // number of the offer in its round, from 1, including void ones
	ByHand    bool
	Score     int // of its entry, at the time of the offer
	CreatedAt time.Time
	ExpiresAt time.Time
	ClosedAt  *time.Time // when it was answered or ended
	Booking   tenant.BookingID
	Cause     Cause  // why it was withdrawn; empty if it was not
	Reason    string // what the member or staff said with its end
	Void      bool   // withdrawn, and counted as never made: see Cause
	ClaimHash []byte // SHA-256 of the token in its link
	CodeHash  []byte // a keyed hash of the digits that answer it by text message

	// Details for display. They are not columns of the offer.
	MemberName    string
	SessionTitle  string
	SessionStarts time.Time
	SessionEnds   time.Time
	TimeZone      string
	LocationName  string
	CoachName     string // of the session; empty without a coach
	Queue         Queue
	ServiceName   string
}

// Summary returns what is shown of the session.
func (o Offer) Summary() catalog.SessionSummary {
	return catalog.SessionSummary{
		ID: o.Session, Title: o.SessionTitle, StartsAt: o.SessionStarts, EndsAt: o.SessionEnds, CoachName: o.CoachName,
		Service: o.Queue.Service, Location: o.Queue.Location, LocationName: o.LocationName, TimeZone: o.TimeZone,
	}
}

// In returns the offer with what is shown of its session.
func (o Offer) In(s catalog.SessionSummary) Offer {
	o.SessionTitle, o.SessionStarts, o.SessionEnds, o.CoachName = s.Title, s.StartsAt, s.EndsAt, s.CoachName
	o.Queue.Service, o.Queue.Location, o.LocationName, o.TimeZone = s.Service, s.Location, s.LocationName, s.TimeZone
	return o
}

// Due reports whether an offer has expired, even if its status does not show it yet.
func (o Offer) Due(now time.Time) bool { return o.Status == Live && !now.Before(o.ExpiresAt) }

// Answerable returns WAITLIST_OFFER_NOT_LIVE if an offer is no longer live.
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
		fault.FailedPrecondition, fault.WaitlistOfferNotLive, "%s", says[status],
	).WithMetadata("status", string(status))
	if !o.Booking.IsZero() {
		err = err.WithMetadata("booking_id", o.Booking.String()).OwnedBy(o.Member.String())
	}
	return err
}

// Close ends a live offer.
func (o Offer) Close(as OfferStatus, reason string, now time.Time) Offer {
	o.Status, o.Reason, o.ClosedAt = as, reason, &now
	return o
}

// Reserves returns how many seats an offer itself reserves.
func (o Offer) Reserves() int {
	if o.Shared || o.Status != Live {
		return 0
	}
	return o.Seats
}

// Round is a set of seats that were freed at the same time, with the entries that got offers of them, one after the
// other.
type Round struct {
	ID      tenant.RoundID   `json:"id,omitzero"`
	Session tenant.SessionID `json:"-"`
	// the seats of the round: those that were open when it began, or at a later fill, if more
	Freed int `json:"freed"`
	// Opening: the round began when booking opened. Its entries never get more than Freed, of which Given are booked or on
	// offer.
	Opening bool `json:"opening,omitempty"`
	Given   int  `json:"given,omitempty"`
	// Keeps is the number of seats that it keeps for the first to claim. It is 0 in the other modes.
	Keeps int `json:"keeps,omitempty"`
	// the entries whose offers in it are not void, in the order of the offers
	Tried  []tenant.EntryID  `json:"tried,omitempty"`
	Asked  []tenant.MemberID `json:"asked,omitempty"`  // the members of these entries, each once
	Offers int               `json:"offers,omitempty"` // number of offers made in it, including void ones
	// GaveUp are the members whose seats they were, and Declined those who declined an offer of them. None of their other
	// entries gets them.
	GaveUp   []tenant.MemberID `json:"gave_up,omitempty"`
	Declined []tenant.MemberID `json:"declined,omitempty"`
	Opened   time.Time         `json:"-"`
	Closed   *time.Time        `json:"-"`
}

// AddOffer adds an offer to an entry, and returns the number of the offer in the round.
func (r *Round) AddOffer(e Entry) (try int) {
	r.Tried, r.Offers = append(slices.Clip(r.Tried), e.ID), r.Offers+1
	r.Asked = with(r.Asked, e.Member)
	return r.Offers
}

// with returns members with some more, each once. The zero id is that of a guest.
func with(members []tenant.MemberID, more ...tenant.MemberID) []tenant.MemberID {
	members = slices.Clip(members)
	for _, m := range more {
		if !m.IsZero() && !slices.Contains(members, m) {
			members = append(members, m)
		}
	}
	return members
}

// StatusAfter returns the status of an entry whose offer ended without a booking. A withdrawn offer never closes its
// entry.
func (r Rules) StatusAfter(e Entry, as OfferStatus) Status {
	var closes bool
	switch as {
	case Declined:
		closes = r.AfterDecline == CloseEntry
	case RanOut:
		closes = r.AfterExpiry == CloseEntry
	default:
		return Waiting // the member did not decline it
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
