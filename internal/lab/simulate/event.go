package simulate

import (
	"fmt"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// Kind is the kind of an Event.
type Kind string

// The kinds of events.
const (
	Booked       Kind = "BOOKED" // confirmed directly, promoted, or by accepting an offer
	Held         Kind = "HELD"
	Confirmed    Kind = "CONFIRMED" // a hold
	Released     Kind = "RELEASED"
	HoldExpired  Kind = "HOLD_EXPIRED"
	Cancelled    Kind = "CANCELLED"
	Rescheduled  Kind = "RESCHEDULED"
	CheckedIn    Kind = "CHECKED_IN"
	NoShow       Kind = "NO_SHOW"
	NoShowUndone Kind = "NO_SHOW_UNDONE"

	Joined        Kind = "JOINED"
	Left          Kind = "LEFT" // an entry closed without a booking
	Requeued      Kind = "REQUEUED"
	Flagged       Kind = "FLAGGED"
	Decided       Kind = "DECIDED"
	OpenRefill    Kind = "OPEN_REFILL" // open seats were filled after an edit of the rules, or for a member's entry
	Rechecked     Kind = "RECHECKED"   // the entries of a member that were passed over are checked again
	Offered       Kind = "OFFERED"
	OfferExtended Kind = "OFFER_EXTENDED" // the window starts when the offer is sent
	OfferEnded    Kind = "OFFER_ENDED"
	GraceStarted  Kind = "GRACE_STARTED"  // when a promotion is told
	SeatsReleased Kind = "SEATS_RELEASED" // a round no longer keeps them for the first to claim

	Published        Kind = "PUBLISHED"
	BookingOpened    Kind = "BOOKING_OPENED" // for entries that waited for it
	Blocked          Kind = "BLOCKED"
	Unblocked        Kind = "UNBLOCKED"
	Resized          Kind = "RESIZED"
	SessionCancelled Kind = "SESSION_CANCELLED"
	RulesEdited      Kind = "RULES_EDITED"

	Subscribed          Kind = "SUBSCRIBED"
	SubscriptionChanged Kind = "SUBSCRIPTION_CHANGED"
	Renewed             Kind = "RENEWED"        // a subscription, with the credits of a new period
	MemberChanged       Kind = "MEMBER_CHANGED" // activated or deactivated
)

// Event is something that happened. Events are delivered in order, and those of a transaction together, after it has
// committed. Messages follow from them. Fields that do not apply are zero.
type Event struct {
	Kind             Kind
	At               time.Time
	Session          tenant.SessionID
	To               tenant.SessionID // where a booking was moved
	Member           tenant.MemberID
	Booking          tenant.BookingID
	Entry            tenant.EntryID
	Offer            tenant.OfferID
	Round            tenant.RoundID
	Subscription     tenant.SubscriptionID
	Party            int
	Until            time.Time // end of a hold, an offer, or the grace of a promoted member
	Zone             string    // in which the grace runs
	Staff            bool      // staff did it, or chose it
	On               bool      // blocked, active, flagged; a refill is for members who were passed over
	Refunded         bool
	Late             bool
	SessionCancelled bool                 // with the booking
	Silent           bool                 // sends no messages
	Over             bool                 // the entry could no longer get a seat
	Spent            int                  // credits that were spent before the renewal
	Promoted         bool                 // from the waitlist
	Ended            waitlist.OfferStatus // how an offer ended
	Why              waitlist.Cause       // why an offer was withdrawn
	Shared           bool                 // first to claim
	Capacity         *int                 // of a session; nil is unlimited

	target   *waitlist.Entry
	schedule *sessionRow
	plan     *credit.Subscription
	decision *waitlist.Record
	rules    *service
}

func (ev Event) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s", ev.At.UTC().Format(time.RFC3339), ev.Kind)
	for _, part := range []struct {
		name string
		id   tenant.UUID
	}{
		{"session", ev.Session.UUID}, {"to", ev.To.UUID}, {"member", ev.Member.UUID}, {"booking", ev.Booking.UUID},
		{"entry", ev.Entry.UUID},
		{"offer", ev.Offer.UUID}, {"round", ev.Round.UUID}, {"subscription", ev.Subscription.UUID},
	} {
		if !part.id.IsZero() {
			text.WriteString(" " + part.name + " " + short(part.id))
		}
	}
	if ev.Party > 0 {
		fmt.Fprintf(&text, " party %d", ev.Party)
	}
	if ev.Ended != "" {
		text.WriteString(" as " + string(ev.Ended))
	}
	if ev.Why != "" {
		text.WriteString(": " + string(ev.Why))
	}
	if ev.decision != nil {
		d := ev.decision.Decision
		fmt.Fprintf(&text, " by %s in mode %s: %s, given %d", ev.decision.Case.Trigger, d.Mode, d.Move, d.Given)
	}
	return text.String()
}
