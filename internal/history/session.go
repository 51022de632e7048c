package history

import (
	"cmp"
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
			h := hall{sessions: of, places: decode(text)}
			ok := h.step(asked, told)
			return ok, h.encode()
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
	in                    int // which of the sessions
}

// hall is sessions at a moment. Places are in the order of their sessions; in each, those with seats come first, by number, and then
// those who wait, in their order.
type hall struct {
	sessions []Session
	places   []place
}

const placeSize = 9

func decode(text string) []place {
	places := make([]place, 0, len(text)/placeSize+1)
	for b := []byte(text); len(b) > 0; b = b[placeSize:] {
		places = append(places, place{
			number: int(binary.BigEndian.Uint32(b)), member: int(binary.BigEndian.Uint16(b[4:])), party: int(b[6]), status: Status(b[7]), in: int(b[8]),
		})
	}
	return places
}

func (h *hall) encode() string {
	slices.SortStableFunc(h.places, func(a, b place) int {
		return cmp.Or(a.in-b.in, byStatus(Seat{a.number, a.status}, Seat{b.number, b.status}))
	})
	b := make([]byte, 0, len(h.places)*placeSize)
	for _, p := range h.places {
		b = binary.BigEndian.AppendUint32(b, uint32(p.number))
		b = binary.BigEndian.AppendUint16(b, uint16(p.member))
		b = append(b, byte(p.party), byte(p.status), byte(p.in))
	}
	return string(b)
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

// open counts a session's seats that nobody has.
func (h *hall) open(in int) int {
	open := h.sessions[in].Capacity
	for _, p := range h.places {
		if p.in == in && p.status != Waiting {
			open -= p.party
		}
	}
	return open
}

// fits reports whether a party may have seats that nobody has. Where the first to claim gets them, they may be kept for those who wait.
func (h *hall) fits(in, party int) (may, must bool) {
	may = party <= h.open(in)
	return may, may && (!h.sessions[in].Claims || h.inLine(in) == 0)
}

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
		return h.sessions[in].describe(told.Seen) == h.seen(in)
	default:
		return true
	}
}

// take is Book or Hold.
func (h *hall) take(asked, told Operation) bool {
	in := h.room(asked.Session)
	may, must := h.fits(in, asked.Party)
	has, lineIsFull := h.has(in, asked.Member, 0), h.inLine(in) >= h.sessions[in].Queue
	switch told.Outcome {
	case Already:
		return has
	case Broke, Refused:
		return true // who has a place here already may be told first that they cannot pay for another
	case Full:
		return h.somehow(in, func(h *hall) bool {
			_, must := h.fits(in, asked.Party)
			return !h.has(in, asked.Member, 0) && !must && (asked.Kind == Hold || h.inLine(in) >= h.sessions[in].Queue)
		})
	case Booked, Done:
		if has || !may {
			return false
		}
		h.add(in, asked, statusOf(asked.Kind))
		return true
	case Waits:
		if has || must || lineIsFull {
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
		then := hall{sessions: h.sessions, places: slices.Clone(h.places)}
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
	freed := make([]bool, len(h.sessions))
	h.places = slices.DeleteFunc(h.places, func(p place) bool {
		gone := slices.Contains(numbers, p.number)
		freed[p.in] = freed[p.in] || gone && p.status != Waiting
		return gone
	})
	for in := range freed {
		if freed[in] {
			promoted += h.fill(in)
		}
	}
	return promoted
}

// fill gives a session's open seats to the first who fit. It tells how many were booked.
func (h *hall) fill(in int) (promoted int) {
	if h.sessions[in].Claims {
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
			p.status = Offered
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
		_, must := h.fits(to, asked.Party)
		return movable && p.in != to && !must
	case Done, Settled:
	default:
		return !movable
	}
	if told.Outcome == Settled && (p == nil || p.in == to) {
		return true // it is there, or was before it was given up
	}
	if may, _ := h.fits(to, asked.Party); !movable || p.in == to || !may || h.has(to, asked.Member, asked.Place) {
		return false
	}
	from := p.in
	p.in = to
	promoted := h.fill(from)
	return told.Promoted < 0 || told.Promoted == promoted
}

// answer is Accept or Decline. Where the first to claim gets the seats, it is not known who is asked, and how often.
func (h *hall) answer(p *place, asked, told Operation) bool {
	offered := p != nil && p.status == Offered
	if p != nil && h.sessions[p.in].Claims {
		offered = p.status == Waiting && (asked.Kind == Decline || p.party <= h.open(p.in))
	}
	switch {
	case told.Outcome != Done && told.Outcome != Settled:
		return !offered || h.sessions[p.in].Claims || h.sessions[p.in].Brief
	case asked.Kind == Decline:
		return h.free(p, told, func(*place) bool { return offered })
	case !offered && (p == nil || p.status != Confirmed):
		return false
	}
	p.status = Confirmed
	return true
}

// perhaps does what can be done of something that was never answered. Whoever looks for an order may put it after all
// others, which says that it never happened.
func (h *hall) perhaps(asked Operation) {
	p := h.find(asked.Place)
	switch asked.Kind {
	case Book, Hold:
		in := h.room(asked.Session)
		may, must := h.fits(in, asked.Party)
		switch {
		case h.has(in, asked.Member, 0):
		case may:
			h.add(in, asked, statusOf(asked.Kind))
		case asked.Kind == Book && !must && h.inLine(in) < h.sessions[in].Queue:
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
	h.encode() // which puts them in order
	var seats []Seat
	for _, p := range h.places {
		if p.in == in {
			seats = append(seats, Seat{Place: p.number, Status: p.status})
		}
	}
	return h.sessions[in].describe(seats)
}

// describe puts those with seats in order; those who wait are in theirs. Where the first to claim gets them, those who wait are many
// or few, and no more is known of them.
func (s Session) describe(seats []Seat) string {
	sorted := slices.Clone(seats)
	if s.Claims {
		for i := range sorted {
			if sorted[i].Status == Offered {
				sorted[i].Status = Waiting
			}
		}
		slices.SortFunc(sorted, func(a, b Seat) int { return a.Place - b.Place })
	}
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

func describe(places []place) string {
	var text strings.Builder
	for _, p := range places {
		fmt.Fprintf(&text, "#%d m%d×%d%c", p.number, p.member, p.party, p.status)
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
