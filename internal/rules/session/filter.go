package session

import (
	"slices"
	"time"

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

// within restricts the filter to some states.
func (f Filter) within(states ...catalog.SessionState) Filter {
	f.States = slices.DeleteFunc(states, func(state catalog.SessionState) bool {
		return f.States != nil && !slices.Contains(f.States, state)
	})
	return f
}

// ReadDrafts is the permission to see drafts.
const ReadDrafts = "session.read_drafts"

// Visible restricts the filter to the states that a caller with these permissions can see.
func (f Filter) Visible(may tenant.Permissions) Filter {
	if may[ReadDrafts] {
		return f
	}
	return f.within(catalog.Published, catalog.Cancelled)
}

// VisibleTo is Filter.Visible for one session.
func (s Session) VisibleTo(may tenant.Permissions) bool {
	return may[ReadDrafts] || s.State != catalog.Draft
}
