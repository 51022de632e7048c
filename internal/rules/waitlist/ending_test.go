package waitlist_test

import (
	"slices"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// offerOf returns a live offer to the entry with a number, in round 5.
func offerOf(i, seats int, shared bool) waitlist.Offer {
	return waitlist.Offer{
		ID: id[tenant.OfferID](uint64(i + 1)), Round: id[tenant.RoundID](5), Session: id[tenant.SessionID](1),
		Entry: entry(i), Member: id[tenant.MemberID](uint64(i + 1)), Seats: seats, Shared: shared, Status: waitlist.Live,
	}
}

// offeredTo returns the entry of an offer, with a number of tries.
func offeredTo(o waitlist.Offer, tries int) waitlist.Entry {
	return waitlist.Entry{ID: o.Entry, Member: o.Member, Party: o.Seats, Status: waitlist.Offered, Tries: tries}
}

func TestEnding_ReturnsOrClosesEntry(t *testing.T) {
	t.Parallel()
	o := offerOf(0, 2, false)
	accepted := vary.From(o.Close(waitlist.Accepted, "", now), set{"Booking": id[tenant.BookingID](3)})
	declined, ranOut := o.Close(waitlist.Declined, "no", now), o.Close(waitlist.RanOut, "", now)
	unsent, left := o.Withdraw(waitlist.Unsendable, "", now), o.Withdraw(waitlist.EntryLeft, "", now)
	closes := waitlist.Rules{AfterDecline: waitlist.CloseEntry, AfterExpiry: waitlist.CloseEntry, MaxOffersPerEntry: 3}
	returns := waitlist.Rules{AfterDecline: waitlist.ReturnEntry, AfterExpiry: waitlist.ReturnEntry, MaxOffersPerEntry: 3}
	no, options := waitlist.LeaveOptions{Reason: "no"}, &waitlist.LeaveOptions{Reason: "moved away", Notify: true}
	for name, tt := range map[string]struct {
		offer   waitlist.Offer
		rules   waitlist.Rules
		tries   int
		leaving *waitlist.LeaveOptions
		status  waitlist.Status
		left    int // its remaining tries
		stored  waitlist.LeaveOptions
		by      waitlist.Trigger
	}{
		"accepted":            {offer: accepted, rules: returns, tries: 1, status: waitlist.Booked, left: 1},
		"declined":            {declined, returns, 1, nil, waitlist.Waiting, 1, no, waitlist.ByDecline},
		"declined once too":   {declined, returns, 3, nil, waitlist.Cancelled, 3, no, waitlist.ByDecline},
		"a decline closes it": {declined, closes, 1, nil, waitlist.Cancelled, 1, no, waitlist.ByDecline},
		"declined for good":   {declined, returns, 1, options, waitlist.Cancelled, 1, *options, waitlist.ByDecline},
		"ran out":             {ranOut, returns, 1, nil, waitlist.Waiting, 1, waitlist.LeaveOptions{}, waitlist.ByExpiry},
		"its end closes it": {
			ranOut, closes, 1, nil, waitlist.Expired, 1, waitlist.LeaveOptions{Notify: true}, waitlist.ByExpiry,
		},
		"withdrawn": {
			unsent, closes, 3, nil, waitlist.Waiting, 2, waitlist.LeaveOptions{}, waitlist.ByWithdrawal,
		},
		"withdrawn with entry": {left, returns, 1, options, waitlist.Cancelled, 0, *options, waitlist.ByWithdrawal},
	} {
		entry := vary.From(offeredTo(o, tt.left), set{"Status": tt.status})
		if tt.status != waitlist.Waiting {
			entry.ClosedAt, entry.Booking = &now, tt.offer.Booking
		}
		want := waitlist.Changes{
			Session: o.Session, Entries: []waitlist.EntryChange{{Entry: entry, Offer: &tt.offer, LeaveOptions: tt.stored}},
		}
		if tt.offer.Status != waitlist.Accepted { // otherwise its booking takes the seats
			want.Seats, want.Refill = -2, &waitlist.Refill{Session: o.Session, Round: o.Round, Trigger: tt.by}
		}
		ending := waitlist.Ending{Offer: tt.offer, Entry: offeredTo(o, tt.tries), Rules: tt.rules, Leaving: tt.leaving}
		test.Eq(t, want, ending.Changes(now), test.Sprint(name))
	}
}

func TestEnding_ReleasesSharedSeatsThatNoOfferCanClaim(t *testing.T) {
	t.Parallel()
	accepted := offerOf(0, 1, true).Close(waitlist.Accepted, "", now)
	declined := offerOf(0, 1, true).Close(waitlist.Declined, "", now)
	again := func(round tenant.RoundID, by waitlist.Trigger) *waitlist.Refill {
		return &waitlist.Refill{Session: id[tenant.SessionID](1), Round: round, Trigger: by}
	}
	five, none := id[tenant.RoundID](5), tenant.RoundID{}
	live := func(parties ...int) []waitlist.Offer {
		all := make([]waitlist.Offer, len(parties))
		for i, seats := range parties {
			all[i] = offerOf(i, seats, true)
		}
		return all
	}
	alone := append(live(1), offerOf(1, 1, false)) // with an offer that reserves a seat of its own
	for name, tt := range map[string]struct {
		ends   waitlist.Offer
		live   []waitlist.Offer
		keeps  int
		after  int // seats that it keeps
		closed bool
		slower []tenant.EntryID
		seats  int
		refill *waitlist.Refill
	}{
		"others may claim the rest": {ends: accepted, live: live(1, 1), keeps: 2, after: 1},
		"the last seat is claimed": {
			ends: accepted, live: live(1, 1, 2), keeps: 1, closed: true, slower: some(1, 2),
			refill: again(none, waitlist.ByWithdrawal),
		},
		"some no longer fit": {
			ends: accepted, live: live(1, 2, 1), keeps: 2, after: 1, slower: some(1),
			refill: again(none, waitlist.ByWithdrawal),
		},
		"none fits what is left": {
			ends: accepted, live: live(1, 2), keeps: 2, closed: true, slower: some(1), seats: -1,
			refill: again(five, waitlist.ByWithdrawal),
		},
		"none is left to claim the rest": {
			ends: accepted, live: live(1), keeps: 3, closed: true, seats: -2, refill: again(five, waitlist.ByWithdrawal),
		},
		"declined, others may claim": {ends: declined, live: live(1, 1), keeps: 1, after: 1},
		"declined by the last": {
			ends: declined, live: live(1), keeps: 1, closed: true, seats: -1, refill: again(five, waitlist.ByDecline),
		},
		"offers of their own seats": {
			ends: declined, live: alone, keeps: 1, closed: true, seats: -1, refill: again(five, waitlist.ByDecline),
		},
	} {
		e := waitlist.Ending{
			Offer: tt.ends, Entry: offeredTo(tt.ends, 1), Live: tt.live, Entries: make(map[tenant.EntryID]waitlist.Entry),
			Round: waitlist.Round{ID: id[tenant.RoundID](5), Session: id[tenant.SessionID](1), Freed: 3, Keeps: tt.keeps},
		}
		for _, o := range e.Slower() {
			e.Entries[o.Entry] = offeredTo(o, 2)
		}
		c := e.Changes(now)
		round := vary.From(e.Round, set{"Keeps": tt.after})
		if tt.closed {
			round.Closed = &now
		}
		want := waitlist.Changes{
			Session: id[tenant.SessionID](1), Entries: c.Entries, Rounds: []waitlist.Round{round}, Seats: tt.seats,
			Refill: tt.refill,
		}
		test.Eq(t, want, c, test.Sprint(name))
		var slower []tenant.EntryID
		for _, late := range c.Entries[1:] {
			slower = append(slower, late.Entry.ID)
			o, e := late.Offer, late.Entry
			test.EqOp(t, waitlist.Withdrawn, o.Status)
			test.True(t, o.Void)
			test.EqOp(t, waitlist.Waiting, e.Status)
			test.EqOp(t, 1, e.Tries)
		}
		test.Eq(t, tt.slower, slower, test.Sprint(name))
	}
}

// reserved returns the seats that a round keeps and that its live offers reserve.
func reserved(r waitlist.Round, live []waitlist.Offer) int {
	seats := r.Keeps
	for _, o := range live {
		seats += o.Reserves()
	}
	return seats
}

// Offers of a round end in any order and any way. The seats that stay reserved are those that the changes leave, all
// released seats are refilled, and no seat is kept that no offer can claim.
func TestEnding_AccountsForEverySeat(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		round := waitlist.Round{
			ID: id[tenant.RoundID](5), Session: id[tenant.SessionID](1), Keeps: rapid.IntRange(1, 5).Draw(t, "keeps"),
		}
		all := make(map[tenant.EntryID]waitlist.Entry)
		var live []waitlist.Offer
		for i := range rapid.IntRange(1, 8).Draw(t, "offers") {
			o := offerOf(i, rapid.IntRange(1, round.Keeps).Draw(t, "party"), rapid.IntRange(0, 3).Draw(t, "shared") > 0)
			live, all[o.Entry] = append(live, o), offeredTo(o, 1)
		}
		if !round.Claimable(live) {
			round.Keeps = 0
		}
		for len(live) > 0 {
			o := rapid.SampledFrom(live).Draw(t, "offer")
			o = rapid.SampledFrom([]waitlist.Offer{
				o.Close(waitlist.Accepted, "", now), o.Close(waitlist.Accepted, "", now), o.Close(waitlist.Declined, "", now),
				o.Close(waitlist.RanOut, "", now), o.Withdraw(waitlist.Unsendable, "", now),
			}).Draw(t, "end")
			taken, before := map[waitlist.OfferStatus]int{waitlist.Accepted: o.Seats}[o.Status], reserved(round, live)
			c := waitlist.Ending{Offer: o, Entry: all[o.Entry], Round: round, Live: live, Entries: all}.Changes(now)
			for _, e := range c.Entries {
				live = slices.DeleteFunc(live, func(l waitlist.Offer) bool { return l.ID == e.Offer.ID })
				must.NotEqOp(t, waitlist.Live, e.Offer.Status)
				must.NotEqOp(t, waitlist.Offered, e.Entry.Status)
			}
			for _, r := range c.Rounds {
				round = r
			}
			must.EqOp(t, before-taken+c.Seats, reserved(round, live))
			if must.LessEq(t, 0, c.Seats); c.Seats < 0 {
				must.EqOp(t, round.ID, c.Refill.Round)
			}
			must.EqOp(t, round.Claimable(live), round.Keeps > 0)
			for _, l := range live {
				must.False(t, l.Shared && l.Seats > round.Keeps, must.Sprintf("%+v", l))
			}
		}
	})
}

