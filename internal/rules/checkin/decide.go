package checkin

import (
	"math"
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/fault"
)

// Status is the status of a booking, as in the contract.
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

// Method is how a party checked in.
type Method string

// The methods. Members, and staff with a booking of their own, check themselves in by QR or GPS. Only staff use Manual.
const (
	Manual Method = "MANUAL"
	QR     Method = "QR"
	GPS    Method = "GPS"
)

// Delivery says how the session's service is delivered.
type Delivery string

// The deliveries.
const (
	InPerson Delivery = "IN_PERSON"
	Feed     Delivery = "FEED"
)

// Facts are what Decide and Undo need to know.
type Facts struct {
	Status      Status
	CheckedInAt time.Time // of an attended booking
	Method      Method    // of an attended booking

	Starts, Ends     time.Time
	SessionCancelled bool // or deleted
	Delivery         Delivery

	// Place is the position of the location; nil if it is unknown.
	Place *Point
	// GPSMaxMeters is the radius for check-in by GPS, in meters. Zero or less forbids it.
	GPSMaxMeters float64

	Window Window
	// Staff: the caller is staff.
	Staff bool
}

// Command is a request to check in. The caller has verified a QR code before, with Keys.VerifyQR.
type Command struct {
	Method Method
	// Point is the position that the caller's device reports, for GPS only. The accuracy that devices report is
	// ignored: the caller could claim a poor one to widen the radius.
	Point Point
}

// Plan is the state of the booking after the request.
type Plan struct {
	Status Status
	// CheckedInAt and Method are those of the first check-in; zero after Undo.
	CheckedInAt time.Time
	Method      Method
	// Already: the booking is in this state and there is nothing to write. Checking in twice is harmless.
	Already bool
}

// Decide checks a party in. The errors are PERMISSION_DENIED, NOT_CONFIRMED, SESSION_NOT_OPEN, CHECKIN_WINDOW,
// GPS_NOT_AVAILABLE, GPS_TOO_FAR, and INVALID_FIELD for a position or method that does not exist.
func Decide(f Facts, c Command, now time.Time) (Plan, error) {
	if c.Method == Manual && !f.Staff {
		return Plan{}, fault.New(fault.PermissionDenied, fault.Denied, "Only staff can check in others.")
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
	if err := checkWindow(f, c.Method, now); err != nil {
		return Plan{}, err
	}
	switch c.Method {
	case Manual, QR:
	case GPS:
		if err := checkDistance(f, c.Point); err != nil {
			return Plan{}, err
		}
	default:
		return Plan{}, fault.Invalid("method", "There is no check-in method %q.", string(c.Method))
	}
	return Plan{Status: Attended, CheckedInAt: now, Method: c.Method}, nil
}

// Undo reverts a check-in: the booking is confirmed again. A confirmed booking stays as it is. Any other is an error:
// NOT_CONFIRMED. Only staff undo, at any time.
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

func checkWindow(f Facts, method Method, now time.Time) error {
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

func checkDistance(f Facts, at Point) error {
	if f.Delivery == Feed || f.Place == nil || !f.Place.Valid() || !(f.GPSMaxMeters > 0) {
		return fault.New(fault.FailedPrecondition, fault.GPSNotAvailable,
			"Check-in by GPS is not available for this session.")
	}
	distance, err := Distance(*f.Place, at)
	if err != nil {
		return err
	}
	if distance > f.GPSMaxMeters {
		// Rounded up, so that the distance never reads as within the radius.
		return fault.New(fault.FailedPrecondition, fault.GPSTooFar, "Too far from the location to check in.").
			With("distance_meters", strconv.FormatFloat(math.Ceil(distance), 'f', 0, 64)).
			With("max_meters", strconv.FormatFloat(math.Floor(f.GPSMaxMeters), 'f', 0, 64))
	}
	return nil
}
