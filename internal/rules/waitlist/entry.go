// Package waitlist decides which entries get freed seats, and explains its decisions.
package waitlist

import (
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// Status is the status of an entry.
type Status string

// The statuses.
const (
	Waiting   Status = "WAITING"
	Offered   Status = "OFFERED"
	Booked    Status = "BOOKED"
	Cancelled Status = "CANCELLED"
	Expired   Status = "EXPIRED"
)

// Active reports whether an entry is in a queue.
func (s Status) Active() bool { return s == Waiting || s == Offered }

// wrongState means that an entry has another status than an operation needs: WAITLIST_ENTRY_STATE.
func wrongState(e Entry, message string) *fault.Error {
	return fault.New(
		fault.FailedPrecondition, fault.WaitlistEntryState, "%s", message,
	).WithMetadata("status", string(e.Status))
}

// CheckActive rejects an entry that is in no queue any more: WAITLIST_ENTRY_STATE.
func (e Entry) CheckActive() error {
	if !e.Status.Active() {
		return wrongState(e, "The entry no longer waits.")
	}
	return nil
}

// Entry is a request for seats: in one session, in any one of several, or in a time window.
type Entry struct {
	ID      tenant.EntryID
	Member  tenant.MemberID
	Session tenant.SessionID // the session that it names; zero if it names several or a window
	AnyOf   []tenant.SessionID
	Window  *Window
	Coach   tenant.MemberID // only sessions of this coach; zero is any
	Party   int
	Status  Status
	// Key orders entries by the time of joining. Staff who move an entry change it.
	Key          int64
	Flagged      bool // by staff: sorts before all others
	Score        *int // set by staff, instead of the computed one
	Tries        int  // number of offers so far
	Subscription tenant.SubscriptionID
	Channel      catalog.Channel
	ByStaff      bool
	ExternalRef  string
	RequestHash  []byte
	Note         string
	Booking      tenant.BookingID // the booking that it got
	PassedOver   VerdictReason    // why it was last skipped when a seat was freed
	CreatedBy    string
	CreatedAt    time.Time
	ClosedAt     *time.Time

	// Details for display. They are not columns of the entry.
	Position     int     // the best one, from 1; 0 if it does not wait any more
	Scoring      Scoring `json:"Worth"` // at that position; stored answers of idempotency keys have this name
	Mode         Mode    // what it would get now: see ModeNow
	MemberName   string
	MemberTier   string
	MemberTags   []string
	MemberZone   string // IANA; empty is the location's
	MemberActive bool
	Sessions     []catalog.SessionSummary // those that it names, in its order
	Offer        *Offer                   // the live one
}

// Queue identifies a queue: the entries for sessions of a service at a location on a day.
type Queue struct {
	Location tenant.LocationID
	Service  tenant.ServiceID
	Date     civil.Date
}

// NextKey returns the key of an entry that joins at now, after the entry with the key last. It is greater than last
// even if the clocks of two nodes differ.
func NextKey(now time.Time, last int64) int64 {
	// Microseconds leave room between neighbors for entries that staff move.
	return max(now.UnixMicro()<<keyRoom, last+1<<keyRoom)
}

const keyRoom = 10 // bits

// QueueSize is the number of entries in a queue, and the greatest key that was ever assigned in it.
type QueueSize struct {
	Queue   Queue
	Waiting int
	LastKey int64
}

// Join adds an entry to the end of its queues. Sizes are those of the queues that exist. Errors: WAITLIST_CLOSED,
// WAITLIST_FULL.
func Join(e Entry, queues []Queue, sizes []QueueSize, rules func(Queue) Rules, now time.Time) (Entry, error) {
	var last int64
	waiting := make(map[Queue]int)
	for _, s := range sizes {
		last, waiting[s.Queue] = max(last, s.LastKey), s.Waiting
	}
	for _, q := range queues {
		if err := rules(q).Admits(waiting[q], q.Date); err != nil {
			return e, err
		}
	}
	e.Status, e.Key, e.CreatedAt = Waiting, NextKey(now, last), now
	return e, nil
}
