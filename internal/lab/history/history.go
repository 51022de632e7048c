// Package history decides whether what callers were told could have come from one who does one thing after the
// other. Calls overlap, answers get lost, and servers die between the two; a history that no such order explains
// is proof that a seat was sold twice, a cancellation got lost, or a credit was counted double.
package history

import (
	"cmp"
	"io"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// Kind is what was asked for.
type Kind string

// The kinds. Those of the first group concern a session, and some of them the subscription that pays, too.
const (
	Book    Kind = "book" // and wait where the session is full
	Hold    Kind = "hold"
	Confirm Kind = "confirm" // a hold
	Release Kind = "release" // a hold
	Cancel  Kind = "cancel"  // a booking, or a place in line
	Move    Kind = "move"    // a booking, to another session
	Accept  Kind = "accept"  // an offer
	Decline Kind = "decline" // an offer, and the place in line with it
	Expire  Kind = "expire"  // holds or offers ran out: nobody asked, and the data tell
	Look    Kind = "look"    // at a session's roster

	Grant   Kind = "grant"   // credits
	Balance Kind = "balance" // read it
)

// Outcome is what an operation was told.
type Outcome string

// The outcomes.
const (
	Done    Outcome = "done"    // a hold, a confirmation, an acceptance, a grant, a look
	Booked  Outcome = "booked"  // by Book
	Waits   Outcome = "waits"   // by Book
	Gone    Outcome = "gone"    // it had been given up before
	Settled Outcome = "settled" // it is given up, or moved, by this call or by one before
	Full    Outcome = "full"    // no seats, and no room in line
	Already Outcome = "already" // they have a place here
	Broke   Outcome = "broke"   // too few credits
	Refused Outcome = "refused" // for what the other outcomes do not say: the place is in no state for it
	Unknown Outcome = "unknown" // no answer came: it may have happened, then or later
)

// Operation is one call with its answer.
type Operation struct {
	Client  int    `json:"client"`
	Kind    Kind   `json:"kind"`
	Session string `json:"session,omitempty"`
	To      string `json:"to,omitempty"`    // where Move goes
	Payer   string `json:"payer,omitempty"` // the subscription whose credits it moves or reads
	Member  int    `json:"member"`
	// Place numbers what Book or Hold makes, and is what the others act on. A promoted entry and its booking are one
	// place. The numbers are unique in a history, and count from 1.
	Place int `json:"place,omitempty"`
	Party int `json:"party,omitempty"`
	// Line is set where Cancel names a place in line by the id that it had there: once it is a booking that is refused.
	Line bool `json:"line,omitempty"`
	// Amount is granted.
	Amount int `json:"amount,omitempty"`

	// Called and Returned are on one clock: that of whoever recorded it.
	Called   time.Duration `json:"called"`
	Returned time.Duration `json:"returned"`

	Outcome Outcome `json:"outcome"`
	Reason  string  `json:"reason,omitempty"` // of a refusal
	// Promoted is how many got the seats that it freed, Position where in line it put them; -1 where the answer does not tell.
	Promoted int `json:"promoted,omitempty"`
	Position int `json:"position,omitempty"`
	// Moved are the credits that it took (below zero) or gave back; Left is a balance that was read or reported.
	Moved int `json:"moved,omitempty"`
	Left  int `json:"left,omitempty"`
	// Ended are the places whose holds or offers ran out at one moment: all their seats were given away at once.
	Ended []int `json:"ended,omitempty"`
	// Seen is what a look saw, and Taken how many seats it counted that nobody else can have; nil where it did not tell.
	Seen  []Seat `json:"seen,omitempty"`
	Taken *int   `json:"taken,omitempty"`
	// IDs are those of what a look saw, before it is known which places they are.
	IDs []string `json:"-"`
	// Offer numbers the offers that a place has had, from 1: Accept and Decline answer one of them. 0: whichever it has.
	Offer int `json:"offer,omitempty"`
	// OfferID is that one's, before it is known which it is.
	OfferID string `json:"-"`

	// Attempts is how often it was sent under one key; Note is for people.
	Attempts int    `json:"attempts,omitempty"`
	Note     string `json:"note,omitempty"`
}

// Status is that of a place.
type Status byte

// The statuses.
const (
	Held      Status = 'h'
	Confirmed Status = 'c'
	Offered   Status = 'o'
	Waiting   Status = 'w'
)

// Seat is a place as a look sees it. Those who wait come last, in their order.
type Seat struct {
	Place  int    `json:"place"`
	Status Status `json:"status"`
}

// Verdict is what became of checking a history.
type Verdict struct {
	Name       string
	Result     porcupine.CheckResult
	operations []Operation
	model      porcupine.Model
	info       porcupine.LinearizationInfo
}

// Sound reports whether some order explains the history.
func (v Verdict) Sound() bool { return v.Result == porcupine.Ok }

// Operations are those that were judged.
func (v Verdict) Operations() []Operation { return v.operations }

// Draw writes a page that shows the history, and how far an order explains it.
func (v Verdict) Draw(to io.Writer) error { return porcupine.Visualize(v.model, v.info, to) }

// check looks for an order, for as long as it may.
func check(name string, model porcupine.Model, all []Operation, patience time.Duration) Verdict {
	history := make([]porcupine.Operation, len(all))
	for i, op := range all {
		history[i] = porcupine.Operation{ClientId: op.Client, Input: op, Output: op, Call: int64(op.Called), Return: int64(op.Returned)}
		if op.Outcome == Unknown || op.Kind == Expire {
			history[i].Return = forever
		}
	}
	// Clients whose calls overlap are drawn in lines of their own; what never ends would hide what comes after it.
	lanes := spread(history)
	for i := range history {
		history[i].ClientId = lanes[i]
	}
	v := Verdict{Name: name, operations: all, model: model}
	v.Result, v.info = porcupine.CheckOperationsVerbose(model, history, patience)
	return v
}

// spread gives each operation a line in which it overlaps no other.
func spread(history []porcupine.Operation) []int {
	order := make([]int, len(history))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(history[a].Call, history[b].Call) })
	lines := make([]int, len(history))
	var ends []int64
	for _, i := range order {
		at := slices.IndexFunc(ends, func(end int64) bool { return end < history[i].Call })
		if at < 0 {
			at, ends = len(ends), append(ends, 0)
		}
		lines[i], ends[at] = at, history[i].Return
	}
	return lines
}

// pick gives the operations that a history is about.
func pick(all []Operation, about func(Operation) bool) []Operation {
	var some []Operation
	for _, op := range all {
		if about(op) {
			some = append(some, op)
		}
	}
	return some
}
