package waitlist

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// Mode is how freed seats reach those who wait.
type Mode string

// The modes.
const (
	AutoPromote  Mode = "AUTO_PROMOTE"   // the first in order is booked at once
	OfferInTurn  Mode = "OFFER"          // one after the other is asked
	FirstToClaim Mode = "FIRST_TO_CLAIM" // all are told, and the first has it
)

// Order is what counts as fair.
type Order string

// The orders. A staff flag comes before all of them, and the time of joining settles ties.
const (
	ByJoining  Order = "JOIN_ORDER"
	ByPriority Order = "PRIORITY" // base score, tier bonus and early bird
	ByFormula  Order = "CUSTOM"   // an expression
)

// After is what becomes of an entry that let an offer go.
type After string

// What becomes of it.
const (
	ReturnEntry After = "RETURN" // back in the queue, where it stood
	CloseEntry  After = "CLOSE"
)

// QuietHours is a span of the day in which nobody is to be asked anything; over midnight where Until is before From,
// and none where both are the same.
type QuietHours struct {
	From  civil.TimeOfDay `json:"from"`
	Until civil.TimeOfDay `json:"until"`
}

// Rules are what holds for the waitlist of a service at a location, every value known.
type Rules struct {
	Enabled               bool
	Mode                  Mode
	MaxQueueSize          int           // entries for a location, service and day
	OfferWindow           time.Duration // how long an offer stands
	MinOfferWindow        time.Duration // it is never made for less
	TimeFlexibility       time.Duration // around the times of day of a window
	MaxOffersPerEntry     int           // 0: as many as come
	MaxTriesPerSlot       int           // offers for a freed seat before it goes back to staff; 0: as many as there are
	AfterExpiry           After
	AfterDecline          After
	AutoCascade           bool          // an offer that was let go passes to the next by itself
	ExpireStale           bool          // entries end when they have waited for long
	StaleAfter            time.Duration // that long
	AllowDownFitting      bool          // a party may take a part of the seats
	Order                 Order
	BaseScore             int
	TierBonus             map[string]int // 0 to 50
	EarlyBirdPerDay       int            // points for each whole day between joining and the start
	EarlyBirdMax          int
	EligibilityExpression string        // CEL; empty: everybody
	PriorityExpression    string        // CEL, for the order CUSTOM
	QuietHours            QuietHours    // where the member lives
	OffersInQuietHours    bool          // offers do not wait for the morning
	AutoPromoteCutoff     time.Duration // before the start; later than that seats are offered instead
	PromotionGrace        time.Duration // in which whoever was promoted may cancel without penalty
	FillAfterStart        time.Duration // how long after the start the seats of no-shows are still given away
	SMSMinScore           int           // offers of a lower score are not sent by SMS
}

// Settings are what one level says for itself. Nil inherits. The fields are those of Rules.
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
	TierBonus             *map[string]int `json:"tier_bonuses,omitempty"`
	EarlyBirdPerDay       *int            `json:"early_bird_points_per_day,omitempty"`
	EarlyBirdMax          *int            `json:"early_bird_max_points,omitempty"`
	EligibilityExpression *string         `json:"eligibility_expression,omitempty"`
	PriorityExpression    *string         `json:"priority_expression,omitempty"`
	QuietHours            *QuietHours     `json:"quiet_hours,omitempty"`
	OffersInQuietHours    *bool           `json:"offers_in_quiet_hours,omitempty"`
	AutoPromoteCutoff     *time.Duration  `json:"auto_promote_cutoff,omitempty"`
	PromotionGrace        *time.Duration  `json:"promotion_grace,omitempty"`
	FillAfterStart        *time.Duration  `json:"fill_after_start,omitempty"`
	SMSMinScore           *int            `json:"sms_min_score,omitempty"`
}

// Layer is what one level says, and since which version of the tenant's rules.
type Layer struct {
	Level    catalog.Level
	Scope    tenant.UUID // the tenant's, location's or service's id
	Settings Settings
	Version  int // 0: nothing was ever said
}

