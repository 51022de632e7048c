package waitlist

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// happened tells what a trigger was.
var happened = map[Trigger]string{
	ByCancellation: "a booking was cancelled",
	ByNoShow:       "somebody did not show up",
	ByCapacity:     "the session got more seats",
	ByUnblock:      "the session went back on sale",
	ByPublish:      "the session was published",
	ByMove:         "the session was moved",
	ByExpiredHold:  "seats that were held were not confirmed in time",
	ByRelease:      "seats that were held were given back",
	ByReschedule:   "a booking was moved to another session",
	ByDecline:      "an offer was declined",
	ByExpiry:       "an offer was not answered in time",
	ByWithdrawal:   "an offer was withdrawn",
	ByHand:         "staff looked for somebody",
	ByRules:        "the rules were changed",
	BySweep:        "a regular check found seats that nobody had been asked for",
}

// because tells why an entry was not chosen, in the middle of a sentence and for any number of entries.
var because = map[string]string{
	NoSeatsLeft:   "all open seats went to those before",
	DownFitting:   "the party is smaller than the seats that were open, and the rules give them away as a whole",
	HasOffer:      "the same person had another offer already",
	OtherService:  "the wish is for another service",
	OtherLocation: "the wish is for another location",
	OtherResource: "the wish is for another court, room or chair",
	OtherDate:     "the wish is for other days",
	OtherTime:     "the wish is for another time of day",
	OtherStaff:    "the wish is for somebody else on the staff",
	MaxOffers:     "the rules allow no more offers for one wish",
	Tried:         "these seats had been offered before, and were not taken",
	NotEligible:   "the rules say who may have these seats, and this is not one of them",
	RuleFailed:    "the rule that says who may have these seats could not be worked out, and needs mending",
	NoTime:        "too little time was left to answer an offer",
	AtNight:       "it was night, and by morning it would have been too late",
	TryCap:        "as many people had been asked for these seats as the rules allow",
	NoCascade:     "the rules leave it to staff whom to ask next",

	string(fault.WaitlistClosed):      "the waitlist is switched off",
	string(fault.PartySize):           "the party does not fit the seats that were left",
	string(fault.SessionNotOpen):      "the session could not be booked",
	string(fault.AdvanceWindow):       "it was too early to book the session",
	string(fault.ChannelClosed):       "bookings of that kind are not taken at the location",
	string(fault.AlreadyBooked):       "there was a booking of the session already",
	string(fault.SessionFull):         "the session was full",
	string(fault.NoActivePlan):        "no active plan covered the session",
	string(fault.PlanChoiceRequired):  "several plans covered the session, and none was chosen",
	string(fault.OutstandingBalance):  "something was still to be paid",
	string(fault.NoCredits):           "no credits were left",
	string(fault.DailyLimit):          "the plan allowed no more bookings on that day",
	string(fault.WeeklyLimit):         "the plan allowed no more bookings in that week",
	string(fault.Overlap):             "there was another booking at the same time",
	string(fault.SubscriptionState):   "the plan was not active",
	string(fault.MemberNotFound):      "the membership has ended",
	string(fault.ExternalRefConflict): "its reference had been used for another booking",
}

func why(reason string) string {
	if text, ok := because[reason]; ok {
		return text
	}
	return "a booking would have been refused (" + strings.ToLower(strings.ReplaceAll(reason, "_", " ")) + ")"
}

// Explain tells a decision in plain sentences: what happened at a moment to a slot, who stood in line, who got the
// seats, and what became of the others. Times are those of the location's clocks.
func Explain(d Decision, trigger Trigger, slot Slot, at time.Time, name func(tenant.MemberID) string) []string {
	sentences := []string{opening(d, trigger, slot, at), inLine(d)}
	if d.Tried > 0 {
		sentences = append(sentences, count(d.Tried, "person", "people")+" had been asked for these seats before.")
	}
	if len(d.Grants) == 0 {
		sentences = append(sentences, "Nobody got any of them.")
	} else {
		sentences = append(sentences, d.granted(slot, name))
	}
	if others := d.others(); others != "" {
		sentences = append(sentences, others)
	}
	if d.LeftMove != noMove {
		sentences = append(sentences, d.remainder())
	}
	return sentences
}

// ExplainEntry tells in plain sentences why an entry was chosen in a decision, or why not. It names nobody else, so
// that members may read it, too.
func ExplainEntry(d Decision, trigger Trigger, slot Slot, at time.Time, entry tenant.EntryID) []string {
	first := opening(d, trigger, slot, at)
	place := slices.IndexFunc(d.Verdicts, func(v Verdict) bool { return v.Entry == entry })
	if place < 0 {
		return []string{first, "This entry did not stand in line then."}
	}
	before, v := d.ChosenBefore(place), d.Verdicts[place]
	line := fmt.Sprintf("This entry was number %d of %d in line", place+1, len(d.Verdicts))
	if before > 0 {
		line += ", and " + count(before, "entry", "entries") + " before it got seats"
		if d.Mode == FirstToClaim {
			line = strings.TrimSuffix(line, "got seats") + "had the same chance"
		}
	}
	return []string{first, line + ".", d.sentence(v, slot)}
}

// ChosenBefore counts the entries before a place in line that got seats, or the chance to claim them.
func (d Decision) ChosenBefore(place int) int {
	before := 0
	for _, v := range d.Verdicts[:place] {
		before += btoi(v.chosen())
	}
	return before
}

