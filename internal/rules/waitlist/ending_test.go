package waitlist_test

import (
	"slices"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
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
	accepted := o.Close(waitlist.Accepted, "", now)
	accepted.Booking = id[tenant.BookingID](3)
	closes := waitlist.Rules{AfterDecline: waitlist.CloseEntry, AfterExpiry: waitlist.CloseEntry, MaxOffersPerEntry: 3}
	returns := waitlist.Rules{AfterDecline: waitlist.ReturnEntry, AfterExpiry: waitlist.ReturnEntry, MaxOffersPerEntry: 3}
	leaving := &waitlist.Leaving{Reason: "moved away", Notify: true}
	for name, tt := range map[string]struct {
		offer   waitlist.Offer
		rules   waitlist.Rules
		tries   int
		leaving *waitlist.Leaving
		status  waitlist.Status
		left    int // its remaining tries
		stored  waitlist.Leaving
		by      waitlist.Trigger
	}{
		"accepted": {offer: accepted, rules: returns, tries: 1, status: waitlist.Booked, left: 1},
		"declined": {
			o.Close(waitlist.Declined, "no", now), returns, 1, nil, waitlist.Waiting, 1, waitlist.Leaving{Reason: "no"},
			waitlist.ByDecline,
		},
		"declined once too": {
			o.Close(waitlist.Declined, "no", now), returns, 3, nil, waitlist.Cancelled, 3, waitlist.Leaving{Reason: "no"},
			waitlist.ByDecline,
		},
		"a decline closes it": {
			o.Close(waitlist.Declined, "no", now), closes, 1, nil, waitlist.Cancelled, 1, waitlist.Leaving{Reason: "no"},
			waitlist.ByDecline,
		},
		"declined for good": {
			o.Close(waitlist.Declined, "no", now), returns, 1, leaving, waitlist.Cancelled, 1, *leaving, waitlist.ByDecline,
		},
		"ran out": {
			o.Close(waitlist.RanOut, "", now), returns, 1, nil, waitlist.Waiting, 1, waitlist.Leaving{}, waitlist.ByExpiry,
		},
		"its end closes it": {
			o.Close(waitlist.RanOut, "", now), closes, 1, nil, waitlist.Expired, 1, waitlist.Leaving{Notify: true},
			waitlist.ByExpiry,
		},
		"withdrawn": {
			o.Withdraw(waitlist.Unsendable, "", now), closes, 3, nil, waitlist.Waiting, 2,
			waitlist.Leaving{Reason: waitlist.Unsendable.String()}, waitlist.ByWithdrawal,
		},
		"withdrawn with entry": {
			o.Withdraw(waitlist.EntryLeft, "", now), returns, 1, leaving, waitlist.Cancelled, 0, *leaving, waitlist.ByWithdrawal,
		},
	} {
		ending := waitlist.Ending{Offer: tt.offer, Entry: offeredTo(o, tt.tries), Rules: tt.rules, Leaving: tt.leaving}
		c := ending.Changes(now)
		want := offeredTo(o, tt.left)
		want.Status = tt.status
		if tt.status != waitlist.Waiting {
			want.ClosedAt, want.Booking = &now, tt.offer.Booking
		}
		entries := []waitlist.EntryChange{{Entry: want, Offer: &tt.offer, Leaving: tt.stored}}
		test.Eq(t, entries, c.Entries, test.Sprint(name))
		seats, refill := -2, &waitlist.Refill{Session: o.Session, Round: o.Round, Trigger: tt.by}
		if tt.offer.Status == waitlist.Accepted {
			seats, refill = 0, nil // its booking takes the seats
		}
		all := waitlist.Changes{Session: o.Session, Entries: c.Entries, Seats: seats, Refill: refill}
		test.Eq(t, all, c, test.Sprint(name))
	}
}

