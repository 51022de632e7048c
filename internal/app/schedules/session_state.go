package schedules

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// A stateChange publishes, unpublishes, blocks or unblocks a session.
type stateChange struct {
	name   string // of the operation
	event  event.Data
	id     tenant.SessionID
	expect *int // the version; nil matches any
	reason string
	apply  func(session.Session, time.Time) (session.Session, bool, error)
	// trigger fills the seats that the change makes available. If it is empty the change stops bookings, and live offers
	// are withdrawn.
	trigger waitlist.Trigger
}

// changeState runs a state change. A session that already has the state does not change.
func (s *Service) changeState(ctx context.Context, caller tenant.Caller, c stateChange) (filled, error) {
	t := engine.Transaction{Name: c.name, Replay: true}
	return engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (filled, error) {
		before, err := findWithNoShows(ctx, tx, c.id, c.expect)
		if err != nil {
			return filled{}, err
		}
		after, changed, err := c.apply(before.Session, tx.Now)
		if err != nil || !changed {
			return filled{Session: before.Session}, err
		}
		scheduledb.UpdateSessions(tx.Tx, tx.Tenant, []session.Session{after})
		appendEvents(tx, always(c.event), after)
		changes := catalog.AuditChanges(before.AuditFields(), after.AuditFields())
		record.Audit(tx, string(c.event.Type()), "session", after.ID.UUID, c.reason, changes)
		if c.trigger != "" {
			return s.fill(ctx, tx, after, c.trigger)
		}
		freed, err := s.waitlists.Withdraw(ctx, tx, waitlist.OffSale, "", after.ID)
		after.SeatsTaken -= freed[after.ID]
		return filled{Session: after}, err
	})
}
