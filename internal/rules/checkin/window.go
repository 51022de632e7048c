// Package checkin decides whether a party may be marked as arrived, and makes
// and checks the signed texts that prove where a check-in was asked for.
package checkin

import "time"

// Window is when members may check themselves in, relative to a session.
type Window struct {
	// OpensBefore is how long before the session's start check-in opens.
	OpensBefore time.Duration
	// ClosesAfterEnd is how long after the session's end it closes.
	ClosesAfterEnd time.Duration
}

// DefaultWindow opens an hour before the start, for those who come early to
// change or warm up, and closes half an hour after the end, so that whoever
// forgot the wall on the way in finds it on the way out.
var DefaultWindow = Window{OpensBefore: time.Hour, ClosesAfterEnd: 30 * time.Minute}

// StaffOpensBefore is how long before the start staff may check someone in: the
// front desk marks early arrivals and works through tomorrow's first class the
// night before, while a slip in the calendar cannot mark next week's. Staff
// have no closing time, so that attendance can be put right after the class.
const StaffOpensBefore = 24 * time.Hour

// Opens gives the first instant of the window.
func (w Window) Opens(starts time.Time) time.Time { return starts.Add(-w.OpensBefore) }

// Closes gives the first instant after the window.
func (w Window) Closes(ends time.Time) time.Time { return ends.Add(w.ClosesAfterEnd) }

// Open reports whether members may check themselves in now.
func (w Window) Open(starts, ends, now time.Time) bool {
	return !now.Before(w.Opens(starts)) && now.Before(w.Closes(ends))
}

// OpensForStaff gives the first instant at which staff may check someone in:
// StaffOpensBefore the start, or with the members' window if that opens sooner.
func (w Window) OpensForStaff(starts time.Time) time.Time {
	return starts.Add(-max(w.OpensBefore, StaffOpensBefore))
}

// Absent gives the instant from which a party that has not checked in did not come:
// so long after the session's end, but never while members still may check in.
func (w Window) Absent(ends time.Time, after time.Duration) time.Time {
	return ends.Add(max(after, w.ClosesAfterEnd))
}
