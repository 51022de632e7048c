package seats

import (
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// ConstraintError turns a violation of a constraint that guards bookings into the error that the rules return in the
// same case. A constraint is violated only if the rules did not have the fact: SERIALIZABLE turns every other such race
// into another attempt.
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
		return catalog.AlreadyBooked(tenant.MemberID{}, tenant.BookingID{}, tenant.EntryID{}).WithCause(err)
	case pg.IsCheck(err, "subscriptions_balance"):
		return credit.NoneLeft().WithCause(err)
	default:
		return err
	}
}

// RefRace is the race of two requests with one external reference. The next attempt finds what the other request
// made. Which of these unique indexes rejects the second request is chance.
func RefRace(err error) bool {
	return pg.IsUnique(err,
		"bookings_external_ref", "waitlist_entries_external_ref", "bookings_active", "waitlist_places_active")
}

// QueueRace is the race of two requests to join a waitlist with room for one entry.
func QueueRace(err error) bool { return pg.IsCheck(err, "sessions_waitlist") }

// ItemRace is the race of two bookings for one number of an item. The next attempt finds another number, if one is
// free.
func ItemRace(err error) bool { return pg.IsExclusion(err, "booking_items_out") }

// PromotionRace is the race of a promotion or an offer with another booking or offer of the same member. The next
// attempt skips their entry.
func PromotionRace(err error) bool {
	return pg.IsExclusion(err, "bookings_overlap") || pg.IsUnique(err, "bookings_active", "waitlist_offers_live")
}
