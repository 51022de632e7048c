package testkit

import (
	"context"
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// Rules says at the tenant's level what holds for its waitlists, beside that offers are made at any hour, and lets happen what follows.
func (h *House) Rules(edit func(*waitlist.Settings)) waitlist.Effective {
	h.T.Helper()
	e, err := h.App.Settings.UpdateRules(context.Background(), h.Owner, settings.RulesEdit{Reason: "a test", Edit: func(s *waitlist.Settings) {
		s.OffersInQuietHours = new(true)
		edit(s)
	}})
	if err != nil {
		h.T.Fatalf("rules: %v", err)
	}
	if err := h.App.Waitlists.FillAfterEdits(context.Background(), h.Tenant); err != nil {
		h.T.Fatalf("rules: %v", err)
	}
	return e
}

// Mode says how freed seats are given.
func (h *House) Mode(m waitlist.Mode) {
	h.T.Helper()
	h.Rules(func(s *waitlist.Settings) { s.Mode = &m })
}

// Join asks for a place in line online; one seat, unless the request says otherwise.
func (h *House) Join(who tenant.Caller, r waitlists.JoinRequest) (seats.Place, error) {
	r.Channel = catalog.Online
	if r.Party == 0 {
		r.Party = 1
	}
	return h.App.Waitlists.JoinWaitlist(context.Background(), who, r)
}

// MustJoin gives the entry.
func (h *House) MustJoin(who tenant.Caller, r waitlists.JoinRequest) waitlist.Entry {
	h.T.Helper()
	h.Tick()
	place, err := h.Join(who, r)
	if err != nil {
		h.T.Fatalf("join: %v", err)
	}
	return *place.Entry
}

// Names asks to wait for sessions.
func Names(sessions ...tenant.SessionID) waitlists.JoinRequest {
	return waitlists.JoinRequest{Sessions: sessions}
}

// Window wishes for the house's service on days, between times of day.
func (h *House) Window(from, until, earliest, latest string) waitlists.JoinRequest {
	return waitlists.JoinRequest{Window: &waitlist.Window{
		Service: h.Service, Location: h.Location, From: civil.MustParseDate(from), Until: civil.MustParseDate(until),
		Earliest: civil.MustParseTimeOfDay(earliest), Latest: civil.MustParseTimeOfDay(latest),
	}}
}

// Full is a session without a seat left, and who has them, with a queue that has room.
func (h *House) Full(seats int, more ...func(*Slot)) (tenant.SessionID, []tenant.Caller, []tenant.BookingID) {
	h.T.Helper()
	s := Slot{Capacity: seats, Waitlist: 50}
	for _, change := range more {
		change(&s)
	}
	id := h.Session(s)
	who, booked := make([]tenant.Caller, seats), make([]tenant.BookingID, seats)
	for i := range seats {
		who[i] = h.Member(fmt.Sprint("Holder ", i))
		booked[i] = h.MustBook(who[i], id)
	}
	return id, who, booked
}

// Starting is for full: when the session begins.
func Starting(at time.Time) func(*Slot) { return func(s *Slot) { s.Starts = at } }

// Waiters are people who wait for sessions, with their entries.
func (h *House) Waiters(n int, r waitlists.JoinRequest) ([]tenant.Caller, []tenant.EntryID) {
	h.T.Helper()
	who, entries := make([]tenant.Caller, n), make([]tenant.EntryID, n)
	for i := range n {
		who[i] = h.Member(fmt.Sprint("Waiter ", i))
		entries[i] = h.MustJoin(who[i], r).ID
	}
	return who, entries
}

// MustCancel gives a booking up.
func (h *House) MustCancel(who tenant.Caller, id tenant.BookingID) seats.Cancelled {
	h.T.Helper()
	h.Tick()
	up, err := h.Cancel(who, id)
	if err != nil {
		h.T.Fatalf("cancel: %v", err)
	}
	return up
}

// Entry reads one as staff see it.
func (h *House) Entry(id tenant.EntryID) waitlist.Entry {
	h.T.Helper()
	story, err := h.App.Waitlists.ExplainEntry(context.Background(), h.Owner, id)
	if err != nil {
		h.T.Fatalf("entry: %v", err)
	}
	return story.Entry
}

// Offers reads all of a session, the oldest first.
func (h *House) Offers(session tenant.SessionID) []waitlist.Offer {
	h.T.Helper()
	all, err := h.App.Waitlists.ListOffers(context.Background(), h.Owner, waitlists.OfferQuery{Session: session, Oldest: true, Limit: 1000})
	if err != nil {
		h.T.Fatal(err)
	}
	return all
}

// Live is the live offer to an entry.
func (h *House) Live(entry tenant.EntryID) waitlist.Offer {
	h.T.Helper()
	o := h.Entry(entry).Offer
	if o == nil {
		h.T.Fatalf("entry %s has no live offer: it is %s", entry, h.Entry(entry).Status)
	}
	return *o
}

// Decisions reads all of a session, the oldest first.
func (h *House) Decisions(session tenant.SessionID) []waitlists.DecisionRecord {
	h.T.Helper()
	all, _, err := h.App.Waitlists.ListDecisions(context.Background(), h.Owner, waitlists.DecisionQuery{Session: session, Oldest: true, Limit: 1000})
	if err != nil {
		h.T.Fatal(err)
	}
	return all
}

// Last is the latest decision about a session.
func (h *House) Last(session tenant.SessionID) waitlists.DecisionRecord {
	h.T.Helper()
	all := h.Decisions(session)
	if len(all) == 0 {
		h.T.Fatal("nothing was decided")
	}
	return all[len(all)-1]
}

// Tick lets a moment pass, so that what follows is later than what was: ids tell milliseconds apart.
func (h *House) Tick() { h.Clock.Set(h.Clock.Now().Add(time.Millisecond)) }

// Accept accepts an offer, as its member.
func (h *House) Accept(who tenant.Caller, o waitlist.Offer) (waitlists.OfferAnswer, error) {
	h.Tick()
	return h.App.Waitlists.AcceptOffer(context.Background(), Own(who), o.ID, tenant.SubscriptionID{})
}

// Decline declines an offer, as its member.
func (h *House) Decline(who tenant.Caller, o waitlist.Offer, leave bool) (waitlists.OfferAnswer, error) {
	h.Tick()
	return h.App.Waitlists.DeclineOffer(context.Background(), Own(who), o.ID, leave, "")
}

// WantEntries fails unless entries are what they should be.
func (h *House) WantEntries(want map[tenant.EntryID]waitlist.Status) {
	h.T.Helper()
	for id, status := range want {
		if is := h.Entry(id).Status; is != status {
			h.T.Errorf("entry %s is %s, want %s", id, is, status)
		}
	}
}

// Taken is how many seats of a session nobody else can have.
func (h *House) Taken(session tenant.SessionID) int {
	h.T.Helper()
	return h.Count(`select seats_taken from sessions where tenant_id = $1 and id = $2`, h.Tenant, session)
}
