package outbox

import (
	"maps"
	"slices"
	"strings"

	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// Filter selects events. All set fields must match; the zero Filter selects all.
type Filter struct {
	Types    []event.Type // any of them
	Session  tenant.SessionID
	Booking  tenant.BookingID
	Member   tenant.MemberID
	Location tenant.LocationID
}

// IsZero reports whether the filter selects all events.
func (f Filter) IsZero() bool {
	return len(f.Types) == 0 && f.Session.IsZero() && f.Booking.IsZero() && f.Member.IsZero() && f.Location.IsZero()
}

// Matches reports whether the filter selects a record. A booking that was moved also concerns the session that it left.
func (f Filter) Matches(r *Record) bool {
	return (len(f.Types) == 0 || slices.Contains(f.Types, r.Data.Type())) &&
		(f.Session.IsZero() || f.Session == r.Session || f.Session == r.FromSession) &&
		(f.Booking.IsZero() || f.Booking == r.Booking) &&
		(f.Member.IsZero() || f.Member == r.Member) &&
		(f.Location.IsZero() || f.Location == r.To.Location)
}

// Reader is a caller with the permissions that decide which events it may read. A caller with SelfOnly reads only what
// concerns itself, and what happened to sessions.
type Reader struct {
	tenant.Caller
	// May has the permissions of ReadPermissions that the caller has.
	May map[string]bool
}

// The permissions with which RPCs show what an event is about, by its subject: the part of the type before the dot.
var subjectPermissions = map[string]string{
	"session":      "session.read",
	"booking":      BookingRead,
	"display":      "checkin.display",
	"waitlist":     "waitlist.read",
	"offer":        "waitlist.read",
	"credits":      "credit.read",
	"subscription": "credit.read",
	"member":       memberRead,
	"rules":        "waitlist.read_rules",
}

// BookingRead is the permission to read all bookings.
const BookingRead = "booking.read"

const memberRead = "member.read"

// The permissions for CatalogChanged, by the kind in its data.
var catalogPermissions = map[string]string{
	"tenant":           "tenant.read",
	"location":         "catalog.read",
	"resource":         "catalog.read",
	"service":          "catalog.read",
	"item":             "catalog.read",
	"benefit_provider": "catalog.read",
	"workout":          "workout.read",
	"policy":           "policy.read",
	"plan":             "plan.read",
}

// ReadPermissions are the permissions that decide which events a caller may read.
var ReadPermissions = readPermissions()

func readPermissions() []string {
	all := []string{"role.read", "account.manage", session.ReadDrafts}
	all = slices.AppendSeq(all, maps.Values(subjectPermissions))
	all = slices.AppendSeq(all, maps.Values(catalogPermissions))
	slices.Sort(all)
	return slices.Compact(all)
}

// permission returns the permission to read what a record is about, or "" if there is none.
func (r *Record) permission() string {
	switch d := r.Data.(type) {
	case event.CatalogChanged:
		return catalogPermissions[d.Kind]
	case event.AccessChanged:
		switch {
		case !r.Member.IsZero():
			return memberRead
		case !d.ServiceAccount.IsZero():
			return "account.manage"
		}
		return "role.read"
	}
	subject, _, _ := strings.Cut(string(r.Data.Type()), ".")
	return subjectPermissions[subject]
}

// ReadsAll reports whether the caller sees every record.
func (by Reader) ReadsAll() bool {
	return !by.SelfOnly && len(by.May) == len(ReadPermissions)
}

// See returns the selected records that the caller may see, as far as they may see them.
// Records that are fully visible are shared, not copied.
func (by Reader) See(f Filter, records []*Record) []*Record {
	var seen []*Record
	for _, r := range records {
		if f.Matches(r) {
			if r = by.see(r); r != nil {
				seen = append(seen, r)
			}
		}
	}
	return seen
}

// see returns a record as far as the caller may see it, or nil.
func (by Reader) see(r *Record) *Record {
	isSession := strings.HasPrefix(string(r.Data.Type()), "session.")
	_, seats := r.Data.(event.SessionSeatsChanged)
	switch {
	case isSession && (!by.May[r.permission()] || !by.seesSession(r)):
		return nil
	case seats:
		return r
	case !by.SelfOnly && by.reads(r):
		actor, payment := by.May[memberRead] || by.knows(r.Actor), !r.isPromotion() || by.May[BookingRead]
		if actor && payment {
			return r
		}
		seen := r.copy(event.Whole)
		if !actor {
			seen.hideActor()
		}
		if !payment {
			seen.Facts.Payment = event.NoPayment
		}
		return seen
	case by.owns(r):
		seen := r.copy(event.Own)
		if !by.knows(r.Actor) {
			seen.hideActor()
		}
		return seen
	case isSession:
		return r.publicCopy()
	}
	return nil
}

// isPromotion reports whether a record is about an entry and a new booking.
func (r *Record) isPromotion() bool {
	_, promoted := r.Data.(event.WaitlistPromoted)
	return promoted
}

// reads reports whether the caller may read what a record is about. What it is about is not known for types of a newer
// version: their names say it as far as they begin with a known subject, and the rest is for who reads everything.
func (by Reader) reads(r *Record) bool {
	_, unknown := r.Data.(event.Unknown)
	return by.May[r.permission()] || r.isPromotion() && by.May[BookingRead] || unknown && by.ReadsAll()
}

// seesSession is the rule of the schedule, with one exception: that a session became a draft is for everyone.
func (by Reader) seesSession(r *Record) bool {
	_, unpublished := r.Data.(event.SessionUnpublished)
	return !r.To.Draft || unpublished || by.May[session.ReadDrafts]
}

// owns reports whether a record is about the caller, or about what its service account created.
func (by Reader) owns(r *Record) bool {
	return !r.Member.IsZero() && r.Member == by.Member ||
		r.CreatedBy != "" && by.Member.IsZero() && r.CreatedBy == by.Subject
}

// knows reports whether the caller may know an actor without permission to read members.
func (by Reader) knows(actor string) bool {
	return actor == by.Actor() || actor == tenant.System(by.Tenant).Actor()
}

// hideActor removes who caused an event from a copy.
func (r *Record) hideActor() { r.Actor, r.ActorName = "", "" }

// copy returns a record of the same event with as much of its data as the view shows.
func (r *Record) copy(view event.View) *Record {
	seen := &Record{
		Event: r.Event, Cursor: r.Cursor, View: view, FromSession: r.FromSession, Context: r.Context,
	}
	seen.Data = view.Of(r.Data)
	if view == event.Public {
		seen.Facts = event.NoFacts
	}
	return seen
}

// publicCopy returns what all see of a session's event: neither who caused it nor what they wrote.
func (r *Record) publicCopy() *Record {
	r.publicOnce.Do(func() {
		r.public = r.copy(event.Public)
		r.public.hideActor()
	})
	return r.public
}
