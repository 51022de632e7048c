package schedules

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// maxLeaders is how many people a search for substitutes considers.
const maxLeaders = 200

// Substitutes are future sessions of a coach, and who could lead them instead.
type Substitutes struct {
	session.LedSessions

	Substitutes []session.Substitute
}

// FindSubstitutes returns the future sessions of a coach that start from one instant until before another, and who is
// free to lead them. Zero instants are no limit.
func (s *Service) FindSubstitutes(
	ctx context.Context, caller tenant.Caller, coach tenant.MemberID, from, until time.Time,
) (found Substitutes, err error) {
	span := civil.Span{Start: s.engine.Now(), End: until}
	if from.After(span.Start) {
		span.Start = from
	}
	if !until.IsZero() && !until.After(span.Start) {
		return found, nil
	}
	var leaders []session.Leader
	var busy []session.BusyLeader
	// One snapshot, so that who is free is about the sessions that are listed.
	err = s.engine.Snapshot(ctx, caller, func(ctx context.Context, tx *pg.ReadTx) error {
		var batch, more pg.Batch
		scheduledb.FindLed(&batch, caller.Tenant, coach, span, caller.May, &found.LedSessions)
		scheduledb.ListLeaders(&batch, caller.Tenant, coach, maxLeaders, &leaders)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if len(leaders) == 0 || found.Count == 0 {
			return nil
		}
		scheduledb.ListBusyLeaders(&more, caller.Tenant, leaders, found.Sessions, &busy)
		return tx.Load(ctx, &more)
	})
	found.Substitutes = session.Substitutes(found.Sessions, leaders, busy)
	return found, err
}
