package simulate

import (
	"fmt"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// What is the kind of a Fact.
type What string

// The kinds of facts.
const (
	Booked      What = "BOOKED" // confirmed at once, promoted, or by accepting an offer
	Held        What = "HELD"
	Confirmed   What = "CONFIRMED" // a hold
	Released    What = "RELEASED"
	HoldExpired What = "HOLD_EXPIRED"
	Cancelled   What = "CANCELLED"
	Rescheduled What = "RESCHEDULED"
	CheckedIn   What = "CHECKED_IN"
	NoShow      What = "NO_SHOW"
	NoShowUndo  What = "NO_SHOW_UNDONE"

	Joined      What = "JOINED"
	Left        What = "LEFT" // by itself, for good
	Stays       What = "STAYS"
	Prioritized What = "PRIORITIZED"
	Decided     What = "DECIDED"
	LookedAgain What = "LOOKED_AGAIN" // at open seats, once rules were edited
	Offered     What = "OFFERED"
	Kept        What = "KEPT" // an offer, for longer: its window begins when it is told
	OfferEnded  What = "OFFER_ENDED"
	GivenUp     What = "GIVEN_UP" // seats that a round kept for whoever claims them first

	Published   What = "PUBLISHED"
	Blocked     What = "BLOCKED"
	Unblocked   What = "UNBLOCKED"
	Resized     What = "RESIZED"
	CalledOff   What = "CALLED_OFF"
	RulesEdited What = "RULES_EDITED"

	Subscribed What = "SUBSCRIBED"
	StatusSet  What = "STATUS_SET" // of a subscription
	Renewed    What = "RENEWED"    // a subscription, with the credits of a new period
	MemberSet  What = "MEMBER_SET" // came back, or left
)

// Fact is something that happened. Facts come in the order in which they did, those of one transaction together and
// only once it has committed: what would be told to whom follows from them. Fields that have nothing to say are zero.
type Fact struct {
	What         What
	At           time.Time
	Session      tenant.SessionID
	To           tenant.SessionID // of a booking that moved
	Member       tenant.MemberID
	Booking      tenant.BookingID
	Entry        tenant.EntryID
	Offer        tenant.OfferID
	Round        tenant.RoundID
	Subscription tenant.SubscriptionID
	Party        int
	Until        time.Time // of a hold, of an offer, of the grace of whoever was promoted
	Staff        bool      // did it, or chose it
	On           bool      // blocked, active, flagged
	Refunded     bool
	Late         bool
	Gone         bool                 // the session was called off
	Silent       bool                 // nobody is to be told
	Spent        int                  // credits, with the renewal
	Promoted     bool                 // off the waitlist
	Ended        waitlist.OfferStatus // how an offer ended
	Why          string               // it was withdrawn, in words
	Shared       bool                 // first to claim
	Capacity     *int                 // of a session; nil: unlimited

	wish     *waitlist.Entry
	schedule *row
	plan     *credit.Subscription
	decision *waitlist.Record
	rules    *ruling
}

func (f Fact) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s", f.At.UTC().Format(time.RFC3339), f.What)
	for _, part := range []struct {
		name string
		id   tenant.UUID
	}{
		{"session", f.Session.UUID}, {"to", f.To.UUID}, {"member", f.Member.UUID}, {"booking", f.Booking.UUID},
		{"entry", f.Entry.UUID},
		{"offer", f.Offer.UUID}, {"round", f.Round.UUID}, {"subscription", f.Subscription.UUID},
	} {
		if !part.id.IsZero() {
			text.WriteString(" " + part.name + " " + short(part.id))
		}
	}
	if f.Party > 0 {
		fmt.Fprintf(&text, " party %d", f.Party)
	}
	if f.Ended != "" {
		text.WriteString(" as " + string(f.Ended))
	}
	if f.Why != "" {
		text.WriteString(": " + f.Why)
	}
	if f.decision != nil {
		d := f.decision.Decision
		fmt.Fprintf(&text, " by %s in mode %s: %s, given %d", f.decision.Case.Trigger, d.Mode, d.Move, d.Given)
	}
	return text.String()
}
