package main

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Holds, with payments, items and benefits, of members, guests and partners.
func recordHolds(s *studio) {
	mat, soldOut := recordItems(s)
	recordProviders(s)
	recordMemberHolds(s, mat, soldOut)
	recordPartnerHolds(s)
	recordExpiry(s)
}

func recordItems(s *studio) (mat, soldOut string) {
	create := func(title, name string, stock int32) string {
		return recordResponse[*v1.CreateItemResponse](s.recording, s.olga, title, &v1.CreateItemRequest{LocationId: s.center,
			Item: &v1.ItemInput{
				Name: name, Kind: "thing", Stock: stock, Price: euros(3), TimeOut: durationpb.New(90 * time.Minute), Active: true,
			}}).GetItem().GetId()
	}
	mat = create("The owner adds mats", "Mat", 3)
	s.names.set(mat, "mat")
	locker := create("The owner adds lockers", "Locker", 1)
	s.names.set(locker, "locker")
	add := &v1.CreateItemRequest{LocationId: s.center, Item: &v1.ItemInput{Name: "mat"}}
	s.recordError(s.olga, "The owner adds mats again", "ALREADY_EXISTS", add)
	add.LocationId = absentID
	s.recordError(s.olga, "The owner adds mats nowhere", "LOCATION_NOT_FOUND", add)
	s.recordError(s.cora, "The coach adds an item", "PERMISSION_DENIED", add)
	s.record(s.olga, "The owner has more mats", &v1.UpdateItemRequest{
		ItemId: mat, Item: &v1.ItemInput{Stock: 4, Price: euros(4)}, UpdateMask: paths("stock", "price"), Etag: "v1",
	})
	s.recordError(s.olga, "The owner edits mats that have changed", "ETAG_MISMATCH", &v1.UpdateItemRequest{
		ItemId: mat, Item: &v1.ItemInput{Stock: 5}, UpdateMask: paths("stock"), Etag: "v1",
	})
	s.recordError(s.olga, "The owner edits what is not there", "ITEM_NOT_FOUND",
		&v1.UpdateItemRequest{ItemId: absentID, Item: &v1.ItemInput{}, UpdateMask: paths("active")})
	s.record(
		s.olga, "The owner takes lockers away",
		&v1.UpdateItemRequest{ItemId: locker, Item: &v1.ItemInput{}, UpdateMask: paths("active")},
	)
	s.record(s.mia, "Mia lists items", &v1.ListItemsRequest{LocationId: s.center})
	first := recordResponse[*v1.ListItemsResponse](
		s.recording, s.olga, "The owner lists the first item", &v1.ListItemsRequest{IncludeInactive: true, PageSize: 1},
	)
	s.record(
		s.olga, "The owner lists the second item",
		&v1.ListItemsRequest{IncludeInactive: true, PageSize: 1, PageToken: first.GetNextPageToken()},
	)
	return mat, locker
}

