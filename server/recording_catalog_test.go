package main

import (
	"time"

	"google.golang.org/genproto/googleapis/type/latlng"
	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// The tenant's settings, locations, resources, services and policies.
func recordCatalog(s *studio) {
	recordTenant(s)
	recordLocations(s)
	recordResources(s)
	recordServices(s)
	recordPolicies(s)
}

func recordTenant(s *studio) {
	s.record(s.mia, "Mia reads the tenant", &v1.GetTenantRequest{})
	s.record(s.portal, "The partner reads the tenant", &v1.GetTenantRequest{TenantId: s.id})
	edit := &v1.UpdateTenantRequest{
		Tenant: &v1.Tenant{
			Name: "Harbour Yoga & More", TimeZone: "Europe/Vienna", Locale: "de", Currency: "CHF", TakesPayments: true,
			Etag:  "v1",
			Brand: &v1.Brand{LogoUrl: "https://cdn.example.com/logo.svg", AccentColor: "#2F5D3A"},
		},
		UpdateMask: paths("name", "time_zone", "locale", "currency", "takes_payments", "audit_member_reads", "brand"),
	}
	s.record(s.olga, "The owner edits the tenant", edit)
	s.recordError(s.olga, "The owner edits a tenant that has changed", "ETAG_MISMATCH", edit)
	s.recordError(s.mia, "Mia edits the tenant", "PERMISSION_DENIED", edit)
	for _, tt := range []struct {
		title, name string
		tenant      *v1.Tenant
	}{
		{"The owner's time zone is none", "time_zone", &v1.Tenant{TimeZone: "Europe/Atlantis"}},
		{"The owner's language is none", "locale", &v1.Tenant{Locale: "xx"}},
		{"The owner's currency is none", "currency", &v1.Tenant{Currency: "QQQ"}},
		{
			"The owner's logo is on no public host", "brand.logo_url",
			&v1.Tenant{Brand: &v1.Brand{LogoUrl: "https://localhost/logo.svg"}},
		},
		{"The owner clears the name", "name", &v1.Tenant{}},
	} {
		s.recordError(
			s.olga, tt.title, "INVALID_FIELD", &v1.UpdateTenantRequest{Tenant: tt.tenant, UpdateMask: paths(tt.name)},
		)
	}
	s.record(
		s.olga, "The owner clears the color",
		&v1.UpdateTenantRequest{Tenant: &v1.Tenant{}, UpdateMask: paths("brand.accent_color")},
	)
	s.record(s.mona, "Mona reads her own tenant", &v1.GetTenantRequest{})
}

func recordLocations(s *studio) {
	created := recordResponse[*v1.CreateLocationResponse](s.recording, s.olga, "The owner adds a location",
		&v1.CreateLocationRequest{Location: &v1.Location{
			Name: "Beach", TimeZone: "Europe/Lisbon", Geo: &latlng.LatLng{Latitude: 38.7, Longitude: -9.1}, Address: "Praia 1",
		}}).GetLocation()
	s.names.set(created.GetId(), "beach")
	s.recordError(
		s.olga, "The owner adds it again", "ALREADY_EXISTS", &v1.CreateLocationRequest{Location: &v1.Location{Name: "beach"}},
	)
	s.recordError(
		s.cora, "The coach adds a location", "PERMISSION_DENIED",
		&v1.CreateLocationRequest{Location: &v1.Location{Name: "Other"}},
	)
	edit := func(in *v1.Location, names ...string) *v1.UpdateLocationRequest {
		return &v1.UpdateLocationRequest{Location: in, UpdateMask: paths(names...)}
	}
	change := edit(
		&v1.Location{Id: created.GetId(), Name: "Beach House", TimeZone: "Atlantic/Madeira", Etag: created.GetEtag()}, "name",
		"time_zone", "geo", "active",
	)
	s.record(s.olga, "The owner edits the location", change)
	s.recordError(s.olga, "The owner edits a location that has changed", "ETAG_MISMATCH", change)
	s.recordError(s.olga, "The owner edits no location", "LOCATION_NOT_FOUND", edit(&v1.Location{Id: absentID}, "active"))
	s.class("scheduled", on(8, "10:00"))
	s.recordError(
		s.olga, "The owner moves a location with sessions to another zone", "SESSION_STATE",
		edit(&v1.Location{Id: s.center, TimeZone: "UTC"}, "time_zone"),
	)
	s.record(
		s.olga, "The owner sets channels",
		&v1.SetChannelsRequest{
			LocationId: s.center, Channels: []v1.Channel{v1.Channel_CHANNEL_PHONE, v1.Channel_CHANNEL_ONLINE},
		},
	)
	s.recordError(
		s.olga, "The owner sets channels of nothing", "LOCATION_NOT_FOUND", &v1.SetChannelsRequest{LocationId: absentID},
	)
	s.recordError(
		s.olga, "The owner sets channels that have changed", "ETAG_MISMATCH",
		&v1.SetChannelsRequest{LocationId: s.center, Etag: "v1"},
	)
	s.record(s.mia, "Mia reads a location", &v1.GetLocationRequest{LocationId: s.center})
	s.recordError(s.mia, "Mia reads no location", "LOCATION_NOT_FOUND", &v1.GetLocationRequest{LocationId: absentID})
	s.recordError(
		s.mona, "Mona reads the other tenant's location", "LOCATION_NOT_FOUND", &v1.GetLocationRequest{LocationId: s.center},
	)
	page := recordResponse[*v1.ListLocationsResponse](
		s.recording, s.mia, "Mia lists one location", &v1.ListLocationsRequest{PageSize: 1},
	)
	s.record(
		s.mia, "Mia lists the next location", &v1.ListLocationsRequest{PageSize: 1, PageToken: page.GetNextPageToken()},
	)
	s.record(s.mia, "Mia lists all locations", &v1.ListLocationsRequest{IncludeInactive: true})
}

func recordResources(s *studio) {
	add := func(location, name string) *v1.CreateResourceRequest {
		return &v1.CreateResourceRequest{Resource: &v1.Resource{LocationId: location, Name: name, Kind: "court"}}
	}
	created := recordResponse[*v1.CreateResourceResponse](
		s.recording, s.olga, "The owner adds a court", add(s.center, "Court 1"),
	).GetResource()
	s.recordError(s.olga, "The owner adds the court again", "ALREADY_EXISTS", add(s.center, "court 1"))
	s.recordError(s.olga, "The owner adds a court nowhere", "LOCATION_NOT_FOUND", add(absentID, "Court 1"))
	edit := &v1.UpdateResourceRequest{
		Resource:   &v1.Resource{Id: created.GetId(), Name: "Court A", Kind: "clay", Etag: created.GetEtag()},
		UpdateMask: paths("name", "kind", "active"),
	}
	s.record(s.olga, "The owner closes the court", edit)
	s.recordError(s.olga, "The owner edits a court that has changed", "ETAG_MISMATCH", edit)
	s.recordError(s.olga, "The owner edits no court", "RESOURCE_NOT_FOUND",
		&v1.UpdateResourceRequest{Resource: &v1.Resource{Id: absentID}, UpdateMask: paths("kind")})
	page := recordResponse[*v1.ListResourcesResponse](
		s.recording, s.mia, "Mia lists one resource", &v1.ListResourcesRequest{LocationId: s.center, PageSize: 1},
	)
	s.record(
		s.mia, "Mia lists the next resource",
		&v1.ListResourcesRequest{LocationId: s.center, PageSize: 1, PageToken: page.GetNextPageToken()},
	)
	s.record(s.olga, "The owner lists all resources", &v1.ListResourcesRequest{IncludeInactive: true})
	s.recordError(
		s.mia, "Mia lists resources of nothing", "LOCATION_NOT_FOUND", &v1.ListResourcesRequest{LocationId: absentID},
	)
}

func recordServices(s *studio) {
	s.startAt(on(5, "10:10"))
	add := func(in *v1.Service) *v1.CreateServiceRequest { return &v1.CreateServiceRequest{Service: in} }
	created := recordResponse[*v1.CreateServiceResponse](s.recording, s.olga, "The owner adds a service", add(&v1.Service{
		Name: "Round", Description: "Eighteen holes.", Category: "Golf", Duration: durationpb.New(4 * time.Hour),
		DefaultCapacity: new(int32(4)),
		MinParty:        2, MaxParty: 4, Delivery: v1.Delivery_DELIVERY_IN_PERSON, Color: "#00ff00",
	})).GetService()
	s.names.set(created.GetId(), "golf-round")
	s.record(
		s.olga, "The owner adds a service with nothing but defaults",
		add(&v1.Service{Name: "Talk", Duration: durationpb.New(30 * time.Minute), Delivery: v1.Delivery_DELIVERY_FEED}),
	)
	s.recordError(
		s.olga, "The owner adds the service again", "ALREADY_EXISTS",
		add(&v1.Service{Name: "ROUND", Duration: durationpb.New(time.Hour)}),
	)
	s.recordError(s.olga, "The owner adds a service without a length", "INVALID_FIELD", add(&v1.Service{Name: "Short"}))
	edit := func(in *v1.Service, names ...string) *v1.UpdateServiceRequest {
		return &v1.UpdateServiceRequest{Service: in, UpdateMask: paths(names...)}
	}
	change := edit(
		&v1.Service{Id: created.GetId(), DefaultWaitlistCapacity: 3, Etag: created.GetEtag(), Active: true},
		"default_capacity",
		"default_waitlist_capacity", "active",
	)
	s.record(s.olga, "The owner edits the service", change)
	s.recordError(s.olga, "The owner edits a service that has changed", "ETAG_MISMATCH", change)
	s.recordError(
		s.olga, "The owner has parties of three to two", "INVALID_FIELD",
		edit(&v1.Service{Id: created.GetId(), MinParty: 3, MaxParty: 2}, "min_party", "max_party"),
	)
	s.recordError(
		s.olga, "The owner has parties of five to four", "INVALID_FIELD",
		edit(&v1.Service{Id: created.GetId(), MinParty: 5}, "min_party"),
	)
	s.recordError(s.olga, "The owner edits no service", "SERVICE_NOT_FOUND", edit(&v1.Service{Id: absentID}, "color"))
	s.record(s.mia, "Mia reads the service", &v1.GetServiceRequest{ServiceId: created.GetId()})
	s.recordError(s.mia, "Mia reads no service", "SERVICE_NOT_FOUND", &v1.GetServiceRequest{ServiceId: absentID})
	page := recordResponse[*v1.ListServicesResponse](
		s.recording, s.mia, "Mia lists one service", &v1.ListServicesRequest{PageSize: 1},
	)
	s.record(s.mia, "Mia lists the next service", &v1.ListServicesRequest{PageSize: 1, PageToken: page.GetNextPageToken()})
}

func recordPolicies(s *studio) {
	s.record(s.cora, "The coach reads the policy", &v1.GetPolicyRequest{})
	s.recordError(s.mia, "Mia reads the policy", "PERMISSION_DENIED", &v1.GetPolicyRequest{})
	layer := func(level v1.PolicyLevel, target string, policy *v1.Policy, names ...string) *v1.UpdatePolicyRequest {
		return &v1.UpdatePolicyRequest{
			Layer: &v1.PolicyLayer{Level: level, TargetId: target, Policy: policy}, UpdateMask: paths(names...),
		}
	}
	const (
		tenantWide = v1.PolicyLevel_POLICY_LEVEL_TENANT
		ofLocation = v1.PolicyLevel_POLICY_LEVEL_LOCATION
		ofService  = v1.PolicyLevel_POLICY_LEVEL_SERVICE
	)
	hours := func(n int) *durationpb.Duration { return durationpb.New(time.Duration(n) * time.Hour) }
	s.record(s.olga, "The owner sets a policy", layer(tenantWide, "", &v1.Policy{
		AdvanceWindow: hours(24 * 60), BookingClosesBefore: hours(1), CancellationWindow: hours(12),
		AllowLateCancellation: new(true),
		HoldTtl:               durationpb.New(5 * time.Minute), CheckinOpensBefore: hours(2), CheckinClosesAfterEnd: hours(1),
		GpsMaxMeters: new(int32(500)),
		AutoNoShow:   new(true), AutoNoShowAfter: hours(2), CheckinRequiresQr: new(true),
		TierCancellations: &v1.TierCancellations{Overrides: []*v1.TierCancellation{
			{Tier: "visitor", CancellationWindow: hours(48)},
			{Tier: "gold", CancellationWindow: hours(4), AllowReschedule: new(true)},
		}},
	}, "advance_window", "booking_closes_before", "cancellation_window", "allow_late_cancellation", "allow_reschedule",
		"tier_cancellations", "hold_ttl", "checkin_opens_before", "checkin_closes_after_end", "gps_max_meters",
		"auto_no_show", "auto_no_show_after", "checkin_requires_qr"))
	s.record(
		s.olga, "The owner sets a policy of the center",
		layer(
			ofLocation, s.center, &v1.Policy{AllowReschedule: new(true), HoldTtl: hours(1)}, "allow_reschedule", "hold_ttl",
		),
	)
	s.record(
		s.olga, "The owner sets a policy of yoga",
		layer(
			ofService, s.yoga, &v1.Policy{HoldTtl: hours(2), TierCancellations: &v1.TierCancellations{}}, "hold_ttl",
			"tier_cancellations",
		),
	)
	s.record(
		s.cora, "The coach reads the policy of yoga at the center",
		&v1.GetPolicyRequest{LocationId: s.center, ServiceId: s.yoga},
	)
	inherit := layer(ofService, s.yoga, &v1.Policy{}, "hold_ttl")
	inherit.Layer.Etag = "v1"
	s.record(s.olga, "The owner inherits again", inherit)
	s.recordError(s.olga, "The owner edits a policy that has changed", "ETAG_MISMATCH", inherit)
	s.recordError(
		s.olga, "The owner edits the defaults", "INVALID_FIELD",
		layer(v1.PolicyLevel_POLICY_LEVEL_DEFAULT, "", &v1.Policy{}, "hold_ttl"),
	)
	s.recordError(
		s.olga, "The owner sets a policy of nothing", "SERVICE_NOT_FOUND",
		layer(ofService, absentID, &v1.Policy{}, "hold_ttl"),
	)
	s.recordError(
		s.olga, "The owner's holds last too long", "INVALID_FIELD",
		layer(tenantWide, "", &v1.Policy{HoldTtl: hours(25)}, "hold_ttl"),
	)
	s.recordError(s.olga, "The owner names a tier twice", "INVALID_FIELD", layer(tenantWide, "",
		&v1.Policy{TierCancellations: &v1.TierCancellations{
			Overrides: []*v1.TierCancellation{
				{Tier: "gold", CancellationWindow: hours(1)}, {Tier: "gold", CancellationWindow: hours(2)},
			},
		}}, "tier_cancellations"))
	s.recordError(
		s.cora, "The coach reads the policy of nothing", "LOCATION_NOT_FOUND", &v1.GetPolicyRequest{LocationId: absentID},
	)
	s.recordError(s.cora, "The coach sets a policy", "PERMISSION_DENIED", layer(tenantWide, "", &v1.Policy{}, "hold_ttl"))
}