func (v Verdict) chosen() bool { return v.Reason == Promoted || v.Reason == WasOffered }

func (d Decision) sentence(v Verdict, slot Slot) string {
	switch {
	case v.Reason == Promoted:
		return "It got " + count(v.Party, "seat", "seats") + " at once."
	case v.Reason == WasOffered && d.Mode == FirstToClaim:
		return "It was told, and could claim " + count(v.Party, "seat", "seats") + d.until(v.Entry, slot) +
			" unless others were faster."
	case v.Reason == WasOffered:
		return "It was offered " + count(v.Party, "seat", "seats") + d.until(v.Entry, slot) + "."
	case v.Reason == string(fault.PartySize):
		return fmt.Sprintf("It was not chosen, because %s: it wishes for %s.", why(v.Reason), count(v.Party, "seat", "seats"))
	}
	return "It was not chosen, because " + why(v.Reason) + "."
}

func (d Decision) until(entry tenant.EntryID, slot Slot) string {
	if until := d.OfferedUntil(entry); !until.IsZero() {
		return ", until " + moment(until, slot)
	}
	return ""
}

// OfferedUntil tells until when the offer stood that an entry got; zero where it got none.
func (d Decision) OfferedUntil(entry tenant.EntryID) time.Time {
	if at := slices.IndexFunc(d.Grants, func(g Grant) bool { return g.Entry == entry }); at >= 0 {
		return d.Grants[at].Until
	}
	return time.Time{}
}

// Note tells staff about seats that nobody in line gets, and what they can do; empty where there are none.
func Note(d Decision) string {
	if d.LeftMove == noMove {
		return ""
	}
	if d.Left() == 1 {
		return d.remainder() + " It stays open to everybody: call somebody, take in a walk-in, or offer it by hand."
	}
	return d.remainder() + " They stay open to everybody: call somebody, take in walk-ins, or offer them by hand."
}

func opening(d Decision, trigger Trigger, slot Slot, at time.Time) string {
	what, ok := happened[trigger]
	if !ok {
		what = "seats were freed"
	}
	open := "seats were open without limit"
	if d.Seats != nil {
		open = count(*d.Seats, "seat was", "seats were") + " open"
	}
	return fmt.Sprintf("On %s %s, and %s.", moment(at, slot), what, open)
}

func inLine(d Decision) string {
	if len(d.Verdicts) == 0 {
		return "Nobody stood in line."
	}
	return count(len(d.Verdicts), "entry", "entries") + " stood in line."
}

// granted tells who got what.
func (d Decision) granted(slot Slot, name func(tenant.MemberID) string) string {
	const most = 10
	var who []string
	for _, g := range d.Grants[:min(len(d.Grants), most)] {
		person := name(g.Member)
		if person == "" {
			person = "somebody"
		}
		text := person + " (" + count(g.Seats, "seat", "seats")
		if !g.Until.IsZero() && d.Mode == OfferInTurn {
			text += ", until " + moment(g.Until, slot)
		}
		who = append(who, text+")")
	}
	if more := len(d.Grants) - most; more > 0 {
		who = append(who, fmt.Sprintf("%d more", more))
	}
	all := who[0]
	if n := len(who); n > 1 {
		all = strings.Join(who[:n-1], ", ") + " and " + who[n-1]
	}
	switch {
	case d.Mode == AutoPromote:
		return "Booked at once: " + all + "."
	case d.Mode == FirstToClaim:
		return "All who fit were told, and the first to claim gets the seats: " + all + "."
	case d.Move == RollOn:
		return "The offer went on to: " + all + "."
	}
	return "An offer went to: " + all + "."
}

// others counts those who got nothing, by why.
func (d Decision) others() string {
	number := make(map[string]int)
	var order []string
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
		parts[i] = fmt.Sprintf("%d because %s", number[reason], why(reason))
	}
	return "Not chosen: " + strings.Join(parts, "; ") + "."
}

// remainder tells of seats that nobody in line gets, and why it ended there.
func (d Decision) remainder() string {
	left := count(d.Left(), "seat", "seats")
	if d.LeftMove == NobodyFits {
		if len(d.Verdicts) == 0 {
			return left + " left: nobody stands in line."
		}
		if len(d.Grants) > 0 {
			return left + " left: nobody else in line fits."
		}
		return left + " left: nobody in line fits, and " + count(len(d.Verdicts), "was", "were") + " looked at."
	}
	asked := d.Tried
	if d.Mode != AutoPromote {
		asked += len(d.Grants)
	}
	return left + " left after " + count(asked, "person was", "people were") + " asked: " + d.spent() + "."
}

// spent tells why nobody else is asked.
func (d Decision) spent() string {
	has := func(reasons ...string) bool {
		return slices.ContainsFunc(d.Verdicts, func(v Verdict) bool { return slices.Contains(reasons, v.Reason) })
	}
	switch {
	case has(TryCap):
		return "the rules allow no more"
	case has(NoCascade):
		return "the rules leave it to you whom to ask next"
	case has(NoTime, AtNight):
		return "it is too late to ask anybody else"
	}
	return "the list is spent"
}

func moment(at time.Time, slot Slot) string {
	return at.In(place(slot.Zone)).Format("Monday 2 January 2006 at 15:04")
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
