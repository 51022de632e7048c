package schedules

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// BlockSession takes a session off sale without touching its bookings.
func (s *Service) BlockSession(ctx context.Context, caller tenant.Caller, id tenant.SessionID, reason string) (session.Session, error) {
	return s.turn(ctx, caller, turning{
		use: "session.block", event: outbox.SessionBlocked, id: id, reason: reason,
		to: func(s session.Session, now time.Time) (session.Session, bool, error) { return s.Block(reason, now) },
	})
}

// UnblockSession puts it back on sale. What became free meanwhile goes to whoever waits.
func (s *Service) UnblockSession(ctx context.Context, caller tenant.Caller, id tenant.SessionID) (session.Session, int, error) {
	return s.turnAndFill(ctx, caller, turning{
		use: "session.unblock", event: outbox.SessionUnblocked, id: id, to: session.Session.Unblock, opens: waitlist.ByUnblock,
	})
}
