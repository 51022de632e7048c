package waitlistapi

import (
	"context"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// JoinWaitlist handles WaitlistService.JoinWaitlist.
func (s *Waitlists) JoinWaitlist(ctx context.Context, req *v1.JoinWaitlistRequest) (*v1.JoinWaitlistResponse, error) {
	channel, err := convert.BookingChannel(request.Header(ctx), req.Channel)
	if err != nil {
		return nil, err
	}
	join := waitlists.JoinRequest{
		Member: convert.ID[tenant.MemberID](req.MemberId), Party: max(int(req.GetPartySize()), 1),
		Coach:        convert.ID[tenant.MemberID](req.CoachId),
		Subscription: convert.ID[tenant.SubscriptionID](req.SubscriptionId), Channel: channel, ExternalRef: req.ExternalRef,
		Note: req.Note,
	}
	switch w := req.Target.(type) {
	case *v1.JoinWaitlistRequest_SessionId:
		join.Sessions = []tenant.SessionID{convert.ID[tenant.SessionID](w.SessionId)}
	case *v1.JoinWaitlistRequest_AnyOf:
		for _, text := range w.AnyOf.SessionIds {
			join.Sessions = append(join.Sessions, convert.ID[tenant.SessionID](text))
		}
	case *v1.JoinWaitlistRequest_Window:
		if join.Window, err = windowValue(w.Window); err != nil {
			return nil, err
		}
	}
	result, err := s.Service.JoinWaitlist(ctx, request.Caller(ctx), join)
	if err != nil {
		return nil, err
	}
	return convert.BookingResponse(ctx, &v1.JoinWaitlistResponse{Entry: convert.EntryMessage(*result.Entry)}, result)
}

// LeaveWaitlist handles WaitlistService.LeaveWaitlist.
func (s *Waitlists) LeaveWaitlist(
	ctx context.Context, req *v1.LeaveWaitlistRequest,
) (*v1.LeaveWaitlistResponse, error) {
	e, err := s.Service.LeaveWaitlist(
		ctx, request.Caller(ctx), convert.ID[tenant.EntryID](req.EntryId), req.Reason, true,
	)
	if err != nil {
		return nil, err
	}
	return &v1.LeaveWaitlistResponse{Entry: convert.EntryMessage(e)}, nil
}

// RemoveWaitlistEntry handles WaitlistService.RemoveWaitlistEntry.
func (s *Waitlists) RemoveWaitlistEntry(
	ctx context.Context, req *v1.RemoveWaitlistEntryRequest,
) (*v1.RemoveWaitlistEntryResponse, error) {
	e, err := s.Service.LeaveWaitlist(
		ctx, request.Caller(ctx), convert.ID[tenant.EntryID](req.EntryId), req.Reason,
		convert.TrueUnlessSet(req.Notify),
	)
	if err != nil {
		return nil, err
	}
	return &v1.RemoveWaitlistEntryResponse{Entry: convert.EntryMessage(e)}, nil
}

// AcceptWaitlistOffer handles WaitlistService.AcceptWaitlistOffer.
func (s *Waitlists) AcceptWaitlistOffer(
	ctx context.Context, req *v1.AcceptWaitlistOfferRequest,
) (*v1.AcceptWaitlistOfferResponse, error) {
	a, err := s.Service.AcceptWaitlistOffer(
		ctx, request.Caller(ctx), convert.ID[tenant.OfferID](req.OfferId),
		convert.ID[tenant.SubscriptionID](req.SubscriptionId),
	)
	if err != nil {
		return nil, err
	}
	return convert.BookingResponse(ctx, &v1.AcceptWaitlistOfferResponse{
		Booking: convert.BookingMessage(*a.Booking, s.Now()), Offer: convert.OfferMessage(a.Offer),
	}, seats.Result{Booking: a.Booking, Repeated: a.Repeated})
}

// DeclineWaitlistOffer handles WaitlistService.DeclineWaitlistOffer.
func (s *Waitlists) DeclineWaitlistOffer(
	ctx context.Context, req *v1.DeclineWaitlistOfferRequest,
) (*v1.DeclineWaitlistOfferResponse, error) {
	a, err := s.Service.DeclineWaitlistOffer(
		ctx, request.Caller(ctx), convert.ID[tenant.OfferID](req.OfferId), req.Leave, req.Reason,
	)
	if err != nil {
		return nil, err
	}
	return &v1.DeclineWaitlistOfferResponse{
		Offer: convert.OfferMessage(a.Offer), Entry: convert.EntryMessage(*a.Entry),
	}, nil
}

// GetWaitlistClaim handles WaitlistService.GetWaitlistClaim.
func (s *Waitlists) GetWaitlistClaim(
	ctx context.Context, req *v1.GetWaitlistClaimRequest,
) (*v1.GetWaitlistClaimResponse, error) {
	c, err := s.Service.GetWaitlistClaim(ctx, req.Token)
	if err != nil {
		return nil, err
	}
	return &v1.GetWaitlistClaimResponse{
		Offer: convert.OfferMessage(c.Offer), ServiceName: c.Offer.ServiceName,
		ServerTime: convert.Timestamp(s.Now()), TenantName: c.Name, Brand: convert.BrandMessage(c.Brand),
	}, nil
}

// AnswerWaitlistClaim handles WaitlistService.AnswerWaitlistClaim.
func (s *Waitlists) AnswerWaitlistClaim(
	ctx context.Context, req *v1.AnswerWaitlistClaimRequest,
) (*v1.AnswerWaitlistClaimResponse, error) {
	o, err := s.Service.AnswerWaitlistClaim(
		ctx, req.Token, req.Action == v1.WaitlistClaimAction_WAITLIST_CLAIM_ACTION_ACCEPT,
	)
	if err != nil {
		return nil, err
	}
	return &v1.AnswerWaitlistClaimResponse{Offer: convert.OfferMessage(o)}, nil
}

// GetWaitlistEntry handles WaitlistService.GetWaitlistEntry.
func (s *Waitlists) GetWaitlistEntry(
	ctx context.Context, req *v1.GetWaitlistEntryRequest,
) (*v1.GetWaitlistEntryResponse, error) {
	e, err := s.Service.GetWaitlistEntry(ctx, request.Caller(ctx), convert.ID[tenant.EntryID](req.EntryId))
	if err != nil {
		return nil, err
	}
	return &v1.GetWaitlistEntryResponse{Entry: convert.EntryMessage(e)}, nil
}

// keyCursor is a position in a list that is ordered by the time of joining.
type keyCursor struct {
	Key int64
	ID  tenant.UUID
}

// ListWaitlistEntries handles WaitlistService.ListWaitlistEntries.
func (s *Waitlists) ListWaitlistEntries(
	ctx context.Context, req *v1.ListWaitlistEntriesRequest,
) (*v1.ListWaitlistEntriesResponse, error) {
	caller, err := request.Scoped(ctx, req.Scope, "waitlist.read")
	if err != nil {
		return nil, err
	}
	page, err := convert.ParsePage[keyCursor](req)
	if err != nil {
		return nil, err
	}
	f := req.GetFilter()
	q := waitlists.EntryQuery{
		Session: convert.ID[tenant.SessionID](f.GetSessionId()), Location: convert.ID[tenant.LocationID](f.GetLocationId()),
		Service:  convert.ID[tenant.ServiceID](f.GetServiceId()),
		Resource: convert.ID[tenant.ResourceID](f.GetResourceId()), Member: convert.ID[tenant.MemberID](f.GetMemberId()),
		Limit: page.Limit(),
		From:  convert.Time(f.GetStartsWithin().GetStart()), Until: convert.Time(f.GetStartsWithin().GetEnd()),
	}
	for _, status := range f.GetStatuses() {
		q.Statuses = append(q.Statuses, convert.EnumName[waitlist.Status](convert.EntryStatusPrefix, status))
	}
	if len(q.Statuses) == 0 {
		q.Statuses = []waitlist.Status{waitlist.Waiting, waitlist.Offered}
	}
	if page.After != nil {
		q.AfterKey, q.AfterID.UUID = page.After.Key, page.After.ID
	}
	entries, err := s.Service.ListWaitlistEntries(ctx, caller, q)
	if err != nil {
		return nil, err
	}
	entries, next := convert.Paginate(
		page, entries, func(e waitlist.Entry) keyCursor { return keyCursor{e.Key, e.ID.UUID} },
	)
	return &v1.ListWaitlistEntriesResponse{
		Entries: convert.Messages(entries, convert.EntryMessage), NextPageToken: next,
	}, nil
}

// GetWaitlistOffer handles WaitlistService.GetWaitlistOffer.
func (s *Waitlists) GetWaitlistOffer(
	ctx context.Context, req *v1.GetWaitlistOfferRequest,
) (*v1.GetWaitlistOfferResponse, error) {
	o, err := s.Service.GetWaitlistOffer(ctx, request.Caller(ctx), convert.ID[tenant.OfferID](req.OfferId))
	if err != nil {
		return nil, err
	}
	return &v1.GetWaitlistOfferResponse{Offer: convert.OfferMessage(o)}, nil
}

// idCursor is a position in a list that is ordered by id.
type idCursor struct{ ID tenant.UUID }

// startsWithin is when sessions start that a filter selects.
func startsWithin(f interface{ GetStartsWithin() *v1.TimeRange }) civil.Span {
	within := f.GetStartsWithin()
	return civil.Span{Start: convert.Time(within.GetStart()), End: convert.Time(within.GetEnd())}
}

// ListWaitlistOffers handles WaitlistService.ListWaitlistOffers.
func (s *Waitlists) ListWaitlistOffers(
	ctx context.Context, req *v1.ListWaitlistOffersRequest,
) (*v1.ListWaitlistOffersResponse, error) {
	page, err := convert.ParsePage[idCursor](req)
	if err != nil {
		return nil, err
	}
	f := req.GetFilter()
	q := waitlists.OfferQuery{
		Session: convert.ID[tenant.SessionID](f.GetSessionId()), Location: convert.ID[tenant.LocationID](f.GetLocationId()),
		Service: convert.ID[tenant.ServiceID](f.GetServiceId()), Entry: convert.ID[tenant.EntryID](f.GetEntryId()),
		Member: convert.ID[tenant.MemberID](f.GetMemberId()),
		From:   convert.Time(f.GetCreatedWithin().GetStart()), Until: convert.Time(f.GetCreatedWithin().GetEnd()),
		Starts: startsWithin(f),
		Limit:  page.Limit(), Statuses: []waitlist.OfferStatus{},
	}
	for _, status := range f.GetStatuses() {
		q.Statuses = append(q.Statuses, convert.EnumName[waitlist.OfferStatus](convert.OfferStatusPrefix, status))
	}
	if page.After != nil {
		q.AfterID.UUID = page.After.ID
	}
	offers, err := s.Service.ListWaitlistOffers(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	offers, next := convert.Paginate(page, offers, func(o waitlist.Offer) idCursor { return idCursor{o.ID.UUID} })
	return &v1.ListWaitlistOffersResponse{
		Offers: convert.Messages(offers, convert.OfferMessage), NextPageToken: next,
	}, nil
}

// SetWaitlistPriority handles WaitlistService.SetWaitlistPriority.
func (s *Waitlists) SetWaitlistPriority(
	ctx context.Context, req *v1.SetWaitlistPriorityRequest,
) (*v1.SetWaitlistPriorityResponse, error) {
	edit := waitlists.PriorityEdit{
		Flagged: req.Flagged, Score: convert.OptionalInt(req.Score), ClearScore: req.ClearScore, Reason: req.Reason,
	}
	e, err := s.Service.SetWaitlistPriority(ctx, request.Caller(ctx), convert.ID[tenant.EntryID](req.EntryId), edit)
	if err != nil {
		return nil, err
	}
	return &v1.SetWaitlistPriorityResponse{Entry: convert.EntryMessage(e)}, nil
}

// MoveWaitlistEntry handles WaitlistService.MoveWaitlistEntry.
func (s *Waitlists) MoveWaitlistEntry(
	ctx context.Context, req *v1.MoveWaitlistEntryRequest,
) (*v1.MoveWaitlistEntryResponse, error) {
	e, err := s.Service.MoveWaitlistEntry(
		ctx, request.Caller(ctx), convert.ID[tenant.EntryID](req.EntryId),
		convert.ID[tenant.EntryID](req.BeforeEntryId), req.Reason,
	)
	if err != nil {
		return nil, err
	}
	return &v1.MoveWaitlistEntryResponse{Entry: convert.EntryMessage(e)}, nil
}

// CreateWaitlistOffer handles WaitlistService.CreateWaitlistOffer.
func (s *Waitlists) CreateWaitlistOffer(
	ctx context.Context, req *v1.CreateWaitlistOfferRequest,
) (*v1.CreateWaitlistOfferResponse, error) {
	o, err := s.Service.CreateWaitlistOffer(ctx, request.Caller(ctx), waitlists.OfferRequest{
		Session: convert.ID[tenant.SessionID](req.SessionId), Entry: convert.ID[tenant.EntryID](req.EntryId),
		Until: convert.Time(req.ExpireTime), Reason: req.Reason,
	})
	if err != nil {
		return nil, err
	}
	return &v1.CreateWaitlistOfferResponse{Offer: convert.OfferMessage(o)}, nil
}

// ExpireWaitlistOffer handles WaitlistService.ExpireWaitlistOffer.
func (s *Waitlists) ExpireWaitlistOffer(
	ctx context.Context, req *v1.ExpireWaitlistOfferRequest,
) (*v1.ExpireWaitlistOfferResponse, error) {
	o, err := s.Service.ExpireWaitlistOffer(
		ctx, request.Caller(ctx), convert.ID[tenant.OfferID](req.OfferId), req.Reason,
	)
	if err != nil {
		return nil, err
	}
	return &v1.ExpireWaitlistOfferResponse{Offer: convert.OfferMessage(o)}, nil
}

// ListWaitlistDecisions handles WaitlistService.ListWaitlistDecisions.
func (s *Waitlists) ListWaitlistDecisions(
	ctx context.Context, req *v1.ListWaitlistDecisionsRequest,
) (*v1.ListWaitlistDecisionsResponse, error) {
	page, err := convert.ParsePage[idCursor](req)
	if err != nil {
		return nil, err
	}
	f := req.GetFilter()
	q := waitlists.DecisionQuery{
		Session: convert.ID[tenant.SessionID](f.GetSessionId()), Location: convert.ID[tenant.LocationID](f.GetLocationId()),
		Service: convert.ID[tenant.ServiceID](f.GetServiceId()),
		From:    convert.Time(f.GetDecidedWithin().GetStart()),
		Until:   convert.Time(f.GetDecidedWithin().GetEnd()), OpenNotes: f.GetOpenNotes(),
		Starts: startsWithin(f), Limit: page.Limit(),
	}
	if f != nil {
		q.HasNote = f.HasNote
	}
	if page.After != nil {
		q.AfterID.UUID = page.After.ID
	}
	decisions, name, err := s.Service.ListWaitlistDecisions(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	decisions, next := convert.Paginate(
		page, decisions, func(d waitlists.DecisionRecord) idCursor { return idCursor{d.ID.UUID} },
	)
	return &v1.ListWaitlistDecisionsResponse{
		Decisions: convert.Messages(decisions, convert.DecisionMessage(name)), NextPageToken: next,
	}, nil
}

// ExplainSessionWaitlist handles WaitlistService.ExplainSessionWaitlist.
func (s *Waitlists) ExplainSessionWaitlist(
	ctx context.Context, req *v1.ExplainSessionWaitlistRequest,
) (*v1.ExplainSessionWaitlistResponse, error) {
	history, err := s.Service.ExplainSessionWaitlist(ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.SessionId))
	if err != nil {
		return nil, err
	}
	response := &v1.ExplainSessionWaitlistResponse{
		Decisions: convert.Messages(history.Decisions, convert.DecisionMessage(history.Name)),
		Offers:    convert.Messages(history.Offers, convert.OfferMessage),
		Entries:   convert.Messages(history.Entries, convert.EntryMessage),
	}
	for _, d := range response.Decisions {
		response.Sentences = append(response.Sentences, d.Sentences...)
	}
	return response, nil
}

// ExplainWaitlistEntry handles WaitlistService.ExplainWaitlistEntry.
func (s *Waitlists) ExplainWaitlistEntry(
	ctx context.Context, req *v1.ExplainWaitlistEntryRequest,
) (*v1.ExplainWaitlistEntryResponse, error) {
	explanation, err := s.Service.ExplainWaitlistEntry(ctx, request.Caller(ctx), convert.ID[tenant.EntryID](req.EntryId))
	if err != nil {
		return nil, err
	}
	response := &v1.ExplainWaitlistEntryResponse{
		Entry: convert.EntryMessage(explanation.Entry), Offers: convert.Messages(explanation.Offers, convert.OfferMessage),
	}
	for _, d := range explanation.Decisions {
		decision := convert.DecisionMessage(explanation.Name)(d)
		verdict := &v1.WaitlistEntryVerdict{Decision: decision}
		for _, v := range decision.Verdicts {
			if v.EntryId == response.Entry.Id {
				verdict.Verdict = v
			}
		}
		sentences := waitlist.ExplainEntry(d.Decision, d.Case.Trigger, d.Case.Slot, d.Case.Now, explanation.Entry.ID)
		if explanation.OwnOnly {
			decision.Verdicts, decision.Sentences, decision.StaffNote = []*v1.WaitlistVerdict{verdict.Verdict}, sentences, ""
		}
		response.Verdicts = append(response.Verdicts, verdict)
		response.Sentences = append(response.Sentences, sentences...)
	}
	return response, nil
}

// GetWaitlistAnalytics handles WaitlistService.GetWaitlistAnalytics.
func (s *Waitlists) GetWaitlistAnalytics(
	ctx context.Context, req *v1.GetWaitlistAnalyticsRequest,
) (*v1.GetWaitlistAnalyticsResponse, error) {
	figures, err := s.Service.GetWaitlistAnalytics(ctx, request.Caller(ctx), waitlists.WaitlistQuery{
		Span: convert.SpanOrLast30Days(s.Now, req.CreatedWithin), Location: convert.ID[tenant.LocationID](req.LocationId),
		Service: convert.ID[tenant.ServiceID](req.ServiceId),
	})
	if err != nil {
		return nil, err
	}
	return &v1.GetWaitlistAnalyticsResponse{
		Total: figuresMessage(figures.Total), Days: convert.Messages(figures.Days, figuresRowMessage),
		Locations: convert.Messages(figures.Locations, figuresRowMessage),
		Services:  convert.Messages(figures.Services, figuresRowMessage), CascadeDepths: cascadeDepths(figures.Total.Depths),
	}, nil
}
