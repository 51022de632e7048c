package rpc

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"google.golang.org/genproto/googleapis/type/latlng"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestLocation_RoundTripsEveryField(t *testing.T) {
	t.Parallel()
	s := newTenantTest(t)
	created := s.location(t, &v1.LocationInput{
		Name: "Pier 1", Address: "Kai 1\nBerlin", Geo: &latlng.LatLng{Latitude: 52.5, Longitude: -13.4},
	})
	want := &v1.Location{
		Name: "Pier 1", TimeZone: "Europe/Berlin", Address: "Kai 1\nBerlin",
		Geo:      &latlng.LatLng{Latitude: 52.5, Longitude: -13.4},
		Channels: allChannels, Active: true, Etag: "v1",
	}
	test.EqOp(t, "", cmp.Diff(want, created, ignoreServerFields()...))
	test.False(t, created.GetCreateTime().AsTime().IsZero(), test.Sprint(created))
	read := expect.Value(
		s.GetLocation(t.Context(), as(s.Token(t, "member"), &v1.GetLocationRequest{LocationId: created.GetId()})),
	)(t)
	test.EqOp(t, "", cmp.Diff(created, read.Msg.GetLocation(), protocmp.Transform()), test.Sprint(read))
	checkMask(t, s.testServer, s.owner, want, &v1.LocationInput{
		Name: "Other", TimeZone: "UTC", Address: "Other", Geo: &latlng.LatLng{},
		Channels: []v1.BookingChannel{v1.BookingChannel_BOOKING_CHANNEL_WALK_IN},
	}, []edit[*v1.LocationInput]{
		{"name", &v1.LocationInput{Name: "Quay"}},
		{"time_zone", &v1.LocationInput{TimeZone: "America/Argentina/Buenos_Aires"}},
		{"geo", &v1.LocationInput{Geo: &latlng.LatLng{Latitude: -90, Longitude: 180}}},
		{"geo", &v1.LocationInput{}},
		{"address", &v1.LocationInput{}},
		{"channels", &v1.LocationInput{Channels: []v1.BookingChannel{v1.BookingChannel_BOOKING_CHANNEL_PHONE}}},
		{"channels", &v1.LocationInput{}},
		{"active", &v1.LocationInput{Active: new(false)}},
		{"active", &v1.LocationInput{Active: new(true)}},
	}, func(sent *v1.LocationInput, mask *fieldmaskpb.FieldMask, etag string) proto.Message {
		return &v1.UpdateLocationRequest{LocationId: created.GetId(), Location: sent, UpdateMask: mask, Etag: etag}
	})
	some := s.location(t, &v1.LocationInput{
		Name: "Pier 3", Active: new(false),
		Channels: []v1.BookingChannel{v1.BookingChannel_BOOKING_CHANNEL_WALK_IN, v1.BookingChannel_BOOKING_CHANNEL_ONLINE},
	})
	test.False(t, some.GetActive())
	test.Eq(t, []v1.BookingChannel{
		v1.BookingChannel_BOOKING_CHANNEL_ONLINE,
		v1.BookingChannel_BOOKING_CHANNEL_WALK_IN,
	}, some.GetChannels())
	failsAs(t, apiError{
		Code: connect.CodeAlreadyExists, Reason: "ALREADY_EXISTS", Metadata: map[string]string{"field": "location.name"},
	})(
		s.CreateLocation(t.Context(), as(s.owner, &v1.CreateLocationRequest{Location: &v1.LocationInput{Name: "QUAY"}})),
	)
	for name, l := range map[string]*v1.LocationInput{
		"NUL":         {Name: "Pier\x00"},
		"blank":       {Name: " "},
		"long":        {Name: strings.Repeat("x", 201)},
		"huge":        {Name: "Pier", Address: strings.Repeat("x", 200_000)},
		"no name":     {},
		"no zone":     {Name: "Pier", TimeZone: "Local"},
		"off the map": {Name: "Pier", Geo: &latlng.LatLng{Latitude: 91}},
		"channel":     {Name: "Pier", Channels: []v1.BookingChannel{v1.BookingChannel_BOOKING_CHANNEL_UNSPECIFIED}},
	} {
		refused(t, "invalid_argument INVALID_FIELD", test.Sprint(name))(
			s.CreateLocation(t.Context(), as(s.owner, &v1.CreateLocationRequest{Location: l})),
		)
	}
}

