package history

import (
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
	// Brief: its holds and offers run out, each by the clock of whichever server looks at it.
	Brief bool `json:"brief,omitempty"`
	// Claims: all who fit freed seats are told, and the first to claim gets them.
	Claims bool `json:"claims,omitempty"`
}

// CheckSessions looks for an order of all that happened in sessions between which bookings move.
func CheckSessions(of []Session, all []Operation, patience time.Duration) Verdict {
	mine := pick(all, func(op Operation) bool {
		return slices.ContainsFunc(of, func(s Session) bool { return s.ID == op.Session })
	})
	var ids []string
	for _, s := range of {
		ids = append(ids, s.ID)
	}
	return check("session "+strings.Join(ids, " "), model(of), mine, patience)
}

// model is the sessions as they have to be: a list of places.
func model(of []Session) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return "" },
		Step: func(state, input, output any) (bool, any) {
			text, _ := state.(string)
			asked, _ := input.(Operation)
			told, _ := output.(Operation)
			h := decode(of, text)
			ok := h.step(asked, told)
			return ok, h.encode()
		},
		DescribeOperation: func(_, output any) string {
			op, _ := output.(Operation)
			return op.describe()
		},
		DescribeState: func(state any) string {
			text, _ := state.(string)
			return decode(of, text).describe()
		},
	}
}

// place is what a member has in a session.
type place struct {
	number, member, party int
	status                Status
	in                    int // which of the sessions
	asked                 int // offers that it has had
	// Where the first to claim gets the seats: the round that its offer is one of; 0: it has none.
	round int
}

// hall is sessions at a moment. Places are in the order of their sessions; in each, those with seats come first, by number, and then
// those who wait, in their order.
type hall struct {
	sessions []Session
	places   []place
	rounds   []round
}

func (h *hall) clone() *hall {
	return &hall{sessions: h.sessions, places: slices.Clone(h.places), rounds: slices.Clone(h.rounds)}
}

// byStatus puts those with seats in order, before those who wait, who are in theirs.
func byStatus(a, b Seat) int {
	switch {
	case a.Status == Waiting && b.Status == Waiting:
		return 0
	case a.Status == Waiting:
		return 1
	case b.Status == Waiting:
		return -1
	}
	return a.Place - b.Place
}

// room gives the session with an id.
func (h *hall) room(id string) int {
	return slices.IndexFunc(h.sessions, func(s Session) bool { return s.ID == id })
}

// open counts a session's seats that nobody has and that are kept for nobody.
func (h *hall) open(in int) int {
	open := h.sessions[in].Capacity
	for _, p := range h.places {
		if p.in == in && p.seated() {
			open -= p.party
		}
	}
	return open - h.kept(in)
}

// seated reports whether a place has seats of its own.
func (p place) seated() bool { return p.status != Waiting && p.round == 0 }

// inLine counts those who wait, with or without an offer.
func (h *hall) inLine(in int) int {
	n := 0
	for _, p := range h.places {
		if p.in == in && (p.status == Waiting || p.status == Offered) {
			n++
		}
	}
	return n
}

func (h *hall) find(number int) *place {
	if i := slices.IndexFunc(h.places, func(p place) bool { return p.number == number }); i >= 0 {
		return &h.places[i]
	}
	return nil
}

// has reports whether a member has a place in a session other than the one given.
func (h *hall) has(in, member, other int) bool {
	return slices.ContainsFunc(h.places, func(p place) bool { return p.in == in && p.member == member && p.number != other })
}

