package housekeeping

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/credits"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/idempotency"
	"github.com/berthhq/berth/internal/app/record"
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
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/fileimport"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/signin"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// SweepResult counts what a sweep did.
type SweepResult struct {
	Holds    int // expired holds
	NoShows  int // bookings whose party did not come
	Renewed  int // subscriptions that began a period
	Expired  int // subscriptions past their term
	Sessions int // created for series without an end
	Entries  int // waitlist entries whose time has passed
	Mended   int // repairs of the waitlist
}

// absenceReach is how long after its due time a no-show is still marked. An edit of the policy must not mark the past.
// And if no node ran for longer than this, members could not check in either, and staff know better who came.
const absenceReach = 24 * time.Hour

// RunSweeps sweeps all tenants now and at every tick, until ctx ends. All nodes may run it: what one of them has done,
// the others find done.
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
			log.InfoContext(ctx, "swept", slog.String("tenant_id", id.String()), slog.Int("holds", done.Holds),
				slog.Int("no_shows", done.NoShows), slog.Int("renewed", done.Renewed), slog.Int("expired", done.Expired),
				slog.Int("sessions", done.Sessions), slog.Int("entries", done.Entries), slog.Int("mended", done.Mended))
		}
	}
}

// SweepTenant does what is due in a tenant without a request: it ends holds, offers and waitlist entries, marks no-
// shows, renews and expires subscriptions, creates the sessions of series without an end, deletes old idempotency keys,
// devices, display links, sign-ins, changes of addresses and codes for contacts, reviews sending quotas, and seals
// tokens of devices. Every transaction checks again what was found, so a second sweep, at the same time or later,
// changes nothing. A failure does not stop the other steps, and is left for the next sweep. The error is the first of
// each step.
func (s *Service) SweepTenant(ctx context.Context, id tenant.TenantID) (SweepResult, error) {
	var done SweepResult
	caller := tenant.System(id)
	found, err := s.findWork(ctx, caller)
	if err != nil {
		return done, err
	}
	var failed []error
	for _, step := range []struct {
		due bool
		run func(context.Context, tenant.Caller, *SweepResult) error
	}{
		{len(found.absences) > 0, s.sweepAbsences},
		{len(found.subscriptions) > 0, s.sweepSubscriptions},
		{len(found.subscriptions)+len(found.rechecks) > 0, s.sweepRechecks},
		{found.opened, s.sweepOpenings},
		{len(found.holds)+len(found.offers) > 0, s.sweepExpired},
		{found.queues(), s.sweepWaitlist},
		{len(found.series) > 0, s.sweepSeries},
		{found.keys, s.sweepKeys},
		{found.devices, s.sweepDevices},
		{found.displays, s.sweepDisplayLinks},
		{len(found.unsealed) > 0, s.sealDevices},
		{found.codes, s.sweepCodes},
		{found.signIns, s.sweepSignIns},
		{found.addressChanges, s.sweepAddressChanges},
		{found.addresses, s.hashAddresses},
		{found.invitations, s.sweepInvitations},
		{found.imports, s.sweepImports},
		{len(found.standings) > 0, s.reviewSending},
	} {
		if step.due {
			failed = append(failed, step.run(ctx, caller, &done))
		}
	}
	return done, errors.Join(failed...)
}

// work is what a sweep finds to do: at least the first of each kind.
type work struct {
	absences       []tenant.SessionID
	subscriptions  []tenant.SubscriptionID
	holds          []tenant.SessionID
	offers         []tenant.OfferID
	edited         []waitlistdb.EditedLevel
	rechecks       []waitlistdb.Recheck
	opened         bool // for entries that wait for it
	entries        []tenant.EntryID
	orphans        []tenant.EntryID
	rounds         []tenant.RoundID
	missed         []tenant.SessionID
	series         []tenant.SeriesID
	keys           bool
	devices        bool
	displays       bool
	unsealed       []accountdb.UnsealedDevice
	codes          bool
	signIns        bool
	addresses      bool
	addressChanges bool
	invitations    bool
	imports        bool
	standings      []notify.Standing
}

func (w work) queues() bool {
	return len(w.edited)+len(w.entries)+len(w.orphans)+len(w.rounds)+len(w.missed) > 0
}

