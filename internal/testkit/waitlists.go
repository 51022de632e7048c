package testkit

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// SetRules edits the waitlist rules of the tenant, and allows offers in quiet hours. When it returns, open seats are
// filled by the new rules.
func (s *Studio) SetRules(edit func(*waitlist.Settings)) waitlist.EffectiveRules {
	s.T.Helper()
	e := expect.Value(s.App.Settings.UpdateWaitlistRules(context.Background(), s.Owner, settings.RulesEdit{
		Reason: "a test",
		Edit: func(r *waitlist.Settings) {
			r.OffersInQuietHours = new(true)
			edit(r)
		},
	}))(s.T)
	s.NoError(s.App.Waitlists.FillAfterEdits(context.Background(), s.Tenant))
	return e
}

// SetMode sets how freed seats are filled.
func (s *Studio) SetMode(m waitlist.Mode) {
	s.T.Helper()
	s.SetRules(func(r *waitlist.Settings) { r.Mode = &m })
}

// SetPromoting has freed seats booked for waiting entries, also when it is too late to cancel.
func (s *Studio) SetPromoting() {
	s.T.Helper()
	s.SetRules(func(r *waitlist.Settings) {
		r.Mode, r.PromoteAfterCancellationWindow = new(waitlist.AutoPromote), new(true)
	})
}

// Join joins a waitlist online, for one seat unless the request says otherwise.
func (s *Studio) Join(who tenant.Caller, r waitlists.JoinRequest) (seats.Result, error) {
	r.Channel = cmp.Or(r.Channel, catalog.Online)
	if r.Party == 0 {
		r.Party = 1
	}
	return s.App.Waitlists.JoinWaitlist(context.Background(), who, r)
}

// MustJoin joins a waitlist, a moment later, and returns the entry.
func (s *Studio) MustJoin(who tenant.Caller, r waitlists.JoinRequest) waitlist.Entry {
	s.T.Helper()
	s.Tick()
	return *expect.Value(s.Join(who, r))(s.T).Entry
}

// ForSessions waits for any of the sessions.
func ForSessions(sessions ...tenant.SessionID) waitlists.JoinRequest {
	return waitlists.JoinRequest{Sessions: sessions}
}

// ForWindow waits for any session of the studio's service on these days, between times of day.
func (s *Studio) ForWindow(from, until, earliest, latest string) waitlists.JoinRequest {
	return waitlists.JoinRequest{Window: &waitlist.Window{
		Service: s.Service, Location: s.Location, From: civiltest.Date(from), Until: civiltest.Date(until),
		Earliest: civiltest.TimeOfDay(earliest), Latest: civiltest.TimeOfDay(latest),
	}}
}

// AddFullSession creates a session without free seats, with room on its waitlist, and returns who booked the seats.
func (s *Studio) AddFullSession(
	seats int, change ...func(*Session),
) (tenant.SessionID, []tenant.Caller, []tenant.BookingID) {
	s.T.Helper()
	d := Session{Capacity: seats, Waitlist: 50}
	for _, f := range change {
		f(&d)
	}
	id := s.AddSession(d)
	who, booked := make([]tenant.Caller, seats), make([]tenant.BookingID, seats)
	for i := range seats {
		who[i] = s.AddMember(fmt.Sprint("Holder ", i))
		booked[i] = s.MustBook(who[i], id)
	}
	return id, who, booked
}

// StartingAt sets when a full session starts.
func StartingAt(at time.Time) func(*Session) { return func(d *Session) { d.Starts = at } }

// AddWaiters creates members who join a waitlist one after another, and returns them with their entries.
func (s *Studio) AddWaiters(n int, r waitlists.JoinRequest) ([]tenant.Caller, []tenant.EntryID) {
	s.T.Helper()
	who, entries := make([]tenant.Caller, n), make([]tenant.EntryID, n)
	for i := range n {
		who[i] = s.AddMember(fmt.Sprint("Waiter ", i))
		entries[i] = s.MustJoin(who[i], r).ID
	}
	return who, entries
}

// Entry reads an entry as staff see it.
func (s *Studio) Entry(id tenant.EntryID) waitlist.Entry {
	s.T.Helper()
	return expect.Value(s.App.Waitlists.ExplainWaitlistEntry(context.Background(), s.Owner, id))(s.T).Entry
}

// Offers returns all offers of a session, the oldest first.
func (s *Studio) Offers(session tenant.SessionID) []waitlist.Offer {
	s.T.Helper()
	return expect.Value(s.App.Waitlists.ListWaitlistOffers(context.Background(), s.Owner, waitlists.OfferQuery{
		Session: session, Oldest: true, Limit: 1000,
	}))(s.T)
}

// LiveOffer returns the live offer to an entry.
func (s *Studio) LiveOffer(entry tenant.EntryID) waitlist.Offer {
	s.T.Helper()
	o := s.Entry(entry).Offer
	must.NotNil(s.T, o, must.Sprintf("entry %s has no live offer: it is %s", entry, s.Entry(entry).Status))
	return *o
}

// CodeOf returns the code in the text message of an offer.
func (s *Studio) CodeOf(o waitlist.Offer) string {
	s.T.Helper()
	return s.Config().Claims.Code(o.ID)
}

// SetCode gives an offer a code of the test's choice. The messages about it have the old one.
func (s *Studio) SetCode(o waitlist.Offer, code string) {
	s.T.Helper()
	expect.OK(s.T)(s.DB.Owner.Exec(context.Background(),
		`update waitlist_offers set code_hash = $1 where tenant_id = $2 and id = $3`,
		s.Config().Claims.HashCode(s.Tenant, code)[0], s.Tenant, o.ID,
	))
}

// Decisions returns all decisions about a session, the oldest first.
func (s *Studio) Decisions(session tenant.SessionID) []waitlists.DecisionRecord {
	s.T.Helper()
	all, _, err := s.App.Waitlists.ListWaitlistDecisions(context.Background(), s.Owner, waitlists.DecisionQuery{
		Session: session, Oldest: true, Limit: 1000,
	})
	s.NoError(err)
	return all
}

// LastDecision returns the latest decision about a session.
func (s *Studio) LastDecision(session tenant.SessionID) waitlists.DecisionRecord {
	s.T.Helper()
	all := s.Decisions(session)
	must.True(s.T, len(all) != 0, must.Sprint("no decision"))
	return all[len(all)-1]
}

// Accept accepts an offer as its member, a moment later.
func (s *Studio) Accept(who tenant.Caller, o waitlist.Offer) (waitlists.OfferAnswer, error) {
	s.Tick()
	return s.App.Waitlists.AcceptWaitlistOffer(context.Background(), SelfOnly(who), o.ID, tenant.SubscriptionID{})
}

// Decline declines an offer as its member, a moment later.
func (s *Studio) Decline(who tenant.Caller, o waitlist.Offer, leave bool) (waitlists.OfferAnswer, error) {
	s.Tick()
	return s.App.Waitlists.DeclineWaitlistOffer(context.Background(), SelfOnly(who), o.ID, leave, "")
}

// WantEntries fails the test unless entries have these statuses.
func (s *Studio) WantEntries(want map[tenant.EntryID]waitlist.Status) {
	s.T.Helper()
	for id, status := range want {
		test.EqOp(s.T, status, s.Entry(id).Status, test.Sprintf("entry %s", id))
	}
}
