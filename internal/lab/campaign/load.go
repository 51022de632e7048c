package campaign

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/lab/history"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
)

// load is a crowd that books, holds, confirms, cancels and answers offers, and everything that it was told.
type load struct {
	site   *site
	storm  *storm
	maker  maker
	issuer *token.Issuer
	life   time.Duration // of tokens
	begun  time.Time

	round  atomic.Pointer[round]
	rounds chan *round
	places atomic.Int64
	healed atomic.Pointer[time.Time]

	mu         sync.Mutex
	tokens     map[person]string
	operations []history.Operation
	all        []*round
	replays    []replay
	trouble    map[string]int
	failures   []string
	answered   int
}

// replay is a call that was answered, to be sent once more when all is over.
type replay struct {
	token, procedure, key string
	request, answer       proto.Message
}

// mostReplays bounds what is kept for that.
const mostReplays = 400

func (l *load) clock() time.Duration { return time.Since(l.begun) }

func (l *load) current() *round { return l.round.Load() }

// token is one for a person, made once.
func (l *load) token(who person) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tokens[who] == "" {
		raw, _, err := l.issuer.Issue(token.Grant{Subject: who.subject, Tenants: []tenant.TenantID{who.in}}, l.life)
		if err != nil {
			l.failures = append(l.failures, err.Error())
		}
		l.tokens[who] = raw
	}
	return l.tokens[who]
}

func (l *load) keep(op history.Operation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.operations = append(l.operations, op)
}

func (l *load) fail(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures = append(l.failures, fmt.Sprintf(format, args...))
}

func (l *load) troubled(code codes.Code, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trouble[fmt.Sprint(code, " ", reason)]++
}

// tooLate is when nobody needs to wait for an answer any longer.
func (l *load) tooLate() bool {
	healed := l.healed.Load()
	if healed == nil || time.Since(*healed) < lastPatience {
		return false
	}
	l.fail("there is no answer, though everything was healed %s ago", lastPatience)
	return true
}

// next goes on to another round.
func (l *load) next(ctx context.Context) {
	select {
	case r := <-l.rounds:
		l.mu.Lock()
		l.all = append(l.all, r)
		l.mu.Unlock()
		l.round.Store(r)
	case <-ctx.Done():
	}
}

// size tells how many operations there are so far.
func (l *load) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.operations)
}

// run lets a caller work until ctx ends.
func (l *load) run(ctx context.Context, c *caller) {
	for ctx.Err() == nil {
		r := l.current()
		if r.used.Add(1) == perRound {
			l.next(ctx)
			r = l.current()
		}
		a := r.arenas[c.random.IntN(len(r.arenas))]
		switch n := c.random.IntN(100); {
		case n < 45:
			c.take(r, a)
		case n < 85:
			if s := a.some(c.random); s != nil {
				c.act(a, s)
			} else {
				c.take(r, a)
			}
		case n < 93:
			c.look(r, a)
		case n < 98:
			c.balance(pick(c.random, r.payers))
		default:
			c.grant(pick(c.random, r.payers))
		}
	}
}

func pick[T any](random *rand.Rand, of []T) T { return of[random.IntN(len(of))] }

// answered finishes what every answer has in common.
func (c *caller) answered(r reply, who person, procedure string, request, answer proto.Message) {
	if r.outcome != history.Done {
		return
	}
	l := c.load
	raw := l.token(who)
	l.mu.Lock()
	defer l.mu.Unlock()
	one := replay{token: raw, procedure: procedure, key: r.key, request: request, answer: proto.Clone(answer)}
	l.answered++
	if len(l.replays) < mostReplays {
		l.replays = append(l.replays, one)
	} else if at := c.random.IntN(l.answered); at < mostReplays {
		l.replays[at] = one
	}
}

// take books or holds.
func (c *caller) take(r *round, a *arena) {
	who, party := pick(c.random, r.house.crowd), 1+c.random.IntN(4)/3
	if a.roomy {
		who = pick(c.random, r.payers)
	}
	number := int(c.load.places.Add(1))
	op := history.Operation{Kind: history.Book, Session: a.ID, Payer: who.payer, Member: who.number, Place: number, Party: party}
	s := &spot{who: who, number: number, party: party}
	note := noteOf(number)
	if c.random.IntN(3) == 0 || a.Brief && c.random.IntN(2) == 0 {
		op.Kind, op.Payer, s.held = history.Hold, "", true
		request := &v1.HoldBookingRequest{SessionId: a.ID, PartySize: int32(party), Note: note}
		answer := new(v1.HoldBookingResponse)
		told := c.call(who, berthv1connect.BookingServiceHoldBookingProcedure, request, answer)
		c.answered(told, who, berthv1connect.BookingServiceHoldBookingProcedure, request, answer)
		s.booking = answer.GetBooking().GetId()
		c.record(op, told)
	} else {
		request := &v1.BookRequest{SessionId: a.ID, PartySize: int32(party), Note: note}
		answer := new(v1.BookResponse)
		told := c.call(who, berthv1connect.BookingServiceBookProcedure, request, answer)
		c.answered(told, who, berthv1connect.BookingServiceBookProcedure, request, answer)
		s.booking, s.entry = answer.GetBooking().GetId(), answer.GetEntry().GetId()
		switch {
		case told.outcome != history.Done:
		case s.booking != "":
			op.Outcome, op.Moved = history.Booked, -int(answer.GetBooking().GetCredits())
		default:
			op.Outcome, op.Position = history.Waits, int(answer.GetEntry().GetPosition())
		}
		c.record(op, told)
	}
	if s.booking != "" || s.entry != "" {
		a.learn(func() { a.spots = append(a.spots, s) })
	}
}

