package schedules

import (
	"context"
	"errors"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// findSession loads a session that is not deleted and checks its version; a nil version matches any. The statements of
// more share the round trip.
func findSession(
	ctx context.Context, tx *engine.Tx, id tenant.SessionID, version *int, more ...func(*pg.Batch),
) (scheduledb.Scheduled, error) {
	found, err := engine.Find(ctx, tx, seats.ErrNoSession, func(b *pg.Batch, into **scheduledb.Scheduled) {
		scheduledb.FindSession(b, tx.Tenant, id, into)
		for _, queue := range more {
			queue(b)
		}
	})
	if err != nil {
		return found, err
	}
	return found, fault.CheckVersion(version, found.Version)
}

// findWithNoShows is findSession for acts that would lose the session's no-shows.
func findWithNoShows(
	ctx context.Context, tx *engine.Tx, id tenant.SessionID, version *int,
) (scheduledb.Scheduled, error) {
	var noShows int
	found, err := findSession(ctx, tx, id, version, func(b *pg.Batch) {
		scheduledb.CountNoShows(b, tx.Tenant, id, &noShows)
	})
	found.NoShows = noShows
	return found, err
}

// loadReferences loads what a session refers to.
func loadReferences(ctx context.Context, tx *engine.Tx, d session.Details) (session.References, error) {
	var (
		service  *catalog.Service
		location *catalog.Location
		resource *catalog.Resource
		at       session.References
		batch    pg.Batch
	)
	catalogdb.FindService(&batch, tx.Tenant, d.Service, &service)
	catalogdb.FindLocation(&batch, tx.Tenant, d.Location, &location)
	catalogdb.FindResource(&batch, tx.Tenant, d.Resource, &resource)
	scheduledb.FindLeader(&batch, tx.Tenant, d.Coach, &at.Coach)
	err := tx.Load(ctx, &batch)
	if err == nil && location != nil {
		at.Location, err = session.ZoneOf(*location)
	}
	if service != nil {
		at.Service = session.ServiceReference{
			Active: service.Active, Name: service.Name, Duration: service.Duration, Delivery: service.Delivery,
			Capacity: service.DefaultCapacity, WaitlistCapacity: service.DefaultWaitlistCapacity,
		}
	}
	if resource != nil {
		at.Resource = session.ResourceReference{Active: resource.Active, Location: resource.Location}
	}
	return at, err
}

// appendEvents appends an event about each session.
func appendEvents(tx *engine.Tx, data func(session.Session) event.Data, sessions ...session.Session) {
	for _, s := range sessions {
		record.Event(tx, outbox.Event{Session: s.ID, Data: data(s), Facts: event.Facts{
			Status: string(s.State), Party: 0, ExternalRef: "", Payment: event.NoPayment,
		}})
	}
}

// always returns the same data for every session.
func always(data event.Data) func(session.Session) event.Data {
	return func(session.Session) event.Data { return data }
}

// auditBatch records an act on several sessions as one audit entry.
func auditBatch(tx *engine.Tx, action string, batch tenant.BatchID, reason string, changes map[string]any) {
	record.AuditEntry(tx, coredb.AuditEntry{
		Action: action, TargetKind: "session", Batch: batch, Reason: reason, Changes: changes,
	})
}

// filled is a session after its waitlist was filled.
type filled struct {
	Session  session.Session
	Promoted int
}

// fill gives the open seats of a session to its waitlist. It counts the writes that are queued so far.
func (s *Service) fill(
	ctx context.Context, tx *engine.Tx, of session.Session, trigger waitlist.Trigger,
) (filled, error) {
	promoted, queued, err := s.waitlists.FillAll(ctx, tx, trigger, of.ID)
	if err != nil || !queued {
		return filled{Session: of}, err
	}
	after, err := findSession(ctx, tx, of.ID, nil)
	return filled{after.Session, promoted}, err
}

// updateWaitlists adapts the waitlists to edited sessions. before and after have the same order. It moves entries to
// the queue of another day, withdraws the offers of sessions that moved because they were for another time or place,
// and fills seats that were added or that withdrawn offers freed. Filled reports whether any session has a queue.
func (s *Service) updateWaitlists(
	ctx context.Context, tx *engine.Tx, before, after []session.Session, freed map[tenant.SessionID]int,
) (promoted int, filled bool, err error) {
	var moved, raised, lowered, requeued []tenant.SessionID
	var queues []waitlist.Queue
	for i, s := range after {
		was := before[i]
		from, to := queueOf(was), queueOf(s)
		if from != to && s.Waiting > 0 {
			requeued, queues = append(requeued, s.ID), append(queues, from, to)
		}
		switch {
		case from != to || !was.StartsAt.Equal(s.StartsAt) || !was.EndsAt.Equal(s.EndsAt),
			was.Resource != s.Resource, was.Coach != s.Coach:
			moved = append(moved, s.ID)
		case s.CapacityRaised(was):
			raised = append(raised, s.ID)
		case freed[s.ID] > 0: // the lower capacity may leave some of the freed seats open
			lowered = append(lowered, s.ID)
		}
	}
	waitlistdb.MovePlaces(tx.Tx, tx.Tenant, requeued, queues)
	if len(moved) > 0 {
		if _, err := s.waitlists.Withdraw(ctx, tx, waitlist.SessionMoved, "", moved...); err != nil {
			return 0, false, err
		}
	}
	for _, fill := range []struct {
		trigger  waitlist.Trigger
		sessions []tenant.SessionID
	}{{waitlist.ByMove, moved}, {waitlist.ByCapacity, raised}, {waitlist.ByWithdrawal, lowered}} {
		more, found, err := s.waitlists.FillAll(ctx, tx, fill.trigger, fill.sessions...)
		if err != nil {
			return 0, false, err
		}
		promoted, filled = promoted+more, filled || found
	}
	return promoted, filled, nil
}

func queueOf(s session.Session) waitlist.Queue {
	return waitlist.Queue{Location: s.Location, Service: s.Service, Date: s.LocalDate}
}

// inPart names the part of the request that contains the field of a refusal by package session.
func inPart(part string, err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Field != "" {
		return f.WithField(part + "." + f.Field)
	}
	return err
}

// explainConflict turns violations of the schedule's constraints into refusals. They do not say whose session or
// booking conflicts. part is the part of the request that describes sessions.
func explainConflict(part string, err error) error {
	switch {
	case pg.IsExclusion(err, "sessions_resource_busy"):
		return inPart(part, session.ResourceBusy().WithCause(err))
	case pg.IsExclusion(err, "sessions_staff_busy"):
		return inPart(part, session.CoachBusy().WithCause(err))
	case pg.IsExclusion(err, "bookings_overlap"):
		return booking.OtherOverlapping().WithCause(err)
	case pg.IsCheck(err, "sessions_capacity", "sessions_waitlist"):
		return inPart(part, session.CapacityTooLow().WithCause(err))
	}
	return err
}

// clashRace reports that another transaction took the resource or the coach of a session. The next attempt reads it.
func clashRace(err error) bool {
	return pg.IsExclusion(err, "sessions_resource_busy", "sessions_staff_busy")
}

func sessionsOf(rows []scheduledb.Scheduled) []session.Session {
	return pg.Array(rows, func(row scheduledb.Scheduled) session.Session { return row.Session })
}

func idsOf(all []session.Session) []tenant.SessionID {
	return pg.Array(all, func(s session.Session) tenant.SessionID { return s.ID })
}
