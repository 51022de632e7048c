package history

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const patience = 10 * time.Second

// at gives an operation its time: from one number of milliseconds to another.
func at(from, to int, op Operation) Operation {
	op.Called, op.Returned = time.Duration(from)*time.Millisecond, time.Duration(to)*time.Millisecond
	if op.Session == "" {
		op.Session = "s"
	}
	op.Payer = "p"
	if op.Party == 0 {
		op.Party = 1
	}
	return op
}

func book(place, member int, told Outcome) Operation {
	op := Operation{Kind: Book, Place: place, Member: member, Outcome: told}
	if told == Booked {
		op.Moved = -1
	}
	return op
}

func act(kind Kind, place int) Operation {
	return Operation{Kind: kind, Place: place, Outcome: Done}
}

func refused(place int) Operation {
	return Operation{Kind: Accept, Place: place, Outcome: Refused}
}

func hold(place, member int) Operation {
	return Operation{Kind: Hold, Place: place, Member: member, Outcome: Done}
}

func ended(places ...int) Operation { return Operation{Kind: Expire, Ended: places, Outcome: Done} }

func look(seen ...Seat) Operation { return Operation{Kind: Look, Outcome: Done, Seen: seen} }

func counting(taken int, seen ...Seat) Operation {
	return Operation{Kind: Look, Outcome: Done, Seen: seen, Taken: &taken}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	one := Session{ID: "s", Capacity: 1, Queue: 2}
	offers := Session{ID: "s", Capacity: 1, Queue: 2, Offers: true}
	brief := Session{ID: "s", Capacity: 3, Queue: 2, Brief: true}
	briefOffers := Session{ID: "s", Capacity: 1, Queue: 2, Offers: true, Brief: true}
	lasting := Session{ID: "s", Capacity: 3, Queue: 2}
	// With one seat open a party of two waits. Another seat is held, and may run out.
	atOdds := func(then ...Operation) []Operation {
		return append([]Operation{
			at(0, 1, hold(1, 1)), at(2, 3, book(2, 2, Booked)),
			at(4, 5, Operation{Kind: Book, Place: 3, Member: 3, Party: 2, Outcome: Waits}),
		}, then...)
	}
	promoting := func(n int) Operation {
		op := act(Cancel, 1)
		op.Promoted = n
		return op
	}
	for name, tt := range map[string]struct {
		of    Session
		all   []Operation
		sound bool
	}{
		"one seat, one after the other": {one, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, act(Cancel, 1)), at(4, 5, book(2, 2, Booked)),
		}, true},
		"oversold": {one, []Operation{
			at(0, 9, book(1, 1, Booked)), at(0, 9, book(2, 2, Booked)),
		}, false},
		"oversold by a hold": {one, []Operation{
			at(0, 9, book(1, 1, Booked)), at(0, 9, hold(2, 2)),
		}, false},
		"oversold by a party": {Session{ID: "s", Capacity: 2}, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, Operation{Kind: Book, Place: 2, Member: 2, Party: 2, Outcome: Booked}),
		}, false},
		"told to be full, with a seat left": {one, []Operation{
			at(0, 1, Operation{Kind: Hold, Place: 1, Member: 1, Outcome: Full}),
		}, false},
		"full only once the other has it": {one, []Operation{
			at(0, 9, book(1, 1, Booked)), at(1, 2, Operation{Kind: Hold, Place: 2, Member: 2, Outcome: Full}),
		}, true},
		"two places for one": {Session{ID: "s", Capacity: 5}, []Operation{
			at(0, 9, book(1, 1, Booked)), at(0, 9, book(2, 1, Booked)),
		}, false},
		"a second place is refused": {Session{ID: "s", Capacity: 5}, []Operation{
			at(0, 9, book(1, 1, Already)), at(0, 9, book(2, 1, Booked)),
		}, true},
		"refused for a place that nobody has": {one, []Operation{at(0, 1, book(1, 1, Already))}, false},
		"a cancellation that is lost": {Session{ID: "s", Capacity: 5}, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, act(Cancel, 1)), at(4, 5, look(Seat{1, Confirmed})),
		}, false},
		"a booking that is lost": {one, []Operation{at(0, 1, book(1, 1, Booked)), at(2, 3, look())}, false},
		"cancelled twice": {one, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 9, act(Cancel, 1)), at(2, 9, act(Cancel, 1)),
		}, false},
		"who waits first is booked first": {one, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(4, 5, book(3, 3, Waits)),
			at(6, 7, promoting(1)), at(8, 9, look(Seat{2, Confirmed}, Seat{3, Waiting})),
		}, true},
		"who waits first is passed over": {one, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(4, 5, book(3, 3, Waits)),
			at(6, 7, promoting(1)), at(8, 9, look(Seat{3, Confirmed}, Seat{2, Waiting})),
		}, false},
		"who joined together may come in any order": {one, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 5, book(2, 2, Waits)), at(2, 5, book(3, 3, Waits)),
			at(6, 7, promoting(1)), at(8, 9, look(Seat{3, Confirmed}, Seat{2, Waiting})),
		}, true},
		"nobody is woken": {one, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(4, 5, promoting(0)),
		}, false},
		"a line that is too long": {one, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(2, 3, book(3, 3, Waits)), at(4, 5, book(4, 4, Waits)),
		}, false},
		"a place in line that is wrong": {one, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, Operation{Kind: Book, Place: 2, Member: 2, Outcome: Waits, Position: 2}),
		}, false},
		"an offer reserves its seat": {offers, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(4, 5, promoting(0)),
			at(6, 7, Operation{Kind: Hold, Place: 3, Member: 3, Outcome: Full}), at(8, 9, act(Accept, 2)), at(10, 11, look(Seat{2, Confirmed})),
		}, true},
		"an offered seat is sold": {offers, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(4, 5, promoting(0)), at(6, 7, book(3, 3, Booked)),
		}, false},
		"an offer that is let go passes on": {offers, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(4, 5, book(3, 3, Waits)), at(6, 7, promoting(0)),
			at(8, 9, act(Decline, 2)), at(10, 11, act(Accept, 3)),
		}, true},
		"accepted without an offer": {offers, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(4, 5, act(Accept, 2)),
		}, false},
		"no answer, and it happened": {one, []Operation{
			at(0, 1, book(1, 1, Unknown)), at(2, 3, look(Seat{1, Confirmed})),
		}, true},
		"no answer, and it did not happen": {one, []Operation{
			at(0, 1, book(1, 1, Unknown)), at(2, 3, book(2, 2, Booked)), at(4, 5, look(Seat{2, Confirmed})),
		}, true},
		"no answer, and it happened later": {one, []Operation{
			at(0, 1, book(1, 1, Unknown)), at(2, 3, look()), at(4, 5, look(Seat{1, Confirmed})),
		}, true},
		"no answer, and it came and went": {one, []Operation{
			at(0, 1, book(1, 1, Unknown)), at(2, 3, look(Seat{1, Confirmed})), at(4, 5, look()),
		}, false},
		"a hold runs out": {one, []Operation{
			at(0, 1, hold(1, 1)), at(1, 1, ended(1)), at(2, 3, book(2, 2, Booked)),
		}, true},
		"a hold has run out for the server that refuses, and for no other": {brief, atOdds(
			at(6, 7, Operation{Kind: Hold, Place: 4, Member: 4, Outcome: Full}),
			at(8, 9, look(Seat{1, Held}, Seat{2, Confirmed}, Seat{3, Waiting})),
		), true},
		"a hold that lasts has run out for the server that refuses": {lasting, atOdds(
			at(6, 7, Operation{Kind: Hold, Place: 4, Member: 4, Outcome: Full}),
		), false},
		"whoever has a seat is told that it is full, where a hold has run out": {brief, atOdds(
			at(6, 7, Operation{Kind: Hold, Place: 4, Member: 2, Outcome: Full}),
		), false},
		"whoever has a seat waits for one more, where a hold has run out": {brief, atOdds(
			at(6, 7, ended(1)), at(6, 7, book(4, 2, Waits)),
		), false},
		"full with a seat left, whatever runs out": {brief, []Operation{
			at(0, 1, hold(1, 1)), at(2, 3, Operation{Kind: Hold, Place: 2, Member: 2, Outcome: Full}),
		}, false},
		"an offer that runs out passes on": {briefOffers, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(4, 5, book(3, 3, Waits)), at(6, 7, act(Cancel, 1)),
			at(8, 9, ended(2)), at(10, 11, refused(2)), at(10, 11, look(Seat{3, Offered})),
		}, true},
		"an offer has run out for one, and is taken at another": {briefOffers, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(6, 7, act(Cancel, 1)),
			at(8, 9, refused(2)), at(10, 11, act(Accept, 2)), at(12, 13, look(Seat{2, Confirmed})),
		}, true},
		"an offer that has run out is taken": {briefOffers, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(6, 7, act(Cancel, 1)),
			at(8, 9, ended(2)), at(8, 9, act(Accept, 2)), at(10, 11, look()),
		}, false},
		"a wait runs out": {briefOffers, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(4, 5, ended(2)), at(6, 7, look(Seat{1, Confirmed})),
		}, false},
		"holds that run out at once give their seats at once": {brief, []Operation{
			at(0, 1, hold(1, 1)), at(0, 1, hold(2, 2)), at(2, 3, book(3, 3, Booked)),
			at(4, 5, Operation{Kind: Book, Place: 4, Member: 4, Party: 2, Outcome: Waits}), at(6, 7, book(5, 5, Waits)),
			at(8, 9, ended(1, 2)), at(10, 11, look(Seat{3, Confirmed}, Seat{4, Confirmed}, Seat{5, Waiting})),
		}, true},
		"holds that run out one by one give their seats one by one": {brief, []Operation{
			at(0, 1, hold(1, 1)), at(0, 1, hold(2, 2)), at(2, 3, book(3, 3, Booked)),
			at(4, 5, Operation{Kind: Book, Place: 4, Member: 4, Party: 2, Outcome: Waits}), at(6, 7, book(5, 5, Waits)),
			at(8, 9, ended(1)), at(8, 9, ended(2)), at(10, 11, look(Seat{3, Confirmed}, Seat{4, Confirmed}, Seat{5, Waiting})),
		}, false},
		"seats are counted": {offers, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(4, 5, counting(1, Seat{1, Confirmed}, Seat{2, Waiting})),
			at(6, 7, promoting(0)), at(8, 9, counting(1, Seat{2, Offered})), at(10, 11, act(Decline, 2)), at(12, 13, counting(0)),
		}, true},
		"a seat is counted that nobody has": {offers, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, act(Cancel, 1)), at(4, 5, counting(1)),
		}, false},
		"what was confirmed runs out": {one, []Operation{
			at(0, 1, hold(1, 1)), at(1, 2, ended(1)),
			at(2, 3, act(Confirm, 1)), at(4, 5, look(Seat{1, Confirmed})), at(6, 7, look()),
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := CheckSessions([]Session{tt.of}, tt.all, patience)
			if got.Sound() != tt.sound || len(got.Operations()) != len(tt.all) {
				t.Errorf("sound: %v, of %d operations", got.Sound(), len(got.Operations()))
			}
			var page bytes.Buffer
			if err := got.Draw(&page); err != nil || !strings.Contains(page.String(), "member") {
				t.Errorf("drawn: %v, %d bytes", err, page.Len())
			}
		})
	}
}

