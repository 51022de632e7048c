package main

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Plans, subscriptions, and the charges and refunds of bookings.
func creditsScript() script {
	return script{
		plansScript(),
		payersScript(),
		refundsScript(),
		subscriptionsScript(),
		renewalsScript(),
		planImportsScript(),
	}
}

// planImportsScript imports the plans that members have in another program.
func planImportsScript() script {
	file := func(text string) *v1.ImportSubscriptionsRequest {
		return &v1.ImportSubscriptionsRequest{Csv: []byte(text)}
	}
	good := file("Client,Membership,Visits remaining,Next billing date\n" +
		"Zoe Member,Pack,3,\nZoe Member,Monthly,2,2024-12-01\n")
	return script{
		adam.calls("The admin tries a file of plans", with(good, &v1.ImportSubscriptionsRequest{DryRun: true})).as("tried"),
		adam.calls("The admin reads what it adds up to", &v1.GetImportRequest{ImportId: "$tried.fileImport.id"}),
		adam.calls("The admin imports the plans", good).as("imported"),
		adam.calls("The admin reads that they were imported", &v1.GetImportRequest{ImportId: "$imported.fileImport.id"}),
		adam.calls("The admin sees the plans of Zoe", &v1.GetBalanceRequest{MemberId: "$zoe"}),
		adam.calls("The admin imports the plans again", good).as("again"),
		adam.calls("The admin reads that Zoe has them", &v1.GetImportRequest{ImportId: "$again.fileImport.id"}),
		adam.calls("The admin imports plans that cannot be", file("Client,plan,balance,end\nNobody,Pack,3,\n"+
			"Zoe Member,Gold,3,\nZoe Member,Pack,,2024-01-01\nAdam Staff,Pack,1,\n")).as("wrong"),
		adam.calls("The admin reads what is wrong with them", &v1.GetImportRequest{ImportId: "$wrong.fileImport.id"}),
		cora.refused("The coach imports plans", "PERMISSION_DENIED", good),
	}
}

func plan(in *v1.PlanInput) *v1.CreatePlanRequest { return &v1.CreatePlanRequest{Plan: in} }

func plansScript() script {
	create := plan(&v1.PlanInput{Name: "pack", Kind: v1.PlanKind_PLAN_KIND_UNLIMITED})
	edit := &v1.UpdatePlanRequest{
		PlanId: "$course", Plan: &v1.PlanInput{Name: "Long course", Active: new(true)}, UpdateMask: paths("name", "active"),
		Etag: "v1",
	}
	return script{
		adam.calls("The admin sells packs", plan(&v1.PlanInput{
			Name: "Pack", Description: "Two classes.", Kind: v1.PlanKind_PLAN_KIND_CREDITS, Credits: 2, Price: euros(25),
			AllowOverlap: true,
		})).named("pack"),
		adam.calls("The admin sells four a month for 60 days", plan(&v1.PlanInput{
			Name: "Monthly", Kind: v1.PlanKind_PLAN_KIND_CREDITS, Credits: 4, Period: days(30), Term: days(60),
		})).named("monthly"),
		adam.calls("The admin sells one a day, two a week", plan(&v1.PlanInput{
			Name: "Limited", Kind: v1.PlanKind_PLAN_KIND_UNLIMITED, DailyLimit: new(int32(1)), WeeklyLimit: new(int32(2)),
		})).named("limited"),
		adam.calls("The admin has a course",
			plan(&v1.PlanInput{Name: "Course", Kind: v1.PlanKind_PLAN_KIND_COURSE, Active: new(false)})).named("course"),
		adam.refused("The admin sells packs again", "ALREADY_EXISTS", create),
		cora.refused("The coach sells packs", "PERMISSION_DENIED", create),
		adam.refused("The admin sells no credits", "INVALID_FIELD",
			plan(&v1.PlanInput{Name: "Empty", Kind: v1.PlanKind_PLAN_KIND_CREDITS})),
		adam.refused("The admin sells unlimited credits", "INVALID_FIELD",
			plan(&v1.PlanInput{Name: "Endless", Kind: v1.PlanKind_PLAN_KIND_UNLIMITED, Credits: 5})),
		adam.refused("The admin sells by the month", "INVALID_FIELD", plan(&v1.PlanInput{
			Name: "Calendar", Kind: v1.PlanKind_PLAN_KIND_CREDITS, Credits: 4,
			Period: &v1.PlanLength{Length: &v1.PlanLength_Months{Months: 1}},
		})),
		adam.calls("The admin edits the course", edit),
		adam.refused("The admin edits a course that has changed", "ETAG_MISMATCH", edit),
		adam.refused("The admin edits no plan", "PLAN_NOT_FOUND",
			&v1.UpdatePlanRequest{PlanId: absentID, Plan: &v1.PlanInput{}, UpdateMask: paths("active")}),
		mia.calls("Mia reads a plan", &v1.GetPlanRequest{PlanId: "$course"}),
		mia.refused("Mia reads no plan", "PLAN_NOT_FOUND", &v1.GetPlanRequest{PlanId: absentID}),
		mia.calls("Mia lists one plan", &v1.ListPlansRequest{PageSize: 1}).as("page"),
		mia.calls("Mia lists the next plan", &v1.ListPlansRequest{PageSize: 1, PageToken: "$page.nextPageToken"}),
		adam.calls("The admin lists all plans", &v1.ListPlansRequest{Filter: &v1.PlanFilter{Statuses: everyStatus()}}),
	}
}

