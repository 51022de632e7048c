package schedules_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/testkit"
)

// A page puts together itself what bookings have the database put together: the two must never differ.
func TestForecast_EqualsWhatBookingLoads(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.EditService(h.Service, func(s *catalog.Service) { s.MinParty, s.MaxParty = 2, 3 })
	id := h.AddSession(testkit.Session{Starts: testkit.Evening, Capacity: 7, Waitlist: 6})
	h.AddBooking(id, testkit.Booking{Party: 2})
	h.AddBooking(id, testkit.Booking{Party: 3, Status: booking.Pending})
	wish := testkit.ForSessions(id)
	wish.Party = 3
	h.AddWaiters(2, wish)
	h.Block(id)
	h.TakePayments()
	h.EditLocation(h.Location, func(l *catalog.Location) { l.Channels = []catalog.Channel{catalog.Phone} })
	h.EditService(h.Service, func(s *catalog.Service) { s.Delivery = catalog.Feed })
	h.SetRules(func(r *waitlist.Settings) { r.Enabled = new(false) })
	h.SetPolicy(func(p *catalog.Policy) {
		p.Cancellation, p.GPSMaxMeters = new(6*time.Minute), new(70.0)
		p.HoldTTL, p.BookingCloses = new(5*time.Minute), new(6*time.Second)
		p.Tiers = &map[string]catalog.TierPolicy{"gold": {AllowReschedule: new(true)}}
	})
	h.SetPolicyOf(settings.PolicyTarget{Location: h.Location}, func(p *catalog.Policy) {
		p.Cancellation, p.Advance = new(8*time.Minute), new(9*time.Second)
		p.AutoNoShow, p.AutoNoShowAfter = new(true), new(8*time.Second)
		p.Tiers = &map[string]catalog.TierPolicy{"visitor": {Cancellation: new(time.Second)}}
	})
	h.SetPolicyOf(settings.PolicyTarget{Service: h.Service}, func(p *catalog.Policy) {
		p.Cancellation, p.AllowLateCancellation, p.AllowReschedule = new(7*time.Minute), new(true), new(true)
		p.CheckInOpens, p.CheckInCloses = new(3*time.Second), new(4*time.Second)
	})
	unlimited := h.AddSession(testkit.Session{Starts: testkit.Evening, Capacity: -1})

	q := testkit.WeekQuery()
	var sessions []session.Session
	var snapshot booking.Snapshot
	var first, second *booking.Slot
	var batch pg.Batch
	scheduledb.ListSchedule(
		&batch, h.Tenant, scheduledb.SessionQuery{Filter: q.Filter, Limit: q.Limit},
		func(s *session.Session) { sessions = append(sessions, *s) },
	)
	coredb.FindSnapshot(&batch, h.Tenant, &snapshot)
	bookingdb.FindSlot(&batch, h.Tenant, id, &first)
	bookingdb.FindSlot(&batch, h.Tenant, unlimited, &second)
	if err := h.DB.ReadBatch(context.Background(), pg.Scope{Tenant: h.Tenant}, &batch); err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions {
		want := first
		if s.ID == unlimited {
			want = second
		}
		if diff := cmp.Diff(*want, schedules.SlotOf(&snapshot, h.Tenant, s)); diff != "" {
			t.Errorf("(-as bookings see it +as a page does)\n%s", diff)
		}
	}
	if len(sessions) != 2 {
		t.Errorf("%d sessions", len(sessions))
	}
}
