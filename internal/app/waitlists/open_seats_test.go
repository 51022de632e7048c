package waitlists_test

import (
	"context"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func bookFor(
	studio *testkit.Studio, who tenant.Caller, class tenant.SessionID, party int,
) (seats.Result, error) {
	return studio.Book(who, class, func(r *bookings.BookRequest) { r.Party = party })
}

// forTwo asks for two seats.
func forTwo(sessions ...tenant.SessionID) waitlists.JoinRequest {
	r := testkit.ForSessions(sessions...)
	r.Party = 2
	return r
}

// openSeat returns a class with one open seat, for whose two seats Mia waits, who would take both.
func openSeat(studio *testkit.Studio) (class tenant.SessionID, mia tenant.Caller, entry tenant.EntryID) {
	studio.T.Helper()
	class, who, booked := studio.AddFullSession(2)
	mia = studio.AddMember("Mia")
	entry = studio.MustJoin(mia, forTwo(class)).ID
	studio.MustCancel(who[0], booked[0])
	test.EqOp(studio.T, waitlist.VerdictReason(fault.PartySize), studio.Entry(entry).PassedOver)
	return class, mia, entry
}

// A member who waits takes an open seat: the entry has got its booking. It is not given back to them once they cancel,
// through no entry of theirs.
func TestBook_OfAWaitingMemberTakesAnOpenSeat(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class, mia, entry := openSeat(studio)
	b := studio.MustBook(mia, class)
	e := studio.Entry(entry)
	test.EqOp(t, waitlist.Booked, e.Status)
	test.EqOp(t, b, e.Booking)
	test.EqOp(t, 0, studio.Count(`select waiting from members where id = $1`, mia.Member))

	wide := studio.MustJoin(mia, studio.ForWindow("2026-03-17", "2026-03-20", "00:00", "01:00")).ID
	studio.SetRules(func(s *waitlist.Settings) { s.TimeFlexibility = new(12 * time.Hour) })
	noa := studio.MustJoin(studio.AddMember("Noa"), testkit.ForSessions(class)).ID
	studio.MustCancel(mia, b)
	test.EqOp(t, waitlist.GaveUp, studio.Entry(wide).PassedOver)
	studio.WantEntries(map[tenant.EntryID]waitlist.Status{wide: waitlist.Waiting, noa: waitlist.Offered})
	test.Eq(t, []tenant.MemberID{mia.Member}, studio.LastDecision(class).Case.Round.GaveUp)

	// Nor after an offer of the seats has gone by.
	o := studio.LiveOffer(noa)
	expect.OK(t)(studio.App.Waitlists.ExpireWaitlistOffer(context.Background(), studio.Owner, o.ID, ""))
	test.EqOp(t, waitlist.GaveUp, studio.Entry(wide).PassedOver)
	studio.WantEntries(map[tenant.EntryID]waitlist.Status{wide: waitlist.Waiting})
	studio.WantSound()
}

// The last to book a full session joins its waitlist, but only once.
func TestBook_OfAWaitingMemberNeedsAnOpenSeat(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class, mia, entry := openSeat(studio)
	err := expect.Error(bookFor(studio, mia, class, 2))
	test.EqOp(t, "ALREADY_BOOKED entry_id="+entry.String(), faulttest.Text(err))
	expect.Reason(t, fault.AlreadyBooked)(studio.Join(mia, testkit.ForSessions(class)))
	studio.MustBook(studio.AddMember("Noa"), class)
	expect.Reason(t, fault.AlreadyBooked)(studio.Book(mia, class))
	studio.WantEntries(map[tenant.EntryID]waitlist.Status{entry: waitlist.Waiting})
	studio.WantSound()
}

// A seat that the desk adds for a member who waits is theirs. Their offer counts first.
func TestBook_RaisesTheCapacityForAWaitingMember(t *testing.T) {
	t.Parallel()
	type row struct {
		offered  bool
		party    int
		capacity int // afterwards
	}
	testkit.Each(t, map[string]row{
		"who waits":                  {party: 2, capacity: 4},
		"who has an offer of a seat": {offered: true, party: 2, capacity: 3},
		"who has an offer of all":    {offered: true, party: 1, capacity: 2},
	}, func(studio *testkit.Studio, tt row) {
		t := studio.T
		class, who, booked := studio.AddFullSession(2)
		mia := studio.AddMember("Mia")
		entry := studio.MustJoin(mia, testkit.ForSessions(class)).ID
		next := studio.MustJoin(studio.AddMember("Noa"), testkit.ForSessions(class)).ID
		if tt.offered {
			studio.MustCancel(who[0], booked[0])
		}
		made := expect.Value(studio.App.Bookings.Book(t.Context(), studio.Owner, bookings.BookRequest{
			Session: class, Member: mia.Member, Party: tt.party, Channel: catalog.Online, Raise: true,
		}))(t)
		test.EqOp(t, made.Booking.ID, studio.Entry(entry).Booking)
		test.EqOp(t, tt.offered, made.Booking.Promoted)
		test.Eq(t, &tt.capacity, studio.GetSession(class).Capacity)
		test.EqOp(t, tt.capacity, studio.SeatsTaken(class))
		studio.WantEntries(map[tenant.EntryID]waitlist.Status{entry: waitlist.Booked, next: waitlist.Waiting})
		studio.WantSound()
	})
}

// Who waits and cannot pay for an open seat is told why, not that they wait.
func TestBook_OfAWaitingMemberNeedsAPlan(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class, mia, entry := openSeat(studio)
	studio.TakePayments()
	expect.Reason(t, fault.NoActivePlan)(studio.Book(mia, class))
	studio.WantEntries(map[tenant.EntryID]waitlist.Status{entry: waitlist.Waiting})
}

// A hold pauses the entry. If it ends unconfirmed, the entry is where it was; if it is confirmed, the entry ends.
func TestHold_PausesTheEntryOfItsMember(t *testing.T) {
	t.Parallel()
	for _, ends := range []string{"released", "expired", "confirmed"} {
		t.Run(ends, func(t *testing.T) {
			t.Parallel()
			studio := testkit.New(t)
			_, later, theirs := studio.AddFullSession(2, testkit.StartingAt(testkit.Noon.Add(54*time.Hour)))
			class, who, booked := studio.AddFullSession(2, testkit.StartingAt(testkit.Noon.Add(30*time.Hour)))
			mia, window := studio.AddMember("Mia"), studio.ForWindow("2026-03-17", "2026-03-18", "00:00", "23:59")
			window.Party = 2
			anywhere := studio.MustJoin(mia, window).ID
			entry := studio.MustJoin(mia, forTwo(class)).ID
			other := studio.MustJoin(studio.AddMember("Noa"), forTwo(class)).ID
			studio.MustCancel(who[0], booked[0])
			hold, at := studio.MustHold(mia, class), studio.Entry(entry).Position
			studio.WantEntries(map[tenant.EntryID]waitlist.Status{entry: waitlist.Waiting})
			// While it lasts, no entry gets what the hold may become.
			for i := range 2 {
				studio.MustCancel(later[i], theirs[i])
			}
			test.EqOp(t, waitlist.VerdictReason(fault.AlreadyBooked), studio.Entry(anywhere).PassedOver)
			switch ends {
			case "released":
				expect.OK(t)(studio.App.Bookings.ReleaseHold(t.Context(), testkit.SelfOnly(mia), hold.ID))
			case "expired":
				studio.Clock.Set(*hold.HoldUntil)
				expect.OK(t)(studio.App.Waitlists.ExpireHolds(t.Context(), studio.Tenant))
			default:
				expect.OK(t)(studio.Confirm(mia, hold.ID))
				for _, id := range []tenant.EntryID{entry, anywhere} {
					test.EqOp(t, waitlist.Booked, studio.Entry(id).Status)
					test.EqOp(t, hold.ID, studio.Entry(id).Booking)
				}
				studio.WantSound()
				return
			}
			test.EqOp(t, at, studio.Entry(entry).Position)
			test.EqOp(t, at+1, studio.Entry(other).Position)
			studio.WantEntries(map[tenant.EntryID]waitlist.Status{
				entry: waitlist.Waiting, other: waitlist.Waiting, anywhere: waitlist.Waiting,
			})
			test.EqOp(t, waitlist.GaveUp, studio.Entry(anywhere).PassedOver)
			studio.WantSound()
		})
	}
}

// Who books the session of their live offer accepts it. A smaller party leaves seats to the next entry, and a larger
// one also needs open seats.
func TestBook_IntoTheSessionOfAnOfferAcceptsIt(t *testing.T) {
	t.Parallel()
	type row struct {
		party  int
		shared bool
		open   bool // a seat beyond those of the offer is open
		reason fault.Reason
		next   waitlist.Status // of the next entry, for one seat
	}
	testkit.Each(t, map[string]row{
		"all":                  {party: 2, next: waitlist.Waiting},
		"fewer":                {party: 1, next: waitlist.Offered},
		"more":                 {party: 3, reason: fault.AlreadyBooked, next: waitlist.Waiting},
		"more, with an open":   {party: 3, open: true, next: waitlist.Waiting},
		"all, as the first":    {party: 2, shared: true, next: waitlist.Waiting},
		"fewer, as the first":  {party: 1, shared: true, next: waitlist.Offered},
		"more, as the first":   {party: 3, shared: true, reason: fault.AlreadyBooked, next: waitlist.Waiting},
		"more, open, as first": {party: 3, shared: true, open: true, next: waitlist.Waiting},
	}, func(studio *testkit.Studio, tt row) {
		t := studio.T
		if tt.shared {
			studio.SetMode(waitlist.FirstToClaim)
		}
		class, who, booked := studio.AddFullSession(4)
		mia, wish := studio.AddMember("Mia"), testkit.ForSessions(class)
		entry := studio.MustJoin(mia, forTwo(class)).ID
		for i := range 2 {
			studio.MustCancel(who[i], booked[i])
		}
		o := studio.LiveOffer(entry)
		if wish.Party = 1; tt.open {
			wish.Party = 4 // so that the open seat is not theirs
		}
		next := studio.MustJoin(studio.AddMember("Noa"), wish).ID
		if tt.open {
			studio.MustCancel(who[2], booked[2])
		}
		result, err := bookFor(studio, mia, class, tt.party)
		if tt.reason != "" {
			expect.Reason(t, tt.reason)(result, err)
			test.EqOp(t, o.ID, studio.LiveOffer(entry).ID)
		} else {
			must.NoError(t, err)
			must.NotNil(t, result.Booking)
			test.EqOp(t, tt.party, result.Booking.Party)
			test.True(t, result.Booking.Promoted)
			test.EqOp(t, result.Booking.ID, studio.Entry(entry).Booking)
			answered := studio.Offers(class)[0]
			test.EqOp(t, waitlist.Accepted, answered.Status)
			test.EqOp(t, result.Booking.ID, answered.Booking)
		}
		studio.WantEntries(map[tenant.EntryID]waitlist.Status{next: tt.next})
		studio.WantSound()
	})
}

// A move into the session of one's offer accepts it. The seat that was left goes to others.
func TestReschedule_IntoTheSessionOfAnOfferAcceptsIt(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class, who, booked := studio.AddFullSession(1)
	early := studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(30 * time.Hour), Capacity: 1, Waitlist: 5})
	mia, noa := studio.AddMember("Mia"), studio.AddMember("Noa")
	b := studio.MustBook(mia, early)
	entry := studio.MustJoin(mia, testkit.ForSessions(class)).ID
	next := studio.MustJoin(noa, testkit.ForSessions(early)).ID
	studio.MustCancel(who[0], booked[0])
	o := studio.LiveOffer(entry)
	moved := expect.Value(studio.Reschedule(testkit.SelfOnly(mia), b, class))(t)
	test.EqOp(t, class, moved.Booking.Session)
	test.EqOp(t, b, studio.Entry(entry).Booking)
	studio.WantEntries(map[tenant.EntryID]waitlist.Status{entry: waitlist.Booked, next: waitlist.Offered})
	test.EqOp(t, waitlist.Accepted, studio.Offers(class)[0].Status)
	test.EqOp(t, o.ID, studio.Offers(class)[0].ID)
	studio.WantSound()
}