// Defaults are the rules of a tenant that wrote nothing down.
func Defaults() Rules {
	return Rules{
		Enabled:           true,
		Mode:              AutoPromote,
		MaxQueueSize:      50,
		OfferWindow:       30 * time.Minute,
		MinOfferWindow:    5 * time.Minute,
		TimeFlexibility:   time.Hour,
		MaxOffersPerEntry: 3,
		MaxTriesPerSlot:   10,
		AfterExpiry:       ReturnEntry,
		AfterDecline:      ReturnEntry,
		AutoCascade:       true,
		StaleAfter:        24 * time.Hour,
		AllowDownFitting:  true,
		Order:             ByJoining,
		BaseScore:         100,
		EarlyBirdMax:      50,
		QuietHours:        QuietHours{From: civil.TimeOfDay{Hour: 21}, Until: civil.TimeOfDay{Hour: 8}}, // those of messages
		PromotionGrace:    time.Hour,
	}
}

// Effective is the rules in force somewhere, and why.
type Effective struct {
	Rules Rules
	// Origins name for each field of Rules the level that it comes from.
	Origins map[string]catalog.Level
	// Version is that of the last change on the way: it tells these rules from all others that held before.
	Version int
	Layers  []Layer
}

// Resolve lays layers over the defaults, in the order given: tenant, location, service.
func Resolve(layers ...Layer) Effective {
	e := Effective{Rules: Defaults(), Origins: make(map[string]catalog.Level), Layers: layers}
	rules := reflect.ValueOf(&e.Rules).Elem()
	for i := range rules.NumField() {
		e.Origins[rules.Type().Field(i).Name] = catalog.Default
	}
	for _, layer := range layers {
		e.Version = max(e.Version, layer.Version)
		says := reflect.ValueOf(layer.Settings)
		for i := range says.NumField() {
			if said := says.Field(i); !said.IsNil() {
				rules.Field(i).Set(said.Elem()) // a test holds the fields of both alike
				e.Origins[rules.Type().Field(i).Name] = layer.Level
			}
		}
	}
	return e
}

// ResolveAt resolves the layers of a tenant that apply to a service at a location.
func ResolveAt(all []Layer, location tenant.LocationID, service tenant.ServiceID) Effective {
	var layers []Layer
	for _, l := range all {
		switch {
		case l.Level == catalog.TenantLevel,
			l.Level == catalog.LocationLevel && l.Scope == location.UUID,
			l.Level == catalog.ServiceLevel && l.Scope == service.UUID:
			layers = append(layers, l)
		}
	}
	return Resolve(layers...)
}

// RulesOf returns a function that resolves the rules of a queue.
func RulesOf(all []Layer) func(Queue) Rules {
	return func(q Queue) Rules { return ResolveAt(all, q.Location, q.Service).Rules }
}

// Settings writes rules down as a layer that leaves nothing open.
func (r Rules) Settings() Settings {
	var s Settings
	from, into := reflect.ValueOf(r), reflect.ValueOf(&s).Elem()
	for i := range from.NumField() {
		value := reflect.New(from.Field(i).Type())
		value.Elem().Set(from.Field(i))
		into.Field(i).Set(value)
	}
	return s
}

// Admits refuses one more entry in a queue: WAITLIST_CLOSED, WAITLIST_FULL.
func (r Rules) Admits(waiting int, on civil.Date) error {
	switch {
	case !r.Enabled:
		return fault.New(fault.FailedPrecondition, fault.WaitlistClosed, "There is no waitlist.")
	case waiting >= r.MaxQueueSize:
		return fault.New(fault.FailedPrecondition, fault.WaitlistFull, "The waitlist of that day is full.").
			With("limit", strconv.Itoa(r.MaxQueueSize)).With("date", on.String())
	}
	return nil
}

// Facts are the settings by their names in the contract, for the record of a change. What is inherited is nil.
func (s Settings) Facts() catalog.Facts {
	facts := make(catalog.Facts)
	from := reflect.ValueOf(s)
	for i := range from.NumField() {
		name, _, _ := strings.Cut(from.Type().Field(i).Tag.Get("json"), ",")
		facts[name] = nil
		if said := from.Field(i); !said.IsNil() {
			facts[name] = said.Elem().Interface()
		}
	}
	return facts
}
