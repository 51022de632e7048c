package waitlist

import (
	"slices"
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
	// Closes is until when a waiting entry can get a seat.
	Closes time.Time `json:"closes"`
	// Opens is when members can first book it. Until then no entry gets a seat.
	Opens time.Time `json:"opens,omitzero"`
	Zone  string    `json:"zone"`            // IANA, of the location
	Seats *int      `json:"seats,omitempty"` // open, and for entries; nil is unlimited
	// Open are all open seats, if fewer than these are for entries: at the opening.
	Open *int `json:"open,omitempty"`

	// Names for expressions.
	ServiceName  string `json:"service_name,omitempty"`
	LocationName string `json:"location_name,omitempty"`
}

// forEntries returns the slot with the seats that entries can get: at the opening at most half of those that are open,
// rounded up, and in the round of an opening never more than that.
func (s Slot) forEntries(trigger Trigger, round *Round) Slot {
	var most int
	switch {
	case s.Seats == nil:
		return s
	case trigger == ByOpening:
		most = (*s.Seats + 1) / 2
	case round != nil && round.Opening:
		most = max(round.Freed-round.Given, 0)
	default:
		return s
	}
	s.Open, s.Seats = s.Seats, new(min(*s.Seats, most))
	return s
}

// Candidate is an entry as Decide sees it.
type Candidate struct {
	Entry   tenant.EntryID  `json:"entry"`
	Member  tenant.MemberID `json:"member"`
	Party   int             `json:"party"`
	Window  *Window         `json:"window,omitempty"` // nil: the entry names the session
	Coach   tenant.MemberID `json:"coach,omitzero"`
	Tier    string          `json:"tier,omitempty"`
	Tags    []string        `json:"tags,omitempty"`
	Zone    string          `json:"zone,omitempty"` // IANA, the member's; empty is the location's
	Joined  time.Time       `json:"joined"`
	Key     int64           `json:"key"`
	Flagged bool            `json:"flagged,omitempty"`
	Score   *int            `json:"score,omitempty"` // set by staff
	Tries   int             `json:"tries,omitempty"`
	Asked   bool            `json:"asked,omitempty"` // has a live offer
	// Check is what was found out about its booking. It is empty if that was not checked.
	Check
	// CancellationWindow is the member's in this session.
	CancellationWindow time.Duration `json:"cancellation_window,omitempty"`
}

// Check is what is known about the booking that an entry could get.
type Check struct {
	Refusal VerdictReason `json:"refusal,omitempty"` // why it would be refused; empty: it would not be
	// Busy: the member has another booking at that time, whether or not a plan forbids that.
	Busy bool `json:"busy,omitempty"`
	// Promoted: the member was promoted to another session of the same local day.
	Promoted bool `json:"promoted,omitempty"`
}

// Candidate returns the entry as a candidate.
func (e Entry) Candidate() Candidate {
	return Candidate{
		Entry: e.ID, Member: e.Member, Party: e.Party, Window: e.Window, Coach: e.Coach, Tier: e.MemberTier,
		Tags: e.MemberTags,
		Zone: e.MemberZone, Joined: e.CreatedAt, Key: e.Key, Flagged: e.Flagged, Score: e.Score, Tries: e.Tries,
		Asked: e.Status == Offered,
	}
}

// scene holds what is the same for all entries of a decision, computed once.
type scene struct {
	*CompiledRules
	slot  Slot
	mode  Mode
	now   time.Time
	day   civil.Date // of the start, in the location's zone
	clock civil.TimeOfDay
	tried map[tenant.EntryID]struct{}
	round Round
	ends  map[string]offerEnd // by time zone, the only thing that an offer's end depends on here
	// candidate is the entry of the expression that runs.
	candidate *Candidate
}

type offerEnd struct {
	at     time.Time
	reason VerdictReason
}

func (c *CompiledRules) scene(slot Slot, round Round, now time.Time) *scene {
	zone := loadZone(slot.Zone)
	s := &scene{
		CompiledRules: c, slot: slot, mode: c.modeFor(slot), now: now, round: round,
		day: civil.DateOf(slot.StartsAt, zone), clock: civil.TimeOf(slot.StartsAt, zone),
		ends: make(map[string]offerEnd), tried: make(map[tenant.EntryID]struct{}, len(round.Tried)),
	}
	for _, entry := range round.Tried {
		s.tried[entry] = struct{}{}
	}
	return s
}

// ineligible returns why an entry cannot get seats of the slot, however many are open, or "" if it can. The order of
// the checks is the order in which reasons are explained.
func (s *scene) ineligible(c *Candidate) VerdictReason {
	if c.Asked {
		return HasOffer
	}
	if reason := s.mismatch(c.Window); reason != "" {
		return reason
	}
	switch {
	case !c.Coach.IsZero() && c.Coach != s.slot.Coach:
		return OtherStaff
	case s.MaxOffersPerEntry > 0 && c.Tries >= s.MaxOffersPerEntry && !s.promotes(c):
		return MaxOffers
	}
	if _, tried := s.tried[c.Entry]; tried {
		return AlreadyOffered
	}
	if slices.Contains(s.round.GaveUp, c.Member) || slices.Contains(s.round.Declined, c.Member) {
		return GaveUp
	}
	return s.eligible(c)
}

// mismatch returns why a slot does not match a window, or "" if it does.
func (s *scene) mismatch(w *Window) VerdictReason {
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
	case !w.matchesTime(s.day, s.clock, s.TimeFlexibility):
		return OtherTime
	}
	return ""
}

// offerEnd returns OfferUntil for an entry.
func (s *scene) offerEnd(c *Candidate) (time.Time, VerdictReason) {
	name := c.zone(s.slot)
	end, ok := s.ends[name]
	if !ok {
		end.at, end.reason = s.OfferUntil(s.now, s.slot.Closes, loadZone(name))
		s.ends[name] = end
	}
	return end.at, end.reason
}

// zones caches time zones: loading one takes longer than most decisions.
var zones sync.Map

// loadZone returns a time zone, or UTC if the name is unknown, which is never so for a location.
func loadZone(name string) *time.Location {
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
