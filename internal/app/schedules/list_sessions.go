package schedules

import (
	"context"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// SessionQuery selects sessions, in order of start, then id.
type SessionQuery struct {
	session.Filter           // with a span, or with ids
	AfterStart     time.Time // keyset: the last start and id of the page before
	AfterID        tenant.SessionID
	Limit          int
}

// SessionView is a session as the caller sees it.
type SessionView struct {
	session.Session
	// Eligibility is the result that booking would have; nil for callers who are not members.
	Eligibility *booking.Eligibility
}

// initialPage is for how many sessions a page has capacity at first.
const initialPage = 64

// ListSessions returns a page of the schedule. It makes one round trip, with as many statements for 500 sessions as for
// one. A second round trip follows if locations, services or policies have changed since the node last read them, or if
// the member waits for one of the sessions, and one before it, if the query has ids but no span. Drafts are for those
// with session.read_drafts.
func (s *Service) ListSessions(ctx context.Context, caller tenant.Caller, q SessionQuery) ([]SessionView, error) {
	views := make([]SessionView, 0, min(q.Limit, initialPage))
	var member bookingdb.MemberFacts
	var version int64
	var batch pg.Batch
	scheduledb.ListSchedule(&batch, caller.Tenant, scheduledb.SessionQuery{
		Filter: q.Visible(caller.May), AfterStart: q.AfterStart, AfterID: q.AfterID, Limit: q.Limit,
	}, func(s *session.Session) {
		if len(views) == cap(views) {
			views = slices.Grow(views, q.Limit)
		}
		views = append(views, SessionView{Session: *s})
	})
	coredb.FindSnapshotVersion(&batch, caller.Tenant, &version)
	isMember := !caller.Member.IsZero()
	spanned := !q.Until.IsZero()
	if isMember && spanned {
		bookingdb.FindMemberFacts(
			&batch, caller.Tenant, caller.Member, civil.Span{Start: q.From, End: q.Until}, &member,
		)
	}
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return nil, err
	}
	if isMember && !spanned && len(views) > 0 {
		var more pg.Batch
		first, last := views[0].StartsAt, views[len(views)-1].StartsAt
		bookingdb.FindMemberFacts(&more, caller.Tenant, caller.Member,
			civil.Span{Start: first, End: last.Add(time.Microsecond)}, &member)
		if err := s.engine.Read(ctx, caller, &more); err != nil {
			return nil, err
		}
	}
	snapshot := s.snapshots.At(caller.Tenant, version)
	var facts waitlists.PositionFacts
	if err := s.readMore(ctx, caller, &snapshot, member, &facts); err != nil {
		return nil, err
	}
	forecast, err := newForecast(caller, member, facts, s.engine.Now())
	if err != nil {
		return nil, err
	}
	slots := slotBuilder{tenant: caller.Tenant, snapshot: snapshot}
	for i := range views {
		s := &views[i]
		slot := slots.build(&s.Session)
		s.TimeZone, s.Delivery = slot.TimeZone, slot.Delivery
		s.complete(caller, &slot, forecast)
	}
	return views, nil
}

// readMore reads what a page rarely needs: the tenant's snapshot, if it is not cached, and the queues in which the
// member has entries.
func (s *Service) readMore(
	ctx context.Context, caller tenant.Caller, snapshot **booking.Snapshot, member bookingdb.MemberFacts,
	facts *waitlists.PositionFacts,
) error {
	var batch pg.Batch
	cached := *snapshot != nil
	if !cached {
		*snapshot = new(booking.Snapshot)
		coredb.FindSnapshot(&batch, caller.Tenant, *snapshot)
	}
	if len(member.Entries) > 0 {
		facts.ListRivals(&batch, caller.Tenant, waitlistdb.RivalQuery{Member: caller.Member})
	}
	if batch.Len() == 0 {
		return nil
	}
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return err
	}
	if !cached {
		s.snapshots.Keep(caller.Tenant, *snapshot)
	}
	return nil
}

// GetSession returns a session. Drafts are for those with session.read_drafts.
func (s *Service) GetSession(ctx context.Context, caller tenant.Caller, id tenant.SessionID) (SessionView, error) {
	var found *scheduledb.Scheduled
	var member bookingdb.MemberFacts
	var facts waitlists.PositionFacts
	err := s.engine.Snapshot(ctx, caller, func(ctx context.Context, tx *pg.ReadTx) error {
		var first, second, third pg.Batch
		scheduledb.FindSession(&first, caller.Tenant, id, &found)
		if err := tx.Load(ctx, &first); err != nil {
			return err
		}
		if found == nil || !found.VisibleTo(caller.May) {
			return seats.ErrNoSession
		}
		if caller.Member.IsZero() {
			return nil
		}
		span := civil.Span{Start: found.StartsAt, End: found.StartsAt.Add(time.Microsecond)}
		bookingdb.FindMemberFacts(&second, caller.Tenant, caller.Member, span, &member)
		if err := tx.Load(ctx, &second); err != nil || len(member.Entries) == 0 {
			return err
		}
		facts.ListRivals(&third, caller.Tenant, waitlistdb.RivalQuery{Member: caller.Member})
		return tx.Load(ctx, &third)
	})
	if err != nil {
		return SessionView{}, err
	}
	forecast, err := newForecast(caller, member, facts, s.engine.Now())
	if err != nil {
		return SessionView{}, err
	}
	view := SessionView{Session: found.Session}
	view.complete(caller, &found.Slot, forecast)
	return view, nil
}

// complete adds the eligibility, and removes what the caller may not see.
func (v *SessionView) complete(caller tenant.Caller, slot *booking.Slot, f *forecast) {
	if !caller.May[session.ReadDrafts] && v.State != catalog.Cancelled {
		v.StateReason = "" // why it is blocked
	}
	v.Eligibility = f.eligibility(slot)
}
