package bookings_test

import (
	"slices"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// One partner learns nothing of what another has made, but that the reference is taken: not even with the same request.
func TestExternalRefs_OfOthersSayNothing(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class := studio.AddSession(testkit.Session{Capacity: 9})
	first, second := studio.AddPartner("First"), studio.AddPartner("Second")
	order := []func(*bookings.BookRequest){
		testkit.ForGuest("Pat", ""), func(r *bookings.BookRequest) { r.ExternalRef = "order 1" },
	}
	held := studio.MustHold(first, class, order...)
	again := studio.MustHold(first, class, order...)
	test.EqOp(t, held.ID, again.ID)
	conflict := expect.Reason(t, fault.ExternalRefConflict)(studio.Hold(second, class, order...))
	test.MapEmpty(t, conflict.Metadata)
	test.EqOp(t, "", conflict.Field)
	another := append(slices.Clone(order), testkit.ForGuest("Kim", ""))
	other := expect.Reason(t, fault.ExternalRefConflict)(studio.Hold(first, class, another...))
	test.EqOp(t, "external_ref", other.Field)
}
