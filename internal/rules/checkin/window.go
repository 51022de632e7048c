// Package checkin decides whether a party can check in. It signs and verifies the QR codes that prove that a member is
// at the location, and the links of the displays that show them.
package checkin

import "time"

// Window is when members may check themselves in, relative to a session.
type Window struct {
	// OpensBefore is how long before the session's start check-in opens. By default an hour, for those who come early
	// to change or warm up.
	OpensBefore time.Duration
	// ClosesAfterEnd is how long after the session's end it closes. By default half an hour, so that members who forgot
	// to check in on the way in can do so on the way out.
	ClosesAfterEnd time.Duration
	// NoShowAfterStart is how long after the start it closes instead, because who has not come by then is a no-show. 0:
	// nobody is a no-show before the end.
	NoShowAfterStart time.Duration
}

// StaffOpensBefore is how long before the start staff can check in others. It lets the front desk mark early arrivals
// and prepare tomorrow's first class the night before, but not next week's class by mistake. For staff check-in never
// closes, so that they can correct attendance after the class.
const StaffOpensBefore = 24 * time.Hour

// Opens returns the first instant of the window.
func (w Window) Opens(starts time.Time) time.Time { return starts.Add(-w.OpensBefore) }

// Closes returns the first instant after the window.
func (w Window) Closes(starts, ends time.Time) time.Time {
	closes := ends.Add(w.ClosesAfterEnd)
	if at := starts.Add(w.NoShowAfterStart); w.NoShowAfterStart > 0 && at.Before(closes) {
		return at
	}
	return closes
}

// Open reports whether members may check themselves in now.
func (w Window) Open(starts, ends, now time.Time) bool {
	return !now.Before(w.Opens(starts)) && now.Before(w.Closes(starts, ends))
}

// OpensForStaff returns the first instant at which staff can check in others: StaffOpensBefore the start, or when the
// members' window opens if that is earlier.
func (w Window) OpensForStaff(starts time.Time) time.Time {
	return starts.Add(-max(w.OpensBefore, StaffOpensBefore))
}

// NoShowFrom returns the instant from which a party that has not checked in is a no-show: NoShowAfterStart, or else the
// given time after the session's end, but never while members can still check in.
func (w Window) NoShowFrom(starts, ends time.Time, after time.Duration) time.Time {
	if w.NoShowAfterStart > 0 {
		return starts.Add(w.NoShowAfterStart)
	}
	return ends.Add(max(after, w.ClosesAfterEnd))
}
