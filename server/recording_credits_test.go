package main

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

const day = 24 * time.Hour

// Plans, subscriptions, and the charges and refunds of bookings.
func recordCredits(s *studio) {
	pack, monthly, limited := recordPlans(s)
	recordPayers(s, pack, limited)
	recordRefunds(s, pack)
	recordSubscriptions(s, pack, limited)
	recordRenewals(s, monthly)
}

func (s *studio) plan(title, name string, in *v1.PlanInput) string {
	s.t.Helper()
	id := recordResponse[*v1.CreatePlanResponse](
		s.recording, s.adam, title, &v1.CreatePlanRequest{Plan: in},
	).GetPlan().GetId()
	s.names.set(id, name)
	return id
}

func recordPlans(s *studio) (pack, monthly, limited string) {
	pack = s.plan("The admin sells packs", "pack", &v1.PlanInput{
		Name: "Pack", Description: "Two classes.", Kind: v1.PlanKind_PLAN_KIND_CREDITS, Credits: 2, Price: euros(25),
		AllowOverlap: true, Active: true,
	})
	monthly = s.plan("The admin sells four a month for 60 days", "monthly", &v1.PlanInput{
		Name: "Monthly", Kind: v1.PlanKind_PLAN_KIND_CREDITS, Credits: 4, Period: durationpb.New(30 * day),
		Term: durationpb.New(60 * day), Active: true,
	})
	limited = s.plan("The admin sells one a day, two a week", "limited", &v1.PlanInput{
		Name: "Limited", Kind: v1.PlanKind_PLAN_KIND_UNLIMITED, DailyLimit: new(int32(1)), WeeklyLimit: new(int32(2)),
		Active: true,
	})
	course := s.plan("The admin has a course", "course", &v1.PlanInput{Name: "Course", Kind: v1.PlanKind_PLAN_KIND_COURSE})
	create := &v1.CreatePlanRequest{Plan: &v1.PlanInput{Name: "pack", Kind: v1.PlanKind_PLAN_KIND_UNLIMITED}}
	s.recordError(s.adam, "The admin sells packs again", "ALREADY_EXISTS", create)
	s.recordError(s.cora, "The coach sells packs", "PERMISSION_DENIED", create)
	create.Plan = &v1.PlanInput{Name: "Empty", Kind: v1.PlanKind_PLAN_KIND_CREDITS}
	s.recordError(s.adam, "The admin sells no credits", "INVALID_FIELD", create)
	create.Plan = &v1.PlanInput{Name: "Endless", Kind: v1.PlanKind_PLAN_KIND_UNLIMITED, Credits: 5}
	s.recordError(s.adam, "The admin sells unlimited credits", "INVALID_FIELD", create)
	edit := &v1.UpdatePlanRequest{
		PlanId: course, Plan: &v1.PlanInput{Name: "Long course", Active: true}, UpdateMask: paths("name", "active"),
		Etag: "v1",
	}
	s.record(s.adam, "The admin edits the course", edit)
	s.recordError(s.adam, "The admin edits a course that has changed", "ETAG_MISMATCH", edit)
	s.recordError(
		s.adam, "The admin edits no plan", "PLAN_NOT_FOUND",
		&v1.UpdatePlanRequest{PlanId: absentID, Plan: &v1.PlanInput{}, UpdateMask: paths("active")},
	)
	page := recordResponse[*v1.ListPlansResponse](
		s.recording, s.mia, "Mia lists one plan", &v1.ListPlansRequest{PageSize: 1},
	)
	s.record(s.mia, "Mia lists the next plan", &v1.ListPlansRequest{PageSize: 1, PageToken: page.GetNextPageToken()})
	s.record(s.adam, "The admin lists all plans", &v1.ListPlansRequest{IncludeInactive: true})
	return pack, monthly, limited
}

// subscribe starts a subscription silently.
func (s *studio) subscribe(caller person, plan string) string {
	s.t.Helper()
	var id string
	s.silently(func() {
		id = mustCall[*v1.SubscribeResponse](
			s.recording, s.olga, &v1.SubscribeRequest{MemberId: caller.id, PlanId: plan},
		).GetSubscription().GetId()
	})
	return id
}