func TestReleaseRound_RefillsKeptSeats(t *testing.T) {
	t.Parallel()
	round := waitlist.Round{ID: id[tenant.RoundID](5), Session: id[tenant.SessionID](1), Freed: 3, Keeps: 2}
	test.Eq(t, waitlist.Changes{
		Session: round.Session, Rounds: []waitlist.Round{vary.From(round, set{"Keeps": 0, "Closed": now})}, Seats: -2,
		Refill: &waitlist.Refill{Session: round.Session, Round: round.ID, Trigger: waitlist.BySweep},
	}, waitlist.ReleaseRound(round, waitlist.BySweep, now))
}

// A withdrawn offer does not count against its entry. The entry waits again.
func TestWithdrawnSeats_ReturnsEntriesToQueue(t *testing.T) {
	t.Parallel()
	o := offerOf(0, 2, true)
	round := waitlist.Round{ID: o.Round, Session: o.Session, Freed: 2, Keeps: 2}
	taken := waitlist.WithdrawSeats([]waitlist.Offer{o}, []waitlist.Round{round}, 1, now)
	ended := o.Withdraw(waitlist.SessionMoved, "Burst pipe.", now)
	test.Eq(t, waitlist.Changes{
		Session: o.Session, Seats: -2, Rounds: []waitlist.Round{vary.From(round, set{"Keeps": 0, "Closed": now})},
		Entries: []waitlist.EntryChange{{
			Entry: vary.From(offeredTo(o, 0), set{"Status": waitlist.Waiting}), Offer: &ended,
			LeaveOptions: waitlist.LeaveOptions{Reason: "Burst pipe."},
		}},
	}, taken.Changes(
		o.Session, map[tenant.EntryID]waitlist.Entry{o.Entry: offeredTo(o, 1)}, waitlist.SessionMoved, "Burst pipe.", now,
	))
}