func TestMoves(t *testing.T) {
	t.Parallel()
	both := []Session{{ID: "s", Capacity: 1, Queue: 2}, {ID: "t", Capacity: 1, Queue: 2}}
	there := func(op Operation) Operation {
		op.Session = "t"
		return op
	}
	move := func(place, member, promoted int, told Outcome) Operation {
		return Operation{Kind: Move, To: "t", Place: place, Member: member, Party: 1, Promoted: promoted, Outcome: told}
	}
	for name, tt := range map[string]struct {
		all   []Operation
		sound bool
	}{
		"who waits gets the seat that is left": {[]Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(4, 5, move(1, 1, 1, Done)),
			at(6, 7, look(Seat{2, Confirmed})), at(6, 7, there(look(Seat{1, Confirmed}))),
		}, true},
		"to where there is no room": {[]Operation{
			at(0, 1, book(1, 1, Booked)), at(0, 1, there(book(2, 2, Booked))), at(2, 3, move(1, 1, 0, Done)),
		}, false},
		"refused, and both stay": {[]Operation{
			at(0, 1, book(1, 1, Booked)), at(0, 1, there(book(2, 2, Booked))), at(2, 3, move(1, 1, 0, Full)),
			at(4, 5, look(Seat{1, Confirmed})), at(4, 5, there(look(Seat{2, Confirmed}))),
		}, true},
		"refused, with room": {[]Operation{at(0, 1, book(1, 1, Booked)), at(2, 3, move(1, 1, 0, Full))}, false},
		"to where they are":  {[]Operation{at(0, 1, book(1, 1, Booked)), at(0, 1, there(book(2, 1, Booked))), at(2, 3, move(1, 1, 0, Already))}, true},
		"the seat is not given back": {[]Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, move(1, 1, 0, Done)), at(4, 5, book(2, 2, Waits)),
		}, false},
		"in both": {[]Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 9, move(1, 1, 0, Unknown)), at(4, 5, there(look(Seat{1, Confirmed}))), at(6, 7, look(Seat{1, Confirmed})),
		}, false},
		"in neither": {[]Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 9, move(1, 1, 0, Unknown)), at(4, 5, look()), at(6, 7, there(look())),
		}, false},
		"no answer, and it happened": {[]Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 9, move(1, 1, 0, Unknown)), at(4, 5, look()), at(6, 7, there(look(Seat{1, Confirmed}))),
		}, true},
		"again, after it was given up there": {[]Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, move(1, 1, 0, Done)), at(4, 5, act(Cancel, 1)), at(6, 7, move(1, 1, 0, Settled)), at(8, 9, there(look())),
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := CheckSessions(both, tt.all, patience); got.Sound() != tt.sound {
				t.Errorf("sound: %v", got.Sound())
			}
		})
	}
}

