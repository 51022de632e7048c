package waitlists

import (
	"context"
	"slices"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// Queries and records of the waitlist.
type (
	EntryQuery     = waitlistdb.EntryQuery
	OfferQuery     = waitlistdb.OfferQuery
	DecisionQuery  = waitlistdb.DecisionQuery
	DecisionRecord = waitlistdb.DecisionRecord
	RulesVersion   = waitlistdb.RulesVersion
	WaitlistPart   = waitlistdb.WaitlistPart
)

// maxHistory bounds the decisions and offers of a history.
const maxHistory = 500

// GetWaitlistEntry reads an entry.
func (s *Service) GetWaitlistEntry(
	ctx context.Context, caller tenant.Caller, id tenant.EntryID,
) (waitlist.Entry, error) {
	var (
		entry *waitlist.Entry
		batch pg.Batch
	)
	waitlistdb.FindEntry(&batch, caller.Tenant, id, &entry)
	positions := ListPositions(&batch, caller.Tenant, waitlistdb.RivalQuery{Entries: []tenant.EntryID{id}})
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return waitlist.Entry{}, err
	}
	if entry == nil || !caller.CanAccess(entry.Member) {
		return waitlist.Entry{}, errNoEntry
	}
	one := []waitlist.Entry{*entry}
	err := positions.AddTo(one, s.engine.Now())
	return one[0], err
}

// ListWaitlistEntries reads entries in order of joining. A caller who may access only what is their own gets their
// own, which are none for a service account.
func (s *Service) ListWaitlistEntries(
	ctx context.Context, caller tenant.Caller, q waitlistdb.EntryQuery,
) ([]waitlist.Entry, error) {
	if caller.SelfOnly {
		if q.Member.IsZero() {
			q.Member = caller.Member
		}
		if !caller.CanAccess(q.Member) {
			return nil, nil
		}
	}
	entries, err := engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]waitlist.Entry) {
		waitlistdb.ListEntries(b, caller.Tenant, q, into)
	})
	if err != nil {
		return nil, err
	}
	return entries, s.addPositions(ctx, caller, entries)
}

// addPositions fills in the positions and live offers of entries.
func (s *Service) addPositions(ctx context.Context, caller tenant.Caller, entries []waitlist.Entry) error {
	var active []tenant.EntryID
	for _, e := range entries {
		if e.Status.Active() {
			active = append(active, e.ID)
		}
	}
	if len(active) == 0 {
		return nil
	}
	var batch pg.Batch
	positions := ListPositions(&batch, caller.Tenant, waitlistdb.RivalQuery{Entries: active})
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return err
	}
	return positions.AddTo(entries, s.engine.Now())
}

// GetWaitlistOffer reads an offer.
func (s *Service) GetWaitlistOffer(
	ctx context.Context, caller tenant.Caller, id tenant.OfferID,
) (waitlist.Offer, error) {
	var (
		offer *waitlist.Offer
		batch pg.Batch
	)
	waitlistdb.FindOffer(&batch, caller.Tenant, id, &offer)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return waitlist.Offer{}, err
	}
	if offer == nil || !caller.CanAccess(offer.Member) {
		return waitlist.Offer{}, errNoOffer
	}
	return s.showExpired([]waitlist.Offer{*offer})[0], nil
}

// ListWaitlistOffers reads offers.
func (s *Service) ListWaitlistOffers(
	ctx context.Context, caller tenant.Caller, q waitlistdb.OfferQuery,
) ([]waitlist.Offer, error) {
	offers, err := engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]waitlist.Offer) {
		waitlistdb.ListOffers(b, caller.Tenant, q, into)
	})
	return s.showExpired(offers), err
}

// showExpired sets the status of offers whose time is over to EXPIRED, even if no alarm has ended them yet.
func (s *Service) showExpired(offers []waitlist.Offer) []waitlist.Offer {
	now := s.engine.Now()
	for i, o := range offers {
		if o.Due(now) {
			offers[i].Status = waitlist.RanOut
		}
	}
	return offers
}

// ListWaitlistDecisions reads decisions, with a function that returns the names of their members.
func (s *Service) ListWaitlistDecisions(
	ctx context.Context, caller tenant.Caller, q waitlistdb.DecisionQuery,
) ([]waitlistdb.DecisionRecord, func(tenant.MemberID) string, error) {
	q.Now = s.engine.Now()
	decisions, err := engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]waitlistdb.DecisionRecord) {
		waitlistdb.ListDecisions(b, caller.Tenant, q, into)
	})
	if err != nil {
		return nil, nil, err
	}
	name, err := s.namesIn(ctx, caller, decisions)
	return decisions, name, err
}

