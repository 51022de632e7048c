package schedules_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/testkit"
)

// A page puts together itself what bookings have the database put together: the two must never differ.
func TestAPageSeesSessionsAsBookingsDo(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	h.Exec(`update tenants set takes_payments = true where tenant_id = $1`, h.Tenant)
	h.Exec(`update locations set channels = '{PHONE}' where tenant_id = $1`, h.Tenant)
	h.Exec(`update services set min_party = 2, max_party = 3, delivery = 'FEED' where tenant_id = $1`, h.Tenant)
	for level, scope := range map[string]any{"TENANT": h.Tenant, "LOCATION": h.Location, "SERVICE": h.Service} {
		h.Exec(`insert into policies (tenant_id, level, scope_id, cancellation_seconds, gps_max_meters, updated_at) values ($1, $2, $3, 60 * length($2), 7, $4)`,
			h.Tenant, level, scope, testkit.Noon)
	}
	h.Exec(`update policies set waitlist_enabled = false, hold_ttl_seconds = 5, booking_closes_seconds = 6, tiers = '{"gold": {"allow_reschedule": true}}'
	        where tenant_id = $1 and level = 'TENANT'`, h.Tenant)
	h.Exec(`update policies set advance_seconds = 9, auto_no_show = true, auto_no_show_seconds = 8, tiers = '{"visitor": {"cancellation_seconds": 1}}'
	        where tenant_id = $1 and level = 'LOCATION'`, h.Tenant)
	h.Exec(`update policies set allow_late_cancellation = true, allow_reschedule = true, check_in_opens_seconds = 3, check_in_closes_seconds = 4
	        where tenant_id = $1 and level = 'SERVICE'`, h.Tenant)
	id := h.Session(testkit.Slot{Starts: testkit.Evening, Capacity: 7, Waitlist: 6, Blocked: true})
	h.Exec(`update sessions set seats_taken = 5, holds = 3, waiting = 2 where id = $1`, id)
	unlimited := h.Session(testkit.Slot{Starts: testkit.Evening, Capacity: -1})

	q := testkit.Week()
	var sessions []session.Session
	var house booking.Snapshot
	var first, second *booking.Slot
	var batch pg.Batch
	scheduledb.ListSchedule(&batch, h.Tenant, scheduledb.SessionQuery{Filter: q.Filter, Limit: q.Limit}, func(s *session.Session) { sessions = append(sessions, *s) })
	coredb.FindSnapshot(&batch, h.Tenant, &house)
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
		if diff := cmp.Diff(*want, schedules.SlotOf(&house, h.Tenant, s)); diff != "" {
			t.Errorf("(-as bookings see it +as a page does)\n%s", diff)
		}
	}
	if len(sessions) != 2 {
		t.Errorf("%d sessions", len(sessions))
	}
}
