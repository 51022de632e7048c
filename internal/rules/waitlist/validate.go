package waitlist

import (
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/settings"
)

// Limits of the settings. The contract has them too. These also hold for callers that do not use the contract.
const (
	maxQueueSize   = 10_000
	maxOfferWindow = 7 * day
	leastWindow    = time.Minute
	maxLeastWindow = day
	maxFlexibility = 12 * time.Hour
	maxOffers      = 100
	maxTries       = 1_000
	maxStale       = 365 * day
	maxBase        = 10_000
	maxBonus       = 50
	maxTiers       = 50
	maxTier        = 50 // characters in the name of a tier
	maxPerDay      = 100
	maxEarlyBird   = 1_000
	maxCutoff      = 30 * day
	maxGrace       = 7 * day
	maxAfterStart  = day
	minAwake       = time.Hour // per day, outside of quiet hours

	day = 24 * time.Hour
)

// Validate returns an error if a level cannot have these settings: INVALID_FIELD, or RULES_INVALID for an expression
// that does not compile.
func (s Settings) Validate() error {
	if err := Fields.Validate(&s, "rules."); err != nil {
		return err
	}
	_, err := Compile(Resolve(Layer{Settings: s}).Rules)
	return err
}

// leastOffer returns an error if the minimum window is longer than the window.
func leastOffer(s *Settings, field string, value time.Duration) error {
	longest := maxLeastWindow
	if s.OfferWindow != nil {
		longest = min(longest, max(*s.OfferWindow, leastWindow))
	}
	return settings.Span(leastWindow, longest)(field, value)
}

func bonuses(field string, value map[string]int) error {
	if len(value) > maxTiers {
		return fault.Invalid(field, "At most %d tiers can have a bonus.", maxTiers)
	}
	for _, tier := range slices.Sorted(maps.Keys(value)) {
		switch points := value[tier]; {
		case tier == "" || !utf8.ValidString(tier) || utf8.RuneCountInString(tier) > maxTier:
			return fault.Invalid(field, "The name of a tier has 1 to %d characters.", maxTier)
		case points < 0 || points > maxBonus:
			return fault.Invalid(field, "A bonus is 0 to %d points, and that of %s is %d.", maxBonus, tier, points)
		}
	}
	return nil
}

func quiet(field string, value QuietHours) error {
	switch {
	case !value.From.Valid() || !value.Until.Valid():
		return fault.Invalid(field, "A time of day is 00:00 to 23:59.")
	case (value.Until.SinceMidnight()-value.From.SinceMidnight()+day)%day > day-minAwake:
		return fault.Invalid(field, "They leave at least an hour of the day.")
	}
	return nil
}

// Consistent checks rules that depend on several levels: INVALID_FIELD.
func (r Rules) Consistent() error {
	if r.Order == ByFormula && r.PriorityExpression == "" {
		return fault.Invalid("rules.priority_expression", "The order CUSTOM needs an expression.")
	}
	return nil
}