// noteOf marks the rows of a place.
func noteOf(number int) string { return fmt.Sprintf("place %d", number) }

// act does something about a place.
func (c *caller) act(a *arena, s *spot) {
	var now spot
	a.learn(func() { now = *s })
	if now.booking == "" && now.entry != "" {
		c.ask(a, s)
		a.learn(func() { now = *s })
	}
	op := history.Operation{Session: a.ID, Member: now.who.number, Place: now.number, Party: now.party, Promoted: -1}
	switch n := c.random.IntN(100); {
	case now.booking != "" && now.held && n < 50:
		op.Kind, op.Payer = history.Confirm, now.who.payer
		request, answer := &v1.ConfirmBookingRequest{BookingId: now.booking}, new(v1.ConfirmBookingResponse)
		told := c.call(now.who, berthv1connect.BookingServiceConfirmBookingProcedure, request, answer)
		c.answered(told, now.who, berthv1connect.BookingServiceConfirmBookingProcedure, request, answer)
		if told.outcome == history.Done {
			op.Moved = -int(answer.GetBooking().GetCredits())
			a.learn(func() { s.held = false })
		}
		c.record(op, told)
	case now.booking != "" && now.held && n < 75:
		op.Kind = history.Release
		request, answer := &v1.ReleaseHoldRequest{BookingId: now.booking}, new(v1.ReleaseHoldResponse)
		told := c.call(now.who, berthv1connect.BookingServiceReleaseHoldProcedure, request, answer)
		c.answered(told, now.who, berthv1connect.BookingServiceReleaseHoldProcedure, request, answer)
		op.Outcome = told.givenUp()
		c.record(op, told)
		a.learn(func() { s.gone = s.gone || told.outcome == history.Done })
	case now.booking != "" && !now.held && a.other != nil && n < 40:
		c.move(a, s, now)
	case now.booking != "":
		c.cancel(a, s, now, now.booking)
	case now.offer != "" && n < 60:
		op.Kind, op.OfferID = history.Accept, now.offer
		request, answer := &v1.AcceptOfferRequest{OfferId: now.offer}, new(v1.AcceptOfferResponse)
		told := c.call(now.who, berthv1connect.WaitlistServiceAcceptOfferProcedure, request, answer)
		c.answered(told, now.who, berthv1connect.WaitlistServiceAcceptOfferProcedure, request, answer)
		a.learn(func() { s.booking = answer.GetBooking().GetId() })
		op.Outcome = told.givenUp()
		c.record(op, told)
	case now.offer != "" && n < 85:
		op.Kind, op.OfferID = history.Decline, now.offer
		request, answer := &v1.DeclineOfferRequest{OfferId: now.offer, Leave: true}, new(v1.DeclineOfferResponse)
		told := c.call(now.who, berthv1connect.WaitlistServiceDeclineOfferProcedure, request, answer)
		c.answered(told, now.who, berthv1connect.WaitlistServiceDeclineOfferProcedure, request, answer)
		if op.Outcome = told.outcome; op.Outcome == history.Done {
			op.Outcome = history.Settled // the answer does not say whether it was declined before
		}
		c.record(op, told)
		a.learn(func() { s.gone = s.gone || told.outcome == history.Done })
	default:
		c.cancel(a, s, now, now.entry)
	}
}

// givenUp reads an answer that does not say whether it was this call that gave the place up: a server that finds out by the
// key what became of a commit says that it repeats itself, too.
func (r reply) givenUp() history.Outcome {
	if r.outcome == history.Done && r.repeated {
		return history.Settled
	}
	return r.outcome
}

// move takes a booking to the other session, or back.
func (c *caller) move(a *arena, s *spot, now spot) {
	to := a.other
	if now.moved != (c.random.IntN(10) == 0) { // now and then to where it is
		to = a
	}
	op := history.Operation{
		Kind: history.Move, Session: a.ID, To: to.ID, Member: now.who.number, Place: now.number, Party: now.party,
	}
	request, answer := &v1.RescheduleBookingRequest{BookingId: now.booking, SessionId: to.ID}, new(v1.RescheduleBookingResponse)
	told := c.call(now.who, berthv1connect.BookingServiceRescheduleBookingProcedure, request, answer)
	c.answered(told, now.who, berthv1connect.BookingServiceRescheduleBookingProcedure, request, answer)
	op.Promoted = int(answer.GetPromoted())
	if op.Outcome = told.givenUp(); op.Outcome == history.Settled {
		op.Promoted = -1
	}
	c.record(op, told)
	if told.outcome == history.Done {
		a.learn(func() { s.moved = to != a })
	}
}

