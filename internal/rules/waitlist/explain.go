package waitlist

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// triggerTexts say what happened.
var triggerTexts = map[Trigger]string{
	ByCancellation: "a booking was cancelled",
	ByNoShow:       "a booking was marked as a no-show",
	ByCapacity:     "the session got more seats",
	ByUnblock:      "the session went back on sale",
	ByPublish:      "the session was published",
	ByMove:         "the session was moved",
	ByExpiredHold:  "a hold expired",
	ByRelease:      "a hold was released",
	ByReschedule:   "a booking was rescheduled",
	ByDecline:      "an offer was declined",
	ByExpiry:       "an offer was not answered in time",
	ByWithdrawal:   "an offer was withdrawn",
	ByHand:         "staff made an offer",
	ByRules:        "the rules were changed",
	ByRecheck:      "a member who was passed over could book",
	ByOpening:      "booking opened",
	BySweep:        "a regular check found open seats",
}

// reasonTexts say why an entry got no seats. They are used within a sentence, for any number of entries.
var reasonTexts = map[VerdictReason]string{
	NoSeatsLeft:    "all open seats went to earlier entries",
	DownFitting:    "the open seats are only given out together",
	HasOffer:       "the member already had another offer",
	OtherService:   "the entry is for another service",
	OtherLocation:  "the entry is for another location",
	OtherResource:  "the entry is for another court, room or chair",
	OtherDate:      "the entry is for other days",
	OtherTime:      "the entry is for another time of day",
	OtherStaff:     "the entry is for another coach",
	MaxOffers:      "the entry has had as many offers as the rules allow",
	AlreadyOffered: "the entry had already been offered these seats",
	GaveUp:         "the member had given up these seats",
	NotEligible:    "the eligibility rule does not allow it",
	RuleFailed:     "the eligibility rule could not be evaluated and needs to be fixed",
	NoTime:         "too little time was left to answer an offer",
	InQuietHours:   "quiet hours would have ended too late",
	MaxTries:       "the seats had been offered to as many people as the rules allow",
	NoCascade:      "the rules leave the next offer to staff",
	BookingRefused: "a booking would have been refused",

	VerdictReason(fault.WaitlistClosed):      "the waitlist is switched off",
	VerdictReason(fault.PartySize):           "there were not enough seats for the party",
	VerdictReason(fault.SessionNotOpen):      "the session could not be booked",
	VerdictReason(fault.AdvanceWindow):       "it was too early to book the session",
	VerdictReason(fault.ChannelClosed):       "the location does not take bookings through that channel",
	VerdictReason(fault.AlreadyBooked):       "the member had already booked or held a place",
	VerdictReason(fault.SessionFull):         "the session was full",
	VerdictReason(fault.NoActivePlan):        "no active plan covered the session",
	VerdictReason(fault.PlanChoiceRequired):  "several plans covered the session, and none was chosen",
	VerdictReason(fault.OutstandingBalance):  "a balance was outstanding",
	VerdictReason(fault.NoCredits):           "no credits were left",
	VerdictReason(fault.DailyLimit):          "the plan allowed no more bookings on that day",
	VerdictReason(fault.WeeklyLimit):         "the plan allowed no more bookings in that week",
	VerdictReason(fault.Overlap):             "there was another booking at the same time",
	VerdictReason(fault.SubscriptionState):   "the plan was not active",
	VerdictReason(fault.MemberNotFound):      "the membership has ended",
	VerdictReason(fault.ExternalRefConflict): "its reference had been used for another booking",
}

func reasonText(reason VerdictReason) string {
	if text, ok := reasonTexts[reason]; ok {
		return text
	}
	return "a booking would have been refused (" + strings.ToLower(strings.ReplaceAll(string(reason), "_", " ")) + ")"
}

