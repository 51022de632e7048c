package waitlist

import (
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// Case is everything that a decision depends on, except the rules. A stored case gives the same decision again, or
// shows what other rules would have decided.
type Case struct {
	Slot    Slot        `json:"slot"`
	Queue   []Candidate `json:"queue,omitempty"`
	Round   Round       `json:"round"`
	Trigger Trigger     `json:"trigger"`
	Now     time.Time   `json:"now"`
}

// Decide decides the case under rules.
func (c Case) Decide(rules *CompiledRules) Decision {
	return Decide(c.Slot, c.Queue, c.Round, c.Trigger, rules, c.Now)
}

// Difference is how the decision of other rules differs on a case.
type Difference struct {
	MoveBefore, MoveAfter Move
	ModeBefore, ModeAfter Mode
	Gained                []Grant // grants that only the other rules make
	Lost                  []Grant // grants that the other rules do not make
	Kept                  int     // grants of both
	GivenBefore           int     // seats
	GivenAfter            int
}

// Compare returns how a decision differs from the one before. Grants keep the order of their decision.
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

// Changes reports whether the decisions differ.
func (d Difference) Changes() bool {
	return d.MoveBefore != d.MoveAfter || d.ModeBefore != d.ModeAfter || d.GivenBefore != d.GivenAfter ||
		len(d.Gained)+len(d.Lost) > 0
}