func TestResource_RoundTripsEveryField(t *testing.T) {
	t.Parallel()
	s := newTenantTest(t)
	at := s.location(t, &v1.LocationInput{Name: "Pier 1"})
	created := expect.Value(s.CreateResource(
		t.Context(),
		as(
			s.owner, &v1.CreateResourceRequest{
				LocationId: at.GetId(), Resource: &v1.ResourceInput{Name: "Court 1", Kind: "court"},
			},
		),
	))(t).Msg.GetResource()
	want := &v1.Resource{LocationId: at.GetId(), Name: "Court 1", Kind: "court", Active: true, Etag: "v1"}
	test.EqOp(t, "", cmp.Diff(want, created, ignoreServerFields()...))
	checkMask(t, s.testServer, s.owner, want, &v1.ResourceInput{
		Name: "Other", Kind: "other",
	}, []edit[*v1.ResourceInput]{
		{"name", &v1.ResourceInput{Name: "Court One"}},
		{"kind", &v1.ResourceInput{}},
		{"active", &v1.ResourceInput{Active: new(false)}},
		{"active", &v1.ResourceInput{Active: new(true)}},
	}, func(sent *v1.ResourceInput, mask *fieldmaskpb.FieldMask, etag string) proto.Message {
		return &v1.UpdateResourceRequest{ResourceId: created.GetId(), Resource: sent, UpdateMask: mask, Etag: etag}
	})
	failsAs(t, apiError{Code: connect.CodeNotFound, Reason: "LOCATION_NOT_FOUND"})(s.CreateResource(
		t.Context(),
		as(s.owner, &v1.CreateResourceRequest{LocationId: someSession, Resource: &v1.ResourceInput{Name: "Court 2"}}),
	))
	list := expect.Value(s.ListResources(
		t.Context(), as(s.owner, &v1.ListResourcesRequest{
			Filter: &v1.ResourceFilter{LocationId: at.GetId(), Statuses: []v1.CatalogStatus{
				v1.CatalogStatus_CATALOG_STATUS_ACTIVE, v1.CatalogStatus_CATALOG_STATUS_INACTIVE,
			}},
		}),
	))(t)
	test.EqOp(t, 1, len(list.Msg.GetResources()), test.Sprint(list))
}

func TestService_RoundTripsEveryField(t *testing.T) {
	t.Parallel()
	s := newTenantTest(t)
	hour := durationpb.New(time.Hour)
	created := s.service(t, &v1.ServiceInput{Name: "Vinyasa", Duration: hour})
	want := &v1.Service{
		Name:     "Vinyasa",
		Duration: hour,
		MinParty: 1,
		MaxParty: 1,
		Delivery: v1.DeliveryMode_DELIVERY_MODE_IN_PERSON,
		Active:   true,
		Etag:     "v1",
	}
	test.EqOp(t, "", cmp.Diff(want, created, ignoreServerFields()...))
	checkMask(t, s.testServer, s.owner, want, &v1.ServiceInput{
		Name: "Other", Description: "Other", Category: "Other", Duration: durationpb.New(time.Minute),
		DefaultCapacity: new(int32(7)), DefaultWaitlistCapacity: 7, Color: "#777777",
	}, []edit[*v1.ServiceInput]{
		{"name", &v1.ServiceInput{Name: "18 holes"}},
		{"description", &v1.ServiceInput{Description: "A round.\nOf golf."}},
		{"category", &v1.ServiceInput{Category: "Golf"}},
		{"duration", &v1.ServiceInput{Duration: durationpb.New(4 * time.Hour)}},
		{"default_capacity", &v1.ServiceInput{DefaultCapacity: new(int32(0))}},
		{"default_capacity", &v1.ServiceInput{}},
		{"default_waitlist_capacity", &v1.ServiceInput{DefaultWaitlistCapacity: 9}},
		{"max_party", &v1.ServiceInput{MaxParty: 4}},
		{"min_party", &v1.ServiceInput{MinParty: 3}},
		{"delivery", &v1.ServiceInput{Delivery: v1.DeliveryMode_DELIVERY_MODE_FEED}},
		{"color", &v1.ServiceInput{Color: "#00AAff"}},
		{"active", &v1.ServiceInput{Active: new(false)}},
		{"active", &v1.ServiceInput{Active: new(true)}},
	}, func(sent *v1.ServiceInput, mask *fieldmaskpb.FieldMask, etag string) proto.Message {
		return &v1.UpdateServiceRequest{ServiceId: created.GetId(), Service: sent, UpdateMask: mask, Etag: etag}
	})
	// If cleared, the largest party is the smallest, and the smallest is one.
	cleared := expect.Value(s.UpdateService(
		t.Context(),
		as(
			s.owner,
			&v1.UpdateServiceRequest{
				ServiceId: created.GetId(), Service: &v1.ServiceInput{}, UpdateMask: mask("max_party", "delivery", "color"),
			},
		),
	))(t)
	test.EqOp(t, 3, cleared.Msg.GetService().GetMaxParty())
	test.EqOp(t, v1.DeliveryMode_DELIVERY_MODE_IN_PERSON, cleared.Msg.GetService().GetDelivery())
	test.EqOp(t, "", cleared.Msg.GetService().GetColor())
	failsAs(
		t, apiError{
			Code: connect.CodeInvalidArgument, Reason: "INVALID_FIELD",
			Metadata: map[string]string{"field": "service.max_party"},
		},
	)(s.UpdateService(
		t.Context(),
		as(
			s.owner,
			&v1.UpdateServiceRequest{
				ServiceId: created.GetId(), Service: &v1.ServiceInput{MaxParty: 2}, UpdateMask: mask("max_party"),
			},
		),
	))
	for name, v := range map[string]*v1.ServiceInput{
		"no duration":   {Name: "Yin"},
		"half a second": {Name: "Yin", Duration: durationpb.New(time.Hour + time.Second/2)},
		"upside down":   {Name: "Yin", Duration: hour, MinParty: 3, MaxParty: 2},
		"NUL":           {Name: "Yin", Duration: hour, Description: "\x00"},
	} {
		refused(t, "INVALID_FIELD", test.Sprint(name))(
			s.CreateService(t.Context(), as(s.owner, &v1.CreateServiceRequest{Service: v})),
		)
	}
	refused(
		t,
		"INVALID_FIELD",
	)(
		s.ListServices(t.Context(), as(s.owner, &v1.ListServicesRequest{Filter: &v1.ServiceFilter{Category: "\x00"}})),
	)
}