// A booking ends the other entries of its member that name the session, or whose exact hours have it. An offer of one
// goes to the next. Overlaps end none.
func TestBooking_EndsTheOtherEntriesOfItsMember(t *testing.T) {
	t.Parallel()
	type row struct{ by string }
	testkit.Each(t, map[string]row{"booked": {"book"}, "accepted": {"accept"}, "promoted": {"promote"}},
		func(studio *testkit.Studio, tt row) {
			t := studio.T
			if tt.by == "promote" {
				studio.SetPromoting()
			}
			studio.SetPolicy(func(p *catalog.PolicyLayer) { p.AdvanceWindow = new(60 * 24 * time.Hour) })
			at := testkit.Noon.Add(30 * time.Hour) // 19:00 in Berlin
			class, who, booked := studio.AddFullSession(1, testkit.StartingAt(at))
			later, others, theirs := studio.AddFullSession(1, testkit.StartingAt(at.Add(30*time.Hour)))
			overlapping, _, _ := studio.AddFullSession(1, testkit.StartingAt(at.Add(30*time.Minute)))
			mia, noa := studio.AddMember("Mia"), studio.AddMember("Noa")
			first := studio.MustJoin(mia, testkit.ForSessions(class))
			anyOf := studio.MustJoin(mia, studio.ForWindow("2026-03-17", "2026-03-19", "18:00", "20:00"))
			beside := studio.MustJoin(mia, testkit.ForSessions(overlapping))
			next := studio.MustJoin(noa, testkit.ForSessions(later))
			if tt.by != "promote" { // an offer that the booking ends
				offerTo(studio, later, anyOf.ID, others[0], theirs[0])
			}
			switch tt.by {
			case "book":
				studio.Exec(`update waitlist_entries set party_size = 2 where id = any($1)`, []tenant.EntryID{first.ID})
				studio.MustCancel(who[0], booked[0])
				studio.MustBook(mia, class)
			case "accept":
				studio.MustCancel(who[0], booked[0])
				expect.OK(t)(studio.Accept(mia, studio.LiveOffer(first.ID)))
			default:
				studio.MustCancel(who[0], booked[0])
			}
			b := studio.Entry(first.ID).Booking
			test.False(t, b.IsZero())
			test.EqOp(t, b, studio.Entry(anyOf.ID).Booking)
			studio.WantEntries(map[tenant.EntryID]waitlist.Status{
				first.ID: waitlist.Booked, anyOf.ID: waitlist.Booked, beside.ID: waitlist.Waiting,
			})
			if tt.by != "promote" {
				studio.WantEntries(map[tenant.EntryID]waitlist.Status{next.ID: waitlist.Offered})
			}
			studio.WantSound()
		})
}