// Explain explains a decision in sentences: what happened to a slot, how many entries were waiting, which got seats,
// and why the others did not. Times are on the location's clocks.
func Explain(d Decision, trigger Trigger, slot Slot, at time.Time, name func(tenant.MemberID) string) []string {
	sentences := []string{opening(d, trigger, slot, at), queueLength(d)}
	if d.Tried > 0 {
		sentences = append(sentences, plural(d.Tried, "person", "people")+" had already been offered these seats.")
	}
	if len(d.Grants) == 0 {
		sentences = append(sentences, "No one got a seat.")
	} else {
		sentences = append(sentences, d.granted(slot, name)...)
	}
	if others := d.rejected(); others != "" {
		sentences = append(sentences, others)
	}
	if d.LeftMove != noMove {
		sentences = append(sentences, d.openSeats())
	}
	return sentences
}

// ExplainEntry explains in sentences why an entry was chosen or not. It names no other member, because members can read
// it.
func ExplainEntry(d Decision, trigger Trigger, slot Slot, at time.Time, entry tenant.EntryID) []string {
	first := opening(d, trigger, slot, at)
	index := slices.IndexFunc(d.Verdicts, func(v Verdict) bool { return v.Entry == entry })
	if index < 0 {
		return []string{first, "This entry was not on the waitlist then."}
	}
	before, v := d.ChosenBefore(index), d.Verdicts[index]
	line := fmt.Sprintf("This entry was number %d of %d on the waitlist", index+1, len(d.Verdicts))
	if before > 0 {
		line += ", and " + plural(before, "entry", "entries") + " before it got seats"
		if d.Mode == FirstToClaim {
			line = strings.TrimSuffix(line, "got seats") + "had the same chance"
		}
	}
	return []string{first, line + ".", d.sentence(v, slot)}
}

// ChosenBefore counts the entries before a position that got seats, or the chance to claim them.
func (d Decision) ChosenBefore(index int) int {
	before := 0
	for _, v := range d.Verdicts[:index] {
		before += btoi(v.chosen())
	}
	return before
}

func (v Verdict) chosen() bool { return v.Reason == Promoted || v.Reason == WasOffered }

func (d Decision) sentence(v Verdict, slot Slot) string {
	switch {
	case v.Reason == Promoted:
		return plural(v.Party, "seat was", "seats were") + " booked for it."
	case v.Reason == WasOffered && d.Mode == FirstToClaim:
		return "It could claim " + plural(v.Party, "seat", "seats") + d.until(v.Entry, slot) +
			" unless others claimed first."
	case v.Reason == WasOffered:
		return "It was offered " + plural(v.Party, "seat", "seats") + d.until(v.Entry, slot) + "."
	case v.Reason == VerdictReason(fault.PartySize):
		needs := plural(v.Party, "seat", "seats")
		return fmt.Sprintf("It was not chosen, because %s: it needs %s.", reasonText(v.Reason), needs)
	}
	return "It was not chosen, because " + reasonText(v.Reason) + "."
}

func (d Decision) until(entry tenant.EntryID, slot Slot) string {
	if until := d.OfferedUntil(entry); !until.IsZero() {
		return ", until " + formatTime(until, slot)
	}
	return ""
}

// OfferedUntil returns the end of the offer that an entry got, or zero if it got none.
func (d Decision) OfferedUntil(entry tenant.EntryID) time.Time {
	if at := slices.IndexFunc(d.Grants, func(g Grant) bool { return g.Entry == entry }); at >= 0 {
		return d.Grants[at].Until
	}
	return time.Time{}
}

// Note returns a note to staff about seats that no entry gets, and what to do about them. It returns "" if there are
// none.
func Note(d Decision) string {
	if d.LeftMove == noMove {
		return ""
	}
	if d.Left() == 1 {
		return d.openSeats() + " Anyone can book it. You can also call someone, book a walk-in, or offer the seat yourself."
	}
	return d.openSeats() + " Anyone can book them. You can also call someone, book walk-ins, or offer the seats yourself."
}

func opening(d Decision, trigger Trigger, slot Slot, at time.Time) string {
	what, ok := triggerTexts[trigger]
	if !ok {
		what = "seats were freed"
	}
	open := "seats were open without limit"
	if d.Seats != nil {
		open = plural(*d.Seats, "seat was", "seats were") + " open"
	}
	if slot.Open != nil {
		open = plural(*slot.Open, "seat was", "seats were") + fmt.Sprintf(" open, %d for the waitlist", *d.Seats)
	}
	return fmt.Sprintf("On %s %s, and %s.", formatTime(at, slot), what, open)
}

