package simulate

import (
	"maps"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// mayEndReasons reports whether an event may end the reason for which entries of its member were passed over.
func mayEndReasons(ev Event) bool {
	switch ev.Kind {
	case Released, HoldExpired, Cancelled, Rescheduled, Subscribed, SubscriptionChanged, Renewed:
		return true
	case MemberChanged:
		return ev.On
	default:
		return false
	}
}

// recheckSoon has the passed-over entries of a member checked again. The alarm fires within a second of its time.
func (w *world) recheckSoon(ev Event) {
	if w.bug == neverRecheck || !mayEndReasons(ev) || len(w.membersByID[ev.Member].entries) == 0 {
		return
	}
	w.changed[ev.Member] = true
	late := w.randomDuration(maxAlarmDelay).Truncate(time.Microsecond)
	w.schedule(w.now.Add(waitlist.RecheckDelay+late), func() { w.mustSucceed(w.onItsOwn("recheck", w.recheck)) })
}

// recheck fills the sessions whose last decision passed over an entry for a reason that may have gone.
func (w *world) recheck() error {
	if len(w.changed) == 0 {
		return nil
	}
	changed := maps.Clone(w.changed)
	clear(w.changed)
	err := w.transact(Operation{Name: "begin a recheck"}, func() error {
		for _, member := range w.members {
			if changed[member.ID] {
				w.emit(Event{Kind: Rechecked, Member: member.ID})
			}
		}
		return nil
	})
	var sessions []*sessionRow
	for _, s := range w.sessionList {
		slot := s.slot()
		if slot.Availability() == booking.Available && s.mayRecheck(changed) {
			sessions = append(sessions, s)
		}
	}
	for _, s := range sessions {
		if err != nil {
			return err
		}
		err = w.transact(Operation{Name: "recheck", Session: s.ID}, func() error {
			slot := s.slot()
			w.emit(Event{Kind: OpenRefill, Session: s.ID, Round: s.lastRound, On: true})
			return w.fillRound(s, &slot, waitlist.ByRecheck, w.round(s.lastRound))
		})
	}
	return err
}

// mayRecheck reports whether the last decision about a session passed over an entry of some members, which still waits,
// for a reason that can go.
func (s *sessionRow) mayRecheck(members map[tenant.MemberID]bool) bool {
	return slices.ContainsFunc(s.verdicts, func(v waitlist.Verdict) bool {
		return members[v.Member] && slices.Contains(waitlist.RecheckReasons(), v.Reason)
	})
}