func subscribe(member, plan string) exchange {
	return olga.silently(&v1.CreateSubscriptionRequest{
		MemberId: member, Subscription: &v1.SubscriptionInput{PlanId: plan},
	})
}

func payersScript() script {
	return script{
		clock(on(5, "10:10")),
		olga.silently(
			&v1.UpdateTenantRequest{Tenant: &v1.TenantInput{TakesPayments: true}, UpdateMask: paths("takes_payments")},
		),
		class("evening", on(7, "18:00"), capacity(8)),
		class("beside", on(7, "18:30"), capacity(8)),
		class("sameDay", on(7, "20:00"), capacity(8)),
		class("saturday", on(8, "18:00"), capacity(8)),
		class("sunday", on(9, "18:00"), capacity(8)),
		class("monday", on(10, "18:00"), capacity(8)),
		mia.refused("Mia has no plan", "NO_ACTIVE_PLAN", &v1.BookRequest{SessionId: "$evening"}),
		mia.calls("Mia sees that she needs one", &v1.GetSessionRequest{SessionId: "$evening"}),
		adam.calls("The admin subscribes Mia to a pack",
			&v1.CreateSubscriptionRequest{
				MemberId: "$mia", Subscription: &v1.SubscriptionInput{PlanId: "$pack"}, Reason: "Paid in cash.",
			}),
		mia.calls("Mia books on her pack", &v1.BookRequest{SessionId: "$evening"}),
		mia.refused(
			"Mia has too few credits for two",
			"NO_CREDITS",
			&v1.BookRequest{SessionId: "$saturday", PartySize: new(int32(2))},
		),
		mia.calls("Mia spends her last credit on what overlaps", &v1.BookRequest{SessionId: "$beside"}),
		mia.refused("Mia has no credits left", "NO_CREDITS", &v1.BookRequest{SessionId: "$saturday"}),
		subscribe("$tom", "$limited").as("toms"),
		tom.calls("Tom books without credits", &v1.BookRequest{SessionId: "$evening"}),
		tom.refused("Tom books what overlaps on a full day", "DAILY_LIMIT", &v1.BookRequest{SessionId: "$beside"}),
		tom.refused("Tom books twice a day", "DAILY_LIMIT", &v1.BookRequest{SessionId: "$sameDay"}),
		tom.calls("Tom books on Saturday", &v1.BookRequest{SessionId: "$saturday"}),
		tom.refused("Tom books three times a week", "WEEKLY_LIMIT", &v1.BookRequest{SessionId: "$sunday"}),
		tom.calls("Tom books next week", &v1.BookRequest{SessionId: "$monday"}),
		adam.calls("The admin lifts Tom's limit a day",
			&v1.UpdatePlanRequest{PlanId: "$limited", Plan: &v1.PlanInput{}, UpdateMask: paths("daily_limit", "weekly_limit")}),
		tom.refused("Tom books what overlaps", "OVERLAP", &v1.BookRequest{SessionId: "$beside"}),
		tom.calls("Tom books later that day", &v1.BookRequest{SessionId: "$sameDay"}),
		subscribe("$lena", "$pack").as("lenas"),
		subscribe("$lena", "$limited").as("second"),
		lena.refused("Lena has two plans", "PLAN_CHOICE_REQUIRED", &v1.BookRequest{SessionId: "$evening"}),
		lena.calls("Lena names one", &v1.BookRequest{SessionId: "$evening", SubscriptionId: "$lenas.subscription.id"}),
		lena.refused("Lena names Tom's", "SUBSCRIPTION_NOT_FOUND",
			&v1.BookRequest{SessionId: "$saturday", SubscriptionId: "$toms.subscription.id"}),
		adam.calls("The admin notes a debt of Lena's",
			&v1.MarkSubscriptionInDebtRequest{SubscriptionId: "$second.subscription.id", Reason: "Unpaid."}),
		lena.refused("Lena names one in debt", "OUTSTANDING_BALANCE",
			&v1.BookRequest{SessionId: "$saturday", SubscriptionId: "$second.subscription.id"}),
		cora.calls("The coach books for Zoe, who has no plan", &v1.BookRequest{SessionId: "$evening", MemberId: "$zoe"}),
		mia.calls("Mia lists what she may book", &v1.ListSessionsRequest{Filter: &v1.SessionFilter{StartsWithin: week()}}),
	}
}

