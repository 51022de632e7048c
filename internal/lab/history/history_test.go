package history

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

const timeout = 10 * time.Second

// at sets the times of call and return of an operation, in milliseconds.
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

func book(place, member int, outcome Outcome) Operation {
	op := Operation{Kind: Book, Place: place, Member: member, Outcome: outcome}
	if outcome == Booked {
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

func TestCheckSessions_AcceptsOnlyHistoriesWithAnOrder(t *testing.T) {
	t.Parallel()
	one := Session{ID: "s", Capacity: 1, Queue: 2}
	offers := Session{ID: "s", Capacity: 1, Queue: 2, Offers: true}
	brief := Session{ID: "s", Capacity: 3, Queue: 2, Brief: true}
	briefOffers := Session{ID: "s", Capacity: 1, Queue: 2, Offers: true, Brief: true}
	lasting := Session{ID: "s", Capacity: 3, Queue: 2}
	// A party of two waits while one seat is open. Another seat is held, and the hold may expire.
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
		of  Session
		all []Operation
		ok  bool
	}{
		"one seat, one after the other": {one, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, act(Cancel, 1)), at(4, 5, book(2, 2, Booked)),
		}, true},
		"two bookings for one seat": {one, []Operation{
			at(0, 9, book(1, 1, Booked)), at(0, 9, book(2, 2, Booked)),
		}, false},
		"a booking and a hold for one seat": {one, []Operation{
			at(0, 9, book(1, 1, Booked)), at(0, 9, hold(2, 2)),
		}, false},
		"a party for one open seat": {Session{ID: "s", Capacity: 2}, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, Operation{Kind: Book, Place: 2, Member: 2, Party: 2, Outcome: Booked}),
		}, false},
		"full with an open seat": {one, []Operation{
			at(0, 1, Operation{Kind: Hold, Place: 1, Member: 1, Outcome: Full}),
		}, false},
		"full after another booking": {one, []Operation{
			at(0, 9, book(1, 1, Booked)), at(1, 2, Operation{Kind: Hold, Place: 2, Member: 2, Outcome: Full}),
		}, true},
		"two bookings by one member": {Session{ID: "s", Capacity: 5}, []Operation{
			at(0, 9, book(1, 1, Booked)), at(0, 9, book(2, 1, Booked)),
		}, false},
		"a second booking is refused": {Session{ID: "s", Capacity: 5}, []Operation{
			at(0, 9, book(1, 1, Already)), at(0, 9, book(2, 1, Booked)),
		}, true},
		"already booked without a booking": {one, []Operation{at(0, 1, book(1, 1, Already))}, false},
		"a lost cancellation": {Session{ID: "s", Capacity: 5}, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, act(Cancel, 1)), at(4, 5, look(Seat{1, Confirmed})),
		}, false},
		"a lost booking": {one, []Operation{at(0, 1, book(1, 1, Booked)), at(2, 3, look())}, false},
		"cancelled twice": {one, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 9, act(Cancel, 1)), at(2, 9, act(Cancel, 1)),
		}, false},
		"the first in the queue is promoted": {one, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(4, 5, book(3, 3, Waits)),
			at(6, 7, promoting(1)), at(8, 9, look(Seat{2, Confirmed}, Seat{3, Waiting})),
		}, true},
		"the first in the queue is skipped": {one, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(4, 5, book(3, 3, Waits)),
			at(6, 7, promoting(1)), at(8, 9, look(Seat{3, Confirmed}, Seat{2, Waiting})),
		}, false},
		"overlapping calls can join in any order": {one, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 5, book(2, 2, Waits)), at(2, 5, book(3, 3, Waits)),
			at(6, 7, promoting(1)), at(8, 9, look(Seat{3, Confirmed}, Seat{2, Waiting})),
		}, true},
		"no one is promoted": {one, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(4, 5, promoting(0)),
		}, false},
		"too many in the queue": {one, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(2, 3, book(3, 3, Waits)), at(4, 5, book(4, 4, Waits)),
		}, false},
		"a wrong position": {one, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, Operation{Kind: Book, Place: 2, Member: 2, Outcome: Waits, Position: 2}),
		}, false},
		"an offer reserves its seat": {offers, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(4, 5, promoting(0)),
			at(6, 7, Operation{Kind: Hold, Place: 3, Member: 3, Outcome: Full}), at(8, 9, act(Accept, 2)),
			at(10, 11, look(Seat{2, Confirmed})),
		}, true},
		"an offered seat is booked by another": {offers, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(4, 5, promoting(0)), at(6, 7, book(3, 3, Booked)),
		}, false},
		"a declined offer goes to the next": {offers, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(4, 5, book(3, 3, Waits)), at(6, 7, promoting(0)),
			at(8, 9, act(Decline, 2)), at(10, 11, act(Accept, 3)),
		}, true},
		"accepted without an offer": {offers, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(4, 5, act(Accept, 2)),
		}, false},
		"no response, and it happened": {one, []Operation{
			at(0, 1, book(1, 1, Unknown)), at(2, 3, look(Seat{1, Confirmed})),
		}, true},
		"no response, and it did not happen": {one, []Operation{
			at(0, 1, book(1, 1, Unknown)), at(2, 3, book(2, 2, Booked)), at(4, 5, look(Seat{2, Confirmed})),
		}, true},
		"no response, and it happened later": {one, []Operation{
			at(0, 1, book(1, 1, Unknown)), at(2, 3, look()), at(4, 5, look(Seat{1, Confirmed})),
		}, true},
		"no response, and it was undone": {one, []Operation{
			at(0, 1, book(1, 1, Unknown)), at(2, 3, look(Seat{1, Confirmed})), at(4, 5, look()),
		}, false},
		"a hold expires": {one, []Operation{
			at(0, 1, hold(1, 1)), at(1, 1, ended(1)), at(2, 3, book(2, 2, Booked)),
		}, true},
		"a hold has expired for one server only": {brief, atOdds(
			at(6, 7, Operation{Kind: Hold, Place: 4, Member: 4, Outcome: Full}),
			at(8, 9, look(Seat{1, Held}, Seat{2, Confirmed}, Seat{3, Waiting})),
		), true},
		"a long hold has expired for one server": {lasting, atOdds(
			at(6, 7, Operation{Kind: Hold, Place: 4, Member: 4, Outcome: Full}),
		), false},
		"full for a member with a seat, after a hold expired": {brief, atOdds(
			at(6, 7, Operation{Kind: Hold, Place: 4, Member: 2, Outcome: Full}),
		), false},
		"a member with a seat joins the waitlist, after a hold expired": {brief, atOdds(
			at(6, 7, ended(1)), at(6, 7, book(4, 2, Waits)),
		), false},
		"full with an open seat, whatever expires": {brief, []Operation{
			at(0, 1, hold(1, 1)), at(2, 3, Operation{Kind: Hold, Place: 2, Member: 2, Outcome: Full}),
		}, false},
		"an expired offer goes to the next": {briefOffers, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(4, 5, book(3, 3, Waits)), at(6, 7, act(Cancel, 1)),
			at(8, 9, ended(2)), at(10, 11, refused(2)), at(10, 11, look(Seat{3, Offered})),
		}, true},
		"an offer has expired for one server and is accepted by another": {briefOffers, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(6, 7, act(Cancel, 1)),
			at(8, 9, refused(2)), at(10, 11, act(Accept, 2)), at(12, 13, look(Seat{2, Confirmed})),
		}, true},
		"an expired offer is accepted": {briefOffers, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(6, 7, act(Cancel, 1)),
			at(8, 9, ended(2)), at(8, 9, act(Accept, 2)), at(10, 11, look()),
		}, false},
		"an entry without an offer expires": {briefOffers, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(4, 5, ended(2)), at(6, 7, look(Seat{1, Confirmed})),
		}, false},
		"holds that expire together free their seats together": {brief, []Operation{
			at(0, 1, hold(1, 1)), at(0, 1, hold(2, 2)), at(2, 3, book(3, 3, Booked)),
			at(4, 5, Operation{Kind: Book, Place: 4, Member: 4, Party: 2, Outcome: Waits}), at(6, 7, book(5, 5, Waits)),
			at(8, 9, ended(1, 2)), at(10, 11, look(Seat{3, Confirmed}, Seat{4, Confirmed}, Seat{5, Waiting})),
		}, true},
		"holds that expire one by one free their seats one by one": {brief, []Operation{
			at(0, 1, hold(1, 1)), at(0, 1, hold(2, 2)), at(2, 3, book(3, 3, Booked)),
			at(4, 5, Operation{Kind: Book, Place: 4, Member: 4, Party: 2, Outcome: Waits}), at(6, 7, book(5, 5, Waits)),
			at(8, 9, ended(1)), at(8, 9, ended(2)), at(10, 11, look(Seat{3, Confirmed}, Seat{4, Confirmed}, Seat{5, Waiting})),
		}, false},
		"taken seats are counted": {offers, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)),
			at(4, 5, counting(1, Seat{1, Confirmed}, Seat{2, Waiting})),
			at(6, 7, promoting(0)), at(8, 9, counting(1, Seat{2, Offered})), at(10, 11, act(Decline, 2)),
			at(12, 13, counting(0)),
		}, true},
		"an open seat is counted as taken": {offers, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, act(Cancel, 1)), at(4, 5, counting(1)),
		}, false},
		"a confirmed booking expires": {one, []Operation{
			at(0, 1, hold(1, 1)), at(1, 2, ended(1)),
			at(2, 3, act(Confirm, 1)), at(4, 5, look(Seat{1, Confirmed})), at(6, 7, look()),
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := CheckSessions([]Session{tt.of}, tt.all, timeout)
			test.EqOp(t, tt.ok, got.Linearizable(),
				test.Sprintf("linearizable: %v, of %d operations", got.Linearizable(), len(got.Operations())))
			test.SliceLen(t, len(tt.all), got.Operations(),
				test.Sprintf("linearizable: %v, of %d operations", got.Linearizable(), len(got.Operations())))
			var page bytes.Buffer
			err := got.WritePage(&page)
			test.NoError(t, err, test.Sprintf("page: %v, %d bytes", err, page.Len()))
			test.StrContains(t, page.String(), "member", test.Sprintf("page: %v, %d bytes", err, page.Len()))
		})
	}
}

