package app

import (
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// payers are the subscriptions that could pay for a place.
type payers []credit.Subscription

func (p *payers) load(t *tx, batch *pg.Batch, member tenant.MemberID, named tenant.SubscriptionID) {
	*p = nil
	bookingdb.FindPayers(batch, t.in, member, named, func(s credit.Subscription) {
		*p = append(*p, s)
		t.table.plans = append(t.table.plans, s.Plan.ID)
	})
}

// more reads what those whose plans limit it have used on a local day and in its week.
func (p *payers) more(t *tx, batch *pg.Batch, on civil.Date) {
	for i := range *p {
		s := &(*p)[i]
		s.Plan = t.table.house.Plans[s.Plan.ID]
		if s.Plan.DailyLimit != nil {
			bookingdb.FindUsage(batch, t.in, bookingdb.Usage{Subscription: s.ID, On: on}, func(used int) { s.UsedToday = used })
		}
		if s.Plan.WeeklyLimit != nil {
			bookingdb.FindUsage(batch, t.in, bookingdb.Usage{Subscription: s.ID, Week: true, On: on.WeekStart()}, func(used int) { s.UsedThisWeek = used })
		}
	}
}
