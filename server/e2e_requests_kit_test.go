package main

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/type/date"
	"google.golang.org/genproto/googleapis/type/money"
	"google.golang.org/genproto/googleapis/type/timeofday"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/tenant"
)

func text(id fmt.Stringer) string { return id.String() }

func paths(names ...string) *fieldmaskpb.FieldMask { return &fieldmaskpb.FieldMask{Paths: names} }

func civilMessage(t time.Time) *date.Date {
	return &date.Date{Year: int32(t.Year()), Month: int32(t.Month()), Day: int32(t.Day())}
}

// period is the days around now, at the world's location.
func (w *world) period() *v1.AnalyticsFilter {
	return &v1.AnalyticsFilter{
		StartDate: civilMessage(w.now.AddDate(0, 0, -3)), EndDate: civilMessage(w.now.AddDate(0, 0, 12)),
		LocationIds: []string{text(w.location)}, ServiceIds: []string{text(w.service)},
	}
}

// month is the period that has all sessions.
func (w *world) month() *v1.TimeRange {
	return &v1.TimeRange{Start: timestamppb.New(w.now.AddDate(0, 0, -1)), End: timestamppb.New(w.now.AddDate(0, 0, 30))}
}

func timeOfDay(hours, minutes int32) *timeofday.TimeOfDay {
	return &timeofday.TimeOfDay{Hours: hours, Minutes: minutes}
}

func euros(units int64) *money.Money { return &money.Money{CurrencyCode: "EUR", Units: units} }

func itemInput() *v1.ItemInput {
	return &v1.ItemInput{
		Name: unique(), Kind: unique(), Stock: 5, Price: euros(3), UseDuration: durationpb.New(time.Hour), Active: new(true),
	}
}

func (w *world) newItem() *v1.Item {
	w.t.Helper()
	request := &v1.CreateItemRequest{LocationId: text(w.location), Item: itemInput()}
	return call[*v1.CreateItemResponse](
		w.t, w.live, w.token(tenant.RoleOwner), "CatalogService/CreateItem", request,
	).GetItem()
}

// newHold creates a hold with an item.
func (w *world) newHold(caller tenant.Caller) *v1.Booking {
	w.t.Helper()
	request := &v1.HoldBookingRequest{
		SessionId: text(w.newSession()), MemberId: text(caller.Member),
		Items: []*v1.ItemChoice{{ItemId: w.newItem().GetId(), Quantity: 1}},
	}
	return call[*v1.HoldBookingResponse](
		w.t, w.live, w.token(tenant.RoleOwner), "BookingService/HoldBooking", request,
	).GetBooking()
}

func providerInput() *v1.BenefitProviderInput {
	return &v1.BenefitProviderInput{
		Name: unique(), NumberPattern: "M-[0-9]+", DiscountPercent: 10,
		Verification: v1.BenefitVerification_BENEFIT_VERIFICATION_NONE,
	}
}

func providerRequest(in *v1.BenefitProviderInput) *v1.CreateBenefitProviderRequest {
	return &v1.CreateBenefitProviderRequest{ProviderCode: strings.ToUpper(unique()), Provider: in}
}

// everyStatus selects what is inactive, too.
func everyStatus() []v1.CatalogStatus {
	return []v1.CatalogStatus{v1.CatalogStatus_CATALOG_STATUS_ACTIVE, v1.CatalogStatus_CATALOG_STATUS_INACTIVE}
}

func (w *world) newProvider() *v1.BenefitProvider {
	w.t.Helper()
	return call[*v1.CreateBenefitProviderResponse](
		w.t, w.live, w.token(tenant.RoleOwner), "CatalogService/CreateBenefitProvider", providerRequest(providerInput()),
	).GetProvider()
}

// newBenefitMembership makes two members of a family who use a number of a new provider.
func (w *world) newBenefitMembership() (code, of string) {
	w.t.Helper()
	in := providerInput()
	in.Families = true
	provider := call[*v1.CreateBenefitProviderResponse](
		w.t, w.live, w.token(tenant.RoleOwner), "CatalogService/CreateBenefitProvider", providerRequest(in),
	).GetProvider()
	for range 2 {
		who := w.newMember()
		call[*v1.ConfirmBookingResponse](
			w.t, w.live, w.token(tenant.RoleOwner), "BookingService/ConfirmBooking", &v1.ConfirmBookingRequest{
				BookingId: w.newHold(who).GetId(), Payment: &v1.PaymentFacts{Amount: euros(20)},
				BenefitProviderCode: provider.GetCode(), BenefitMembershipNumber: "M-12345",
			},
		)
		of = text(who.Member)
	}
	return provider.GetCode(), of
}

func days(n int32) *v1.PlanLength { return &v1.PlanLength{Length: &v1.PlanLength_Days{Days: n}} }

func planInput() *v1.PlanInput {
	return &v1.PlanInput{
		Name: unique(), Description: unique(), Kind: v1.PlanKind_PLAN_KIND_CREDITS, Credits: 5,
		Period: days(30), Term: days(365), DailyLimit: proto.Int32(2),
		WeeklyLimit: proto.Int32(7),
		Price:       &money.Money{CurrencyCode: "EUR", Units: 49, Nanos: 900_000_000}, Active: new(true),
	}
}
