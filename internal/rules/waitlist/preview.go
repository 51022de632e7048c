package waitlist

import (
	"strings"

	"github.com/berthhq/berth/internal/tenant"
)

// Sentence tells a verdict of the decision in a plain sentence.
func (d Decision) Sentence(v Verdict, slot Slot) string { return d.sentence(v, slot) }

// ExplainDifference tells in plain sentences what other rules would have made of a case.
func ExplainDifference(d Difference, name func(tenant.MemberID) string) []string {
	var sentences []string
	list := func(grants []Grant) string {
		people := make([]string, len(grants))
		for i, g := range grants {
			if people[i] = name(g.Member); people[i] == "" {
				people[i] = "somebody"
			}
		}
		return strings.Join(people, ", ")
	}
	if d.ModeBefore != d.ModeAfter {
		sentences = append(sentences, "Seats would have been given another way: "+given[d.ModeAfter]+".")
	}
	if len(d.Gained) > 0 {
		sentences = append(sentences, "Would have been chosen instead: "+list(d.Gained)+".")
	}
	if len(d.Lost) > 0 {
		sentences = append(sentences, "Would not have been chosen: "+list(d.Lost)+".")
	}
	if d.GivenBefore != d.GivenAfter {
		sentences = append(
			sentences,
			count(d.GivenAfter, "seat", "seats")+" would have found somebody, rather than "+count(
				d.GivenBefore, "seat", "seats",
			)+".",
		)
	}
	return sentences
}

var given = map[Mode]string{
	AutoPromote: "at once, without asking", OfferInTurn: "by offers, one after the other",
	FirstToClaim: "to the first who claims them",
}
