package main

import (
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Requests about the waitlist.
var waitlistRequests = map[string][]build{
	"WaitlistService/JoinWaitlist": {
		func(w *world) proto.Message {
			in := w.fullSession()
			return &v1.JoinWaitlistRequest{
				MemberId: text(w.newMember().Member), Target: &v1.JoinWaitlistRequest_SessionId{SessionId: text(in)},
				CoachId:     text(w.coach.Member),
				ExternalRef: unique(), Note: unique(),
			}
		},
		func(w *world) proto.Message {
			who := w.newMember()
			return &v1.JoinWaitlistRequest{
				MemberId: text(who.Member), SubscriptionId: text(w.newSubscription(who)),
				Target: &v1.JoinWaitlistRequest_AnyOf{
					AnyOf: &v1.SessionChoice{SessionIds: []string{text(w.fullSession()), text(w.fullSession())}},
				},
			}
		},
		func(w *world) proto.Message {
			return &v1.JoinWaitlistRequest{
				MemberId: text(w.newMember().Member), Target: &v1.JoinWaitlistRequest_Window{Window: &v1.WaitlistWindow{
					ServiceId: text(w.newOfferService()), LocationId: text(w.location), ResourceId: text(w.newRoom()),
					FirstDate: civilMessage(w.now.AddDate(0, 0, 2)),
				}},
			}
		},
	},
	"WaitlistService/LeaveWaitlist": {func(w *world) proto.Message {
		return &v1.LeaveWaitlistRequest{EntryId: text(w.newEntry(w.owner)), Reason: unique()}
	}},
	"WaitlistService/GetWaitlistEntry": {func(w *world) proto.Message {
		return &v1.GetWaitlistEntryRequest{EntryId: text(w.newEntry(w.newMember()))}
	}},
	"WaitlistService/GetWaitlistOffer": {func(w *world) proto.Message {
		return &v1.GetWaitlistOfferRequest{OfferId: text(w.newOffer(w.newMember()).ID)}
	}},
	"WaitlistService/AcceptWaitlistOffer": {func(w *world) proto.Message {
		who := w.newMember()
		return &v1.AcceptWaitlistOfferRequest{OfferId: text(w.newOffer(who).ID), SubscriptionId: text(w.newSubscription(who))}
	}},
	"WaitlistService/DeclineWaitlistOffer": {func(w *world) proto.Message {
		return &v1.DeclineWaitlistOfferRequest{OfferId: text(w.newOffer(w.newMember()).ID), Reason: unique()}
	}},
	"WaitlistService/GetWaitlistClaim": {
		func(w *world) proto.Message {
			return &v1.GetWaitlistClaimRequest{Token: w.claim(w.newOffer(w.newMember()))}
		},
	},
	"WaitlistService/AnswerWaitlistClaim": {func(w *world) proto.Message {
		return &v1.AnswerWaitlistClaimRequest{
			Token:  w.claim(w.newOffer(w.newMember())),
			Action: v1.WaitlistClaimAction_WAITLIST_CLAIM_ACTION_DECLINE,
		}
	}},
	"WaitlistService/ListWaitlistEntries": {
		func(w *world) proto.Message {
			target, who := &waitlist.Window{
				Service: w.newOfferService(), Location: w.location, Resource: w.newRoom(), From: w.day(2), Until: w.day(3),
				Latest: civil.TimeOfDay{Hour: 23},
			}, w.newMember()
			expect.OK(w.t)(w.app.Waitlists.JoinWaitlist(
				w.ctx(), who, waitlists.JoinRequest{Window: target, Party: 1, Channel: catalog.Online},
			))
			return &v1.ListWaitlistEntriesRequest{Scope: v1.ListScope_LIST_SCOPE_ALL, Filter: &v1.WaitlistEntryFilter{
				LocationId: text(target.Location), ServiceId: text(target.Service), ResourceId: text(target.Resource),
				MemberId: text(who.Member),
				Statuses: []v1.WaitlistEntryStatus{v1.WaitlistEntryStatus_WAITLIST_ENTRY_STATUS_WAITING}, StartsWithin: w.span(),
			}}
		},
		func(w *world) proto.Message {
			w.newEntry(w.newMember())
			w.newEntry(w.newMember())
			return &v1.ListWaitlistEntriesRequest{Scope: v1.ListScope_LIST_SCOPE_ALL, PageSize: 1}
		},
		func(w *world) proto.Message {
			w.newEntry(w.owner)
			w.newEntry(w.owner)
			return &v1.ListWaitlistEntriesRequest{PageSize: 1}
		},
		func(w *world) proto.Message {
			in := w.fullSession()
			w.book(w.app, w.newMember(), in)
			return &v1.ListWaitlistEntriesRequest{
				Scope: v1.ListScope_LIST_SCOPE_ALL, Filter: &v1.WaitlistEntryFilter{SessionId: text(in)},
			}
		},
	},
	"WaitlistService/ListWaitlistOffers": {
		func(w *world) proto.Message {
			o := w.newOffer(w.newMember())
			return &v1.ListWaitlistOffersRequest{Filter: &v1.WaitlistOfferFilter{
				SessionId: text(o.Session), LocationId: text(o.Queue.Location), ServiceId: text(o.Queue.Service),
				EntryId: text(o.Entry), MemberId: text(o.Member), CreatedWithin: w.span(), StartsWithin: w.span(),
				Statuses: []v1.WaitlistOfferStatus{v1.WaitlistOfferStatus_WAITLIST_OFFER_STATUS_LIVE},
			}}
		},
		func(w *world) proto.Message {
			w.newOffer(w.newMember())
			w.newOffer(w.newMember())
			return &v1.ListWaitlistOffersRequest{PageSize: 1}
		},
	},
	"WaitlistService/SetWaitlistPriority": {func(w *world) proto.Message {
		return &v1.SetWaitlistPriorityRequest{
			EntryId: text(w.newEntry(w.newMember())), Flagged: new(true), Score: new(int32(500)), Reason: unique(),
		}
	}},
	"WaitlistService/MoveWaitlistEntry": {func(w *world) proto.Message {
		in := w.fullSession()
		first, second := w.book(w.app, w.newMember(), in).Entry.ID, w.book(w.app, w.newMember(), in).Entry.ID
		return &v1.MoveWaitlistEntryRequest{EntryId: text(second), BeforeEntryId: text(first), Reason: unique()}
	}},
	"WaitlistService/CreateWaitlistOffer": {func(w *world) proto.Message {
		return &v1.CreateWaitlistOfferRequest{
			SessionId: text(w.newSession()), EntryId: text(w.newEntry(w.newMember())),
			ExpireTime: timestamppb.New(w.now.Add(time.Hour)), Reason: unique(),
		}
	}},
	"WaitlistService/ExpireWaitlistOffer": {func(w *world) proto.Message {
		return &v1.ExpireWaitlistOfferRequest{OfferId: text(w.newOffer(w.newMember()).ID), Reason: unique()}
	}},
	"WaitlistService/RemoveWaitlistEntry": {func(w *world) proto.Message {
		return &v1.RemoveWaitlistEntryRequest{EntryId: text(w.newEntry(w.newMember())), Reason: unique(), Notify: new(false)}
	}},
	"WaitlistService/GetWaitlistRules": {func(w *world) proto.Message {
		return &v1.GetWaitlistRulesRequest{LocationId: text(w.location), ServiceId: text(w.newService())}
	}},
	"WaitlistService/UpdateWaitlistRules": {
		func(w *world) proto.Message {
			return &v1.UpdateWaitlistRulesRequest{
				LocationId: text(w.newLocation()), Rules: allRules(), UpdateMask: paths(ruleNames...), Reason: unique(), Etag: "v0",
			}
		},
		func(w *world) proto.Message {
			return &v1.UpdateWaitlistRulesRequest{
				ServiceId: text(w.newService()), Rules: &v1.WaitlistRules{Enabled: new(false)}, UpdateMask: paths("enabled"),
			}
		},
	},
	"WaitlistService/ResetWaitlistRules": {
		func(w *world) proto.Message {
			return &v1.ResetWaitlistRulesRequest{LocationId: text(w.newLocation()), Reason: unique(), Etag: "v0"}
		},
		func(w *world) proto.Message { return &v1.ResetWaitlistRulesRequest{ServiceId: text(w.newService())} },
	},
	"WaitlistService/ListWaitlistRulesVersions": {
		func(w *world) proto.Message {
			return &v1.ListWaitlistRulesVersionsRequest{
				Filter: &v1.WaitlistRulesVersionFilter{ServiceId: text(w.newOfferService())},
			}
		},
		func(w *world) proto.Message {
			w.newOfferService()
			w.newOfferService()
			return &v1.ListWaitlistRulesVersionsRequest{PageSize: 1}
		},
		func(w *world) proto.Message {
			location := w.newLocation()
			expect.OK(w.t)(w.app.Settings.UpdateWaitlistRules(w.ctx(), w.owner, settings.RulesEdit{
				Target: settings.PolicyTarget{Location: location}, Edit: func(s *waitlist.Settings) { s.MaxQueueSize = new(7) },
			}))
			return &v1.ListWaitlistRulesVersionsRequest{
				Filter: &v1.WaitlistRulesVersionFilter{LocationId: text(location)},
			}
		},
	},
	"WaitlistService/PreviewWaitlistRules": {
		func(w *world) proto.Message {
			return &v1.PreviewWaitlistRulesRequest{
				ServiceId: text(w.newService()), Rules: allRules(), UpdateMask: paths(ruleNames...), DecidedWithin: w.span(),
				Limit: new(int32(10)),
			}
		},
		func(w *world) proto.Message {
			return &v1.PreviewWaitlistRulesRequest{
				LocationId: text(w.newLocation()), Rules: &v1.WaitlistRules{}, UpdateMask: paths("mode"),
			}
		},
	},
	"WaitlistService/ListWaitlistDecisions": {
		func(w *world) proto.Message {
			o := w.newOffer(w.newMember())
			return &v1.ListWaitlistDecisionsRequest{Filter: &v1.WaitlistDecisionFilter{
				SessionId: text(o.Session), LocationId: text(o.Queue.Location), ServiceId: text(o.Queue.Service),
				DecidedWithin: w.span(), HasNote: new(false), StartsWithin: w.span(),
			}}
		},
		func(w *world) proto.Message {
			w.newOffer(w.newMember())
			w.newOffer(w.newMember())
			return &v1.ListWaitlistDecisionsRequest{PageSize: 1}
		},
		func(*world) proto.Message {
			return &v1.ListWaitlistDecisionsRequest{Filter: &v1.WaitlistDecisionFilter{OpenNotes: true}}
		},
	},
	"WaitlistService/ExplainSessionWaitlist": {func(w *world) proto.Message {
		return &v1.ExplainSessionWaitlistRequest{SessionId: text(w.newOffer(w.newMember()).Session)}
	}},
	"WaitlistService/ExplainWaitlistEntry": {func(w *world) proto.Message {
		return &v1.ExplainWaitlistEntryRequest{EntryId: text(w.newOffer(w.newMember()).Entry)}
	}},
	"WaitlistService/GetWaitlistAnalytics": {func(w *world) proto.Message {
		return &v1.GetWaitlistAnalyticsRequest{
			CreatedWithin: w.span(),
			LocationId:    text(w.location),
			ServiceId:     text(w.service),
		}
	}},
}

var ruleNames = []string{
	"enabled", "mode", "max_queue_size", "offer_window", "min_offer_window", "time_flexibility", "max_offers_per_entry",
	"max_tries_per_slot", "after_expiry",
	"after_decline", "auto_cascade", "expire_stale", "stale_after", "allow_down_fitting", "order", "base_score",
	"tier_bonuses", "early_bird_points_per_day",
	"early_bird_max_points", "eligibility_expression", "priority_expression", "quiet_hours", "offers_in_quiet_hours",
	"auto_promote_cutoff", "promotion_grace", "promote_after_cancellation_window",
	"fill_after_start", "sms_min_score", "fill_after_start_single",
}

func allRules() *v1.WaitlistRules {
	hour := durationpb.New(time.Hour)
	return &v1.WaitlistRules{
		Enabled:               new(true),
		Mode:                  new(v1.WaitlistMode_WAITLIST_MODE_OFFER),
		MaxQueueSize:          new(int32(20)),
		OfferWindow:           hour,
		MinOfferWindow:        durationpb.New(time.Minute),
		TimeFlexibility:       hour,
		MaxOffersPerEntry:     &v1.WaitlistLimit{Max: new(int32(2))},
		MaxTriesPerSlot:       &v1.WaitlistLimit{Max: new(int32(5))},
		AfterExpiry:           new(v1.WaitlistAfter_WAITLIST_AFTER_CLOSE),
		AfterDecline:          new(v1.WaitlistAfter_WAITLIST_AFTER_CLOSE),
		AutoCascade:           new(true),
		ExpireStale:           new(true),
		StaleAfter:            hour,
		AllowDownFitting:      new(false),
		Order:                 new(v1.WaitlistOrder_WAITLIST_ORDER_CUSTOM),
		BaseScore:             new(int32(50)),
		TierBonuses:           &v1.WaitlistTierBonuses{Bonuses: []*v1.WaitlistTierBonus{{Tier: "gold", Points: 20}}},
		EarlyBirdPointsPerDay: new(int32(1)),
		EarlyBirdMaxPoints:    new(int32(10)),
		EligibilityExpression: new("entry.party_size < 5"),
		PriorityExpression:    new("100 - entry.party_size"),
		QuietHours:            &v1.QuietHours{Start: timeOfDay(23, 0), End: timeOfDay(6, 0)},
		OffersInQuietHours:    new(true),
		AutoPromoteCutoff:     hour,
		PromotionGrace:        hour,
		FillAfterStart:        hour,
		SmsMinScore:           new(int32(10)),

		PromoteAfterCancellationWindow: new(true),
	}
}

// day is the local date n days from now.
func (w *world) day(n int) civil.Date {
	return civil.DateOf(w.now, expect.Value(time.LoadLocation("Europe/Berlin"))(w.t)).AddDays(n)
}

// span is a period around now.
func (w *world) span() *v1.TimeRange {
	return &v1.TimeRange{Start: timestamppb.New(w.now.AddDate(0, 0, -1)), End: timestamppb.New(w.now.AddDate(0, 0, 30))}
}

// fullSession creates a session whose only seat is booked.
func (w *world) fullSession() tenant.SessionID {
	w.t.Helper()
	in := w.newSession(func(in *session.Input) { in.Capacity = new(1) })
	w.book(w.app, w.coach, in)
	return in
}

// newOfferService creates a service whose freed seats are offered, also in quiet hours.
func (w *world) newOfferService() tenant.ServiceID {
	w.t.Helper()
	id := w.newService()
	expect.OK(w.t)(w.app.Settings.UpdateWaitlistRules(w.ctx(), w.owner, settings.RulesEdit{Target: settings.PolicyTarget{
		Service: id,
	}, Edit: func(s *waitlist.Settings) {
		s.Enabled, s.MaxQueueSize, s.Mode, s.OffersInQuietHours = new(true), new(10_000), new(waitlist.OfferInTurn), new(true)
	}}))
	return id
}

// newOffer creates a live offer of a freed seat.
func (w *world) newOffer(caller tenant.Caller) waitlist.Offer {
	w.t.Helper()
	service := w.newOfferService()
	in := w.newSession(func(in *session.Input) { in.Capacity, in.Service = new(1), service })
	seat := w.book(w.app, w.coach, in).Booking.ID
	entry := w.book(w.app, caller, in).Entry.ID
	expect.OK(w.t)(w.app.Bookings.CancelBooking(w.ctx(), w.owner, bookings.CancelRequest{
		ID: seat, OverrideWindow: true,
	}))
	offers := expect.Value(w.app.Waitlists.ListWaitlistOffers(
		w.ctx(), w.owner, waitlistdb.OfferQuery{Entry: entry, Statuses: []waitlist.OfferStatus{}, Limit: 1},
	))(w.t)
	return offers[0]
}

func (w *world) claim(o waitlist.Offer) string {
	_, token, _ := strings.Cut(w.app.Waitlists.ClaimURL(w.ID, o.ID), waitlists.ClaimPath)
	return token
}
