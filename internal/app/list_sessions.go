package app

import (
	"context"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/booking"
	"github.com/berthhq/berth/internal/catalog"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/credit"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/session"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// SessionQuery asks for sessions by their start, then id.
type SessionQuery struct {
	session.Filter           // with a span
	AfterStart     time.Time // keyset: the last start and id of the page before
	AfterID        tenant.SessionID
	Limit          int
}

// Offered is a session as the caller sees it.
type Offered struct {
	session.Session
	// Eligibility is what booking it would come to; nil for callers who are no members.
	Eligibility *booking.Eligibility
}

// ListSessions reads a page of the schedule, in one round trip and with as many statements for five hundred
// sessions as for one. Who is not staff sees no drafts.
func (a *App) ListSessions(ctx context.Context, caller tenant.Caller, q SessionQuery) ([]Offered, error) {
	var rows []store.Scheduled
	var standing store.Standing
	var batch pg.Batch
	store.ListSessions(&batch, caller.Tenant, store.SessionQuery{
		Filter: q.Visible(caller.Staff()), AfterStart: q.AfterStart, AfterID: q.AfterID, Limit: q.Limit,
	}, &rows)
	if !caller.Member.IsZero() {
		span := civil.Span{Start: q.From, End: q.Until}
		if q.AfterStart.After(span.Start) {
			span.Start = q.AfterStart
		}
		store.FindStanding(&batch, caller.Tenant, caller.Member, span, &standing)
	}
	if err := a.read(ctx, caller, &batch); err != nil {
		return nil, err
	}
	return offer(caller, rows, standing, a.now())
}

// GetSession reads a session. Who is not staff sees no drafts.
func (a *App) GetSession(ctx context.Context, caller tenant.Caller, id tenant.SessionID) (Offered, error) {
	var one *store.Scheduled
	var standing store.Standing
	err := a.db.Read(ctx, pg.Scope{Tenant: caller.Tenant}, func(ctx context.Context, tx *pg.ReadTx) error {
		var batch, more pg.Batch
		store.FindSession(&batch, caller.Tenant, id, &one)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if one == nil || !one.VisibleTo(caller.Staff()) {
			return noSession
		}
		if caller.Member.IsZero() {
			return nil
		}
		span := civil.Span{Start: one.StartsAt, End: one.StartsAt.Add(time.Microsecond)}
		store.FindStanding(&more, caller.Tenant, caller.Member, span, &standing)
		return tx.Load(ctx, &more)
	})
	if err != nil {
		return Offered{}, err
	}
	offered, err := offer(caller, []store.Scheduled{*one}, standing, a.now())
	if err != nil {
		return Offered{}, err
	}
	return offered[0], nil
}

// offer adds to sessions what booking them would come to.
func offer(caller tenant.Caller, rows []store.Scheduled, standing store.Standing, now time.Time) ([]Offered, error) {
	offered := make([]Offered, len(rows))
	for i, row := range rows {
		offered[i].Session = row.Session
		if !caller.Staff() && row.State != catalog.Cancelled {
			offered[i].StateReason = "" // why it is blocked is for staff
		}
	}
	if standing.Member == nil {
		return offered, nil
	}
	at, err := positions(standing.Rivals, standing.Rules, now)
	if err != nil {
		return nil, err
	}
	bookings := make(map[tenant.SessionID]tenant.BookingID, len(standing.Bookings))
	var busy []civil.Span
	for _, b := range standing.Bookings {
		bookings[b.Session] = b.ID
		if b.Exclusive {
			busy = append(busy, b.Span)
		}
	}
	entries := make(map[tenant.SessionID]store.Queued, len(standing.Entries))
	for _, e := range standing.Entries {
		entries[e.Session] = e
	}
	usage := make(map[store.Usage]int, len(standing.Usage)) // by the row with nothing used
	for _, u := range standing.Usage {
		used := u.Used
		u.Used = 0
		usage[u] = used
	}
	command := booking.Command{Channel: catalog.Online, Staff: caller.Staff(), Actor: caller.Actor()}
	for i, row := range rows {
		e := booking.EligibilityOf(booking.Facts{
			Slot: row.Slot, Member: *standing.Member, Subscriptions: counted(standing.Subscriptions, usage, row.LocalDate),
			Booking: bookings[row.ID], Entry: entries[row.ID].ID, Busy: busy,
		}, command, now)
		e.Position = at[place{entries[row.ID].ID, row.ID}]
		offered[i].Eligibility = &e
	}
	return offered, nil
}

// counted gives subscriptions with what they have used on a local day and in its week.
func counted(subscriptions []credit.Subscription, usage map[store.Usage]int, on civil.Date) []credit.Subscription {
	counted := slices.Clone(subscriptions)
	for i, s := range counted {
		rows := store.UsageOn(s.ID, on)
		counted[i].UsedToday, counted[i].UsedThisWeek = usage[rows[0]], usage[rows[1]]
	}
	return counted
}