// What is left of a history that is wrong is what makes it wrong.
func TestSmallest(t *testing.T) {
	t.Parallel()
	of := Session{ID: "s", Capacity: 2, Queue: 1}
	all := []Operation{
		at(0, 1, hold(1, 1)), at(2, 3, act(Release, 1)), at(4, 5, look()), at(6, 7, book(2, 2, Booked)), at(8, 9, book(3, 2, Already)),
		at(10, 30, book(4, 4, Booked)), at(12, 28, book(5, 5, Booked)), at(20, 22, act(Confirm, 2)),
		at(40, 41, act(Cancel, 4)), at(42, 43, book(6, 6, Booked)), at(44, 45, book(7, 7, Waits)),
	}
	v := CheckSessions([]Session{of}, all, patience)
	if v.Sound() {
		t.Fatal("sound")
	}
	small := v.Smallest(patience)
	if small.Sound() {
		t.Error("what is left is sound")
	}
	want := []string{
		"       0.0          …  hold #1 (member 1) → unknown", "       2.0          …  release #1 (member 0) → unknown",
		"       6.0        7.0  book #2 (member 2) → booked [-1, 0 left]",
		"      10.0       30.0  book #4 (member 4) → booked [-1, 0 left]", "      12.0       28.0  book #5 (member 5) → booked [-1, 0 left]",
		"      20.0          …  confirm #2 (member 0) → unknown",
	}
	if diff := cmp.Diff(want, strings.Split(strings.TrimRight(small.String(), "\n"), "\n")); diff != "" {
		t.Error(diff)
	}
	if sound := CheckSessions([]Session{of}, all[:6], patience); sound.Smallest(patience).String() != sound.String() {
		t.Error("a sound history is made smaller")
	}
}

