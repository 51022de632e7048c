package main

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Offers of freed seats, and waitlist rules.
func recordOffers(s *studio) {
	recordRules(s)
	recordOfferResponses(s)
	recordEndedOffers(s)
	recordStaffOffers(s)
	recordFirstToClaim(s)
	recordExplanations(s)
}

func recordRules(s *studio) {
	update := func(rules *v1.WaitlistRules, names ...string) *v1.UpdateRulesRequest {
		return &v1.UpdateRulesRequest{Rules: rules, UpdateMask: paths(names...)}
	}
	s.record(s.adam, "The admin reads the rules", &v1.GetRulesRequest{})
	s.recordError(s.cora, "The coach reads the rules", "PERMISSION_DENIED", &v1.GetRulesRequest{})
	offer := update(&v1.WaitlistRules{
		Mode: new(v1.WaitlistMode_WAITLIST_MODE_OFFER), OfferWindow: durationpb.New(44 * time.Minute),
		MaxOffersPerEntry: new(int32(2)),
		TierBonuses:       &v1.TierBonuses{Bonuses: []*v1.TierBonus{{Tier: "gold", Points: 20}}},
	}, "mode", "offer_window", "max_offers_per_entry", "tier_bonuses")
	offer.Reason = "Ask first."
	s.record(s.adam, "The admin has seats offered", offer)
	offer.Etag = "v0"
	s.recordError(s.adam, "The admin edits rules that have changed", "ETAG_MISMATCH", offer)
	wrong := update(&v1.WaitlistRules{EligibilityExpression: new("entry.party_size <")}, "eligibility_expression")
	s.recordError(s.adam, "The admin's expression does not compile", "RULES_INVALID", wrong)
	s.recordError(
		s.adam, "The admin's queue is too long", "INVALID_FIELD",
		update(&v1.WaitlistRules{MaxQueueSize: new(int32(20_000))}, "max_queue_size"),
	)
	atCenter := update(&v1.WaitlistRules{
		MinOfferWindow: durationpb.New(10 * time.Minute), Order: new(v1.WaitlistOrder_WAITLIST_ORDER_PRIORITY),
	}, "min_offer_window", "order")
	atCenter.LocationId = s.center
	s.record(s.adam, "The admin has an order at the center", atCenter)
	ofYoga := update(&v1.WaitlistRules{MaxQueueSize: new(int32(3))}, "max_queue_size")
	ofYoga.ServiceId = s.yoga
	s.record(s.adam, "The admin has short queues for yoga", ofYoga)
	s.record(
		s.adam, "The admin reads the rules of yoga at the center",
		&v1.GetRulesRequest{LocationId: s.center, ServiceId: s.yoga},
	)
	ofYoga.Rules = &v1.WaitlistRules{}
	s.record(s.adam, "The admin inherits the length of queues again", ofYoga)
	ofYoga.ServiceId = absentID
	s.recordError(s.adam, "The admin edits rules of no service", "SERVICE_NOT_FOUND", ofYoga)
	s.recordError(
		s.adam, "The admin reads rules of no location", "LOCATION_NOT_FOUND", &v1.GetRulesRequest{LocationId: absentID},
	)
	s.record(
		s.adam, "The admin resets the rules of the center", &v1.ResetRulesRequest{LocationId: s.center, Reason: "Simpler."},
	)
	s.record(s.adam, "The admin resets the rules of the center again", &v1.ResetRulesRequest{LocationId: s.center})
	page := recordResponse[*v1.ListRulesVersionsResponse](
		s.recording, s.adam, "The admin lists two versions", &v1.ListRulesVersionsRequest{PageSize: 2},
	)
	s.record(
		s.adam, "The admin lists the other versions",
		&v1.ListRulesVersionsRequest{PageSize: 2, PageToken: page.GetNextPageToken()},
	)
	s.record(s.adam, "The admin lists versions of yoga", &v1.ListRulesVersionsRequest{ServiceId: s.yoga})
}

// sessionWithQueue creates a session of one seat at 18:00 with waitlist entries, and returns the booking of the seat.
func (s *studio) sessionWithQueue(name string, day int, caller ...person) (session string, seat *v1.Booking) {
	s.t.Helper()
	session, seat = s.fullSession(name, day, "18:00", waitlistCapacity(5))
	for _, p := range caller {
		s.silently(func() {
			mustCall[*v1.JoinWaitlistResponse](s.recording, p, joinRequest(session))
		})
	}
	s.settle()
	return session, seat
}

