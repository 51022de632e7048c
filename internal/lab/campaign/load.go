package campaign

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
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

// load runs the callers and stores all their results.
type load struct {
	cluster  *cluster
	injector *injector
	maker    maker
	issuer   *token.Issuer
	life     time.Duration // of tokens
	begun    time.Time

	round     atomic.Pointer[round]
	rounds    chan *round
	lastPlace atomic.Int64
	healed    atomic.Pointer[time.Time]

	mu         sync.Mutex
	tokens     map[person]string
	operations []history.Operation
	all        []*round
	replays    []replay
	errors     map[string]int
	failures   []string
	answered   int
	rare       map[string]int
}

// replay is an answered call, to be repeated at the end.
type replay struct {
	token, procedure, key string
	request, answer       proto.Message
}

// maxReplays limits the number of stored replays.
const maxReplays = 400

func (l *load) clock() time.Duration { return time.Since(l.begun) }

func (l *load) current() *round { return l.round.Load() }

// token returns the token of a person. It creates one at the first call.
func (l *load) token(person person) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tokens[person] == "" {
		raw, _, err := l.issuer.Issue(token.Claims{Subject: person.subject, Tenants: []tenant.TenantID{person.in}}, l.life)
		if err != nil {
			l.failures = append(l.failures, err.Error())
		}
		l.tokens[person] = raw
	}
	return l.tokens[person]
}

func (l *load) store(op history.Operation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.operations = append(l.operations, op)
}

func (l *load) fail(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures = append(l.failures, fmt.Sprintf(format, args...))
}

// countError counts an attempt without a result. A call that takes too long needs an explanation.
func (l *load) countError(code codes.Code, reason string, begun, ended time.Time) {
	result := fmt.Sprint(code, " ", reason)
	if code == codes.DeadlineExceeded {
		why := l.injector.blame(begun, ended)
		if why == "" {
			l.fail("%s without a fault, while the processor was not busy, after %s", result, ended.Sub(begun))
		}
		result += " " + why
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errors[result]++
}

// overdue reports whether a response is overdue, and records this as a failure.
func (l *load) overdue() bool {
	healed := l.healed.Load()
	if healed == nil || time.Since(*healed) < finalTimeout {
		return false
	}
	l.fail("no response within %s after all faults ended", finalTimeout)
	return true
}

// next starts another round.
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

// size returns the number of operations so far.
func (l *load) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.operations)
}

// run lets a caller make calls until ctx ends.
func (l *load) run(ctx context.Context, c *caller) {
	for ctx.Err() == nil {
		r := l.current()
		if r.used.Add(1) == perRound {
			l.next(ctx)
			r = l.current()
		}
		if c.random.IntN(8) == 0 {
			c.actLater()
			continue
		}
		a := pick(c.random, r.targets)
		switch n := c.random.IntN(100); {
		case a.cart != "" && n < 20:
			c.moveSession(r, a)
		case n < 45:
			c.book(r, a)
		case n < 85:
			if s := a.randomPlace(c.random); s != nil {
				c.act(a, s)
			} else {
				c.book(r, a)
			}
		case n < 93:
			c.readRoster(r, a)
		case n < 98:
			c.balance(pick(c.random, r.payers))
		default:
			c.grant(pick(c.random, r.payers))
		}
	}
}

// recent is the number of rounds in which holds and offers may end while callers still act on them.
const recent = 30

// actLater makes a call about a place of a session whose holds or offers are brief, of one of the last rounds.
func (c *caller) actLater() {
	c.load.mu.Lock()
	r := pick(c.random, c.load.all[max(0, len(c.load.all)-recent):])
	c.load.mu.Unlock()
	a := pick(c.random, slices.DeleteFunc(slices.Clone(r.targets), func(a *target) bool { return !a.Brief }))
	if s := a.randomPlace(c.random); s != nil {
		c.act(a, s)
	}
}

func pick[T any](random *rand.Rand, of []T) T { return of[random.IntN(len(of))] }

// answered stores a call with a response, to repeat it at the end.
func (c *caller) answered(r reply, person person, procedure string, request, answer proto.Message) {
	if r.outcome != history.Done {
		return
	}
	l := c.load
	raw := l.token(person)
	l.mu.Lock()
	defer l.mu.Unlock()
	one := replay{token: raw, procedure: procedure, key: r.key, request: request, answer: proto.Clone(answer)}
	l.answered++
	if len(l.replays) < maxReplays {
		l.replays = append(l.replays, one)
	} else if at := c.random.IntN(l.answered); at < maxReplays {
		l.replays[at] = one
	}
}