// step does what an operation did, and reports whether it can have been told what it was told.
func (h *hall) step(asked, told Operation) bool {
	if told.Outcome == Unknown {
		h.perhaps(asked)
		return true
	}
	p := h.find(asked.Place)
	switch asked.Kind {
	case Book, Hold:
		return h.take(asked, told)
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
		return h.free(p, told, func(p *place) bool { return p.status == Held })
	case Cancel:
		if told.Outcome == Refused {
			return p == nil || asked.Line && p.status == Confirmed // p is nil where a hold ran out
		}
		return h.free(p, told, func(p *place) bool { return !asked.Line || p.status != Confirmed })
	case Move:
		return h.move(p, asked, told)
	case Accept, Decline:
		return h.answer(p, asked, told)
	case Expire:
		if slices.ContainsFunc(h.places, func(p place) bool {
			return slices.Contains(asked.Ended, p.number) && p.status != Held && p.status != Offered
		}) {
			return false
		}
		h.drop(asked.Ended...)
		return true
	case Look:
		in := h.room(asked.Session)
		return seatsOf(told.Seen) == h.seen(in) && (told.Taken == nil || *told.Taken == h.sessions[in].Capacity-h.open(in))
	default:
		return true
	}
}

// take is Book or Hold.
func (h *hall) take(asked, told Operation) bool {
	in := h.room(asked.Session)
	fits := asked.Party <= h.open(in)
	has, lineIsFull := h.has(in, asked.Member, 0), h.inLine(in) >= h.sessions[in].Queue
	switch told.Outcome {
	case Already:
		return has
	case Broke, Refused:
		return true // who has a place here already may be told first that they cannot pay for another
	case Full:
		return h.somehow(in, func(h *hall) bool {
			return !h.has(in, asked.Member, 0) && asked.Party > h.open(in) && (asked.Kind == Hold || h.inLine(in) >= h.sessions[in].Queue)
		})
	case Booked, Done:
		if has || !fits {
			return false
		}
		h.add(in, asked, statusOf(asked.Kind))
		return true
	case Waits:
		if has || fits || lineIsFull {
			return false
		}
		h.add(in, asked, Waiting)
		return told.Position <= 0 || h.sessions[in].Offers || told.Position == h.inLine(in)
	default:
		return false
	}
}