// sessionWithFreedSeat creates a session at 18:00 whose only seat was just cancelled.
func (s *studio) sessionWithFreedSeat(name string, day int, caller ...person) string {
	s.t.Helper()
	session, seat := s.sessionWithQueue(name, day, caller...)
	s.silently(func() {
		mustCall[*v1.CancelBookingResponse](s.recording, s.zoe, &v1.CancelBookingRequest{BookingId: seat.GetId()})
	})
	s.settle()
	return session
}

func recordOfferResponses(s *studio) {
	s.startAt(on(5, "10:10"))
	class, seat := s.sessionWithQueue("evening", 7, s.tom, s.mia, s.lena)
	s.record(s.zoe, "Zoe frees a seat", &v1.CancelBookingRequest{BookingId: seat.GetId()})
	first := s.liveOffer(class)
	s.record(s.tom, "Tom lists his entry with its offer", &v1.ListMyEntriesRequest{})
	s.recordError(
		s.noah, "Noah books the seat that is offered", "SESSION_FULL", &v1.BookRequest{SessionId: class, NoWaitlist: true},
	)
	s.recordError(s.mia, "Mia accepts Tom's offer", "OFFER_NOT_FOUND", &v1.AcceptOfferRequest{OfferId: first.GetId()})
	s.record(s.tom, "Tom declines", &v1.DeclineOfferRequest{OfferId: first.GetId(), Reason: "No time."})
	s.record(s.tom, "Tom declines again", &v1.DeclineOfferRequest{OfferId: first.GetId()})
	s.recordError(s.tom, "Tom accepts what he declined", "OFFER_NOT_LIVE", &v1.AcceptOfferRequest{OfferId: first.GetId()})
	second := s.liveOffer(class)
	s.record(s.mia, "Mia accepts", &v1.AcceptOfferRequest{OfferId: second.GetId()})
	s.record(s.mia, "Mia accepts again", &v1.AcceptOfferRequest{OfferId: second.GetId()})
	s.recordError(
		s.mia, "Mia declines what she accepted", "OFFER_NOT_LIVE", &v1.DeclineOfferRequest{OfferId: second.GetId()},
	)
	s.recordError(s.adam, "The admin accepts nothing", "OFFER_NOT_FOUND", &v1.AcceptOfferRequest{OfferId: absentID})

	linked := s.sessionWithFreedSeat("linked", 8, s.tom)
	token := s.claim(s.liveOffer(linked))
	s.record(anonymous, "A stranger opens Tom's link", &v1.GetClaimRequest{Token: token})
	s.record(
		anonymous, "A stranger accepts by Tom's link",
		&v1.ClaimOfferRequest{Token: token, Action: v1.ClaimAction_CLAIM_ACTION_ACCEPT},
	)
	s.record(anonymous, "A stranger opens Tom's link afterwards", &v1.GetClaimRequest{Token: token})
	s.recordError(
		anonymous, "A stranger declines by Tom's link", "OFFER_NOT_LIVE",
		&v1.ClaimOfferRequest{Token: token, Action: v1.ClaimAction_CLAIM_ACTION_DECLINE},
	)
	s.recordError(anonymous, "A stranger opens a forged link", "LINK_INVALID", &v1.GetClaimRequest{Token: "forged"})
	s.recordError(
		anonymous, "A stranger answers a forged link", "LINK_INVALID",
		&v1.ClaimOfferRequest{Token: "forged", Action: v1.ClaimAction_CLAIM_ACTION_ACCEPT},
	)
	leaving := s.sessionWithFreedSeat("leaving", 9, s.tom)
	s.record(s.tom, "Tom declines and leaves", &v1.DeclineOfferRequest{OfferId: s.liveOffer(leaving).GetId(), Leave: true})
}

