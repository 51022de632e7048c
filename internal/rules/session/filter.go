package session

import (
	"slices"
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// Filter chooses sessions. All that is set must hold; a nil list means any, an empty
// one that is not nil means none. Sessions that are deleted are never chosen.
type Filter struct {
	From      time.Time              `json:"starts_from,omitzero"` // of the start; zero: ever
	Until     time.Time              `json:"starts_until,omitzero"`
	Locations []tenant.LocationID    `json:"location_ids,omitempty"`
	Services  []tenant.ServiceID     `json:"service_ids,omitempty"`
	Resources []tenant.ResourceID    `json:"resource_ids,omitempty"`
	Coaches   []tenant.MemberID      `json:"coach_ids,omitempty"`
	States    []catalog.SessionState `json:"states,omitempty"`
	Series    tenant.SeriesID        `json:"series_id,omitzero"`
	Sessions  []tenant.SessionID     `json:"session_ids,omitempty"`
}

// Drafts narrows the filter to drafts, whatever states it named: nothing else can
// be published.
func (f Filter) Drafts() Filter {
	f.States = []catalog.SessionState{catalog.Draft}
	return f
}

// Visible narrows the filter to what those who are not staff may see.
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

// Bearable refuses a bulk operation that would reach more than MaxBulk sessions or MaxPlaces in them.
func Bearable(all []Session) error {
	places := 0
	for _, s := range all {
		places += s.SeatsTaken + s.Waiting
	}
	switch {
	case len(all) > MaxBulk:
		return fault.Invalid("filter", "More than %d sessions match: narrow the filter and go on in parts.", MaxBulk).
			With("limit", strconv.Itoa(MaxBulk))
	case places > MaxPlaces:
		return fault.Invalid("filter", "More than %d places are taken in the sessions that match: narrow the filter and go on in parts.", MaxPlaces).
			With("limit", strconv.Itoa(MaxPlaces))
	default:
		return nil
	}
}
