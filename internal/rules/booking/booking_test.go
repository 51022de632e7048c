package booking_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/vary"
)

var now = time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)

type set = vary.Fields

func id[I ~struct{ tenant.UUID }]() I { return tenant.New[I](now) }

// openSlot returns a session that takes bookings.
func openSlot() booking.Slot {
	return booking.Slot{
		ID: id[tenant.SessionID](), StartsAt: now.Add(48 * time.Hour), EndsAt: now.Add(49 * time.Hour),
		LocalDate: civiltest.Date("2026-03-18"), Capacity: new(10), WaitlistCapacity: 5,
		State: catalog.Published, MinParty: 1, MaxParty: 4, Channels: catalog.Channels(), Policy: catalog.Defaults(),
	}
}

func onePerson() booking.Request {
	return booking.Request{ID: id[tenant.BookingID](), Party: 1, Channel: catalog.Online, Actor: "mia"}
}

// Rows and events have these values, also those that were written years ago.
func TestValues_StayAsTheyAreStored(t *testing.T) {
	t.Parallel()
	test.Eq(t, []booking.Status{"PENDING", "CONFIRMED", "ATTENDED", "NO_SHOW", "CANCELLED", "EXPIRED"}, []booking.Status{
		booking.Pending, booking.Confirmed, booking.Attended, booking.NoShow, booking.Cancelled, booking.Expired,
	})
	test.Eq(t, []booking.ItemStatus{"PENDING", "CONFIRMED", "CANCELLED"},
		[]booking.ItemStatus{booking.ItemPending, booking.ItemConfirmed, booking.ItemCancelled})
	test.Eq(t, []booking.Availability{"AVAILABLE", "HELD", "BOOKED", "BLOCKED"},
		[]booking.Availability{booking.Available, booking.Held, booking.Taken, booking.OffSale})
	test.Eq(t, []booking.EligibilityStatus{"ELIGIBLE", "WAITLIST", "BLOCKED", "BOOKED", "WAITLISTED", "OFFERED"},
		[]booking.EligibilityStatus{
			booking.Eligible, booking.Waitlist, booking.Blocked, booking.Booked, booking.Waitlisted, booking.Offered,
		})
}

func TestSnapshot_CompletesSlotsOfKnownPlaces(t *testing.T) {
	t.Parallel()
	in, plan := id[tenant.TenantID](), id[tenant.PlanID]()
	slot := booking.Slot{Location: id[tenant.LocationID](), Service: id[tenant.ServiceID](), Title: "Yoga"}
	point := &catalog.Point{Latitude: 52.5, Longitude: 13.4}
	s := &booking.Snapshot{
		TakesPayments: true,
		Locations: map[tenant.LocationID]booking.SnapshotLocation{
			slot.Location: {TimeZone: "Europe/Berlin", Point: point, Channels: []catalog.Channel{catalog.Phone}},
		},
		Services: map[tenant.ServiceID]booking.SnapshotService{
			slot.Service: {MinParty: 2, MaxParty: 3, Delivery: catalog.Feed},
		},
		Plans: map[tenant.PlanID]credit.Plan{plan: {}},
		Policies: map[tenant.UUID]*catalog.CompiledPolicy{
			in.UUID: catalog.PolicyLayer{
				HoldTTL: new(time.Minute), AdvanceWindow: new(time.Hour), BookingClosesBefore: new(time.Minute),
			}.Compile(),
			slot.Location.UUID: catalog.PolicyLayer{
				AdvanceWindow: new(2 * time.Hour), BookingClosesBefore: new(2 * time.Minute),
			}.Compile(),
			slot.Service.UUID: catalog.PolicyLayer{BookingClosesBefore: new(3 * time.Minute)}.Compile(),
		},
	}
	want := vary.From(slot, set{
		"TimeZone": "Europe/Berlin", "Point": point, "Channels": []catalog.Channel{catalog.Phone}, "MinParty": 2,
		"MaxParty": 3, "Delivery": catalog.Feed, "TakesPayments": true, "Policy": vary.From(catalog.Defaults(), set{
			"HoldTTL": time.Minute, "AdvanceWindow": 2 * time.Hour, "BookingClosesBefore": 3 * time.Minute,
		}),
	})
	got, known := s.Complete(slot, in)
	test.True(t, known)
	test.Eq(t, want, got)
	for _, differ := range []set{{"Location": id[tenant.LocationID]()}, {"Service": id[tenant.ServiceID]()}} {
		_, known := s.Complete(vary.From(slot, differ), in)
		test.False(t, known, test.Sprint(differ))
	}
	test.True(t, s.HasPlan(plan))
	test.False(t, s.HasPlan(id[tenant.PlanID]()))
	s = nil
	_, known = s.Complete(slot, in)
	test.False(t, known, test.Sprint("without a snapshot"))
	test.False(t, s.HasPlan(plan), test.Sprint("without a snapshot"))
}