func (s *Service) namesIn(
	ctx context.Context, caller tenant.Caller, decisions []waitlistdb.DecisionRecord,
) (func(tenant.MemberID) string, error) {
	var members []tenant.MemberID
	for _, d := range decisions {
		members = append(members, DecisionMembers(d.Decision)...)
	}
	return s.MemberNames(ctx, caller, members)
}

// SessionHistory is what happened to the freed seats of a session.
type SessionHistory struct {
	Decisions []waitlistdb.DecisionRecord // the oldest first
	Offers    []waitlist.Offer
	Entries   []waitlist.Entry // entries that name the session, by position
	Name      func(tenant.MemberID) string
}

// ExplainSessionWaitlist reads the history of a session.
func (s *Service) ExplainSessionWaitlist(
	ctx context.Context, caller tenant.Caller, session tenant.SessionID,
) (SessionHistory, error) {
	var (
		history SessionHistory
		slot    *booking.Slot
		batch   pg.Batch
	)
	bookingdb.FindSlot(&batch, caller.Tenant, session, &slot)
	waitlistdb.ListDecisions(
		&batch, caller.Tenant, waitlistdb.DecisionQuery{Session: session, Oldest: true, Limit: maxHistory},
		&history.Decisions)
	waitlistdb.ListOffers(
		&batch, caller.Tenant, waitlistdb.OfferQuery{Session: session, Oldest: true, Limit: maxHistory}, &history.Offers)
	waitlistdb.ListWaiting(&batch, caller.Tenant, []tenant.SessionID{session}, &history.Entries)
	positions := ListPositions(&batch, caller.Tenant, waitlistdb.RivalQuery{Session: session})
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return history, err
	}
	if slot == nil {
		return history, seats.ErrNoSession
	}
	if err := positions.AddTo(history.Entries, s.engine.Now()); err != nil {
		return history, err
	}
	slices.SortStableFunc(history.Entries, func(a, b waitlist.Entry) int { return a.Position - b.Position })
	history.Offers = s.showExpired(history.Offers)
	var err error
	history.Name, err = s.namesIn(ctx, caller, history.Decisions)
	return history, err
}

// EntryHistory is what happened to an entry.
type EntryHistory struct {
	Entry     waitlist.Entry
	Decisions []waitlistdb.DecisionRecord // the decisions that considered it, the oldest first
	Offers    []waitlist.Offer
	Name      func(tenant.MemberID) string // returns "" for members: they see no names of others
	// OwnOnly says that the caller may learn how many others were considered, and nothing else about them.
	OwnOnly bool
}

// ExplainWaitlistEntry reads the history of an entry.
func (s *Service) ExplainWaitlistEntry(
	ctx context.Context, caller tenant.Caller, id tenant.EntryID,
) (EntryHistory, error) {
	var (
		history EntryHistory
		entry   *waitlist.Entry
		queues  []waitlist.Queue
		batch   pg.Batch
	)
	waitlistdb.FindEntry(&batch, caller.Tenant, id, &entry)
	waitlistdb.ListOffers(
		&batch, caller.Tenant, waitlistdb.OfferQuery{Entry: id, Oldest: true, Limit: maxHistory}, &history.Offers)
	waitlistdb.ListSessionQueues(&batch, caller.Tenant, id, &queues)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return history, err
	}
	if entry == nil || !caller.CanAccess(entry.Member) {
		return history, errNoEntry
	}
	if entry.Window != nil {
		queues = entry.Window.Queues()
	}
	history.Offers = s.showExpired(history.Offers)
	for _, o := range history.Offers {
		queues = append(queues, o.Queue)
	}
	query := waitlistdb.DecisionQuery{
		Queues: queues, Entry: id, From: entry.CreatedAt, Oldest: true, Limit: maxHistory,
	}
	var err error
	history.Decisions, err = engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]waitlistdb.DecisionRecord) {
		waitlistdb.ListDecisions(b, caller.Tenant, query, into)
	})
	if err != nil {
		return history, err
	}
	one := []waitlist.Entry{*entry}
	if err := s.addPositions(ctx, caller, one); err != nil {
		return history, err
	}
	history.Entry = one[0]
	history.Name = func(tenant.MemberID) string { return "" }
	if history.OwnOnly = caller.SelfOnly; history.OwnOnly {
		return history, nil
	}
	history.Name, err = s.namesIn(ctx, caller, history.Decisions)
	return history, err
}