// offerTo frees a seat and offers it to an entry that is not the first.
func offerTo(
	studio *testkit.Studio, in tenant.SessionID, entry tenant.EntryID, who tenant.Caller, b tenant.BookingID,
) {
	studio.T.Helper()
	studio.SetRules(func(s *waitlist.Settings) { s.Enabled = new(false) })
	studio.MustCancel(who, b)
	expect.OK(studio.T)(studio.App.Waitlists.CreateWaitlistOffer(context.Background(), studio.Owner,
		waitlists.OfferRequest{Session: in, Entry: entry}))
	studio.SetRules(func(s *waitlist.Settings) { s.Enabled = new(true) })
}

// The week says that seats are kept, and until when.
func TestEligibility_SaysThatSeatsAreKept(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class, who, booked := studio.AddFullSession(1)
	mia := testkit.SelfOnly(studio.AddMember("Mia"))
	entry := studio.MustJoin(mia, testkit.ForSessions(class)).ID
	of := func(caller tenant.Caller) booking.Eligibility {
		return *expect.Value(studio.App.Schedules.GetSession(context.Background(), caller, class))(t).Eligibility
	}
	test.EqOp(t, booking.Waitlisted, of(mia).Status)
	studio.MustCancel(who[0], booked[0])
	o, got := studio.LiveOffer(entry), of(mia)
	test.EqOp(t, booking.Offered, got.Status)
	test.EqOp(t, entry, got.Entry)
	must.NotNil(t, got.Offer)
	test.EqOp(t, o.ID, got.Offer.Offer)
	test.EqOp(t, 1, got.Offer.Seats)
	test.True(t, got.Offer.Until.Equal(o.ExpiresAt))
	test.EqOp(t, booking.Waitlist, of(testkit.SelfOnly(studio.AddMember("Noa"))).Status)
	studio.Clock.Set(o.ExpiresAt)
	test.EqOp(t, booking.Waitlisted, of(mia).Status, test.Sprint("it has run out"))
	studio.Clock.Set(o.CreatedAt)
	studio.MustBook(mia, class)
	test.EqOp(t, booking.Booked, of(mia).Status)
}
