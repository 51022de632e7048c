package waitlist

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// Window accepts any session of a service at a location, on a range of days, that starts in a range of times of day.
type Window struct {
	Service  tenant.ServiceID  `json:"service"`
	Location tenant.LocationID `json:"location"`
	Resource tenant.ResourceID `json:"resource,omitzero"` // zero is any
	// From and Until are days at the location, both inclusive.
	From  civil.Date `json:"from"`
	Until civil.Date `json:"until"`
	// Earliest and Latest are times of day at the location, both inclusive. If Latest is before Earliest, the range
	// crosses midnight.
	Earliest civil.TimeOfDay `json:"earliest"`
	Latest   civil.TimeOfDay `json:"latest"`
}

// MaxWindow is the maximum number of days in a window.
const MaxWindow = 60

// Queues returns the queues of a window, one for each day.
func (w Window) Queues() []Queue {
	var all []Queue
	for day := w.From; !day.After(w.Until); day = day.AddDays(1) {
		all = append(all, Queue{Location: w.Location, Service: w.Service, Date: day})
	}
	return all
}

// Overlaps reports whether two windows of the same service and location share a day.
func (w Window) Overlaps(o Window) bool { return !o.From.After(w.Until) && !o.Until.Before(w.From) }

// WindowFacts are what JoinWindow needs to know.
type WindowFacts struct {
	Today              civil.Date        // at the location
	MinParty, MaxParty int               // of the service
	Channels           []catalog.Channel // that the location takes bookings through
	Others             []Entry           // the member's active entries for windows of the service at the location
	May                tenant.Permissions
}

// JoinWindow decides whether an entry may wait for its time window. If the window's start has passed, it moves to
// today. Errors: INVALID_FIELD, PARTY_SIZE, CHANNEL_CLOSED, PERMISSION_DENIED (a channel of staff), ALREADY_BOOKED.
func JoinWindow(e Entry, f WindowFacts) (Entry, error) {
	w := *e.Window // a copy, because the transaction may run again with the same request
	e.Window = &w
	switch {
	case w.Until.Before(w.From):
		return e, fault.Invalid("window.last_date", "The last day is before the first.")
	case w.Until.Before(f.Today):
		return e, fault.Invalid("window.last_date", "The window has passed.")
	case w.Until.DaysSince(w.From) >= MaxWindow:
		return e, fault.Invalid("window.last_date", "A window spans at most %d days.", MaxWindow)
	}
	if err := catalog.CheckParty(e.Party, f.MinParty, f.MaxParty); err != nil {
		return e, err
	}
	if err := e.Channel.CheckStaff(catalog.CreateForOthers, f.May); err != nil {
		return e, err
	}
	if !slices.Contains(f.Channels, e.Channel) {
		return e, fault.New(fault.FailedPrecondition, fault.ChannelClosed,
			"The location takes no wishes through %s.", e.Channel).
			WithMetadata("channel", string(e.Channel)).WithField("channel")
	}
	if w.From.Before(f.Today) {
		w.From = f.Today
	}
	for _, other := range f.Others {
		if o := other.Window; o.Overlaps(w) && o.Resource == w.Resource && other.Coach == e.Coach {
			return e, catalog.AlreadyBooked(e.Member, tenant.BookingID{}, other.ID)
		}
	}
	return e, nil
}

// CheckNoSeats rejects an entry if it wants one of these slots, which have open seats for its party, and can be booked
// now: SEATS_AVAILABLE.
func (e Entry) CheckNoSeats(open []Slot, now time.Time) error {
	for _, slot := range open {
		if now.Before(slot.Closes) && !now.Before(slot.Opens) && e.Wants(slot) {
			return catalog.SeatsAvailable(slot.Session)
		}
	}
	return nil
}

// Wants reports whether a slot exactly matches an entry, without the time flexibility that rules may allow.
func (e Entry) Wants(slot Slot) bool {
	exact := (&CompiledRules{}).scene(slot, Round{}, slot.StartsAt)
	return exact.mismatch(e.Window) == "" && (e.Coach.IsZero() || e.Coach == slot.Coach)
}

// GotBy reports whether who books a slot has what an entry waits for: one of the sessions that it names, or one within
// the exact hours of its time window.
func (e Entry) GotBy(slot Slot) bool {
	if e.Window == nil {
		return e.Session == slot.Session || slices.Contains(e.AnyOf, slot.Session)
	}
	return e.Wants(slot)
}

// matchesTime reports whether a time on one of the window's days is within its times of day, or within slack of them.
// Times are on a circle of 24 hours, but half past eleven at night is only close to the window of the next day, which
// has to be one of the window's days.
func (w *Window) matchesTime(day civil.Date, clock civil.TimeOfDay, slack time.Duration) bool {
	const circle = 24 * time.Hour
	at, from, until := clock.SinceMidnight(), w.Earliest.SinceMidnight(), w.Latest.SinceMidnight()
	length := (until - from + circle) % circle
	after := (at - from + circle) % circle
	switch {
	case after <= length:
		return true
	case after-length <= slack && (at > until || day.After(w.From)): // slightly late
		return true
	case circle-after <= slack && (at < from || day.Before(w.Until)): // slightly early
		return true
	}
	return false
}
