package waitlists_test

import (
	"context"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A seat stays open because the party that waits needs two. When the offer for another is declined both go to that
// party, in the round of the offer, which has two seats from then on.
func TestRound_IncludesOpenSeats(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetRules(func(s *waitlist.Settings) {
		s.Enabled, s.Mode, s.AfterDecline = new(true), new(waitlist.OfferInTurn), new(waitlist.CloseEntry)
	})
	class := studio.AddSession(testkit.Session{Capacity: 2, Waitlist: 2})
	mia, noa := studio.AddMember("Mia"), studio.AddMember("Noa")
	one, two := studio.AddMember("One"), studio.AddMember("Two")
	first, second := studio.MustBook(mia, class), studio.MustBook(noa, class)
	studio.MustWaitlist(one, class)
	expect.OK(t)(studio.App.Bookings.Book(
		t.Context(), testkit.SelfOnly(two), bookings.BookRequest{Session: class, Party: 2, Channel: catalog.Online},
	))
	for who, id := range map[tenant.BookingID]tenant.Caller{first: mia, second: noa} {
		expect.OK(t)(studio.Cancel(id, who))
	}
	studio.WantSound()
	offered := func(who tenant.Caller) waitlist.Offer {
		t.Helper()
		roster := expect.Value(studio.App.Bookings.GetSessionRoster(t.Context(), studio.Coach, class))(t)
		for _, e := range roster.Entries {
			if e.Member == who.Member && e.Offer != nil {
				return *e.Offer
			}
		}
		t.Fatalf("there is no offer for %s in %v", who.Subject, roster.Entries)
		return waitlist.Offer{}
	}
	expect.OK(t)(studio.App.Waitlists.DeclineWaitlistOffer(t.Context(), testkit.SelfOnly(one), offered(one).ID, true, ""))
	got := offered(two)
	test.EqOp(t, 2, got.Seats, test.Sprintf("%d seats are on offer", got.Seats))
}

// Three entries are told of two seats, and the first to claim gets them. A party of two is slower than a single
// member, who then cancels while a third still decides. When the third lets the other seat go too, in any way, the
// party is told of both seats, and the one who let it go is not asked again.
func TestRound_ReopensForExpiredOffers(t *testing.T) {
	t.Parallel()
	testkit.Each(t, map[string]func(*testkit.Studio, tenant.Caller, waitlist.Offer) error{
		"declined": func(studio *testkit.Studio, who tenant.Caller, o waitlist.Offer) error {
			return expect.Error(studio.Decline(who, o, false))
		},
		"expired": func(studio *testkit.Studio, _ tenant.Caller, o waitlist.Offer) error {
			studio.Clock.Set(o.ExpiresAt)
			return expect.Error(studio.App.Waitlists.ExpireDueOffers(context.Background(), studio.Tenant))
		},
		"left": func(studio *testkit.Studio, who tenant.Caller, o waitlist.Offer) error {
			return expect.Error(
				studio.App.Waitlists.LeaveWaitlist(context.Background(), testkit.SelfOnly(who), o.Entry, "", false),
			)
		},
	}, func(studio *testkit.Studio, letGo func(*testkit.Studio, tenant.Caller, waitlist.Offer) error) {
		studio.SetRules(func(s *waitlist.Settings) {
			s.Mode, s.MaxOffersPerEntry = new(waitlist.FirstToClaim), new(2)
		})
		class, _, _ := studio.AddFullSession(1)
		party, quick, slow := studio.AddMember("Party"), studio.AddMember("Quick"), studio.AddMember("Slow")
		pair := studio.MustJoin(party, waitlists.JoinRequest{Sessions: []tenant.SessionID{class}, Party: 2}).ID
		rest := []tenant.EntryID{
			studio.MustJoin(quick, testkit.ForSessions(class)).ID, studio.MustJoin(slow, testkit.ForSessions(class)).ID,
		}
		resize(studio, class, 3)
		first := studio.LiveOffer(pair)
		studio.MustCancel(quick, expect.Value(studio.Accept(quick, studio.LiveOffer(rest[0])))(studio.T).Booking.ID)
		studio.WantEntries(map[tenant.EntryID]waitlist.Status{pair: waitlist.Waiting, rest[1]: waitlist.Offered})
		studio.WantSound()
		studio.Tick()
		must.NoError(studio.T, letGo(studio, slow, studio.LiveOffer(rest[1])))
		studio.WantSound()
		again := studio.LiveOffer(pair)
		test.EqOp(studio.T, 2, again.Seats,
			test.Sprintf(
				"offer %d of %d seats, number %d of its entry, in the same round: %t",
				again.Try, again.Seats, studio.Entry(pair).Tries, again.Round == first.Round,
			))
		test.EqOp(studio.T, first.Round, again.Round,
			test.Sprintf(
				"offer %d of %d seats, number %d of its entry, in the same round: %t",
				again.Try, again.Seats, studio.Entry(pair).Tries, again.Round == first.Round,
			))
		test.EqOp(studio.T, 4, again.Try,
			test.Sprintf(
				"offer %d of %d seats, number %d of its entry, in the same round: %t",
				again.Try, again.Seats, studio.Entry(pair).Tries, again.Round == first.Round,
			))
		test.EqOp(studio.T, 1, studio.Entry(pair).Tries,
			test.Sprintf(
				"offer %d of %d seats, number %d of its entry, in the same round: %t",
				again.Try, again.Seats, studio.Entry(pair).Tries, again.Round == first.Round,
			))
		d := studio.LastDecision(class).Decision
		test.EqOp(studio.T, waitlist.RollOn, d.Move,
			test.Sprintf("%s after %d were asked, want 2: who was too slow is none of them", d.Move, d.Tried))
		test.EqOp(studio.T, 2, d.Tried,
			test.Sprintf("%s after %d were asked, want 2: who was too slow is none of them", d.Move, d.Tried))
		_, err := studio.Accept(party, first)
		test.EqOp(studio.T, fault.WaitlistOfferNotLive, fault.ReasonOf(err),
			test.Sprintf("the offer that was withdrawn is accepted: %v", err))
		expect.OK(studio.T)(studio.Decline(party, again, false))
		studio.WantEntries(map[tenant.EntryID]waitlist.Status{pair: waitlist.Waiting})
		test.EqOp(
			studio.T, 4, len(studio.Offers(class)), test.Sprint("there were offers: the entry that let it go is asked again"),
		)
	})
}

// An entry whose offer was withdrawn because the session lost the seat is first in the round, before entries without
// an offer. An entry that cannot be notified is not.
func TestRound_OffersWithdrawnSeatsAgain(t *testing.T) {
	t.Parallel()
	type row struct {
		withdraw func(*testkit.Studio, tenant.SessionID, waitlist.Offer)
		next     int
	}
	testkit.Each(t, map[string]row{
		"fewer seats": {
			func(studio *testkit.Studio, class tenant.SessionID, _ waitlist.Offer) { resize(studio, class, 2) }, 1,
		},
		"they could not be notified": {func(studio *testkit.Studio, _ tenant.SessionID, o waitlist.Offer) {
			must.NoError(studio.T, studio.App.Waitlists.WithdrawUnsendable(context.Background(), studio.Tenant, o.ID))
		}, 2},
	}, func(studio *testkit.Studio, tt row) {
		studio.SetRules(func(s *waitlist.Settings) { s.Mode, s.MaxTriesPerSlot = new(waitlist.OfferInTurn), new(0) })
		class, _, _ := studio.AddFullSession(1)
		who, entries := studio.AddWaiters(3, testkit.ForSessions(class))
		resize(studio, class, 3)
		studio.WantEntries(map[tenant.EntryID]waitlist.Status{
			entries[0]: waitlist.Offered, entries[1]: waitlist.Offered, entries[2]: waitlist.Waiting,
		})
		studio.Tick()
		tt.withdraw(studio, class, studio.LiveOffer(entries[1]))
		studio.WantEntries(map[tenant.EntryID]waitlist.Status{entries[1]: waitlist.Waiting})
		expect.OK(studio.T)(studio.Decline(who[0], studio.LiveOffer(entries[0]), false))
		want := map[tenant.EntryID]waitlist.Status{
			entries[0]: waitlist.Waiting, entries[1]: waitlist.Waiting, entries[2]: waitlist.Waiting,
		}
		want[entries[tt.next]] = waitlist.Offered
		studio.WantEntries(want)
	})
}
