package housekeeping

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// SweepResult counts what a sweep did.
type SweepResult struct {
	Holds    int // holds that had run out
	NoShows  int // bookings whose party did not come
	Renewed  int // subscriptions that began a period
	Expired  int // subscriptions past their term
	Sessions int // made for series without an end
	Entries  int // waitlist entries whose time has passed
	Mended   int // on the waitlist, of what should not have been wrong
}

const (
	// absenceReach is how long after they fell due no-shows are still marked. Whoever turns
	// the policy on means from now on; and where nothing ran for longer than
	// this, nobody could check in either, and staff know better.
	absenceReach = 24 * time.Hour
)

// RunSweeps sweeps all tenants at once and then with every tick, until ctx ends. All nodes may
// do so: what one of them has done, the others find done.
func (s *Service) RunSweeps(ctx context.Context, ticks <-chan time.Time, log *slog.Logger) {
	for {
		s.sweepAll(ctx, log)
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
	}
}

func (s *Service) sweepAll(ctx context.Context, log *slog.Logger) {
	tenants, err := s.engine.Tenants(ctx)
	if err != nil && ctx.Err() == nil {
		log.ErrorContext(ctx, "sweep: tenants not read", slog.Any("error", err))
	}
	for _, id := range tenants {
		done, err := s.SweepTenant(ctx, id)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			log.ErrorContext(ctx, "sweep incomplete", slog.String("tenant_id", id.String()), slog.Any("error", err))
		}
		if done != (SweepResult{}) {
			log.InfoContext(ctx, "swept", slog.String("tenant_id", id.String()), slog.Int("holds", done.Holds), slog.Int("no_shows", done.NoShows),
				slog.Int("renewed", done.Renewed), slog.Int("expired", done.Expired), slog.Int("sessions", done.Sessions), slog.Int("entries", done.Entries), slog.Int("mended", done.Mended))
		}
	}
}

// SweepTenant does for a tenant what has fallen due and nobody asks for: it ends holds, offers and waitlist entries, marks no-shows, renews and
// expires subscriptions, makes the sessions of series without an end, and forgets old idempotency keys and devices. Every transaction
// looks again at what was found, so that a second sweep, at the same moment or later, changes nothing. What fails does not
// keep the rest, and is left for the next sweep; the error is the first of each kind.
func (s *Service) SweepTenant(ctx context.Context, id tenant.TenantID) (SweepResult, error) {
	var done SweepResult
	caller := tenant.System(id)
	found, err := s.lookAround(ctx, caller)
	if err != nil {
		return done, err
	}
	var failed []error
	for _, errand := range []struct {
		due bool
		run func(context.Context, tenant.Caller, *SweepResult) error
	}{
		{len(found.absences) > 0, s.sweepAbsences},
		{len(found.subscriptions) > 0, s.sweepSubscriptions},
		{len(found.holds)+len(found.offers) > 0, s.sweepExpired},
		{found.queues(), s.sweepWaitlist},
		{len(found.series) > 0, s.sweepSeries},
		{found.keys, s.sweepKeys},
		{found.devices, s.sweepDevices},
	} {
		if errand.due {
			failed = append(failed, errand.run(ctx, caller, &done))
		}
	}
	return done, errors.Join(failed...)
}

// errands are what a sweep finds to do: the first of each kind.
type errands struct {
	absences      []tenant.SessionID
	subscriptions []tenant.SubscriptionID
	holds         []tenant.SessionID
	offers        []tenant.OfferID
	edited        []waitlistdb.EditedLevel
	entries       []tenant.EntryID
	orphans       []tenant.EntryID
	rounds        []tenant.RoundID
	missed        []tenant.SessionID
	series        []tenant.SeriesID
	keys, devices bool
}

func (e errands) queues() bool {
	return len(e.edited)+len(e.entries)+len(e.orphans)+len(e.rounds)+len(e.missed) > 0
}

