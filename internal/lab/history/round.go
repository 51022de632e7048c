package history

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// round is the offers of seats that were freed at the same time. It lasts while an entry has an offer of the round.
type round struct {
	session  int // index
	reserved int // seats that are reserved for the first to claim them, in a session with Claims
	// gaveUp are the members whose seats they were, and those who declined an offer of them: none of their other entries
	// gets them. They are sorted.
	gaveUp []int
}

// giveUp adds a member to those who gave the seats up.
func (r *round) giveUp(member int) {
	if at, found := slices.BinarySearch(r.gaveUp, member); !found {
		r.gaveUp = slices.Insert(slices.Clone(r.gaveUp), at, member)
	}
}

// reservedSeats counts the seats of a session that rounds reserve.
func (st *sessionState) reservedSeats(in int) (n int) {
	for _, r := range st.rounds {
		if r.session == in {
			n += r.reserved
		}
	}
	return n
}

// fillRound gives the open seats of a session to its waiting entries, as part of a round, but not to members who gave
// the seats up, or hold others in the session. It returns how many were promoted. In a session with Claims all entries
// that fit get offers: the round reserves as many seats as they want together, if there are that many. Entries that let
// an offer go have left before.
func (st *sessionState) fillRound(number int) (promoted int) {
	r, wanted := &st.rounds[number-1], 0
	in := st.sessions[r.session]
	open := st.open(r.session)
	for i := range st.places {
		p := &st.places[i]
		if p.session != r.session || p.status != Waiting || p.party > open-wanted && !in.Claims || p.party > open ||
			slices.Contains(r.gaveUp, p.member) || st.has(p.session, p.member, p.number) {
			continue
		}
		wanted += p.party
		if !in.Claims && !in.Offers {
			p.status = Confirmed
			promoted++
			continue
		}
		p.status, p.offers, p.round = Offered, p.offers+1, number
	}
	if in.Claims {
		r.reserved += min(open, wanted)
	}
	return promoted
}

// claim books seats of a round. Entries that need more than the round then has wait again, as if they had never had an
// offer. They get offers of all open seats: in the same round, if no one else can claim what is left of it.
func (st *sessionState) claim(p *place, seats int) {
	number := p.round
	r := &st.rounds[number-1]
	r.reserved -= seats
	p.status, p.round = Confirmed, 0
	slower := false
	for i := range st.places {
		if q := &st.places[i]; q.round == number && q.party > r.reserved {
			q.status, q.round, slower = Waiting, 0, true
		}
	}
	if !st.refillRound(number) && slower {
		st.fill(r.session)
	}
}

// refillRound offers the seats of an offer that ended to the entries that wait, in the same round. Those of a session
// with Claims are released only if no one else can claim them any more. It reports whether it did.
func (st *sessionState) refillRound(number int) bool {
	r := &st.rounds[number-1]
	if st.sessions[r.session].Claims {
		if r.reserved == 0 || slices.ContainsFunc(st.places, func(p place) bool { return p.round == number }) {
			return false
		}
		r.reserved = 0
	}
	st.fillRound(number)
	return true
}

// A state is encoded as a string: the session and the reserved seats of each round, with those who gave them up, and
// then the places. Equal states have equal strings: rounds without offers are omitted, and the others are numbered in
// the order of their first places.
const placeSize = 11

func decode(of []Session, text string) *sessionState {
	st := &sessionState{sessions: of}
	if text == "" {
		return st
	}
	b := []byte(text[1:])
	for range text[0] {
		r, members := round{session: int(b[0]), reserved: int(b[1])}, int(b[2])
		for b = b[3:]; members > 0; members-- {
			r.gaveUp = append(r.gaveUp, int(binary.BigEndian.Uint16(b)))
			b = b[2:]
		}
		st.rounds = append(st.rounds, r)
	}
	for ; len(b) > 0; b = b[placeSize:] {
		st.places = append(st.places, place{
			number: int(binary.BigEndian.Uint32(b)), member: int(binary.BigEndian.Uint16(b[4:])), party: int(b[6]),
			status: Status(b[7]), session: int(b[8]), offers: int(b[9]), round: int(b[10]),
		})
	}
	return st
}

func (st *sessionState) encode() string {
	st.sort()
	st.renumber()
	b := append(make([]byte, 0, 1+len(st.rounds)*8+len(st.places)*placeSize), byte(len(st.rounds)))
	for _, r := range st.rounds {
		b = append(b, byte(r.session), byte(r.reserved), byte(len(r.gaveUp)))
		for _, member := range r.gaveUp {
			b = binary.BigEndian.AppendUint16(b, uint16(member))
		}
	}
	for _, p := range st.places {
		b = binary.BigEndian.AppendUint32(b, uint32(p.number))
		b = binary.BigEndian.AppendUint16(b, uint16(p.member))
		b = append(b, byte(p.party), byte(p.status), byte(p.session), byte(p.offers), byte(p.round))
	}
	return string(b)
}

// sort orders the places. An entry with an offer of shared seats keeps its place among the waiting entries.
func (st *sessionState) sort() {
	queued := func(p place) bool { return !st.hasSeats(p) }
	slices.SortStableFunc(st.places, func(a, b place) int {
		switch first := cmp.Compare(a.session, b.session); {
		case first != 0:
			return first
		case queued(a) && queued(b):
			return 0
		case queued(a):
			return 1
		case queued(b):
			return -1
		}
		return a.number - b.number
	})
}

func (st *sessionState) renumber() {
	numbers := make([]int, len(st.rounds)+1)
	var live []round
	for _, p := range st.places {
		if p.round > 0 && numbers[p.round] == 0 {
			live = append(live, st.rounds[p.round-1])
			numbers[p.round] = len(live)
		}
	}
	for i := range st.places {
		st.places[i].round = numbers[st.places[i].round]
	}
	st.rounds = live
}
