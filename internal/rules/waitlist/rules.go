package waitlist

import (
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/settings"
	"github.com/berthhq/berth/internal/tenant"
)

// Mode is how freed seats are filled.
type Mode string

// The modes.
const (
	AutoPromote  Mode = "AUTO_PROMOTE"   // the first in order is booked automatically, if scene.promotes lets it
	OfferInTurn  Mode = "OFFER"          // one entry after the other gets an offer
	FirstToClaim Mode = "FIRST_TO_CLAIM" // all get an offer, and the first to claim gets the seats
)

// Order is the sort order of a queue.
type Order string

// The orders. Flagged entries always come first, and the time of joining breaks ties.
const (
	ByJoining  Order = "JOIN_ORDER"
	ByPriority Order = "PRIORITY" // base score, tier bonus and early bird
	ByFormula  Order = "CUSTOM"   // an expression
)

// After is what happens to an entry whose offer ended.
type After string

// The values of After.
const (
	ReturnEntry After = "RETURN" // back in the queue, at its old position
	CloseEntry  After = "CLOSE"
)

// QuietHours is a range of the day in which members get no offers. It crosses midnight if Until is before From, and is
// empty if both are equal.
type QuietHours struct {
	From  civil.TimeOfDay `json:"from"`
	Until civil.TimeOfDay `json:"until"`
}

// Rules are the waitlist rules of a service at a location. Every value is set.
type Rules struct {
	Enabled               bool
	Mode                  Mode
	MaxQueueSize          int           // entries per location, service and day
	OfferWindow           time.Duration // how long an offer is live
	MinOfferWindow        time.Duration // an offer is never shorter
	TimeFlexibility       time.Duration // around the times of day of a window
	MaxOffersPerEntry     int           // 0 is unlimited
	MaxTriesPerSlot       int           // offers for a freed seat before it goes to staff; 0 is unlimited
	AfterExpiry           After
	AfterDecline          After
	AutoCascade           bool          // when an offer ends, the next entry gets one automatically
	ExpireStale           bool          // entries expire when they have waited too long
	StaleAfter            time.Duration // how long that is
	AllowDownFitting      bool          // a party can take some of several open seats
	Order                 Order
	BaseScore             int
	TierBonuses           map[string]int // 0 to 50
	EarlyBirdPointsPerDay int            // points for each whole day between joining and the start
	EarlyBirdMaxPoints    int
	EligibilityExpression string        // CEL; empty is everyone
	PriorityExpression    string        // CEL, for the order CUSTOM
	QuietHours            QuietHours    // in the member's zone
	OffersInQuietHours    bool          // offers do not wait until quiet hours end
	AutoPromoteCutoff     time.Duration // before the start; after that, seats are offered instead
	PromotionGrace        time.Duration // in which a promoted member can cancel without penalty
	FillAfterStart        time.Duration // how long after the start the seats of no-shows are filled
	SMSMinScore           int           // offers with a lower score are not sent by SMS
	// PromoteAfterCancellationWindow books entries automatically also when it is too late to cancel.
	PromoteAfterCancellationWindow bool
	FillAfterStartSingle           time.Duration // FillAfterStart of sessions with one seat
}

// Settings are what one level sets. Nil inherits. The fields are those of Rules.
type Settings struct {
	Enabled               *bool           `json:"enabled,omitempty"`
	Mode                  *Mode           `json:"mode,omitempty"`
	MaxQueueSize          *int            `json:"max_queue_size,omitempty"`
	OfferWindow           *time.Duration  `json:"offer_window,omitempty"`
	MinOfferWindow        *time.Duration  `json:"min_offer_window,omitempty"`
	TimeFlexibility       *time.Duration  `json:"time_flexibility,omitempty"`
	MaxOffersPerEntry     *int            `json:"max_offers_per_entry,omitempty"`
	MaxTriesPerSlot       *int            `json:"max_tries_per_slot,omitempty"`
	AfterExpiry           *After          `json:"after_expiry,omitempty"`
	AfterDecline          *After          `json:"after_decline,omitempty"`
	AutoCascade           *bool           `json:"auto_cascade,omitempty"`
	ExpireStale           *bool           `json:"expire_stale,omitempty"`
	StaleAfter            *time.Duration  `json:"stale_after,omitempty"`
	AllowDownFitting      *bool           `json:"allow_down_fitting,omitempty"`
	Order                 *Order          `json:"order,omitempty"`
	BaseScore             *int            `json:"base_score,omitempty"`
	TierBonuses           *map[string]int `json:"tier_bonuses,omitempty"`
	EarlyBirdPointsPerDay *int            `json:"early_bird_points_per_day,omitempty"`
	EarlyBirdMaxPoints    *int            `json:"early_bird_max_points,omitempty"`
	EligibilityExpression *string         `json:"eligibility_expression,omitempty"`
	PriorityExpression    *string         `json:"priority_expression,omitempty"`
	QuietHours            *QuietHours     `json:"quiet_hours,omitempty"`
	OffersInQuietHours    *bool           `json:"offers_in_quiet_hours,omitempty"`
	AutoPromoteCutoff     *time.Duration  `json:"auto_promote_cutoff,omitempty"`
	PromotionGrace        *time.Duration  `json:"promotion_grace,omitempty"`
	FillAfterStart        *time.Duration  `json:"fill_after_start,omitempty"`
	SMSMinScore           *int            `json:"sms_min_score,omitempty"`

	PromoteAfterCancellationWindow *bool          `json:"promote_after_cancellation_window,omitempty"`
	FillAfterStartSingle           *time.Duration `json:"fill_after_start_single,omitempty"`
}

