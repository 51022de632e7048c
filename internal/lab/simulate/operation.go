package simulate

import (
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// Operation is a transaction of a simulation: what was asked, and how it ended. The operations of a simulation are a
// script that can be run against the service. Fields that do not apply are zero.
type Operation struct {
	Name string
	At   time.Time
	// Cause is set if no one asked for it: an alarm, a sweep or an edit of rules. These end with an operation of that
	// name, which has no events.
	Cause string

	Session      tenant.SessionID
	Sessions     []tenant.SessionID // any of these
	Window       *waitlist.Window
	Service      tenant.ServiceID
	Member       tenant.MemberID
	Booking      tenant.BookingID
	Entry        tenant.EntryID
	Offer        tenant.OfferID
	Subscription tenant.SubscriptionID
	Plan         tenant.PlanID
	Status       credit.Status
	Rules        *waitlist.Rules
	Party        int // or the new capacity
	Staff        bool
	Hold         bool
	RefuseFull   bool
	On           bool // paid, blocked, active, flagged, or leaves the waitlist

	Reason fault.Reason // of the refusal
	Events []Event
}

// Tenant is a simulated tenant at the start.
type Tenant struct {
	Locations []Location
	Services  []Service
	Members   []Member
	Plans     []credit.Plan
}

// Location is a place in a time zone, an IANA name.
type Location struct {
	ID       tenant.LocationID
	TimeZone string
}

// Service is a service at one location, with its settings.
type Service struct {
	ID       tenant.ServiceID
	Location tenant.LocationID
	Duration time.Duration
	MaxParty int
	Policy   catalog.BookingPolicy
	Rules    waitlist.Rules
}

// Member is a member, with the time zone that they set.
type Member struct {
	booking.Member
	TimeZone string
}

func (w *world) tenant() Tenant {
	var t Tenant
	for _, l := range w.locations {
		t.Locations = append(t.Locations, Location{ID: l.id, TimeZone: l.name})
	}
	for _, s := range w.services {
		t.Services = append(t.Services, Service{
			ID: s.id, Location: s.location.id, Duration: s.duration, MaxParty: s.maxParty, Policy: s.policy,
			Rules: s.waitlist.Rules,
		})
	}
	for _, m := range w.members {
		t.Members = append(t.Members, Member{Member: m.Member, TimeZone: m.zone})
	}
	for _, p := range w.plans {
		t.Plans = append(t.Plans, p.Plan)
	}
	return t
}

// State is the state of a simulated tenant. It is valid until the next operation.
type State struct{ w *world }

// Sessions returns the sessions in order of creation. Old ones are deleted.
func (s State) Sessions() []session.Session {
	var all []session.Session
	for _, row := range s.w.sessionList {
		all = append(all, row.Session)
	}
	return all
}

// Bookings returns all bookings of a session.
func (s State) Bookings(id tenant.SessionID) []booking.Booking {
	var all []booking.Booking
	for _, b := range s.w.sessions[id].bookings {
		all = append(all, *b)
	}
	return all
}

// Entries returns the entries that are waiting or have a live offer.
func (s State) Entries() []waitlist.Entry {
	var all []waitlist.Entry
	for _, m := range s.w.members {
		for _, e := range m.entries {
			all = append(all, e.Entry)
		}
	}
	return all
}

// Offers returns all offers of a session.
func (s State) Offers(id tenant.SessionID) []waitlist.Offer {
	var all []waitlist.Offer
	for _, o := range s.w.sessions[id].offers {
		all = append(all, *o)
	}
	return all
}

// Subscriptions returns the subscriptions of a member, each with its ledger.
func (s State) Subscriptions(id tenant.MemberID) map[*credit.Subscription][]credit.Line {
	all := make(map[*credit.Subscription][]credit.Line)
	for _, u := range s.w.membersByID[id].subs {
		all[&u.Subscription] = u.ledger
	}
	return all
}
