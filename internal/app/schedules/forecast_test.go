package schedules_test

import (
	"context"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

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
	studio := testkit.New(t)
	studio.EditService(studio.Service, func(s *catalog.Service) { s.MinParty, s.MaxParty = 2, 3 })
	id := studio.AddSession(testkit.Session{Starts: testkit.Evening, Capacity: 7, Waitlist: 6})
	studio.AddBooking(id, testkit.Booking{Party: 2})
	studio.AddBooking(id, testkit.Booking{Party: 3, Status: booking.Pending})
	target := testkit.ForSessions(id)
	target.Party = 3
	studio.AddWaiters(2, target)
	studio.Block(id)
	studio.TakePayments()
	studio.EditLocation(studio.Location, func(l *catalog.Location) { l.Channels = []catalog.Channel{catalog.Phone} })
	studio.EditService(studio.Service, func(s *catalog.Service) { s.Delivery = catalog.Feed })
	studio.SetRules(func(r *waitlist.Settings) { r.Enabled = new(false) })
	studio.SetPolicy(func(p *catalog.PolicyLayer) {
		p.CancellationWindow, p.GPSMaxMeters = new(6*time.Minute), new(70.0)
		p.HoldTTL, p.BookingClosesBefore = new(5*time.Minute), new(6*time.Second)
		p.TierCancellations = &map[string]catalog.TierPolicy{"gold": {AllowReschedule: new(true)}}
	})
	studio.SetPolicyOf(settings.PolicyTarget{Location: studio.Location}, func(p *catalog.PolicyLayer) {
		p.CancellationWindow, p.AdvanceWindow = new(8*time.Minute), new(9*time.Second)
		p.AutoNoShow, p.AutoNoShowAfter = new(true), new(8*time.Second)
		p.TierCancellations = &map[string]catalog.TierPolicy{"visitor": {CancellationWindow: new(time.Second)}}
	})
	studio.SetPolicyOf(settings.PolicyTarget{Service: studio.Service}, func(p *catalog.PolicyLayer) {
		p.CancellationWindow, p.AllowLateCancellation, p.AllowReschedule = new(7*time.Minute), new(true), new(true)
		p.CheckInOpensBefore, p.CheckInClosesAfterEnd = new(3*time.Second), new(4*time.Second)
	})
	unlimited := studio.AddSession(testkit.Session{Starts: testkit.Evening, Capacity: -1})

	q := testkit.WeekQuery()
	var (
		sessions      []session.Session
		snapshot      booking.Snapshot
		first, second *booking.Slot
		batch         pg.Batch
	)
	scheduledb.ListSchedule(
		&batch, studio.Tenant, scheduledb.SessionQuery{Filter: q.Filter, Limit: q.Limit},
		func(s *session.Session) { sessions = append(sessions, *s) },
	)
	coredb.FindSnapshot(&batch, studio.Tenant, &snapshot)
	bookingdb.FindSlot(&batch, studio.Tenant, id, &first)
	bookingdb.FindSlot(&batch, studio.Tenant, unlimited, &second)
	must.NoError(t, studio.DB.ReadBatch(context.Background(), pg.Scope{Tenant: studio.Tenant}, &batch))
	for _, s := range sessions {
		want := first
		if s.ID == unlimited {
			want = second
		}
		test.Eq(t, *want, schedules.SlotOf(&snapshot, studio.Tenant, s), test.Sprint("(-as bookings see it +as a page does)"))
	}
	test.EqOp(t, 2, len(sessions), test.Sprintf("%d sessions", len(sessions)))
}
