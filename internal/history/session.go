package history

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// Session is what a session promises.
type Session struct {
	ID       string `json:"id"`
	Capacity int    `json:"capacity"`
	Queue    int    `json:"queue"`  // how many may wait
	Offers   bool   `json:"offers"` // freed seats are offered in turn; otherwise who waits is booked at once
	// Brief: its holds run out, each by the clock of whichever server looks at it.
	Brief bool `json:"brief,omitempty"`
}

// CheckSession looks for an order of all that happened in a session.
func CheckSession(s Session, all []Operation, patience time.Duration) Verdict {
	mine := of(all, func(op Operation) bool { return op.Session == s.ID })
	return check("session "+s.ID, s.model(), mine, patience)
}

// model is the session as it has to be: a list of places.
func (s Session) model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return "" },
		Step: func(state, input, output any) (bool, any) {
			text, _ := state.(string)
			asked, _ := input.(Operation)
			told, _ := output.(Operation)
			r := room{Session: s, places: decode(text)}
			ok := r.step(asked, told)
			return ok, r.encode()
		},
		DescribeOperation: func(_, output any) string {
			op, _ := output.(Operation)
			return op.describe()
		},
		DescribeState: func(state any) string {
			text, _ := state.(string)
			return describe(decode(text))
		},
	}
}

// place is what a member has in a session.
type place struct {
	number, member, party int
	status                Status
}

// room is a session at a moment. Those with seats come first, by number, and then those who wait, in their order.
type room struct {
	Session
	places []place
}

const placeSize = 8

func decode(text string) []place {
	places := make([]place, 0, len(text)/placeSize+1)
	for b := []byte(text); len(b) > 0; b = b[placeSize:] {
		places = append(places, place{
			number: int(binary.BigEndian.Uint32(b)), member: int(binary.BigEndian.Uint16(b[4:])), party: int(b[6]), status: Status(b[7]),
		})
	}
	return places
}

func (r *room) encode() string {
	slices.SortStableFunc(r.places, func(a, b place) int {
		switch waitsA, waitsB := a.status == Waiting, b.status == Waiting; {
		case waitsA != waitsB && waitsA:
			return 1
		case waitsA != waitsB:
			return -1
		case waitsA:
			return 0
		default:
			return a.number - b.number
		}
	})
	b := make([]byte, 0, len(r.places)*placeSize)
	for _, p := range r.places {
		b = binary.BigEndian.AppendUint32(b, uint32(p.number))
		b = binary.BigEndian.AppendUint16(b, uint16(p.member))
		b = append(b, byte(p.party), byte(p.status))
	}
	return string(b)
}

func (r *room) open() int {
	open := r.Capacity
	for _, p := range r.places {
		if p.status != Waiting {
			open -= p.party
		}
	}
	return open
}

// inLine counts those who wait, with or without an offer.
func (r *room) inLine() int {
	n := 0
	for _, p := range r.places {
		if p.status == Waiting || p.status == Offered {
			n++
		}
	}
	return n
}

func (r *room) find(number int) *place {
	if i := slices.IndexFunc(r.places, func(p place) bool { return p.number == number }); i >= 0 {
		return &r.places[i]
	}
	return nil
}

func (r *room) has(member int) bool {
	return slices.ContainsFunc(r.places, func(p place) bool { return p.member == member })
}

// step does what an operation did, and reports whether it can have been told what it was told.
func (r *room) step(asked, told Operation) bool {
	if told.Outcome == Unknown {
		r.perhaps(asked)
		return true
	}
	p := r.find(asked.Place)
	switch asked.Kind {
	case Book, Hold:
		return r.take(asked, told)
	case Confirm:
		switch {
		case told.Outcome != Done:
			return p == nil || p.status != Confirmed // a hold may have run out for one clock and not for another, or nobody pays
		case p == nil || p.status != Held && p.status != Confirmed:
			return false
		}
		p.status = Confirmed
		return true
	case Release:
		if told.Outcome == Refused {
			return p != nil && p.status != Held
		}
		return r.free(p, told, func(p *place) bool { return p.status == Held })
	case Cancel:
		if told.Outcome == Refused {
			return p == nil || asked.Line && p.status == Confirmed // p is nil where a hold ran out
		}
		return r.free(p, told, func(p *place) bool { return !asked.Line || p.status != Confirmed })
	case Decline:
		if told.Outcome != Done && told.Outcome != Settled {
			return p == nil || p.status != Offered
		}
		return r.free(p, told, func(p *place) bool { return p.status == Offered })
	case Accept:
		switch {
		case told.Outcome != Done:
			return p == nil || p.status != Offered
		case p == nil || p.status != Offered && p.status != Confirmed:
			return false
		}
		p.status = Confirmed
		return true
	case Expire:
		if slices.ContainsFunc(r.places, func(p place) bool { return slices.Contains(asked.Ended, p.number) && p.status != Held }) {
			return false
		}
		r.drop(asked.Ended...)
		return true
	case Look:
		return describeSeats(told.Seen) == r.seen()
	default:
		return true
	}
}

// take is Book or Hold.
func (r *room) take(asked, told Operation) bool {
	fits, has := asked.Party <= r.open(), r.has(asked.Member)
	switch told.Outcome {
	case Already:
		return has
	case Broke, Refused:
		return true // who has a place here already may be told first that they cannot pay for another
	case Full:
		return r.somehow(func(r *room) bool {
			return !r.has(asked.Member) && asked.Party > r.open() && (asked.Kind == Hold || r.inLine() >= r.Queue)
		})
	case Booked, Done:
		if has || !fits {
			return false
		}
		r.add(asked, statusOf(asked.Kind))
		return true
	case Waits:
		if has || fits || r.inLine() >= r.Queue {
			return false
		}
		r.add(asked, Waiting)
		return told.Position <= 0 || r.Offers || told.Position == r.inLine()
	default:
		return false
	}
}

