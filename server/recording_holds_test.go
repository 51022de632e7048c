package main

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Holds, with payments, items and benefits, of members, guests and partners.
func holdsScript() script {
	return script{
		itemsScript(),
		providersScript(),
		memberHoldsScript(),
		partnerHoldsScript(),
		expiryScript(),
	}
}

func itemsScript() script {
	item := func(name string, stock int32) *v1.CreateItemRequest {
		return &v1.CreateItemRequest{LocationId: "$center", Item: &v1.ItemInput{
			Name:        name,
			Kind:        "thing",
			Stock:       stock,
			Price:       euros(3),
			UseDuration: durationpb.New(90 * time.Minute),
		}}
	}
	add := &v1.CreateItemRequest{LocationId: "$center", Item: &v1.ItemInput{Name: "mat"}}
	nowhere := with(add, &v1.CreateItemRequest{LocationId: absentID})
	return script{
		olga.calls("The owner adds mats", item("Mat", 3)).named("mat"),
		olga.calls("The owner adds lockers", item("Locker", 1)).named("locker"),
		olga.refused("The owner adds mats again", "ALREADY_EXISTS", add),
		olga.refused("The owner adds mats nowhere", "LOCATION_NOT_FOUND", nowhere),
		cora.refused("The coach adds an item", "PERMISSION_DENIED", nowhere),
		olga.calls("The owner has more mats", &v1.UpdateItemRequest{
			ItemId: "$mat", Item: &v1.ItemInput{Stock: 4, Price: euros(4)}, UpdateMask: paths("stock", "price"), Etag: "v1",
		}),
		olga.refused("The owner edits mats that have changed", "ETAG_MISMATCH", &v1.UpdateItemRequest{
			ItemId: "$mat", Item: &v1.ItemInput{Stock: 5}, UpdateMask: paths("stock"), Etag: "v1",
		}),
		olga.refused("The owner edits what is not there", "ITEM_NOT_FOUND",
			&v1.UpdateItemRequest{ItemId: absentID, Item: &v1.ItemInput{}, UpdateMask: paths("active")}),
		olga.calls("The owner takes lockers away",
			&v1.UpdateItemRequest{ItemId: "$locker", Item: &v1.ItemInput{Active: new(false)}, UpdateMask: paths("active")}),
		mia.calls("Mia reads an item", &v1.GetItemRequest{ItemId: "$locker"}),
		mia.refused("Mia reads no item", "ITEM_NOT_FOUND", &v1.GetItemRequest{ItemId: absentID}),
		mia.calls("Mia lists items", &v1.ListItemsRequest{Filter: &v1.ItemFilter{LocationId: "$center"}}),
		olga.calls("The owner lists the first item",
			&v1.ListItemsRequest{Filter: &v1.ItemFilter{Statuses: everyStatus()}, PageSize: 1}).as("first"),
		olga.calls("The owner lists the second item",
			&v1.ListItemsRequest{
				Filter: &v1.ItemFilter{Statuses: everyStatus()}, PageSize: 1, PageToken: "$first.nextPageToken",
			}),
	}
}

