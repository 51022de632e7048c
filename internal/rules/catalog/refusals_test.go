package catalog_test

import (
	"testing"

	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestCheckParty_HasBothBounds(t *testing.T) {
	t.Parallel()
	for party, want := range map[int]string{
		1: "PARTY_SIZE @party_size max=4 min=2", 2: "", 4: "", 5: "PARTY_SIZE @party_size max=4 min=2",
	} {
		expect.Fault(t, want, party)(catalog.CheckParty(party, 2, 4))
	}
}

func TestCheckTakesPlace_RejectsCancelledSessions(t *testing.T) {
	t.Parallel()
	expect.Fault(t, "SESSION_STATE state=CANCELLED")(catalog.Cancelled.CheckTakesPlace())
	for _, state := range []catalog.SessionState{catalog.Draft, catalog.Published} {
		expect.Fault(t, "", state)(state.CheckTakesPlace())
	}
}

func TestCheckNewZone_RejectsLocationsWithSessions(t *testing.T) {
	t.Parallel()
	expect.Fault(t, "")(catalog.CheckNewZone(false))
	expect.Fault(t, "SESSION_STATE @location.time_zone state=scheduled")(catalog.CheckNewZone(true))
}

func TestRefusals_NameWhatIsThere(t *testing.T) {
	t.Parallel()
	booking, entry := tenant.BookingID{UUID: tenant.UUID{1}}, tenant.EntryID{UUID: tenant.UUID{2}}
	expect.Fault(t, "ALREADY_BOOKED")(catalog.AlreadyBooked(tenant.BookingID{}, tenant.EntryID{}))
	expect.Fault(t, "ALREADY_BOOKED booking_id="+booking.String()+" entry_id="+entry.String())(
		catalog.AlreadyBooked(booking, entry))
	expect.Fault(t, "ALREADY_EXISTS @plan.name")(catalog.NameTaken("plan.name", "A plan has that name."))
}