func TestLeave_ClosesWaitingEntry(t *testing.T) {
	t.Parallel()
	e := waitlist.Entry{
		ID: entry(0), Status: waitlist.Waiting, PassedOver: waitlist.OtherTime, Position: 3,
		Scoring: waitlist.Scoring{Score: 1},
	}
	options := waitlist.LeaveOptions{Notify: true}
	want := waitlist.Entry{ID: entry(0), Status: waitlist.Cancelled, ClosedAt: &now}
	test.Eq(t, waitlist.Changes{Entries: []waitlist.EntryChange{{Entry: want, LeaveOptions: options}}},
		waitlist.Leave(e, options, now))
}

func TestJoin_AddsEntryToEndOfQueues(t *testing.T) {
	t.Parallel()
	day := civiltest.Date("2026-03-18")
	first := waitlist.Queue{Location: lisbon, Service: yoga, Date: day}
	second := waitlist.Queue{Location: lisbon, Service: massage, Date: day}
	queues := []waitlist.Queue{first, second}
	late := waitlist.NextKey(now.Add(time.Hour), 0) // by a clock that is ahead
	for name, tt := range map[string]struct {
		sizes  []waitlist.QueueSize
		closed waitlist.Queue
		want   string
		after  int64
	}{
		"new queues":             {},
		"behind the last of all": {sizes: []waitlist.QueueSize{{first, 1, late}, {second, 1, 7}}, after: late},
		"one of them is full": {
			sizes: []waitlist.QueueSize{{second, 50, 7}}, want: "WAITLIST_FULL date=2026-03-18 limit=50",
		},
		"just not":              {sizes: []waitlist.QueueSize{{second, 49, 7}}, after: 7},
		"one of them is closed": {closed: second, want: "WAITLIST_CLOSED"},
	} {
		rulesOf := func(q waitlist.Queue) waitlist.Rules {
			return vary.From(waitlist.Defaults(), set{"Enabled": q != tt.closed})
		}
		want := waitlist.Entry{ID: entry(0)}
		got, err := waitlist.Join(want, queues, tt.sizes, rulesOf, now)
		test.EqOp(t, tt.want, faulttest.Text(err), test.Sprint(name))
		if err == nil {
			want.Status, want.CreatedAt, want.Key = waitlist.Waiting, now, waitlist.NextKey(now, tt.after)
		}
		test.Eq(t, want, got, test.Sprint(name))
	}
}