func providersScript() script {
	club := func(code, pattern string) *v1.CreateBenefitProviderRequest {
		return &v1.CreateBenefitProviderRequest{ProviderCode: code, Provider: &v1.BenefitProviderInput{
			Name: "The Club", NumberPattern: pattern, DiscountPercent: 10,
		}}
	}
	numbers := func(pattern, etag string) *v1.UpdateBenefitProviderRequest {
		return &v1.UpdateBenefitProviderRequest{
			ProviderCode: "CLUB", Provider: &v1.BenefitProviderInput{NumberPattern: pattern},
			UpdateMask: paths("number_pattern"), Etag: etag,
		}
	}
	return script{
		olga.calls("The owner accepts members of the Club", club("CLUB", "C-[0-9]{3}")),
		olga.refused("The owner accepts them again", "ALREADY_EXISTS", club("CLUB", "C-[0-9]{3}")),
		olga.refused("The owner accepts a club whose pattern is none", "INVALID_FIELD", club("OTHER", "C-[")),
		olga.calls("The owner has longer numbers", numbers("C-[0-9]{4}", "")),
		olga.calls("The owner changes nothing", numbers("C-[0-9]{4}", "v2")),
		olga.refused("The owner's pattern is none", "INVALID_FIELD", numbers("C-[", "")),
		olga.refused("The owner edits a provider that has changed", "ETAG_MISMATCH", numbers("C-[0-9]{5}", "v1")),
		olga.refused("The owner edits no benefit provider", "BENEFIT_PROVIDER_NOT_FOUND",
			with(numbers("C-[0-9]{5}", ""), &v1.UpdateBenefitProviderRequest{ProviderCode: "NONE"})),
		mia.calls("Mia reads a benefit provider", &v1.GetBenefitProviderRequest{ProviderCode: "CLUB"}),
		olga.calls("The owner reads its pattern", &v1.GetBenefitProviderRequest{ProviderCode: "CLUB"}),
		mia.refused("Mia reads no benefit provider", "BENEFIT_PROVIDER_NOT_FOUND",
			&v1.GetBenefitProviderRequest{ProviderCode: "NONE"}),
		mia.calls("Mia lists benefit providers", &v1.ListBenefitProvidersRequest{}),
		olga.calls("The Club lists its numbers", &v1.UpdateBenefitProviderRequest{
			ProviderCode: "CLUB", UpdateMask: paths("verification"), Provider: &v1.BenefitProviderInput{
				Verification: v1.BenefitVerification_BENEFIT_VERIFICATION_LIST,
			},
		}),
		olga.calls("The owner adds numbers", &v1.UpdateBenefitNumbersRequest{
			ProviderCode: "CLUB", Add: []string{"C-1234", "c 1234", "C-9999"},
		}),
		olga.calls("The owner replaces them", &v1.UpdateBenefitNumbersRequest{
			ProviderCode: "CLUB", Add: []string{"C-1234"}, Replace: true,
		}),
		olga.refused("The owner adds what is no number", "INVALID_FIELD", &v1.UpdateBenefitNumbersRequest{
			ProviderCode: "CLUB", Add: []string{"-"},
		}),
		olga.refused("The owner adds numbers of another club", "BENEFIT_PROVIDER_NOT_FOUND",
			&v1.UpdateBenefitNumbersRequest{ProviderCode: "NONE", Add: []string{"C-1234"}}),
		mia.refused("Mia adds her number", "PERMISSION_DENIED",
			&v1.UpdateBenefitNumbersRequest{ProviderCode: "CLUB", Add: []string{"C-0001"}}),
	}
}

// membershipsScript records that one number serves one member. It belongs to Mia.
func membershipsScript() script {
	confirm := &v1.ConfirmBookingRequest{
		BookingId: "$toms.booking.id", BenefitProviderCode: "CLUB", BenefitMembershipNumber: "C-1234",
	}
	end := &v1.DeleteBenefitMembershipRequest{ProviderCode: "CLUB", MemberId: "$mia"}
	return script{
		tom.refused("Tom has Mia's number", "BENEFIT_INVALID", confirm),
		cora.refused("The coach tries it for Tom", "BENEFIT_IN_USE", confirm),
		cora.calls("The coach looks who uses it", &v1.ListBenefitMembershipsRequest{
			ProviderCode: "CLUB", Filter: &v1.BenefitMembershipFilter{MembershipNumber: "c1234", Verified: new(true)},
		}),
		tom.refused("Tom looks who uses it", "PERMISSION_DENIED", &v1.ListBenefitMembershipsRequest{ProviderCode: "CLUB"}),
		tom.refused("Tom ends Mia's use", "PERMISSION_DENIED", end),
		olga.calls("The owner ends Mia's use", end),
		olga.calls("The owner ends it again", end),
		cora.calls("The coach looks again", &v1.ListBenefitMembershipsRequest{ProviderCode: "CLUB"}),
	}
}

