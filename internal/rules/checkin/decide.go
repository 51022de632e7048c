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
	Status      Status    // empty: there is no booking
	CheckedInAt time.Time // of an attended booking
	Method      Method    // of an attended booking

	Starts, Ends     time.Time
	SessionCancelled bool // or deleted
	Delivery         Delivery

	// Location is the position of the location; nil if it is unknown.
	Location *Point
	// GPSMaxMeters is the radius for check-in by GPS, in meters. Zero or less forbids it.
	GPSMaxMeters float64
	// RequiresQR: a position alone is not enough.
	RequiresQR bool

	Window Window
	// Staff: the caller is staff.
	Staff bool
}

// Request is a request to check in. The caller has verified a QR code before, with Keys.VerifyQR.
type Request struct {
	Method Method
	// Position is what the caller's device reports, for GPS only.
	Position Position
}

// Proof proves that a member is at the location: exactly one of its fields is set.
type Proof struct {
	QR       string // the text of the QR code that they scanned
	Position *Position
}

// Request returns the request with which a member checks themselves in: INVALID_FIELD.
func (p Proof) Request() (Request, error) {
	switch {
	case p.QR != "" && p.Position == nil:
		return Request{Method: QR}, nil
	case p.QR == "" && p.Position != nil && p.Position.Valid():
		return Request{Method: GPS, Position: *p.Position}, nil
	case p.QR == "" && p.Position != nil:
		return Request{}, fault.Invalid("position", "The latitude is -90 to 90 degrees, the longitude -180 to 180.")
	default:
		return Request{}, fault.Invalid("proof", "Give the text of a QR code, or a position.")
	}
}

// Position is where a device says that it is. Nothing proves it: it keeps honest members from checking in at home by
// mistake, and no more. So a poor accuracy is a reason to refuse, and never extends the distance.
type Position struct {
	Point
	Accuracy float64        // in meters; 0: unknown
	Age      *time.Duration // nil: unknown
}

const (
	// MaxPositionAge is how old a position may be.
	MaxPositionAge = 2 * time.Minute
	// accuracyIndoors is a radius in meters that phones reach in buildings. To ask for a better accuracy would refuse
	// members who are there.
	accuracyIndoors = 100
)

// Result is the state of the booking after the request.
type Result struct {
	Status Status
	// CheckedInAt and Method are those of the first check-in; zero after Undo.
	CheckedInAt time.Time
	Method      Method
	// Unchanged: the booking is in this state and there is nothing to write. Checking in twice is harmless.
	Unchanged bool
}

// Decide checks a party in. The errors are PERMISSION_DENIED, SESSION_NOT_OPEN, NOT_BOOKED, BOOKING_CANCELLED,
// NOT_CONFIRMED, CHECK_IN_WINDOW, GPS_NOT_AVAILABLE, QR_REQUIRED, GPS_OUTDATED, GPS_IMPRECISE, GPS_TOO_FAR, and
// INVALID_FIELD for a position or method that does not exist.
func Decide(f Facts, c Request, now time.Time) (Result, error) {
	if c.Method == Manual && !f.Staff {
		return Result{}, fault.New(fault.PermissionDenied, fault.PermissionDeniedReason, "Only staff can check in others.")
	}
	if f.Status == Attended {
		return Result{Status: Attended, CheckedInAt: f.CheckedInAt, Method: f.Method, Unchanged: true}, nil
	}
	if f.SessionCancelled {
		return Result{}, sessionCancelled()
	}
	if f.Status != Confirmed {
		return Result{}, notConfirmed(f.Status)
	}
	if err := checkWindow(f, c.Method, now); err != nil {
		return Result{}, err
	}
	switch c.Method {
	case Manual, QR:
	case GPS:
		if err := checkPosition(f, c.Position); err != nil {
			return Result{}, err
		}
	default:
		return Result{}, fault.Invalid("method", "There is no check-in method %q.", string(c.Method))
	}
	return Result{Status: Attended, CheckedInAt: now, Method: c.Method}, nil
}

// Undo reverts a check-in: the booking is confirmed again. A confirmed booking stays as it is. Any other is an error:
// BOOKING_CANCELLED or NOT_CONFIRMED. What was kept of a cancelled session stays: SESSION_NOT_OPEN. Only staff undo, at
// any time.
func Undo(f Facts) (Result, error) {
	switch f.Status {
	case Attended:
		if f.SessionCancelled {
			return Result{}, sessionCancelled()
		}
		return Result{Status: Confirmed}, nil
	case Confirmed:
		return Result{Status: Confirmed, Unchanged: true}, nil
	default:
		return Result{}, notConfirmed(f.Status)
	}
}

func sessionCancelled() error {
	return fault.New(fault.FailedPrecondition, fault.SessionNotOpen, "The session is cancelled.").
		WithMetadata("state", "cancelled")
}

// notConfirmed says why a booking in a status, or none, cannot be checked in.
func notConfirmed(s Status) error {
	switch s {
	case "":
		return fault.New(fault.FailedPrecondition, fault.NotBooked, "There is no booking in this session.")
	case Cancelled, Expired:
		return fault.New(fault.FailedPrecondition, fault.BookingGone, "The booking was cancelled.").
			WithMetadata("status", string(s))
	default:
		return fault.New(fault.FailedPrecondition, fault.NotConfirmed, "The booking is not confirmed.").
			WithMetadata("status", string(s))
	}
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
		WithMetadata("opens_at", opens.UTC().Format(time.RFC3339))
	if method != Manual {
		refusal = refusal.WithMetadata("closes_at", f.Window.Closes(f.Starts, f.Ends).UTC().Format(time.RFC3339))
	}
	return refusal
}

func checkPosition(f Facts, at Position) error {
	if f.Delivery == Feed || f.Location == nil || !f.Location.Valid() || !(f.GPSMaxMeters > 0) {
		return fault.New(fault.FailedPrecondition, fault.GPSNotAvailable,
			"Check-in by GPS is not available for this session.")
	}
	if f.RequiresQR {
		return fault.New(fault.FailedPrecondition, fault.QRRequired, "Check-in needs the session's QR code.")
	}
	distance, err := Distance(*f.Location, at.Point)
	if err != nil {
		return err
	}
	if at.Age != nil && *at.Age > MaxPositionAge {
		return fault.New(fault.FailedPrecondition, fault.GPSOutdated, "The position is too old.").
			WithMetadata("max_seconds", strconv.Itoa(int(MaxPositionAge/time.Second)))
	}
	if most := max(f.GPSMaxMeters, accuracyIndoors); at.Accuracy > most {
		return fault.New(fault.FailedPrecondition, fault.GPSImprecise, "The position is not precise enough.").
			WithMetadata("accuracy_meters", strconv.FormatFloat(math.Ceil(at.Accuracy), 'f', 0, 64)).
			WithMetadata("max_meters", strconv.FormatFloat(math.Floor(most), 'f', 0, 64))
	}
	if distance > f.GPSMaxMeters {
		// Rounded up, so that the distance never reads as within the radius.
		return fault.New(fault.FailedPrecondition, fault.GPSTooFar, "Too far from the location to check in.").
			WithMetadata("distance_meters", strconv.FormatFloat(math.Ceil(distance), 'f', 0, 64)).
			WithMetadata("max_meters", strconv.FormatFloat(math.Floor(f.GPSMaxMeters), 'f', 0, 64))
	}
	return nil
}