// somehow reports whether a refusal is one that a session gives, or would give once some of its holds have run out. A server whose
// clock is ahead ends the holds that have run out for it, and gives their seats to whoever waits, before it looks at what it
// is asked. If it then refuses, nothing of that stays; and for a server whose clock is behind those holds go on.
func (h *hall) somehow(in int, refuses func(*hall) bool) bool {
	if refuses(h) {
		return true
	}
	var held []int
	for _, p := range h.places {
		if p.in == in && p.status == Held && h.sessions[in].Brief {
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
		then := h.clone()
		then.drop(over...)
		if refuses(then) {
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

func (h *hall) add(in int, asked Operation, as Status) {
	h.places = append(h.places, place{number: asked.Place, member: asked.Member, party: asked.Party, status: as, in: in})
}

// free gives a place up, whose seats go to whoever waits.
func (h *hall) free(p *place, told Operation, may func(*place) bool) bool {
	if told.Outcome == Gone || told.Outcome == Settled && p == nil {
		return p == nil
	}
	if p == nil || !may(p) {
		return false
	}
	promoted := h.drop(p.number)
	return told.Promoted < 0 || told.Promoted == promoted
}

// drop takes places away, all at once, and gives their seats to whoever waits. It tells how many were booked.
func (h *hall) drop(numbers ...int) (promoted int) {
	freed, letGo := make([]bool, len(h.sessions)), make([]bool, len(h.rounds)+1)
	h.places = slices.DeleteFunc(h.places, func(p place) bool {
		gone := slices.Contains(numbers, p.number)
		freed[p.in] = freed[p.in] || gone && p.seated()
		letGo[p.round] = letGo[p.round] || gone
		return gone
	})
	for in := range freed {
		if freed[in] {
			promoted += h.fill(in)
		}
	}
	for number := 1; number < len(letGo); number++ {
		if letGo[number] {
			h.rollOn(number)
		}
	}
	return promoted
}

// fill gives a session's open seats to the first who fit. It tells how many were booked.
func (h *hall) fill(in int) (promoted int) {
	if h.sessions[in].Claims {
		h.rounds = append(h.rounds, round{in: in})
		h.tell(len(h.rounds))
		return 0 // until they claim them
	}
	open := h.open(in)
	for i := range h.places {
		p := &h.places[i]
		if p.in != in || p.status != Waiting || p.party > open {
			continue
		}
		open -= p.party
		if h.sessions[in].Offers {
			p.status, p.asked = Offered, p.asked+1
			continue
		}
		p.status = Confirmed
		promoted++
	}
	return promoted
}

// move takes a booking to another session, if there are seats; those that it leaves go to whoever waits.
func (h *hall) move(p *place, asked, told Operation) bool {
	to := h.room(asked.To)
	movable := p != nil && p.status == Confirmed
	switch told.Outcome {
	case Already:
		return h.has(to, asked.Member, asked.Place)
	case Full:
		return movable && p.in != to && asked.Party > h.open(to)
	case Done, Settled:
	default:
		return !movable
	}
	if told.Outcome == Settled && (p == nil || p.in == to) {
		return true // it is there, or was before it was given up
	}
	if !movable || p.in == to || asked.Party > h.open(to) || h.has(to, asked.Member, asked.Place) {
		return false
	}
	from := p.in
	p.in = to
	promoted := h.fill(from)
	return told.Promoted < 0 || told.Promoted == promoted
}

// answer is Accept or Decline.
func (h *hall) answer(p *place, asked, told Operation) bool {
	theirs := p != nil && (asked.Offer == 0 || asked.Offer == p.asked) // the last one that they had
	offered := theirs && p.status == Offered
	switch {
	case told.Outcome != Done && told.Outcome != Settled:
		return !offered || h.sessions[p.in].Brief
	case asked.Kind == Decline:
		return h.free(p, told, func(*place) bool { return offered })
	case offered && p.round > 0:
		h.claim(p)
	case offered:
		p.status = Confirmed
	case p == nil:
		return told.Outcome == Settled // by an answer before this one, and given up since
	}
	return theirs && p.status == Confirmed
}

// perhaps does what can be done of something that was never answered. Whoever looks for an order may put it after all
// others, which says that it never happened.
func (h *hall) perhaps(asked Operation) {
	p := h.find(asked.Place)
	switch asked.Kind {
	case Book, Hold:
		in := h.room(asked.Session)
		switch {
		case h.has(in, asked.Member, 0):
		case asked.Party <= h.open(in):
			h.add(in, asked, statusOf(asked.Kind))
		case asked.Kind == Book && h.inLine(in) < h.sessions[in].Queue:
			h.add(in, asked, Waiting)
		}
	case Cancel:
		if p != nil && (!asked.Line || p.status != Confirmed) {
			h.drop(p.number)
		}
	case Release:
		if p != nil && p.status == Held {
			h.drop(p.number)
		}
	case Confirm:
		if p != nil && p.status == Held {
			p.status = Confirmed
		}
	case Move:
		h.move(p, asked, Operation{Outcome: Done, Promoted: -1})
	case Accept, Decline:
		h.answer(p, asked, Operation{Outcome: Done, Promoted: -1})
	default:
	}
}

// seen is what a look at a session sees.
func (h *hall) seen(in int) string {
	h.sort()
	var seats []Seat
	for _, p := range h.places {
		if p.in == in {
			seats = append(seats, Seat{Place: p.number, Status: p.status})
		}
	}
	return seatsOf(seats)
}

// seatsOf puts those with seats in order; those who wait are in theirs.
func seatsOf(seats []Seat) string {
	sorted := slices.Clone(seats)
	slices.SortStableFunc(sorted, byStatus)
	return describeSeats(sorted)
}

func describeSeats(seats []Seat) string {
	var text strings.Builder
	for _, s := range seats {
		fmt.Fprintf(&text, "%d%c ", s.Place, s.Status)
	}
	return text.String()
}

func (h *hall) describe() string {
	var text strings.Builder
	for _, p := range h.places {
		fmt.Fprintf(&text, "#%d m%d×%d%c", p.number, p.member, p.party, p.status)
		if p.round > 0 {
			fmt.Fprintf(&text, " for %d of %d kept", p.round, h.rounds[p.round-1].keeps)
		}
		if p.in > 0 {
			fmt.Fprintf(&text, " in %d", p.in+1)
		}
		text.WriteString("  ")
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
	if op.Offer > 0 {
		fmt.Fprintf(&text, " by offer %d", op.Offer)
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
