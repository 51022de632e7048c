package outbox

import (
	"maps"
	"slices"
	"strings"

	"github.com/berthhq/berth/internal/tenant"
)

// Filter chooses events. All that is set must hold; the zero one chooses all.
type Filter struct {
	Types    []Type // any of them
	Session  tenant.SessionID
	Booking  tenant.BookingID
	Member   tenant.MemberID
	Location tenant.LocationID
}

// IsZero reports whether the filter chooses all.
func (f Filter) IsZero() bool {
	return len(f.Types) == 0 && f.Session.IsZero() && f.Booking.IsZero() && f.Member.IsZero() && f.Location.IsZero()
}

// Matches reports whether the filter chooses a record. A booking that left a session concerns that session too.
func (f Filter) Matches(r *Record) bool {
	return (len(f.Types) == 0 || slices.Contains(f.Types, r.Type)) &&
		(f.Session.IsZero() || f.Session == r.Session || f.Session == r.Left) &&
		(f.Booking.IsZero() || f.Booking == r.Booking) &&
		(f.Member.IsZero() || f.Member == r.Member) &&
		(f.Location.IsZero() || f.Location == r.Location)
}

// See gives those of the records that the filter chooses and the caller may see, as they may see them. Those that are seen in
// full are shared, not copied.
func (f Filter) See(records []*Record, caller tenant.Caller) []*Record {
	var seen []*Record
	for _, r := range records {
		if f.Matches(r) {
			if r = seenBy(r, caller); r != nil {
				seen = append(seen, r)
			}
		}
	}
	return seen
}

// seenBy gives a record as a caller may see it; nil where they may not. Who was let in for things of their own sees
// what concerns themselves, and of sessions that something happened, but neither who did it nor what they wrote.
func seenBy(r *Record, caller tenant.Caller) *Record {
	switch {
	case !caller.Own:
		return r
	case !r.Member.IsZero() && r.Member == caller.Member:
		seen := r.copy()
		if r.Actor != caller.Actor() && r.Actor != tenant.System(caller.Tenant).Actor() {
			seen.Actor = ""
		}
		maps.DeleteFunc(seen.Data, func(key string, _ any) bool { return !slices.Contains(ownFacts, key) })
		return seen
	case strings.HasPrefix(string(r.Type), "session.") && (!r.Draft || r.Type == SessionUnpublished):
		seen := r.copy()
		seen.Actor, seen.Data = "", nil
		return seen
	}
	return nil
}

// ownFacts are the data that members get to know of events that concern them. What is not listed is the staff's.
var ownFacts = []string{
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
		Cursor: r.Cursor, Entry: r.Entry, Offer: r.Offer, Left: r.Left, Location: r.Location, Draft: r.Draft,
	}
}
