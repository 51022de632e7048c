package waitlist

import (
	"cmp"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/berthhq/berth/internal/fault"
)

// Bounds of what a tenant may write down. The contract states them too; here they hold for whoever does not come
// through it.
const (
	maxQueueSize   = 10_000
	maxOfferWindow = 7 * day
	maxLeastWindow = day
	maxFlexibility = 12 * time.Hour
	maxOffers      = 100
	maxTries       = 1_000
	maxStale       = 365 * day
	maxBase        = 10_000
	maxBonus       = 50
	maxTiers       = 50
	maxTier        = 50 // characters of a tier's name
	maxPerDay      = 100
	maxEarlyBird   = 1_000
	maxCutoff      = 30 * day
	maxGrace       = 7 * day
	maxAfterStart  = day
	minAwake       = time.Hour // of a day, outside quiet hours

	day = 24 * time.Hour
)

// Validate refuses what no level may say: INVALID_FIELD, and RULES_INVALID for an expression that does not compile.
func (s Settings) Validate() error {
	least := time.Minute
	longest := maxLeastWindow
	if s.OfferWindow != nil {
		longest = min(longest, max(*s.OfferWindow, least))
	}
	err := cmp.Or(
		oneOf("rules.mode", s.Mode, AutoPromote, OfferInTurn, FirstToClaim),
		number("rules.max_queue_size", s.MaxQueueSize, 1, maxQueueSize),
		span("rules.offer_window", s.OfferWindow, least, maxOfferWindow),
		span("rules.min_offer_window", s.MinOfferWindow, least, longest),
		span("rules.time_flexibility", s.TimeFlexibility, 0, maxFlexibility),
		number("rules.max_offers_per_entry", s.MaxOffersPerEntry, 0, maxOffers),
		number("rules.max_tries_per_slot", s.MaxTriesPerSlot, 0, maxTries),
		oneOf("rules.after_expiry", s.AfterExpiry, ReturnEntry, CloseEntry),
		oneOf("rules.after_decline", s.AfterDecline, ReturnEntry, CloseEntry),
		span("rules.stale_after", s.StaleAfter, MinStale, maxStale),
		oneOf("rules.order", s.Order, ByJoining, ByPriority, ByFormula),
		number("rules.base_score", s.BaseScore, 0, maxBase),
		bonuses("rules.tier_bonuses", s.TierBonus),
		number("rules.early_bird_points_per_day", s.EarlyBirdPerDay, 0, maxPerDay),
		number("rules.early_bird_max_points", s.EarlyBirdMax, 0, maxEarlyBird),
		quiet("rules.quiet_hours", s.QuietHours),
		span("rules.auto_promote_cutoff", s.AutoPromoteCutoff, 0, maxCutoff),
		span("rules.promotion_grace", s.PromotionGrace, 0, maxGrace),
		span("rules.fill_after_start", s.FillAfterStart, 0, maxAfterStart),
		number("rules.sms_min_score", s.SMSMinScore, 0, MaxScore),
	)
	if err != nil {
		return err
	}
	_, err = Compile(Resolve(Layer{Settings: s}).Rules)
	return err
}

func oneOf[T ~string](field string, value *T, all ...T) error {
	if value != nil && !slices.Contains(all, *value) {
		return fault.Invalid(field, "It is one of %v.", all)
	}
	return nil
}

func number(field string, value *int, least, most int) error {
	if value != nil && (*value < least || *value > most) {
		return fault.Invalid(field, "It is %d to %d.", least, most)
	}
	return nil
}

// span refuses what is out of bounds, or finer than a second: nothing finer is kept.
func span(field string, value *time.Duration, least, most time.Duration) error {
	switch {
	case value == nil:
		return nil
	case *value < least || *value > most:
		return fault.Invalid(field, "It is %s to %s long.", least, most)
	case *value%time.Second != 0:
		return fault.Invalid(field, "It is a whole number of seconds.")
	}
	return nil
}

func bonuses(field string, value *map[string]int) error {
	if value == nil {
		return nil
	}
	if len(*value) > maxTiers {
		return fault.Invalid(field, "At most %d tiers can have a bonus.", maxTiers)
	}
	for _, tier := range slices.Sorted(maps.Keys(*value)) {
		switch points := (*value)[tier]; {
		case tier == "" || !utf8.ValidString(tier) || utf8.RuneCountInString(tier) > maxTier:
			return fault.Invalid(field, "The name of a tier has 1 to %d characters.", maxTier)
		case points < 0 || points > maxBonus:
			return fault.Invalid(field, "A bonus is 0 to %d points, and that of %s is %d.", maxBonus, tier, points)
		}
	}
	return nil
}

func quiet(field string, value *QuietHours) error {
	switch {
	case value == nil:
		return nil
	case !value.From.Valid() || !value.Until.Valid():
		return fault.Invalid(field, "A time of day is 00:00 to 23:59.")
	case (value.Until.SinceMidnight()-value.From.SinceMidnight()+day)%day > day-minAwake:
		return fault.Invalid(field, "They leave at least an hour of the day.")
	}
	return nil
}

// Consistent refuses rules in force that one level alone cannot see to be wrong: INVALID_FIELD.
func (r Rules) Consistent() error {
	if r.Order == ByFormula && r.PriorityExpression == "" {
		return fault.Invalid("rules.priority_expression", "The order CUSTOM needs an expression.")
	}
	return nil
}
