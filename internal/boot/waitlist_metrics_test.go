package boot

import (
	"maps"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// All series exist from the start, and count what use cases report.
func TestWaitlistMetrics_ExistFromTheStart(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := expect.Value(newWaitlistMetrics(registry))(t)
	want := map[string]float64{
		"waitlist_entries_total status=WAITING": 0, "waitlist_entries_total status=BOOKED": 0,
		"waitlist_entries_total status=CANCELLED": 0,
		"waitlist_entries_total status=EXPIRED":   0, "waitlist_offers_total outcome=CREATED": 0,
		"waitlist_offers_total outcome=ACCEPTED": 0,
		"waitlist_offers_total outcome=DECLINED": 0, "waitlist_offers_total outcome=EXPIRED": 0,
		"waitlist_offers_total outcome=WITHDRAWN": 0,
		"waitlist_offer_response_time count":      0, "waitlist_offer_response_time sum": 0,
		"waitlist_cascade_depth count": 0, "waitlist_cascade_depth sum": 0,
		"waitlist_conversion_rate": 0, "berth_waitlist_repairs_total what=overdue_offer": 0,
		"berth_waitlist_repairs_total what=orphaned_entry": 0,
		"berth_waitlist_repairs_total what=orphaned_round": 0, "berth_waitlist_repairs_total what=missed_trigger": 0,
	}
	gathered := func() map[string]float64 {
		t.Helper()
		families := expect.Value(registry.Gather())(t)
		all := make(map[string]float64)
		for _, family := range families {
			for _, one := range family.GetMetric() {
				name := family.GetName()
				for _, label := range one.GetLabel() {
					name += " " + label.GetName() + "=" + label.GetValue()
				}
				if h := one.GetHistogram(); h != nil {
					all[name+" count"], all[name+" sum"] = float64(h.GetSampleCount()), h.GetSampleSum()
					continue
				}
				all[name] = one.GetCounter().GetValue() + one.GetGauge().GetValue()
			}
		}
		return all
	}
	must.Eq(t, want, gathered(), must.Sprint("at the start"))
	for _, tally := range []waitlists.Stats{
		{
			Entries:   map[waitlist.Status]int{waitlist.Waiting: 9, waitlist.Booked: 1},
			Offers:    map[waitlist.OfferStatus]int{waitlist.Live: 6, waitlist.Accepted: 1},
			Responses: []time.Duration{90 * time.Second}, Depths: []int{4},
		},
		{
			Entries:   map[waitlist.Status]int{waitlist.Booked: 1, waitlist.Cancelled: 2, waitlist.Expired: 4},
			Offers:    map[waitlist.OfferStatus]int{waitlist.Declined: 1, waitlist.RanOut: 2, waitlist.Withdrawn: 3},
			Responses: []time.Duration{30 * time.Second},
		},
		{Repaired: map[string]int{"overdue_offer": 1, "orphaned_entry": 2, "orphaned_round": 3, "missed_trigger": 4}},
	} {
		m.count(tally)
	}
	maps.Copy(want, map[string]float64{
		"waitlist_entries_total status=WAITING": 9, "waitlist_entries_total status=BOOKED": 2,
		"waitlist_entries_total status=CANCELLED": 2,
		"waitlist_entries_total status=EXPIRED":   4, "waitlist_offers_total outcome=CREATED": 6,
		"waitlist_offers_total outcome=ACCEPTED": 1,
		"waitlist_offers_total outcome=DECLINED": 1, "waitlist_offers_total outcome=EXPIRED": 2,
		"waitlist_offers_total outcome=WITHDRAWN": 3,
		"waitlist_offer_response_time count":      2, "waitlist_offer_response_time sum": 120,
		"waitlist_cascade_depth count": 1, "waitlist_cascade_depth sum": 4,
		"waitlist_conversion_rate": 0.25, "berth_waitlist_repairs_total what=overdue_offer": 1,
		"berth_waitlist_repairs_total what=orphaned_entry": 2,
		"berth_waitlist_repairs_total what=orphaned_round": 3, "berth_waitlist_repairs_total what=missed_trigger": 4,
	})
	test.Eq(t, want, gathered(), test.Sprint("after counting"))
	test.Error(t, expect.Error(newWaitlistMetrics(registry)), test.Sprint("registering twice succeeds"))
}
