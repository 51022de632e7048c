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
	err = w.transact("set rules", func() error {
		saveForUndo(&w.tables, u)
		u.waitlist, u.editedAt = compiled, w.now
		w.emit(Event{Kind: RulesEdited, rules: u})
		return nil
	})
	for _, s := range w.sessionList {
		if s.service == u && err == nil {
			err = w.refillAfterRules(s)
		}
	}
	return err
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
	return w.transact("refill after rules", func() error {
		slot := s.slot()
		w.emit(Event{Kind: RulesRefill, Session: s.ID, Round: s.lastRound})
		if w.bug == noFillOnRules {
			return nil
		}
		return w.fillRound(s, &slot, waitlist.ByRules, w.round(s.lastRound))
	})
}