func recordProviders(s *studio) {
	club := func(pattern string) *v1.BenefitProvider {
		return &v1.BenefitProvider{Code: "CLUB", Name: "The Club", NumberPattern: pattern, DiscountPercent: 10, Active: true}
	}
	s.record(
		s.olga, "The owner accepts members of the Club",
		&v1.PutBenefitProviderRequest{Provider: club("C-[0-9]{3}"), CreateOnly: true},
	)
	s.recordError(
		s.olga, "The owner accepts them again", "ALREADY_EXISTS",
		&v1.PutBenefitProviderRequest{Provider: club("C-[0-9]{3}"), CreateOnly: true},
	)
	s.record(s.olga, "The owner has longer numbers", &v1.PutBenefitProviderRequest{Provider: club("C-[0-9]{4}")})
	s.record(s.olga, "The owner changes nothing", &v1.PutBenefitProviderRequest{Provider: club("C-[0-9]{4}")})
	s.recordError(
		s.olga, "The owner's pattern is none", "INVALID_FIELD", &v1.PutBenefitProviderRequest{Provider: club("C-[")},
	)
	stale := club("C-[0-9]{5}")
	stale.Etag = "v1"
	s.recordError(
		s.olga, "The owner edits a provider that has changed", "ETAG_MISMATCH",
		&v1.PutBenefitProviderRequest{Provider: stale},
	)
	s.record(s.mia, "Mia lists benefit providers", &v1.ListBenefitProvidersRequest{})
	listed := club("C-[0-9]{4}")
	listed.Verification = v1.BenefitVerification_BENEFIT_VERIFICATION_LIST
	s.record(s.olga, "The Club lists its numbers", &v1.PutBenefitProviderRequest{Provider: listed})
	s.record(s.olga, "The owner adds numbers", &v1.UpdateBenefitNumbersRequest{
		ProviderCode: "CLUB", Add: []string{"C-1234", "c 1234", "C-9999"},
	})
	s.record(s.olga, "The owner replaces them", &v1.UpdateBenefitNumbersRequest{
		ProviderCode: "CLUB", Add: []string{"C-1234"}, Replace: true,
	})
	s.recordError(s.olga, "The owner adds what is no number", "INVALID_FIELD", &v1.UpdateBenefitNumbersRequest{
		ProviderCode: "CLUB", Add: []string{"-"},
	})
	s.recordError(
		s.olga, "The owner adds numbers of another club", "BENEFIT_PROVIDER_NOT_FOUND",
		&v1.UpdateBenefitNumbersRequest{ProviderCode: "NONE", Add: []string{"C-1234"}},
	)
	s.recordError(
		s.mia, "Mia adds her number", "PERMISSION_DENIED",
		&v1.UpdateBenefitNumbersRequest{ProviderCode: "CLUB", Add: []string{"C-0001"}},
	)
}

// recordMemberships records that one number serves one member. It belongs to Mia.
func recordMemberships(s *studio, toms string) {
	confirm := &v1.ConfirmBookingRequest{
		BookingId: toms, BenefitProviderCode: "CLUB", BenefitMembershipNumber: "C-1234",
	}
	s.recordError(s.tom, "Tom has Mia's number", "BENEFIT_INVALID", confirm)
	s.recordError(s.cora, "The coach tries it for Tom", "BENEFIT_IN_USE", confirm)
	s.record(s.cora, "The coach looks who uses it", &v1.ListBenefitMembershipsRequest{
		ProviderCode: "CLUB", MembershipNumber: "c1234",
	})
	s.recordError(
		s.tom, "Tom looks who uses it", "PERMISSION_DENIED", &v1.ListBenefitMembershipsRequest{ProviderCode: "CLUB"},
	)
	end := &v1.DeleteBenefitMembershipRequest{ProviderCode: "CLUB", MemberId: s.mia.id}
	s.recordError(s.tom, "Tom ends Mia's use", "PERMISSION_DENIED", end)
	s.record(s.olga, "The owner ends Mia's use", end)
	s.record(s.olga, "The owner ends it again", end)
	s.record(s.cora, "The coach looks again", &v1.ListBenefitMembershipsRequest{ProviderCode: "CLUB"})
}