func TestEnding_ReleasesSharedSeatsThatNoOfferCanClaim(t *testing.T) {
	t.Parallel()
	accepted := func(i, seats int) waitlist.Offer {
		o := offerOf(i, seats, true).Close(waitlist.Accepted, "", now)
		o.Booking = id[tenant.BookingID](3)
		return o
	}
	declined := offerOf(0, 1, true).Close(waitlist.Declined, "", now)
	again := func(round uint64, by waitlist.Trigger) *waitlist.Refill {
		r := &waitlist.Refill{Session: id[tenant.SessionID](1), Trigger: by}
		if round > 0 {
			r.Round = id[tenant.RoundID](round)
		}
		return r
	}
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
		"others may claim the rest": {ends: accepted(0, 1), live: live(1, 1), keeps: 2, after: 1},
		"the last seat is claimed": {
			ends: accepted(0, 1), live: live(1, 1, 2), keeps: 1, closed: true, slower: some(1, 2),
			refill: again(0, waitlist.ByWithdrawal),
		},
		"some no longer fit": {
			ends: accepted(0, 1), live: live(1, 2, 1), keeps: 2, after: 1, slower: some(1),
			refill: again(0, waitlist.ByWithdrawal),
		},
		"none fits what is left": {
			ends: accepted(0, 1), live: live(1, 2), keeps: 2, closed: true, slower: some(1), seats: -1,
			refill: again(5, waitlist.ByWithdrawal),
		},
		"none is left to claim the rest": {
			ends: accepted(0, 1), live: live(1), keeps: 3, closed: true, seats: -2, refill: again(5, waitlist.ByWithdrawal),
		},
		"declined, others may claim": {ends: declined, live: live(1, 1), keeps: 1, after: 1},
		"declined by the last": {
			ends: declined, live: live(1), keeps: 1, closed: true, seats: -1, refill: again(5, waitlist.ByDecline),
		},
		"offers of their own seats": {
			ends: declined, live: alone, keeps: 1, closed: true, seats: -1, refill: again(5, waitlist.ByDecline),
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
		want := e.Round
		if want.Keeps = tt.after; tt.closed {
			want.Closed = &now
		}
		test.Eq(t, []waitlist.Round{want}, c.Rounds, test.Sprint(name))
		var slower []tenant.EntryID
		for _, late := range c.Entries[1:] {
			slower = append(slower, late.Entry.ID)
			o, e := late.Offer, late.Entry
			test.True(
				t, o.Status == waitlist.Withdrawn && o.Void && e.Status == waitlist.Waiting && e.Tries == 1,
				test.Sprintf("%s: %+v", name, late),
			)
		}
		test.True(
			t, slices.Equal(slower, tt.slower) && c.Seats == tt.seats,
			test.Sprintf("%s: %v are too slow, and %d seats are free", name, slower, -c.Seats),
		)
		test.Eq(t, tt.refill, c.Refill, test.Sprint(name))
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
			taken := 0
			switch rapid.SampledFrom([]string{"accept", "accept", "decline", "run out", "withdraw"}).Draw(t, "end") {
			case "accept":
				taken = o.Seats
				o = o.Close(waitlist.Accepted, "", now)
			case "decline":
				o = o.Close(waitlist.Declined, "", now)
			case "run out":
				o = o.Close(waitlist.RanOut, "", now)
			default:
				o = o.Withdraw(waitlist.Unsendable, "", now)
			}
			before := reserved(round, live)
			c := waitlist.Ending{Offer: o, Entry: all[o.Entry], Round: round, Live: live, Entries: all}.Changes(now)
			for _, e := range c.Entries {
				live = slices.DeleteFunc(live, func(l waitlist.Offer) bool { return l.ID == e.Offer.ID })
				must.True(t, e.Offer.Status != waitlist.Live && e.Entry.Status != waitlist.Offered, must.Sprintf("%+v", e))
			}
			for _, r := range c.Rounds {
				round = r
			}
			must.EqOp(t, before-taken+c.Seats, reserved(round, live),
				must.Sprintf("%d seats were reserved, %d taken, %d given up, and are reserved", before, taken, -c.Seats))
			must.True(
				t, c.Seats <= 0 && (c.Seats >= 0 || c.Refill != nil && c.Refill.Round == round.ID),
				must.Sprintf("%d seats, refilled by %+v", c.Seats, c.Refill),
			)
			must.EqOp(t, round.Claimable(live), (round.Keeps > 0), must.Sprintf("%d seats are kept for %+v", round.Keeps, live))
			for _, l := range live {
				must.False(
					t, l.Shared && l.Seats > round.Keeps,
					must.Sprintf("an offer of %d seats is live where %d are kept", l.Seats, round.Keeps),
				)
			}
		}
	})
}

func TestReleaseRound_RefillsKeptSeats(t *testing.T) {
	t.Parallel()
	round := waitlist.Round{ID: id[tenant.RoundID](5), Session: id[tenant.SessionID](1), Freed: 3, Keeps: 2}
	want := round
	want.Keeps, want.Closed = 0, &now
	test.Eq(t, waitlist.Changes{
		Session: round.Session, Rounds: []waitlist.Round{want}, Seats: -2,
		Refill: &waitlist.Refill{Session: round.Session, Round: round.ID, Trigger: waitlist.BySweep},
	}, waitlist.ReleaseRound(round, waitlist.BySweep, now))
}