// book makes a booking or a hold.
func (c *caller) book(r *round, a *target) {
	person, party := pick(c.random, r.tenant.members), 1+c.random.IntN(4)/3
	if a.large {
		person = pick(c.random, r.payers)
	}
	c.bookFor(a, person, party, c.random.IntN(3) == 0 || a.Brief && c.random.IntN(2) == 0)
}

// bookFor makes a booking or a hold for a person. It returns the place that the caller knows.
func (c *caller) bookFor(a *target, person person, party int, hold bool) *place {
	number := int(c.load.lastPlace.Add(1))
	op := history.Operation{
		Kind: history.Book, Session: a.ID, Payer: person.payer, Member: person.number, Place: number, Party: party,
	}
	s := &place{person: person, number: number, party: party}
	note := noteOf(number)
	if hold || a.cart != "" {
		op.Kind, op.Payer, s.held = history.Hold, "", true
		request := &v1.HoldBookingRequest{SessionId: a.ID, PartySize: new(int32(party)), Note: note}
		if a.cart != "" {
			request.Items = []*v1.ItemChoice{{ItemId: a.cart, Quantity: 1}}
		}
		answer := new(v1.HoldBookingResponse)
		result := c.call(person, berthv1connect.BookingServiceHoldBookingProcedure, request, answer)
		c.answered(result, person, berthv1connect.BookingServiceHoldBookingProcedure, request, answer)
		s.booking = answer.GetBooking().GetId()
		c.record(op, result)
	} else {
		request := &v1.BookRequest{SessionId: a.ID, PartySize: new(int32(party)), Note: note}
		answer := new(v1.BookResponse)
		result := c.call(person, berthv1connect.BookingServiceBookProcedure, request, answer)
		c.answered(result, person, berthv1connect.BookingServiceBookProcedure, request, answer)
		s.booking, s.entry = answer.GetBooking().GetId(), answer.GetEntry().GetId()
		switch {
		case result.outcome != history.Done:
		case s.booking != "":
			op.Outcome, op.Moved = history.Booked, -int(answer.GetBooking().GetCredits())
		default:
			op.Outcome, op.Position = history.Waits, int(answer.GetEntry().GetPosition())
		}
		c.record(op, result)
	}
	if s.booking != "" || s.entry != "" {
		a.locked(func() { a.places = append(a.places, s) })
	}
	return s
}

// noteOf returns the note that marks the rows of a place.
func noteOf(number int) string { return fmt.Sprintf("place %d", number) }

// act makes a call about a place.
func (c *caller) act(a *target, s *place) {
	var now place
	a.locked(func() { now = *s })
	// Some answer an offer that they saw a while ago.
	if now.booking == "" && now.entry != "" && (now.offer == "" || c.random.IntN(3) > 0) {
		c.readEntry(a, s)
		a.locked(func() { now = *s })
	}
	op := history.Operation{Session: a.ID, Member: now.person.number, Place: now.number, Party: now.party, Promoted: -1}
	switch n := c.random.IntN(100); {
	case now.held && a.Brief && n < 80: // most brief holds expire
	case now.booking != "" && now.held && (n < 50 || a.Brief && n < 87):
		op.Kind, op.Payer = history.Confirm, now.person.payer
		request, answer := &v1.ConfirmBookingRequest{BookingId: now.booking}, new(v1.ConfirmBookingResponse)
		result := c.call(now.person, berthv1connect.BookingServiceConfirmBookingProcedure, request, answer)
		c.answered(result, now.person, berthv1connect.BookingServiceConfirmBookingProcedure, request, answer)
		if result.outcome == history.Done {
			op.Moved = -int(answer.GetBooking().GetCredits())
			a.locked(func() { s.held = false })
		}
		c.record(op, result)
	case now.booking != "" && now.held && (n < 75 || a.Brief && n < 90):
		op.Kind = history.Release
		request, answer := &v1.ReleaseHoldRequest{BookingId: now.booking}, new(v1.ReleaseHoldResponse)
		result := c.call(now.person, berthv1connect.BookingServiceReleaseHoldProcedure, request, answer)
		c.answered(result, now.person, berthv1connect.BookingServiceReleaseHoldProcedure, request, answer)
		op.Outcome = result.settledOutcome()
		c.record(op, result)
		a.locked(func() { s.ended = s.ended || result.outcome == history.Done })
	case now.booking != "" && !now.held && a.other != nil && n < 40:
		c.move(a, s, now)
	case now.booking != "":
		c.cancel(a, s, now, now.booking)
	case now.offer != "" && n < 25:
		c.acceptTwice(a, s, now)
	case now.offer != "" && n < 60:
		c.accept(a, s, now)
	case now.offer != "" && n < 85:
		op.Kind, op.OfferID = history.Decline, now.offer
		request := &v1.DeclineWaitlistOfferRequest{OfferId: now.offer, Leave: true}
		answer := new(v1.DeclineWaitlistOfferResponse)
		result := c.call(now.person, berthv1connect.WaitlistServiceDeclineWaitlistOfferProcedure, request, answer)
		c.answered(result, now.person, berthv1connect.WaitlistServiceDeclineWaitlistOfferProcedure, request, answer)
		if op.Outcome = result.outcome; op.Outcome == history.Done {
			op.Outcome = history.Settled // it may have been declined before
		}
		c.record(op, result)
		a.locked(func() { s.ended = s.ended || result.outcome == history.Done })
	default:
		c.cancel(a, s, now, now.entry)
	}
}