// lookAround finds whether there is anything to do in a tenant, and sets the alarms for what will be. Of most tenants there is nothing most of the
// time, and there may be thousands of them: so it is one round trip.
func (s *Service) lookAround(ctx context.Context, caller tenant.Caller) (errands, error) {
	var found errands
	var expiry *time.Time
	var notice time.Time
	var b pg.Batch
	now := s.engine.Now()
	findAbsences(&b, caller, now, tenant.SessionID{}, &found.absences)
	bookingdb.ListDueSubscriptions(&b, caller.Tenant, now, tenant.SubscriptionID{}, 1, &found.subscriptions)
	bookingdb.ListDueSessions(&b, caller.Tenant, now, 1, &found.holds)
	waitlistdb.ListDueOffers(&b, caller.Tenant, now, 1, &found.offers)
	waitlistdb.ListEditedLevels(&b, caller.Tenant, &found.edited)
	findEnding(&b, caller, now, tenant.EntryID{}, &found.entries)
	waitlistdb.ListOrphans(&b, caller.Tenant, 1, &found.orphans, &found.rounds)
	waitlistdb.ListUnfilled(&b, caller.Tenant, now, 1, &found.missed)
	schedules.FindSeries(&b, caller, now, &found.series)
	coredb.HasOldKeys(&b, caller.Tenant, now.Add(-engine.KeyLifetime), &found.keys)
	accountdb.HasStaleDevices(&b, caller.Tenant, now.Add(-deviceLife), &found.devices)
	bookingdb.FindNextExpiry(&b, caller.Tenant, &expiry)
	messagedb.FindNextNotice(&b, caller.Tenant, &notice)
	if err := s.engine.Read(ctx, caller, &b); err != nil {
		return errands{}, err
	}
	if expiry != nil && expiry.After(now) {
		s.engine.Alarms.Set(caller.Tenant, *expiry)
	}
	if !notice.IsZero() {
		s.messages.Notices.Set(caller.Tenant, notice)
	}
	return found, nil
}

// sweepExpired ends holds and offers that no alarm ended.
func (s *Service) sweepExpired(ctx context.Context, caller tenant.Caller, done *SweepResult) error {
	ended, overdue, err := s.ExpireDue(ctx, caller.Tenant)
	done.Holds, done.Mended = ended, done.Mended+overdue
	if overdue > 0 {
		s.waitlists.ReportOverdue(overdue)
	}
	return err
}

func (s *Service) sweepSeries(ctx context.Context, caller tenant.Caller, done *SweepResult) (err error) {
	done.Sessions, err = s.schedules.ExtendSeries(ctx, caller.Tenant)
	return err
}

// sweepAbsences marks those who did not come.
func (s *Service) sweepAbsences(ctx context.Context, caller tenant.Caller, done *SweepResult) error {
	now := s.engine.Now()
	find := func(after tenant.SessionID, into *[]tenant.SessionID) error {
		var batch pg.Batch
		findAbsences(&batch, caller, now, after, into)
		return s.engine.Read(ctx, caller, &batch)
	}
	return engine.InChunks(ctx, find, func(sessions []tenant.SessionID) error {
		var failed error
		for _, id := range sessions {
			for marked := engine.SweepChunk; marked == engine.SweepChunk; done.NoShows += marked {
				err := s.engine.Write(ctx, caller, "sweep.no_show", func(ctx context.Context, tx *engine.Tx) (err error) {
					marked, err = markAbsent(ctx, tx, id)
					return err
				})
				if err != nil {
					failed, marked = cmp.Or(failed, err), 0
				}
			}
		}
		return failed
	})
}

// findAbsences asks for sessions in which somebody did not come and has not been marked.
func findAbsences(b *pg.Batch, caller tenant.Caller, now time.Time, after tenant.SessionID, into *[]tenant.SessionID) {
	usual := catalog.Defaults()
	bookingdb.ListNoShowSessions(b, caller.Tenant, bookingdb.NoShowQuery{
		Since: now.Add(-absenceReach), Until: now, StartsFrom: now.Add(-absenceReach - catalog.MaxNoShowDelay - session.MaxLength),
		Mark: usual.AutoNoShow, After: usual.AutoNoShowAfter, Closes: usual.CheckInCloses, AfterID: after, Limit: engine.SweepChunk,
	}, into)
}