func refundsScript() script {
	return script{
		clock(on(5, "10:20")),
		subscribe("$noah", "$pack"),
		class("early", on(11, "18:00")),
		class("late", on(6, "09:00")),
		noah.books("$early").as("kept"),
		noah.books("$late").as("lost"),
		noah.calls("Noah cancels in time", &v1.CancelBookingRequest{BookingId: "$kept.booking.id"}),
		adam.calls("The admin cancels for Noah too late",
			&v1.CancelBookingRequest{BookingId: "$lost.booking.id", OverrideWindow: true}),
		noah.calls("Noah reads his balance", &v1.GetBalanceRequest{}),
		cora.refused("The coach refunds", "PERMISSION_DENIED", &v1.RefundCreditRequest{BookingId: "$lost.booking.id"}),
		adam.calls("The admin refunds", &v1.RefundCreditRequest{BookingId: "$lost.booking.id", Reason: "He was ill."}),
		adam.refused("The admin refunds again", "NOTHING_TO_REFUND",
			&v1.RefundCreditRequest{BookingId: "$lost.booking.id"}),
		adam.refused("The admin refunds nothing", "BOOKING_NOT_FOUND", &v1.RefundCreditRequest{BookingId: absentID}),
		noah.books("$early").as("paid"),
		class("moved", on(12, "18:00")),
		noah.calls("Noah moves a booking that he paid for",
			&v1.RescheduleBookingRequest{BookingId: "$paid.booking.id", SessionId: "$moved"}),
		noah.calls("Noah holds", &v1.HoldBookingRequest{SessionId: "$early"}).as("held"),
		noah.calls("Noah confirms with a credit", &v1.ConfirmBookingRequest{BookingId: "$held.booking.id"}),
		adam.calls("The admin cancels the session that was paid for", &v1.CancelSessionRequest{SessionId: "$early"}),
	}
}