func TestRulesOf_PicksTheLevelsOfAQueue(t *testing.T) {
	t.Parallel()
	size := func(n int) waitlist.Settings { return waitlist.Settings{MaxQueueSize: &n} }
	rulesOf := waitlist.RulesOf([]waitlist.Layer{
		{Level: catalog.TenantLevel, Settings: size(1)},
		{Level: catalog.LocationLevel, Scope: lisbon.UUID, Settings: size(2)},
		{Level: catalog.ServiceLevel, Scope: yoga.UUID, Settings: size(3)},
	})
	for want, q := range map[int]waitlist.Queue{
		1: {Location: porto, Service: massage}, 2: {Location: lisbon, Service: massage}, 3: {Location: lisbon, Service: yoga},
	} {
		test.EqOp(t, want, rulesOf(q).MaxQueueSize)
	}
}

func TestEndWhenSent_RestartsWindowOfLateMessages(t *testing.T) {
	t.Parallel()
	ends, asleep := now.Add(30*time.Minute), waitlist.Defaults()
	awake := vary.From(asleep, set{"OffersInQuietHours": true})
	for name, tt := range map[string]struct {
		rules  waitlist.Rules
		byHand bool
		at     time.Time
		now    time.Time
		closes time.Time
		want   time.Time
		inTime bool
	}{
		"at once": {awake, false, now, now, starts, ends, true},
		"a little later": {
			awake, false, now.Add(30 * time.Second), now.Add(30 * time.Second), starts, ends, true,
		},
		"a second later than that": {
			awake, false, now.Add(31 * time.Second), now.Add(31 * time.Second), starts, ends.Add(31 * time.Second), true,
		},
		"much later": {
			awake, false, now.Add(time.Hour), now.Add(time.Hour), starts, now.Add(90 * time.Minute), true,
		},
		"by hand":           {awake, true, now.Add(time.Minute), now.Add(time.Minute), starts, ends, true},
		"by hand, too late": {awake, true, ends, ends, starts, ends, false},
		"when quiet hours end": {
			asleep, false, now.Add(20 * time.Hour), now, starts, now.Add(20*time.Hour + 30*time.Minute), true,
		},
		"too late when they end": {
			asleep, false, now.Add(20 * time.Hour), now, now.Add(20*time.Hour + time.Minute), ends, false,
		},
		"too late for another window": {awake, false, ends.Add(-time.Minute), ends.Add(-time.Minute), ends, ends, true},
	} {
		o := waitlist.Offer{Status: waitlist.Live, ExpiresAt: ends, ByHand: tt.byHand}
		got, inTime := o.EndWhenSent(tt.rules, tt.at, tt.now, tt.closes, time.UTC)
		test.EqOp(t, tt.want, got, test.Sprint(name))
		test.EqOp(t, tt.inTime, inTime, test.Sprint(name))
	}
}