func TestCheckSessions_FollowsBookingsThatMove(t *testing.T) {
	t.Parallel()
	both := []Session{{ID: "s", Capacity: 1, Queue: 2}, {ID: "t", Capacity: 1, Queue: 2}}
	inOther := func(op Operation) Operation {
		op.Session = "t"
		return op
	}
	move := func(place, member, promoted int, outcome Outcome) Operation {
		return Operation{Kind: Move, To: "t", Place: place, Member: member, Party: 1, Promoted: promoted, Outcome: outcome}
	}
	for name, tt := range map[string]struct {
		all []Operation
		ok  bool
	}{
		"the freed seat goes to the waitlist": {[]Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 2, Waits)), at(4, 5, move(1, 1, 1, Done)),
			at(6, 7, look(Seat{2, Confirmed})), at(6, 7, inOther(look(Seat{1, Confirmed}))),
		}, true},
		"into a full session": {[]Operation{
			at(0, 1, book(1, 1, Booked)), at(0, 1, inOther(book(2, 2, Booked))), at(2, 3, move(1, 1, 0, Done)),
		}, false},
		"refused, and both bookings stay": {[]Operation{
			at(0, 1, book(1, 1, Booked)), at(0, 1, inOther(book(2, 2, Booked))), at(2, 3, move(1, 1, 0, Full)),
			at(4, 5, look(Seat{1, Confirmed})), at(4, 5, inOther(look(Seat{2, Confirmed}))),
		}, true},
		"refused with an open seat": {
			[]Operation{at(0, 1, book(1, 1, Booked)), at(2, 3, move(1, 1, 0, Full))}, false,
		},
		"into a session with a booking of the member": {[]Operation{
			at(0, 1, book(1, 1, Booked)), at(0, 1, inOther(book(2, 1, Booked))), at(2, 3, move(1, 1, 0, Already)),
		}, true},
		"the old seat is not freed": {[]Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, move(1, 1, 0, Done)), at(4, 5, book(2, 2, Waits)),
		}, false},
		"in both": {[]Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 9, move(1, 1, 0, Unknown)), at(4, 5, inOther(look(Seat{1, Confirmed}))),
			at(6, 7, look(Seat{1, Confirmed})),
		}, false},
		"in neither": {[]Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 9, move(1, 1, 0, Unknown)), at(4, 5, look()), at(6, 7, inOther(look())),
		}, false},
		"no response, and it happened": {[]Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 9, move(1, 1, 0, Unknown)), at(4, 5, look()),
			at(6, 7, inOther(look(Seat{1, Confirmed}))),
		}, true},
		"repeated after it was cancelled there": {[]Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, move(1, 1, 0, Done)), at(4, 5, act(Cancel, 1)),
			at(6, 7, move(1, 1, 0, Settled)), at(8, 9, inOther(look())),
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.EqOp(t, tt.ok, CheckSessions(both, tt.all, timeout).Linearizable())
		})
	}
}