func memberHoldsScript() script {
	mats := func(item string, n int32) []*v1.ItemChoice {
		return []*v1.ItemChoice{{ItemId: item, Quantity: n}}
	}
	paid := func(kind v1.PaymentLineKind) *v1.PaymentFacts {
		return &v1.PaymentFacts{Amount: euros(20), Method: "card", Reference: "tx-1", Kind: kind}
	}
	captured := paid(v1.PaymentLineKind_PAYMENT_LINE_KIND_CAPTURE)
	confirm := func(payment *v1.PaymentFacts, items ...string) *v1.ConfirmBookingRequest {
		return &v1.ConfirmBookingRequest{
			BookingId: "$held.booking.id", Payment: payment, BenefitProviderCode: "CLUB", BenefitMembershipNumber: "C-1234",
			Items: &v1.ItemSelection{BookingItemIds: items},
		}
	}
	withoutItems := &v1.ConfirmBookingRequest{
		BookingId: "$held.booking.id", Payment: paid(v1.PaymentLineKind_PAYMENT_LINE_KIND_AUTHORIZATION),
		BenefitProviderCode: "CLUB", BenefitMembershipNumber: "C-123",
	}
	refund := func(amount int64) *v1.RefundPaymentRequest {
		return &v1.RefundPaymentRequest{
			BookingId: "$held.booking.id", Amount: euros(amount), Method: "card", Reference: "R-1",
		}
	}
	return script{
		clock(on(5, "10:10")),
		class("evening", on(7, "18:00"), capacity(4)),
		mia.calls("Mia holds two seats with mats", &v1.HoldBookingRequest{
			SessionId: "$evening", PartySize: new(int32(2)), Items: mats("$mat", 3), Note: "With a friend.",
		}).as("held"),
		mia.refused("Mia holds twice", "ALREADY_BOOKED", &v1.HoldBookingRequest{SessionId: "$evening"}),
		tom.refused("Tom wants too many mats", "ITEM_UNAVAILABLE",
			&v1.HoldBookingRequest{SessionId: "$evening", Items: mats("$mat", 2)}),
		tom.refused("Tom wants a locker", "ITEM_UNAVAILABLE",
			&v1.HoldBookingRequest{SessionId: "$evening", Items: mats("$locker", 1)}),
		tom.refused("Tom wants what is not there", "ITEM_UNAVAILABLE",
			&v1.HoldBookingRequest{SessionId: "$evening", Items: mats(absentID, 1)}),
		tom.refused("Tom has a guest's tier", "INVALID_FIELD",
			&v1.HoldBookingRequest{SessionId: "$evening", GuestTier: "visitor"}),
		tom.calls("Tom holds", &v1.HoldBookingRequest{SessionId: "$evening"}).as("toms"),
		tom.refused("Tom confirms Mia's hold", "BOOKING_NOT_FOUND",
			&v1.ConfirmBookingRequest{BookingId: "$held.booking.id"}),
		mia.refused("Mia reports her own payment", "PERMISSION_DENIED", withoutItems),
		cora.refused("Mia's membership number is wrong", "BENEFIT_INVALID", withoutItems),
		cora.refused("Mia keeps what she has not", "INVALID_FIELD",
			confirm(paid(v1.PaymentLineKind_PAYMENT_LINE_KIND_AUTHORIZATION), absentID)),
		cora.calls("The coach confirms Mia with payment",
			confirm(paid(v1.PaymentLineKind_PAYMENT_LINE_KIND_AUTHORIZATION), "$held.booking.items.0.id")),
		membershipsScript(),
		cora.calls("The coach confirms again", confirm(captured, "$held.booking.items.0.id")),
		cora.calls("The coach records the same facts", &v1.RecordPaymentRequest{
			BookingId: "$held.booking.id", Payment: captured,
		}),
		mia.refused("Mia releases what is confirmed", "BOOKING_STATE",
			&v1.ReleaseHoldRequest{BookingId: "$held.booking.id"}),
		tom.calls("Tom releases", &v1.ReleaseHoldRequest{BookingId: "$toms.booking.id"}),
		tom.calls("Tom releases again", &v1.ReleaseHoldRequest{BookingId: "$toms.booking.id"}),
		tom.refused("Tom confirms what he released", "BOOKING_STATE",
			&v1.ConfirmBookingRequest{BookingId: "$toms.booking.id"}),
		mia.calls("Mia cancels what was paid", &v1.CancelBookingRequest{BookingId: "$held.booking.id"}),
		portal.refused("The partner records for Mia's booking", "BOOKING_NOT_FOUND",
			&v1.RecordPaymentRequest{BookingId: "$held.booking.id", Payment: captured}),
		cora.refused("The coach refunds", "PERMISSION_DENIED", refund(21)),
		olga.refused("The owner refunds too much", "REFUND_EXCEEDS_CAPTURED", refund(21)),
		olga.calls("The owner refunds", refund(20)),
		olga.calls("The owner refunds again", refund(20)),
		mia.calls("Mia reads her payment", &v1.ListPaymentLinesRequest{BookingId: "$held.booking.id"}),
		noah.calls("Noah holds with a mat",
			&v1.HoldBookingRequest{SessionId: "$evening", Items: mats("$mat", 1)}).as("plain"),
		noah.calls("Noah confirms without payment and mat",
			&v1.ConfirmBookingRequest{BookingId: "$plain.booking.id", Items: &v1.ItemSelection{}}),
	}
}

