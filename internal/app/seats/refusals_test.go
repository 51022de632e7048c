package seats_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/testkit"
)

// What a constraint of the database refuses is refused as the rules do, and the cause can be found. Some of it is tried
// again first, because another attempt can succeed.
func TestConstraintError_SaysWhatTheRulesSay(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	const ref, queue, item, promotion = 1, 2, 4, 8
	for name, tt := range map[string]struct {
		code, want string
		races      int
	}{
		"bookings_overlap":              {"23P01", "OVERLAP", promotion},
		"booking_items_out":             {"23P01", "ITEM_UNAVAILABLE", item},
		"sessions_capacity":             {"23514", "SESSION_FULL", 0},
		"sessions_waitlist":             {"23514", "SESSION_FULL", queue},
		"subscriptions_balance":         {"23514", "NO_CREDITS", 0},
		"bookings_active":               {"23505", "ALREADY_BOOKED", ref | promotion},
		"waitlist_places_active":        {"23505", "ALREADY_BOOKED", ref},
		"waitlist_offers_live":          {"23505", "", promotion},
		"bookings_external_ref":         {"23505", "", ref},
		"waitlist_entries_external_ref": {"23505", "", ref},
		"sessions_pkey":                 {"23505", "", 0},
	} {
		test.EqOp(t, 1, studio.Count(`select (exists (select from pg_constraint where conname = $1) or
			exists (select from pg_class where relname = $1))::int`, name), test.Sprint(name))
		broken := fmt.Errorf("commit: %w", &pgconn.PgError{Code: tt.code, ConstraintName: name})
		got := seats.ConstraintError(broken)
		test.ErrorIs(t, got, errors.Unwrap(broken), test.Sprint(name))
		test.EqOp(t, tt.want, string(fault.ReasonOf(got)), test.Sprint(name))
		races := 0
		for race, lost := range map[int]func(error) bool{
			ref: seats.RefRace, queue: seats.QueueRace, item: seats.ItemRace, promotion: seats.PromotionRace,
		} {
			if lost(broken) {
				races |= race
			}
		}
		test.EqOp(t, tt.races, races, test.Sprint(name))
	}
	test.NoError(t, seats.ConstraintError(nil))
}
