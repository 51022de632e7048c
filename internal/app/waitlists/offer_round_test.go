package waitlists_test

import (
	"context"
	"testing"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// A seat stays open because the party that waits needs two. When the offer for another is declined both go to that
// party, in the round of the offer, which has two seats from then on.
func TestRound_IncludesOpenSeats(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := testkit.New(t)
	if _, err := h.App.Settings.UpdateRules(ctx, h.Owner, settings.RulesEdit{Edit: func(s *waitlist.Settings) {
		s.Enabled, s.Mode, s.AfterDecline = new(true), new(waitlist.OfferInTurn), new(waitlist.CloseEntry)
	}}); err != nil {
		t.Fatal(err)
	}
	class := h.AddSession(testkit.Session{Capacity: 2, Waitlist: 2})
	mia, noa, one, two := h.AddMember("Mia"), h.AddMember("Noa"), h.AddMember("One"), h.AddMember("Two")
	first, second := h.MustBook(mia, class), h.MustBook(noa, class)
	h.MustWaitlist(one, class)
	if _, err := h.App.Bookings.Book(
		ctx, testkit.SelfOnly(two), bookings.BookRequest{Session: class, Party: 2, Channel: catalog.Online},
	); err != nil {
		t.Fatal(err)
	}
	for who, id := range map[tenant.BookingID]tenant.Caller{first: mia, second: noa} {
		if _, err := h.Cancel(id, who); err != nil {
			t.Fatal(err)
		}
	}
	h.WantSound()
	offered := func(who tenant.Caller) waitlist.Offer {
		t.Helper()
		roster, err := h.App.Bookings.ListRoster(ctx, h.Coach, class, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range roster.Entries {
			if e.Member == who.Member && e.Offer != nil {
				return *e.Offer
			}
		}
		t.Fatalf("there is no offer for %s in %v", who.Subject, roster.Entries)
		return waitlist.Offer{}
	}
	if _, err := h.App.Waitlists.DeclineOffer(ctx, testkit.SelfOnly(one), offered(one).ID, true, ""); err != nil {
		t.Fatal(err)
	}
	if got := offered(two); got.Seats != 2 {
		t.Errorf("%d seats are on offer", got.Seats)
	}
	h.WantSound()
}

// Two seats are for the first who claims them, of three who were told. A party of two is too slow for somebody by
// themselves, whose booking is given up again while somebody else still thinks. The party is told of both seats once
// that one has let the other go, however it does, and whoever let it go is not asked again.
func TestRound_ReopensForExpiredOffers(t *testing.T) {
	t.Parallel()
	for name, letGo := range map[string]func(*testkit.Studio, tenant.Caller, waitlist.Offer) error{
		"declined": func(h *testkit.Studio, who tenant.Caller, o waitlist.Offer) error {
			_, err := h.Decline(who, o, false)
			return err
		},
		"expired": func(h *testkit.Studio, _ tenant.Caller, o waitlist.Offer) error {
			h.Clock.Set(o.ExpiresAt)
			_, _, err := h.App.Waitlists.ExpireDueOffers(context.Background(), h.Tenant)
			return err
		},
		"left": func(h *testkit.Studio, who tenant.Caller, o waitlist.Offer) error {
			_, err := h.App.Waitlists.LeaveWaitlist(context.Background(), testkit.SelfOnly(who), o.Entry, "", false)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			h.SetRules(func(s *waitlist.Settings) {
				s.Mode, s.MaxOffersPerEntry = new(waitlist.FirstToClaim), new(2)
			})
			class, _, _ := h.AddFullSession(1)
			party, quick, slow := h.AddMember("Party"), h.AddMember("Quick"), h.AddMember("Slow")
			pair := h.MustJoin(party, waitlists.JoinRequest{Sessions: []tenant.SessionID{class}, Party: 2}).ID
			rest := []tenant.EntryID{
				h.MustJoin(quick, testkit.ForSessions(class)).ID, h.MustJoin(slow, testkit.ForSessions(class)).ID,
			}
			resize(h, class, 3)
			first := h.LiveOffer(pair)
			claimed, err := h.Accept(quick, h.LiveOffer(rest[0]))
			if err != nil {
				t.Fatal(err)
			}
			h.MustCancel(quick, claimed.Booking.ID)
			h.WantEntries(map[tenant.EntryID]waitlist.Status{pair: waitlist.Waiting, rest[1]: waitlist.Offered})
			h.WantSound()
			h.Tick()
			if err := letGo(h, slow, h.LiveOffer(rest[1])); err != nil {
				t.Fatal(err)
			}
			h.WantSound()
			again := h.LiveOffer(pair)
			if again.Seats != 2 || again.Round != first.Round || again.Try != 4 || h.Entry(pair).Tries != 1 {
				t.Errorf(
					"offer %d of %d seats, number %d of its entry, in the same round: %t", again.Try, again.Seats, h.Entry(pair).Tries,
					again.Round == first.Round,
				)
			}
			if d := h.LastDecision(class).Decision; d.Move != waitlist.RollOn || d.Tried != 2 {
				t.Errorf("%s after %d were asked, want 2: who was too slow is none of them", d.Move, d.Tried)
			}
			if _, err := h.Accept(party, first); fault.ReasonOf(err) != fault.OfferNotLive {
				t.Errorf("the offer that was withdrawn is accepted: %v", err)
			}
			if _, err := h.Decline(party, again, false); err != nil {
				t.Fatal(err)
			}
			h.WantEntries(map[tenant.EntryID]waitlist.Status{pair: waitlist.Waiting})
			if n := len(h.Offers(class)); n != 4 {
				t.Errorf("there were %d offers: whoever let it go is asked again", n)
			}
			h.WantSound()
		})
	}
}

// Who was offered a seat that the session then had no longer is the next of the round, before those who were never
// asked. Whom nobody can tell of an offer is not.
func TestRound_OffersWithdrawnSeatsAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		withdraw func(*testkit.Studio, tenant.SessionID, waitlist.Offer)
		next     int
	}{
		"fewer seats": {func(h *testkit.Studio, class tenant.SessionID, _ waitlist.Offer) { resize(h, class, 2) }, 1},
		"nobody could tell them": {func(h *testkit.Studio, _ tenant.SessionID, o waitlist.Offer) {
			if err := h.App.Waitlists.WithdrawUnsendable(context.Background(), h.Tenant, o.ID); err != nil {
				h.T.Fatal(err)
			}
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			h.SetRules(func(s *waitlist.Settings) { s.Mode, s.MaxTriesPerSlot = new(waitlist.OfferInTurn), new(0) })
			class, _, _ := h.AddFullSession(1)
			who, entries := h.AddWaiters(3, testkit.ForSessions(class))
			resize(h, class, 3)
			h.WantEntries(map[tenant.EntryID]waitlist.Status{
				entries[0]: waitlist.Offered, entries[1]: waitlist.Offered, entries[2]: waitlist.Waiting,
			})
			h.Tick()
			tt.withdraw(h, class, h.LiveOffer(entries[1]))
			h.WantEntries(map[tenant.EntryID]waitlist.Status{entries[1]: waitlist.Waiting})
			if _, err := h.Decline(who[0], h.LiveOffer(entries[0]), false); err != nil {
				t.Fatal(err)
			}
			want := map[tenant.EntryID]waitlist.Status{
				entries[0]: waitlist.Waiting, entries[1]: waitlist.Waiting, entries[2]: waitlist.Waiting,
			}
			want[entries[tt.next]] = waitlist.Offered
			h.WantEntries(want)
			h.WantSound()
		})
	}
}
