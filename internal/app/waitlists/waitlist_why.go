package waitlists

import (
	"context"
	"slices"

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

// storyLength is the most decisions and offers of a story.
const storyLength = 500

// ListEntries reads entries.
func (s *Service) ListEntries(ctx context.Context, caller tenant.Caller, q waitlistdb.EntryQuery) ([]waitlist.Entry, error) {
	var entries []waitlist.Entry
	var batch pg.Batch
	waitlistdb.ListEntries(&batch, caller.Tenant, q, &entries)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return nil, err
	}
	return entries, s.stand(ctx, caller, entries)
}

// stand fills in the positions and live offers of entries.
func (s *Service) stand(ctx context.Context, caller tenant.Caller, entries []waitlist.Entry) error {
	var open []tenant.EntryID
	for _, e := range entries {
		if e.Status.Active() {
			open = append(open, e.ID)
		}
	}
	if len(open) == 0 {
		return nil
	}
	var batch pg.Batch
	line := LineUp(&batch, caller.Tenant, waitlistdb.RivalQuery{Entries: open})
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return err
	}
	return line.Put(entries, s.engine.Now())
}

// ListOffers reads offers.
func (s *Service) ListOffers(ctx context.Context, caller tenant.Caller, q waitlistdb.OfferQuery) ([]waitlist.Offer, error) {
	var offers []waitlist.Offer
	var batch pg.Batch
	waitlistdb.ListOffers(&batch, caller.Tenant, q, &offers)
	err := s.engine.Read(ctx, caller, &batch)
	return s.overdue(offers), err
}

// overdue shows offers that have run out as EXPIRED, even if no alarm has ended them yet.
func (s *Service) overdue(offers []waitlist.Offer) []waitlist.Offer {
	now := s.engine.Now()
	for i, o := range offers {
		if o.Due(now) {
			offers[i].Status = waitlist.RanOut
		}
	}
	return offers
}

// ListDecisions reads decisions, with a look-up of names.
func (s *Service) ListDecisions(
	ctx context.Context, caller tenant.Caller, q waitlistdb.DecisionQuery,
) ([]waitlistdb.DecisionRecord, func(tenant.MemberID) string, error) {
	var decisions []waitlistdb.DecisionRecord
	var batch pg.Batch
	waitlistdb.ListDecisions(&batch, caller.Tenant, q, &decisions)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
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
	Entries   []waitlist.Entry // that wait for it by name, in fair order
	Name      func(tenant.MemberID) string
}

// ExplainSession reads the story of a session.
func (s *Service) ExplainSession(
	ctx context.Context, caller tenant.Caller, session tenant.SessionID,
) (SessionHistory, error) {
	var (
		story SessionHistory
		slot  *booking.Slot
		batch pg.Batch
	)
	bookingdb.FindSlot(&batch, caller.Tenant, session, &slot)
	waitlistdb.ListDecisions(
		&batch, caller.Tenant, waitlistdb.DecisionQuery{Session: session, Oldest: true, Limit: storyLength}, &story.Decisions)
	waitlistdb.ListOffers(
		&batch, caller.Tenant, waitlistdb.OfferQuery{Session: session, Oldest: true, Limit: storyLength}, &story.Offers)
	waitlistdb.ListWaiting(&batch, caller.Tenant, []tenant.SessionID{session}, &story.Entries)
	line := LineUp(&batch, caller.Tenant, waitlistdb.RivalQuery{Session: session})
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return story, err
	}
	if slot == nil {
		return story, seats.ErrNoSession
	}
	if err := line.Put(story.Entries, s.engine.Now()); err != nil {
		return story, err
	}
	slices.SortStableFunc(story.Entries, func(a, b waitlist.Entry) int { return a.Position - b.Position })
	story.Offers = s.overdue(story.Offers)
	var err error
	story.Name, err = s.namesIn(ctx, caller, story.Decisions)
	return story, err
}

// EntryHistory is what each decision meant for an entry.
type EntryHistory struct {
	Entry     waitlist.Entry
	Decisions []waitlistdb.DecisionRecord // that considered it, the oldest first
	Offers    []waitlist.Offer
	Name      func(tenant.MemberID) string // empty for members: they see no names of others
}

// ExplainEntry reads the story of an entry.
func (s *Service) ExplainEntry(ctx context.Context, caller tenant.Caller, id tenant.EntryID) (EntryHistory, error) {
	var (
		story  EntryHistory
		entry  *waitlist.Entry
		queues []waitlist.Queue
		batch  pg.Batch
	)
	waitlistdb.FindEntry(&batch, caller.Tenant, id, &entry)
	waitlistdb.ListOffers(&batch, caller.Tenant, waitlistdb.OfferQuery{Entry: id, Oldest: true, Limit: storyLength}, &story.Offers)
	waitlistdb.ListSessionQueues(&batch, caller.Tenant, id, &queues)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return story, err
	}
	if entry == nil || !caller.CanAccess(entry.Member) {
		return story, noEntry
	}
	if entry.Window != nil {
		queues = entry.Window.Queues()
	}
	story.Offers = s.overdue(story.Offers)
	for _, o := range story.Offers {
		queues = append(queues, o.Queue)
	}
	var next pg.Batch
	waitlistdb.ListDecisions(&next, caller.Tenant, waitlistdb.DecisionQuery{
		Queues: queues, Entry: id, From: entry.CreatedAt, Oldest: true, Limit: storyLength,
	}, &story.Decisions)
	if err := s.engine.Read(ctx, caller, &next); err != nil {
		return story, err
	}
	one := []waitlist.Entry{*entry}
	if err := s.stand(ctx, caller, one); err != nil {
		return story, err
	}
	story.Entry = one[0]
	story.Name = func(tenant.MemberID) string { return "" }
	if caller.SelfOnly {
		return story, nil
	}
	var err error
	story.Name, err = s.namesIn(ctx, caller, story.Decisions)
	return story, err
}
