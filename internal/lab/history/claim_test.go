package history

import (
	"testing"
)

// Where the first to claim gets the seats, it is known who is told of which of them, what is kept, who is slower, and where they stand then.
func TestClaims(t *testing.T) {
	t.Parallel()
	one := Session{ID: "s", Capacity: 1, Queue: 3, Claims: true}
	two := Session{ID: "s", Capacity: 2, Queue: 2, Claims: true}
	duo := Session{ID: "s", Capacity: 2, Queue: 3, Claims: true}
	three := Session{ID: "s", Capacity: 3, Queue: 3, Claims: true}
	// A seat is given up for which two wait.
	freed := func(then ...Operation) []Operation {
		return append([]Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(4, 5, book(3, 3, Waits)), at(6, 7, act(Cancel, 1)),
		}, then...)
	}
	// The second of them is told again when the first, who was faster, gives it up.
	again := func(then ...Operation) []Operation {
		return freed(append([]Operation{at(8, 9, act(Accept, 2)), at(10, 11, act(Cancel, 2))}, then...)...)
	}
	party := func(place int, told Outcome) Operation {
		op := book(place, place, told)
		op.Party = 2
		if told == Booked {
			op.Moved = -2
		}
		return op
	}
	answering := func(offer int, op Operation) Operation {
		op.Offer = offer
		return op
	}
	full := func(place int) Operation { return Operation{Kind: Hold, Place: place, Member: place, Outcome: Full} }
	// A seat is given up that is too small for the party which waits.
	small := func(then ...Operation) []Operation {
		return append([]Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Booked)), at(4, 5, party(3, Waits)), at(6, 7, act(Cancel, 1)),
		}, then...)
	}
	// Two seats are given up, which a party and somebody by themselves want, and then one more, for which there is nobody.
	slower := func(then ...Operation) []Operation {
		return append([]Operation{
			at(0, 1, party(1, Booked)), at(2, 3, book(2, 2, Booked)), at(4, 5, party(3, Waits)), at(6, 7, book(4, 4, Waits)),
			at(8, 9, act(Cancel, 1)), at(10, 11, act(Cancel, 2)), at(12, 13, act(Accept, 4)),
		}, then...)
	}
	// Two seats are given up at once, which a party and two by themselves want. One of these is faster than the party, and gives the seat
	// up again while the other still thinks.
	freedAgain := func(then ...Operation) []Operation {
		return append([]Operation{
			at(0, 1, party(1, Booked)), at(2, 3, party(2, Waits)), at(4, 5, book(3, 3, Waits)), at(6, 7, book(4, 4, Waits)), at(8, 9, act(Cancel, 1)),
			at(10, 11, act(Accept, 3)), at(12, 13, act(Cancel, 3)),
		}, then...)
	}
	for name, tt := range map[string]struct {
		of    Session
		all   []Operation
		sound bool
	}{
		"the first to claim has it": {one, freed(
			at(8, 12, act(Accept, 3)), at(9, 12, refused(2)), at(13, 14, counting(1, Seat{3, Confirmed}, Seat{2, Waiting})),
		), true},
		"two claim one seat":             {one, freed(at(8, 12, act(Accept, 3)), at(9, 12, act(Accept, 2))), false},
		"refused, and nobody was faster": {one, freed(at(8, 9, refused(2)), at(10, 11, act(Accept, 3))), false},
		"all are told":                   {one, freed(at(8, 9, look(Seat{2, Offered}, Seat{3, Offered}))), true},
		"one is not told":                {one, freed(at(8, 9, look(Seat{2, Offered}, Seat{3, Waiting}))), false},
		"claimed before it is free":      {one, freed()[:3:3], true},
		"claimed though nothing is free": {one, append(freed()[:3:3], at(6, 7, act(Accept, 2))), false},
		"it is kept for them":            {one, freed(at(8, 9, full(4)), at(10, 11, counting(1, Seat{2, Offered}, Seat{3, Offered}))), true},
		"it is kept, and not counted":    {one, freed(at(8, 9, counting(0, Seat{2, Offered}, Seat{3, Offered}))), false},
		"it is sold to somebody else":    {one, freed(at(8, 9, book(4, 4, Booked))), false},
		"it is held by somebody else":    {one, freed(at(8, 9, hold(4, 4))), false},
		"whoever comes then stands in line": {one, freed(
			at(8, 9, book(4, 4, Waits)), at(10, 11, look(Seat{2, Offered}, Seat{3, Offered}, Seat{4, Waiting})),
		), true},
		"who claims leaves the line":            {one, freed(at(8, 9, act(Accept, 3)), at(10, 11, look(Seat{3, Offered}, Seat{2, Offered}))), false},
		"who lets it go leaves the line":        {one, freed(at(8, 9, act(Decline, 3)), at(10, 11, look(Seat{3, Waiting}, Seat{2, Offered}))), false},
		"who leaves lets it go":                 {one, freed(at(8, 9, act(Cancel, 2)), at(10, 11, act(Accept, 3))), true},
		"the slower stand where they stood":     {one, freed(at(7, 8, book(4, 4, Waits)), at(9, 10, act(Accept, 3)), at(11, 12, look(Seat{3, Confirmed}, Seat{2, Waiting}, Seat{4, Waiting}))), true},
		"the slower stand behind who came late": {one, freed(at(7, 8, book(4, 4, Waits)), at(9, 10, act(Accept, 3)), at(11, 12, look(Seat{3, Confirmed}, Seat{4, Waiting}, Seat{2, Waiting}))), false},
		"nobody wants it, and the next is told": {one, freed(
			at(8, 9, book(4, 4, Waits)), at(10, 11, act(Decline, 2)), at(12, 13, act(Decline, 3)), at(14, 15, act(Accept, 4)),
		), true},
		"nobody wants it, and the next is not told": {one, freed(
			at(8, 9, book(4, 4, Waits)), at(10, 11, act(Decline, 2)), at(12, 13, act(Decline, 3)), at(14, 15, counting(0, Seat{4, Waiting})),
		), false},
		"nobody wants it, and it is free": {one, freed(
			at(8, 9, act(Decline, 2)), at(10, 11, act(Decline, 3)), at(12, 13, counting(0)), at(14, 15, book(4, 4, Booked)),
		), true},
		"told twice":                      {one, again(at(12, 13, act(Accept, 3)), at(14, 15, look(Seat{3, Confirmed}))), true},
		"by the offer that was withdrawn": {one, again(at(12, 13, answering(1, act(Accept, 3)))), false},
		"by the one that lives":           {one, again(at(12, 13, answering(2, act(Accept, 3)))), true},
		"the withdrawn one is refused":    {one, again(at(12, 13, answering(1, refused(3))), at(14, 15, answering(2, act(Accept, 3)))), true},
		"the one that lives is refused":   {one, again(at(12, 13, answering(2, refused(3))), at(14, 15, look(Seat{3, Offered}))), false},
		"claimed, asked again, and given up since": {one, freed(
			at(8, 9, act(Accept, 2)), at(10, 11, act(Cancel, 2)), at(12, 13, Operation{Kind: Accept, Place: 2, Offer: 1, Outcome: Settled}),
		), true},
		"no answer, and it was claimed":                       {one, freed(at(8, 9, Operation{Kind: Accept, Place: 2, Outcome: Unknown}), at(10, 11, refused(3))), true},
		"no answer, and it was not claimed":                   {one, freed(at(8, 9, Operation{Kind: Accept, Place: 2, Outcome: Unknown}), at(10, 11, act(Accept, 3))), true},
		"a seat for which a party is too large is anybody's":  {two, small(at(8, 9, book(4, 4, Booked))), true},
		"a seat for which a party is too large is kept":       {two, small(at(8, 9, full(4))), false},
		"a party is told of a seat for which it is too large": {two, small(at(8, 9, look(Seat{2, Confirmed}, Seat{3, Offered}))), false},
		"the slower are not told while somebody may claim":    {duo, freedAgain(at(14, 15, counting(1, Seat{2, Waiting}, Seat{4, Offered}))), true},
		"the slower are told once nobody else wants it":       {duo, freedAgain(at(14, 15, act(Decline, 4)), at(16, 17, counting(2, Seat{2, Offered})), at(18, 19, act(Accept, 2))), true},
		"the slower claim it by the offer that they have":     {duo, freedAgain(at(14, 15, act(Decline, 4)), at(16, 17, answering(2, act(Accept, 2)))), true},
		"the slower count as asked":                           {duo, freedAgain(at(14, 15, act(Decline, 4)), at(16, 17, counting(0, Seat{2, Waiting}))), false},
		"the slower are told of what else is open":            {three, slower(at(14, 15, counting(3, Seat{4, Confirmed}, Seat{3, Offered}))), true},
		"the slower are not told of what else is open":        {three, slower(at(14, 15, look(Seat{4, Confirmed}, Seat{3, Waiting}))), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := CheckSessions([]Session{tt.of}, tt.all, patience); got.Sound() != tt.sound {
				t.Errorf("sound: %v", got.Sound())
			}
		})
	}
}
