package outbox

import (
	"maps"
	"slices"
	"strings"

	"github.com/berthhq/berth/internal/tenant"
)

// Filter selects events. All set fields must match; the zero Filter selects all.
type Filter struct {
	Types    []Type // any of them
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
	return (len(f.Types) == 0 || slices.Contains(f.Types, r.Type)) &&
		(f.Session.IsZero() || f.Session == r.Session || f.Session == r.FromSession) &&
		(f.Booking.IsZero() || f.Booking == r.Booking) &&
		(f.Member.IsZero() || f.Member == r.Member) &&
		(f.Location.IsZero() || f.Location == r.Location)
}

// VisibleTo returns the selected records that the caller may see, as far as they may see them.
// Records that are fully visible are shared, not copied.
func (f Filter) VisibleTo(records []*Record, caller tenant.Caller) []*Record {
	var seen []*Record
	for _, r := range records {
		if f.Matches(r) {
			if r = visibleTo(r, caller); r != nil {
				seen = append(seen, r)
			}
		}
	}
	return seen
}

// visibleTo returns a record as far as the caller may see it, or nil. A caller with rights to their own things only
// sees what concerns themselves, and what happened to sessions, but neither who did it nor what they wrote.
func visibleTo(r *Record, caller tenant.Caller) *Record {
	switch {
	case !caller.SelfOnly:
		return r
	case !r.Member.IsZero() && r.Member == caller.Member:
		seen := r.copy()
		if r.Actor != caller.Actor() && r.Actor != tenant.System(caller.Tenant).Actor() {
			seen.Actor = ""
		}
		maps.DeleteFunc(seen.Data, func(key string, _ any) bool { return !slices.Contains(memberData, key) })
		return seen
	case strings.HasPrefix(string(r.Type), "session.") && (!r.Draft || r.Type == SessionUnpublished):
		seen := r.copy()
		seen.Actor, seen.Data = "", nil
		return seen
	}
	return nil
}

// memberData are the data keys that members see of events that concern them. All others are for staff.
var memberData = []string{
	"amount", "balance", "subscription_id", "status", // credits and subscriptions
	"credit_refunded", "late", "reason", // cancellations
	"from_session_id", "from_start_time", // reschedules
	"position", "expire_time", "seats", "first_to_claim", // waitlist and offers
	"roles", "changed", // the membership itself
}

func (r *Record) copy() *Record {
	return &Record{
		Event: Event{
			ID: r.ID, Type: r.Type, Session: r.Session, Booking: r.Booking, Member: r.Member, Actor: r.Actor,
			Data: maps.Clone(r.Data), At: r.At,
		},
		Cursor: r.Cursor, Entry: r.Entry, Offer: r.Offer, FromSession: r.FromSession, Location: r.Location, Draft: r.Draft,
	}
}
