package schedules

import (
	"context"
	"errors"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// What the use cases of the schedule have in common.

// scheduled loads a session that is not deleted, with more facts if there are any to load.
func scheduled(ctx context.Context, tx *engine.Tx, id tenant.SessionID, more ...func(*pg.Batch)) (scheduledb.Scheduled, error) {
	var found *scheduledb.Scheduled
	var batch pg.Batch
	scheduledb.FindSession(&batch, tx.Tenant, id, &found)
	for _, queue := range more {
		queue(&batch)
	}
	if err := tx.Load(ctx, &batch); err != nil {
		return scheduledb.Scheduled{}, err
	}
	if found == nil {
		return scheduledb.Scheduled{}, seats.ErrNoSession
	}
	return *found, nil
}

// setting loads what a session refers to.
func setting(ctx context.Context, tx *engine.Tx, d session.Details) (session.References, error) {
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
	if err := tx.Load(ctx, &batch); err != nil {
		return at, err
	}
	if service != nil {
		at.Service = serviceSetting(*service)
	}
	if location != nil {
		zone, err := session.ZoneOf(*location)
		if err != nil {
			return at, err
		}
		at.Location = zone
	}
	if resource != nil {
		at.Resource = session.ResourceReference{Active: resource.Active, Location: resource.Location}
	}
	return at, nil
}

func serviceSetting(s catalog.Service) session.ServiceReference {
	return session.ServiceReference{
		Active: s.Active, Name: s.Name, Duration: s.Duration, Delivery: s.Delivery,
		Capacity: s.DefaultCapacity, WaitlistCapacity: s.DefaultWaitlistCapacity,
	}
}

// tell appends an event about each of the sessions.
func tell(tx *engine.Tx, what outbox.Type, data func(session.Session) map[string]any, sessions ...session.Session) {
	events := make([]outbox.Event, len(sessions))
	for i, s := range sessions {
		events[i] = outbox.Event{
			ID: tenant.NextID[tenant.EventID](tx.IDs), Type: what, Session: s.ID, Actor: tx.Caller.Actor(), At: tx.Now,
		}
		if data != nil {
			events[i].Data = data(s)
		}
	}
	outbox.Append(tx.Tx, tx.Tenant, events...)
}

// auditBatch keeps an act that reached many sessions at once.
func auditBatch(tx *engine.Tx, action string, batch tenant.BatchID, reason string, changes map[string]any) {
	coredb.AppendAudit(tx.Tx, tx.Tenant, coredb.AuditEntry{
		ID: tenant.NextID[tenant.AuditID](tx.IDs), Actor: tx.Caller.Actor(), Subject: tx.Caller.Subject, Action: action,
		TargetKind: "session", Batch: batch, Reason: reason, Changes: changes, Request: tx.Request, At: tx.Now,
	})
}

// refill lets whoever waits have the open seats of a session as the writes so far leave it, and gives the session as it is then.
func (s *Service) refill(ctx context.Context, tx *engine.Tx, sess session.Session, trigger waitlist.Trigger) (session.Session, int, error) {
	promoted, woken, err := s.waitlists.FillAll(ctx, tx, trigger, sess.ID)
	if err != nil || woken == 0 {
		return sess, 0, err
	}
	after, err := scheduled(ctx, tx, sess.ID)
	return after.Session, promoted, err
}

// resettle lets waitlists follow sessions that were edited: to the queues of other days, and into seats that are new or that withdrawn offers
// have left. Offers of a session that moved are withdrawn: they were for another time or place.
func (s *Service) resettle(ctx context.Context, tx *engine.Tx, before, after []session.Session, freed map[tenant.SessionID]int) (promoted, woken int, err error) {
	var moved, raised, lowered, requeued []tenant.SessionID
	var touched []waitlist.Queue
	for i, s := range after {
		was := before[i]
		from, to := waitlist.Queue{Location: was.Location, Service: was.Service, Date: was.LocalDate}, waitlist.Queue{Location: s.Location, Service: s.Service, Date: s.LocalDate}
		if from != to && s.Waiting > 0 {
			requeued, touched = append(requeued, s.ID), append(touched, from, to)
		}
		switch {
		case from != to || !was.StartsAt.Equal(s.StartsAt) || !was.EndsAt.Equal(s.EndsAt) || was.Resource != s.Resource || was.Coach != s.Coach:
			moved = append(moved, s.ID)
		case s.CapacityRaised(was):
			raised = append(raised, s.ID)
		case freed[s.ID] > 0: // some of the seats may have stayed
			lowered = append(lowered, s.ID)
		}
	}
	waitlistdb.MovePlaces(tx.Tx, tx.Tenant, requeued, touched)
	if len(moved) > 0 {
		if _, err := s.waitlists.Withdraw(ctx, tx, waitlist.SessionMoved, "", moved...); err != nil {
			return 0, 0, err
		}
	}
	for _, wake := range []struct {
		by       waitlist.Trigger
		sessions []tenant.SessionID
	}{{waitlist.ByMove, moved}, {waitlist.ByCapacity, raised}, {waitlist.ByWithdrawal, lowered}} {
		more, again, err := s.waitlists.FillAll(ctx, tx, wake.by, wake.sessions...)
		if err != nil {
			return promoted, woken, err
		}
		promoted, woken = promoted+more, woken+again
	}
	return promoted, woken, nil
}

// under names the part of the request in which a rule of package session found a field.
func under(part string, err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Field != "" {
		return f.WithField(part + "." + f.Field)
	}
	return err
}

// scheduleRefusal turns the constraints that guard the schedule into refusals. None tells whose
// session or booking stands in the way. Part is the part of the request that describes sessions.
func scheduleRefusal(part string, err error) error {
	switch {
	case err == nil:
		return nil
	case pg.IsExclusion(err, "sessions_resource_busy"):
		return under(part, session.ResourceBusy().WithCause(err))
	case pg.IsExclusion(err, "sessions_staff_busy"):
		return under(part, session.CoachBusy().WithCause(err))
	case pg.IsExclusion(err, "bookings_overlap"):
		return fault.New(fault.FailedPrecondition, fault.Overlap,
			"Somebody who has booked the session has another booking at that time, on a plan that forbids it.").WithCause(err)
	case pg.IsCheck(err, "sessions_capacity", "sessions_waitlist"):
		return session.CapacityTooLow().WithCause(err)
	default:
		return err
	}
}
