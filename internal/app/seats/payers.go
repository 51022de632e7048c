package seats

import (
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// LoadPayers asks for the subscriptions that could pay for a booking in the slot, with their use on its local day and
// in its week, if the plan limits it. If one is named, it asks for that one only.
func LoadPayers(
	q *engine.Query, slot **booking.Slot, member tenant.MemberID, named tenant.SubscriptionID, into *[]credit.Subscription,
) {
	s := stateOf(q.State)
	bookingdb.FindPayers(q.Batch, q.Tenant, member, named, func(found credit.Subscription) {
		*into = append(*into, found)
		s.plans = append(s.plans, found.Plan.ID)
	})
	q.Then(func(q *engine.Query) {
		if *slot != nil {
			loadUsage(q, s.snapshot, **slot, *into)
		}
	})
}

func loadUsage(q *engine.Query, snapshot *booking.Snapshot, slot booking.Slot, payers []credit.Subscription) {
	for i := range payers {
		p := &payers[i]
		p.Plan = snapshot.Plans[p.Plan.ID]
		if p.Plan.DailyLimit != nil {
			day := bookingdb.Usage{Subscription: p.ID, On: slot.LocalDate}
			bookingdb.FindUsage(q.Batch, q.Tenant, day, func(used int) { p.UsedToday = used })
		}
		if p.Plan.WeeklyLimit != nil {
			week := bookingdb.Usage{Subscription: p.ID, Week: true, On: slot.LocalDate.WeekStart()}
			bookingdb.FindUsage(q.Batch, q.Tenant, week, func(used int) { p.UsedThisWeek = used })
		}
	}
}
