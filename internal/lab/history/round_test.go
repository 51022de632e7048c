package history

import (
	"testing"

	"github.com/shoenig/test"
)

// The model knows which entries have an offer of which seats, which seats are reserved, which entries are slower, and
// their positions then.
func TestCheckSessions_GivesSeatsToTheFirstToClaim(t *testing.T) {
	t.Parallel()
	one := Session{ID: "s", Capacity: 1, Queue: 3, Claims: true}
	two := Session{ID: "s", Capacity: 2, Queue: 2, Claims: true}
	duo := Session{ID: "s", Capacity: 2, Queue: 3, Claims: true}
	three := Session{ID: "s", Capacity: 3, Queue: 3, Claims: true}
	// A seat is freed, and two entries wait for it.
	freed := func(then ...Operation) []Operation {
		return append([]Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(4, 5, book(3, 3, Waits)), at(6, 7, act(Cancel, 1)),
		}, then...)
	}
	// The first accepts it and cancels. The second gets another offer.
	again := func(then ...Operation) []Operation {
		return freed(append([]Operation{at(8, 9, act(Accept, 2)), at(10, 11, act(Cancel, 2))}, then...)...)
	}
	party := func(place int, outcome Outcome) Operation {
		op := book(place, place, outcome)
		op.Party = 2
		if outcome == Booked {
			op.Moved = -2
		}
		return op
	}
	answering := func(offer int, op Operation) Operation {
		op.Offer = offer
		return op
	}
	full := func(place int) Operation { return Operation{Kind: Hold, Place: place, Member: place, Outcome: Full} }
	// A seat is freed, and a party of two waits.
	small := func(then ...Operation) []Operation {
		return append([]Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Booked)), at(4, 5, party(3, Waits)), at(6, 7, act(Cancel, 1)),
		}, then...)
	}
	// Two seats are freed, and a party of two and a single member wait. Then another seat is freed.
	slower := func(then ...Operation) []Operation {
		return append([]Operation{
			at(0, 1, party(1, Booked)), at(2, 3, book(2, 2, Booked)), at(4, 5, party(3, Waits)), at(6, 7, book(4, 4, Waits)),
			at(8, 9, act(Cancel, 1)), at(10, 11, act(Cancel, 2)), at(12, 13, act(Accept, 4)),
		}, then...)
	}
	// Two seats are freed at once, and a party of two and two single members wait. One of the members accepts before the
	// party, and cancels while the other has not answered.
	freedAgain := func(then ...Operation) []Operation {
		return append([]Operation{
			at(0, 1, party(1, Booked)),
			at(2, 3, party(2, Waits)),
			at(4, 5, book(3, 3, Waits)),
			at(6, 7, book(4, 4, Waits)),
			at(8, 9, act(Cancel, 1)),
			at(10, 11, act(Accept, 3)),
			at(12, 13, act(Cancel, 3)),
		}, then...)
	}
	for name, tt := range map[string]struct {
		of  Session
		all []Operation
		ok  bool
	}{
		"the first to claim gets it": {one, freed(
			at(8, 12, act(Accept, 3)), at(9, 12, refused(2)), at(13, 14, counting(1, Seat{3, Confirmed}, Seat{2, Waiting})),
		), true},
		"two claim one seat":             {one, freed(at(8, 12, act(Accept, 3)), at(9, 12, act(Accept, 2))), false},
		"refused, and no one was faster": {one, freed(at(8, 9, refused(2)), at(10, 11, act(Accept, 3))), false},
		"all get an offer":               {one, freed(at(8, 9, look(Seat{2, Offered}, Seat{3, Offered}))), true},
		"one gets no offer":              {one, freed(at(8, 9, look(Seat{2, Offered}, Seat{3, Waiting}))), false},
		"claimed before it is free":      {one, freed()[:3:3], true},
		"claimed though nothing is free": {one, append(freed()[:3:3], at(6, 7, act(Accept, 2))), false},
		"it is reserved for them": {one, freed(
			at(8, 9, full(4)), at(10, 11, counting(1, Seat{2, Offered}, Seat{3, Offered})),
		), true},
		"it is reserved, but not counted": {one, freed(at(8, 9, counting(0, Seat{2, Offered}, Seat{3, Offered}))), false},
		"it is booked by another":         {one, freed(at(8, 9, book(4, 4, Booked))), false},
		"it is held by another":           {one, freed(at(8, 9, hold(4, 4))), false},
		"a later booking joins the waitlist": {one, freed(
			at(8, 9, book(4, 4, Waits)), at(10, 11, look(Seat{2, Offered}, Seat{3, Offered}, Seat{4, Waiting})),
		), true},
		"who claims still waits": {one, freed(
			at(8, 9, act(Accept, 3)), at(10, 11, look(Seat{3, Offered}, Seat{2, Offered})),
		), false},
		"who declines still waits": {one, freed(
			at(8, 9, act(Decline, 3)), at(10, 11, look(Seat{3, Waiting}, Seat{2, Offered})),
		), false},
		"who leaves declines it": {one, freed(at(8, 9, act(Cancel, 2)), at(10, 11, act(Accept, 3))), true},
		"the slower keep their position": {one, freed(
			at(7, 8, book(4, 4, Waits)), at(9, 10, act(Accept, 3)),
			at(11, 12, look(Seat{3, Confirmed}, Seat{2, Waiting}, Seat{4, Waiting})),
		), true},
		"the slower are behind a later entry": {one, freed(
			at(7, 8, book(4, 4, Waits)), at(9, 10, act(Accept, 3)),
			at(11, 12, look(Seat{3, Confirmed}, Seat{4, Waiting}, Seat{2, Waiting})),
		), false},
		"all decline, and the next gets an offer": {one, freed(
			at(8, 9, book(4, 4, Waits)), at(10, 11, act(Decline, 2)), at(12, 13, act(Decline, 3)), at(14, 15, act(Accept, 4)),
		), true},
		"all decline, and the next gets no offer": {one, freed(
			at(8, 9, book(4, 4, Waits)), at(10, 11, act(Decline, 2)), at(12, 13, act(Decline, 3)),
			at(14, 15, counting(0, Seat{4, Waiting})),
		), false},
		"all decline, and it is open": {one, freed(
			at(8, 9, act(Decline, 2)), at(10, 11, act(Decline, 3)), at(12, 13, counting(0)), at(14, 15, book(4, 4, Booked)),
		), true},
		"offered twice": {one, again(
			at(12, 13, act(Accept, 3)), at(14, 15, look(Seat{3, Confirmed})),
		), true},
		"accepted by the withdrawn offer": {one, again(at(12, 13, answering(1, act(Accept, 3)))), false},
		"accepted by the live offer":      {one, again(at(12, 13, answering(2, act(Accept, 3)))), true},
		"the withdrawn offer is refused": {one, again(
			at(12, 13, answering(1, refused(3))), at(14, 15, answering(2, act(Accept, 3))),
		), true},
		"the live offer is refused": {one, again(
			at(12, 13, answering(2, refused(3))), at(14, 15, look(Seat{3, Offered})),
		), false},
		"accepted again after it was cancelled": {one, freed(
			at(8, 9, act(Accept, 2)), at(10, 11, act(Cancel, 2)),
			at(12, 13, Operation{Kind: Accept, Place: 2, Offer: 1, Outcome: Settled}),
		), true},
		"no response, and it was claimed": {one, freed(
			at(8, 9, Operation{Kind: Accept, Place: 2, Outcome: Unknown}), at(10, 11, refused(3)),
		), true},
		"no response, and it was not claimed": {one, freed(
			at(8, 9, Operation{Kind: Accept, Place: 2, Outcome: Unknown}), at(10, 11, act(Accept, 3)),
		), true},
		"a seat that is too small for the party is open to others": {two, small(at(8, 9, book(4, 4, Booked))), true},
		"a seat that is too small for the party is reserved":       {two, small(at(8, 9, full(4))), false},
		"a party gets an offer of too few seats": {
			two, small(at(8, 9, look(Seat{2, Confirmed}, Seat{3, Offered}))), false,
		},
		"the slower get no offer while another can claim": {
			duo, freedAgain(at(14, 15, counting(1, Seat{2, Waiting}, Seat{4, Offered}))), true,
		},
		"the slower get an offer once all others declined": {duo, freedAgain(
			at(14, 15, act(Decline, 4)), at(16, 17, counting(2, Seat{2, Offered})), at(18, 19, act(Accept, 2)),
		), true},
		"the slower accept their second offer": {
			duo, freedAgain(at(14, 15, act(Decline, 4)), at(16, 17, answering(2, act(Accept, 2)))), true,
		},
		"the slower had their turn": {
			duo, freedAgain(at(14, 15, act(Decline, 4)), at(16, 17, counting(0, Seat{2, Waiting}))), false,
		},
		"the slower get offers of other open seats": {
			three, slower(at(14, 15, counting(3, Seat{4, Confirmed}, Seat{3, Offered}))), true,
		},
		"the slower get no offers of other open seats": {
			three, slower(at(14, 15, look(Seat{4, Confirmed}, Seat{3, Waiting}))), false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.EqOp(t, tt.ok, CheckSessions([]Session{tt.of}, tt.all, timeout).Linearizable())
		})
	}
}
