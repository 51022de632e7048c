package waitlist

import (
	"errors"
	"slices"
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
	ByPublish      Trigger = "PUBLISHED" // or created
	ByMove         Trigger = "SESSION_MOVED"
	ByExpiredHold  Trigger = "HOLD_EXPIRED"
	ByRelease      Trigger = "HOLD_RELEASED"
	ByReschedule   Trigger = "RESCHEDULED"
	ByDecline      Trigger = "OFFER_DECLINED"
	ByExpiry       Trigger = "OFFER_EXPIRED"
	ByWithdrawal   Trigger = "OFFER_WITHDRAWN"
	ByHand         Trigger = "BY_HAND"
	ByRules        Trigger = "RULES_CHANGED"  // the seats were open before
	ByRecheck      Trigger = "RECHECKED"      // so were they: the reason is gone for which an entry was passed over
	ByOpening      Trigger = "BOOKING_OPENED" // members can book from now on
	BySweep        Trigger = "SWEEP"          // the safety net: another trigger was missed
)

// ofOpenSeats reports whether the seats were open before, and nothing has freed them now.
func (t Trigger) ofOpenSeats() bool { return t == ByRules || t == ByRecheck }

// FreesSeats reports whether seats that were not open before are why a session is filled.
func (t Trigger) FreesSeats() bool { return !t.ofOpenSeats() && t != ByOpening && t != BySweep }

// afterEndedOffer reports whether the seats are free because an offer of the round ended without a booking.
func (t Trigger) afterEndedOffer(round Round) bool {
	return t == ByDecline || t == ByExpiry || t.ofOpenSeats() && len(round.Tried) > 0
}

// Move is the result for freed seats. Each freed seat has exactly one.
type Move string

// The moves.
const (
	NobodyFits Move = "NOBODY_FITS" // the seats stay open, and staff get a note
	MakeOffer  Move = "OFFER"       // with automatic promotion, a booking
	RollOn     Move = "ROLL_ON"     // to the next entry, after an offer ended
	HandBack   Move = "HAND_BACK"   // to staff: all entries, or as many as the rules allow, had an offer
	noMove     Move = ""
)

// VerdictReason is why an entry got seats or not: one of those below, or the fault.Reason of the refusal that its
// booking would get, if reasonTexts has it.
type VerdictReason string

// The reasons other than the refusal of a booking.
const (
	Promoted       VerdictReason = "PROMOTED"
	WasOffered     VerdictReason = "OFFERED"
	NoSeatsLeft    VerdictReason = "NO_SEATS_LEFT"
	DownFitting    VerdictReason = "DOWN_FITTING"
	HasOffer       VerdictReason = "HAS_OFFER"
	OtherService   VerdictReason = "SERVICE"
	OtherLocation  VerdictReason = "LOCATION"
	OtherResource  VerdictReason = "RESOURCE"
	OtherDate      VerdictReason = "DATE"
	OtherTime      VerdictReason = "TIME"
	OtherStaff     VerdictReason = "STAFF_PREFERENCE"
	MaxOffers      VerdictReason = "MAX_OFFERS"
	AlreadyOffered VerdictReason = "TRIED"
	NotEligible    VerdictReason = "NOT_ELIGIBLE"
	RuleFailed     VerdictReason = "RULE_FAILED"
	NoTime         VerdictReason = "NO_TIME"
	InQuietHours   VerdictReason = "QUIET_HOURS"
	GaveUp         VerdictReason = "GAVE_UP"
	MaxTries       VerdictReason = "TRY_CAP"
	NoCascade      VerdictReason = "NO_CASCADE"
	BookingRefused VerdictReason = "BOOKING_REFUSED" // for a reason that is not in reasonTexts
)

// Verdict is the result for one entry.
type Verdict struct {
	Entry  tenant.EntryID  `json:"entry_id"`
	Member tenant.MemberID `json:"member_id"`
	Reason VerdictReason   `json:"reason"`
	Score  int             `json:"score"`
	Party  int             `json:"party"`
}

// Grant gives seats to an entry.
type Grant struct {
	Entry  tenant.EntryID  `json:"entry_id"`
	Member tenant.MemberID `json:"member_id"`
	Seats  int             `json:"seats"`
	Score  int             `json:"score"`
	Until  time.Time       `json:"until,omitzero"` // end of the offer; zero: it is booked
}

// promotes reports whether the grant is a booking, and not an offer.
func (g Grant) promotes() bool { return g.Until.IsZero() }

// Decision is a move, with a verdict on every entry that was considered.
type Decision struct {
	Mode     Mode // with AutoPromote, entries that may not be booked get offers
	Move     Move
	Grants   []Grant // in order
	Seats    *int    // open seats; nil is unlimited
	Given    int
	LeftMove Move // the move of the seats that no entry got; empty if there are none
	Tried    int  // how many members had an offer in this round before
	Verdicts []Verdict
}