func recordPayers(s *studio, pack, limited string) {
	s.startAt(on(5, "10:10"))
	s.silently(func() {
		mustCall[*v1.UpdateTenantResponse](
			s.recording, s.olga,
			&v1.UpdateTenantRequest{Tenant: &v1.Tenant{TakesPayments: true}, UpdateMask: paths("takes_payments")},
		)
	})
	class := s.class("evening", on(7, "18:00"), capacity(8))
	overlapping, sameDay := s.class("beside", on(7, "18:30"), capacity(8)), s.class("sameDay", on(7, "20:00"), capacity(8))
	saturday, sunday := s.class("saturday", on(8, "18:00"), capacity(8)), s.class("sunday", on(9, "18:00"), capacity(8))
	monday := s.class("monday", on(10, "18:00"), capacity(8))
	s.recordError(s.mia, "Mia has no plan", "NO_ACTIVE_PLAN", &v1.BookRequest{SessionId: class})
	s.record(s.mia, "Mia sees that she needs one", &v1.GetSessionRequest{SessionId: class})
	s.record(
		s.adam, "The admin subscribes Mia to a pack",
		&v1.SubscribeRequest{MemberId: s.mia.id, PlanId: pack, Reason: "Paid in cash."},
	)
	s.record(s.mia, "Mia books on her pack", &v1.BookRequest{SessionId: class})
	s.recordError(
		s.mia, "Mia has too few credits for two", "NO_CREDITS", &v1.BookRequest{SessionId: saturday, PartySize: 2},
	)
	s.record(s.mia, "Mia spends her last credit on what overlaps", &v1.BookRequest{SessionId: overlapping})
	s.recordError(s.mia, "Mia has no credits left", "NO_CREDITS", &v1.BookRequest{SessionId: saturday})

	toms := s.subscribe(s.tom, limited)
	s.record(s.tom, "Tom books without credits", &v1.BookRequest{SessionId: class})
	s.recordError(s.tom, "Tom books what overlaps on a full day", "DAILY_LIMIT", &v1.BookRequest{SessionId: overlapping})
	s.recordError(s.tom, "Tom books twice a day", "DAILY_LIMIT", &v1.BookRequest{SessionId: sameDay})
	s.record(s.tom, "Tom books on Saturday", &v1.BookRequest{SessionId: saturday})
	s.recordError(s.tom, "Tom books three times a week", "WEEKLY_LIMIT", &v1.BookRequest{SessionId: sunday})
	s.record(s.tom, "Tom books next week", &v1.BookRequest{SessionId: monday})
	s.record(
		s.adam, "The admin lifts Tom's limit a day",
		&v1.UpdatePlanRequest{PlanId: limited, Plan: &v1.PlanInput{}, UpdateMask: paths("daily_limit", "weekly_limit")},
	)
	s.recordError(s.tom, "Tom books what overlaps", "OVERLAP", &v1.BookRequest{SessionId: overlapping})
	s.record(s.tom, "Tom books later that day", &v1.BookRequest{SessionId: sameDay})

	lenas, second := s.subscribe(s.lena, pack), s.subscribe(s.lena, limited)
	s.recordError(s.lena, "Lena has two plans", "PLAN_CHOICE_REQUIRED", &v1.BookRequest{SessionId: class})
	s.record(s.lena, "Lena names one", &v1.BookRequest{SessionId: class, SubscriptionId: lenas})
	s.recordError(
		s.lena, "Lena names Tom's", "SUBSCRIPTION_NOT_FOUND", &v1.BookRequest{SessionId: saturday, SubscriptionId: toms},
	)
	s.record(s.adam, "The admin notes a debt of Lena's", &v1.MarkDebtRequest{SubscriptionId: second, Reason: "Unpaid."})
	s.recordError(
		s.lena, "Lena names one in debt", "OUTSTANDING_BALANCE", &v1.BookRequest{SessionId: saturday, SubscriptionId: second},
	)
	s.record(s.cora, "The coach books for Zoe, who has no plan", &v1.BookRequest{SessionId: class, MemberId: s.zoe.id})
	s.record(
		s.mia, "Mia lists what she may book", &v1.ListSessionsRequest{Filter: &v1.SessionFilter{StartsWithin: week()}},
	)
}

func recordRefunds(s *studio, pack string) {
	s.startAt(on(5, "10:20"))
	s.subscribe(s.noah, pack)
	early, late := s.class("early", on(11, "18:00")), s.class("late", on(6, "09:00"))
	kept, lost := s.book(s.noah, early), s.book(s.noah, late)
	s.record(s.noah, "Noah cancels in time", &v1.CancelBookingRequest{BookingId: kept.GetId()})
	s.record(s.adam, "The admin cancels for Noah too late", &v1.AdminCancelBookingRequest{BookingId: lost.GetId()})
	s.record(s.noah, "Noah reads his balance", &v1.GetBalanceRequest{})
	s.recordError(s.cora, "The coach refunds", "PERMISSION_DENIED", &v1.RefundCreditRequest{BookingId: lost.GetId()})
	s.record(s.adam, "The admin refunds", &v1.RefundCreditRequest{BookingId: lost.GetId(), Reason: "He was ill."})
	s.recordError(s.adam, "The admin refunds again", "NOTHING_TO_REFUND", &v1.RefundCreditRequest{BookingId: lost.GetId()})
	s.recordError(s.adam, "The admin refunds nothing", "BOOKING_NOT_FOUND", &v1.RefundCreditRequest{BookingId: absentID})
	moved := s.book(s.noah, early)
	s.record(
		s.noah, "Noah moves a booking that he paid for",
		&v1.RescheduleBookingRequest{BookingId: moved.GetId(), SessionId: s.class("moved", on(12, "18:00"))},
	)
	held := recordResponse[*v1.HoldBookingResponse](
		s.recording, s.noah, "Noah holds", &v1.HoldBookingRequest{SessionId: early},
	).GetBooking()
	s.record(s.noah, "Noah confirms with a credit", &v1.ConfirmBookingRequest{BookingId: held.GetId()})
	s.record(s.adam, "The admin cancels the session that was paid for", &v1.CancelSessionRequest{SessionId: early})
}