func queueLength(d Decision) string {
	if len(d.Verdicts) == 0 {
		return "The waitlist was empty."
	}
	return plural(len(d.Verdicts), "entry was", "entries were") + " on the waitlist."
}

// granted says which members got seats: first those that were booked, then those with offers.
func (d Decision) granted(slot Slot, name func(tenant.MemberID) string) []string {
	var booked, offered []Grant
	for _, g := range d.Grants {
		if g.promotes() {
			booked = append(booked, g)
		} else {
			offered = append(offered, g)
		}
	}
	var sentences []string
	if len(booked) > 0 {
		sentences = append(sentences, "Booked automatically: "+d.people(booked, slot, name)+".")
	}
	if len(offered) > 0 {
		sentences = append(sentences, d.offering()+": "+d.people(offered, slot, name)+".")
	}
	return sentences
}

func (d Decision) offering() string {
	switch {
	case d.Mode == FirstToClaim:
		return "Offered to everyone who fits, and the first to claim gets the seats"
	case d.Move == RollOn:
		return "Offered to the next"
	}
	return "Offered to"
}

// people lists the members of grants.
func (d Decision) people(grants []Grant, slot Slot, name func(tenant.MemberID) string) string {
	const most = 10
	var who []string
	for _, g := range grants[:min(len(grants), most)] {
		person := name(g.Member)
		if person == "" {
			person = "someone"
		}
		text := person + " (" + plural(g.Seats, "seat", "seats")
		if !g.promotes() && d.Mode != FirstToClaim {
			text += ", until " + formatTime(g.Until, slot)
		}
		who = append(who, text+")")
	}
	if more := len(grants) - most; more > 0 {
		who = append(who, fmt.Sprintf("%d more", more))
	}
	if n := len(who); n > 1 {
		return strings.Join(who[:n-1], ", ") + " and " + who[n-1]
	}
	return who[0]
}

// rejected counts the entries that got nothing, by reason.
func (d Decision) rejected() string {
	number := make(map[VerdictReason]int)
	var order []VerdictReason
	for _, v := range d.Verdicts {
		if v.chosen() {
			continue
		}
		if number[v.Reason] == 0 {
			order = append(order, v.Reason)
		}
		number[v.Reason]++
	}
	if len(order) == 0 {
		return ""
	}
	parts := make([]string, len(order))
	for i, reason := range order {
		parts[i] = fmt.Sprintf("%d because %s", number[reason], reasonText(reason))
	}
	return "Not chosen: " + strings.Join(parts, "; ") + "."
}

// openSeats says how many seats no entry gets, and why.
func (d Decision) openSeats() string {
	left := plural(d.Left(), "seat", "seats")
	if d.LeftMove == NobodyFits {
		if len(d.Verdicts) == 0 {
			return left + " left: the waitlist is empty."
		}
		if len(d.Grants) > 0 {
			return left + " left: no one else on the waitlist fits."
		}
		return left + " left: no one on the waitlist fits (" + plural(len(d.Verdicts), "entry", "entries") + ")."
	}
	asked := d.Tried
	for _, g := range d.Grants {
		asked += btoi(!g.promotes())
	}
	return left + " left after offers to " + plural(asked, "person", "people") + ": " + d.stopText() + "."
}

// stopText says why no other entry got an offer.
func (d Decision) stopText() string {
	has := func(reasons ...VerdictReason) bool {
		return slices.ContainsFunc(d.Verdicts, func(v Verdict) bool { return slices.Contains(reasons, v.Reason) })
	}
	switch {
	case has(MaxTries):
		return "the rules allow no more"
	case has(NoCascade):
		return "the rules leave the next offer to you"
	case has(NoTime, InQuietHours):
		return "it is too late for another offer"
	}
	return "there is no one left to offer to"
}

func formatTime(at time.Time, slot Slot) string {
	return at.In(loadZone(slot.Zone)).Format("Monday 2 January 2006 at 15:04")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
