package waitlistapi

import (
	"context"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

func (s *Waitlists) JoinWaitlist(
	ctx context.Context, req *connect.Request[v1.JoinWaitlistRequest],
) (*connect.Response[v1.JoinWaitlistResponse], error) {
	m := req.Msg
	channel, err := convert.BookingChannel(req.Header(), m.Channel)
	if err != nil {
		return nil, err
	}
	wish := waitlists.JoinRequest{
		Member: convert.ID[tenant.MemberID](m.MemberId), Party: max(int(m.PartySize), 1),
		Coach:        convert.ID[tenant.MemberID](m.CoachId),
		Subscription: convert.ID[tenant.SubscriptionID](m.SubscriptionId), Channel: channel, ExternalRef: m.ExternalRef,
		Note: m.Note,
	}
	switch w := m.Wish.(type) {
	case *v1.JoinWaitlistRequest_SessionId:
		wish.Sessions = []tenant.SessionID{convert.ID[tenant.SessionID](w.SessionId)}
	case *v1.JoinWaitlistRequest_AnyOf:
		for _, text := range w.AnyOf.SessionIds {
			wish.Sessions = append(wish.Sessions, convert.ID[tenant.SessionID](text))
		}
	case *v1.JoinWaitlistRequest_Window:
		if wish.Window, err = windowValue(w.Window); err != nil {
			return nil, err
		}
	}
	place, err := s.Waitlists.JoinWaitlist(ctx, request.Caller(ctx), wish)
	if err != nil {
		return nil, err
	}
	if place.Entry == nil { // the reference is that of a booking
		return nil, fault.New(
			fault.AlreadyExists, fault.ExternalRefConflict, "The external reference was used for another request.",
		).WithField("external_ref")
	}
	return convert.Placed(&v1.JoinWaitlistResponse{Entry: convert.EntryMessage(*place.Entry)}, place)
}

func (s *Waitlists) LeaveWaitlist(
	ctx context.Context, req *connect.Request[v1.LeaveWaitlistRequest],
) (*connect.Response[v1.LeaveWaitlistResponse], error) {
	e, err := s.Waitlists.LeaveWaitlist(
		ctx, request.Caller(ctx), convert.ID[tenant.EntryID](req.Msg.EntryId), req.Msg.Reason, true,
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.LeaveWaitlistResponse{Entry: convert.EntryMessage(e)})
}

func (s *Waitlists) RemoveEntry(
	ctx context.Context, req *connect.Request[v1.RemoveEntryRequest],
) (*connect.Response[v1.RemoveEntryResponse], error) {
	e, err := s.Waitlists.LeaveWaitlist(
		ctx, request.Caller(ctx), convert.ID[tenant.EntryID](req.Msg.EntryId), req.Msg.Reason,
		req.Msg.Notify == nil || *req.Msg.Notify,
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.RemoveEntryResponse{Entry: convert.EntryMessage(e)})
}

// idCursor is a position in a list that is ordered by id.
type idCursor struct{ ID tenant.UUID }

func (s *Waitlists) ListMyEntries(
	ctx context.Context, req *connect.Request[v1.ListMyEntriesRequest],
) (*connect.Response[v1.ListMyEntriesResponse], error) {
	page, err := convert.OpenPage[idCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	q := waitlists.EntryQuery{Member: request.Caller(ctx).Member, Newest: true, Limit: page.Size + 1}
	if !req.Msg.IncludeClosed {
		q.Statuses = []waitlist.Status{waitlist.Waiting, waitlist.Offered}
	}
	if page.After != nil {
		q.AfterID.UUID = page.After.ID
	}
	entries, err := s.Waitlists.ListEntries(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	entries, next, err := convert.Cut(page, entries, func(e waitlist.Entry) idCursor { return idCursor{e.ID.UUID} })
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.ListMyEntriesResponse{
		Entries: convert.Messages(entries, convert.EntryMessage), NextPageToken: next,
	})
}

func (s *Waitlists) AcceptOffer(
	ctx context.Context, req *connect.Request[v1.AcceptOfferRequest],
) (*connect.Response[v1.AcceptOfferResponse], error) {
	a, err := s.Waitlists.AcceptOffer(
		ctx, request.Caller(ctx), convert.ID[tenant.OfferID](req.Msg.OfferId),
		convert.ID[tenant.SubscriptionID](req.Msg.SubscriptionId),
	)
	if err != nil {
		return nil, err
	}
	return convert.Placed(
		&v1.AcceptOfferResponse{Booking: convert.BookingMessage(*a.Booking), Offer: convert.OfferMessage(a.Offer)},
		seats.Place{Booking: a.Booking, Repeated: a.Repeated},
	)
}

func (s *Waitlists) DeclineOffer(
	ctx context.Context, req *connect.Request[v1.DeclineOfferRequest],
) (*connect.Response[v1.DeclineOfferResponse], error) {
	a, err := s.Waitlists.DeclineOffer(
		ctx, request.Caller(ctx), convert.ID[tenant.OfferID](req.Msg.OfferId), req.Msg.Leave, req.Msg.Reason,
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.DeclineOfferResponse{
		Offer: convert.OfferMessage(a.Offer), Entry: convert.EntryMessage(*a.Entry),
	})
}

func (s *Waitlists) GetClaim(
	ctx context.Context, req *connect.Request[v1.GetClaimRequest],
) (*connect.Response[v1.GetClaimResponse], error) {
	c, err := s.Waitlists.GetClaim(ctx, req.Msg.Token)
	if err != nil {
		return nil, err
	}
	offer := convert.OfferMessage(c.Offer)
	offer.MemberId, offer.EntryId = "", ""
	return convert.Reply(&v1.GetClaimResponse{
		Offer: offer, LocationName: c.Offer.LocationName, ServiceName: c.Offer.ServiceName,
		SessionEndTime: convert.Timestamp(c.Offer.SessionEnds),
		ServerTime:     convert.Timestamp(s.Now()), TenantName: c.Name, Brand: convert.BrandMessage(c.Brand),
	})
}

func (s *Waitlists) ClaimOffer(
	ctx context.Context, req *connect.Request[v1.ClaimOfferRequest],
) (*connect.Response[v1.ClaimOfferResponse], error) {
	o, err := s.Waitlists.ClaimOffer(ctx, req.Msg.Token, req.Msg.Action == v1.ClaimAction_CLAIM_ACTION_ACCEPT)
	if err != nil {
		return nil, err
	}
	offer := convert.OfferMessage(o)
	offer.MemberId, offer.EntryId = "", ""
	return convert.Reply(&v1.ClaimOfferResponse{Offer: offer})
}

// keyCursor is a position in the order of joining.
type keyCursor struct {
	Key int64
	ID  tenant.UUID
}

func (s *Waitlists) ListEntries(
	ctx context.Context, req *connect.Request[v1.ListEntriesRequest],
) (*connect.Response[v1.ListEntriesResponse], error) {
	page, err := convert.OpenPage[keyCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	f := req.Msg.GetFilter()
	q := waitlists.EntryQuery{
		Session: convert.ID[tenant.SessionID](f.GetSessionId()), Location: convert.ID[tenant.LocationID](f.GetLocationId()),
		Service:  convert.ID[tenant.ServiceID](f.GetServiceId()),
		Resource: convert.ID[tenant.ResourceID](f.GetResourceId()), Member: convert.ID[tenant.MemberID](f.GetMemberId()),
		Limit: page.Size + 1,
		From:  convert.Instant(f.GetDesiredWithin().GetStart()), Until: convert.Instant(f.GetDesiredWithin().GetEnd()),
	}
	for _, status := range f.GetStatuses() {
		q.Statuses = append(q.Statuses, convert.Word[waitlist.Status](convert.EntryStatusPrefix, status))
	}
	if len(q.Statuses) == 0 {
		q.Statuses = []waitlist.Status{waitlist.Waiting, waitlist.Offered}
	}
	if page.After != nil {
		q.AfterKey, q.AfterID.UUID = page.After.Key, page.After.ID
	}
	entries, err := s.Waitlists.ListEntries(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	entries, next, err := convert.Cut(
		page, entries, func(e waitlist.Entry) keyCursor { return keyCursor{e.Key, e.ID.UUID} },
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.ListEntriesResponse{
		Entries: convert.Messages(entries, convert.EntryMessage), NextPageToken: next,
	})
}

func (s *Waitlists) ListOffers(
	ctx context.Context, req *connect.Request[v1.ListOffersRequest],
) (*connect.Response[v1.ListOffersResponse], error) {
	page, err := convert.OpenPage[idCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	q := waitlists.OfferQuery{
		Session: convert.ID[tenant.SessionID](req.Msg.SessionId), Entry: convert.ID[tenant.EntryID](req.Msg.EntryId),
		Member: convert.ID[tenant.MemberID](req.Msg.MemberId),
		Limit:  page.Size + 1, Statuses: []waitlist.OfferStatus{},
	}
	for _, status := range req.Msg.Statuses {
		q.Statuses = append(q.Statuses, convert.Word[waitlist.OfferStatus](convert.OfferStatusPrefix, status))
	}
	if page.After != nil {
		q.AfterID.UUID = page.After.ID
	}
	offers, err := s.Waitlists.ListOffers(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	offers, next, err := convert.Cut(page, offers, func(o waitlist.Offer) idCursor { return idCursor{o.ID.UUID} })
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.ListOffersResponse{
		Offers: convert.Messages(offers, convert.OfferMessage), NextPageToken: next,
	})
}

func (s *Waitlists) SetPriority(
	ctx context.Context, req *connect.Request[v1.SetPriorityRequest],
) (*connect.Response[v1.SetPriorityResponse], error) {
	edit := waitlists.PriorityEdit{Flagged: req.Msg.Flagged, Reason: req.Msg.Reason}
	if req.Msg.Score != nil {
		edit.Score = new(int(*req.Msg.Score))
	}
	e, err := s.Waitlists.SetPriority(ctx, request.Caller(ctx), convert.ID[tenant.EntryID](req.Msg.EntryId), edit)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.SetPriorityResponse{Entry: convert.EntryMessage(e)})
}

func (s *Waitlists) MoveEntry(
	ctx context.Context, req *connect.Request[v1.MoveEntryRequest],
) (*connect.Response[v1.MoveEntryResponse], error) {
	e, err := s.Waitlists.MoveEntry(
		ctx, request.Caller(ctx), convert.ID[tenant.EntryID](req.Msg.EntryId),
		convert.ID[tenant.EntryID](req.Msg.BeforeEntryId), req.Msg.Reason,
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.MoveEntryResponse{Entry: convert.EntryMessage(e)})
}

func (s *Waitlists) OfferPlace(
	ctx context.Context, req *connect.Request[v1.OfferPlaceRequest],
) (*connect.Response[v1.OfferPlaceResponse], error) {
	o, err := s.Waitlists.OfferPlace(ctx, request.Caller(ctx), waitlists.OfferRequest{
		Session: convert.ID[tenant.SessionID](req.Msg.SessionId), Entry: convert.ID[tenant.EntryID](req.Msg.EntryId),
		Until: convert.Instant(req.Msg.ExpireTime), Reason: req.Msg.Reason,
	})
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.OfferPlaceResponse{Offer: convert.OfferMessage(o)})
}

func (s *Waitlists) ExpireOffer(
	ctx context.Context, req *connect.Request[v1.ExpireOfferRequest],
) (*connect.Response[v1.ExpireOfferResponse], error) {
	o, err := s.Waitlists.ExpireOffer(
		ctx, request.Caller(ctx), convert.ID[tenant.OfferID](req.Msg.OfferId), req.Msg.Reason,
	)
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.ExpireOfferResponse{Offer: convert.OfferMessage(o)})
}

func (s *Waitlists) ListDecisions(
	ctx context.Context, req *connect.Request[v1.ListDecisionsRequest],
) (*connect.Response[v1.ListDecisionsResponse], error) {
	page, err := convert.OpenPage[idCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	q := waitlists.DecisionQuery{
		Session: convert.ID[tenant.SessionID](req.Msg.SessionId), Location: convert.ID[tenant.LocationID](req.Msg.LocationId),
		Service: convert.ID[tenant.ServiceID](req.Msg.ServiceId),
		From:    convert.Instant(req.Msg.GetDecidedWithin().GetStart()),
		Until:   convert.Instant(req.Msg.GetDecidedWithin().GetEnd()), WithNote: req.Msg.WithNote, Limit: page.Size + 1,
	}
	if page.After != nil {
		q.AfterID.UUID = page.After.ID
	}
	decisions, name, err := s.Waitlists.ListDecisions(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	decisions, next, err := convert.Cut(page, decisions, func(d waitlists.DecisionRecord) idCursor { return idCursor{d.ID.UUID} })
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.ListDecisionsResponse{
		Decisions: convert.Messages(decisions, convert.DecisionMessage(name)), NextPageToken: next,
	})
}

func (s *Waitlists) ExplainSession(
	ctx context.Context, req *connect.Request[v1.ExplainSessionRequest],
) (*connect.Response[v1.ExplainSessionResponse], error) {
	story, err := s.Waitlists.ExplainSession(ctx, request.Caller(ctx), convert.ID[tenant.SessionID](req.Msg.SessionId))
	if err != nil {
		return nil, err
	}
	answer := &v1.ExplainSessionResponse{
		Decisions: convert.Messages(story.Decisions, convert.DecisionMessage(story.Name)),
		Offers:    convert.Messages(story.Offers, convert.OfferMessage),
		Entries:   convert.Messages(story.Entries, convert.EntryMessage),
	}
	for _, d := range answer.Decisions {
		answer.Sentences = append(answer.Sentences, d.Sentences...)
	}
	return convert.Reply(answer)
}

func (s *Waitlists) ExplainEntry(
	ctx context.Context, req *connect.Request[v1.ExplainEntryRequest],
) (*connect.Response[v1.ExplainEntryResponse], error) {
	story, err := s.Waitlists.ExplainEntry(ctx, request.Caller(ctx), convert.ID[tenant.EntryID](req.Msg.EntryId))
	if err != nil {
		return nil, err
	}
	answer := &v1.ExplainEntryResponse{
		Entry: convert.EntryMessage(story.Entry), Offers: convert.Messages(story.Offers, convert.OfferMessage),
	}
	for _, d := range story.Decisions {
		decision := convert.DecisionMessage(story.Name)(d)
		verdict := &v1.EntryVerdict{Decision: decision}
		for _, v := range decision.Verdicts {
			if v.EntryId == answer.Entry.Id {
				verdict.Verdict = v
			}
		}
		sentences := waitlist.ExplainEntry(d.Decision, d.Case.Trigger, d.Case.Slot, d.Case.Now, story.Entry.ID)
		if request.Caller(ctx).SelfOnly {
			// Of others a member learns how many there were, and nothing else.
			decision.Verdicts, decision.Sentences, decision.StaffNote = []*v1.WaitlistVerdict{verdict.Verdict}, sentences, ""
		}
		answer.Verdicts = append(answer.Verdicts, verdict)
		answer.Sentences = append(answer.Sentences, sentences...)
	}
	return convert.Reply(answer)
}

func (s *Waitlists) GetWaitlistAnalytics(
	ctx context.Context, req *connect.Request[v1.GetWaitlistAnalyticsRequest],
) (*connect.Response[v1.GetWaitlistAnalyticsResponse], error) {
	figures, err := s.Waitlists.WaitlistAnalytics(ctx, request.Caller(ctx), waitlists.WaitlistQuery{
		Span: convert.LastMonth(s.Now, req.Msg.Within), Location: convert.ID[tenant.LocationID](req.Msg.LocationId),
		Service: convert.ID[tenant.ServiceID](req.Msg.ServiceId),
	})
	if err != nil {
		return nil, err
	}
	return convert.Reply(&v1.GetWaitlistAnalyticsResponse{
		Total: figuresMessage(figures.Total), Days: convert.Messages(figures.Days, figuresRow),
		Locations: convert.Messages(figures.Locations, figuresRow),
		Services:  convert.Messages(figures.Services, figuresRow), CascadeDepths: depths(figures.Total.Depths),
	})
}