// Layer is the settings of one level, with their version.
type Layer struct {
	Level    catalog.Level
	Scope    tenant.UUID // the id of the tenant, location or service
	Settings Settings
	Version  int // 0 if it was never set
}

// Fields are the settings of waitlist rules. They are validated in this order.
var Fields = settings.Table[Settings, Rules]{
	settings.New("enabled", func(s *Settings, r *Rules) (**bool, *bool) { return &s.Enabled, &r.Enabled }).Default(true),
	settings.New("mode", func(s *Settings, r *Rules) (**Mode, *Mode) { return &s.Mode, &r.Mode }).
		Default(OfferInTurn).Check(settings.OneOf(AutoPromote, OfferInTurn, FirstToClaim)),
	settings.New("max_queue_size", func(s *Settings, r *Rules) (**int, *int) { return &s.MaxQueueSize, &r.MaxQueueSize }).
		Default(50).Check(settings.Number(1, maxQueueSize)),
	settings.New("offer_window",
		func(s *Settings, r *Rules) (**time.Duration, *time.Duration) { return &s.OfferWindow, &r.OfferWindow }).
		Default(30 * time.Minute).Check(settings.Span(leastWindow, maxOfferWindow)),
	settings.New("min_offer_window",
		func(s *Settings, r *Rules) (**time.Duration, *time.Duration) {
			return &s.MinOfferWindow, &r.MinOfferWindow
		}).
		Default(5 * time.Minute).CheckWith(leastOffer),
	settings.New("time_flexibility",
		func(s *Settings, r *Rules) (**time.Duration, *time.Duration) {
			return &s.TimeFlexibility, &r.TimeFlexibility
		}).
		Default(time.Hour).Check(settings.Span(0, maxFlexibility)),
	settings.New("max_offers_per_entry",
		func(s *Settings, r *Rules) (**int, *int) { return &s.MaxOffersPerEntry, &r.MaxOffersPerEntry }).
		Default(3).Check(settings.Number(0, maxOffers)),
	settings.New("max_tries_per_slot",
		func(s *Settings, r *Rules) (**int, *int) { return &s.MaxTriesPerSlot, &r.MaxTriesPerSlot }).
		Default(10).Check(settings.Number(0, maxTries)),
	settings.New("after_expiry", func(s *Settings, r *Rules) (**After, *After) { return &s.AfterExpiry, &r.AfterExpiry }).
		Default(ReturnEntry).Check(settings.OneOf(ReturnEntry, CloseEntry)),
	settings.New("after_decline",
		func(s *Settings, r *Rules) (**After, *After) { return &s.AfterDecline, &r.AfterDecline }).
		Default(ReturnEntry).Check(settings.OneOf(ReturnEntry, CloseEntry)),
	settings.New("auto_cascade", func(s *Settings, r *Rules) (**bool, *bool) { return &s.AutoCascade, &r.AutoCascade }).
		Default(true),
	settings.New("expire_stale", func(s *Settings, r *Rules) (**bool, *bool) { return &s.ExpireStale, &r.ExpireStale }),
	settings.New("stale_after",
		func(s *Settings, r *Rules) (**time.Duration, *time.Duration) { return &s.StaleAfter, &r.StaleAfter }).
		Default(24 * time.Hour).Check(settings.Span(MinStale, maxStale)),
	settings.New("allow_down_fitting",
		func(s *Settings, r *Rules) (**bool, *bool) { return &s.AllowDownFitting, &r.AllowDownFitting }).
		Default(true),
	settings.New("order", func(s *Settings, r *Rules) (**Order, *Order) { return &s.Order, &r.Order }).
		Default(ByJoining).Check(settings.OneOf(ByJoining, ByPriority, ByFormula)),
	settings.New("base_score", func(s *Settings, r *Rules) (**int, *int) { return &s.BaseScore, &r.BaseScore }).
		Default(100).Check(settings.Number(0, maxBase)),
	settings.New("tier_bonuses",
		func(s *Settings, r *Rules) (**map[string]int, *map[string]int) { return &s.TierBonuses, &r.TierBonuses }).
		Check(bonuses),
	settings.New("early_bird_points_per_day",
		func(s *Settings, r *Rules) (**int, *int) { return &s.EarlyBirdPointsPerDay, &r.EarlyBirdPointsPerDay }).
		Check(settings.Number(0, maxPerDay)),
	settings.New("early_bird_max_points",
		func(s *Settings, r *Rules) (**int, *int) { return &s.EarlyBirdMaxPoints, &r.EarlyBirdMaxPoints }).
		Default(50).Check(settings.Number(0, maxEarlyBird)),
	settings.New("eligibility_expression",
		func(s *Settings, r *Rules) (**string, *string) {
			return &s.EligibilityExpression, &r.EligibilityExpression
		}),
	settings.New("priority_expression",
		func(s *Settings, r *Rules) (**string, *string) { return &s.PriorityExpression, &r.PriorityExpression }),
	settings.New("quiet_hours",
		func(s *Settings, r *Rules) (**QuietHours, *QuietHours) { return &s.QuietHours, &r.QuietHours }).
		Default(QuietHours{From: civil.TimeOfDay{Hour: 21}, Until: civil.TimeOfDay{Hour: 8}}).Check(quiet),
	settings.New("offers_in_quiet_hours",
		func(s *Settings, r *Rules) (**bool, *bool) { return &s.OffersInQuietHours, &r.OffersInQuietHours }),
	settings.New("auto_promote_cutoff",
		func(s *Settings, r *Rules) (**time.Duration, *time.Duration) {
			return &s.AutoPromoteCutoff, &r.AutoPromoteCutoff
		}).
		Check(settings.Span(0, maxCutoff)),
	settings.New("promotion_grace",
		func(s *Settings, r *Rules) (**time.Duration, *time.Duration) {
			return &s.PromotionGrace, &r.PromotionGrace
		}).
		Default(time.Hour).Check(settings.Span(0, maxGrace)),
	settings.New("fill_after_start",
		func(s *Settings, r *Rules) (**time.Duration, *time.Duration) {
			return &s.FillAfterStart, &r.FillAfterStart
		}).
		Check(settings.Span(0, maxAfterStart)),
	settings.New("sms_min_score", func(s *Settings, r *Rules) (**int, *int) { return &s.SMSMinScore, &r.SMSMinScore }).
		Check(settings.Number(0, MaxScore)),
	settings.New("promote_after_cancellation_window",
		func(s *Settings, r *Rules) (**bool, *bool) {
			return &s.PromoteAfterCancellationWindow, &r.PromoteAfterCancellationWindow
		}),
	settings.New("fill_after_start_single",
		func(s *Settings, r *Rules) (**time.Duration, *time.Duration) {
			return &s.FillAfterStartSingle, &r.FillAfterStartSingle
		}).
		Default(15 * time.Minute).Check(settings.Span(0, maxAfterStart)),
}