// findWork finds what is due in a tenant, and sets the alarms for what is due later. It makes one round trip: there may
// be thousands of tenants, and most of the time most of them have nothing due.
func (s *Service) findWork(ctx context.Context, caller tenant.Caller) (work, error) {
	var found work
	var expiry, renewal, opening, notice, mail, domain, imported *time.Time
	var b pg.Batch
	const first = 1 // shows that there is something to do
	now := s.engine.Now()
	listAbsences(&b, caller, now, tenant.SessionID{}, &found.absences)
	bookingdb.ListDueSubscriptions(&b, caller.Tenant, now, tenant.SubscriptionID{}, first, &found.subscriptions)
	bookingdb.ListDueSessions(&b, caller.Tenant, now, first, &found.holds)
	waitlistdb.ListDueOffers(&b, caller.Tenant, now, first, &found.offers)
	waitlistdb.ListEditedLevels(&b, caller.Tenant, &found.edited)
	waitlistdb.ListRechecks(&b, caller.Tenant, waitlistdb.Recheck{}, first, &found.rechecks)
	listEnding(&b, caller, now, tenant.EntryID{}, &found.entries)
	waitlistdb.ListOrphans(&b, caller.Tenant, first, &found.orphans, &found.rounds)
	waitlistdb.ListUnfilled(&b, caller.Tenant, now, first, &found.missed)
	schedules.FindSeries(&b, caller, now, &found.series)
	coredb.HasOldKeys(&b, caller.Tenant, now.Add(-idempotency.Lifetime), &found.keys)
	accountdb.HasStaleDevices(&b, caller.Tenant, now.Add(-deviceLife), &found.devices)
	bookingdb.HasOldDisplayLinks(&b, caller.Tenant, now.Add(-displayLinkLife), &found.displays)
	accountdb.ListUnsealedDevices(&b, caller.Tenant, first, &found.unsealed)
	accountdb.HasOldCodes(&b, caller.Tenant, now.Add(-member.CodeDay), &found.codes)
	accountdb.HasOldAddressChanges(&b, caller.Tenant, now.Add(-member.AddressChangeLife), &found.addressChanges)
	accountdb.HasOldSignIns(&b, caller.Tenant, now, now.Add(-signin.CodeDay), &found.signIns)
	s.accounts.FindOldAddresses(&b, caller.Tenant, &found.addresses)
	accountdb.HasOldInvitations(&b, caller.Tenant, now.Add(-member.InvitationsKept), &found.invitations)
	coredb.HasOldImports(&b, caller.Tenant, now.Add(-fileimport.Life), now.Add(-fileimport.LeftOutLife),
		&found.imports)
	coredb.FindNextImport(&b, caller.Tenant, &imported)
	messagedb.ListReviews(&b, caller.Tenant, now, &found.standings)
	bookingdb.FindNextExpiry(&b, caller.Tenant, &expiry)
	bookingdb.FindNextRenewal(&b, caller.Tenant, now, &renewal)
	bookingdb.FindNextOpening(&b, caller.Tenant, &opening)
	messagedb.FindNextNotice(&b, caller.Tenant, &notice)
	accountdb.FindNextMail(&b, caller.Tenant, &mail)
	messagedb.FindDomainCheck(&b, caller.Tenant, &domain)
	if err := s.engine.Read(ctx, caller, &b); err != nil {
		return work{}, err
	}
	if expiry != nil && expiry.After(now) {
		s.engine.Alarms.Set(caller.Tenant, *expiry)
	}
	if renewal != nil {
		s.engine.Fills.Set(caller.Tenant, *renewal)
	}
	if opening != nil {
		if found.opened = !opening.After(now); !found.opened {
			s.engine.Fills.Set(caller.Tenant, *opening)
		}
	}
	if notice != nil {
		s.messages.Notices.Set(caller.Tenant, *notice)
	}
	if mail != nil {
		s.mails.Due.Set(caller.Tenant, *mail)
	}
	if imported != nil {
		s.imports.Due.Set(caller.Tenant, *imported)
	}
	if domain != nil {
		s.messages.Domains.Set(caller.Tenant, *domain)
	}
	return found, nil
}

// sweepExpired ends holds and offers that no alarm has ended.
func (s *Service) sweepExpired(ctx context.Context, caller tenant.Caller, done *SweepResult) error {
	ended, overdue, err := s.ExpireDue(ctx, caller.Tenant)
	done.Holds, done.Mended = ended, done.Mended+overdue
	s.waitlists.ReportOverdue(overdue)
	return err
}

// sweepImports deletes imports that have expired, and the rows that they left out.
func (s *Service) sweepImports(ctx context.Context, caller tenant.Caller, _ *SweepResult) error {
	now := s.engine.Now()
	t := engine.Transaction{Name: "sweep.imports"}
	return engine.Exec(ctx, s.engine, caller, t, func(_ context.Context, tx *engine.Tx) error {
		coredb.DeleteLeftOut(tx.Tx, tx.Tenant, now.Add(-fileimport.LeftOutLife))
		coredb.DeleteOldImports(tx.Tx, tx.Tenant, now.Add(-fileimport.Life))
		return nil
	})
}

