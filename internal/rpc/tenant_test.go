package rpc

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/type/latlng"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/tenant"
)

// tenantTest is a test server with a client of its TenantService and the owner's token.
type tenantTest struct {
	*testServer
	berthv1connect.TenantServiceClient
	owner string
}

func newTenantTest(t *testing.T, adapt ...func(*app.Config)) *tenantTest {
	t.Helper()
	s := newTestServer(t, adapt...)
	return &tenantTest{s, berthv1connect.NewTenantServiceClient(s.Client, s.URL), s.Token(t, "owner")}
}

func (s *tenantTest) location(t *testing.T, l *v1.Location) *v1.Location {
	t.Helper()
	response, err := s.CreateLocation(t.Context(), as(s.owner, &v1.CreateLocationRequest{Location: l}))
	if err != nil {
		t.Fatal(err)
	}
	return response.Msg.GetLocation()
}

func (s *tenantTest) service(t *testing.T, v *v1.Service) *v1.Service {
	t.Helper()
	response, err := s.CreateService(t.Context(), as(s.owner, &v1.CreateServiceRequest{Service: v}))
	if err != nil {
		t.Fatal(err)
	}
	return response.Msg.GetService()
}

// ignoreServerFields ignores fields that the service sets and a test cannot know.
func ignoreServerFields() []cmp.Option {
	options := []cmp.Option{protocmp.Transform()}
	for _, m := range []proto.Message{&v1.Location{}, &v1.Resource{}, &v1.Service{}, &v1.Tenant{}} {
		options = append(options, protocmp.IgnoreFields(m, "id", "create_time", "update_time"))
	}
	return options
}

var allChannels = []v1.Channel{v1.Channel_CHANNEL_ONLINE, v1.Channel_CHANNEL_PHONE, v1.Channel_CHANNEL_WALK_IN}