// A withdrawn offer does not count against its entry. The entry waits again.
func TestWithdrawnSeats_ReturnsEntriesToQueue(t *testing.T) {
	t.Parallel()
	o := offerOf(0, 2, true)
	round := waitlist.Round{ID: o.Round, Session: o.Session, Freed: 2, Keeps: 2}
	taken := waitlist.WithdrawSeats([]waitlist.Offer{o}, []waitlist.Round{round}, 1, now)
	round.Keeps, round.Closed = 0, &now
	entries := map[tenant.EntryID]waitlist.Entry{o.Entry: offeredTo(o, 1)}
	c := taken.Changes(o.Session, entries, waitlist.SessionMoved, "", now)
	after := offeredTo(o, 0)
	after.Status = waitlist.Waiting
	ended := o.Withdraw(waitlist.SessionMoved, "", now)
	leaving := waitlist.Leaving{Reason: waitlist.SessionMoved.String()}
	test.Eq(t, waitlist.Changes{
		Session: o.Session, Seats: -2, Rounds: []waitlist.Round{round},
		Entries: []waitlist.EntryChange{{Entry: after, Offer: &ended, Leaving: leaving}},
	}, c)
}

func TestLeave_ClosesWaitingEntry(t *testing.T) {
	t.Parallel()
	e := waitlist.Entry{
		ID: entry(0), Status: waitlist.Waiting, PassedOver: waitlist.OtherTime, Position: 3,
		Scoring: waitlist.Scoring{Score: 1},
	}
	leaving := waitlist.Leaving{Notify: true}
	want := waitlist.Entry{ID: entry(0), Status: waitlist.Cancelled, ClosedAt: &now}
	changes := waitlist.Changes{Entries: []waitlist.EntryChange{{Entry: want, Leaving: leaving}}}
	test.Eq(t, changes, waitlist.Leave(e, leaving, now))
}

func TestEndStale_ClosesEntriesThatCannotGetSeats(t *testing.T) {
	t.Parallel()
	strict, lenient := waitlist.Rules{ExpireStale: true, StaleAfter: time.Hour}, waitlist.Rules{}
	past := waitlist.Place{Session: id[tenant.SessionID](1), Starts: now}
	ahead := waitlist.Place{Session: id[tenant.SessionID](2), Starts: starts}
	strictly := ahead
	strictly.Service = massage
	rulesOf := func(q waitlist.Queue) waitlist.Rules {
		if q.Service == massage {
			return strict
		}
		return lenient
	}
	for name, tt := range map[string]struct {
		status waitlist.Status
		places []waitlist.Place
		want   waitlist.Leaving
	}{
		"nothing is over":    {waitlist.Waiting, []waitlist.Place{ahead}, waitlist.Leaving{}},
		"one of two is over": {waitlist.Waiting, []waitlist.Place{past, ahead}, waitlist.Leaving{}},
		"all are over": {
			waitlist.Waiting, []waitlist.Place{past}, waitlist.Leaving{Reason: "Its time has passed."},
		},
		"too long for one": {waitlist.Waiting, []waitlist.Place{strictly, ahead}, waitlist.Leaving{}},
		"too long for all": {
			waitlist.Waiting, []waitlist.Place{strictly}, waitlist.Leaving{Reason: "It waited too long.", Notify: true},
		},
		"while an offer to it is live": {waitlist.Offered, []waitlist.Place{past}, waitlist.Leaving{}},
		"closed before":                {waitlist.Cancelled, []waitlist.Place{past}, waitlist.Leaving{}},
	} {
		e := waitlist.Entry{ID: entry(0), Status: tt.status, CreatedAt: now.Add(-2 * time.Hour)}
		c := waitlist.EndStale(e, tt.places, rulesOf, now)
		if tt.want.Reason == "" {
			test.EqOp(t, 0, len(c.Entries), test.Sprintf("%s: it ends: %+v", name, c))
			continue
		}
		test.True(
			t, len(c.Entries) == 1 && c.Entries[0].Leaving == tt.want && c.Entries[0].Entry.Status == waitlist.Expired,
			test.Sprintf("%s: %+v", name, c),
		)
	}
}