// offered returns how many seats are reserved for offers.
func (d Decision) offered() int {
	seats := d.Given
	for _, g := range d.Grants {
		if g.promotes() {
			seats -= g.Seats
		}
	}
	return seats
}

// Left returns how many seats no entry got.
func (d Decision) Left() int {
	if d.Seats == nil {
		return 0
	}
	return *d.Seats - d.Given
}

// Decide decides which entries of a queue get the open seats of a slot. Round holds the entries that had offers of
// these seats before. The decision is deterministic: the same arguments always give the same result.
func Decide(slot Slot, queue []Candidate, round Round, trigger Trigger, rules *CompiledRules, now time.Time) Decision {
	if round.Freed == 0 && slot.Seats != nil {
		round.Freed = *slot.Seats // the round starts with this decision
	}
	s := rules.scene(slot, round, now)
	d := Decision{Mode: s.mode, Seats: slot.Seats, Tried: len(round.Asked), Verdicts: make([]Verdict, 0, len(queue))}
	left, offers := 0, 0
	if slot.Seats != nil {
		left = *slot.Seats
	}
	stop := rules.stopReason(slot, round, trigger, now)
	chosen := make(map[tenant.MemberID]bool)
	for _, c := range s.ranked(queue) {
		grant := Grant{Entry: c.Entry, Member: c.Member, Seats: c.Party, Score: c.score}
		reason := s.ineligible(c.Candidate)
		switch {
		case reason != "":
		case chosen[c.Member]:
			reason = HasOffer // through another entry of the member
		case stop != "":
			reason = stop
		case slot.Seats != nil && left == 0:
			reason = NoSeatsLeft
		case slot.Seats != nil && c.Party > left:
			reason = VerdictReason(fault.PartySize)
		case slot.Seats != nil && !rules.AllowDownFitting && c.Party < *slot.Seats:
			reason = DownFitting
		case c.Refusal != "":
			reason = c.Refusal
		case s.promotes(c.Candidate):
			reason = Promoted
		case rules.triesUsedUp(slot, round, offers):
			reason = MaxTries
		default:
			if grant.Until, reason = s.offerEnd(c.Candidate); reason == "" {
				reason = WasOffered
			}
		}
		if reason == Promoted || reason == WasOffered {
			d.Grants = append(d.Grants, grant)
			chosen[c.Member] = true
			offers += btoi(reason == WasOffered && !slices.Contains(round.Asked, c.Member))
			if d.Mode != FirstToClaim {
				d.Given, left = d.Given+c.Party, left-c.Party
			}
		}
		d.Verdicts = append(
			d.Verdicts, Verdict{Entry: c.Entry, Member: c.Member, Reason: reason, Score: c.score, Party: c.Party},
		)
	}
	if d.Mode == FirstToClaim {
		wanted := 0
		for _, g := range d.Grants {
			wanted += g.Seats
		}
		d.Given = min(*slot.Seats, wanted) // to the first to claim
	}
	return d.withMoves()
}

// withMoves sets the moves.
func (d Decision) withMoves() Decision {
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

// modeFor returns the mode for a slot. If seats are unlimited, there is nothing to compete for, and all who fit get an
// offer at once.
func (r Rules) modeFor(slot Slot) Mode {
	if r.Mode == FirstToClaim && slot.Seats == nil {
		return OfferInTurn
	}
	return r.Mode
}

// stopReason returns why no entry can get seats, or "" if one can.
func (r Rules) stopReason(slot Slot, round Round, trigger Trigger, now time.Time) VerdictReason {
	switch {
	case !r.Enabled:
		return VerdictReason(fault.WaitlistClosed)
	case now.Before(slot.Opens):
		return VerdictReason(fault.AdvanceWindow)
	case !now.Before(slot.Closes):
		return NoTime
	case trigger.afterEndedOffer(round) && !r.AutoCascade:
		return NoCascade
	case r.triesUsedUp(slot, round, 0):
		return MaxTries
	}
	return ""
}

// triesUsedUp reports whether as many members were asked in the round as the rules allow. Where all get an offer at
// once, there is no limit.
func (r Rules) triesUsedUp(slot Slot, round Round, asking int) bool {
	return r.MaxTriesPerSlot > 0 && r.Mode != FirstToClaim && slot.Seats != nil &&
		len(round.Asked)+asking >= r.MaxTriesPerSlot*max(round.Freed, 1)
}

func (c Candidate) zone(slot Slot) string {
	if c.Zone != "" {
		return c.Zone
	}
	return slot.Zone
}

// RefusalOf returns the reason of a refused booking, for a Candidate: one that the contract has as a verdict, or
// BookingRefused.
func RefusalOf(err error) VerdictReason {
	if err == nil {
		return ""
	}
	if refusal, ok := errors.AsType[*fault.Error](err); ok {
		if reason := VerdictReason(refusal.Reason); reasonTexts[reason] != "" {
			return reason
		}
	}
	return BookingRefused
}