// markAbsent marks a chunk of a session's absent parties, and tells how many.
func markAbsent(ctx context.Context, tx *engine.Tx, id tenant.SessionID) (int, error) {
	var slot *booking.Slot
	var absent []booking.Booking
	var batch pg.Batch
	bookingdb.FindSlot(&batch, tx.Tenant, id, &slot)
	bookingdb.ListNoShows(&batch, tx.Tenant, id, engine.SweepChunk, &absent)
	if err := tx.Load(ctx, &batch); err != nil {
		return 0, err
	}
	if slot == nil || !slot.Rules.AutoNoShow || tx.Now.Before(bookings.CheckInWindow(*slot).NoShowFrom(slot.EndsAt, slot.Rules.AutoNoShowAfter)) || len(absent) == 0 {
		return 0, nil
	}
	ids := make([]tenant.BookingID, len(absent))
	events := make([]outbox.Event, len(absent))
	seats := 0
	for i, b := range absent {
		b, _, err := booking.MarkNoShow(b, tx.Now)
		if err != nil {
			return 0, err
		}
		ids[i], seats = b.ID, seats+b.Party
		events[i] = outbox.Event{
			ID: tenant.NextID[tenant.EventID](tx.IDs), Type: outbox.BookingNoShow, Session: b.Session, Booking: b.ID, Member: b.Member,
			Actor: tx.Caller.Actor(), At: tx.Now,
		}
	}
	bookingdb.MarkNoShows(tx.Tx, tx.Tenant, ids, tx.Now)
	bookingdb.MoveSeats(tx.Tx, tx.Tenant, id, bookingdb.Seats{Taken: -seats})
	outbox.Append(tx.Tx, tx.Tenant, events...)
	return len(absent), nil
}

// sweepSubscriptions renews and expires subscriptions, so that their ledgers say so in time.
func (s *Service) sweepSubscriptions(ctx context.Context, caller tenant.Caller, done *SweepResult) error {
	now := s.engine.Now()
	find := func(after tenant.SubscriptionID, into *[]tenant.SubscriptionID) error {
		var batch pg.Batch
		bookingdb.ListDueSubscriptions(&batch, caller.Tenant, now, after, engine.SweepChunk, into)
		return s.engine.Read(ctx, caller, &batch)
	}
	return engine.InChunks(ctx, find, func(due []tenant.SubscriptionID) error {
		var renewed, expired int
		err := s.engine.Write(ctx, caller, "sweep.subscription", func(ctx context.Context, tx *engine.Tx) (err error) {
			renewed, expired, err = advance(ctx, tx, due)
			return err
		})
		if err != nil {
			return err
		}
		done.Renewed, done.Expired = done.Renewed+renewed, done.Expired+expired
		return nil
	})
}

// advance brings subscriptions up to now.
func advance(ctx context.Context, tx *engine.Tx, ids []tenant.SubscriptionID) (renewed, expired int, err error) {
	var due []credit.Subscription
	var batch pg.Batch
	bookingdb.ListSubscriptions(&batch, tx.Tenant, ids, &due)
	if err := tx.Load(ctx, &batch); err != nil {
		return 0, 0, err
	}
	var events []outbox.Event
	for _, before := range due {
		after, ledger := credit.Advance(before, tx.Now)
		event := outbox.Event{
			ID: tenant.NextID[tenant.EventID](tx.IDs), Type: outbox.CreditsChanged, Member: after.Member, Actor: tx.Caller.Actor(), At: tx.Now,
			Data: map[string]any{"subscription_id": after.ID.String(), "amount": after.Balance - before.Balance, "balance": after.Balance},
		}
		switch {
		case after.Status != before.Status:
			expired++
			after.Version++
			event.Type, event.Data = outbox.SubscriptionChanged, map[string]any{"subscription_id": after.ID.String(), "status": string(after.Status)}
		case len(ledger) > 0:
			renewed++
		default:
			continue // somebody was faster
		}
		seats.WriteCredits(tx, after, ledger)
		if len(ledger) == 0 {
			bookingdb.UpdateSubscription(tx.Tx, tx.Tenant, after, tx.Now)
		}
		events = append(events, event)
	}
	outbox.Append(tx.Tx, tx.Tenant, events...)
	return renewed, expired, nil
}

// deviceLife is how long a device may stay away. Apps register anew whenever they are opened; providers end tokens of
// others by themselves, later.
const deviceLife = 60 * 24 * time.Hour

// sweepDevices forgets devices that were not seen for long.
func (s *Service) sweepDevices(ctx context.Context, caller tenant.Caller, _ *SweepResult) error {
	since := s.engine.Now().Add(-deviceLife)
	return s.engine.Write(ctx, caller, "sweep.devices", func(_ context.Context, tx *engine.Tx) error {
		accountdb.DeleteStaleDevices(tx.Tx, tx.Tenant, since)
		return nil
	})
}
