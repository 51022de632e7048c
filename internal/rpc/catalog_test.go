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
	created := s.location(t, &v1.Location{
		Id: someSession, Name: "Pier 1", Address: "Kai 1\nBerlin", Geo: &latlng.LatLng{Latitude: 52.5, Longitude: -13.4},
		Channels: []v1.BookingChannel{v1.BookingChannel_BOOKING_CHANNEL_PHONE}, Etag: "v7",
	})
	want := &v1.Location{
		Name: "Pier 1", TimeZone: "Europe/Berlin", Address: "Kai 1\nBerlin",
		Geo:      &latlng.LatLng{Latitude: 52.5, Longitude: -13.4},
		Channels: allChannels, Active: true, Etag: "v1",
	}
	test.EqOp(t, "", cmp.Diff(want, created, ignoreServerFields()...))
	test.NotEqOp(t, someSession, created.GetId())
	test.False(t, created.GetCreateTime().AsTime().IsZero(), test.Sprint(created))
	read := expect.Value(
		s.GetLocation(t.Context(), as(s.Token(t, "member"), &v1.GetLocationRequest{LocationId: created.GetId()})),
	)(t)
	test.EqOp(t, "", cmp.Diff(created, read.Msg.GetLocation(), protocmp.Transform()), test.Sprint(read))
	checkMask(t, s.testServer, s.owner, want, &v1.Location{
		Id: created.GetId(), Name: "Other", TimeZone: "UTC", Address: "Other", Geo: &latlng.LatLng{}, Active: true,
		Channels: []v1.BookingChannel{v1.BookingChannel_BOOKING_CHANNEL_WALK_IN},
	}, []edit[*v1.Location]{
		{"name", &v1.Location{Name: "Quay"}},
		{"time_zone", &v1.Location{TimeZone: "America/Argentina/Buenos_Aires"}},
		{"geo", &v1.Location{Geo: &latlng.LatLng{Latitude: -90, Longitude: 180}}},
		{"geo", &v1.Location{}},
		{"address", &v1.Location{}},
		{"channels", &v1.Location{Channels: []v1.BookingChannel{v1.BookingChannel_BOOKING_CHANNEL_PHONE}}},
		{"channels", &v1.Location{}},
		{"active", &v1.Location{}},
	}, func(sent *v1.Location, mask *fieldmaskpb.FieldMask) proto.Message {
		return &v1.UpdateLocationRequest{Location: sent, UpdateMask: mask}
	})
	set := expect.Value(s.SetChannels(t.Context(), as(s.owner, &v1.SetChannelsRequest{
		LocationId: created.GetId(), Etag: want.GetEtag(),
		Channels: []v1.BookingChannel{v1.BookingChannel_BOOKING_CHANNEL_WALK_IN, v1.BookingChannel_BOOKING_CHANNEL_ONLINE},
	})))(t)
	want.Etag, want.Channels = "v10", []v1.BookingChannel{
		v1.BookingChannel_BOOKING_CHANNEL_ONLINE,
		v1.BookingChannel_BOOKING_CHANNEL_WALK_IN,
	}
	test.EqOp(t, "", cmp.Diff(want, set.Msg.GetLocation(), ignoreServerFields()...))
	none := expect.Value(
		s.SetChannels(t.Context(), as(s.owner, &v1.SetChannelsRequest{LocationId: created.GetId()})),
	)(t)
	test.SliceEmpty(t, none.Msg.GetLocation().GetChannels())
	failsAs(t, apiError{
		Code: connect.CodeAlreadyExists, Reason: "ALREADY_EXISTS", Metadata: map[string]string{"field": "location.name"},
	})(
		s.CreateLocation(t.Context(), as(s.owner, &v1.CreateLocationRequest{Location: &v1.Location{Name: "QUAY"}})),
	)
	for name, l := range map[string]*v1.Location{
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
	at := s.location(t, &v1.Location{Name: "Pier 1"})
	created := expect.Value(s.CreateResource(
		t.Context(),
		as(
			s.owner, &v1.CreateResourceRequest{Resource: &v1.Resource{LocationId: at.GetId(), Name: "Court 1", Kind: "court"}},
		),
	))(t).Msg.GetResource()
	want := &v1.Resource{LocationId: at.GetId(), Name: "Court 1", Kind: "court", Active: true, Etag: "v1"}
	test.EqOp(t, "", cmp.Diff(want, created, ignoreServerFields()...))
	checkMask(t, s.testServer, s.owner, want, &v1.Resource{
		Id: created.GetId(), LocationId: someSession, Name: "Other", Kind: "other", Active: true,
	}, []edit[*v1.Resource]{
		{"name", &v1.Resource{Name: "Court One"}},
		{"kind", &v1.Resource{}},
		{"active", &v1.Resource{}},
	}, func(sent *v1.Resource, mask *fieldmaskpb.FieldMask) proto.Message {
		return &v1.UpdateResourceRequest{Resource: sent, UpdateMask: mask}
	})
	failsAs(t, apiError{Code: connect.CodeNotFound, Reason: "LOCATION_NOT_FOUND"})(s.CreateResource(
		t.Context(), as(s.owner, &v1.CreateResourceRequest{Resource: &v1.Resource{LocationId: someSession, Name: "Court 2"}}),
	))
	list := expect.Value(s.ListResources(
		t.Context(), as(s.owner, &v1.ListResourcesRequest{LocationId: at.GetId(), IncludeInactive: true}),
	))(t)
	test.EqOp(t, 1, len(list.Msg.GetResources()), test.Sprint(list))
}

