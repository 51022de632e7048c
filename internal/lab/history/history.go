// Package history checks whether the responses that callers got are possible if calls run one after the other. Calls
// overlap, responses are lost, and servers die during calls. If no order explains a history, a seat was sold twice, a
// cancellation was lost, or a credit was counted twice.
package history

import (
	"cmp"
	"io"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// Kind is the kind of a call.
type Kind string

// The kinds. Those of the first group concern a session, and some also the subscription that pays.
const (
	Book    Kind = "book" // or join the waitlist if the session is full
	Hold    Kind = "hold"
	Confirm Kind = "confirm" // a hold
	Release Kind = "release" // a hold
	Cancel  Kind = "cancel"  // a booking or a waitlist entry
	Move    Kind = "move"    // a booking, to another session
	Accept  Kind = "accept"  // an offer
	Decline Kind = "decline" // an offer, which ends the entry too
	Expire  Kind = "expire"  // of holds or offers: not a call, but found in the data
	Look    Kind = "look"    // reads a session's roster

	Grant   Kind = "grant"   // credits
	Balance Kind = "balance" // reads the balance
)

// Outcome is the result of a call.
type Outcome string

// The outcomes.
const (
	Done      Outcome = "done"       // a hold, a confirmation, an acceptance, a grant, a look
	Booked    Outcome = "booked"     // by Book
	Waits     Outcome = "waits"      // by Book: on the waitlist
	Gone      Outcome = "gone"       // it had been cancelled before
	Settled   Outcome = "settled"    // it is cancelled or moved, by this call or an earlier one
	Full      Outcome = "full"       // no seats, and no room on the waitlist
	Already   Outcome = "already"    // the member has a place in the session
	NoCredits Outcome = "no credits" // too few
	Refused   Outcome = "refused"    // for another reason: the status of the place does not allow it
	Unknown   Outcome = "unknown"    // no response: it may have happened, then or later
)

// Operation is a call with its result.
type Operation struct {
	Client  int    `json:"client"`
	Kind    Kind   `json:"kind"`
	Session string `json:"session,omitempty"`
	To      string `json:"to,omitempty"`    // where Move goes
	Payer   string `json:"payer,omitempty"` // the subscription whose credits it moves or reads
	Member  int    `json:"member"`
	// Place is the number of what Book or Hold makes, and what the other calls act on. A promoted entry and its booking
	// are one place. Numbers are unique in a history and start at 1.
	Place int `json:"place,omitempty"`
	Party int `json:"party,omitempty"`
	// ByEntry is set if Cancel names the id of the waitlist entry: once the entry is a booking, that is refused.
	ByEntry bool `json:"line,omitempty"`
	// Amount is the number of credits to grant.
	Amount int `json:"amount,omitempty"`

	// Called and Returned are times on the recorder's clock.
	Called   time.Duration `json:"called"`
	Returned time.Duration `json:"returned"`

	Outcome Outcome `json:"outcome"`
	Reason  string  `json:"reason,omitempty"` // of an error
	// Promoted is how many entries got the freed seats, Position the position of a new entry. -1 if the response does not
	// show it.
	Promoted int `json:"promoted,omitempty"`
	Position int `json:"position,omitempty"`
	// Moved is the change in credits: negative if taken, positive if refunded. Left is the balance in the response.
	Moved int `json:"moved,omitempty"`
	Left  int `json:"left,omitempty"`
	// Ended are the places whose holds or offers expired at the same time: their seats were filled together.
	Ended []int `json:"ended,omitempty"`
	// Seen is the roster that Look read, and Taken its number of taken seats; nil if unknown.
	Seen  []Seat `json:"seen,omitempty"`
	Taken *int   `json:"taken,omitempty"`
	// IDs are the ids in that roster, until their places are known.
	IDs []string `json:"-"`
	// Offer is the number of the offer that Accept or Decline answers, among those of the place, from 1. 0: its live one.
	Offer int `json:"offer,omitempty"`
	// OfferID is the id of that offer, until its number is known.
	OfferID string `json:"-"`

	// Attempts is how often it was sent with the same key. Note is for people.
	Attempts int    `json:"attempts,omitempty"`
	Note     string `json:"note,omitempty"`
}

// Status is the status of a place.
type Status byte

// The statuses.
const (
	Held      Status = 'h'
	Confirmed Status = 'c'
	Offered   Status = 'o'
	Waiting   Status = 'w'
)

// Seat is a place in a roster. Waiting ones come last, in the order of the queue.
type Seat struct {
	Place  int    `json:"place"`
	Status Status `json:"status"`
}

// Verdict is the result of checking a history.
type Verdict struct {
	Name       string
	Result     porcupine.CheckResult
	operations []Operation
	model      porcupine.Model
	info       porcupine.LinearizationInfo
}

// Linearizable reports whether some order explains the history.
func (v Verdict) Linearizable() bool { return v.Result == porcupine.Ok }

// Operations are the operations that were checked.
func (v Verdict) Operations() []Operation { return v.operations }

// WritePage writes a page that shows the history, and how far an order explains it.
func (v Verdict) WritePage(to io.Writer) error { return porcupine.Visualize(v.model, v.info, to) }

// check looks for an order until the timeout.
func check(name string, model porcupine.Model, all []Operation, timeout time.Duration) Verdict {
	history := make([]porcupine.Operation, len(all))
	for i, op := range all {
		history[i] = porcupine.Operation{
			ClientId: op.Client, Input: op, Output: op, Call: int64(op.Called), Return: int64(op.Returned),
		}
		if op.Outcome == Unknown || op.Kind == Expire {
			history[i].Return = forever
		}
	}
	// On the page, overlapping calls have separate rows. Otherwise a call without an end would hide those after it.
	rows := assignRows(history)
	for i := range history {
		history[i].ClientId = rows[i]
	}
	v := Verdict{Name: name, operations: all, model: model}
	v.Result, v.info = porcupine.CheckOperationsVerbose(model, history, timeout)
	return v
}

// assignRows returns a row for each operation in which it overlaps no other.
func assignRows(history []porcupine.Operation) []int {
	order := make([]int, len(history))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(history[a].Call, history[b].Call) })
	rows := make([]int, len(history))
	var ends []int64
	for _, i := range order {
		at := slices.IndexFunc(ends, func(end int64) bool { return end < history[i].Call })
		if at < 0 {
			at, ends = len(ends), append(ends, 0)
		}
		rows[i], ends[at] = at, history[i].Return
	}
	return rows
}

// filter returns the operations that a history is about.
func filter(all []Operation, about func(Operation) bool) []Operation {
	var some []Operation
	for _, op := range all {
		if about(op) {
			some = append(some, op)
		}
	}
	return some
}
