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

// SessionQuery asks for sessions by their start, then id.
type SessionQuery struct {
	session.Filter           // with a span
	AfterStart     time.Time // keyset: the last start and id of the page before
	AfterID        tenant.SessionID
	Limit          int
}

// SessionView is a session as the caller sees it.
type SessionView struct {
	session.Session
	// Eligibility is what booking it would come to; nil for callers who are no members.
	Eligibility *booking.Eligibility
}

// ListSessions reads a page of the schedule, in one round trip and with as many statements for five hundred
// sessions as for one. It takes one more trip where locations, services or policies have changed since it last looked,
// and for members who wait in line. Who is not staff sees no drafts.
func (s *Service) ListSessions(ctx context.Context, caller tenant.Caller, q SessionQuery) ([]SessionView, error) {
	offered := make([]SessionView, 0, min(q.Limit, usualPage))
	var standing bookingdb.Standing
	var version int64
	var batch pg.Batch
	scheduledb.ListSchedule(&batch, caller.Tenant, scheduledb.SessionQuery{
		Filter: q.Visible(caller.IsStaff()), AfterStart: q.AfterStart, AfterID: q.AfterID, Limit: q.Limit,
	}, func(s *session.Session) {
		if len(offered) == cap(offered) {
			offered = slices.Grow(offered, q.Limit)
		}
		offered = append(offered, SessionView{Session: *s})
	})
	coredb.FindSnapshotVersion(&batch, caller.Tenant, &version)
	if !caller.Member.IsZero() {
		span := civil.Span{Start: q.From, End: q.Until}
		if q.AfterStart.After(span.Start) {
			span.Start = q.AfterStart
		}
		bookingdb.FindStanding(&batch, caller.Tenant, caller.Member, span, &standing)
	}
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return nil, err
	}
	house := s.snapshots.At(caller.Tenant, version)
	var line waitlists.Standings
	if err := s.readMore(ctx, caller, &house, standing, &line); err != nil {
		return nil, err
	}
	prospects, err := foresee(caller, standing, line, s.engine.Now())
	if err != nil {
		return nil, err
	}
	furnished := furnisher{of: caller.Tenant, house: house}
	for i := range offered {
		s := &offered[i]
		slot := furnished.slot(&s.Session)
		s.TimeZone, s.Delivery = slot.TimeZone, slot.Delivery
		s.show(caller, &slot, prospects)
	}
	return offered, nil
}

// readMore reads what a page seldom needs: the house, where it is not known, and who stands in line with the member.
func (s *Service) readMore(ctx context.Context, caller tenant.Caller, house **booking.Snapshot, standing bookingdb.Standing, line *waitlists.Standings) error {
	var batch pg.Batch
	known := *house != nil
	if !known {
		*house = new(booking.Snapshot)
		coredb.FindSnapshot(&batch, caller.Tenant, *house)
	}
	if len(standing.Entries) > 0 {
		line.Queue(&batch, caller.Tenant, waitlistdb.RivalQuery{Member: caller.Member})
	}
	if batch.Len() == 0 {
		return nil
	}
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return err
	}
	if !known {
		s.snapshots.Keep(caller.Tenant, (*house).Version, *house)
	}
	return nil
}

// usualPage is for how many sessions there is room from the start.
const usualPage = 64

// GetSession reads a session. Who is not staff sees no drafts.
func (s *Service) GetSession(ctx context.Context, caller tenant.Caller, id tenant.SessionID) (SessionView, error) {
	var one *scheduledb.Scheduled
	var standing bookingdb.Standing
	var line waitlists.Standings
	err := s.engine.Snapshot(ctx, caller, func(ctx context.Context, tx *pg.ReadTx) error {
		var batch, more pg.Batch
		scheduledb.FindSession(&batch, caller.Tenant, id, &one)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if one == nil || !one.VisibleTo(caller.IsStaff()) {
			return seats.ErrNoSession
		}
		if caller.Member.IsZero() {
			return nil
		}
		span := civil.Span{Start: one.StartsAt, End: one.StartsAt.Add(time.Microsecond)}
		bookingdb.FindStanding(&more, caller.Tenant, caller.Member, span, &standing)
		if err := tx.Load(ctx, &more); err != nil || len(standing.Entries) == 0 {
			return err
		}
		var rivals pg.Batch
		line.Queue(&rivals, caller.Tenant, waitlistdb.RivalQuery{Member: caller.Member})
		return tx.Load(ctx, &rivals)
	})
	if err != nil {
		return SessionView{}, err
	}
	prospects, err := foresee(caller, standing, line, s.engine.Now())
	if err != nil {
		return SessionView{}, err
	}
	offered := SessionView{Session: one.Session}
	offered.show(caller, &one.Slot, prospects)
	return offered, nil
}

// show lays open what the caller may see: what booking it would come to, and no more of its state than is their affair.
func (o *SessionView) show(caller tenant.Caller, slot *booking.Slot, p *prospects) {
	if !caller.IsStaff() && o.State != catalog.Cancelled {
		o.StateReason = "" // why it is blocked is for staff
	}
	o.Eligibility = p.of(slot)
}