func recordMemberHolds(s *studio, mat, soldOut string) {
	s.startAt(on(5, "10:10"))
	evening := s.class("evening", on(7, "18:00"), capacity(4))
	mats := func(item string, n int32) []*v1.ItemChoice {
		return []*v1.ItemChoice{{ItemId: item, Quantity: n}}
	}
	held := recordResponse[*v1.HoldBookingResponse](s.recording, s.mia, "Mia holds two seats with mats",
		&v1.HoldBookingRequest{
			SessionId: evening, PartySize: 2, Items: mats(mat, 3), Note: "With a friend.",
		}).GetBooking()
	s.recordError(s.mia, "Mia holds twice", "ALREADY_BOOKED", &v1.HoldBookingRequest{SessionId: evening})
	s.recordError(
		s.tom, "Tom wants too many mats", "ITEM_UNAVAILABLE", &v1.HoldBookingRequest{SessionId: evening, Items: mats(mat, 2)},
	)
	s.recordError(
		s.tom, "Tom wants a locker", "ITEM_UNAVAILABLE", &v1.HoldBookingRequest{SessionId: evening, Items: mats(soldOut, 1)},
	)
	s.recordError(
		s.tom, "Tom wants what is not there", "ITEM_UNAVAILABLE",
		&v1.HoldBookingRequest{SessionId: evening, Items: mats(absentID, 1)},
	)
	s.recordError(
		s.tom, "Tom has a guest's tier", "INVALID_FIELD", &v1.HoldBookingRequest{SessionId: evening, GuestTier: "visitor"},
	)
	toms := recordResponse[*v1.HoldBookingResponse](
		s.recording, s.tom, "Tom holds", &v1.HoldBookingRequest{SessionId: evening},
	).GetBooking()
	s.recordError(
		s.tom, "Tom confirms Mia's hold", "BOOKING_NOT_FOUND", &v1.ConfirmBookingRequest{BookingId: held.GetId()},
	)
	confirm := &v1.ConfirmBookingRequest{
		BookingId: held.GetId(), Payment: &v1.PaymentFacts{
			Amount: euros(20), Method: "card", Status: v1.PaymentStatus_PAYMENT_STATUS_AUTHORIZED,
		},
		BenefitProviderCode: "CLUB", BenefitMembershipNumber: "C-123",
	}
	s.recordError(s.mia, "Mia reports her own payment", "PERMISSION_DENIED", confirm)
	s.recordError(s.cora, "Mia's membership number is wrong", "BENEFIT_INVALID", confirm)
	confirm.BenefitMembershipNumber = "C-1234"
	confirm.Items = &v1.ItemSelection{BookingItemIds: []string{absentID}}
	s.recordError(s.cora, "Mia keeps what she has not", "INVALID_FIELD", confirm)
	confirm.Items.BookingItemIds = []string{held.GetItems()[0].GetId()}
	s.record(s.cora, "The coach confirms Mia with payment", confirm)
	recordMemberships(s, toms.GetId())
	confirm.Payment.Status = v1.PaymentStatus_PAYMENT_STATUS_CAPTURED
	s.record(s.cora, "The coach confirms again", confirm)
	s.record(s.cora, "The coach records the same facts", &v1.RecordPaymentRequest{
		BookingId: held.GetId(), Payment: confirm.GetPayment(),
	})
	s.recordError(
		s.mia, "Mia releases what is confirmed", "BOOKING_STATE", &v1.ReleaseHoldRequest{BookingId: held.GetId()},
	)
	s.record(s.tom, "Tom releases", &v1.ReleaseHoldRequest{BookingId: toms.GetId()})
	s.record(s.tom, "Tom releases again", &v1.ReleaseHoldRequest{BookingId: toms.GetId()})
	s.recordError(
		s.tom, "Tom confirms what he released", "BOOKING_STATE", &v1.ConfirmBookingRequest{BookingId: toms.GetId()},
	)
	s.record(s.mia, "Mia cancels what was paid", &v1.CancelBookingRequest{BookingId: held.GetId()})
	s.recordError(
		s.portal, "The partner records for Mia's booking", "BOOKING_NOT_FOUND",
		&v1.RecordPaymentRequest{BookingId: held.GetId(), Payment: confirm.GetPayment()},
	)
	refund := &v1.RefundPaymentRequest{BookingId: held.GetId(), Amount: euros(21), Method: "card", Reference: "R-1"}
	s.recordError(s.cora, "The coach refunds", "PERMISSION_DENIED", refund)
	s.recordError(s.olga, "The owner refunds too much", "REFUND_EXCEEDS_CAPTURED", refund)
	refund.Amount = euros(20)
	s.record(s.olga, "The owner refunds", refund)
	s.record(s.olga, "The owner refunds again", refund)
	s.record(s.mia, "Mia reads her payment", &v1.ListPaymentEntriesRequest{BookingId: held.GetId()})
	plain := recordResponse[*v1.HoldBookingResponse](
		s.recording, s.noah, "Noah holds with a mat", &v1.HoldBookingRequest{SessionId: evening, Items: mats(mat, 1)},
	)
	s.record(
		s.noah, "Noah confirms without payment and mat",
		&v1.ConfirmBookingRequest{BookingId: plain.GetBooking().GetId(), Items: &v1.ItemSelection{}},
	)
}

