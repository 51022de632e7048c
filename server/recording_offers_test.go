package main

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Offers of freed seats, and waitlist rules.
func offersScript() script {
	return script{
		rulesScript(),
		offerResponsesScript(),
		endedOffersScript(),
		staffOffersScript(),
		firstToClaimScript(),
		explanationsScript(),
	}
}

func rulesScript() script {
	update := func(rules *v1.WaitlistRules, names ...string) *v1.UpdateWaitlistRulesRequest {
		return &v1.UpdateWaitlistRulesRequest{Rules: rules, UpdateMask: paths(names...)}
	}
	offer := with(&v1.UpdateWaitlistRulesRequest{Reason: "Ask first."}, update(&v1.WaitlistRules{
		Mode: new(v1.WaitlistMode_WAITLIST_MODE_OFFER), OfferWindow: durationpb.New(44 * time.Minute),
		MaxOffersPerEntry: &v1.WaitlistLimit{Max: new(int32(2))},
		TierBonuses:       &v1.WaitlistTierBonuses{Bonuses: []*v1.WaitlistTierBonus{{Tier: "gold", Points: 20}}},
	}, "mode", "offer_window", "max_offers_per_entry", "tier_bonuses"))
	atCenter := with(&v1.UpdateWaitlistRulesRequest{LocationId: "$center"}, update(&v1.WaitlistRules{
		MinOfferWindow: durationpb.New(10 * time.Minute), Order: new(v1.WaitlistOrder_WAITLIST_ORDER_PRIORITY),
	}, "min_offer_window", "order"))
	queues := func(service string, rules *v1.WaitlistRules) *v1.UpdateWaitlistRulesRequest {
		return with(&v1.UpdateWaitlistRulesRequest{ServiceId: service}, update(rules, "max_queue_size"))
	}
	return script{
		adam.calls("The admin reads the rules", &v1.GetWaitlistRulesRequest{}),
		cora.refused("The coach reads the rules", "PERMISSION_DENIED", &v1.GetWaitlistRulesRequest{}),
		adam.calls("The admin has seats offered", offer),
		adam.refused("The admin edits rules that have changed", "ETAG_MISMATCH",
			with(offer, &v1.UpdateWaitlistRulesRequest{Etag: "v0"})),
		adam.refused("The admin's expression does not compile", "RULES_INVALID",
			update(&v1.WaitlistRules{EligibilityExpression: new("entry.party_size <")}, "eligibility_expression")),
		adam.refused("The admin's queue is too long", "INVALID_FIELD",
			update(&v1.WaitlistRules{MaxQueueSize: new(int32(20_000))}, "max_queue_size")),
		adam.calls("The admin has an order at the center", atCenter),
		adam.calls("The admin has short queues for yoga",
			queues("$yoga", &v1.WaitlistRules{MaxQueueSize: new(int32(3))})),
		adam.calls("The admin reads the rules of yoga at the center",
			&v1.GetWaitlistRulesRequest{LocationId: "$center", ServiceId: "$yoga"}),
		adam.calls("The admin inherits the length of queues again", queues("$yoga", &v1.WaitlistRules{})),
		adam.refused("The admin edits rules of no service", "SERVICE_NOT_FOUND",
			queues(absentID, &v1.WaitlistRules{})),
		adam.refused("The admin reads rules of no location", "LOCATION_NOT_FOUND",
			&v1.GetWaitlistRulesRequest{LocationId: absentID}),
		adam.calls("The admin resets the rules of the center",
			&v1.ResetWaitlistRulesRequest{LocationId: "$center", Reason: "Simpler."}),
		adam.calls("The admin resets the rules of the center again", &v1.ResetWaitlistRulesRequest{LocationId: "$center"}),
		adam.calls("The admin lists two versions", &v1.ListWaitlistRulesVersionsRequest{PageSize: 2}).as("page"),
		adam.calls("The admin lists the other versions",
			&v1.ListWaitlistRulesVersionsRequest{PageSize: 2, PageToken: "$page.nextPageToken"}),
		adam.calls("The admin lists versions of yoga", &v1.ListWaitlistRulesVersionsRequest{
			Filter: &v1.WaitlistRulesVersionFilter{ServiceId: "$yoga"},
		}),
	}
}

// sessionWithQueue creates a session of one seat at 18:00 with waitlist entries.
func sessionWithQueue(name string, day int, waiting ...caller) script {
	all := script{fullSession(name, day, "18:00", waitlistCapacity(5))}
	for _, one := range waiting {
		all = append(all, one.silently(joinRequest("$"+name)))
	}
	return all
}