var defaults = Fields.Defaults()

// Defaults returns the rules of a tenant without settings.
func Defaults() Rules { return defaults }

// EffectiveRules are the effective rules of a queue, and where they come from.
type EffectiveRules struct {
	Rules Rules
	// Origins maps each field of Rules to the level that it comes from.
	Origins map[string]catalog.Level
	// Version is the version of the last change on any of the levels. It identifies these rules among all earlier ones.
	Version int
	Layers  []Layer
}

// Resolve applies layers to the defaults, in the given order: tenant, location, service.
func Resolve(layers ...Layer) EffectiveRules {
	e := EffectiveRules{Layers: layers}
	e.Rules, e.Origins = settings.Resolve(Fields, catalog.Default, layers,
		func(l *Layer) (catalog.Level, *Settings) { return l.Level, &l.Settings })
	for _, l := range layers {
		e.Version = max(e.Version, l.Version)
	}
	return e
}

// Settings returns the rules as a layer that sets every field.
func (r Rules) Settings() Settings { return Fields.Explicit(r) }

// Admits returns an error if a queue takes no further entry: WAITLIST_CLOSED, WAITLIST_FULL.
func (r Rules) Admits(waiting int, on civil.Date) error {
	switch {
	case !r.Enabled:
		return fault.New(fault.FailedPrecondition, fault.WaitlistClosed, "There is no waitlist.")
	case waiting >= r.MaxQueueSize:
		return fault.New(fault.FailedPrecondition, fault.WaitlistFull, "The waitlist of that day is full.").
			WithMetadata("limit", strconv.Itoa(r.MaxQueueSize)).WithMetadata("date", on.String())
	}
	return nil
}

// AuditFields returns the settings by their names in the contract, for the audit log. Inherited settings are nil.
func (s Settings) AuditFields() catalog.AuditFields { return Fields.Values(&s) }
