package checkin

import (
	"math"
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/fault"
)

// Status is a booking's, as the contract names it.
type Status string

// The booking statuses.
const (
	Pending   Status = "PENDING"
	Confirmed Status = "CONFIRMED"
	Attended  Status = "ATTENDED"
	NoShow    Status = "NO_SHOW"
	Cancelled Status = "CANCELLED"
	Expired   Status = "EXPIRED"
)

// Method is how a party was checked in.
type Method string

// The methods. By QR and Member check themselves in, staff included; Manual is
// staff's alone.
const (
	Manual Method = "MANUAL"
	QR     Method = "QR"
	GPS    Method = "GPS"
)

// Delivery is how the session's service reaches people.
type Delivery string

// The deliveries.
const (
	InPerson Delivery = "IN_PERSON"
	Feed     Delivery = "FEED"
)

// Facts is what a check-in depends on.
type Facts struct {
	Status      Status
	CheckedInAt time.Time // of an attended booking
	Method      Method    // of an attended booking

	Starts, Ends     time.Time
	SessionCancelled bool // or deleted
	Delivery         Delivery

	// Place is the location's; nil where it has none.
	Place *Point
	// GPSMaxMeters is the radius within which members may check in by GPS; not
	// above zero where the policy forbids it.
	GPSMaxMeters float64

	Window Window
	// Staff tells that the caller is staff.
	Staff bool
}

// Command asks for a check-in. A QR code is verified, by Keys.VerifyQR, before.
type Command struct {
	Method Method
	// Point is where the caller's device says it is; for GPS only. The accuracy
	// that devices report is not asked for: it is the caller's word, and a fix
	// claimed to be vague must not widen the radius.
	Point Point
}

// Plan is what the booking becomes.
type Plan struct {
	Status Status
	// CheckedInAt and Method are those of the first check-in; zero when it is undone.
	CheckedInAt time.Time
	Method      Method
	// Already tells that the booking is in that state and nothing is to be
	// written. Checking in twice is harmless.
	Already bool
}

// Decide checks a party in. It refuses with PERMISSION_DENIED, NOT_CONFIRMED,
// SESSION_NOT_OPEN, CHECKIN_WINDOW, GPS_NOT_AVAILABLE, GPS_TOO_FAR, or
// INVALID_FIELD for a point or a method that there is not.
func Decide(f Facts, c Command, now time.Time) (Plan, error) {
	if c.Method == Manual && !f.Staff {
		return Plan{}, fault.New(fault.PermissionDenied, fault.Denied, "Only staff check in by hand.")
	}
	if f.Status == Attended {
		return Plan{Status: Attended, CheckedInAt: f.CheckedInAt, Method: f.Method, Already: true}, nil
	}
	if f.Status != Confirmed {
		return Plan{}, notConfirmed(f.Status)
	}
	if f.SessionCancelled {
		return Plan{}, fault.New(fault.FailedPrecondition, fault.SessionNotOpen, "The session is cancelled.")
	}
	if err := inWindow(f, c.Method, now); err != nil {
		return Plan{}, err
	}
	switch c.Method {
	case Manual, QR:
	case GPS:
		if err := near(f, c.Point); err != nil {
			return Plan{}, err
		}
	default:
		return Plan{}, fault.Invalid("method", "There is no check-in method %q.", string(c.Method))
	}
	return Plan{Status: Attended, CheckedInAt: now, Method: c.Method}, nil
}

// Undo takes a check-in back: the booking is confirmed again. For one that is
// merely confirmed nothing is to be done; any other is refused with
// NOT_CONFIRMED. Undoing is staff's, at any time.
func Undo(f Facts) (Plan, error) {
	switch f.Status {
	case Attended:
		return Plan{Status: Confirmed}, nil
	case Confirmed:
		return Plan{Status: Confirmed, Already: true}, nil
	default:
		return Plan{}, notConfirmed(f.Status)
	}
}

func notConfirmed(s Status) error {
	return fault.New(fault.FailedPrecondition, fault.NotConfirmed, "There is no confirmed booking to check in.").
		With("status", string(s))
}

func inWindow(f Facts, method Method, now time.Time) error {
	opens := f.Window.Opens(f.Starts)
	if method == Manual {
		if opens = f.Window.OpensForStaff(f.Starts); !now.Before(opens) {
			return nil
		}
	} else if f.Window.Open(f.Starts, f.Ends, now) {
		return nil
	}
	refusal := fault.New(fault.FailedPrecondition, fault.CheckInWindow, "Check-in is not open for this session.").
		With("opens_at", opens.UTC().Format(time.RFC3339))
	if method != Manual {
		refusal = refusal.With("closes_at", f.Window.Closes(f.Ends).UTC().Format(time.RFC3339))
	}
	return refusal
}

func near(f Facts, at Point) error {
	unavailable := fault.New(fault.FailedPrecondition, fault.GPSNotAvailable, "Check-in by GPS is not available for this session.")
	if f.Delivery == Feed || f.Place == nil || !f.Place.Valid() || !(f.GPSMaxMeters > 0) {
		return unavailable
	}
	distance, err := Distance(*f.Place, at)
	if err != nil {
		return err
	}
	if distance > f.GPSMaxMeters {
		// Rounded up, so that what is too far never reads as near enough.
		return fault.New(fault.FailedPrecondition, fault.GPSTooFar, "Too far from the location to check in.").
			With("distance_meters", strconv.FormatFloat(math.Ceil(distance), 'f', 0, 64)).
			With("max_meters", strconv.FormatFloat(math.Floor(f.GPSMaxMeters), 'f', 0, 64))
	}
	return nil
}
