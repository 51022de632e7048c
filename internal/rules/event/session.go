package event

import (
	"encoding/json"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// sessionTypes are the types of this file but SessionSeatsChanged, which is never stored.
var sessionTypes = []stored{
	as(SessionCreated{}), as(SessionUpdated{}), as(SessionPublished{}), as(SessionUnpublished{}), as(SessionBlocked{}),
	as(SessionUnblocked{}), as(SessionCancelled{Notify: true}), as(SessionDeleted{Notify: true}),
}

// SessionCreated says that a session was created: by itself, with its series, or by an import.
type SessionCreated struct {
	Series tenant.SeriesID `json:"series_id,omitzero"`
	Batch  tenant.BatchID  `json:"batch_id,omitzero"`
	After  SessionFields   `json:"after,omitzero"` // its values, without the description
}

// Type implements Data.
func (SessionCreated) Type() Type { return "session.created" }

// SessionUpdated says that a session was edited.
type SessionUpdated struct {
	Before SessionFields `json:"before,omitzero"`
	After  SessionFields `json:"after,omitzero"`
}

// Type implements Data.
func (SessionUpdated) Type() Type { return "session.updated" }

// SessionFields are the fields that an edit of a session changed.
type SessionFields struct {
	Service          Field[tenant.ServiceID]   `json:"service_id,omitzero"`
	Location         Field[tenant.LocationID]  `json:"location_id,omitzero"`
	Resource         Field[tenant.ResourceID]  `json:"resource_id,omitzero"`
	Coach            Field[tenant.MemberID]    `json:"coach_id,omitzero"`
	Title            Field[string]             `json:"title,omitzero"`
	Description      Field[string]             `json:"description,omitzero"`
	Capacity         Field[int]                `json:"capacity,omitzero"` // null: unlimited
	WaitlistCapacity Field[int]                `json:"waitlist_capacity,omitzero"`
	Start            Field[time.Time]          `json:"start_time,omitzero"`
	End              Field[time.Time]          `json:"end_time,omitzero"`
	State            Field[string]             `json:"state,omitzero"`
	Blocked          Field[bool]               `json:"blocked,omitzero"`
	StateReason      Field[string]             `json:"state_reason,omitzero"`
	Workouts         Field[[]tenant.WorkoutID] `json:"workout_ids,omitzero"`
}

// Field is a field in SessionFields. It is left out of the JSON unless the edit changed it.
type Field[T any] struct {
	Changed bool
	Value   *T // nil: none
}

// Changed returns a field that was changed.
func Changed[T any](value *T) Field[T] { return Field[T]{true, value} }

// IsZero reports whether the field was not changed.
func (f Field[T]) IsZero() bool { return !f.Changed }

// MarshalJSON implements json.Marshaler. No value is null.
func (f Field[T]) MarshalJSON() ([]byte, error) { return json.Marshal(f.Value) }

// UnmarshalJSON implements json.Unmarshaler.
func (f *Field[T]) UnmarshalJSON(text []byte) error {
	f.Changed = true
	return json.Unmarshal(text, &f.Value)
}

// SessionPublished says that a session was published.
type SessionPublished struct {
	Batch tenant.BatchID `json:"batch_id,omitzero"`
}

// Type implements Data.
func (SessionPublished) Type() Type { return "session.published" }

// SessionUnpublished says that a session became a draft again.
type SessionUnpublished struct{}

// Type implements Data.
func (SessionUnpublished) Type() Type { return "session.unpublished" }

// SessionBlocked says that a session was blocked.
type SessionBlocked struct {
	Reason string `json:"reason,omitempty"`
}

// Type implements Data.
func (SessionBlocked) Type() Type { return "session.blocked" }

// SessionUnblocked says that a session was unblocked.
type SessionUnblocked struct{}

// Type implements Data.
func (SessionUnblocked) Type() Type { return "session.unblocked" }

// SessionEnd is what the events say with which a session ends.
type SessionEnd struct {
	Reason string         `json:"reason"`
	Notify bool           `json:"notify"` // those who booked or waited are told
	Batch  tenant.BatchID `json:"batch_id,omitzero"`
}

// SessionCancelled says that a session was cancelled.
type SessionCancelled SessionEnd

// Type implements Data.
func (SessionCancelled) Type() Type { return "session.cancelled" }

// SessionDeleted says that a session was deleted.
type SessionDeleted SessionEnd

// Type implements Data.
func (SessionDeleted) Type() Type { return "session.deleted" }

// SessionSeatsChanged says how many seats of a session are open. It is never stored: streams derive it from other
// events.
type SessionSeatsChanged struct {
	SeatsOpen int `json:"seats_open"`
}

// Type implements Data.
func (SessionSeatsChanged) Type() Type { return "session.seats_changed" }
