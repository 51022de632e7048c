package waitlist

import (
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// Case is everything that a decision depends on but the rules. Kept with the decision, it makes the same decision
// again, or shows what other rules would have made of it.
type Case struct {
	Slot    Slot        `json:"slot"`
	Queue   []Candidate `json:"queue,omitempty"`
	Round   Round       `json:"round"`
	Trigger Trigger     `json:"trigger"`
	Now     time.Time   `json:"now"`
}

// Decide decides the case under rules.
func (c Case) Decide(rules *Compiled) Decision {
	return Decide(c.Slot, c.Queue, c.Round, c.Trigger, rules, c.Now)
}

// Difference is what other rules would have made of a case.
type Difference struct {
	MoveBefore, MoveAfter Move
	ModeBefore, ModeAfter Mode
	Gained                []Grant // who would have got seats, and did not
	Lost                  []Grant // who got seats, and would not have
	Kept                  int     // who get seats either way
	GivenBefore           int     // seats
	GivenAfter            int
}

// Compare tells how a decision differs from the one before. Grants come in the order of the decision that made them.
func Compare(before, after Decision) Difference {
	d := Difference{
		MoveBefore: before.Move, MoveAfter: after.Move, ModeBefore: before.Mode, ModeAfter: after.Mode,
		GivenBefore: before.Given, GivenAfter: after.Given,
	}
	had, has := grantees(before), grantees(after)
	for _, g := range after.Grants {
		if had[g.Entry] {
			d.Kept++
		} else {
			d.Gained = append(d.Gained, g)
		}
	}
	for _, g := range before.Grants {
		if !has[g.Entry] {
			d.Lost = append(d.Lost, g)
		}
	}
	return d
}

func grantees(d Decision) map[tenant.EntryID]bool {
	all := make(map[tenant.EntryID]bool, len(d.Grants))
	for _, g := range d.Grants {
		all[g.Entry] = true
	}
	return all
}

// Changes reports whether anything differs at all.
func (d Difference) Changes() bool {
	return d.MoveBefore != d.MoveAfter || d.ModeBefore != d.ModeAfter || d.GivenBefore != d.GivenAfter ||
		len(d.Gained)+len(d.Lost) > 0
}

// Totals sum up what other rules would have made of many cases.
type Totals struct {
	Cases        int
	Changed      int
	MovesChanged int
	ModesChanged int
	Gained       int // grants, not people: one may gain in several cases
	Lost         int
	Kept         int
	GivenBefore  int // seats
	GivenAfter   int
}

// Sum adds up differences.
func Sum(differences []Difference) Totals {
	t := Totals{Cases: len(differences)}
	for _, d := range differences {
		t.Changed += btoi(d.Changes())
		t.MovesChanged += btoi(d.MoveBefore != d.MoveAfter)
		t.ModesChanged += btoi(d.ModeBefore != d.ModeAfter)
		t.Gained += len(d.Gained)
		t.Lost += len(d.Lost)
		t.Kept += d.Kept
		t.GivenBefore += d.GivenBefore
		t.GivenAfter += d.GivenAfter
	}
	return t
}