func TestMinimize_KeepsOnlyWhatHasNoOrder(t *testing.T) {
	t.Parallel()
	of := Session{ID: "s", Capacity: 2, Queue: 1}
	all := []Operation{
		at(0, 1, hold(1, 1)),
		at(2, 3, act(Release, 1)),
		at(4, 5, look()),
		at(6, 7, book(2, 2, Booked)),
		at(8, 9, book(3, 2, Already)),
		at(10, 30, book(4, 4, Booked)),
		at(12, 28, book(5, 5, Booked)),
		at(20, 22, act(Confirm, 2)),
		at(40, 41, act(Cancel, 4)),
		at(42, 43, book(6, 6, Booked)),
		at(44, 45, book(7, 7, Waits)),
	}
	v := CheckSessions([]Session{of}, all, timeout)
	must.False(t, v.Linearizable(), must.Sprint("linearizable"))
	small := v.Minimize(timeout)
	test.False(t, small.Linearizable(), test.Sprint("the minimized history is linearizable"))
	want := []string{
		"       0.0          …  hold #1 (member 1) → unknown",
		"       2.0          …  release #1 (member 0) → unknown",
		"       6.0        7.0  book #2 (member 2) → booked [-1, 0 left]",
		"      10.0       30.0  book #4 (member 4) → booked [-1, 0 left]",
		"      12.0       28.0  book #5 (member 5) → booked [-1, 0 left]",
		"      20.0          …  confirm #2 (member 0) → unknown",
	}
	test.Eq(t, want, strings.Split(strings.TrimRight(small.String(), "\n"), "\n"))
	v = CheckSessions([]Session{of}, all[:6], timeout)
	test.EqOp(t, v.String(), v.Minimize(timeout).String(), test.Sprint("a linearizable history is minimized"))
}