func (s *Service) sweepSeries(ctx context.Context, caller tenant.Caller, done *SweepResult) (err error) {
	done.Sessions, err = s.schedules.ExtendSeries(ctx, caller.Tenant)
	return err
}

// sweepAbsences marks parties that did not come as no-shows.
func (s *Service) sweepAbsences(ctx context.Context, caller tenant.Caller, done *SweepResult) error {
	now := s.engine.Now()
	find := func(b *pg.Batch, after tenant.SessionID, into *[]tenant.SessionID) {
		listAbsences(b, caller, now, after, into)
	}
	return engine.InChunks(ctx, s.engine, caller, find, func(sessions []tenant.SessionID) (failed error) {
		for _, id := range sessions {
			marked, err := s.markSession(ctx, caller, id)
			done.NoShows += marked
			failed = cmp.Or(failed, err)
		}
		return failed
	})
}

// listAbsences asks for sessions with parties that did not come and are not marked.
func listAbsences(b *pg.Batch, caller tenant.Caller, now time.Time, after tenant.SessionID, into *[]tenant.SessionID) {
	defaults := catalog.Defaults()
	bookingdb.ListNoShowSessions(b, caller.Tenant, bookingdb.NoShowQuery{
		Since: now.Add(-absenceReach), Until: now,
		StartsFrom: now.Add(-absenceReach - catalog.MaxNoShowDelay - session.MaxLength),
		Mark:       defaults.AutoNoShow, After: defaults.AutoNoShowAfter, Closes: defaults.CheckInClosesAfterEnd,
		AfterStart: defaults.AutoNoShowAfterStart,
		AfterID:    after, Limit: engine.SweepChunk,
	}, into)
}

// markSession marks all absent parties of a session, a chunk in each transaction, and counts them.
func (s *Service) markSession(ctx context.Context, caller tenant.Caller, id tenant.SessionID) (int, error) {
	mark := func(ctx context.Context, tx *engine.Tx) (int, error) { return s.markAbsent(ctx, tx, id) }
	for all := 0; ; {
		marked, err := engine.Transact(ctx, s.engine, caller, engine.Transaction{Name: "sweep.no_show"}, mark)
		all += marked
		if err != nil || marked < engine.SweepChunk {
			return all, err
		}
	}
}

// markAbsent marks a chunk of a session's absent parties, and counts them. Before the end, their seats go to the
// waitlist.
func (s *Service) markAbsent(ctx context.Context, tx *engine.Tx, id tenant.SessionID) (int, error) {
	var slot *booking.Slot
	var candidates []booking.Absence
	var batch pg.Batch
	bookingdb.FindSlot(&batch, tx.Tenant, id, &slot)
	bookingdb.ListNoShows(&batch, tx.Tenant, id, engine.SweepChunk, &candidates)
	if err := tx.Load(ctx, &batch); err != nil || slot == nil {
		return 0, err
	}
	absent, err := booking.MarkAbsent(*slot, candidates, bookings.NoShowFrom, tx.Now)
	if err != nil || len(absent) == 0 {
		return 0, err
	}
	ids := make([]tenant.BookingID, len(absent))
	freed := 0
	for i, b := range absent {
		ids[i], freed = b.ID, freed+b.Party
	}
	bookingdb.MarkNoShows(tx.Tx, tx.Tenant, ids, tx.Now)
	bookingdb.MoveSeats(tx.Tx, tx.Tenant, id, bookingdb.Seats{Taken: -freed})
	for _, b := range absent {
		seats.BookingEvent(tx, b, event.BookingNoShow{})
	}
	slot.SeatsTaken -= freed
	_, err = s.waitlists.Fill(ctx, tx, slot, waitlist.ByNoShow)
	return len(absent), err
}

// sweepSubscriptions renews and expires subscriptions, so that their ledgers show it in time.
func (s *Service) sweepSubscriptions(ctx context.Context, caller tenant.Caller, done *SweepResult) error {
	now := s.engine.Now()
	find := func(b *pg.Batch, after tenant.SubscriptionID, into *[]tenant.SubscriptionID) {
		bookingdb.ListDueSubscriptions(b, caller.Tenant, now, after, engine.SweepChunk, into)
	}
	t := engine.Transaction{Name: "sweep.subscription"}
	return engine.InChunks(ctx, s.engine, caller, find, func(due []tenant.SubscriptionID) error {
		n, err := engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (SweepResult, error) {
			return advance(ctx, tx, due)
		})
		done.Renewed, done.Expired = done.Renewed+n.Renewed, done.Expired+n.Expired
		return err
	})
}

