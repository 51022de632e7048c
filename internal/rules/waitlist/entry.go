// Package waitlist decides who gets a freed place, and can say why.
package waitlist

import (
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// Status is where an entry is in its life.
type Status string

// The statuses.
const (
	Waiting   Status = "WAITING"
	Offered   Status = "OFFERED"
	Booked    Status = "BOOKED"
	Cancelled Status = "CANCELLED"
	Expired   Status = "EXPIRED"
)

// Active reports whether an entry stands in a queue.
func (s Status) Active() bool { return s == Waiting || s == Offered }

// Entry is a wish for a place: in one session, in any one of several, or in a window.
type Entry struct {
	ID      tenant.EntryID
	Member  tenant.MemberID
	Session tenant.SessionID // the one it wishes for; zero where it is any one of several
	AnyOf   []tenant.SessionID
	Window  *Window
	Coach   tenant.MemberID // nobody else's sessions; zero: anybody's
	Party   int
	Status  Status
	// Key orders entries as they joined. Staff who move an entry give it another.
	Key          int64
	Flagged      bool // by staff: before all others
	Score        *int // given by staff instead of the computed one
	Tries        int  // offers that it has had
	Subscription tenant.SubscriptionID
	Channel      catalog.Channel
	ByStaff      bool
	ExternalRef  string
	RequestHash  []byte
	Note         string
	Booking      tenant.BookingID // where it got a place
	PassedOver   string           // the reason for which a freed seat last passed it by
	CreatedBy    string
	CreatedAt    time.Time
	ClosedAt     *time.Time

	// Read along for those who look at it; not part of its own row.
	Position      int   // where it stands best, from 1; 0 when it no longer waits
	Worth         Worth // there
	MemberName    string
	MemberTier    string
	MemberTags    []string
	MemberZone    string // IANA; empty: the location's
	MemberActive  bool
	SessionTitle  string
	SessionStarts time.Time
	TimeZone      string
	Offer         *Offer // the live one
}

// Window is a wish for any session of a service at a location, in a span of days, that starts at a time of day.
type Window struct {
	Service  tenant.ServiceID  `json:"service"`
	Location tenant.LocationID `json:"location"`
	Resource tenant.ResourceID `json:"resource,omitzero"` // zero: any
	// From and Until are days at the location, both included.
	From  civil.Date `json:"from"`
	Until civil.Date `json:"until"`
	// Earliest and Latest are times of day at the location, both included. Where Latest is before
	// Earliest the span goes over midnight.
	Earliest civil.TimeOfDay `json:"earliest"`
	Latest   civil.TimeOfDay `json:"latest"`
}

// MaxWindow bounds how many days a window may span.
const MaxWindow = 60

// Queue is where entries stand in line: those for sessions of a service at a location on a day.
type Queue struct {
	Location tenant.LocationID
	Service  tenant.ServiceID
	Date     civil.Date
}

// Queues are those in which a wish for a window stands, a day each.
func (w Window) Queues() []Queue {
	var all []Queue
	for day := w.From; !day.After(w.Until); day = day.AddDays(1) {
		all = append(all, Queue{Location: w.Location, Service: w.Service, Date: day})
	}
	return all
}

// NextKey is the key of an entry that joins at now behind all that have joined: behind last, whatever the clocks of
// two nodes say.
func NextKey(now time.Time, last int64) int64 {
	// Microseconds leave room between neighbours for those that staff move.
	return max(now.UnixMicro()<<keyRoom, last+1<<keyRoom)
}

const keyRoom = 10 // bits

// QueueSize is how many entries are in a queue, and the greatest key ever given there.
type QueueSize struct {
	Queue   Queue
	Waiting int
	LastKey int64
}

// Join puts an entry behind all others of its queues. Sizes are those of the queues that exist. Errors:
// WAITLIST_CLOSED, WAITLIST_FULL.
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

// Overlaps reports whether two windows of the same service and location share a day.
func (w Window) Overlaps(o Window) bool { return !o.From.After(w.Until) && !o.Until.Before(w.From) }
