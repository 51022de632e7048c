package schedules

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// PublishSession puts a draft on sale. A session that is on sale stays as it is.
func (s *Service) PublishSession(ctx context.Context, caller tenant.Caller, id tenant.SessionID, expect *int) (session.Session, error) {
	return s.turn(ctx, caller, turning{
		use: "session.publish", event: outbox.SessionPublished, id: id, expect: expect, to: session.Session.Publish, opens: waitlist.ByPublish,
	})
}

// UnpublishSession makes it a draft again. A draft stays as it is.
func (s *Service) UnpublishSession(ctx context.Context, caller tenant.Caller, id tenant.SessionID, expect *int) (session.Session, error) {
	return s.turn(ctx, caller, turning{
		use: "session.unpublish", event: outbox.SessionUnpublished, id: id, expect: expect, to: session.Session.Unpublish,
	})
}

// turning is a change of state that touches the session alone.
type turning struct {
	use    string
	event  outbox.Type
	id     tenant.SessionID
	expect *int // the version; nil: whichever
	reason string
	// opens is why seats are open afterwards; empty where none are. Live offers are withdrawn then.
	opens waitlist.Trigger
	to    func(session.Session, time.Time) (session.Session, bool, error)
}

func (s *Service) turn(ctx context.Context, caller tenant.Caller, turning turning) (session.Session, error) {
	after, _, err := s.turnAndFill(ctx, caller, turning)
	return after, err
}

// turnAndFill tells how many were promoted into seats that are open now.
func (s *Service) turnAndFill(ctx context.Context, caller tenant.Caller, turning turning) (session.Session, int, error) {
	var after session.Session
	var promoted int
	err := s.engine.Write(ctx, caller, turning.use, func(ctx context.Context, tx *engine.Tx) error {
		var changed bool
		var err error
		after, changed, err = applyTurn(ctx, tx, turning)
		if promoted = 0; err != nil || !changed {
			return err
		}
		if turning.opens == "" {
			freed, err := s.waitlists.Withdraw(ctx, tx, waitlist.OffSale, "", after.ID)
			after.SeatsTaken -= freed[after.ID]
			return err
		}
		after, promoted, err = s.refill(ctx, tx, after, turning.opens)
		return err
	}, engine.Answers(&after, &promoted), engine.Losing(seats.PromotionRace))
	return after, promoted, err
}

// applyTurn reports whether anything changed.
func applyTurn(ctx context.Context, tx *engine.Tx, turning turning) (session.Session, bool, error) {
	before, err := scheduled(ctx, tx, turning.id)
	if err != nil {
		return session.Session{}, false, err
	}
	if err := engine.CheckVersion(turning.expect, before.Version); err != nil {
		return session.Session{}, false, err
	}
	after, changed, err := turning.to(before.Session, tx.Now)
	if err != nil || !changed {
		return before.Session, false, err
	}
	scheduledb.UpdateSessions(tx.Tx, tx.Tenant, []session.Session{after})
	tell(tx, turning.event, func(session.Session) map[string]any { return engine.ReasonData(turning.reason) }, after)
	tx.Audit(string(turning.event), "session", after.ID.UUID, turning.reason, catalog.AuditChanges(before.Facts(), after.Facts()))
	return after, true, nil
}
