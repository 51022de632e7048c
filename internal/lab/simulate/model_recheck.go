package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/waitlist"
)

// recheckWithin is how long after its reason has gone an entry is checked again at the latest.
const recheckWithin = 5 * time.Second

// reasonsThatGo are why the booking of an entry is refused until something about its member changes.
var reasonsThatGo = []fault.Reason{
	fault.MemberNotFound, fault.AlreadyBooked, fault.NoActivePlan, fault.PlanChoiceRequired, fault.OutstandingBalance,
	fault.NoCredits, fault.DailyLimit, fault.WeeklyLimit, fault.Overlap,
}

// changed records that something about a member has changed, so that their entries have to be checked again.
func (m *model) changed(ev Event) {
	member := m.members[ev.Member]
	if _, due := m.rechecks[member]; !due && member != nil && len(member.entries) > 0 {
		m.rechecks[member] = ev.At
	}
}

// recheckBegan records which sessions a recheck of a member has to fill: those with open seats that an entry of theirs
// did not get.
func (m *model) recheckBegan(ev Event) {
	member := m.members[ev.Member]
	delete(m.rechecks, member)
	for _, e := range member.entries {
		for _, s := range m.sessions {
			if slices.Contains(s.passed, e) && slices.Contains(m.waitingFor(s), e) {
				m.unchecked[s] = ev.At
			}
		}
	}
}

// checkRechecks returns an error if a member was not checked again in time, or a session was left out.
func (m *model) checkRechecks(now time.Time) error {
	for s, since := range m.unchecked {
		if since.Equal(now) {
			continue
		}
		delete(m.unchecked, s)
		if m.refillable(s, s.lastRound, waitlist.ByRecheck) {
			return fmt.Errorf("session %s has seats for an entry that was passed over, and was left out", short(s.id.UUID))
		}
	}
	for member, since := range m.rechecks {
		if len(member.entries) == 0 {
			delete(m.rechecks, member)
		} else if now.Sub(since) > recheckWithin {
			return fmt.Errorf("a member has changed at %s, and their entries were not checked again", since)
		}
	}
	return nil
}

// refillable reports whether an entry could get the open seats of a session, in a round that has begun.
func (m *model) refillable(s *modelSession, r *modelRound, by waitlist.Trigger) bool {
	if r == nil {
		r = new(modelRound)
	}
	open, unlimited := s.open()
	freed := max(r.freed, open+r.reservedSeats())
	if r.opening {
		freed = r.freed
	}
	return s.onSale() && (open > 0 || unlimited) && m.now.Before(s.ends) &&
		len(m.expectedGrants(s, freed, r, m.waitingFor(s), by)) > 0
}

// passedOver returns the entries that a decision passed over for a reason that can go.
func (m *model) passedOver(d waitlist.Decision) []*modelEntry {
	var all []*modelEntry
	for _, v := range d.Verdicts {
		if slices.Contains(reasonsThatGo, fault.Reason(v.Reason)) {
			all = append(all, m.entries[v.Entry])
		}
	}
	return all
}