func recordEndedOffers(s *studio) {
	s.startAt(on(5, "10:20"))
	class := s.sessionWithFreedSeat("unanswered", 10, s.tom, s.mia)
	s.startAt(on(5, "11:10"))
	s.waitForEvents("offer.created", 1)
	s.record(s.cora, "The coach lists offers after the first ran out", &v1.ListOffersRequest{SessionId: class})
	offer := s.liveOffer(class)
	s.record(
		s.adam, "The admin ends the second offer", &v1.ExpireOfferRequest{OfferId: offer.GetId(), Reason: "She called."},
	)
	s.record(s.adam, "The admin ends it again", &v1.ExpireOfferRequest{OfferId: offer.GetId()})
	s.recordError(s.adam, "The admin ends nothing", "OFFER_NOT_FOUND", &v1.ExpireOfferRequest{OfferId: absentID})
	taken := s.sessionWithFreedSeat("taken", 11, s.tom, s.mia)
	offer = s.liveOffer(taken)
	s.record(s.tom, "Tom leaves with his offer", &v1.LeaveWaitlistRequest{EntryId: offer.GetEntryId()})
	s.record(s.adam, "The admin cancels the session under an offer", &v1.CancelSessionRequest{SessionId: taken})
	page := recordResponse[*v1.ListOffersResponse](
		s.recording, s.cora, "The coach lists the latest offer", &v1.ListOffersRequest{PageSize: 1},
	)
	s.record(
		s.cora, "The coach lists the offer before", &v1.ListOffersRequest{PageSize: 1, PageToken: page.GetNextPageToken()},
	)
	s.record(s.cora, "The coach lists Tom's ended offers", &v1.ListOffersRequest{MemberId: s.tom.id,
		Statuses: []v1.OfferStatus{
			v1.OfferStatus_OFFER_STATUS_EXPIRED, v1.OfferStatus_OFFER_STATUS_WITHDRAWN,
		}})
	s.recordError(s.mia, "Mia lists offers", "PERMISSION_DENIED", &v1.ListOffersRequest{})
}

func recordStaffOffers(s *studio) {
	s.startAt(on(5, "11:20"))
	waited, _ := s.sessionWithQueue("waited", 12, s.tom, s.mia)
	open, full := s.class("open", on(12, "10:00"), capacity(1)), s.class("full", on(12, "12:00"), capacity(0))
	draft := s.draft("draft", on(12, "14:00"))
	var entries []*v1.WaitlistEntry
	s.silently(func() {
		entries = mustCall[*v1.ListEntriesResponse](
			s.recording, s.olga, &v1.ListEntriesRequest{Filter: &v1.EntryFilter{SessionId: waited}},
		).GetEntries()
	})
	toms, mias := entries[0].GetId(), entries[1].GetId()
	at := timestamppb.New(on(5, "12:00"))
	s.record(
		s.adam, "The admin offers Tom another session",
		&v1.OfferPlaceRequest{SessionId: open, EntryId: toms, ExpireTime: at, Reason: "He asked."},
	)
	s.recordError(
		s.adam, "The admin offers Tom a second one", "BOOKING_STATE", &v1.OfferPlaceRequest{SessionId: open, EntryId: toms},
	)
	s.recordError(
		s.adam, "The admin offers Mia a full session", "SESSION_FULL", &v1.OfferPlaceRequest{SessionId: full, EntryId: mias},
	)
	s.recordError(
		s.adam, "The admin offers Mia a draft", "SESSION_NOT_OPEN", &v1.OfferPlaceRequest{SessionId: draft, EntryId: mias},
	)
	s.recordError(
		s.adam, "The admin offers Mia nothing", "SESSION_NOT_FOUND",
		&v1.OfferPlaceRequest{SessionId: absentID, EntryId: mias},
	)
	s.recordError(
		s.adam, "The admin offers a place to an unknown entry", "ENTRY_NOT_FOUND",
		&v1.OfferPlaceRequest{SessionId: open, EntryId: absentID},
	)
	past := timestamppb.New(on(5, "09:00"))
	s.recordError(
		s.adam, "The admin's offer is over before it begins", "INVALID_FIELD",
		&v1.OfferPlaceRequest{SessionId: full, EntryId: mias, ExpireTime: past},
	)
	s.record(s.adam, "The admin accepts for Tom", &v1.AcceptOfferRequest{OfferId: s.liveOffer(open).GetId()})
}