func TestCatalog_Pages(t *testing.T) {
	t.Parallel()
	s := newTenantTest(t)
	at := s.location(t, &v1.LocationInput{Name: strings.Repeat("🏄", 199) + "0"})
	var names []string
	var last *v1.Location
	for i := range 5 {
		// The longest possible name, with characters that take the most space in a page token.
		name := strings.Repeat("<", 190) + fmt.Sprint(i)
		if i%2 == 0 {
			name = strings.Repeat("🏄", 199) + fmt.Sprint(i)
		}
		s.service(t, &v1.ServiceInput{Name: name, Category: "Sport", Duration: durationpb.New(time.Hour)})
		expect.OK(t)(s.CreateResource(
			t.Context(), as(s.owner, &v1.CreateResourceRequest{LocationId: at.GetId(), Resource: &v1.ResourceInput{Name: name}}),
		))
		if i > 0 {
			last = s.location(t, &v1.LocationInput{Name: name})
		}
		names = append(names, name)
	}
	names = []string{names[1], names[3], names[0], names[2], names[4]}
	// Items are at two locations each, so that a page can end between equal names. The last name is created first,
	// so that the order of ids is another.
	var items []string
	for _, name := range slices.Backward(names) {
		for _, location := range []string{at.GetId(), last.GetId()} {
			items = slices.Insert(items, 0, name)
			expect.OK(t)(
				s.call(t, s.owner, &v1.CreateItemRequest{LocationId: location, Item: &v1.ItemInput{Name: name}}),
			)
		}
	}

	first := expect.Value(
		s.ListServices(
			t.Context(),
			as(s.owner, &v1.ListServicesRequest{Filter: &v1.ServiceFilter{Category: "Sport"}, PageSize: 2}),
		),
	)(
		t,
	)
	token := first.Msg.GetNextPageToken()
	for name, c := range map[string]struct {
		token string
		list  proto.Message
	}{
		"another filter": {s.owner, &v1.ListServicesRequest{PageToken: token}},
		"another list":   {s.owner, &v1.ListLocationsRequest{PageToken: token}},
		"another tenant": {
			s.Token(t, "owner", s.NewTenant(t, "Quay Golf")),
			&v1.ListServicesRequest{Filter: &v1.ServiceFilter{Category: "Sport"}, PageToken: token},
		},
		"no token": {s.owner, &v1.ListResourcesRequest{PageToken: "page 2"}},
	} {
		refused(t, "invalid_argument INVALID_FIELD page_token", test.Sprint(name))(s.call(t, c.token, c.list))
	}

	for _, list := range []proto.Message{
		&v1.ListServicesRequest{Filter: &v1.ServiceFilter{Category: "Sport"}, PageSize: 2},
		&v1.ListLocationsRequest{PageSize: 2},
		&v1.ListResourcesRequest{PageSize: 2},
	} {
		test.Eq(t, names, s.items(t, s.owner, list, "name"), test.Sprintf("%T", list))
	}
	test.Eq(t, items, s.items(t, s.owner, &v1.ListItemsRequest{PageSize: 3, Filter: &v1.ItemFilter{
		Statuses: []v1.CatalogStatus{v1.CatalogStatus_CATALOG_STATUS_ACTIVE, v1.CatalogStatus_CATALOG_STATUS_INACTIVE},
	}}, "name"))
}