func TestCheckLedger_AcceptsOnlyHistoriesWithAnOrder(t *testing.T) {
	t.Parallel()
	back := func(place, credits int) Operation {
		return Operation{Kind: Cancel, Place: place, Outcome: Done, Moved: credits}
	}
	balance := func(n int) Operation { return Operation{Kind: Balance, Outcome: Done, Left: n} }
	for name, tt := range map[string]struct {
		opened int
		all    []Operation
		ok     bool
	}{
		"charged and refunded": {1, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, book(2, 1, NoCredits)), at(4, 5, back(1, 1)), at(6, 7, book(3, 1, Booked)),
			at(8, 9, balance(0)),
		}, true},
		"spent twice": {1, []Operation{at(0, 9, book(1, 1, Booked)), at(0, 9, book(2, 1, Booked))}, false},
		"refunded twice": {1, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 9, back(1, 1)), at(2, 9, back(1, 1)),
		}, false},
		"refunded too much": {1, []Operation{at(0, 1, book(1, 1, Booked)), at(2, 3, back(1, 2))}, false},
		"not refunded": {1, []Operation{
			at(0, 1, book(1, 1, Booked)), at(2, 3, back(1, 0)), at(4, 5, balance(1)),
		}, false},
		"a party pays for each seat": {2, []Operation{
			at(0, 1, Operation{Kind: Book, Place: 1, Party: 2, Outcome: Booked, Moved: -2}), at(2, 3, balance(0)),
		}, true},
		"a lost credit":               {1, []Operation{at(0, 1, balance(1)), at(2, 3, balance(0))}, false},
		"refused with enough credits": {1, []Operation{at(0, 1, book(1, 1, NoCredits))}, false},
		"confirmed again is free": {1, []Operation{
			at(0, 1, Operation{Kind: Confirm, Place: 1, Outcome: Done, Moved: -1}), at(2, 3, act(Confirm, 1)),
			at(4, 5, balance(0)),
		}, true},
		"granted": {0, []Operation{
			at(0, 1, Operation{Kind: Grant, Amount: 3, Outcome: Done, Left: 3}), at(2, 3, balance(3)),
		}, true},
		"granted twice": {0, []Operation{
			at(0, 1, Operation{Kind: Grant, Amount: 3, Outcome: Done, Left: 3}), at(2, 3, balance(6)),
		}, false},
		"no response, and it was charged":     {1, []Operation{at(0, 1, book(1, 1, Unknown)), at(2, 3, balance(0))}, true},
		"no response, and it was not charged": {1, []Operation{at(0, 1, book(1, 1, Unknown)), at(2, 3, balance(1))}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.EqOp(t, tt.ok, CheckLedger(Ledger{ID: "p", Opened: tt.opened}, tt.all, timeout).Linearizable())
		})
	}
}