// sessionWithFreedSeat creates a session at 18:00 whose only seat was just cancelled.
func sessionWithFreedSeat(name string, day int, waiting ...caller) script {
	return script{
		sessionWithQueue(name, day, waiting...),
		zoe.silently(&v1.CancelBookingRequest{BookingId: "$" + name + "-seat.booking.id"}),
	}
}

func offerResponsesScript() script {
	return script{
		clock(on(5, "10:10")),
		sessionWithQueue("evening", 7, tom, mia, lena),
		zoe.calls("Zoe frees a seat", &v1.CancelBookingRequest{BookingId: "$evening-seat.booking.id"}),
		liveOffer("$evening").as("first"),
		tom.calls("Tom lists his entry with its offer", &v1.ListWaitlistEntriesRequest{}),
		noah.refused("Noah books the seat that is offered", "SESSION_FULL",
			&v1.BookRequest{SessionId: "$evening", WhenFull: v1.WhenFull_WHEN_FULL_REFUSE}),
		mia.refused(
			"Mia accepts Tom's offer",
			"WAITLIST_OFFER_NOT_FOUND",
			&v1.AcceptWaitlistOfferRequest{OfferId: "$first.offers.0.id"},
		),
		tom.calls("Tom declines", &v1.DeclineWaitlistOfferRequest{OfferId: "$first.offers.0.id", Reason: "No time."}),
		tom.calls("Tom declines again", &v1.DeclineWaitlistOfferRequest{OfferId: "$first.offers.0.id"}),
		tom.refused("Tom accepts what he declined", "WAITLIST_OFFER_NOT_LIVE",
			&v1.AcceptWaitlistOfferRequest{OfferId: "$first.offers.0.id"}),
		liveOffer("$evening").as("second"),
		mia.calls("Mia accepts", &v1.AcceptWaitlistOfferRequest{OfferId: "$second.offers.0.id"}),
		mia.calls("Mia accepts again", &v1.AcceptWaitlistOfferRequest{OfferId: "$second.offers.0.id"}),
		mia.refused("Mia declines what she accepted", "WAITLIST_OFFER_NOT_LIVE",
			&v1.DeclineWaitlistOfferRequest{OfferId: "$second.offers.0.id"}),
		adam.refused(
			"The admin accepts nothing",
			"WAITLIST_OFFER_NOT_FOUND",
			&v1.AcceptWaitlistOfferRequest{OfferId: absentID},
		),
		sessionWithFreedSeat("linked", 8, tom),
		liveOffer("$linked").as("offer"),
		olga.silently(&v1.ListNotificationOutboxRequest{
			Filter: &v1.NotificationDeliveryFilter{OfferId: "$offer.offers.0.id"},
		}).finding("token", `/claim/([A-Za-z0-9_-]+)`),
		anonymous.calls("A stranger opens Tom's link", &v1.GetWaitlistClaimRequest{Token: "$token"}),
		anonymous.calls("A stranger accepts by Tom's link",
			&v1.AnswerWaitlistClaimRequest{Token: "$token", Action: v1.WaitlistClaimAction_WAITLIST_CLAIM_ACTION_ACCEPT}),
		anonymous.calls("A stranger opens Tom's link afterwards", &v1.GetWaitlistClaimRequest{Token: "$token"}),
		anonymous.refused("A stranger declines by Tom's link", "WAITLIST_OFFER_NOT_LIVE",
			&v1.AnswerWaitlistClaimRequest{Token: "$token", Action: v1.WaitlistClaimAction_WAITLIST_CLAIM_ACTION_DECLINE}),
		anonymous.refused("A stranger opens a forged link", "LINK_INVALID", &v1.GetWaitlistClaimRequest{Token: "forged"}),
		anonymous.refused("A stranger answers a forged link", "LINK_INVALID",
			&v1.AnswerWaitlistClaimRequest{Token: "forged", Action: v1.WaitlistClaimAction_WAITLIST_CLAIM_ACTION_ACCEPT}),
		sessionWithFreedSeat("leaving", 9, tom),
		liveOffer("$leaving").as("offer"),
		tom.calls("Tom declines and leaves", &v1.DeclineWaitlistOfferRequest{OfferId: "$offer.offers.0.id", Leave: true}),
	}
}