func TestService_RoundTripsEveryField(t *testing.T) {
	t.Parallel()
	s := newTenantTest(t)
	hour := durationpb.New(time.Hour)
	created := s.service(t, &v1.Service{Name: "Vinyasa", Duration: hour})
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
	checkMask(t, s.testServer, s.owner, want, &v1.Service{
		Id: created.GetId(), Name: "Other", Description: "Other", Category: "Other", Duration: durationpb.New(time.Minute),
		DefaultCapacity: new(int32(7)), DefaultWaitlistCapacity: 7, Color: "#777777", Active: true,
	}, []edit[*v1.Service]{
		{"name", &v1.Service{Name: "18 holes"}},
		{"description", &v1.Service{Description: "A round.\nOf golf."}},
		{"category", &v1.Service{Category: "Golf"}},
		{"duration", &v1.Service{Duration: durationpb.New(4 * time.Hour)}},
		{"default_capacity", &v1.Service{DefaultCapacity: new(int32(0))}},
		{"default_capacity", &v1.Service{}},
		{"default_waitlist_capacity", &v1.Service{DefaultWaitlistCapacity: 9}},
		{"max_party", &v1.Service{MaxParty: 4}},
		{"min_party", &v1.Service{MinParty: 3}},
		{"delivery", &v1.Service{Delivery: v1.DeliveryMode_DELIVERY_MODE_FEED}},
		{"color", &v1.Service{Color: "#00AAff"}},
		{"active", &v1.Service{}},
	}, func(sent *v1.Service, mask *fieldmaskpb.FieldMask) proto.Message {
		return &v1.UpdateServiceRequest{Service: sent, UpdateMask: mask}
	})
	// If cleared, the largest party is the smallest, and the smallest is one.
	cleared := expect.Value(s.UpdateService(
		t.Context(),
		as(
			s.owner,
			&v1.UpdateServiceRequest{
				Service: &v1.Service{Id: created.GetId()}, UpdateMask: mask("max_party", "delivery", "color"),
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
			&v1.UpdateServiceRequest{Service: &v1.Service{Id: created.GetId(), MaxParty: 2}, UpdateMask: mask("max_party")},
		),
	))
	for name, v := range map[string]*v1.Service{
		"no duration":   {Name: "Yin"},
		"half a second": {Name: "Yin", Duration: durationpb.New(time.Hour + time.Second/2)},
		"upside down":   {Name: "Yin", Duration: hour, MinParty: 3, MaxParty: 2},
		"NUL":           {Name: "Yin", Duration: hour, Description: "\x00"},
	} {
		refused(t, "INVALID_FIELD", test.Sprint(name))(
			s.CreateService(t.Context(), as(s.owner, &v1.CreateServiceRequest{Service: v})),
		)
	}
	refused(t, "INVALID_FIELD")(s.ListServices(t.Context(), as(s.owner, &v1.ListServicesRequest{Category: "\x00"})))
}

func TestCatalog_Pages(t *testing.T) {
	t.Parallel()
	s := newTenantTest(t)
	at := s.location(t, &v1.Location{Name: strings.Repeat("🏄", 199) + "0"})
	var names []string
	var last *v1.Location
	for i := range 5 {
		// The longest possible name, with characters that take the most space in a page token.
		name := strings.Repeat("<", 190) + fmt.Sprint(i)
		if i%2 == 0 {
			name = strings.Repeat("🏄", 199) + fmt.Sprint(i)
		}
		s.service(t, &v1.Service{Name: name, Category: "Sport", Duration: durationpb.New(time.Hour)})
		expect.OK(t)(s.CreateResource(
			t.Context(), as(s.owner, &v1.CreateResourceRequest{Resource: &v1.Resource{LocationId: at.GetId(), Name: name}}),
		))
		if i > 0 {
			last = s.location(t, &v1.Location{Name: name})
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
		s.ListServices(t.Context(), as(s.owner, &v1.ListServicesRequest{Category: "Sport", PageSize: 2})),
	)(t)
	token := first.Msg.GetNextPageToken()
	for name, c := range map[string]struct {
		token string
		list  proto.Message
	}{
		"another filter": {s.owner, &v1.ListServicesRequest{PageToken: token}},
		"another list":   {s.owner, &v1.ListLocationsRequest{PageToken: token}},
		"another tenant": {
			s.Token(t, "owner", s.NewTenant(t, "Quay Golf")), &v1.ListServicesRequest{Category: "Sport", PageToken: token},
		},
		"no token": {s.owner, &v1.ListResourcesRequest{PageToken: "page 2"}},
	} {
		refused(t, "invalid_argument INVALID_FIELD page_token", test.Sprint(name))(s.call(t, c.token, c.list))
	}

	for _, list := range []proto.Message{
		&v1.ListServicesRequest{Category: "Sport", PageSize: 2}, &v1.ListLocationsRequest{PageSize: 2},
		&v1.ListResourcesRequest{PageSize: 2},
	} {
		test.Eq(t, names, s.items(t, s.owner, list, "name"), test.Sprintf("%T", list))
	}
	test.Eq(t, items, s.items(t, s.owner, &v1.ListItemsRequest{PageSize: 3, IncludeInactive: true}, "name"))
}
