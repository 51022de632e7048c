package rpc

import (
	"context"
	"time"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// waitlistService serves berth.v1.WaitlistService.
type waitlistService struct {
	app *app.App
	now func() time.Time
}

func (s *waitlistService) JoinWaitlist(ctx context.Context, req *connect.Request[v1.JoinWaitlistRequest]) (*connect.Response[v1.JoinWaitlistResponse], error) {
	m := req.Msg
	channel, err := bookingChannel(req.Header(), m.Channel)
	if err != nil {
		return nil, err
	}
	wish := waitlists.JoinRequest{
		Member: id[tenant.MemberID](m.MemberId), Party: max(int(m.PartySize), 1), Coach: id[tenant.MemberID](m.CoachId),
		Subscription: id[tenant.SubscriptionID](m.SubscriptionId), Channel: channel, ExternalRef: m.ExternalRef, Note: m.Note,
	}
	switch w := m.Wish.(type) {
	case *v1.JoinWaitlistRequest_SessionId:
		wish.Sessions = []tenant.SessionID{id[tenant.SessionID](w.SessionId)}
	case *v1.JoinWaitlistRequest_AnyOf:
		for _, text := range w.AnyOf.SessionIds {
			wish.Sessions = append(wish.Sessions, id[tenant.SessionID](text))
		}
	case *v1.JoinWaitlistRequest_Window:
		if wish.Window, err = windowValue(w.Window); err != nil {
			return nil, err
		}
	}
	place, err := s.app.Waitlists.JoinWaitlist(ctx, caller(ctx), wish)
	if err != nil {
		return nil, err
	}
	if place.Entry == nil { // the reference is that of a booking
		return nil, fault.New(fault.AlreadyExists, fault.ExternalRefConflict, "The external reference was used for another request.").In("external_ref")
	}
	return placed(&v1.JoinWaitlistResponse{Entry: entryMessage(*place.Entry)}, place)
}

func (s *waitlistService) LeaveWaitlist(ctx context.Context, req *connect.Request[v1.LeaveWaitlistRequest]) (*connect.Response[v1.LeaveWaitlistResponse], error) {
	e, err := s.app.Waitlists.LeaveWaitlist(ctx, caller(ctx), id[tenant.EntryID](req.Msg.EntryId), req.Msg.Reason, true)
	if err != nil {
		return nil, err
	}
	return reply(&v1.LeaveWaitlistResponse{Entry: entryMessage(e)})
}

func (s *waitlistService) RemoveEntry(ctx context.Context, req *connect.Request[v1.RemoveEntryRequest]) (*connect.Response[v1.RemoveEntryResponse], error) {
	e, err := s.app.Waitlists.LeaveWaitlist(ctx, caller(ctx), id[tenant.EntryID](req.Msg.EntryId), req.Msg.Reason, req.Msg.Notify == nil || *req.Msg.Notify)
	if err != nil {
		return nil, err
	}
	return reply(&v1.RemoveEntryResponse{Entry: entryMessage(e)})
}

// idCursor is a position in a list that is ordered by id.
type idCursor struct{ ID tenant.UUID }

func (s *waitlistService) ListMyEntries(ctx context.Context, req *connect.Request[v1.ListMyEntriesRequest]) (*connect.Response[v1.ListMyEntriesResponse], error) {
	page, err := openPage[idCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	q := waitlists.EntryQuery{Member: caller(ctx).Member, Newest: true, Limit: page.Size + 1}
	if !req.Msg.IncludeClosed {
		q.Statuses = []waitlist.Status{waitlist.Waiting, waitlist.Offered}
	}
	if page.After != nil {
		q.AfterID.UUID = page.After.ID
	}
	entries, err := s.app.Waitlists.ListEntries(ctx, caller(ctx), q)
	if err != nil {
		return nil, err
	}
	entries, next, err := cut(page, entries, func(e waitlist.Entry) idCursor { return idCursor{e.ID.UUID} })
	if err != nil {
		return nil, err
	}
	return reply(&v1.ListMyEntriesResponse{Entries: messages(entries, entryMessage), NextPageToken: next})
}

func (s *waitlistService) AcceptOffer(ctx context.Context, req *connect.Request[v1.AcceptOfferRequest]) (*connect.Response[v1.AcceptOfferResponse], error) {
	a, err := s.app.Waitlists.AcceptOffer(ctx, caller(ctx), id[tenant.OfferID](req.Msg.OfferId), id[tenant.SubscriptionID](req.Msg.SubscriptionId))
	if err != nil {
		return nil, err
	}
	return placed(&v1.AcceptOfferResponse{Booking: bookingMessage(*a.Booking), Offer: offerMessage(a.Offer)}, seats.Place{Booking: a.Booking, Repeated: a.Repeated})
}

func (s *waitlistService) DeclineOffer(ctx context.Context, req *connect.Request[v1.DeclineOfferRequest]) (*connect.Response[v1.DeclineOfferResponse], error) {
	a, err := s.app.Waitlists.DeclineOffer(ctx, caller(ctx), id[tenant.OfferID](req.Msg.OfferId), req.Msg.Leave, req.Msg.Reason)
	if err != nil {
		return nil, err
	}
	return reply(&v1.DeclineOfferResponse{Offer: offerMessage(a.Offer), Entry: entryMessage(*a.Entry)})
}

func (s *waitlistService) GetClaim(ctx context.Context, req *connect.Request[v1.GetClaimRequest]) (*connect.Response[v1.GetClaimResponse], error) {
	c, err := s.app.Waitlists.GetClaim(ctx, req.Msg.Token)
	if err != nil {
		return nil, err
	}
	offer := offerMessage(c.Offer)
	offer.MemberId, offer.EntryId = "", ""
	return reply(&v1.GetClaimResponse{
		Offer: offer, LocationName: c.Offer.LocationName, ServiceName: c.Offer.ServiceName, SessionEndTime: timestamp(c.Offer.SessionEnds),
		ServerTime: timestamp(s.now()), TenantName: c.Name, Brand: brandMessage(c.Brand),
	})
}

func (s *waitlistService) ClaimOffer(ctx context.Context, req *connect.Request[v1.ClaimOfferRequest]) (*connect.Response[v1.ClaimOfferResponse], error) {
	o, err := s.app.Waitlists.ClaimOffer(ctx, req.Msg.Token, req.Msg.Action == v1.ClaimAction_CLAIM_ACTION_ACCEPT)
	if err != nil {
		return nil, err
	}
	offer := offerMessage(o)
	offer.MemberId, offer.EntryId = "", ""
	return reply(&v1.ClaimOfferResponse{Offer: offer})
}

// keyCursor is a position in the order of joining.
type keyCursor struct {
	Key int64
	ID  tenant.UUID
}

func (s *waitlistService) ListEntries(ctx context.Context, req *connect.Request[v1.ListEntriesRequest]) (*connect.Response[v1.ListEntriesResponse], error) {
	page, err := openPage[keyCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	f := req.Msg.GetFilter()
	q := waitlists.EntryQuery{
		Session: id[tenant.SessionID](f.GetSessionId()), Location: id[tenant.LocationID](f.GetLocationId()), Service: id[tenant.ServiceID](f.GetServiceId()),
		Resource: id[tenant.ResourceID](f.GetResourceId()), Member: id[tenant.MemberID](f.GetMemberId()), Limit: page.Size + 1,
		From: instant(f.GetDesiredWithin().GetStart()), Until: instant(f.GetDesiredWithin().GetEnd()),
	}
	for _, status := range f.GetStatuses() {
		q.Statuses = append(q.Statuses, word[waitlist.Status](entryStatusPrefix, status))
	}
	if len(q.Statuses) == 0 {
		q.Statuses = []waitlist.Status{waitlist.Waiting, waitlist.Offered}
	}
	if page.After != nil {
		q.AfterKey, q.AfterID.UUID = page.After.Key, page.After.ID
	}
	entries, err := s.app.Waitlists.ListEntries(ctx, caller(ctx), q)
	if err != nil {
		return nil, err
	}
	entries, next, err := cut(page, entries, func(e waitlist.Entry) keyCursor { return keyCursor{e.Key, e.ID.UUID} })
	if err != nil {
		return nil, err
	}
	return reply(&v1.ListEntriesResponse{Entries: messages(entries, entryMessage), NextPageToken: next})
}

func (s *waitlistService) ListOffers(ctx context.Context, req *connect.Request[v1.ListOffersRequest]) (*connect.Response[v1.ListOffersResponse], error) {
	page, err := openPage[idCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	q := waitlists.OfferQuery{
		Session: id[tenant.SessionID](req.Msg.SessionId), Entry: id[tenant.EntryID](req.Msg.EntryId), Member: id[tenant.MemberID](req.Msg.MemberId),
		Limit: page.Size + 1, Statuses: []waitlist.OfferStatus{},
	}
	for _, status := range req.Msg.Statuses {
		q.Statuses = append(q.Statuses, word[waitlist.OfferStatus](offerStatusPrefix, status))
	}
	if page.After != nil {
		q.AfterID.UUID = page.After.ID
	}
	offers, err := s.app.Waitlists.ListOffers(ctx, caller(ctx), q)
	if err != nil {
		return nil, err
	}
	offers, next, err := cut(page, offers, func(o waitlist.Offer) idCursor { return idCursor{o.ID.UUID} })
	if err != nil {
		return nil, err
	}
	return reply(&v1.ListOffersResponse{Offers: messages(offers, offerMessage), NextPageToken: next})
}

func (s *waitlistService) SetPriority(ctx context.Context, req *connect.Request[v1.SetPriorityRequest]) (*connect.Response[v1.SetPriorityResponse], error) {
	edit := waitlists.PriorityEdit{Flagged: req.Msg.Flagged, Reason: req.Msg.Reason}
	if req.Msg.Score != nil {
		edit.Score = new(int(*req.Msg.Score))
	}
	e, err := s.app.Waitlists.SetPriority(ctx, caller(ctx), id[tenant.EntryID](req.Msg.EntryId), edit)
	if err != nil {
		return nil, err
	}
	return reply(&v1.SetPriorityResponse{Entry: entryMessage(e)})
}

func (s *waitlistService) MoveEntry(ctx context.Context, req *connect.Request[v1.MoveEntryRequest]) (*connect.Response[v1.MoveEntryResponse], error) {
	e, err := s.app.Waitlists.MoveEntry(ctx, caller(ctx), id[tenant.EntryID](req.Msg.EntryId), id[tenant.EntryID](req.Msg.BeforeEntryId), req.Msg.Reason)
	if err != nil {
		return nil, err
	}
	return reply(&v1.MoveEntryResponse{Entry: entryMessage(e)})
}

func (s *waitlistService) OfferPlace(ctx context.Context, req *connect.Request[v1.OfferPlaceRequest]) (*connect.Response[v1.OfferPlaceResponse], error) {
	o, err := s.app.Waitlists.OfferPlace(ctx, caller(ctx), waitlists.OfferRequest{
		Session: id[tenant.SessionID](req.Msg.SessionId), Entry: id[tenant.EntryID](req.Msg.EntryId), Until: instant(req.Msg.ExpireTime), Reason: req.Msg.Reason,
	})
	if err != nil {
		return nil, err
	}
	return reply(&v1.OfferPlaceResponse{Offer: offerMessage(o)})
}

func (s *waitlistService) ExpireOffer(ctx context.Context, req *connect.Request[v1.ExpireOfferRequest]) (*connect.Response[v1.ExpireOfferResponse], error) {
	o, err := s.app.Waitlists.ExpireOffer(ctx, caller(ctx), id[tenant.OfferID](req.Msg.OfferId), req.Msg.Reason)
	if err != nil {
		return nil, err
	}
	return reply(&v1.ExpireOfferResponse{Offer: offerMessage(o)})
}

func (s *waitlistService) ListDecisions(ctx context.Context, req *connect.Request[v1.ListDecisionsRequest]) (*connect.Response[v1.ListDecisionsResponse], error) {
	page, err := openPage[idCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	q := waitlists.DecisionQuery{
		Session: id[tenant.SessionID](req.Msg.SessionId), Location: id[tenant.LocationID](req.Msg.LocationId), Service: id[tenant.ServiceID](req.Msg.ServiceId),
		From: instant(req.Msg.GetDecidedWithin().GetStart()), Until: instant(req.Msg.GetDecidedWithin().GetEnd()), WithNote: req.Msg.WithNote, Limit: page.Size + 1,
	}
	if page.After != nil {
		q.AfterID.UUID = page.After.ID
	}
	decisions, name, err := s.app.Waitlists.ListDecisions(ctx, caller(ctx), q)
	if err != nil {
		return nil, err
	}
	decisions, next, err := cut(page, decisions, func(d waitlists.Decided) idCursor { return idCursor{d.ID.UUID} })
	if err != nil {
		return nil, err
	}
	return reply(&v1.ListDecisionsResponse{Decisions: messages(decisions, decisionMessage(name)), NextPageToken: next})
}

func (s *waitlistService) ExplainSession(ctx context.Context, req *connect.Request[v1.ExplainSessionRequest]) (*connect.Response[v1.ExplainSessionResponse], error) {
	story, err := s.app.Waitlists.ExplainSession(ctx, caller(ctx), id[tenant.SessionID](req.Msg.SessionId))
	if err != nil {
		return nil, err
	}
	answer := &v1.ExplainSessionResponse{
		Decisions: messages(story.Decisions, decisionMessage(story.Name)), Offers: messages(story.Offers, offerMessage),
		Entries: messages(story.Entries, entryMessage),
	}
	for _, d := range answer.Decisions {
		answer.Sentences = append(answer.Sentences, d.Sentences...)
	}
	return reply(answer)
}

func (s *waitlistService) ExplainEntry(ctx context.Context, req *connect.Request[v1.ExplainEntryRequest]) (*connect.Response[v1.ExplainEntryResponse], error) {
	story, err := s.app.Waitlists.ExplainEntry(ctx, caller(ctx), id[tenant.EntryID](req.Msg.EntryId))
	if err != nil {
		return nil, err
	}
	answer := &v1.ExplainEntryResponse{Entry: entryMessage(story.Entry), Offers: messages(story.Offers, offerMessage)}
	for _, d := range story.Decisions {
		decision := decisionMessage(story.Name)(d)
		verdict := &v1.EntryVerdict{Decision: decision}
		for _, v := range decision.Verdicts {
			if v.EntryId == answer.Entry.Id {
				verdict.Verdict = v
			}
		}
		sentences := waitlist.ExplainEntry(d.Decision, d.Case.Trigger, d.Case.Slot, d.Case.Now, story.Entry.ID)
		if caller(ctx).Own {
			// Of others a member learns how many there were, and nothing else.
			decision.Verdicts, decision.Sentences, decision.StaffNote = []*v1.WaitlistVerdict{verdict.Verdict}, sentences, ""
		}
		answer.Verdicts = append(answer.Verdicts, verdict)
		answer.Sentences = append(answer.Sentences, sentences...)
	}
	return reply(answer)
}

// lastMonth is the span that is meant where none is given.
func (s *waitlistService) lastMonth(r *v1.TimeRange) civil.Span {
	if r != nil {
		return civil.Span{Start: instant(r.Start), End: instant(r.End)}
	}
	now := s.now()
	return civil.Span{Start: now.AddDate(0, 0, -30), End: now}
}

func (s *waitlistService) GetWaitlistAnalytics(ctx context.Context, req *connect.Request[v1.GetWaitlistAnalyticsRequest]) (*connect.Response[v1.GetWaitlistAnalyticsResponse], error) {
	figures, err := s.app.Waitlists.WaitlistAnalytics(ctx, caller(ctx), waitlists.WaitlistQuery{
		Span: s.lastMonth(req.Msg.Within), Location: id[tenant.LocationID](req.Msg.LocationId), Service: id[tenant.ServiceID](req.Msg.ServiceId),
	})
	if err != nil {
		return nil, err
	}
	return reply(&v1.GetWaitlistAnalyticsResponse{
		Total: figuresMessage(figures.Total), Days: messages(figures.Days, figuresRow), Locations: messages(figures.Locations, figuresRow),
		Services: messages(figures.Services, figuresRow), CascadeDepths: depths(figures.Total.Depths),
	})
}