func TestLedgers(t *testing.T) {
	t.Parallel()
	back := func(place, credits int) Operation {
		return Operation{Kind: Cancel, Place: place, Outcome: Done, Moved: credits}
	}
	balance := func(n int) Operation { return Operation{Kind: Balance, Outcome: Done, Left: n} }
	for name, tt := range map[string]struct {
		opened int
		all    []Operation
		sound  bool
	}{
		"taken and given back": {1, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 1, Broke)), at(4, 5, back(1, 1)), at(6, 7, book(3, 1, Booked)), at(8, 9, balance(0)),
		}, true},
		"spent twice":    {1, []Operation{at(0, 9, book(1, 1, Booked)), at(0, 9, book(2, 1, Booked))}, false},
		"given twice":    {1, []Operation{at(0, 1, book(1, 1, Booked)), at(2, 9, back(1, 1)), at(2, 9, back(1, 1))}, false},
		"given too much": {1, []Operation{at(0, 1, book(1, 1, Booked)), at(2, 3, back(1, 2))}, false},
		"never given back": {1, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, back(1, 0)), at(4, 5, balance(1)),
		}, false},
		"a party pays for each": {2, []Operation{
			at(0, 1, Operation{Kind: Book, Place: 1, Party: 2, Outcome: Booked, Moved: -2}), at(2, 3, balance(0)),
		}, true},
		"a credit that is lost":   {1, []Operation{at(0, 1, balance(1)), at(2, 3, balance(0))}, false},
		"refused with a balance":  {1, []Operation{at(0, 1, book(1, 1, Broke))}, false},
		"confirmed again is free": {1, []Operation{at(0, 1, Operation{Kind: Confirm, Place: 1, Outcome: Done, Moved: -1}), at(2, 3, act(Confirm, 1)), at(4, 5, balance(0))}, true},
		"granted": {0, []Operation{
			at(0, 1, Operation{Kind: Grant, Amount: 3, Outcome: Done, Left: 3}), at(2, 3, balance(3)),
		}, true},
		"granted twice": {0, []Operation{
			at(0, 1, Operation{Kind: Grant, Amount: 3, Outcome: Done, Left: 3}), at(2, 3, balance(6)),
		}, false},
		"no answer, and it was taken":     {1, []Operation{at(0, 1, book(1, 1, Unknown)), at(2, 3, balance(0))}, true},
		"no answer, and it was not taken": {1, []Operation{at(0, 1, book(1, 1, Unknown)), at(2, 3, balance(1))}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := CheckLedger(Ledger{ID: "p", Opened: tt.opened}, tt.all, patience); got.Sound() != tt.sound {
				t.Errorf("sound: %v", got.Sound())
			}
		})
	}
}