func recordFirstToClaim(s *studio) {
	s.startAt(on(5, "11:30"))
	s.record(s.adam, "The admin lets the first claim", &v1.UpdateRulesRequest{
		ServiceId: s.yoga, Rules: &v1.WaitlistRules{Mode: new(v1.WaitlistMode_WAITLIST_MODE_FIRST_TO_CLAIM)},
		UpdateMask: paths("mode"),
	})
	class := s.sessionWithFreedSeat("race", 13, s.tom, s.mia, s.lena)
	live := recordResponse[*v1.ListOffersResponse](
		s.recording, s.cora, "The coach lists the offers of all", &v1.ListOffersRequest{SessionId: class},
	).GetOffers()
	s.record(s.mia, "Mia is the first", &v1.AcceptOfferRequest{OfferId: live[1].GetId()})
	s.recordError(s.tom, "Tom is too late", "OFFER_NOT_LIVE", &v1.AcceptOfferRequest{OfferId: live[2].GetId()})
	s.record(s.cora, "The coach lists what became of the offers", &v1.ListOffersRequest{SessionId: class})
	s.record(s.adam, "The admin has short offers in a custom order", &v1.UpdateRulesRequest{
		ServiceId: s.yoga, Rules: &v1.WaitlistRules{
			Mode: new(v1.WaitlistMode_WAITLIST_MODE_OFFER), Order: new(v1.WaitlistOrder_WAITLIST_ORDER_CUSTOM),
			PriorityExpression: new("entry.party_size * 10"), EligibilityExpression: new("entry.party_size < 3"),
		}, UpdateMask: paths("mode", "order", "priority_expression", "eligibility_expression"),
	})
	seats, seat := s.sessionWithQueue("fair", 14, s.noah)
	s.record(s.zoe, "Zoe frees a seat for gold", &v1.CancelBookingRequest{BookingId: seat.GetId()})
	s.record(s.noah, "Noah, who cannot be reached, lists his offer", &v1.ListMyEntriesRequest{})
	s.record(s.cora, "The coach asks what happened to the seat", &v1.ExplainSessionRequest{SessionId: seats})
}

func recordExplanations(s *studio) {
	s.startAt(on(5, "11:40"))
	class, seat := s.sessionWithQueue("why", 15, s.tom, s.mia)
	s.record(s.zoe, "Zoe frees the seat in question", &v1.CancelBookingRequest{BookingId: seat.GetId()})
	offer := s.liveOffer(class)
	s.record(s.cora, "The coach explains the session", &v1.ExplainSessionRequest{SessionId: class})
	s.record(s.cora, "The coach explains Tom's entry", &v1.ExplainEntryRequest{EntryId: offer.GetEntryId()})
	s.record(s.tom, "Tom asks about his entry", &v1.ExplainEntryRequest{EntryId: offer.GetEntryId()})
	page := recordResponse[*v1.ListDecisionsResponse](
		s.recording, s.cora, "The coach lists the last decision", &v1.ListDecisionsRequest{PageSize: 1},
	)
	s.record(
		s.cora, "The coach lists the one before", &v1.ListDecisionsRequest{PageSize: 1, PageToken: page.GetNextPageToken()},
	)
	s.record(s.cora, "The coach lists decisions of the session", &v1.ListDecisionsRequest{SessionId: class})
	draft := &v1.PreviewRulesRequest{
		ServiceId: s.yoga, Rules: &v1.WaitlistRules{Mode: new(v1.WaitlistMode_WAITLIST_MODE_AUTO_PROMOTE)},
		UpdateMask: paths("mode"), Limit: 2,
		DecidedWithin: week(),
	}
	s.record(s.adam, "The admin tries promotion", draft)
	draft.Rules, draft.UpdateMask = &v1.WaitlistRules{
		PriorityExpression: new("nothing.at.all"),
	}, paths("priority_expression")
	s.recordError(s.adam, "The admin tries what does not compile", "RULES_INVALID", draft)
	s.record(s.adam, "The admin reads figures", &v1.GetWaitlistAnalyticsRequest{Within: week()})
	s.record(
		s.adam, "The admin reads figures of yoga at the center",
		&v1.GetWaitlistAnalyticsRequest{Within: week(), LocationId: s.center, ServiceId: s.yoga},
	)
	s.recordError(s.cora, "The coach reads figures", "PERMISSION_DENIED", &v1.GetWaitlistAnalyticsRequest{})
}
