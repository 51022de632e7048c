package history

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// round is seats that were freed at one moment and are kept for the first of those who were told: it lasts while any of
// them may claim some.
type round struct {
	in    int // which of the sessions
	keeps int
}

// kept counts the seats of a session that rounds keep.
func (h *hall) kept(in int) (n int) {
	for _, r := range h.rounds {
		if r.in == in {
			n += r.keeps
		}
	}
	return n
}

// tell makes offers, as one of a round, to all who wait for open seats of its session and fit them: who let these go has left.
// The round keeps as many as they want together, if there are so many.
func (h *hall) tell(number int) {
	r, wanted := &h.rounds[number-1], 0
	open := h.open(r.in)
	for i := range h.places {
		p := &h.places[i]
		if p.in != r.in || p.status != Waiting || p.party > open {
			continue
		}
		p.status, p.asked, p.round = Offered, p.asked+1, number
		wanted += p.party
	}
	r.keeps += min(open, wanted)
}

// claim books seats of a round. Those who want more than it keeps then wait again, as if they had not been told of it. They are told of
// whatever is open: in the round, if nobody else may claim what is left of it.
func (h *hall) claim(p *place) {
	number := p.round
	r := &h.rounds[number-1]
	r.keeps -= p.party
	p.status, p.round = Confirmed, 0
	slower := false
	for i := range h.places {
		if q := &h.places[i]; q.round == number && q.party > r.keeps {
			q.status, q.round, slower = Waiting, 0, true
		}
	}
	if !h.rollOn(number) && slower {
		h.fill(r.in)
	}
}

// rollOn gives up what a round keeps where nobody may claim it any more, and reports that; all are told who wait.
func (h *hall) rollOn(number int) bool {
	r := &h.rounds[number-1]
	if r.keeps == 0 || slices.ContainsFunc(h.places, func(p place) bool { return p.round == number }) {
		return false
	}
	r.keeps = 0
	h.tell(number)
	return true
}

// A state is a text: of each round its session and what it keeps, and then the places. Equal states have equal texts: rounds that
// nobody can claim anything of are left out, and the others are numbered in the order of their first places.
const (
	roundSize = 2
	placeSize = 11
)

func decode(of []Session, text string) *hall {
	h := &hall{sessions: of}
	if text == "" {
		return h
	}
	b := []byte(text[1:])
	for range text[0] {
		h.rounds = append(h.rounds, round{in: int(b[0]), keeps: int(b[1])})
		b = b[roundSize:]
	}
	for ; len(b) > 0; b = b[placeSize:] {
		h.places = append(h.places, place{
			number: int(binary.BigEndian.Uint32(b)), member: int(binary.BigEndian.Uint16(b[4:])), party: int(b[6]), status: Status(b[7]), in: int(b[8]),
			asked: int(b[9]), round: int(b[10]),
		})
	}
	return h
}

func (h *hall) encode() string {
	h.sort()
	h.renumber()
	b := append(make([]byte, 0, 1+len(h.rounds)*roundSize+len(h.places)*placeSize), byte(len(h.rounds)))
	for _, r := range h.rounds {
		b = append(b, byte(r.in), byte(r.keeps))
	}
	for _, p := range h.places {
		b = binary.BigEndian.AppendUint32(b, uint32(p.number))
		b = binary.BigEndian.AppendUint16(b, uint16(p.member))
		b = append(b, byte(p.party), byte(p.status), byte(p.in), byte(p.asked), byte(p.round))
	}
	return string(b)
}

// sort puts places in order. Whoever was told that seats are to be claimed has not left the line, and stands where they stood.
func (h *hall) sort() {
	inLine := func(p place) bool { return p.status == Waiting || p.round > 0 }
	slices.SortStableFunc(h.places, func(a, b place) int {
		switch first := cmp.Compare(a.in, b.in); {
		case first != 0:
			return first
		case inLine(a) && inLine(b):
			return 0
		case inLine(a):
			return 1
		case inLine(b):
			return -1
		}
		return a.number - b.number
	})
}

func (h *hall) renumber() {
	numbers := make([]int, len(h.rounds)+1)
	var live []round
	for _, p := range h.places {
		if p.round > 0 && numbers[p.round] == 0 {
			live = append(live, h.rounds[p.round-1])
			numbers[p.round] = len(live)
		}
	}
	for i := range h.places {
		h.places[i].round = numbers[h.places[i].round]
	}
	h.rounds = live
}
