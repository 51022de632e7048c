package simulate

import (
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/rules/waitlist"
)

// Report counts what happened.
type Report struct {
	Length            time.Duration
	Transactions      int // including refused ones
	Refused           int
	Events            int
	Bookings          int
	Cancelled         int
	LateCancelled     int // without a refund
	NoShows           int
	Holds             int
	ExpiredHolds      int
	Rescheduled       int
	Joined            int
	Decisions         int
	Promoted          int // without an offer
	Offers            int
	Accepted          int
	Sessions          int
	CancelledSessions int
	HandedBack        int // decisions that left a task to staff
	Messages          int // sent, or possibly sent
	Reminders         int
	Repeated          int // marked in the log as possibly sent twice
	Deferred          int
	Dropped           int
}

// Sum returns the sum of two reports.
func (r Report) Sum(o Report) Report {
	r.Length += o.Length
	mine, theirs := r.counts(), o.counts()
	for i, c := range mine {
		*c.n += *theirs[i].n
	}
	return r
}

// String returns one line for each count.
func (r Report) String() (text string) {
	for _, c := range r.counts() {
		text += fmt.Sprintf("%10d %s\n", *c.n, c.of)
	}
	return text
}

type count struct {
	n  *int
	of string
}

func (r *Report) counts() []count {
	return []count{
		{&r.Transactions, "transactions"}, {&r.Refused, "of them refused"}, {&r.Events, "events"}, {&r.Sessions, "sessions"},
		{&r.CancelledSessions, "of them cancelled"}, {&r.Bookings, "bookings"}, {&r.Cancelled, "cancelled"},
		{&r.LateCancelled, "of them late"},
		{&r.Rescheduled, "rescheduled"}, {&r.NoShows, "no-shows"}, {&r.Holds, "holds"}, {&r.ExpiredHolds, "of them expired"},
		{&r.Joined, "waitlist entries"}, {&r.Decisions, "decisions about free seats"},
		{&r.HandedBack, "of them left to staff"},
		{&r.Promoted, "promoted"}, {&r.Offers, "offers"}, {&r.Accepted, "of them accepted"},
		{&r.Messages, "messages"}, {&r.Reminders, "of them reminders"}, {&r.Repeated, "of them possibly repeated"},
		{&r.Deferred, "times a message was deferred"}, {&r.Dropped, "messages dropped, with a reason"},
	}
}

func (r *Report) count(ev Event) {
	add := func(n *int, when bool) {
		if when {
			*n++
		}
	}
	add(&r.Bookings, ev.Kind == Booked || ev.Kind == Confirmed)
	add(&r.Cancelled, ev.Kind == Cancelled)
	add(&r.LateCancelled, ev.Kind == Cancelled && ev.Late)
	add(&r.NoShows, ev.Kind == NoShow)
	add(&r.Holds, ev.Kind == Held)
	add(&r.ExpiredHolds, ev.Kind == HoldExpired)
	add(&r.Rescheduled, ev.Kind == Rescheduled)
	add(&r.Joined, ev.Kind == Joined)
	add(&r.Decisions, ev.Kind == Decided)
	add(&r.Promoted, ev.Kind == Booked && ev.Promoted && ev.Offer.IsZero())
	add(&r.Offers, ev.Kind == Offered)
	add(&r.Accepted, ev.Kind == OfferEnded && ev.Ended == waitlist.Accepted)
	add(&r.Sessions, ev.Kind == Published)
	add(&r.CancelledSessions, ev.Kind == SessionCancelled)
	add(&r.HandedBack, ev.decision != nil && ev.decision.Decision.LeftMove == waitlist.HandBack)
}
