package tenant_test

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Not parallel: the order holds for one clock, and the other tests use other clocks.
func TestNew_IDsSortInOrderOfCreation(t *testing.T) { //nolint:paralleltest // see above
	now := time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)
	last := tenant.New[tenant.BookingID](now).String()
	for range 10_000 {
		next := tenant.New[tenant.BookingID](now).String()
		must.True(t, next > last, must.Sprintf("%s was made after %s and sorts before it", next, last))
		last = next
	}
}

func TestNew_FollowsRFC9562(t *testing.T) {
	t.Parallel()
	id := tenant.New[tenant.SessionID](time.UnixMilli(0x0190_1234_5678).Add(400 * 24 * time.Hour))
	test.EqOp(t, '7', id.String()[14], test.Sprintf("version want 7: %s", id))
	test.EqOp(t, 0b10, id.UUID[8]>>6, test.Sprintf("variant want 10: %s", id))
}

func TestParse_ReadsWhatStringWrites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var raw [16]byte
		copy(raw[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "raw"))
		id := tenant.MemberID{UUID: raw}
		back := expect.Value(tenant.Parse[tenant.MemberID](id.String()))(t)
		must.EqOp(t, id, back, must.Sprintf("%v became %v", id, back))
	})
}

func TestParse_RejectsOtherForms(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "x", "018f5e6e00007000800000000000000", "{018f5e6e-0000-7000-8000-000000000000}",
		"018f5e6e-0000-7000-8000-00000000000g", "018f5e6e_0000_7000_8000_000000000000",
		"urn:uuid:018f5e6e-0000-7000-8000-000000000000", "018f5e6e-0000-7000-8000-000000000000 ",
	} {
		id, err := tenant.Parse[tenant.TenantID](text)
		test.Error(t, err, test.Sprintf("%q was read as %v", text, id))
	}
}

func TestID_RoundTripsAsJSONText(t *testing.T) {
	t.Parallel()
	type thing struct {
		ID    tenant.PlanID
		Other tenant.PlanID
	}
	in := thing{ID: tenant.New[tenant.PlanID](time.Unix(1, 0))}
	data := expect.Value(json.Marshal(in))(t)
	var out thing
	err := json.Unmarshal(data, &out)
	must.NoError(t, err, must.Sprintf("%s was read as %v (%v)", data, out, err))
	must.EqOp(t, in, out, must.Sprintf("%s was read as %v (%v)", data, out, err))
}