func TestTenant_ReadAndUpdate(t *testing.T) {
	t.Parallel()
	s := newTenantTest(t)
	read, err := s.GetTenant(t.Context(), as(s.Token(t, "member"), &v1.GetTenantRequest{}))
	want := &v1.Tenant{Name: "Harbour Yoga", TimeZone: "Europe/Berlin", Locale: "en", Currency: "EUR", Etag: "v1"}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, read.Msg.GetTenant(), ignoreServerFields()...); diff != "" {
		t.Error(diff)
	}
	if got := read.Msg.GetTenant().GetId(); got != s.Tenant.String() {
		t.Errorf("id %q", got)
	}
	for i, c := range []struct {
		path string
		set  func(*v1.Tenant)
	}{
		{"name", func(m *v1.Tenant) { m.Name = "Quay Golf" }},
		{"time_zone", func(m *v1.Tenant) { m.TimeZone = "Europe/Lisbon" }},
		{"locale", func(m *v1.Tenant) { m.Locale = "pt-PT" }},
		{"currency", func(m *v1.Tenant) { m.Currency = "CHF" }},
		{"takes_payments", func(m *v1.Tenant) { m.TakesPayments = true }},
		{"brand.accent_color", func(m *v1.Tenant) { m.Brand = &v1.Brand{AccentColor: "#2F5d3a"} }},
		{"brand.logo_url", func(m *v1.Tenant) {
			m.Brand = &v1.Brand{AccentColor: "#2F5d3a", LogoUrl: "https://cdn.example.com/quay.svg?v=2"}
		}},
		{"brand.accent_color", func(m *v1.Tenant) { m.Brand = &v1.Brand{LogoUrl: "https://cdn.example.com/quay.svg?v=2"} }},
		{"brand", func(m *v1.Tenant) { m.Brand = &v1.Brand{AccentColor: "#1d4f91"} }},
		{"brand", func(m *v1.Tenant) { m.Brand = nil }},
	} {
		sent := &v1.Tenant{Name: "Other", TimeZone: "UTC", Locale: "de", Currency: "USD", Etag: want.GetEtag()}
		c.set(sent)
		c.set(want)
		want.Etag = convert.Etag(i + 2)
		response, err := s.UpdateTenant(
			t.Context(), as(s.owner, &v1.UpdateTenantRequest{Tenant: sent, UpdateMask: mask(c.path)}),
		)
		if err != nil {
			t.Fatal(c.path, err)
		}
		if diff := cmp.Diff(want, response.Msg.GetTenant(), ignoreServerFields()...); diff != "" {
			t.Errorf("%s: %s", c.path, diff)
		}
	}
	for name, c := range map[string]struct {
		sent  *v1.Tenant
		paths []string
		want  apiError
	}{
		"cleared": {
			&v1.Tenant{}, []string{"name"}, apiError{Code: connect.CodeInvalidArgument, Reason: "INVALID_FIELD"},
		},
		"unknown path": {
			&v1.Tenant{}, []string{"etag"}, apiError{Code: connect.CodeInvalidArgument, Reason: "INVALID_FIELD"},
		},
		"no zone": {
			&v1.Tenant{TimeZone: "Europe/Atlantis"}, []string{"time_zone"},
			apiError{connect.CodeInvalidArgument, "INVALID_FIELD", map[string]string{"field": "tenant.time_zone"}},
		},
		"no locale": {
			&v1.Tenant{Locale: "xqx"}, []string{"locale"},
			apiError{connect.CodeInvalidArgument, "INVALID_FIELD", map[string]string{"field": "tenant.locale"}},
		},
		"no currency": {
			&v1.Tenant{Currency: "QQQ"}, []string{"currency"},
			apiError{connect.CodeInvalidArgument, "INVALID_FIELD", map[string]string{"field": "tenant.currency"}},
		},
		"logo over http": {&v1.Tenant{Brand: &v1.Brand{LogoUrl: "http://cdn.example.com/quay.svg"}}, []string{"brand"},
			apiError{connect.CodeInvalidArgument, "INVALID_FIELD", map[string]string{"field": "tenant.brand.logo_url"}}},
		"logo at home": {&v1.Tenant{Brand: &v1.Brand{LogoUrl: "https://localhost/quay.svg"}}, []string{"brand.logo_url"},
			apiError{connect.CodeInvalidArgument, "INVALID_FIELD", map[string]string{"field": "tenant.brand.logo_url"}}},
		"no color": {&v1.Tenant{Brand: &v1.Brand{AccentColor: "green"}}, []string{"brand.accent_color"},
			apiError{connect.CodeInvalidArgument, "INVALID_FIELD", map[string]string{"field": "tenant.brand.accent_color"}}},
		"stale": {
			&v1.Tenant{Name: "Stale", Etag: "v1"}, []string{"name"},
			apiError{Code: connect.CodeAborted, Reason: "ETAG_MISMATCH"},
		},
		"no etag": {
			&v1.Tenant{Name: "Odd", Etag: "yesterday's"}, []string{"name"},
			apiError{Code: connect.CodeAborted, Reason: "ETAG_MISMATCH"},
		},
	} {
		_, err := s.UpdateTenant(
			t.Context(), as(s.owner, &v1.UpdateTenantRequest{Tenant: c.sent, UpdateMask: mask(c.paths...)}),
		)
		got := apiErrorOf(t, err)
		if c.want.Metadata == nil {
			got.Metadata = nil
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestLocation_RoundTripsEveryField(t *testing.T) {
	t.Parallel()
	s := newTenantTest(t)
	created := s.location(t, &v1.Location{
		Id: someSession, Name: "Pier 1", Address: "Kai 1\nBerlin", Geo: &latlng.LatLng{Latitude: 52.5, Longitude: -13.4},
		Channels: []v1.Channel{v1.Channel_CHANNEL_PHONE}, Etag: "v7",
	})
	want := &v1.Location{
		Name: "Pier 1", TimeZone: "Europe/Berlin", Address: "Kai 1\nBerlin",
		Geo:      &latlng.LatLng{Latitude: 52.5, Longitude: -13.4},
		Channels: allChannels, Active: true, Etag: "v1",
	}
	if diff := cmp.Diff(want, created, ignoreServerFields()...); diff != "" {
		t.Error(diff)
	}
	if created.GetId() == someSession || created.GetCreateTime().AsTime().IsZero() {
		t.Error(created)
	}
	read, err := s.GetLocation(t.Context(), as(s.Token(t, "member"), &v1.GetLocationRequest{LocationId: created.GetId()}))
	if err != nil || cmp.Diff(created, read.Msg.GetLocation(), protocmp.Transform()) != "" {
		t.Error(read, err)
	}
	for i, c := range []struct {
		path string
		set  func(*v1.Location)
	}{
		{"name", func(m *v1.Location) { m.Name = "Quay" }},
		{"time_zone", func(m *v1.Location) { m.TimeZone = "America/Argentina/Buenos_Aires" }},
		{"geo", func(m *v1.Location) { m.Geo = &latlng.LatLng{Latitude: -90, Longitude: 180} }},
		{"geo", func(m *v1.Location) { m.Geo = nil }},
		{"address", func(m *v1.Location) { m.Address = "" }},
		{"channels", func(m *v1.Location) { m.Channels = []v1.Channel{v1.Channel_CHANNEL_PHONE} }},
		{"channels", func(m *v1.Location) { m.Channels = []v1.Channel{} }},
		{"active", func(m *v1.Location) { m.Active = false }},
	} {
		sent := &v1.Location{
			Id: created.GetId(), Name: "Other", TimeZone: "UTC", Address: "Other", Geo: &latlng.LatLng{}, Active: true,
			Etag:     want.GetEtag(),
			Channels: []v1.Channel{v1.Channel_CHANNEL_WALK_IN},
		}
		c.set(sent)
		c.set(want)
		want.Etag = convert.Etag(i + 2)
		response, err := s.UpdateLocation(
			t.Context(), as(s.owner, &v1.UpdateLocationRequest{Location: sent, UpdateMask: mask(c.path)}),
		)
		if err != nil {
			t.Fatal(c.path, err)
		}
		if diff := cmp.Diff(want, response.Msg.GetLocation(), ignoreServerFields()...); diff != "" {
			t.Errorf("%s: %s", c.path, diff)
		}
	}
	set, err := s.SetChannels(t.Context(), as(s.owner, &v1.SetChannelsRequest{
		LocationId: created.GetId(), Etag: want.GetEtag(),
		Channels: []v1.Channel{v1.Channel_CHANNEL_WALK_IN, v1.Channel_CHANNEL_ONLINE},
	}))
	want.Etag, want.Channels = "v10", []v1.Channel{v1.Channel_CHANNEL_ONLINE, v1.Channel_CHANNEL_WALK_IN}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, set.Msg.GetLocation(), ignoreServerFields()...); diff != "" {
		t.Error(diff)
	}
	if set, err = s.SetChannels(
		t.Context(), as(s.owner, &v1.SetChannelsRequest{LocationId: created.GetId()}),
	); err != nil ||
		len(set.Msg.GetLocation().GetChannels()) != 0 {
		t.Error(set, err)
	}

	_, err = s.CreateLocation(t.Context(), as(s.owner, &v1.CreateLocationRequest{Location: &v1.Location{Name: "QUAY"}}))
	if diff := cmp.Diff(
		apiError{connect.CodeAlreadyExists, "ALREADY_EXISTS", map[string]string{"field": "location.name"}},
		apiErrorOf(t, err),
	); diff != "" {
		t.Error(diff)
	}
	for name, l := range map[string]*v1.Location{
		"NUL":         {Name: "Pier\x00"},
		"blank":       {Name: " "},
		"long":        {Name: strings.Repeat("x", 201)},
		"huge":        {Name: "Pier", Address: strings.Repeat("x", 1<<20)},
		"no name":     {},
		"no zone":     {Name: "Pier", TimeZone: "Local"},
		"off the map": {Name: "Pier", Geo: &latlng.LatLng{Latitude: 91}},
		"channel":     {Name: "Pier", Channels: []v1.Channel{v1.Channel_CHANNEL_UNSPECIFIED}},
	} {
		_, err := s.CreateLocation(t.Context(), as(s.owner, &v1.CreateLocationRequest{Location: l}))
		if got := apiErrorOf(t, err); got.Code != connect.CodeInvalidArgument || got.Reason != "INVALID_FIELD" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A caller with permission for the catalog but not for policies may edit a location except for its channels.
func TestUpdateLocation_ChannelsNeedPolicyPermission(t *testing.T) {
	t.Parallel()
	s := newTenantTest(t)
	at := s.location(t, &v1.Location{Name: "Pier 1"})
	roles := berthv1connect.NewAccessServiceClient(s.Client, s.URL)
	if _, err := roles.CreateRole(
		t.Context(),
		as(s.owner, &v1.CreateRoleRequest{Role: &v1.Role{Name: "builder", Permissions: []string{"catalog.write"}}}),
	); err != nil {
		t.Fatal(err)
	}
	if _, err := roles.AssignRole(
		t.Context(), as(s.owner, &v1.AssignRoleRequest{MemberId: convert.IDText(s.Members["member"]), Role: "builder"}),
	); err != nil {
		t.Fatal(err)
	}
	edit := func(token string, paths ...string) (*v1.Location, error) {
		response, err := s.UpdateLocation(t.Context(), as(token, &v1.UpdateLocationRequest{
			Location:   &v1.Location{Id: at.GetId(), Name: "Quay", Channels: []v1.Channel{v1.Channel_CHANNEL_PHONE}},
			UpdateMask: mask(paths...),
		}))
		if err != nil {
			return nil, err
		}
		return response.Msg.GetLocation(), nil
	}
	_, err := edit(s.Token(t, "member"), "name", "channels")
	if diff := cmp.Diff(
		apiError{connect.CodePermissionDenied, "PERMISSION_DENIED", map[string]string{"permission": "policy.write"}},
		apiErrorOf(t, err),
	); diff != "" {
		t.Error(diff)
	}
	if got, err := edit(s.Token(t, "member"), "name"); err != nil || got.GetName() != "Quay" || got.GetEtag() != "v2" ||
		len(got.GetChannels()) != 3 {
		t.Errorf("%v (%v)", got, err)
	}
	if got, err := edit(s.owner, "name", "channels"); err != nil || len(got.GetChannels()) != 1 || got.GetEtag() != "v3" {
		t.Errorf("%v (%v)", got, err)
	}
}

func TestResource_RoundTripsEveryField(t *testing.T) {
	t.Parallel()
	s := newTenantTest(t)
	at := s.location(t, &v1.Location{Name: "Pier 1"})
	response, err := s.CreateResource(
		t.Context(),
		as(
			s.owner, &v1.CreateResourceRequest{Resource: &v1.Resource{LocationId: at.GetId(), Name: "Court 1", Kind: "court"}},
		),
	)
	if err != nil {
		t.Fatal(err)
	}
	created := response.Msg.GetResource()
	want := &v1.Resource{LocationId: at.GetId(), Name: "Court 1", Kind: "court", Active: true, Etag: "v1"}
	if diff := cmp.Diff(want, created, ignoreServerFields()...); diff != "" {
		t.Error(diff)
	}
	for i, c := range []struct {
		path string
		set  func(*v1.Resource)
	}{
		{"name", func(m *v1.Resource) { m.Name = "Court One" }},
		{"kind", func(m *v1.Resource) { m.Kind = "" }},
		{"active", func(m *v1.Resource) { m.Active = false }},
	} {
		sent := &v1.Resource{
			Id: created.GetId(), LocationId: someSession, Name: "Other", Kind: "other", Active: true, Etag: want.GetEtag(),
		}
		c.set(sent)
		c.set(want)
		want.Etag = convert.Etag(i + 2)
		response, err := s.UpdateResource(
			t.Context(), as(s.owner, &v1.UpdateResourceRequest{Resource: sent, UpdateMask: mask(c.path)}),
		)
		if err != nil {
			t.Fatal(c.path, err)
		}
		if diff := cmp.Diff(want, response.Msg.GetResource(), ignoreServerFields()...); diff != "" {
			t.Errorf("%s: %s", c.path, diff)
		}
	}
	_, err = s.CreateResource(
		t.Context(), as(s.owner, &v1.CreateResourceRequest{Resource: &v1.Resource{LocationId: someSession, Name: "Court 2"}}),
	)
	if diff := cmp.Diff(
		apiError{Code: connect.CodeNotFound, Reason: "LOCATION_NOT_FOUND"}, apiErrorOf(t, err),
	); diff != "" {
		t.Error(diff)
	}
	list, err := s.ListResources(
		t.Context(), as(s.owner, &v1.ListResourcesRequest{LocationId: at.GetId(), IncludeInactive: true}),
	)
	if err != nil || len(list.Msg.GetResources()) != 1 {
		t.Error(list, err)
	}
}

func TestService_RoundTripsEveryField(t *testing.T) {
	t.Parallel()
	s := newTenantTest(t)
	hour := durationpb.New(time.Hour)
	created := s.service(t, &v1.Service{Name: "Vinyasa", Duration: hour})
	want := &v1.Service{
		Name: "Vinyasa", Duration: hour, MinParty: 1, MaxParty: 1, Delivery: v1.Delivery_DELIVERY_IN_PERSON, Active: true,
		Etag: "v1",
	}
	if diff := cmp.Diff(want, created, ignoreServerFields()...); diff != "" {
		t.Error(diff)
	}
	for i, c := range []struct {
		path string
		set  func(*v1.Service)
	}{
		{"name", func(m *v1.Service) { m.Name = "18 holes" }},
		{"description", func(m *v1.Service) { m.Description = "A round.\nOf golf." }},
		{"category", func(m *v1.Service) { m.Category = "Golf" }},
		{"duration", func(m *v1.Service) { m.Duration = durationpb.New(4 * time.Hour) }},
		{"default_capacity", func(m *v1.Service) { m.DefaultCapacity = new(int32(0)) }},
		{"default_capacity", func(m *v1.Service) { m.DefaultCapacity = nil }},
		{"default_waitlist_capacity", func(m *v1.Service) { m.DefaultWaitlistCapacity = 9 }},
		{"max_party", func(m *v1.Service) { m.MaxParty = 4 }},
		{"min_party", func(m *v1.Service) { m.MinParty = 3 }},
		{"delivery", func(m *v1.Service) { m.Delivery = v1.Delivery_DELIVERY_FEED }},
		{"color", func(m *v1.Service) { m.Color = "#00AAff" }},
		{"active", func(m *v1.Service) { m.Active = false }},
	} {
		sent := &v1.Service{
			Id: created.GetId(), Name: "Other", Description: "Other", Category: "Other", Duration: durationpb.New(time.Minute),
			DefaultCapacity: new(int32(7)), DefaultWaitlistCapacity: 7, Color: "#777777", Active: true, Etag: want.GetEtag(),
		}
		c.set(sent)
		c.set(want)
		want.Etag = convert.Etag(i + 2)
		response, err := s.UpdateService(
			t.Context(), as(s.owner, &v1.UpdateServiceRequest{Service: sent, UpdateMask: mask(c.path)}),
		)
		if err != nil {
			t.Fatal(c.path, err)
		}
		if diff := cmp.Diff(want, response.Msg.GetService(), ignoreServerFields()...); diff != "" {
			t.Errorf("%s: %s", c.path, diff)
		}
	}
	// If cleared, the largest party is the smallest, and the smallest is one.
	cleared, err := s.UpdateService(
		t.Context(),
		as(
			s.owner,
			&v1.UpdateServiceRequest{
				Service: &v1.Service{Id: created.GetId()}, UpdateMask: mask("max_party", "delivery", "color"),
			},
		),
	)
	if err != nil || cleared.Msg.GetService().GetMaxParty() != 3 ||
		cleared.Msg.GetService().GetDelivery() != v1.Delivery_DELIVERY_IN_PERSON ||
		cleared.Msg.GetService().GetColor() != "" {
		t.Error(cleared, err)
	}
	_, err = s.UpdateService(
		t.Context(),
		as(
			s.owner,
			&v1.UpdateServiceRequest{Service: &v1.Service{Id: created.GetId(), MaxParty: 2}, UpdateMask: mask("max_party")},
		),
	)
	if diff := cmp.Diff(
		apiError{connect.CodeInvalidArgument, "INVALID_FIELD", map[string]string{"field": "service.max_party"}},
		apiErrorOf(t, err),
	); diff != "" {
		t.Error(diff)
	}
	for name, v := range map[string]*v1.Service{
		"no duration":   {Name: "Yin"},
		"half a second": {Name: "Yin", Duration: durationpb.New(time.Hour + time.Second/2)},
		"upside down":   {Name: "Yin", Duration: hour, MinParty: 3, MaxParty: 2},
		"NUL":           {Name: "Yin", Duration: hour, Description: "\x00"},
	} {
		_, err := s.CreateService(t.Context(), as(s.owner, &v1.CreateServiceRequest{Service: v}))
		if got := apiErrorOf(t, err); got.Reason != "INVALID_FIELD" {
			t.Errorf("%s: %v", name, got)
		}
	}
	_, err = s.ListServices(t.Context(), as(s.owner, &v1.ListServicesRequest{Category: "\x00"}))
	if got := apiErrorOf(t, err); got.Reason != "INVALID_FIELD" {
		t.Error(got)
	}
}

func TestCatalog_Pages(t *testing.T) {
	t.Parallel()
	s := newTenantTest(t)
	at := s.location(t, &v1.Location{Name: strings.Repeat("🏄", 199) + "0"})
	var names []string
	for i := range 5 {
		// The longest possible name, with characters that take the most space in a page token.
		name := strings.Repeat("<", 190) + fmt.Sprint(i)
		if i%2 == 0 {
			name = strings.Repeat("🏄", 199) + fmt.Sprint(i)
		}
		s.service(t, &v1.Service{Name: name, Category: "Sport", Duration: durationpb.New(time.Hour)})
		if _, err := s.CreateResource(
			t.Context(), as(s.owner, &v1.CreateResourceRequest{Resource: &v1.Resource{LocationId: at.GetId(), Name: name}}),
		); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			s.location(t, &v1.Location{Name: name})
		}
		names = append(names, name)
	}
	names = []string{names[1], names[3], names[0], names[2], names[4]}

	first, err := s.ListServices(t.Context(), as(s.owner, &v1.ListServicesRequest{Category: "Sport", PageSize: 2}))
	if err != nil {
		t.Fatal(err)
	}
	other := s.NewTenant(t, "Quay Golf")
	token := first.Msg.GetNextPageToken()
	for name, request := range map[string]func() error{
		"another filter": func() error {
			_, err := s.ListServices(t.Context(), as(s.owner, &v1.ListServicesRequest{PageToken: token}))
			return err
		},
		"another list": func() error {
			_, err := s.ListLocations(t.Context(), as(s.owner, &v1.ListLocationsRequest{PageToken: token}))
			return err
		},
		"another tenant": func() error {
			_, err := s.ListServices(
				t.Context(), as(s.Token(t, "owner", other), &v1.ListServicesRequest{Category: "Sport", PageToken: token}),
			)
			return err
		},
		"no token": func() error {
			_, err := s.ListResources(t.Context(), as(s.owner, &v1.ListResourcesRequest{PageToken: "page 2"}))
			return err
		},
	} {
		want := apiError{connect.CodeInvalidArgument, "INVALID_FIELD", map[string]string{"field": "page_token"}}
		if diff := cmp.Diff(want, apiErrorOf(t, request())); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}

	for what, list := range map[string]func(token string) ([]string, string, error){
		"services": func(token string) (names []string, next string, err error) {
			page, err := s.ListServices(
				t.Context(), as(s.owner, &v1.ListServicesRequest{Category: "Sport", PageSize: 2, PageToken: token}),
			)
			if err != nil {
				return nil, "", err
			}
			for _, v := range page.Msg.GetServices() {
				names = append(names, v.GetName())
			}
			return names, page.Msg.GetNextPageToken(), nil
		},
		"locations": func(token string) (names []string, next string, err error) {
			page, err := s.ListLocations(t.Context(), as(s.owner, &v1.ListLocationsRequest{PageSize: 2, PageToken: token}))
			if err != nil {
				return nil, "", err
			}
			for _, l := range page.Msg.GetLocations() {
				names = append(names, l.GetName())
			}
			return names, page.Msg.GetNextPageToken(), nil
		},
		"resources": func(token string) (names []string, next string, err error) {
			page, err := s.ListResources(t.Context(), as(s.owner, &v1.ListResourcesRequest{PageSize: 2, PageToken: token}))
			if err != nil {
				return nil, "", err
			}
			for _, r := range page.Msg.GetResources() {
				names = append(names, r.GetName())
			}
			return names, page.Msg.GetNextPageToken(), nil
		},
	} {
		var got []string
		for token, more := "", true; more; more = token != "" {
			page, next, err := list(token)
			if err != nil {
				t.Fatal(what, err)
			}
			got, token = append(got, page...), next
		}
		if diff := cmp.Diff(names, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
}

// Objects of another tenant are not found, with the same error as objects that do not exist, and its token gives no
// access to this tenant.
func TestCatalog_HidesOtherTenants(t *testing.T) {
	t.Parallel()
	s := newTenantTest(t)
	at := s.location(t, &v1.Location{Name: "Pier 1"})
	other := s.NewTenant(t, "Quay Golf")
	stranger := s.Token(t, "owner", other)
	request := func(id string) error {
		_, err := s.GetLocation(t.Context(), as(stranger, &v1.GetLocationRequest{LocationId: id}))
		return err
	}
	theirs, absent := request(at.GetId()), request(convert.IDText(tenant.New[tenant.LocationID](time.Now())))
	if diff := cmp.Diff(
		apiError{Code: connect.CodeNotFound, Reason: "LOCATION_NOT_FOUND"}, apiErrorOf(t, theirs),
	); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(absent.Error(), theirs.Error()); diff != "" {
		t.Error(diff)
	}
	_, err := s.GetLocation(
		t.Context(), as(stranger, &v1.GetLocationRequest{TenantId: s.Tenant.String(), LocationId: at.GetId()}),
	)
	if got := apiErrorOf(t, err); got.Reason != "TENANT_FORBIDDEN" {
		t.Error(got)
	}
	for name, request := range map[string]func(token string) error{
		"tenant": func(token string) error {
			_, err := s.UpdateTenant(
				t.Context(), as(token, &v1.UpdateTenantRequest{Tenant: &v1.Tenant{Name: "Mine"}, UpdateMask: mask("name")}),
			)
			return err
		},
		"location": func(token string) error {
			_, err := s.CreateLocation(t.Context(), as(token, &v1.CreateLocationRequest{Location: &v1.Location{Name: "Mine"}}))
			return err
		},
		"policy": func(token string) error {
			_, err := s.UpdatePolicy(t.Context(), as(token, &v1.UpdatePolicyRequest{
				Layer: &v1.PolicyLayer{Level: v1.PolicyLevel_POLICY_LEVEL_TENANT}, UpdateMask: mask("hold_ttl"),
			}))
			return err
		},
	} {
		for _, role := range []string{"coach", "member"} {
			if got := apiErrorOf(t, request(s.Token(t, role))); got.Reason != "PERMISSION_DENIED" {
				t.Errorf("%s by %s: %v", name, role, got)
			}
		}
	}
}
