package waitlist

import (
	"errors"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// Trigger is why seats are free.
type Trigger string

// The triggers.
const (
	ByCancellation Trigger = "CANCELLATION"
	ByNoShow       Trigger = "NO_SHOW"
	ByCapacity     Trigger = "CAPACITY_RAISED"
	ByUnblock      Trigger = "UNBLOCKED"
	ByPublish      Trigger = "PUBLISHED" // or new
	ByMove         Trigger = "SESSION_MOVED"
	ByExpiredHold  Trigger = "HOLD_EXPIRED"
	ByRelease      Trigger = "HOLD_RELEASED"
	ByReschedule   Trigger = "RESCHEDULED"
	ByDecline      Trigger = "OFFER_DECLINED"
	ByExpiry       Trigger = "OFFER_EXPIRED"
	ByWithdrawal   Trigger = "OFFER_WITHDRAWN"
	ByHand         Trigger = "BY_HAND"
	ByRules        Trigger = "RULES_CHANGED" // the seats were open before
	BySweep        Trigger = "SWEEP"         // the safety net: something else should have been the trigger
)

// letGo reports whether seats are free because somebody let an offer go, of those who were asked for them.
func (t Trigger) letGo(round Round) bool {
	return t == ByDecline || t == ByExpiry || t == ByRules && len(round.Tried) > 0
}

// Move is what becomes of freed seats. Every freed seat ends in exactly one.
type Move string

// The moves.
const (
	NobodyFits Move = "NOBODY_FITS" // the seats stay open, and staff are told
	MakeOffer  Move = "OFFER"       // with automatic promotion it is accepted at once
	RollOn     Move = "ROLL_ON"     // to the next, after somebody let it go
	HandBack   Move = "HAND_BACK"   // to staff: everybody was asked, or enough were
	noMove     Move = ""
)

// Verdicts that are no refusals of a booking.
const (
	Promoted      = "PROMOTED"
	WasOffered    = "OFFERED"
	NoSeatsLeft   = "NO_SEATS_LEFT"
	DownFitting   = "DOWN_FITTING"
	HasOffer      = "HAS_OFFER"
	OtherService  = "SERVICE"
	OtherLocation = "LOCATION"
	OtherResource = "RESOURCE"
	OtherDate     = "DATE"
	OtherTime     = "TIME"
	OtherStaff    = "STAFF_PREFERENCE"
	MaxOffers     = "MAX_OFFERS"
	Tried         = "TRIED"
	NotEligible   = "NOT_ELIGIBLE"
	RuleFailed    = "RULE_FAILED"
	NoTime        = "NO_TIME"
	AtNight       = "QUIET_HOURS"
	TryCap        = "TRY_CAP"
	NoCascade     = "NO_CASCADE"
)

// Verdict is the judgement on one entry.
type Verdict struct {
	Entry  tenant.EntryID  `json:"entry_id"`
	Member tenant.MemberID `json:"member_id"`
	// Reason is one of the above, PARTY_SIZE, or the refusal that its booking would get.
	Reason string `json:"reason"`
	Score  int    `json:"score"`
	Party  int    `json:"party"`
}

// Grant gives seats to an entry.
type Grant struct {
	Entry  tenant.EntryID  `json:"entry_id"`
	Member tenant.MemberID `json:"member_id"`
	Seats  int             `json:"seats"`
	Score  int             `json:"score"`
	Until  time.Time       `json:"until,omitzero"` // of an offer
}

// Decision is a move with the judgement on every entry considered.
type Decision struct {
	Mode     Mode // in which the seats were given: late promotions are offers
	Move     Move
	Grants   []Grant // in order
	Seats    *int    // that were open; nil: without limit
	Given    int
	LeftMove Move // what becomes of the seats that nobody got; empty where there are none
	Tried    int  // how many were asked in this round before
	Verdicts []Verdict
}

// Left is how many seats nobody got.
func (d Decision) Left() int {
	if d.Seats == nil {
		return 0
	}
	return *d.Seats - d.Given
}

// Decide tells who of a queue gets the open seats of a slot. Round says who was asked for them before. The same
// facts always lead to the same move.
func Decide(slot Slot, queue []Candidate, round Round, trigger Trigger, rules *Compiled, now time.Time) Decision {
	if round.Freed == 0 && slot.Seats != nil {
		round.Freed = *slot.Seats // it begins with this decision
	}
	s := rules.scene(slot, round, now)
	d := Decision{Mode: s.mode, Seats: slot.Seats, Tried: len(round.Tried), Verdicts: make([]Verdict, 0, len(queue))}
	left := 0
	if slot.Seats != nil {
		left = *slot.Seats
	}
	stop := rules.stops(slot, round, trigger, now)
	chosen := make(map[tenant.MemberID]bool)
	for _, c := range s.inOrder(queue) {
		grant := Grant{Entry: c.Entry, Member: c.Member, Seats: c.Party, Score: c.score}
		reason := s.unfit(c.Candidate)
		switch {
		case reason != "":
		case chosen[c.Member]:
			reason = HasOffer // through another wish of theirs
		case stop != "":
			reason = stop
		case slot.Seats != nil && left == 0:
			reason = NoSeatsLeft
		case slot.Seats != nil && c.Party > left:
			reason = string(fault.PartySize)
		case slot.Seats != nil && !rules.AllowDownFitting && c.Party < *slot.Seats:
			reason = DownFitting
		case c.Refusal != "":
			reason = c.Refusal
		case d.Mode == AutoPromote:
			reason = Promoted
		case rules.spent(round, len(d.Grants)):
			reason = TryCap
		default:
			if grant.Until, reason = s.offerEnd(c.Candidate); reason == "" {
				reason = WasOffered
			}
		}
		if reason == Promoted || reason == WasOffered {
			d.Grants = append(d.Grants, grant)
			chosen[c.Member] = true
			if d.Mode != FirstToClaim {
				d.Given, left = d.Given+c.Party, left-c.Party
			}
		}
		d.Verdicts = append(
			d.Verdicts, Verdict{Entry: c.Entry, Member: c.Member, Reason: reason, Score: c.score, Party: c.Party},
		)
	}
	if d.Mode == FirstToClaim && len(d.Grants) > 0 {
		wanted := 0
		for _, g := range d.Grants {
			wanted += g.Seats
		}
		d.Given = min(*slot.Seats, wanted) // whoever comes first
	}
	return d.moved()
}

// moved names the move.
func (d Decision) moved() Decision {
	none, some := NobodyFits, MakeOffer
	if d.Tried > 0 {
		none, some = HandBack, RollOn
	}
	d.Move = none
	if len(d.Grants) > 0 {
		d.Move = some
	}
	if d.Left() > 0 {
		d.LeftMove = none
	}
	return d
}

// modeFor is the mode in which seats are given now. Nobody is booked without being asked once the start is near; and
// where there is no end of seats there is nothing to be first for.
func (r Rules) modeFor(slot Slot, now time.Time) Mode {
	switch {
	case slot.Seats == nil:
		return AutoPromote
	case r.Mode == AutoPromote && now.After(slot.StartsAt.Add(-r.AutoPromoteCutoff)):
		return OfferInTurn
	}
	return r.Mode
}

// stops tells why nobody is asked, whoever they are; empty where somebody may be.
func (r Rules) stops(slot Slot, round Round, trigger Trigger, now time.Time) string {
	switch {
	case !r.Enabled:
		return string(fault.WaitlistClosed)
	case !now.Before(slot.Closes):
		return NoTime
	case trigger.letGo(round) && !r.AutoCascade:
		return NoCascade
	case r.spent(round, 0):
		return TryCap
	}
	return ""
}

// spent reports whether as many were asked for the seats of a round as the rules allow.
func (r Rules) spent(round Round, asking int) bool {
	return r.MaxTriesPerSlot > 0 && r.Mode != FirstToClaim &&
		len(round.Tried)+asking >= r.MaxTriesPerSlot*max(round.Freed, 1)
}

func (c Candidate) zone(slot Slot) string {
	if c.Zone != "" {
		return c.Zone
	}
	return slot.Zone
}

// RefusalOf names the reason of a refused booking for a Candidate.
func RefusalOf(err error) string {
	switch refusal, ok := errors.AsType[*fault.Error](err); {
	case err == nil:
		return ""
	case ok:
		return string(refusal.Reason)
	default:
		return string(fault.InternalError)
	}
}

// GraceUntil is the end of the time in which a member who was promoted at now may cancel without
// penalty, wherever the cancellation window stands: they did not choose the moment.
func (r Rules) GraceUntil(now, starts time.Time) time.Time {
	if until := now.Add(r.PromotionGrace); until.Before(starts) {
		return until
	}
	return starts
}
