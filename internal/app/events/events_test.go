package events_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/events"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A page looks at a limited number of events, and says where to go on even if it has found none.
func TestListEvents_NarrowFilterReachesTheEnd(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	owner := testkit.ReaderOfAll(studio.Owner)
	first, last, twice, none := tenant.New[tenant.BookingID](testkit.Noon), tenant.New[tenant.BookingID](testkit.Noon),
		tenant.New[tenant.BookingID](testkit.Noon), tenant.New[tenant.BookingID](testkit.Noon)
	// So many events that only SQL creates them fast enough. Nothing else happened in the tenant that could be found.
	studio.Exec(`insert into events (tenant_id, id, type, booking_id, actor, occurred_at)
	        select $1, ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'booking.confirmed',
	          case n when 1 then $2::uuid when 12000 then $3::uuid when 10500 then $5::uuid when 11500 then $5 end,
	          'system', $4 from generate_series(1, 12000) n`, studio.Tenant, first, last, testkit.Noon, twice)
	studio.Exec(`analyze events`)
	studio.OtherTenant() // whose log is empty
	for {                // until no transaction of another test keeps them back
		page := expect.Value(studio.App.Events.ListEvents(t.Context(), owner, events.EventQuery{Limit: 1}))(t)
		if len(page.Events) == 1 {
			break
		}
	}
	for _, c := range []struct {
		name      string
		booking   tenant.BookingID
		backwards bool
		want      []int // found on each page
	}{
		{"the last", last, false, []int{0, 0, 1}},
		{"the last, backwards", last, true, []int{1, 0, 0}},
		{"the first", first, false, []int{1, 0, 0}},
		{"the first, backwards", first, true, []int{0, 0, 1}},
		{"two, in order", twice, false, []int{0, 0, 2}},
		{"two, backwards", twice, true, []int{2, 0, 0}},
		{"none", none, false, []int{0, 0, 0}},
	} {
		q := events.EventQuery{Filter: events.EventFilter{Booking: c.booking}, Backwards: c.backwards, Limit: 10}
		var got []int
		for range 10 {
			page := expect.Value(studio.App.Events.ListEvents(t.Context(), owner, q))(t)
			got = append(got, len(page.Events))
			test.EqOp(t, !c.backwards || len(page.Events) < 2, slices.IsSortedFunc(
				page.Events, func(a, b *events.EventRecord) int { return bytes.Compare(a.ID.UUID[:], b.ID.UUID[:]) },
			))
			if q.After = page.Next; q.After == nil {
				break
			}
		}
		test.Eq(t, c.want, got, test.Sprint(c.name))
	}
	test.ErrorContains(t, expect.Error(
		studio.App.Events.WatchEvents(t.Context(), studio.Owner, events.EventFilter{}, ""),
	), "no relay")
}