// Histories have forty overlapping calls by nine members, a tenth of them without a response.
func TestCheckSessions_FindsOneBookingTooManyInLongHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 1))
		of := Session{ID: "s", Capacity: 3, Queue: 3, Claims: seed%2 == 1}
		all, _ := play(of, random, 40, 10)
		test.True(t, CheckSessions([]Session{of}, all, timeout).Linearizable(),
			test.Sprintf("seed %d: a sequential history has no order", seed))
		all, end := play(of, random, 40, math.MaxInt)
		open := end.open(0)
		for i := range open + 1 {
			test.True(t, CheckSessions([]Session{of}, all, timeout).Linearizable(),
				test.Sprintf("seed %d: no order with %d more bookings", seed, i))
			all = append(all, at(1000+10*i, 1005+10*i, book(900+i, 900+i, Booked)))
		}
		test.False(t, CheckSessions([]Session{of}, all, timeout).Linearizable(),
			test.Sprintf("seed %d: one booking too many is not found", seed))
	}
}

// play lets a model session answer calls, and then extends them so that they overlap. One in lost has no response.
func play(of Session, random *rand.Rand, n, lost int) ([]Operation, sessionState) {
	st := sessionState{sessions: []Session{of}}
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
			next := decode(st.sessions, st.encode())
			if next.step(op, op) {
				st = *next
				break
			}
		}
		if random.IntN(lost) == 0 {
			op.Outcome = Unknown
		}
		all = append(all, at(10*i-random.IntN(40), 10*i+random.IntN(40), op))
	}
	return all, st
}
