package seats

import (
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// ConstraintError turns the constraints that guard bookings into the reasons that the rules give for the same thing. A
// constraint refuses where a rule did not have the fact: SERIALIZABLE turns every other such race into another attempt.
func ConstraintError(err error) error {
	switch {
	case err == nil:
		return nil
	case pg.IsExclusion(err, "bookings_overlap"):
		return booking.Overlapping().WithCause(err)
	case pg.IsExclusion(err, "booking_items_out"):
		return booking.ItemUnavailable().WithCause(err)
	case pg.IsCheck(err, "sessions_capacity", "sessions_waitlist"):
		return booking.Full().WithCause(err)
	case pg.IsUnique(err, "bookings_active", "waitlist_places_active"):
		return booking.AlreadyBooked(tenant.BookingID{}, tenant.EntryID{}).WithCause(err)
	case pg.IsCheck(err, "subscriptions_balance"):
		return fault.New(fault.ResourceExhausted, fault.NoCredits, "No credits remaining.").WithCause(err)
	default:
		return err
	}
}

// RefRace is the race of two requests with one external reference. The second finds what the first made. Which unique
// index refuses first is chance.
func RefRace(err error) bool {
	return pg.IsUnique(err,
		"bookings_external_ref", "waitlist_entries_external_ref", "bookings_active", "waitlist_places_active")
}

// QueueRace is the race of two that join a queue with room for one.
func QueueRace(err error) bool { return pg.IsCheck(err, "sessions_waitlist") }

// ItemRace is the race for the last one of an item in stock. There may be another.
func ItemRace(err error) bool { return pg.IsExclusion(err, "booking_items_out") }

// PromotionRace is the race of a promotion or an offer with another booking or offer of the same member. The next
// attempt skips their entry.
func PromotionRace(err error) bool {
	return pg.IsExclusion(err, "bookings_overlap") || pg.IsUnique(err, "bookings_active", "waitlist_offers_live")
}
