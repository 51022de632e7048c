package history

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// Session describes a session.
type Session struct {
	ID       string `json:"id"`
	Capacity int    `json:"capacity"`
	Queue    int    `json:"queue"`  // how many entries may wait
	Offers   bool   `json:"offers"` // freed seats are offered in turn; otherwise entries are promoted
	// Brief: its holds and offers expire, by the clock of the server that checks them.
	Brief bool `json:"brief,omitempty"`
	// Claims: all entries that fit freed seats get offers, and the first to claim gets the seats.
	Claims bool `json:"claims,omitempty"`
}

// CheckSessions looks for an order of all operations on sessions between which bookings move.
func CheckSessions(of []Session, all []Operation, timeout time.Duration) Verdict {
	mine := filter(all, func(op Operation) bool {
		return slices.ContainsFunc(of, func(s Session) bool { return s.ID == op.Session })
	})
	var ids []string
	for _, s := range of {
		ids = append(ids, s.ID)
	}
	return check("session "+strings.Join(ids, " "), model(of), mine, timeout)
}

// model is the sequential behavior of the sessions. Its state is a list of places.
func model(of []Session) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return "" },
		Step: func(state, input, output any) (bool, any) {
			text, _ := state.(string)
			call, _ := input.(Operation)
			result, _ := output.(Operation)
			st := decode(of, text)
			ok := st.step(call, result)
			return ok, st.encode()
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

// place is a member's booking or waitlist entry in a session.
type place struct {
	number, member, party int
	status                Status
	session               int // index
	offers                int // number of offers so far
	// The round of its offer, in a session with Claims. 0: none.
	round int
}

// sessionState is the state of sessions. Places are ordered by session; in each, those with seats come first, by
// number, and then the waiting ones, in the order of the queue.
type sessionState struct {
	sessions []Session
	places   []place
	rounds   []round
}

func (st *sessionState) clone() *sessionState {
	return &sessionState{sessions: st.sessions, places: slices.Clone(st.places), rounds: slices.Clone(st.rounds)}
}

// byStatus orders places with seats by number, before waiting ones, which keep their order.
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

// indexOf returns the index of the session with an id.
func (st *sessionState) indexOf(id string) int {
	return slices.IndexFunc(st.sessions, func(s Session) bool { return s.ID == id })
}

// open counts the seats of a session that are neither taken nor reserved.
func (st *sessionState) open(in int) int {
	open := st.sessions[in].Capacity
	for _, p := range st.places {
		if p.session == in && p.hasSeats() {
			open -= p.party
		}
	}
	return open - st.reservedSeats(in)
}

// hasSeats reports whether a place has its own seats.
func (p place) hasSeats() bool { return p.status != Waiting && p.round == 0 }

// waiting counts the waiting entries, with or without an offer.
func (st *sessionState) waiting(in int) int {
	n := 0
	for _, p := range st.places {
		if p.session == in && (p.status == Waiting || p.status == Offered) {
			n++
		}
	}
	return n
}

func (st *sessionState) find(number int) *place {
	if i := slices.IndexFunc(st.places, func(p place) bool { return p.number == number }); i >= 0 {
		return &st.places[i]
	}
	return nil
}

// has reports whether a member has a place in a session other than the one given.
func (st *sessionState) has(in, member, other int) bool {
	return slices.ContainsFunc(
		st.places,
		func(p place) bool { return p.session == in && p.member == member && p.number != other },
	)
}

// step applies an operation and reports whether it could have had its result.
func (st *sessionState) step(call, result Operation) bool {
	if result.Outcome == Unknown {
		st.applyUnknown(call)
		return true
	}
	p := st.find(call.Place)
	switch call.Kind {
	case Book, Hold:
		return st.book(call, result)
	case Confirm:
		switch {
		case result.Outcome != Done:
			// A hold may have expired for one clock and not for another, or there is no one to pay.
			return p == nil || p.status != Confirmed
		case p == nil || p.status != Held && p.status != Confirmed:
			return false
		}
		p.status = Confirmed
		return true
	case Release:
		if result.Outcome == Refused {
			return p != nil && p.status != Held
		}
		return st.end(p, result, func(p *place) bool { return p.status == Held })
	case Cancel:
		if result.Outcome == Refused {
			return p == nil || call.ByEntry && p.status == Confirmed // p is nil if a hold expired
		}
		return st.end(p, result, func(p *place) bool { return !call.ByEntry || p.status != Confirmed })
	case Move:
		return st.move(p, call, result)
	case Accept, Decline:
		return st.answer(p, call, result)
	case Expire:
		if slices.ContainsFunc(st.places, func(p place) bool {
			return slices.Contains(call.Ended, p.number) && p.status != Held && p.status != Offered
		}) {
			return false
		}
		st.remove(call.Ended...)
		return true
	case Look:
		in := st.indexOf(call.Session)
		taken := st.sessions[in].Capacity - st.open(in)
		return seatsOf(result.Seen) == st.roster(in) && (result.Taken == nil || *result.Taken == taken)
	default:
		return true
	}
}

// book applies Book or Hold.
func (st *sessionState) book(call, result Operation) bool {
	in := st.indexOf(call.Session)
	fits := call.Party <= st.open(in)
	has, queueIsFull := st.has(in, call.Member, 0), st.waiting(in) >= st.sessions[in].Queue
	switch result.Outcome {
	case Already:
		return has
	case NoCredits, Refused:
		return true // a payment error can come before "already booked"
	case Full:
		return st.canRefuse(in, func(st *sessionState) bool {
			return !st.has(in, call.Member, 0) && call.Party > st.open(in) &&
				(call.Kind == Hold || st.waiting(in) >= st.sessions[in].Queue)
		})
	case Booked, Done:
		if has || !fits {
			return false
		}
		st.add(in, call, statusOf(call.Kind))
		return true
	case Waits:
		if has || fits || queueIsFull {
			return false
		}
		st.add(in, call, Waiting)
		return result.Position <= 0 || st.sessions[in].Offers || result.Position == st.waiting(in)
	default:
		return false
	}
}

// canRefuse reports whether a session refuses a request, or would refuse it once some of its holds have expired. A
// server with a fast clock expires holds, and gives their seats to the waitlist, before it handles the request. If it
// then refuses the request, none of that is stored, and for a server with a slow clock those holds continue.
func (st *sessionState) canRefuse(in int, refuses func(*sessionState) bool) bool {
	if refuses(st) {
		return true
	}
	var held []int
	for _, p := range st.places {
		if p.session == in && p.status == Held && st.sessions[in].Brief {
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
		then := st.clone()
		then.remove(over...)
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

func (st *sessionState) add(in int, call Operation, as Status) {
	st.places = append(
		st.places,
		place{number: call.Place, member: call.Member, party: call.Party, status: as, session: in},
	)
}

// end ends a place. Its seats go to the waitlist.
func (st *sessionState) end(p *place, result Operation, may func(*place) bool) bool {
	if result.Outcome == Gone || result.Outcome == Settled && p == nil {
		return p == nil
	}
	if p == nil || !may(p) {
		return false
	}
	promoted := st.remove(p.number)
	return result.Promoted < 0 || result.Promoted == promoted
}

// remove ends places, all at once, and gives their seats to the waitlist. It returns how many entries were promoted.
func (st *sessionState) remove(numbers ...int) (promoted int) {
	freed, lostOffer := make([]bool, len(st.sessions)), make([]bool, len(st.rounds)+1)
	st.places = slices.DeleteFunc(st.places, func(p place) bool {
		gone := slices.Contains(numbers, p.number)
		freed[p.session] = freed[p.session] || gone && p.hasSeats()
		lostOffer[p.round] = lostOffer[p.round] || gone
		return gone
	})
	for in := range freed {
		if freed[in] {
			promoted += st.fill(in)
		}
	}
	for number := 1; number < len(lostOffer); number++ {
		if lostOffer[number] {
			st.refillRound(number)
		}
	}
	return promoted
}

// fill gives the open seats of a session to the first entries that fit. It returns how many were promoted.
func (st *sessionState) fill(in int) (promoted int) {
	if st.sessions[in].Claims {
		st.rounds = append(st.rounds, round{session: in})
		st.offerRound(len(st.rounds))
		return 0 // they have to claim first
	}
	open := st.open(in)
	for i := range st.places {
		p := &st.places[i]
		if p.session != in || p.status != Waiting || p.party > open {
			continue
		}
		open -= p.party
		if st.sessions[in].Offers {
			p.status, p.offers = Offered, p.offers+1
			continue
		}
		p.status = Confirmed
		promoted++
	}
	return promoted
}

// move applies Move, if the other session has seats. The seats that the booking leaves go to the waitlist.
func (st *sessionState) move(p *place, call, result Operation) bool {
	to := st.indexOf(call.To)
	movable := p != nil && p.status == Confirmed
	switch result.Outcome {
	case Already:
		return st.has(to, call.Member, call.Place)
	case Full:
		return movable && p.session != to && call.Party > st.open(to)
	case Done, Settled:
	default:
		return !movable
	}
	if result.Outcome == Settled && (p == nil || p.session == to) {
		return true // it is there, or was before it was cancelled
	}
	if !movable || p.session == to || call.Party > st.open(to) || st.has(to, call.Member, call.Place) {
		return false
	}
	from := p.session
	p.session = to
	promoted := st.fill(from)
	return result.Promoted < 0 || result.Promoted == promoted
}

// answer applies Accept or Decline.
func (st *sessionState) answer(p *place, call, result Operation) bool {
	theirs := p != nil && (call.Offer == 0 || call.Offer == p.offers) // the place's latest offer
	offered := theirs && p.status == Offered
	switch {
	case result.Outcome != Done && result.Outcome != Settled:
		return !offered || st.sessions[p.session].Brief
	case call.Kind == Decline:
		return st.end(p, result, func(*place) bool { return offered })
	case offered && p.round > 0:
		st.claim(p)
	case offered:
		p.status = Confirmed
	case p == nil:
		return result.Outcome == Settled // accepted by an earlier call, and cancelled since
	}
	return theirs && p.status == Confirmed
}

// applyUnknown applies an operation without a response, as far as possible. The search for an order can put it after
// all other operations, which means that it never happened.
func (st *sessionState) applyUnknown(call Operation) {
	p := st.find(call.Place)
	switch call.Kind {
	case Book, Hold:
		in := st.indexOf(call.Session)
		switch {
		case st.has(in, call.Member, 0):
		case call.Party <= st.open(in):
			st.add(in, call, statusOf(call.Kind))
		case call.Kind == Book && st.waiting(in) < st.sessions[in].Queue:
			st.add(in, call, Waiting)
		}
	case Cancel:
		if p != nil && (!call.ByEntry || p.status != Confirmed) {
			st.remove(p.number)
		}
	case Release:
		if p != nil && p.status == Held {
			st.remove(p.number)
		}
	case Confirm:
		if p != nil && p.status == Held {
			p.status = Confirmed
		}
	case Move:
		st.move(p, call, Operation{Outcome: Done, Promoted: -1})
	case Accept, Decline:
		st.answer(p, call, Operation{Outcome: Done, Promoted: -1})
	default:
	}
}

// roster is the roster of a session.
func (st *sessionState) roster(in int) string {
	st.sort()
	var seats []Seat
	for _, p := range st.places {
		if p.session == in {
			seats = append(seats, Seat{Place: p.number, Status: p.status})
		}
	}
	return seatsOf(seats)
}

// seatsOf describes a roster, with the places with seats ordered by number.
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

func (st *sessionState) describe() string {
	var text strings.Builder
	for _, p := range st.places {
		fmt.Fprintf(&text, "#%d m%d×%d%c", p.number, p.member, p.party, p.status)
		if p.round > 0 {
			fmt.Fprintf(&text, " for %d of %d kept", p.round, st.rounds[p.round-1].reserved)
		}
		if p.session > 0 {
			fmt.Fprintf(&text, " in %d", p.session+1)
		}
		text.WriteString("  ")
	}
	return text.String()
}

// describe describes the call and its result in a line.
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
