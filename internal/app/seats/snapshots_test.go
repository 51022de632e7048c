package seats

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// A snapshot is only good for its version. Those of other tenants stay, unless there are too many.
func TestSnapshots_AreOfOneVersion(t *testing.T) {
	t.Parallel()
	var s Snapshots
	id := func() tenant.TenantID { return tenant.New[tenant.TenantID](time.Unix(0, 0)) }
	one, other, last := id(), id(), id()
	first, second := &booking.Snapshot{Version: 1}, &booking.Snapshot{Version: 2}
	otherFirst, otherSecond := &booking.Snapshot{Version: 1}, &booking.Snapshot{Version: 2}
	check := func(id tenant.TenantID, version int64, want *booking.Snapshot) {
		t.Helper()
		test.True(t, want == s.At(id, version), test.Sprint("not the snapshot of version ", version))
	}
	check(one, 1, nil)
	s.Keep(one, first)
	s.Keep(other, otherFirst)
	check(one, 1, first)
	check(one, 2, nil)
	check(last, 1, nil)
	check(last, 0, nil)
	check(other, 1, otherFirst)
	s.Keep(one, second)
	check(one, 1, nil)
	check(one, 2, second)
	for range maxSnapshots - len(s.kept) {
		s.Keep(id(), &booking.Snapshot{Version: 1})
	}
	s.Keep(other, otherSecond)
	check(one, 2, second)
	check(other, 2, otherSecond)
	s.Keep(last, first)
	test.MapLen(t, maxSnapshots, s.kept)
	check(last, 1, first)
}