// A history of forty overlapping calls by eight clients, a tenth of them without an answer, is judged in no time; and one
// booking too many, wherever it is put, is found.
func TestLongHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 1))
		of := Session{ID: "s", Capacity: 3, Queue: 3, Claims: seed%2 == 1}
		all, _ := play(of, random, 40, 10)
		if !CheckSessions([]Session{of}, all, patience).Sound() {
			t.Errorf("seed %d: what happened one after the other is not sound", seed)
		}
		all, end := play(of, random, 40, math.MaxInt)
		open := end.open(0)
		for i := range open + 1 {
			if sound := CheckSessions([]Session{of}, all, patience).Sound(); !sound {
				t.Errorf("seed %d: not sound with %d more", seed, i)
			}
			all = append(all, at(1000+10*i, 1005+10*i, book(900+i, 900+i, Booked)))
		}
		if CheckSessions([]Session{of}, all, patience).Sound() {
			t.Errorf("seed %d: the seat too many is not found", seed)
		}
	}
}

// play lets a model session answer calls, and then stretches them so that they overlap. One in so many loses its answer.
func play(of Session, random *rand.Rand, n, lost int) ([]Operation, hall) {
	h := hall{sessions: []Session{of}}
	var all []Operation
	for i := range n {
		op := Operation{Kind: Book, Session: of.ID, Place: i + 1, Member: random.IntN(9), Party: 1 + random.IntN(2)}
		outcomes := []Outcome{Booked, Waits, Full, Already}
		switch n := random.IntN(4); {
		case n < 2 || i == 0:
		case n == 2 && of.Claims:
			kinds := []Kind{Accept, Accept, Decline}
			op.Kind, op.Place, outcomes = kinds[random.IntN(3)], 1+random.IntN(i), []Outcome{Done, Refused}
		default:
			op.Kind, op.Place, outcomes = Cancel, 1+random.IntN(i), []Outcome{Done, Gone}
		}
		for _, outcome := range outcomes {
			op.Outcome, op.Promoted = outcome, 0
			if op.Kind != Book {
				op.Promoted = -1
			}
			next := decode(h.sessions, h.encode())
			if next.step(op, op) {
				h = *next
				break
			}
		}
		if random.IntN(lost) == 0 {
			op.Outcome = Unknown
		}
		all = append(all, at(10*i-random.IntN(40), 10*i+random.IntN(40), op))
	}
	return all, h
}
