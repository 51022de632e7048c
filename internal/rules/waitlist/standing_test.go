package waitlist_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// mine is a member's standing around the slot, which starts at 18:00 in Lisbon.
func mine(entries []waitlist.Entry, offers ...waitlist.Offer) waitlist.Standing {
	return waitlist.Standing{Slot: slot(1), Entries: entries, Offers: offers}
}

func windowAround(from, until int, differ set) *waitlist.Window {
	day := civil.DateOf(starts, zone("Europe/Lisbon"))
	w := waitlist.Window{
		Service: yoga, Location: lisbon, From: day, Until: day,
		Earliest: civil.TimeOfDay{Hour: from}, Latest: civil.TimeOfDay{Hour: until},
	}
	return new(vary.From(w, differ))
}

// What a booking of the slot ends: entries that name the session, and time windows that have it within exact hours.
func TestStanding_EndsTheEntriesThatWaitForWhatWasBooked(t *testing.T) {
	t.Parallel()
	session, other := slot(1).Session, id[tenant.SessionID](77)
	hour := civil.TimeOf(starts, zone("Europe/Lisbon")).Hour
	for name, tt := range map[string]struct {
		entry set
		ends  bool
	}{
		"the session":             {set{"Session": session}, true},
		"another one":             {set{"Session": other}, false},
		"any of some":             {set{"AnyOf": []tenant.SessionID{other, session}}, true},
		"any of others":           {set{"AnyOf": []tenant.SessionID{other}}, false},
		"its hours":               {set{"Window": windowAround(hour, hour, nil)}, true},
		"an hour before":          {set{"Window": windowAround(hour-2, hour-1, nil)}, false},
		"another service":         {set{"Window": windowAround(hour, hour, set{"Service": massage})}, false},
		"its hours, with a coach": {set{"Window": windowAround(hour, hour, nil), "Coach": rui}, false},
		"itself, with a coach":    {set{"Session": session, "Coach": rui}, true},
	} {
		e := vary.From(waitlist.Entry{ID: entry(1), Status: waitlist.Waiting, Party: 4}, tt.entry)
		closed, endings := mine([]waitlist.Entry{e}).Booked(id[tenant.BookingID](9), 1, nil, now)
		test.SliceEmpty(t, endings)
		want := []waitlist.EntryChange(nil)
		if tt.ends {
			want = []waitlist.EntryChange{{Entry: e.Close(waitlist.Booked, id[tenant.BookingID](9), now), Taken: true}}
		}
		test.Eq(t, want, closed.Entries, test.Sprint(name))
	}
}

// The accepted offer ends first. An offer elsewhere is withdrawn with its entry; one whose entry still waits stays.
func TestStanding_AcceptsOneOfferAndWithdrawsThoseOfEndedEntries(t *testing.T) {
	t.Parallel()
	got := id[tenant.BookingID](9)
	here := waitlist.Entry{ID: entry(1), Status: waitlist.Offered, Window: windowAround(0, 1, nil)} // by flexibility
	named := waitlist.Entry{ID: entry(2), Status: waitlist.Offered, AnyOf: []tenant.SessionID{slot(1).Session}}
	stays := waitlist.Entry{ID: entry(3), Status: waitlist.Offered, Session: id[tenant.SessionID](78)}
	offer := func(e waitlist.Entry, in tenant.SessionID) waitlist.Offer {
		return waitlist.Offer{
			ID: id[tenant.OfferID](uint64(e.ID.UUID[15])), Entry: e.ID, Session: in, Seats: 2, Status: waitlist.Live,
			ExpiresAt: now.Add(time.Hour),
		}
	}
	st := mine([]waitlist.Entry{named, stays, here}, offer(named, id[tenant.SessionID](77)),
		offer(stays, id[tenant.SessionID](78)), offer(here, slot(1).Session))
	accepted := st.Offer(now)
	must.NotNil(t, accepted)
	test.Eq(t, named.ID, st.Named())
	closed, endings := st.Booked(got, 1, accepted, now)
	test.SliceEmpty(t, closed.Entries)
	must.SliceLen(t, 2, endings)
	first, second := endings[0].Changes(now), endings[1].Changes(now)
	test.EqOp(t, waitlist.Accepted, first.Entries[0].Offer.Status)
	test.EqOp(t, got, first.Entries[0].Offer.Booking)
	test.EqOp(t, waitlist.Booked, first.Entries[0].Entry.Status)
	test.False(t, first.Entries[0].Taken)
	test.EqOp(t, -1, first.Seats, test.Sprint("the seat that is left goes to the next"))
	test.EqOp(t, waitlist.ByWithdrawal, first.Refill.Trigger)
	test.EqOp(t, named.ID, second.Entries[0].Entry.ID)
	test.EqOp(t, waitlist.Withdrawn, second.Entries[0].Offer.Status)
	test.EqOp(t, waitlist.EntryLeft, second.Entries[0].Offer.Cause)
	test.EqOp(t, got, second.Entries[0].Entry.Booking)
	test.True(t, second.Entries[0].Taken)
	test.EqOp(t, -2, second.Seats)
	test.Nil(t, st.Offer(now.Add(time.Hour)), test.Sprint("it has run out"))
}

// A smaller party leaves seats that the round keeps for the others who may claim them.
func TestEnding_OfSmallerPartyLeavesSharedSeats(t *testing.T) {
	t.Parallel()
	o := offerOf(0, 2, true).Close(waitlist.Accepted, "", now)
	ending := waitlist.Ending{
		Offer: o, Entry: offeredTo(o, 1), Party: 1, Live: []waitlist.Offer{offerOf(0, 2, true), offerOf(1, 1, true)},
		Round: waitlist.Round{ID: o.Round, Session: o.Session, Keeps: 2},
	}
	c := ending.Changes(now)
	must.SliceLen(t, 1, c.Rounds)
	test.EqOp(t, 1, c.Rounds[0].Keeps)
	test.EqOp(t, 0, c.Seats)
	test.Nil(t, c.Refill)
	ending.Party = 3
	test.EqOp(t, 0, ending.Changes(now).Rounds[0].Keeps, test.Sprint("no more than its offer has"))
}
