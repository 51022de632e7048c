package simulate

import (
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/waitlist"
)

// setRules replaces the waitlist rules of a service, and then fills the open seats of its sessions.
func (w *world) setRules(u *service, rules waitlist.Rules) error {
	compiled, err := waitlist.Compile(rules)
	if err != nil {
		return err
	}
	err = w.transact(Operation{Name: "set rules", Service: u.id, Rules: &rules}, func() error {
		saveForUndo(&w.tables, u)
		u.waitlist, u.policy.WaitlistEnabled, u.editedAt = compiled, rules.Enabled, w.now
		w.emit(Event{Kind: RulesEdited, rules: u})
		return nil
	})
	if err != nil {
		return err
	}
	return w.onItsOwn("fill after an edit", func() error {
		for _, s := range w.sessionList {
			if s.service == u {
				if err := w.refillAfterRules(s); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (w *world) serviceOf(q waitlist.Queue) *service {
	for _, u := range w.services {
		if u.location.id == q.Location && u.id == q.Service {
			return u
		}
	}
	panic(fault.Missing(fault.ServiceNotFound, "Service"))
}

func (w *world) waitlistRules(q waitlist.Queue) waitlist.Rules { return w.serviceOf(q).waitlist.Rules }

// refillAfterRules fills the open seats of a session after an edit of its rules.
func (w *world) refillAfterRules(s *sessionRow) error {
	return w.transact(Operation{Name: "refill after rules", Session: s.ID}, func() error {
		slot := s.slot()
		w.emit(Event{Kind: OpenRefill, Session: s.ID, Round: s.lastRound})
		if w.bug == noFillOnRules {
			return nil
		}
		return w.fillRound(s, &slot, waitlist.ByRules, w.round(s.lastRound))
	})
}
