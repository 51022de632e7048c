package app

import (
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// settle writes a subscription's new balance with the lines that led to it, so
// that the one always equals the sum of the other.
func (t *tx) settle(s credit.Subscription, ledger []credit.Entry) {
	if len(ledger) == 0 {
		return
	}
	for i := range ledger {
		ledger[i].ID = tenant.Next[tenant.CreditEntryID](t.mint)
	}
	bookingdb.UpdateSubscription(t.Tx, t.in, s, t.now)
	bookingdb.AppendLedger(t.Tx, t.in, ledger)
}

// refusal turns the constraints that guard bookings into the reasons that the rules give for
// the same thing. A constraint speaks up where a rule did not have the fact: SERIALIZABLE turns
// every other such race into another attempt.
func refusal(err error) error {
	switch {
	case err == nil:
		return nil
	case pg.IsExclusion(err, "bookings_overlap"):
		return booking.Overlapping().Because(err)
	case pg.IsExclusion(err, "booking_items_out"):
		return booking.ItemUnavailable().Because(err)
	case pg.IsCheck(err, "sessions_capacity", "sessions_waitlist"):
		return booking.Full().Because(err)
	case pg.IsUnique(err, "bookings_active", "waitlist_places_active"):
		return booking.AlreadyBooked(tenant.BookingID{}, tenant.EntryID{}).Because(err)
	case pg.IsCheck(err, "subscriptions_balance"):
		return fault.New(fault.ResourceExhausted, fault.NoCredits, "No credits remaining.").Because(err)
	default:
		return err
	}
}

// The races that a fresh snapshot settles, by what the database says about them.
var (
	// byRef: the same external reference at the same moment. The second finds what the first made. Which
	// unique index speaks up first is chance.
	byRef = func(err error) bool {
		return pg.IsUnique(err, "bookings_external_ref", "waitlist_entries_external_ref", "bookings_active", "waitlist_places_active")
	}
	// byQueue: two joined the queue at the same moment, and the last room was given twice.
	byQueue = func(err error) bool { return pg.IsCheck(err, "sessions_waitlist") }
	// byItem: somebody took the same thing out of the stock. There may be another.
	byItem = func(err error) bool { return pg.IsExclusion(err, "booking_items_out") }
	// byPromotion: somebody on the waitlist was promoted or asked here, and elsewhere booked something in the way or was
	// asked. The next look passes them over.
	byPromotion = func(err error) bool {
		return pg.IsExclusion(err, "bookings_overlap") || pg.IsUnique(err, "bookings_active", "waitlist_offers_live")
	}
)
