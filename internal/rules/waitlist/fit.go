package waitlist

import (
	"sync"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/tenant"
)

// Slot is a session with open seats.
type Slot struct {
	Session  tenant.SessionID  `json:"session"`
	Service  tenant.ServiceID  `json:"service"`
	Location tenant.LocationID `json:"location"`
	Resource tenant.ResourceID `json:"resource,omitzero"`
	Coach    tenant.MemberID   `json:"coach,omitzero"`
	StartsAt time.Time         `json:"starts_at"`
	EndsAt   time.Time         `json:"ends_at"`
	// Closes is the end of the time in which somebody who waits may still get a seat.
	Closes time.Time `json:"closes"`
	Zone   string    `json:"zone"`            // IANA, of the location
	Seats  *int      `json:"seats,omitempty"` // open; nil: without limit

	// Words for expressions.
	ServiceName  string `json:"service_name,omitempty"`
	LocationName string `json:"location_name,omitempty"`
}

// Candidate is an entry as the engine looks at it.
type Candidate struct {
	Entry   tenant.EntryID  `json:"entry"`
	Member  tenant.MemberID `json:"member"`
	Party   int             `json:"party"`
	Window  *Window         `json:"window,omitempty"` // nil: it names the session
	Coach   tenant.MemberID `json:"coach,omitzero"`
	Tier    string          `json:"tier,omitempty"`
	Tags    []string        `json:"tags,omitempty"`
	Zone    string          `json:"zone,omitempty"` // IANA, where the member lives; empty: the location's
	Joined  time.Time       `json:"joined"`
	Key     int64           `json:"key"`
	Flagged bool            `json:"flagged,omitempty"`
	Score   *int            `json:"score,omitempty"` // given by staff
	Tries   int             `json:"tries,omitempty"`
	Asked   bool            `json:"asked,omitempty"` // has a live offer
	// Refusal is why a booking of theirs would be refused; empty where it would not, or where nobody has looked.
	Refusal string `json:"refusal,omitempty"`
}

// Candidate is an entry seen by the engine.
func (e Entry) Candidate() Candidate {
	return Candidate{
		Entry: e.ID, Member: e.Member, Party: e.Party, Window: e.Window, Coach: e.Coach, Tier: e.MemberTier,
		Tags: e.MemberTags,
		Zone: e.MemberZone, Joined: e.CreatedAt, Key: e.Key, Flagged: e.Flagged, Score: e.Score, Tries: e.Tries,
		Asked: e.Status == Offered,
	}
}

// scene is what all entries of one decision are judged by, worked out once.
type scene struct {
	*Compiled
	slot  Slot
	mode  Mode
	now   time.Time
	day   civil.Date // of the start, at the location
	clock civil.TimeOfDay
	tried map[tenant.EntryID]struct{}
	ends  map[string]offerEnd // by time zone: all else that an offer's end depends on is the same
	// candidate is the entry that an expression is asked about.
	candidate *Candidate
}

type offerEnd struct {
	at     time.Time
	reason string
}

func (r *Compiled) scene(slot Slot, round Round, now time.Time) *scene {
	zone := place(slot.Zone)
	s := &scene{
		Compiled: r, slot: slot, mode: r.modeFor(slot, now), now: now,
		day: civil.DateOf(slot.StartsAt, zone), clock: civil.TimeOf(slot.StartsAt, zone),
		ends: make(map[string]offerEnd), tried: make(map[tenant.EntryID]struct{}, len(round.Tried)),
	}
	for _, entry := range round.Tried {
		s.tried[entry] = struct{}{}
	}
	return s
}

// unfit tells why an entry is not eligible for a slot, whatever seats are open; empty where it is. The
// checks come in the order in which they are explained.
func (s *scene) unfit(c *Candidate) string {
	if c.Asked {
		return HasOffer
	}
	if reason := s.outside(c.Window); reason != "" {
		return reason
	}
	switch {
	case !c.Coach.IsZero() && c.Coach != s.slot.Coach:
		return OtherStaff
	case s.mode != AutoPromote && s.MaxOffersPerEntry > 0 && c.Tries >= s.MaxOffersPerEntry:
		return MaxOffers
	}
	if _, tried := s.tried[c.Entry]; tried {
		return Tried
	}
	return s.eligible(c)
}

// outside tells why a slot is none that a window wishes for; empty where it is one.
func (s *scene) outside(w *Window) string {
	switch {
	case w == nil:
		return ""
	case w.Service != s.slot.Service:
		return OtherService
	case w.Location != s.slot.Location:
		return OtherLocation
	case !w.Resource.IsZero() && w.Resource != s.slot.Resource:
		return OtherResource
	case s.day.Before(w.From) || s.day.After(w.Until):
		return OtherDate
	case !w.around(s.day, s.clock, s.TimeFlexibility):
		return OtherTime
	}
	return ""
}

// around reports whether a time on one of a window's days is between its times of day, or at most so far from them.
// The clock is a circle, but half past eleven at night is near the window of the next day only: that has to be one
// of the days, too.
func (w *Window) around(day civil.Date, clock civil.TimeOfDay, slack time.Duration) bool {
	const circle = 24 * time.Hour
	at, from, until := clock.SinceMidnight(), w.Earliest.SinceMidnight(), w.Latest.SinceMidnight()
	length := (until - from + circle) % circle
	after := (at - from + circle) % circle
	switch {
	case after <= length:
		return true
	case after-length <= slack && (at > until || day.After(w.From)): // late, by little
		return true
	case circle-after <= slack && (at < from || day.Before(w.Until)): // early, by little
		return true
	}
	return false
}

// offerEnd is OfferUntil for an entry.
func (s *scene) offerEnd(c *Candidate) (time.Time, string) {
	name := c.zone(s.slot)
	end, ok := s.ends[name]
	if !ok {
		end.at, end.reason = s.OfferUntil(s.now, s.slot.Closes, place(name))
		s.ends[name] = end
	}
	return end.at, end.reason
}

// zones are those that were asked for: reading one takes longer than many a decision.
var zones sync.Map // of *time.Location by name

// place is a time zone; UTC where its name says nothing, which no location's does.
func place(name string) *time.Location {
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	zones.Store(name, zone)
	return zone
}
