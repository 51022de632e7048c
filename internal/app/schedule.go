package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// What the use cases of the schedule have in common.

var noSession = fault.Missing(fault.SessionNotFound, "Session")

// scheduled loads a session that is not deleted, with more facts if there are any to load.
func (t *tx) scheduled(ctx context.Context, id tenant.SessionID, more ...func(*pg.Batch)) (store.Scheduled, error) {
	var found *store.Scheduled
	var batch pg.Batch
	store.FindSession(&batch, t.in, id, &found)
	for _, queue := range more {
		queue(&batch)
	}
	if err := t.Load(ctx, &batch); err != nil {
		return store.Scheduled{}, err
	}
	if found == nil {
		return store.Scheduled{}, noSession
	}
	return *found, nil
}

// setting loads what a session refers to.
func (t *tx) setting(ctx context.Context, d session.Details) (session.Setting, error) {
	var (
		service  *catalog.Service
		location *catalog.Location
		resource *catalog.Resource
		at       session.Setting
		batch    pg.Batch
	)
	store.FindService(&batch, t.in, d.Service, &service)
	store.FindLocation(&batch, t.in, d.Location, &location)
	store.FindResource(&batch, t.in, d.Resource, &resource)
	store.FindLeader(&batch, t.in, d.Coach, &at.Coach)
	if err := t.Load(ctx, &batch); err != nil {
		return at, err
	}
	if service != nil {
		at.Service = serviceSetting(*service)
	}
	if location != nil {
		zone, err := zoneOf(*location)
		if err != nil {
			return at, err
		}
		at.Location = zone
	}
	if resource != nil {
		at.Resource = session.ResourceSetting{Active: resource.Active, Location: resource.Location}
	}
	return at, nil
}

func serviceSetting(s catalog.Service) session.ServiceSetting {
	return session.ServiceSetting{
		Active: s.Active, Name: s.Name, Duration: s.Duration, Delivery: s.Delivery,
		Capacity: s.DefaultCapacity, WaitlistCapacity: s.DefaultWaitlistCapacity,
	}
}

func zoneOf(l catalog.Location) (session.LocationSetting, error) {
	zone, err := time.LoadLocation(l.TimeZone)
	if err != nil {
		return session.LocationSetting{}, fmt.Errorf("time zone of location %s: %w", l.ID, err)
	}
	return session.LocationSetting{Active: l.Active, TimeZone: l.TimeZone, Zone: zone}, nil
}

// tell appends an event about each of the sessions.
func (t *tx) tell(what outbox.Type, data func(session.Session) map[string]any, sessions ...session.Session) {
	events := make([]outbox.Event, len(sessions))
	for i, s := range sessions {
		events[i] = outbox.Event{
			ID: tenant.Next[tenant.EventID](t.mint), Type: what, Session: s.ID, Actor: t.caller.Actor(), At: t.now,
		}
		if data != nil {
			events[i].Data = data(s)
		}
	}
	outbox.Append(t.Tx, t.in, events...)
}

// auditBatch keeps an act that reached many sessions at once.
func (t *tx) auditBatch(action string, batch tenant.BatchID, reason string, changes map[string]any) {
	store.AppendAudit(t.Tx, t.in, store.AuditEntry{
		ID: tenant.Next[tenant.AuditID](t.mint), Actor: t.caller.Actor(), Subject: t.caller.Subject, Action: action,
		TargetKind: "session", Batch: batch, Reason: reason, Changes: changes, Request: t.request, At: t.now,
	})
}

// refill lets whoever waits have the open seats of a session as the writes so far leave it, and gives the session as it is then.
func (t *tx) refill(ctx context.Context, s session.Session, trigger waitlist.Trigger) (session.Session, int, error) {
	promoted, woken, err := t.fillAll(ctx, trigger, s.ID)
	if err != nil || woken == 0 {
		return s, 0, err
	}
	after, err := t.scheduled(ctx, s.ID)
	return after.Session, promoted, err
}

// resettle lets waitlists follow sessions that were edited: to the queues of other days, and into seats that are new or that withdrawn offers
// have left. Offers of a session that moved are withdrawn: they were for another time or place.
func (t *tx) resettle(ctx context.Context, before, after []session.Session, freed map[tenant.SessionID]int) (promoted, woken int, err error) {
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
		case s.Raised(was):
			raised = append(raised, s.ID)
		case freed[s.ID] > 0: // some of the seats may have stayed
			lowered = append(lowered, s.ID)
		}
	}
	store.MovePlaces(t.Tx, t.in, requeued, touched)
	if len(moved) > 0 {
		if _, err := t.withdraw(ctx, waitlist.SessionMoved, "", moved...); err != nil {
			return 0, 0, err
		}
	}
	for _, wake := range []struct {
		by       waitlist.Trigger
		sessions []tenant.SessionID
	}{{waitlist.ByMove, moved}, {waitlist.ByCapacity, raised}, {waitlist.ByWithdrawal, lowered}} {
		more, again, err := t.fillAll(ctx, wake.by, wake.sessions...)
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
		return f.In(part + "." + f.Field)
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
		return under(part, session.ResourceTaken().Because(err))
	case pg.IsExclusion(err, "sessions_staff_busy"):
		return under(part, session.CoachTaken().Because(err))
	case pg.IsExclusion(err, "bookings_overlap"):
		return fault.New(fault.FailedPrecondition, fault.Overlap,
			"Somebody who has booked the session has another booking at that time, on a plan that forbids it.").Because(err)
	case pg.IsCheck(err, "sessions_capacity", "sessions_waitlist"):
		return session.BelowTaken().Because(err)
	default:
		return err
	}
}
