package schedules

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// BlockSession stops new bookings of a session. Its bookings stay.
func (s *Service) BlockSession(
	ctx context.Context, caller tenant.Caller, id tenant.SessionID, reason string,
) (session.Session, error) {
	done, err := s.changeState(ctx, caller, stateChange{
		name: "session.block", event: event.SessionBlocked{Reason: reason}, id: id, reason: reason,
		apply: func(s session.Session, now time.Time) (session.Session, bool, error) { return s.Block(reason, now) },
	})
	return done.Session, err
}

// UnblockSession allows bookings again. Seats that were freed while it was blocked go to its waitlist. It also returns
// how many members were promoted.
func (s *Service) UnblockSession(
	ctx context.Context, caller tenant.Caller, id tenant.SessionID,
) (session.Session, int, error) {
	done, err := s.changeState(ctx, caller, stateChange{
		name: "session.unblock", event: event.SessionUnblocked{}, id: id, apply: session.Session.Unblock,
		trigger: waitlist.ByUnblock,
	})
	return done.Session, done.Promoted, err
}