func subscriptionsScript() script {
	subscribe := func(member, plan string) *v1.CreateSubscriptionRequest {
		return &v1.CreateSubscriptionRequest{MemberId: member, Subscription: &v1.SubscriptionInput{PlanId: plan}}
	}
	later := with(
		subscribe("$zoe", "$limited"), &v1.CreateSubscriptionRequest{
			Subscription: &v1.SubscriptionInput{
				StartTime: timestamppb.New(on(20, "00:00")), EndTime: timestamppb.New(on(20, "00:00").AddDate(0, 1, 0)),
			},
		},
	)
	past := with(
		subscribe("$zoe", "$limited"), &v1.CreateSubscriptionRequest{
			Subscription: &v1.SubscriptionInput{EndTime: timestamppb.New(on(1, "00:00"))},
		},
	)
	endAt := func(at time.Time) *v1.UpdateSubscriptionRequest {
		return &v1.UpdateSubscriptionRequest{
			SubscriptionId: "$id.subscription.id", Subscription: &v1.SubscriptionInput{EndTime: timestamppb.New(at)},
			UpdateMask: paths("end_time"),
		}
	}
	moved := with(endAt(on(25, "23:59")), &v1.UpdateSubscriptionRequest{Etag: "v1", Reason: "Closed for a week."})
	return script{
		clock(on(5, "10:30")),
		adam.refused("The admin subscribes an unknown member", "MEMBER_NOT_FOUND", subscribe(absentID, "$pack")),
		adam.refused("The admin subscribes Zoe to nothing", "PLAN_NOT_FOUND", subscribe("$zoe", absentID)),
		cora.refused("The coach subscribes Zoe", "PERMISSION_DENIED", subscribe("$zoe", "$pack")),
		adam.refused("The admin subscribes Zoe until last week", "INVALID_FIELD", past),
		adam.calls("The admin subscribes Zoe from the 20th on, for a month", later),
		adam.calls("The admin subscribes Zoe", subscribe("$zoe", "$pack")).as("id"),
		adam.calls("The admin moves its end", moved),
		adam.refused("The admin moves the end of what has changed", "ETAG_MISMATCH", moved),
		adam.refused("The admin ends it in the past", "INVALID_FIELD", endAt(on(1, "10:00"))),
		zoe.calls("Zoe reads it", &v1.GetSubscriptionRequest{SubscriptionId: "$id.subscription.id"}),
		tom.refused("Tom reads it", "SUBSCRIPTION_NOT_FOUND",
			&v1.GetSubscriptionRequest{SubscriptionId: "$id.subscription.id"}),
		zoe.calls("Zoe lists hers", &v1.ListSubscriptionsRequest{}),
		zoe.refused("Zoe lists all", "PERMISSION_DENIED",
			&v1.ListSubscriptionsRequest{Scope: v1.ListScope_LIST_SCOPE_ALL}),
		adam.calls("The admin lists Zoe's that end soon", &v1.ListSubscriptionsRequest{
			Scope: v1.ListScope_LIST_SCOPE_ALL, Filter: &v1.SubscriptionFilter{
				MemberId: "$zoe", EndsWithin: timeRange(on(1, "00:00"), 27*24*time.Hour),
			},
		}),
		adam.calls("The admin pauses it",
			&v1.PauseSubscriptionRequest{SubscriptionId: "$id.subscription.id", Reason: "Holidays."}),
		adam.calls("The admin pauses it again", &v1.PauseSubscriptionRequest{SubscriptionId: "$id.subscription.id"}),
		adam.calls("The admin resumes it", &v1.ResumeSubscriptionRequest{SubscriptionId: "$id.subscription.id"}),
		adam.calls("The admin marks it in debt", &v1.MarkSubscriptionInDebtRequest{SubscriptionId: "$id.subscription.id"}),
		adam.refused("The admin pauses what is in debt", "SUBSCRIPTION_STATE",
			&v1.PauseSubscriptionRequest{SubscriptionId: "$id.subscription.id"}),
		adam.calls("The admin grants credits",
			&v1.GrantCreditsRequest{SubscriptionId: "$id.subscription.id", Amount: 3, Reason: "A present."}),
		adam.calls("The admin takes credits back",
			&v1.GrantCreditsRequest{SubscriptionId: "$id.subscription.id", Amount: -1, Reason: "By mistake."}),
		adam.refused("The admin takes too many back", "NO_CREDITS",
			&v1.GrantCreditsRequest{SubscriptionId: "$id.subscription.id", Amount: -50}),
		adam.refused("The admin grants nothing", "INVALID_FIELD",
			&v1.GrantCreditsRequest{SubscriptionId: "$id.subscription.id"}),
		adam.calls("The admin cancels it", &v1.CancelSubscriptionRequest{SubscriptionId: "$id.subscription.id"}),
		adam.calls("The admin cancels it again", &v1.CancelSubscriptionRequest{SubscriptionId: "$id.subscription.id"}),
		adam.refused("The admin resumes what is cancelled", "SUBSCRIPTION_STATE",
			&v1.ResumeSubscriptionRequest{SubscriptionId: "$id.subscription.id"}),
		adam.refused("The admin grants credits to what is cancelled", "SUBSCRIPTION_STATE",
			&v1.GrantCreditsRequest{SubscriptionId: "$id.subscription.id", Amount: 1}),
		adam.refused("The admin pauses nothing", "SUBSCRIPTION_NOT_FOUND",
			&v1.PauseSubscriptionRequest{SubscriptionId: absentID}),
		zoe.calls("Zoe reads her balance", &v1.GetBalanceRequest{Statuses: everySubscriptionStatus()}),
		adam.calls("The admin reads Zoe's balance", &v1.GetBalanceRequest{MemberId: "$zoe"}),
		tom.refused("Tom reads Zoe's balance", "MEMBER_NOT_FOUND", &v1.GetBalanceRequest{MemberId: "$zoe"}),
		zoe.calls("Zoe reads two lines of her ledger",
			&v1.ListCreditLinesRequest{SubscriptionId: "$id.subscription.id", PageSize: 2}).as("page"),
		zoe.calls("Zoe reads the others",
			&v1.ListCreditLinesRequest{SubscriptionId: "$id.subscription.id", PageSize: 2, PageToken: "$page.nextPageToken"}),
		tom.refused("Tom reads Zoe's ledger", "SUBSCRIPTION_NOT_FOUND",
			&v1.ListCreditLinesRequest{SubscriptionId: "$id.subscription.id"}),
	}
}