// advance applies to subscriptions what happened up to now: new periods, and the end of their terms.
func advance(ctx context.Context, tx *engine.Tx, ids []tenant.SubscriptionID) (SweepResult, error) {
	var n SweepResult
	var due []credit.Subscription
	var batch pg.Batch
	bookingdb.FindSubscriptions(&batch, tx.Tenant, ids, &due)
	if err := tx.Load(ctx, &batch); err != nil {
		return n, err
	}
	for _, before := range due {
		after, ledger := credit.Advance(before, tx.Now)
		changed := outbox.Event{Member: after.Member, Facts: event.NoFacts, Data: event.CreditsChanged{
			Subscription: after.ID, Amount: after.Balance - before.Balance, Balance: after.Balance,
		}}
		switch {
		case after.Status != before.Status:
			n.Expired++
			after.Version++
			changed = credits.Changed(before, after)
			record.Recheck(tx, after.Member)
		case len(ledger) > 0:
			n.Renewed++
		default:
			continue // another transaction was faster
		}
		credits.Write(tx, after, ledger)
		if len(ledger) == 0 {
			bookingdb.UpdateSubscription(tx.Tx, tx.Tenant, after, tx.Now)
		}
		record.Event(tx, changed)
	}
	return n, nil
}

// deviceLife is how long a device is kept after its app was last opened. Apps register again whenever they are opened;
// providers end the tokens of other devices by themselves, later.
const deviceLife = 60 * 24 * time.Hour

func (s *Service) sealDevices(ctx context.Context, caller tenant.Caller, _ *SweepResult) error {
	return s.accounts.SealDevices(ctx, caller.Tenant)
}

// sweepCodes deletes codes for contacts that no longer count.
func (s *Service) sweepCodes(ctx context.Context, caller tenant.Caller, _ *SweepResult) error {
	return s.accounts.SweepCodes(ctx, caller.Tenant)
}

// sweepAddressChanges deletes changes of addresses that ended long ago.
func (s *Service) sweepAddressChanges(ctx context.Context, caller tenant.Caller, _ *SweepResult) error {
	return s.accounts.SweepAddressChanges(ctx, caller.Tenant)
}

// sweepInvitations deletes invitations that expired long ago.
func (s *Service) sweepInvitations(ctx context.Context, caller tenant.Caller, _ *SweepResult) error {
	return s.accounts.SweepInvitations(ctx, caller.Tenant)
}

func (s *Service) hashAddresses(ctx context.Context, caller tenant.Caller, _ *SweepResult) error {
	return s.accounts.HashAddresses(ctx, caller.Tenant)
}

// sweepSignIns deletes sign-ins that have expired, and codes that no longer count.
func (s *Service) sweepSignIns(ctx context.Context, caller tenant.Caller, _ *SweepResult) error {
	until := s.engine.Now()
	t := engine.Transaction{Name: "sweep.sign_ins", Quiet: true}
	return engine.Exec(ctx, s.engine, caller, t, func(_ context.Context, tx *engine.Tx) error {
		accountdb.DeleteOldSignIns(tx.Tx, tx.Tenant, until, until.Add(-signin.CodeDay))
		return nil
	})
}

// reviewSending reviews how far the tenant's sending quotas grow.
func (s *Service) reviewSending(ctx context.Context, caller tenant.Caller, _ *SweepResult) error {
	return s.messages.ReviewSending(ctx, caller.Tenant)
}

// sweepDevices deletes devices whose app was not opened for that long.
func (s *Service) sweepDevices(ctx context.Context, caller tenant.Caller, _ *SweepResult) error {
	since := s.engine.Now().Add(-deviceLife)
	t := engine.Transaction{Name: "sweep.devices"}
	return engine.Exec(ctx, s.engine, caller, t, func(_ context.Context, tx *engine.Tx) error {
		accountdb.DeleteStaleDevices(tx.Tx, tx.Tenant, since)
		return nil
	})
}

// displayLinkLife is how long display links are kept after their session, to be looked up.
const displayLinkLife = 7 * 24 * time.Hour

// sweepDisplayLinks deletes the display links of sessions that ended that long ago.
func (s *Service) sweepDisplayLinks(ctx context.Context, caller tenant.Caller, _ *SweepResult) error {
	until := s.engine.Now().Add(-displayLinkLife)
	t := engine.Transaction{Name: "sweep.display_links"}
	return engine.Exec(ctx, s.engine, caller, t, func(_ context.Context, tx *engine.Tx) error {
		bookingdb.DeleteOldDisplayLinks(tx.Tx, tx.Tenant, until)
		return nil
	})
}