func (c *caller) cancel(a *arena, s *spot, now spot, id string) {
	op := history.Operation{
		Kind: history.Cancel, Session: a.ID, Payer: now.who.payer, Member: now.who.number, Place: now.number, Party: now.party,
		Line: id == now.entry, Promoted: -1,
	}
	reason := fmt.Sprintf("by %d, %d", c.number, c.asked)
	request, answer := &v1.CancelBookingRequest{BookingId: id, Reason: reason}, new(v1.CancelBookingResponse)
	told := c.call(now.who, berthv1connect.BookingServiceCancelBookingProcedure, request, answer)
	c.answered(told, now.who, berthv1connect.BookingServiceCancelBookingProcedure, request, answer)
	switch b := answer.GetBooking(); {
	case told.outcome != history.Done:
	case b == nil:
		op.Outcome = told.givenUp()
	case b.GetCancelReason() != reason:
		op.Outcome = history.Gone
	default:
		op.Promoted = int(answer.GetPromoted())
		if answer.GetCreditRefunded() {
			op.Moved = now.party
		}
	}
	c.record(op, told)
	a.learn(func() { s.gone = s.gone || told.outcome == history.Done })
}

// ask finds out what became of a place in line.
func (c *caller) ask(a *arena, s *spot) {
	answer := new(v1.ListMyEntriesResponse)
	request := &v1.ListMyEntriesRequest{IncludeClosed: true, PageSize: 500}
	if c.call(s.who, berthv1connect.WaitlistServiceListMyEntriesProcedure, request, answer).outcome != history.Done {
		return
	}
	for _, e := range answer.GetEntries() {
		if e.GetId() == s.entry {
			a.learn(func() { s.booking, s.offer = e.GetBookingId(), e.GetLiveOffer().GetId() })
		}
	}
}

// look reads a roster. Where holds run out it depends on the reader's clock, which is wrong.
func (c *caller) look(r *round, a *arena) {
	if a.Brief {
		return
	}
	answer := new(v1.ListRosterResponse)
	told := c.call(r.house.self(), berthv1connect.BookingServiceListRosterProcedure, &v1.ListRosterRequest{SessionId: a.ID}, answer)
	if told.outcome != history.Done {
		return
	}
	taken := int(answer.GetSeatsTaken())
	op := history.Operation{Kind: history.Look, Session: a.ID, Taken: &taken}
	told.first = told.last // an attempt without an answer saw nothing
	seats := 0
	for _, b := range answer.GetBookings() {
		status := history.Confirmed
		if b.GetStatus() == v1.BookingStatus_BOOKING_STATUS_PENDING {
			status = history.Held
		}
		seats += int(b.GetPartySize())
		op.IDs, op.Seen = append(op.IDs, b.GetId()), append(op.Seen, history.Seat{Status: status})
	}
	for _, e := range answer.GetEntries() {
		status := history.Waiting
		if e.GetStatus() == v1.WaitlistEntryStatus_WAITLIST_ENTRY_STATUS_OFFERED {
			status = history.Offered
			seats += int(e.GetLiveOffer().GetSeats())
		}
		op.IDs, op.Seen = append(op.IDs, e.GetId()), append(op.Seen, history.Seat{Status: status})
	}
	// Where the first to claim gets them, several are offered the same seats.
	if taken != seats && !a.Claims || taken > a.Capacity {
		c.load.fail("session %s of %d seats: the roster counts %d seats taken and shows %d", a.ID, a.Capacity, taken, seats)
	}
	c.record(op, told)
}

func (c *caller) balance(who person) {
	answer := new(v1.GetBalanceResponse)
	told := c.call(who, berthv1connect.CreditServiceGetBalanceProcedure, &v1.GetBalanceRequest{}, answer)
	if told.outcome != history.Done {
		return
	}
	told.first = told.last
	c.record(history.Operation{Kind: history.Balance, Payer: who.payer, Member: who.number, Left: int(answer.GetBalance())}, told)
}

func (c *caller) grant(who person) {
	staff := person{in: who.in, subject: ownerSubject}
	amount := 1 + c.random.IntN(2)
	request, answer := &v1.GrantCreditsRequest{SubscriptionId: who.payer, Amount: int32(amount), Reason: "Campaign"}, new(v1.GrantCreditsResponse)
	told := c.call(staff, berthv1connect.CreditServiceGrantCreditsProcedure, request, answer)
	c.answered(told, staff, berthv1connect.CreditServiceGrantCreditsProcedure, request, answer)
	c.record(history.Operation{
		Kind: history.Grant, Payer: who.payer, Member: who.number, Amount: amount, Left: int(answer.GetSubscription().GetBalance()),
	}, told)
}
