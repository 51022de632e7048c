package rpc

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
)

// tenantTest is a test server with a client of its TenantService and the owner's token.
type tenantTest struct {
	*testServer
	berthv1connect.TenantServiceClient
	berthv1connect.CatalogServiceClient
	owner string
}

func newTenantTest(t *testing.T) *tenantTest {
	t.Helper()
	s := newTestServer(t)
	return tenantTestOf(t, s)
}

func tenantTestOf(t *testing.T, s *testServer) *tenantTest {
	t.Helper()
	return &tenantTest{
		s, berthv1connect.NewTenantServiceClient(s.Client, s.URL), berthv1connect.NewCatalogServiceClient(s.Client, s.URL),
		s.Token(t, "owner"),
	}
}

func (tt *tenantTest) location(t *testing.T, l *v1.LocationInput) *v1.Location {
	t.Helper()
	return ask[*v1.CreateLocationResponse](t, tt, tt.owner, &v1.CreateLocationRequest{Location: l}).GetLocation()
}

func (tt *tenantTest) service(t *testing.T, v *v1.ServiceInput) *v1.Service {
	t.Helper()
	return ask[*v1.CreateServiceResponse](t, tt, tt.owner, &v1.CreateServiceRequest{Service: v}).GetService()
}

// ignoreServerFields ignores fields that the service sets and a test cannot know.
func ignoreServerFields() []cmp.Option {
	options := []cmp.Option{protocmp.Transform()}
	for _, m := range []proto.Message{&v1.Location{}, &v1.Resource{}, &v1.Service{}, &v1.Tenant{}} {
		options = append(options, protocmp.IgnoreFields(m, "id", "create_time", "update_time"))
	}
	return options
}

var allChannels = []v1.BookingChannel{
	v1.BookingChannel_BOOKING_CHANNEL_ONLINE,
	v1.BookingChannel_BOOKING_CHANNEL_PHONE,
	v1.BookingChannel_BOOKING_CHANNEL_WALK_IN,
}

func TestTenant_ReadAndUpdate(t *testing.T) {
	t.Parallel()
	s := newTenantTest(t)
	read := ask[*v1.GetTenantResponse](t, s, s.Token(t, "member"), &v1.GetTenantRequest{}).GetTenant()
	want := &v1.Tenant{Name: "Harbour Yoga", TimeZone: "Europe/Berlin", Locale: "en", Currency: "EUR", Etag: "v1"}
	test.EqOp(t, "", cmp.Diff(want, read, ignoreServerFields()...))
	test.EqOp(t, s.Tenant.String(), read.GetId(), test.Sprint("id"))
	checkMask(t, s.testServer, s.owner, want, &v1.TenantInput{
		Name: "Other", TimeZone: "UTC", Locale: "de", Currency: "USD",
	}, []edit[*v1.TenantInput]{
		{"name", &v1.TenantInput{Name: "Quay Golf"}},
		{"time_zone", &v1.TenantInput{TimeZone: "Europe/Lisbon"}},
		{"locale", &v1.TenantInput{Locale: "pt-PT"}},
		{"currency", &v1.TenantInput{Currency: "CHF"}},
		{"takes_payments", &v1.TenantInput{TakesPayments: true}},
		{"brand.accent_color", &v1.TenantInput{Brand: &v1.Brand{AccentColor: "#2F5d3a"}}},
		{"brand.logo_url", &v1.TenantInput{
			Brand: &v1.Brand{AccentColor: "#2F5d3a", LogoUrl: "https://cdn.example.com/quay.svg?v=2"},
		}},
		{"brand.accent_color", &v1.TenantInput{Brand: &v1.Brand{LogoUrl: "https://cdn.example.com/quay.svg?v=2"}}},
		{"brand", &v1.TenantInput{Brand: &v1.Brand{AccentColor: "#1d4f91"}}},
		{"brand", &v1.TenantInput{}},
	}, func(sent *v1.TenantInput, mask *fieldmaskpb.FieldMask, etag string) proto.Message {
		return &v1.UpdateTenantRequest{Tenant: sent, UpdateMask: mask, Etag: etag}
	})
	for name, c := range map[string]struct {
		sent  *v1.TenantInput
		paths []string
		etag  string
		want  string
	}{
		"cleared": {
			&v1.TenantInput{}, []string{"name"}, "", "invalid_argument INVALID_FIELD",
		},
		"unknown path": {
			&v1.TenantInput{}, []string{"etag"}, "", "invalid_argument INVALID_FIELD",
		},
		"no zone": {
			&v1.TenantInput{TimeZone: "Europe/Atlantis"}, []string{"time_zone"}, "",
			"invalid_argument INVALID_FIELD tenant.time_zone",
		},
		"no locale": {
			&v1.TenantInput{Locale: "xqx"}, []string{"locale"}, "",
			"invalid_argument INVALID_FIELD tenant.locale",
		},
		"no currency": {
			&v1.TenantInput{Currency: "QQQ"}, []string{"currency"}, "",
			"invalid_argument INVALID_FIELD tenant.currency",
		},
		"logo over http": {
			&v1.TenantInput{Brand: &v1.Brand{LogoUrl: "http://cdn.example.com/quay.svg"}}, []string{"brand"}, "",
			"invalid_argument INVALID_FIELD tenant.brand.logo_url",
		},
		"logo at home": {
			&v1.TenantInput{Brand: &v1.Brand{LogoUrl: "https://localhost/quay.svg"}}, []string{"brand.logo_url"}, "",
			"invalid_argument INVALID_FIELD tenant.brand.logo_url",
		},
		"no color": {&v1.TenantInput{Brand: &v1.Brand{AccentColor: "green"}}, []string{"brand.accent_color"}, "",
			"invalid_argument INVALID_FIELD tenant.brand.accent_color"},
		"stale": {
			&v1.TenantInput{Name: "Stale"}, []string{"name"}, "v1",
			"aborted ETAG_MISMATCH",
		},
		"no etag": {
			&v1.TenantInput{Name: "Odd"}, []string{"name"}, "yesterday's",
			"aborted ETAG_MISMATCH",
		},
	} {
		refused(t, c.want, test.Sprint(name))(s.UpdateTenant(
			t.Context(), as(s.owner, &v1.UpdateTenantRequest{Tenant: c.sent, UpdateMask: mask(c.paths...), Etag: c.etag}),
		))
	}
}