// accept accepts an offer.
func (c *caller) accept(a *target, s *place, now place) reply {
	request, answer := &v1.AcceptWaitlistOfferRequest{OfferId: now.offer}, new(v1.AcceptWaitlistOfferResponse)
	result := c.call(now.person, berthv1connect.WaitlistServiceAcceptWaitlistOfferProcedure, request, answer)
	c.answered(result, now.person, berthv1connect.WaitlistServiceAcceptWaitlistOfferProcedure, request, answer)
	a.locked(func() { s.booking = cmp.Or(answer.GetBooking().GetId(), s.booking) })
	c.record(history.Operation{
		Kind: history.Accept, Session: a.ID, Member: now.person.number, Place: now.number, Party: now.party,
		Promoted: -1, OfferID: now.offer, Outcome: result.settledOutcome(),
	}, result)
	return result
}

// settledOutcome is the outcome for responses that do not show whether this call ended the place. A repeated response
// does not show it: a server that looks up the result of an unknown commit by the key also marks its response as
// repeated.
func (r reply) settledOutcome() history.Outcome {
	if r.outcome == history.Done && r.repeated {
		return history.Settled
	}
	return r.outcome
}

// move moves a booking to the other session, or back.
func (c *caller) move(a *target, s *place, now place) {
	to := a.other
	if now.moved != (c.random.IntN(10) == 0) { // sometimes to its current session
		to = a
	}
	op := history.Operation{
		Kind: history.Move, Session: a.ID, To: to.ID, Member: now.person.number, Place: now.number, Party: now.party,
	}
	request, answer := &v1.RescheduleBookingRequest{
		BookingId: now.booking, SessionId: to.ID,
	}, new(v1.RescheduleBookingResponse)
	result := c.call(now.person, berthv1connect.BookingServiceRescheduleBookingProcedure, request, answer)
	c.answered(result, now.person, berthv1connect.BookingServiceRescheduleBookingProcedure, request, answer)
	op.Promoted = int(answer.GetPromoted())
	if op.Outcome = result.settledOutcome(); op.Outcome == history.Settled {
		op.Promoted = -1
	}
	c.record(op, result)
	if result.outcome == history.Done {
		a.locked(func() { s.moved = to != a })
	}
}

