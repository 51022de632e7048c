package simulate

import (
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// planForSale is a plan, with the share of members who buy it.
type planForSale struct {
	credit.Plan
	share float64
}

func (w *world) randomPolicy() catalog.BookingPolicy {
	p := catalog.Defaults()
	p.AdvanceWindow = pick(w, []time.Duration{2 * day, 7 * day, 30 * day})
	p.BookingClosesBefore = pick(w, []time.Duration{0, 0, 30 * time.Minute, 2 * time.Hour})
	p.CancellationWindow = pick(w, []time.Duration{2 * time.Hour, 12 * time.Hour, day})
	p.AllowLateCancellation, p.AllowReschedule, p.AutoNoShow = w.chance(0.7), w.chance(0.5), w.chance(0.5)
	p.AutoNoShowAfterStart = pick(w, []time.Duration{0, 0, 5 * time.Minute, 20 * time.Minute})
	p.HoldTTL = pick(w, []time.Duration{2 * time.Minute, 10 * time.Minute, time.Hour})
	if w.chance(0.5) {
		p.TierCancellations = map[string]catalog.TierPolicy{
			"gold":   {CancellationWindow: new(time.Hour)},
			"silver": {CancellationWindow: new(2 * day), AllowReschedule: new(true)},
		}
	}
	return p
}

func (w *world) randomRules() waitlist.Rules {
	r := waitlist.Defaults()
	r.Mode = pick(
		w, []waitlist.Mode{waitlist.AutoPromote, waitlist.OfferInTurn, waitlist.OfferInTurn, waitlist.FirstToClaim},
	)
	r.Enabled = w.chance(0.97)
	r.MaxQueueSize = 5 + w.rng.IntN(45)
	r.MinOfferWindow = time.Duration(1+w.rng.IntN(10)) * time.Minute
	r.OfferWindow = r.MinOfferWindow + time.Duration(w.rng.IntN(180))*time.Minute
	r.TimeFlexibility = pick(w, []time.Duration{0, time.Hour, 2 * time.Hour})
	r.MaxOffersPerEntry, r.MaxTriesPerSlot = w.rng.IntN(4), w.rng.IntN(6)
	r.AutoCascade, r.AllowDownFitting = w.chance(0.85), w.chance(0.85)
	r.AfterExpiry, r.AfterDecline = pick(
		w, []waitlist.After{waitlist.ReturnEntry, waitlist.CloseEntry},
	), pick(w, []waitlist.After{waitlist.ReturnEntry, waitlist.CloseEntry})
	r.ExpireStale, r.StaleAfter = w.chance(0.2), 2*day
	r.Order = pick(w, []waitlist.Order{waitlist.ByJoining, waitlist.ByPriority, waitlist.ByFormula})
	r.PriorityExpression = fewer
	r.EligibilityExpression = pick(w, []string{"", "", "", notGold, small})
	r.TierBonuses = map[string]int{"gold": 50, "silver": 20}
	r.EarlyBirdPointsPerDay = w.rng.IntN(10)
	r.OffersInQuietHours = w.chance(0.3)
	r.QuietHours = waitlist.QuietHours{
		From: civil.TimeOfDay{Hour: 20 + w.rng.IntN(3)}, Until: civil.TimeOfDay{Hour: 6 + w.rng.IntN(3)},
	}
	r.AutoPromoteCutoff = pick(w, []time.Duration{0, time.Hour, 6 * time.Hour})
	r.PromotionGrace = pick(w, []time.Duration{0, time.Hour, 3 * time.Hour})
	r.PromoteAfterCancellationWindow = w.chance(0.5)
	r.SMSMinScore = pick(w, []int{0, 0, 0, 110})
	r.FillAfterStart = pick(w, []time.Duration{0, 0, 15 * time.Minute, time.Hour})
	r.FillAfterStartSingle = pick(w, []time.Duration{0, 15 * time.Minute, 15 * time.Minute, time.Hour})
	return r
}

func (w *world) randomPlans() []planForSale {
	plans := []planForSale{
		{
			share: 0.25,
			Plan:  credit.Plan{Kind: credit.Unlimited, DailyLimit: new(1 + w.rng.IntN(2)), WeeklyLimit: new(3 + w.rng.IntN(4))},
		},
		{
			share: 0.25,
			Plan: credit.Plan{
				Kind: credit.Credits, Credits: 4 + w.rng.IntN(8), Period: new(7 * day), Term: new(70 * day), WeeklyLimit: new(4),
			},
		},
		{share: 0.2, Plan: credit.Plan{Kind: credit.Credits, Credits: 10, Term: new(60 * day), AllowOverlap: true}},
		{share: 0.2, Plan: credit.Plan{Kind: credit.Credits, Credits: 6, Period: new(30 * day), DailyLimit: new(2)}},
		{share: 0.1, Plan: credit.Plan{Kind: credit.Course}},
	}
	for i := range plans {
		plans[i].ID = id[tenant.PlanID](&w.tables)
	}
	return plans
}