// everySubscriptionStatus selects the subscriptions that have ended, too.
func everySubscriptionStatus() []v1.SubscriptionStatus {
	return []v1.SubscriptionStatus{
		v1.SubscriptionStatus_SUBSCRIPTION_STATUS_ACTIVE, v1.SubscriptionStatus_SUBSCRIPTION_STATUS_PAUSED,
		v1.SubscriptionStatus_SUBSCRIPTION_STATUS_DEBT, v1.SubscriptionStatus_SUBSCRIPTION_STATUS_EXPIRED,
		v1.SubscriptionStatus_SUBSCRIPTION_STATUS_CANCELLED,
	}
}

func renewalsScript() script {
	july := time.Date(2024, time.July, 8, 10, 0, 0, 0, berlin())
	return script{
		clock(on(5, "10:40")),
		subscribe("$adam", "$monthly"),
		class("monthly", on(8, "20:00")),
		adam.books("$monthly"),
		clock(july),
		occurred("credits.changed", 1),
		adam.calls("The admin reads his new period", &v1.GetBalanceRequest{}),
		clock(july.AddDate(0, 1, 0)),
		occurred("subscription.changed", 1),
		adam.calls("The admin reads what has ended", &v1.GetBalanceRequest{Statuses: everySubscriptionStatus()}),
	}
}