func (c *caller) cancel(a *target, s *place, now place, id string) {
	op := history.Operation{
		Kind: history.Cancel, Session: a.ID, Payer: now.person.payer, Member: now.person.number, Place: now.number,
		Party:   now.party,
		ByEntry: id == now.entry, Promoted: -1,
	}
	reason := fmt.Sprintf("by %d, %d", c.number, c.calls)
	if op.ByEntry {
		request, answer := &v1.LeaveWaitlistRequest{EntryId: id, Reason: reason}, new(v1.LeaveWaitlistResponse)
		result := c.call(now.person, berthv1connect.WaitlistServiceLeaveWaitlistProcedure, request, answer)
		c.answered(result, now.person, berthv1connect.WaitlistServiceLeaveWaitlistProcedure, request, answer)
		if op.Outcome = result.outcome; op.Outcome == history.Done {
			op.Outcome = history.Settled // it may have ended before
		}
		c.record(op, result)
		a.locked(func() { s.ended = s.ended || result.outcome == history.Done })
		return
	}
	request, answer := &v1.CancelBookingRequest{BookingId: id, Reason: reason}, new(v1.CancelBookingResponse)
	result := c.call(now.person, berthv1connect.BookingServiceCancelBookingProcedure, request, answer)
	c.answered(result, now.person, berthv1connect.BookingServiceCancelBookingProcedure, request, answer)
	switch b := answer.GetBooking(); {
	case result.outcome != history.Done:
	case b.GetCancelReason() != reason:
		op.Outcome = history.Gone
	default:
		op.Promoted = int(answer.GetPromoted())
		if answer.GetCreditRefunded() {
			op.Moved = now.party
		}
	}
	c.record(op, result)
	a.locked(func() { s.ended = s.ended || result.outcome == history.Done })
}

// readEntry reads the current state of a waitlist entry.
func (c *caller) readEntry(a *target, s *place) {
	answer := new(v1.GetWaitlistEntryResponse)
	request := &v1.GetWaitlistEntryRequest{EntryId: s.entry}
	if c.call(s.person, berthv1connect.WaitlistServiceGetWaitlistEntryProcedure, request, answer).outcome != history.Done {
		return
	}
	e := answer.GetEntry()
	if id := e.GetBookingId(); id != "" && !c.madeFor(s, id) {
		a.locked(func() { s.ended = true }) // the member booked the session otherwise
		return
	}
	a.locked(func() { s.booking, s.offer = e.GetBookingId(), e.GetLiveOffer().GetId() })
}

// madeFor reports whether a booking was made for the entry of a place, whose note it has then.
func (c *caller) madeFor(s *place, booking string) bool {
	answer := new(v1.GetBookingResponse)
	request := &v1.GetBookingRequest{BookingId: booking}
	result := c.call(s.person, berthv1connect.BookingServiceGetBookingProcedure, request, answer)
	return result.outcome == history.Done && answer.GetBooking().GetNote() == noteOf(s.number)
}

// readRoster reads a roster, except of sessions whose holds expire: there the roster depends on the clock of the
// server, which is wrong.
func (c *caller) readRoster(r *round, a *target) {
	if a.Brief {
		return
	}
	answer := new(v1.GetSessionRosterResponse)
	request := &v1.GetSessionRosterRequest{SessionId: a.ID}
	result := c.call(r.tenant.ownerPerson(), berthv1connect.BookingServiceGetSessionRosterProcedure, request, answer)
	if result.outcome != history.Done {
		return
	}
	taken := int(answer.GetSeatsTaken())
	op := history.Operation{Kind: history.Look, Session: a.ID, Taken: &taken}
	result.first = result.last // an attempt without a response read nothing
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
	// With FIRST_TO_CLAIM, several entries have an offer of the same seats.
	if taken != seats && !a.Claims || taken > a.Capacity {
		c.load.fail("session %s of %d seats: the roster counts %d seats taken and shows %d", a.ID, a.Capacity, taken, seats)
	}
	c.record(op, result)
}

func (c *caller) balance(person person) {
	answer := new(v1.GetBalanceResponse)
	result := c.call(person, berthv1connect.CreditServiceGetBalanceProcedure, &v1.GetBalanceRequest{}, answer)
	if result.outcome != history.Done {
		return
	}
	result.first = result.last
	c.record(history.Operation{
		Kind: history.Balance, Payer: person.payer, Member: person.number, Left: int(answer.GetBalance()),
	}, result)
}

func (c *caller) grant(payer person) {
	staff := person{in: payer.in, subject: ownerSubject}
	amount := 1 + c.random.IntN(2)
	request, answer := &v1.GrantCreditsRequest{
		SubscriptionId: payer.payer, Amount: int32(amount), Reason: "Campaign",
	}, new(v1.GrantCreditsResponse)
	result := c.call(staff, berthv1connect.CreditServiceGrantCreditsProcedure, request, answer)
	c.answered(result, staff, berthv1connect.CreditServiceGrantCreditsProcedure, request, answer)
	c.record(history.Operation{
		Kind: history.Grant, Payer: payer.payer, Member: payer.number, Amount: amount,
		Left: int(answer.GetSubscription().GetBalance()),
	}, result)
}
