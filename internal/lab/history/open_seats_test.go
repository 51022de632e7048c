package history

import (
	"slices"
	"testing"

	"github.com/shoenig/test"
)

// Members who wait book open seats and those of their offers. Who gave seats up gets none of them through another
// entry.
func TestCheckSessions_LetsThoseWhoWaitBook(t *testing.T) {
	t.Parallel()
	offers := Session{ID: "s", Capacity: 1, Queue: 5, Offers: true}
	pairs := Session{ID: "s", Capacity: 2, Queue: 5, Offers: true}
	three := Session{ID: "s", Capacity: 3, Queue: 5}
	forTwo := func(op Operation) Operation {
		op.Party = 2
		return op
	}
	inTurn := func(all ...Operation) []Operation {
		for i := range all {
			all[i] = at(2*i, 2*i+1, all[i])
		}
		return all
	}
	offered := inTurn(book(1, 1, Booked), book(2, 2, Waits), act(Cancel, 1))
	rejoined := inTurn(book(1, 1, Booked), book(2, 2, Waits), act(Cancel, 1), book(3, 1, Waits), book(4, 3, Waits))
	declined := inTurn(book(1, 1, Booked), book(2, 2, Waits), act(Cancel, 1), book(3, 3, Waits), act(Decline, 2),
		book(4, 2, Waits), book(5, 4, Waits))
	held := inTurn(book(1, 1, Booked), book(2, 2, Booked), book(5, 5, Booked), forTwo(book(3, 3, Waits)),
		act(Cancel, 1), hold(4, 3), act(Cancel, 2), act(Cancel, 5))
	for name, tt := range map[string]struct {
		of    Session
		begin []Operation
		then  []Operation
		ok    bool
	}{
		"a booking accepts the offer": {offers, offered,
			[]Operation{book(3, 2, Booked), look(Seat{3, Confirmed})}, true},
		"the offer stays": {offers, offered,
			[]Operation{book(3, 2, Booked), look(Seat{2, Offered}, Seat{3, Confirmed})}, false},
		"who has an offer is refused":             {offers, offered, []Operation{book(3, 2, Already)}, false},
		"who waits for a full session is refused": {offers, rejoined, []Operation{book(5, 3, Already)}, true},
		"others do not get the offered seat":      {offers, offered, []Operation{book(3, 3, Booked)}, false},
		"a smaller party leaves a seat to the next": {
			pairs, inTurn(forTwo(book(1, 1, Booked)), forTwo(book(2, 2, Waits)), book(3, 3, Waits), forTwo(act(Cancel, 1))),
			[]Operation{book(4, 2, Booked), look(Seat{3, Offered}, Seat{4, Confirmed})}, true,
		},
		"a smaller party leaves a seat to no one": {
			pairs, inTurn(forTwo(book(1, 1, Booked)), forTwo(book(2, 2, Waits)), book(3, 3, Waits), forTwo(act(Cancel, 1))),
			[]Operation{book(4, 2, Booked), look(Seat{4, Confirmed}, Seat{3, Waiting})}, false,
		},
		"a cancelled seat does not go back": {offers, rejoined,
			[]Operation{act(Decline, 2), look(Seat{4, Offered}, Seat{3, Waiting})}, true},
		"a cancelled seat goes back": {offers, rejoined,
			[]Operation{act(Decline, 2), look(Seat{3, Offered}, Seat{4, Waiting})}, false},
		"a declined seat does not go back": {offers, declined,
			[]Operation{act(Decline, 3), look(Seat{5, Offered}, Seat{4, Waiting})}, true},
		"a declined seat goes back": {offers, declined,
			[]Operation{act(Decline, 3), look(Seat{4, Offered}, Seat{5, Waiting})}, false},
		"a seat of a later round goes to who gave up an earlier one": {offers, rejoined,
			[]Operation{act(Accept, 2), act(Cancel, 2), look(Seat{3, Offered}, Seat{4, Waiting})}, true},
		"a hold pauses the entry": {three, held, []Operation{look(Seat{4, Held}, Seat{3, Waiting})}, true},
		"a hold does not pause the entry": {three, held,
			[]Operation{look(Seat{3, Confirmed}, Seat{4, Held})}, false},
		"a released hold goes on pausing for its seat": {three, held,
			[]Operation{act(Release, 4), look(Seat{3, Waiting})}, true},
		"a confirmed hold ends the entry": {three, held, []Operation{act(Confirm, 4), look(Seat{4, Confirmed})}, true},
		"a confirmed hold leaves the entry": {three, held,
			[]Operation{act(Confirm, 4), look(Seat{4, Confirmed}, Seat{3, Waiting})}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := slices.Clone(tt.begin)
			for i, op := range tt.then {
				all = append(all, at(100+2*i, 101+2*i, op))
			}
			v := CheckSessions([]Session{tt.of}, all, timeout)
			test.EqOp(t, tt.ok, v.Linearizable())
		})
	}
}
