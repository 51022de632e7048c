package waitlist

import (
	"strings"

	"github.com/berthhq/berth/internal/tenant"
)

// Sentence explains a verdict of the decision in a sentence.
func (d Decision) Sentence(v Verdict, slot Slot) string { return d.sentence(v, slot) }

// ExplainDifference explains in sentences what other rules would have decided.
func ExplainDifference(d Difference, name func(tenant.MemberID) string) []string {
	var sentences []string
	list := func(grants []Grant) string {
		people := make([]string, len(grants))
		for i, g := range grants {
			if people[i] = name(g.Member); people[i] == "" {
				people[i] = "someone"
			}
		}
		return strings.Join(people, ", ")
	}
	if d.ModeBefore != d.ModeAfter {
		sentences = append(sentences, "Seats would have been filled another way: "+given[d.ModeAfter]+".")
	}
	if len(d.Gained) > 0 {
		sentences = append(sentences, "Would have got a seat instead: "+list(d.Gained)+".")
	}
	if len(d.Lost) > 0 {
		sentences = append(sentences, "Would not have got a seat: "+list(d.Lost)+".")
	}
	if d.GivenBefore != d.GivenAfter {
		sentences = append(
			sentences,
			plural(d.GivenAfter, "seat", "seats")+" would have been filled, rather than "+plural(
				d.GivenBefore, "seat", "seats",
			)+".",
		)
	}
	return sentences
}

var given = map[Mode]string{
	AutoPromote: "booked automatically", OfferInTurn: "offers, one at a time",
	FirstToClaim: "offers to everyone, and the first to claim gets the seats",
}
