package housekeeping_test

import (
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/housekeeping"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A violation names the tenant, the invariant, the check and the row, and says what is wrong.
func TestVerify_ReportsViolations(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class := studio.AddSession(testkit.Session{Capacity: 1})
	studio.MustBook(studio.AddMember("Mia"), class)
	studio.WantSound()
	studio.Exec(`update sessions set seats_taken = 0`)
	found := expect.Value(studio.App.Housekeeping.Verify(t.Context(), studio.Tenant))(t)
	test.Eq(t, []housekeeping.Violation{{
		Tenant: studio.Tenant, Invariant: coredb.NeverOversold, Check: "seats taken are those of bookings and offers",
		Row: class.String(), Detail: "seats_taken is 0, its bookings take 1, its live offers 0, its rounds keep 0",
	}}, found)
}