func endedOffersScript() script {
	return script{
		clock(on(5, "10:20")),
		sessionWithFreedSeat("unanswered", 10, tom, mia),
		clock(on(5, "11:10")),
		occurred("offer.created", 1),
		cora.calls(
			"The coach lists offers after the first ran out",
			&v1.ListWaitlistOffersRequest{Filter: &v1.WaitlistOfferFilter{SessionId: "$unanswered"}},
		),
		liveOffer("$unanswered").as("offer"),
		adam.calls("The admin ends the second offer",
			&v1.ExpireWaitlistOfferRequest{OfferId: "$offer.offers.0.id", Reason: "She called."}),
		adam.calls("The admin ends it again", &v1.ExpireWaitlistOfferRequest{OfferId: "$offer.offers.0.id"}),
		adam.refused("The admin ends nothing", "WAITLIST_OFFER_NOT_FOUND", &v1.ExpireWaitlistOfferRequest{OfferId: absentID}),
		sessionWithFreedSeat("taken", 11, tom, mia),
		liveOffer("$taken").as("offer"),
		tom.calls("Tom leaves with his offer", &v1.LeaveWaitlistRequest{EntryId: "$offer.offers.0.entryId"}),
		adam.calls("The admin cancels the session under an offer", &v1.CancelSessionRequest{SessionId: "$taken"}),
		cora.calls("The coach lists the latest offer", &v1.ListWaitlistOffersRequest{PageSize: 1}).as("page"),
		cora.calls("The coach lists the offer before",
			&v1.ListWaitlistOffersRequest{PageSize: 1, PageToken: "$page.nextPageToken"}),
		cora.calls("The coach lists Tom's ended offers", &v1.ListWaitlistOffersRequest{Filter: &v1.WaitlistOfferFilter{
			MemberId: "$tom", Statuses: []v1.WaitlistOfferStatus{
				v1.WaitlistOfferStatus_WAITLIST_OFFER_STATUS_EXPIRED, v1.WaitlistOfferStatus_WAITLIST_OFFER_STATUS_WITHDRAWN,
			},
		}}).as("ended"),
		tom.calls("Tom reads what became of his offer", &v1.GetWaitlistOfferRequest{OfferId: "$ended.offers.0.id"}),
		mia.refused("Mia reads Tom's offer", "WAITLIST_OFFER_NOT_FOUND",
			&v1.GetWaitlistOfferRequest{OfferId: "$ended.offers.0.id"}),
		mia.refused("Mia lists offers", "PERMISSION_DENIED", &v1.ListWaitlistOffersRequest{}),
	}
}

func staffOffersScript() script {
	const toms, mias = "$entries.entries.0.id", "$entries.entries.1.id"
	at := timestamppb.New(on(5, "12:00"))
	past := timestamppb.New(on(5, "09:00"))
	return script{
		clock(on(5, "11:20")),
		sessionWithQueue("waited", 12, tom, mia),
		class("open", on(12, "10:00"), capacity(1)),
		class("full", on(12, "12:00"), capacity(0)),
		draft("draft", on(12, "14:00")),
		olga.silently(&v1.ListWaitlistEntriesRequest{
			Scope: v1.ListScope_LIST_SCOPE_ALL, Filter: &v1.WaitlistEntryFilter{SessionId: "$waited"},
		}).as("entries"),
		adam.calls("The admin offers Tom another session",
			&v1.CreateWaitlistOfferRequest{SessionId: "$open", EntryId: toms, ExpireTime: at, Reason: "He asked."}),
		adam.refused("The admin offers Tom a second one", "WAITLIST_ENTRY_STATE",
			&v1.CreateWaitlistOfferRequest{SessionId: "$open", EntryId: toms}),
		adam.refused("The admin offers Mia a full session", "SESSION_FULL",
			&v1.CreateWaitlistOfferRequest{SessionId: "$full", EntryId: mias}),
		adam.refused("The admin offers Mia a draft", "SESSION_NOT_OPEN",
			&v1.CreateWaitlistOfferRequest{SessionId: "$draft", EntryId: mias}),
		adam.refused("The admin offers Mia nothing", "SESSION_NOT_FOUND",
			&v1.CreateWaitlistOfferRequest{SessionId: absentID, EntryId: mias}),
		adam.refused("The admin offers a place to an unknown entry", "WAITLIST_ENTRY_NOT_FOUND",
			&v1.CreateWaitlistOfferRequest{SessionId: "$open", EntryId: absentID}),
		adam.refused("The admin's offer is over before it begins", "INVALID_FIELD",
			&v1.CreateWaitlistOfferRequest{SessionId: "$full", EntryId: mias, ExpireTime: past}),
		liveOffer("$open").as("offer"),
		adam.calls("The admin accepts for Tom", &v1.AcceptWaitlistOfferRequest{OfferId: "$offer.offers.0.id"}),
	}
}