func TestJoin_AddsEntryToEndOfQueues(t *testing.T) {
	t.Parallel()
	day := civiltest.Date("2026-03-18")
	first := waitlist.Queue{Location: lisbon, Service: yoga, Date: day}
	second := waitlist.Queue{Location: lisbon, Service: massage, Date: day}
	queues := []waitlist.Queue{first, second}
	open := func(waitlist.Queue) waitlist.Rules { return waitlist.Defaults() }
	late := waitlist.NextKey(now.Add(time.Hour), 0) // by a clock that is ahead
	for name, tt := range map[string]struct {
		sizes   []waitlist.QueueSize
		rules   func(waitlist.Queue) waitlist.Rules
		refused fault.Reason
		after   int64
	}{
		"new queues":             {rules: open},
		"behind the last of all": {rules: open, sizes: []waitlist.QueueSize{{first, 1, late}, {second, 1, 7}}, after: late},
		"one of them is full":    {rules: open, sizes: []waitlist.QueueSize{{second, 50, 7}}, refused: fault.WaitlistFull},
		"one of them is closed": {refused: fault.WaitlistClosed, rules: func(q waitlist.Queue) waitlist.Rules {
			return waitlist.Rules{Enabled: q == first, MaxQueueSize: 9}
		}},
	} {
		e, err := waitlist.Join(waitlist.Entry{ID: entry(0)}, queues, tt.sizes, tt.rules, now)
		test.False(
			t, fault.ReasonOf(err) != tt.refused && (err != nil || tt.refused != ""), test.Sprintf("%s: %v", name, err),
		)
		key := waitlist.NextKey(now, tt.after)
		test.False(
			t, tt.refused == "" && (e.Status != waitlist.Waiting || !e.CreatedAt.Equal(now) || e.Key != key),
			test.Sprintf("%s: %+v", name, e),
		)
	}
}

func TestWindow_Overlaps(t *testing.T) {
	t.Parallel()
	window := func(from, until string) waitlist.Window {
		return waitlist.Window{From: civiltest.Date(from), Until: civiltest.Date(until)}
	}
	w := window("2026-03-10", "2026-03-12")
	for _, tt := range []struct {
		other waitlist.Window
		want  bool
	}{
		{
			window("2026-03-08", "2026-03-09"), false}, {window("2026-03-08", "2026-03-10"),
			true}, {window("2026-03-11", "2026-03-11"), true},
		{
			window("2026-03-12", "2026-03-20"), true}, {window("2026-03-13", "2026-03-20"),
			false}, {window("2026-03-01", "2026-03-31"), true},
	} {
		test.True(
			t, w.Overlaps(tt.other) == tt.want && tt.other.Overlaps(w) == tt.want,
			test.Sprintf("%s to %s", tt.other.From, tt.other.Until),
		)
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
	utc, ends := time.UTC, now.Add(30*time.Minute)
	awake, asleep := waitlist.Defaults(), waitlist.Defaults()
	awake.OffersInQuietHours = true
	for name, tt := range map[string]struct {
		rules  waitlist.Rules
		byHand bool
		at     time.Time
		now    time.Time
		closes time.Time
		want   time.Time
		inTime bool
	}{
		"at once": {rules: awake, at: now, now: now, closes: starts, want: ends, inTime: true},
		"a little later": {
			rules: awake, at: now.Add(30 * time.Second), now: now.Add(30 * time.Second), closes: starts, want: ends,
			inTime: true,
		},
		"much later": {
			rules: awake, at: now.Add(time.Hour), now: now.Add(time.Hour), closes: starts, want: now.Add(90 * time.Minute),
			inTime: true,
		},
		"by hand": {
			rules: awake, byHand: true, at: now.Add(time.Minute), now: now.Add(time.Minute), closes: starts, want: ends,
			inTime: true,
		},
		"by hand, too late": {rules: awake, byHand: true, at: ends, now: ends, closes: starts, want: ends},
		"when quiet hours end": {
			rules: asleep, at: now.Add(20 * time.Hour), now: now, closes: starts, want: now.Add(20*time.Hour + 30*time.Minute),
			inTime: true,
		},
		"too late when they end": {
			rules: asleep, at: now.Add(20 * time.Hour), now: now, closes: now.Add(20*time.Hour + time.Minute), want: ends,
		},
		"too late for another window": {
			rules: awake, at: ends.Add(-time.Minute), now: ends.Add(-time.Minute), closes: ends, want: ends, inTime: true,
		},
	} {
		o := waitlist.Offer{Status: waitlist.Live, ExpiresAt: ends, ByHand: tt.byHand}
		got, inTime := o.EndWhenSent(tt.rules, tt.at, tt.now, tt.closes, utc)
		test.True(
			t, got.Equal(tt.want) && inTime == tt.inTime,
			test.Sprintf("%s: %s, %v; want %s, %v", name, got, inTime, tt.want, tt.inTime),
		)
	}
}