func recordPartnerHolds(s *studio) {
	s.startAt(on(5, "10:20"))
	morning, next := s.class("morning", on(8, "08:00"), waitlistCapacity(0)), s.class("next", on(9, "08:00"))
	hold := &v1.HoldBookingRequest{
		SessionId: morning, ExternalRef: "portal-1", GuestTier: "visitor",
		Contact: &v1.Contact{Name: "Greta Guest", Email: "greta@example.com", Phone: "+49 151 1234567"},
	}
	guests := recordResponse[*v1.HoldBookingResponse](
		s.recording, s.portal, "The partner holds for a guest", hold,
	).GetBooking()
	s.record(s.portal, "The partner holds for the guest again", hold)
	s.recordError(s.portal, "The partner holds for a guest without a name", "INVALID_FIELD",
		&v1.HoldBookingRequest{SessionId: morning, Contact: &v1.Contact{Email: "x@example.com"}})
	s.recordError(
		s.mia, "Mia holds for Tom", "PERMISSION_DENIED", &v1.HoldBookingRequest{SessionId: morning, MemberId: s.tom.id},
	)
	toms := recordResponse[*v1.HoldBookingResponse](
		s.recording, s.portal, "The partner holds for Tom", &v1.HoldBookingRequest{SessionId: morning, MemberId: s.tom.id},
	).GetBooking()
	s.recordError(s.lena, "Lena finds no seat to hold", "SESSION_FULL", &v1.HoldBookingRequest{SessionId: morning})
	s.record(s.lena, "Lena sees held seats", &v1.GetSessionRequest{SessionId: morning})
	s.record(
		s.portal, "The partner confirms the guest",
		&v1.ConfirmBookingRequest{BookingId: guests.GetId(), Payment: &v1.PaymentFacts{Amount: euros(12)}},
	)
	s.record(s.portal, "The partner reads the guest's booking", &v1.GetBookingRequest{BookingId: guests.GetId()})
	s.record(s.portal, "The partner lists its bookings", &v1.ListMyBookingsRequest{})
	s.record(
		s.portal, "The partner moves the guest", &v1.RescheduleBookingRequest{BookingId: guests.GetId(), SessionId: next},
	)
	s.record(
		s.portal, "The partner cancels the guest", &v1.CancelBookingRequest{BookingId: guests.GetId(), Reason: "Rain."},
	)
	s.record(s.cora, "The coach releases Tom's hold", &v1.ReleaseHoldRequest{BookingId: toms.GetId()})
	s.recordError(
		s.portal, "The partner confirms what is not there", "BOOKING_NOT_FOUND",
		&v1.ConfirmBookingRequest{BookingId: absentID},
	)
}

func recordExpiry(s *studio) {
	s.startAt(on(5, "10:30"))
	noon := s.class("noon", on(8, "12:00"), capacity(1))
	held := recordResponse[*v1.HoldBookingResponse](
		s.recording, s.mia, "Mia holds the last seat", &v1.HoldBookingRequest{SessionId: noon},
	).GetBooking()
	s.record(s.tom, "Tom waits for the held seat", &v1.BookRequest{SessionId: noon})
	s.startAt(on(5, "10:45"))
	s.waitForEvents("booking.expired", 1)
	s.recordError(s.mia, "Mia confirms too late", "HOLD_EXPIRED", &v1.ConfirmBookingRequest{BookingId: held.GetId()})
	s.record(s.mia, "Mia releases too late", &v1.ReleaseHoldRequest{BookingId: held.GetId()})
	s.record(s.mia, "Mia reads her expired hold", &v1.GetBookingRequest{BookingId: held.GetId()})
	s.record(s.cora, "The coach reads who got the seat", &v1.ListRosterRequest{SessionId: noon, IncludeInactive: true})
}