func recordSubscriptions(s *studio, pack, limited string) {
	s.startAt(on(5, "10:30"))
	subscribe := func(member, plan string) *v1.SubscribeRequest {
		return &v1.SubscribeRequest{MemberId: member, PlanId: plan}
	}
	s.recordError(s.adam, "The admin subscribes an unknown member", "MEMBER_NOT_FOUND", subscribe(absentID, pack))
	s.recordError(s.adam, "The admin subscribes Zoe to nothing", "PLAN_NOT_FOUND", subscribe(s.zoe.id, absentID))
	s.recordError(s.cora, "The coach subscribes Zoe", "PERMISSION_DENIED", subscribe(s.zoe.id, pack))
	later := subscribe(s.zoe.id, limited)
	later.StartTime = timestamppb.New(on(20, "00:00"))
	s.record(s.adam, "The admin subscribes Zoe from the 20th on", later)
	id := recordResponse[*v1.SubscribeResponse](
		s.recording, s.adam, "The admin subscribes Zoe", subscribe(s.zoe.id, pack),
	).GetSubscription().GetId()
	s.record(s.adam, "The admin pauses it", &v1.PauseSubscriptionRequest{SubscriptionId: id, Reason: "Holidays."})
	s.record(s.adam, "The admin pauses it again", &v1.PauseSubscriptionRequest{SubscriptionId: id})
	s.record(s.adam, "The admin resumes it", &v1.ResumeSubscriptionRequest{SubscriptionId: id})
	s.record(s.adam, "The admin marks it in debt", &v1.MarkDebtRequest{SubscriptionId: id})
	s.recordError(
		s.adam, "The admin pauses what is in debt", "SUBSCRIPTION_STATE", &v1.PauseSubscriptionRequest{SubscriptionId: id},
	)
	s.record(
		s.adam, "The admin grants credits", &v1.GrantCreditsRequest{SubscriptionId: id, Amount: 3, Reason: "A present."},
	)
	s.record(
		s.adam, "The admin takes credits back",
		&v1.GrantCreditsRequest{SubscriptionId: id, Amount: -1, Reason: "By mistake."},
	)
	s.recordError(
		s.adam, "The admin takes too many back", "NO_CREDITS", &v1.GrantCreditsRequest{SubscriptionId: id, Amount: -50},
	)
	s.recordError(s.adam, "The admin grants nothing", "INVALID_FIELD", &v1.GrantCreditsRequest{SubscriptionId: id})
	s.record(s.adam, "The admin cancels it", &v1.CancelSubscriptionRequest{SubscriptionId: id})
	s.record(s.adam, "The admin cancels it again", &v1.CancelSubscriptionRequest{SubscriptionId: id})
	s.recordError(
		s.adam, "The admin resumes what is cancelled", "SUBSCRIPTION_STATE",
		&v1.ResumeSubscriptionRequest{SubscriptionId: id},
	)
	s.recordError(
		s.adam, "The admin grants credits to what is cancelled", "SUBSCRIPTION_STATE",
		&v1.GrantCreditsRequest{SubscriptionId: id, Amount: 1},
	)
	s.recordError(
		s.adam, "The admin pauses nothing", "SUBSCRIPTION_NOT_FOUND", &v1.PauseSubscriptionRequest{SubscriptionId: absentID},
	)
	s.record(s.zoe, "Zoe reads her balance", &v1.GetBalanceRequest{IncludeEnded: true})
	s.record(s.adam, "The admin reads Zoe's balance", &v1.GetBalanceRequest{MemberId: s.zoe.id})
	s.recordError(s.tom, "Tom reads Zoe's balance", "MEMBER_NOT_FOUND", &v1.GetBalanceRequest{MemberId: s.zoe.id})
	page := recordResponse[*v1.ListLedgerResponse](
		s.recording, s.zoe, "Zoe reads two lines of her ledger", &v1.ListLedgerRequest{SubscriptionId: id, PageSize: 2},
	)
	s.record(
		s.zoe, "Zoe reads the others",
		&v1.ListLedgerRequest{SubscriptionId: id, PageSize: 2, PageToken: page.GetNextPageToken()},
	)
	s.recordError(s.tom, "Tom reads Zoe's ledger", "SUBSCRIPTION_NOT_FOUND", &v1.ListLedgerRequest{SubscriptionId: id})
}

func recordRenewals(s *studio, monthly string) {
	s.startAt(on(5, "10:40"))
	s.subscribe(s.adam, monthly)
	s.book(s.adam, s.class("monthly", on(8, "20:00")))
	july := time.Date(2024, time.July, 8, 10, 0, 0, 0, berlin())
	s.startAt(july)
	s.waitForEvents("credits.changed", 1)
	s.record(s.adam, "The admin reads his new period", &v1.GetBalanceRequest{})
	s.startAt(july.AddDate(0, 1, 0))
	s.waitForEvents("subscription.changed", 1)
	s.record(s.adam, "The admin reads what has ended", &v1.GetBalanceRequest{IncludeEnded: true})
}
