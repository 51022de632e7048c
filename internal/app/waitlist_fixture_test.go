package app_test

import (
	"context"
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// rules says at the tenant's level what holds for its waitlists, beside that offers are made at any hour, and lets happen what follows.
func (h *house) rules(edit func(*waitlist.Settings)) waitlist.Effective {
	h.t.Helper()
	e, err := h.app.UpdateRules(context.Background(), h.Owner, app.RulesEdit{Reason: "a test", Edit: func(s *waitlist.Settings) {
		s.OffersInQuietHours = new(true)
		edit(s)
	}})
	if err != nil {
		h.t.Fatalf("rules: %v", err)
	}
	if err := h.app.WakeForRules(context.Background(), h.Tenant); err != nil {
		h.t.Fatalf("rules: %v", err)
	}
	return e
}

// mode says how freed seats are given.
func (h *house) mode(m waitlist.Mode) {
	h.t.Helper()
	h.rules(func(s *waitlist.Settings) { s.Mode = &m })
}

// join asks for a place in line online; one seat, unless the request says otherwise.
func (h *house) join(who tenant.Caller, r app.JoinRequest) (seats.Place, error) {
	r.Channel = catalog.Online
	if r.Party == 0 {
		r.Party = 1
	}
	return h.app.JoinWaitlist(context.Background(), who, r)
}

// mustJoin gives the entry.
func (h *house) mustJoin(who tenant.Caller, r app.JoinRequest) waitlist.Entry {
	h.t.Helper()
	h.tick()
	place, err := h.join(who, r)
	if err != nil {
		h.t.Fatalf("join: %v", err)
	}
	return *place.Entry
}

func names(sessions ...tenant.SessionID) app.JoinRequest { return app.JoinRequest{Sessions: sessions} }

// window wishes for the house's service on days, between times of day.
func (h *house) window(from, until, earliest, latest string) app.JoinRequest {
	return app.JoinRequest{Window: &waitlist.Window{
		Service: h.Service, Location: h.Location, From: civil.MustParseDate(from), Until: civil.MustParseDate(until),
		Earliest: civil.MustParseTimeOfDay(earliest), Latest: civil.MustParseTimeOfDay(latest),
	}}
}

// full is a session without a seat left, and who has them, with a queue that has room.
func (h *house) full(seats int, more ...func(*slot)) (tenant.SessionID, []tenant.Caller, []tenant.BookingID) {
	h.t.Helper()
	s := slot{Capacity: seats, Waitlist: 50}
	for _, change := range more {
		change(&s)
	}
	id := h.session(s)
	who, booked := make([]tenant.Caller, seats), make([]tenant.BookingID, seats)
	for i := range seats {
		who[i] = h.member(fmt.Sprint("Holder ", i))
		booked[i] = h.mustBook(who[i], id)
	}
	return id, who, booked
}

// starting is for full: when the session begins.
func starting(at time.Time) func(*slot) { return func(s *slot) { s.Starts = at } }

// waiters are people who wait for sessions, with their entries.
func (h *house) waiters(n int, r app.JoinRequest) ([]tenant.Caller, []tenant.EntryID) {
	h.t.Helper()
	who, entries := make([]tenant.Caller, n), make([]tenant.EntryID, n)
	for i := range n {
		who[i] = h.member(fmt.Sprint("Waiter ", i))
		entries[i] = h.mustJoin(who[i], r).ID
	}
	return who, entries
}

// mustCancel gives a booking up.
func (h *house) mustCancel(who tenant.Caller, id tenant.BookingID) seats.GivenUp {
	h.t.Helper()
	h.tick()
	up, err := h.cancel(who, id)
	if err != nil {
		h.t.Fatalf("cancel: %v", err)
	}
	return up
}

// entry reads one as staff see it.
func (h *house) entry(id tenant.EntryID) waitlist.Entry {
	h.t.Helper()
	story, err := h.app.ExplainEntry(context.Background(), h.Owner, id)
	if err != nil {
		h.t.Fatalf("entry: %v", err)
	}
	return story.Entry
}

// offers reads all of a session, the oldest first.
func (h *house) offers(session tenant.SessionID) []waitlist.Offer {
	h.t.Helper()
	all, err := h.app.ListOffers(context.Background(), h.Owner, app.OfferQuery{Session: session, Oldest: true, Limit: 1000})
	if err != nil {
		h.t.Fatal(err)
	}
	return all
}

// live is the live offer to an entry.
func (h *house) live(entry tenant.EntryID) waitlist.Offer {
	h.t.Helper()
	o := h.entry(entry).Offer
	if o == nil {
		h.t.Fatalf("entry %s has no live offer: it is %s", entry, h.entry(entry).Status)
	}
	return *o
}

// decisions reads all of a session, the oldest first.
func (h *house) decisions(session tenant.SessionID) []app.Decided {
	h.t.Helper()
	all, _, err := h.app.ListDecisions(context.Background(), h.Owner, app.DecisionQuery{Session: session, Oldest: true, Limit: 1000})
	if err != nil {
		h.t.Fatal(err)
	}
	return all
}

// last is the latest decision about a session.
func (h *house) last(session tenant.SessionID) app.Decided {
	h.t.Helper()
	all := h.decisions(session)
	if len(all) == 0 {
		h.t.Fatal("nothing was decided")
	}
	return all[len(all)-1]
}

// tick lets a moment pass, so that what follows is later than what was: ids tell milliseconds apart.
func (h *house) tick() { h.clock.Set(h.clock.Now().Add(time.Millisecond)) }

func (h *house) accept(who tenant.Caller, o waitlist.Offer) (app.Answered, error) {
	h.tick()
	return h.app.AcceptOffer(context.Background(), own(who), o.ID, tenant.SubscriptionID{})
}

func (h *house) decline(who tenant.Caller, o waitlist.Offer, leave bool) (app.Answered, error) {
	h.tick()
	return h.app.DeclineOffer(context.Background(), own(who), o.ID, leave, "")
}

// wantStatus fails unless entries are what they should be.
func (h *house) wantEntries(want map[tenant.EntryID]waitlist.Status) {
	h.t.Helper()
	for id, status := range want {
		if is := h.entry(id).Status; is != status {
			h.t.Errorf("entry %s is %s, want %s", id, is, status)
		}
	}
}

// taken is how many seats of a session nobody else can have.
func (h *house) taken(session tenant.SessionID) int {
	h.t.Helper()
	return h.count(`select seats_taken from sessions where tenant_id = $1 and id = $2`, h.Tenant, session)
}