func partnerHoldsScript() script {
	hold := &v1.HoldBookingRequest{
		SessionId: "$morning", ExternalRef: "portal-1", GuestTier: "visitor",
		Contact: &v1.BookingContact{Name: "Greta Guest", Email: "greta@example.com", Phone: "+49 151 1234567"},
	}
	return script{
		clock(on(5, "10:20")),
		class("morning", on(8, "08:00"), waitlistCapacity(0)),
		class("next", on(9, "08:00")),
		portal.calls("The partner holds for a guest", hold).as("guests"),
		portal.calls("The partner holds for the guest again", hold),
		portal.refused("The partner holds for a guest without a name", "INVALID_FIELD",
			&v1.HoldBookingRequest{SessionId: "$morning", Contact: &v1.BookingContact{Email: "x@example.com"}}),
		mia.refused("Mia holds for Tom", "PERMISSION_DENIED",
			&v1.HoldBookingRequest{SessionId: "$morning", MemberId: "$tom"}),
		portal.calls("The partner holds for Tom",
			&v1.HoldBookingRequest{SessionId: "$morning", MemberId: "$tom"}).as("toms"),
		lena.refused("Lena finds no seat to hold", "SESSION_FULL", &v1.HoldBookingRequest{SessionId: "$morning"}),
		lena.calls("Lena sees held seats", &v1.GetSessionRequest{SessionId: "$morning"}),
		portal.calls("The partner confirms the guest",
			&v1.ConfirmBookingRequest{BookingId: "$guests.booking.id", Payment: &v1.PaymentFacts{Amount: euros(12)}}),
		portal.calls("The partner reads the guest's booking", &v1.GetBookingRequest{BookingId: "$guests.booking.id"}),
		portal.calls("The partner lists its bookings", &v1.ListBookingsRequest{}),
		portal.calls("The partner moves the guest",
			&v1.RescheduleBookingRequest{BookingId: "$guests.booking.id", SessionId: "$next"}),
		portal.calls("The partner cancels the guest",
			&v1.CancelBookingRequest{BookingId: "$guests.booking.id", Reason: "Rain."}),
		cora.calls("The coach releases Tom's hold", &v1.ReleaseHoldRequest{BookingId: "$toms.booking.id"}),
		portal.refused("The partner confirms what is not there", "BOOKING_NOT_FOUND",
			&v1.ConfirmBookingRequest{BookingId: absentID}),
	}
}

func expiryScript() script {
	return script{
		clock(on(5, "10:30")),
		class("noon", on(8, "12:00"), capacity(1)),
		mia.calls("Mia holds the last seat", &v1.HoldBookingRequest{SessionId: "$noon"}).as("held"),
		tom.calls("Tom waits for the held seat", &v1.BookRequest{SessionId: "$noon"}),
		clock(on(5, "10:45")),
		occurred("booking.expired", 1),
		mia.refused("Mia confirms too late", "HOLD_EXPIRED", &v1.ConfirmBookingRequest{BookingId: "$held.booking.id"}),
		mia.calls("Mia releases too late", &v1.ReleaseHoldRequest{BookingId: "$held.booking.id"}),
		mia.calls("Mia reads her expired hold", &v1.GetBookingRequest{BookingId: "$held.booking.id"}),
		cora.calls(
			"The coach reads who got the seat",
			&v1.GetSessionRosterRequest{SessionId: "$noon", Statuses: allStatuses},
		),
	}
}
