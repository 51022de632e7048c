package tenant_test

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/tenant"
)

// Not parallel: the order holds for one clock, and the other tests use other clocks.
func TestNew_IDsSortInOrderOfCreation(t *testing.T) { //nolint:paralleltest // see above
	now := time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)
	last := tenant.New[tenant.BookingID](now).String()
	for range 10_000 {
		next := tenant.New[tenant.BookingID](now).String()
		if next <= last {
			t.Fatalf("%s was made after %s and sorts before it", next, last)
		}
		last = next
	}
}

func TestNew_FollowsRFC9562(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(0x0190_1234_5678)
	id := tenant.New[tenant.SessionID](at.Add(400 * 24 * time.Hour))
	if got := id.String()[14]; got != '7' {
		t.Errorf("version %c, want 7: %s", got, id)
	}
	if v := id.UUID[8] >> 6; v != 0b10 {
		t.Errorf("variant %b, want 10: %s", v, id)
	}
}

func TestParse_ReadsWhatStringWrites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var raw [16]byte
		copy(raw[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "raw"))
		id := tenant.MemberID{UUID: raw}
		back, err := tenant.Parse[tenant.MemberID](id.String())
		if err != nil || back != id {
			t.Fatalf("%v became %v (%v)", id, back, err)
		}
	})
}

func TestParse_RejectsOtherForms(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "x", "018f5e6e00007000800000000000000", "{018f5e6e-0000-7000-8000-000000000000}",
		"018f5e6e-0000-7000-8000-00000000000g", "018f5e6e_0000_7000_8000_000000000000",
		"urn:uuid:018f5e6e-0000-7000-8000-000000000000", "018f5e6e-0000-7000-8000-000000000000 ",
	} {
		if id, err := tenant.Parse[tenant.TenantID](text); err == nil {
			t.Errorf("%q was read as %v", text, id)
		}
	}
}

func TestID_RoundTripsAsJSONText(t *testing.T) {
	t.Parallel()
	type thing struct {
		ID    tenant.PlanID
		Other tenant.PlanID
	}
	in := thing{ID: tenant.New[tenant.PlanID](time.Unix(1, 0))}
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out thing
	if err := json.Unmarshal(data, &out); err != nil || out != in {
		t.Fatalf("%s was read as %v (%v)", data, out, err)
	}
}
