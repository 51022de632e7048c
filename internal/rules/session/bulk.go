package session

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strconv"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// Limits of one bulk operation. It is one transaction, which also has the cancellations and events that follow.
const (
	// MaxBulk is the most sessions.
	MaxBulk = 2000
	// maxBulkSeats is the most seats in them: taken, and waited for.
	maxBulkSeats = 10_000
)

// BulkAction is what a bulk operation does with the sessions that a filter selects.
type BulkAction uint8

// The actions.
const (
	BulkPublish BulkAction = iota + 1
	BulkCancel
	BulkDelete
)

// Applicable restricts the filter to the sessions that the action changes.
func (f Filter) Applicable(a BulkAction) Filter {
	switch a {
	case BulkPublish:
		return f.within(catalog.Draft)
	case BulkCancel:
		return f.within(catalog.Draft, catalog.Published)
	default:
		return f
	}
}

// ChangesEnded reports whether the action is one that changes sessions that have ended only if that is meant.
func (a BulkAction) ChangesEnded() bool { return a != BulkPublish }

// Match is a session that a bulk operation changes, as far as the operation depends on it.
type Match struct {
	ID                           tenant.SessionID
	Version, SeatsTaken, Waiting int
}

// Match returns what a bulk operation depends on.
func (s Session) Match() Match { return Match{s.ID, s.Version, s.SeatsTaken, s.Waiting} }

// BulkToken identifies an action on sessions as they are. The sessions are ordered. It is a hash, so that nothing has
// to be stored between a preview and the operation. It guards against mistakes, not against forgery: who forges it
// could as well send none.
func BulkToken(a BulkAction, all []Match) string {
	text := []byte{byte(a)}
	for _, m := range all {
		text = append(text, m.ID.UUID[:]...)
		for _, n := range []int{m.Version, m.SeatsTaken, m.Waiting} {
			text = binary.BigEndian.AppendUint64(text, uint64(n))
		}
	}
	hash := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(hash[:16])
}

// CheckBulkToken rejects a bulk operation that would change other sessions than the preview with the token said.
// Without a token there is nothing to compare.
func CheckBulkToken(token string, a BulkAction, all []Match) error {
	if token != "" && token != BulkToken(a, all) {
		return fault.New(fault.Aborted, fault.ETagMismatch,
			"Other sessions match now, or one has changed. Preview the change again.").WithField("token")
	}
	return nil
}

// CheckBulkSize rejects a bulk operation on more than MaxBulk sessions, or on sessions with more than maxBulkSeats
// seats: BULK_TOO_LARGE.
func CheckBulkSize(all []Session) error {
	seats := 0
	for _, s := range all {
		seats += s.SeatsTaken + s.Waiting
	}
	switch {
	case len(all) > MaxBulk:
		return fault.New(fault.ResourceExhausted, fault.BulkTooLarge,
			"More than %d sessions match. Narrow the filter and work in parts.", MaxBulk).
			WithMetadata("of", "sessions").WithMetadata("limit", strconv.Itoa(MaxBulk))
	case seats > maxBulkSeats:
		return fault.New(fault.ResourceExhausted, fault.BulkTooLarge,
			"The matching sessions have more than %d taken seats and waitlist entries. Narrow the filter and work in parts.",
			maxBulkSeats).
			WithMetadata("of", "seats").WithMetadata("limit", strconv.Itoa(maxBulkSeats))
	default:
		return nil
	}
}
