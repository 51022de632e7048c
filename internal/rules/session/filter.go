package session

import (
	"slices"
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// Filter selects sessions. All fields that are set must match. A nil list matches all sessions, an empty list matches
// none. Deleted sessions never match.
type Filter struct {
	From      time.Time              `json:"starts_from,omitzero"`  // earliest start; zero: no limit
	Until     time.Time              `json:"starts_until,omitzero"` // starts before it; zero: no limit
	Locations []tenant.LocationID    `json:"location_ids,omitempty"`
	Services  []tenant.ServiceID     `json:"service_ids,omitempty"`
	Resources []tenant.ResourceID    `json:"resource_ids,omitempty"`
	Coaches   []tenant.MemberID      `json:"coach_ids,omitempty"`
	States    []catalog.SessionState `json:"states,omitempty"`
	Series    tenant.SeriesID        `json:"series_id,omitzero"`
	Sessions  []tenant.SessionID     `json:"session_ids,omitempty"`
}

// Drafts restricts the filter to drafts, whatever its states, because only drafts can be published.
func (f Filter) Drafts() Filter {
	f.States = []catalog.SessionState{catalog.Draft}
	return f
}

// Visible restricts the filter to the states that the caller can see.
func (f Filter) Visible(staff bool) Filter {
	if staff {
		return f
	}
	visible := []catalog.SessionState{}
	for _, state := range []catalog.SessionState{catalog.Published, catalog.Cancelled} {
		if f.States == nil || slices.Contains(f.States, state) {
			visible = append(visible, state)
		}
	}
	f.States = visible
	return f
}

// VisibleTo is Filter.Visible for one session.
func (s Session) VisibleTo(staff bool) bool { return staff || s.State != catalog.Draft }

// CheckBulkSize rejects a bulk operation on more than MaxBulk sessions, or on sessions with more than maxBulkSeats
// seats.
func CheckBulkSize(all []Session) error {
	seats := 0
	for _, s := range all {
		seats += s.SeatsTaken + s.Waiting
	}
	switch {
	case len(all) > MaxBulk:
		return fault.Invalid("filter", "More than %d sessions match. Narrow the filter and work in parts.", MaxBulk).
			WithMetadata("limit", strconv.Itoa(MaxBulk))
	case seats > maxBulkSeats:
		return fault.Invalid("filter",
			"The matching sessions have more than %d taken seats and waitlist entries. Narrow the filter and work in parts.",
			maxBulkSeats).
			WithMetadata("limit", strconv.Itoa(maxBulkSeats))
	default:
		return nil
	}
}
