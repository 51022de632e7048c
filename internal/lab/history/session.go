package history

import (
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
	round                 int // of its offer; 0: none
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
		if p.session == in && st.hasSeats(p) {
			open -= p.party
		}
	}
	return open - st.reservedSeats(in)
}

// hasSeats reports whether a place has its own seats.
func (st *sessionState) hasSeats(p place) bool { return p.status != Waiting && !st.shares(p) }

// shares reports whether a place has an offer of seats that the first to claim gets.
func (st *sessionState) shares(p place) bool { return p.round > 0 && st.sessions[p.session].Claims }

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

// has reports whether a member has a booking or a hold in a session, other than the one given.
func (st *sessionState) has(in, member, other int) bool {
	return slices.ContainsFunc(st.places, func(p place) bool {
		return p.session == in && p.member == member && p.number != other && (p.status == Held || p.status == Confirmed)
	})
}

// entry returns a member's waitlist entry in a session, and how many of the seats for a party its offer has; nil if
// there is none.
func (st *sessionState) entry(in, member, party int) (*place, int) {
	i := slices.IndexFunc(st.places, func(p place) bool {
		return p.session == in && p.member == member && (p.status == Waiting || p.status == Offered)
	})
	switch {
	case i < 0:
		return nil, 0
	case st.places[i].status == Waiting:
		return &st.places[i], 0
	}
	return &st.places[i], min(party, st.places[i].party)
}

// take gives seats to a member. If they wait for the session, that ends their entry, and accepts its offer. What they
// leave of the offer goes to the next entries.
func (st *sessionState) take(in int, call Operation, as Status) {
	entry, offered := st.entry(in, call.Member, call.Party)
	if entry == nil || as == Held { // a hold only pauses the entry
		st.add(in, call, as)
		return
	}
	shares, offer, left := st.shares(*entry), entry.round, entry.party-offered
	entry.number, entry.party, entry.offers = call.Place, call.Party, 0
	if shares {
		st.claim(entry, offered)
		return
	}
	if entry.status, entry.round = as, 0; offer > 0 && left > 0 {
		st.fillRound(offer)
	}
}

// confirm makes a hold a booking.
func (st *sessionState) confirm(p *place) {
	p.status = Confirmed
	st.endEntry(p.session, p.member)
}

// endEntry ends the entry of a member who has confirmed a hold in the session. Its offer goes to the next entry.
func (st *sessionState) endEntry(in, member int) {
	if entry, _ := st.entry(in, member, 0); entry != nil {
		st.remove(entry.number)
	}
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
		st.confirm(p)
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
	entry, offered := st.entry(in, call.Member, call.Party)
	if call.Kind == Hold {
		offered = 0 // it accepts no offer
	}
	fits := call.Party-offered <= st.open(in)
	has, queueIsFull := st.has(in, call.Member, 0), st.waiting(in) >= st.sessions[in].Queue
	switch result.Outcome {
	case Already:
		return st.canRefuse(in, func(st *sessionState) bool {
			entry, offered := st.entry(in, call.Member, call.Party)
			if call.Kind == Hold {
				offered = 0
			}
			return st.has(in, call.Member, 0) || entry != nil && call.Party-offered > st.open(in)
		})
	case NoCredits, Refused:
		return true // a payment error can come before "already booked"
	case Full:
		return st.canRefuse(in, func(st *sessionState) bool {
			entry, _ := st.entry(in, call.Member, call.Party)
			return !st.has(in, call.Member, 0) && entry == nil && call.Party > st.open(in) &&
				(call.Kind == Hold || st.waiting(in) >= st.sessions[in].Queue)
		})
	case Booked, Done:
		if has || !fits {
			return false
		}
		st.take(in, call, statusOf(call.Kind))
		return true
	case Waits:
		if has || entry != nil || fits || queueIsFull {
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
	gaveUp, lostOffer := make([][]int, len(st.sessions)), make([]bool, len(st.rounds)+1)
	st.places = slices.DeleteFunc(st.places, func(p place) bool {
		gone := slices.Contains(numbers, p.number)
		switch {
		case gone && p.round > 0:
			lostOffer[p.round] = true
		case gone && p.status != Waiting:
			gaveUp[p.session] = append(gaveUp[p.session], p.member)
		}
		return gone
	})
	for in, members := range gaveUp {
		if len(members) > 0 {
			promoted += st.fill(in, members...)
		}
	}
	for number := 1; number < len(lostOffer); number++ {
		if lostOffer[number] {
			st.refillRound(number)
		}
	}
	return promoted
}

// fill gives the open seats of a session to the first entries that fit, but not to those of the members who gave the
// seats up. It returns how many were promoted.
func (st *sessionState) fill(in int, gaveUp ...int) (promoted int) {
	r := round{session: in}
	for _, member := range gaveUp {
		r.giveUp(member)
	}
	st.rounds = append(st.rounds, r)
	return st.fillRound(len(st.rounds))
}

// move applies Move, if the other session has seats. The seats that the booking leaves go to the waitlist.
func (st *sessionState) move(p *place, call, result Operation) bool {
	to := st.indexOf(call.To)
	movable := p != nil && p.status == Confirmed
	entry, offered := st.entry(to, call.Member, call.Party)
	fits := call.Party-offered <= st.open(to)
	switch result.Outcome {
	case Already:
		return st.canRefuse(to, func(st *sessionState) bool {
			entry, offered := st.entry(to, call.Member, call.Party)
			return st.has(to, call.Member, call.Place) || entry != nil && call.Party-offered > st.open(to)
		})
	case Full:
		return movable && p.session != to && entry == nil && !fits
	case Done, Settled:
	default:
		return !movable
	}
	if result.Outcome == Settled && (p == nil || p.session == to) {
		return true // it is there, or was before it was cancelled
	}
	if !movable || p.session == to || !fits || st.has(to, call.Member, call.Place) {
		return false
	}
	from := p.session
	st.places = slices.DeleteFunc(st.places, func(p place) bool { return p.number == call.Place })
	st.take(to, call, Confirmed)
	promoted := st.fill(from, call.Member)
	return result.Promoted < 0 || result.Promoted == promoted
}

// answer applies Accept or Decline.
func (st *sessionState) answer(p *place, call, result Operation) bool {
	theirs := p != nil && (call.Offer == 0 || call.Offer == p.offers) // the place's latest offer
	offered := theirs && p.status == Offered
	switch {
	case result.Outcome != Done && result.Outcome != Settled:
		held := theirs && st.has(p.session, p.member, p.number) // they cannot have both
		return !offered || held || st.sessions[p.session].Brief
	case call.Kind == Decline:
		if offered {
			st.rounds[p.round-1].giveUp(p.member)
		}
		return st.end(p, result, func(*place) bool { return offered })
	case offered && st.has(p.session, p.member, p.number):
		return false
	case offered && st.shares(*p):
		st.claim(p, p.party)
	case offered:
		p.status, p.round = Confirmed, 0
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
		entry, offered := st.entry(in, call.Member, call.Party)
		if call.Kind == Hold {
			offered = 0
		}
		switch {
		case st.has(in, call.Member, 0):
		case call.Party-offered <= st.open(in):
			st.take(in, call, statusOf(call.Kind))
		case call.Kind == Book && entry == nil && st.waiting(in) < st.sessions[in].Queue:
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
			st.confirm(p)
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