func firstToClaimScript() script {
	return script{
		clock(on(5, "11:30")),
		adam.calls("The admin lets the first claim", &v1.UpdateWaitlistRulesRequest{
			ServiceId: "$yoga", Rules: &v1.WaitlistRules{Mode: new(v1.WaitlistMode_WAITLIST_MODE_FIRST_TO_CLAIM)},
			UpdateMask: paths("mode"),
		}),
		sessionWithFreedSeat("race", 13, tom, mia, lena),
		cora.calls(
			"The coach lists the offers of all",
			&v1.ListWaitlistOffersRequest{Filter: &v1.WaitlistOfferFilter{SessionId: "$race"}},
		).as(
			"live",
		),
		mia.calls("Mia is the first", &v1.AcceptWaitlistOfferRequest{OfferId: "$live.offers.1.id"}),
		tom.refused(
			"Tom is too late",
			"WAITLIST_OFFER_NOT_LIVE",
			&v1.AcceptWaitlistOfferRequest{OfferId: "$live.offers.2.id"},
		),
		cora.calls(
			"The coach lists what became of the offers",
			&v1.ListWaitlistOffersRequest{Filter: &v1.WaitlistOfferFilter{SessionId: "$race"}},
		),
		adam.calls("The admin has short offers in a custom order", &v1.UpdateWaitlistRulesRequest{
			ServiceId: "$yoga", Rules: &v1.WaitlistRules{
				Mode: new(v1.WaitlistMode_WAITLIST_MODE_OFFER), Order: new(v1.WaitlistOrder_WAITLIST_ORDER_CUSTOM),
				PriorityExpression: new("entry.party_size * 10"), EligibilityExpression: new("entry.party_size < 3"),
			}, UpdateMask: paths("mode", "order", "priority_expression", "eligibility_expression"),
		}),
		sessionWithQueue("fair", 14, noah),
		zoe.calls("Zoe frees a seat for gold", &v1.CancelBookingRequest{BookingId: "$fair-seat.booking.id"}),
		noah.calls("Noah, who cannot be reached, lists his offer", &v1.ListWaitlistEntriesRequest{}),
		cora.calls("The coach asks what happened to the seat", &v1.ExplainSessionWaitlistRequest{SessionId: "$fair"}),
	}
}

func explanationsScript() script {
	preview := func(rules *v1.WaitlistRules, field string) *v1.PreviewWaitlistRulesRequest {
		return &v1.PreviewWaitlistRulesRequest{
			ServiceId: "$yoga", Rules: rules, UpdateMask: paths(field), Limit: new(int32(2)), DecidedWithin: week(),
		}
	}
	return script{
		clock(on(5, "11:40")),
		sessionWithQueue("why", 15, tom, mia),
		zoe.calls("Zoe frees the seat in question", &v1.CancelBookingRequest{BookingId: "$why-seat.booking.id"}),
		liveOffer("$why").as("offer"),
		cora.calls("The coach explains the session", &v1.ExplainSessionWaitlistRequest{SessionId: "$why"}),
		cora.calls("The coach explains Tom's entry", &v1.ExplainWaitlistEntryRequest{EntryId: "$offer.offers.0.entryId"}),
		tom.calls("Tom asks about his entry", &v1.ExplainWaitlistEntryRequest{EntryId: "$offer.offers.0.entryId"}),
		cora.calls("The coach lists the last decision", &v1.ListWaitlistDecisionsRequest{PageSize: 1}).as("page"),
		cora.calls("The coach lists the one before",
			&v1.ListWaitlistDecisionsRequest{PageSize: 1, PageToken: "$page.nextPageToken"}),
		cora.calls("The coach lists decisions of the session", &v1.ListWaitlistDecisionsRequest{
			Filter: &v1.WaitlistDecisionFilter{SessionId: "$why"},
		}),
		adam.calls("The admin tries promotion",
			preview(&v1.WaitlistRules{Mode: new(v1.WaitlistMode_WAITLIST_MODE_AUTO_PROMOTE)}, "mode")),
		adam.refused("The admin tries what does not compile", "RULES_INVALID",
			preview(&v1.WaitlistRules{PriorityExpression: new("nothing.at.all")}, "priority_expression")),
		adam.calls("The admin reads figures", &v1.GetWaitlistAnalyticsRequest{CreatedWithin: week()}),
		adam.calls("The admin reads figures of yoga at the center",
			&v1.GetWaitlistAnalyticsRequest{CreatedWithin: week(), LocationId: "$center", ServiceId: "$yoga"}),
		cora.refused("The coach reads figures", "PERMISSION_DENIED", &v1.GetWaitlistAnalyticsRequest{}),
	}
}