// somehow reports whether a refusal is one that the room gives, or would give once some of its holds have run out. A server whose clock
// is ahead ends the holds that have run out for it, and gives their seats to whoever waits, before it looks at what it is asked. If
// it then refuses, nothing of that stays; and for a server whose clock is behind those holds go on.
func (r *room) somehow(refuses func(*room) bool) bool {
	if refuses(r) {
		return true
	}
	if !r.Brief {
		return false
	}
	var held []int
	for _, p := range r.places {
		if p.status == Held {
			held = append(held, p.number)
		}
	}
	for some := 1; some < 1<<len(held); some++ {
		var over []int
		for i, number := range held {
			if some&(1<<i) != 0 {
				over = append(over, number)
			}
		}
		then := room{Session: r.Session, places: slices.Clone(r.places)}
		then.drop(over...)
		if refuses(&then) {
			return true
		}
	}
	return false
}

func statusOf(k Kind) Status {
	if k == Hold {
		return Held
	}
	return Confirmed
}

func (r *room) add(asked Operation, as Status) {
	r.places = append(r.places, place{number: asked.Place, member: asked.Member, party: asked.Party, status: as})
}

// free gives a place up, whose seats go to whoever waits.
func (r *room) free(p *place, told Operation, may func(*place) bool) bool {
	if told.Outcome == Gone || told.Outcome == Settled && p == nil {
		return p == nil
	}
	if p == nil || !may(p) {
		return false
	}
	promoted := r.drop(p.number)
	return told.Promoted < 0 || told.Promoted == promoted
}

// drop takes places away, all at once, and gives their seats to the first who fit. It tells how many were booked.
func (r *room) drop(numbers ...int) (promoted int) {
	seated := false
	r.places = slices.DeleteFunc(r.places, func(p place) bool {
		gone := slices.Contains(numbers, p.number)
		seated = seated || gone && p.status != Waiting
		return gone
	})
	if !seated {
		return 0
	}
	open := r.open()
	for i := range r.places {
		q := &r.places[i]
		if q.status != Waiting || q.party > open {
			continue
		}
		open -= q.party
		if r.Offers {
			q.status = Offered
			continue
		}
		q.status = Confirmed
		promoted++
	}
	return promoted
}

// perhaps does what can be done of something that was never answered. Whoever looks for an order may put it after all
// others, which says that it never happened.
func (r *room) perhaps(asked Operation) {
	p := r.find(asked.Place)
	switch asked.Kind {
	case Book, Hold:
		switch {
		case r.has(asked.Member):
		case asked.Party <= r.open():
			r.add(asked, statusOf(asked.Kind))
		case asked.Kind == Book && r.inLine() < r.Queue:
			r.add(asked, Waiting)
		}
	case Cancel:
		if p != nil && (!asked.Line || p.status != Confirmed) {
			r.drop(p.number)
		}
	case Release:
		if p != nil && p.status == Held {
			r.drop(p.number)
		}
	case Decline:
		if p != nil && p.status == Offered {
			r.drop(p.number)
		}
	case Confirm:
		if p != nil && p.status == Held {
			p.status = Confirmed
		}
	case Accept:
		if p != nil && p.status == Offered {
			p.status = Confirmed
		}
	default:
	}
}

// seen is what a look at the room sees.
func (r *room) seen() string {
	r.encode() // which puts them in order
	seats := make([]Seat, len(r.places))
	for i, p := range r.places {
		seats[i] = Seat{Place: p.number, Status: p.status}
	}
	return describeSeats(seats)
}

// describeSeats puts those with seats in order; those who wait are in theirs.
func describeSeats(seats []Seat) string {
	var text strings.Builder
	sorted := slices.Clone(seats)
	slices.SortStableFunc(sorted, func(a, b Seat) int {
		switch {
		case a.Status == Waiting && b.Status == Waiting:
			return 0
		case a.Status == Waiting:
			return 1
		case b.Status == Waiting:
			return -1
		}
		return a.Place - b.Place
	})
	for _, s := range sorted {
		fmt.Fprintf(&text, "%d%c ", s.Place, s.Status)
	}
	return text.String()
}

func describe(places []place) string {
	var text strings.Builder
	for _, p := range places {
		fmt.Fprintf(&text, "#%d m%d×%d%c  ", p.number, p.member, p.party, p.status)
	}
	return text.String()
}

// describe says in a line what was asked and told.
func (op Operation) describe() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s", op.Kind)
	if op.Place > 0 {
		fmt.Fprintf(&text, " #%d", op.Place)
	}
	for _, number := range op.Ended {
		fmt.Fprintf(&text, " #%d", number)
	}
	fmt.Fprintf(&text, " (member %d", op.Member)
	if op.Party > 1 {
		fmt.Fprintf(&text, ", %d seats", op.Party)
	}
	fmt.Fprintf(&text, ") → %s", op.Outcome)
	switch {
	case op.Reason != "":
		fmt.Fprintf(&text, " %s", op.Reason)
	case op.Position > 0:
		fmt.Fprintf(&text, " at %d", op.Position)
	case op.Promoted > 0:
		fmt.Fprintf(&text, ", %d promoted", op.Promoted)
	case op.Kind == Look:
		fmt.Fprintf(&text, " %s", describeSeats(op.Seen))
	}
	if op.Moved != 0 || op.Kind == Balance {
		fmt.Fprintf(&text, " [%+d, %d left]", op.Moved, op.Left)
	}
	return text.String()
}
