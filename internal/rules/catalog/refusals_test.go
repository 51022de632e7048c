package catalog_test

import (
	"testing"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/civil/civiltest"
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
	expect.Fault(t, "ALREADY_BOOKED")(catalog.AlreadyBooked(tenant.MemberID{}, tenant.BookingID{}, tenant.EntryID{}))
	expect.Fault(t, "ALREADY_BOOKED booking_id="+booking.String()+" entry_id="+entry.String())(
		catalog.AlreadyBooked(tenant.MemberID{}, booking, entry))
	expect.Fault(t, "ALREADY_EXISTS @plan.name")(catalog.NameTaken("plan.name", "A plan has that name."))
}

func TestCheckPeriod_IsAYearAtMost(t *testing.T) {
	t.Parallel()
	first := civiltest.Date("2028-01-01")
	const end = "INVALID_FIELD @filter.end_date"
	for name, tt := range map[string]struct {
		from, to civil.Date
		want     string
	}{
		"a day":                {first, first, ""},
		"a leap year":          {first, first.AddDays(365), ""},
		"a day more":           {first, first.AddDays(366), end},
		"the other way round":  {first, first.AddDays(-1), end},
		"from a day not there": {civil.Date{Year: 2026, Month: 2, Day: 30}, first, "INVALID_FIELD @filter.start_date"},
		"to a day not there":   {first, civil.Date{Year: 2028, Month: 2, Day: 30}, end},
	} {
		expect.Fault(t, tt.want, name)(catalog.CheckPeriod(tt.from, tt.to))
	}
	start := time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)
	end367 := start.AddDate(0, 0, 367)
	expect.Fault(t, "")(catalog.CheckPeriodLength(civil.Span{Start: start, End: end367}))
	expect.Fault(t, "INVALID_FIELD @within")(catalog.CheckPeriodLength(civil.Span{Start: start, End: end367.Add(1)}))
}
