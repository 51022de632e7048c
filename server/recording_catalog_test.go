package main

import (
	"time"

	"google.golang.org/genproto/googleapis/type/latlng"
	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// The tenant's settings, locations, resources, services and policies.
func catalogScript() script {
	return script{
		tenantScript(),
		locationsScript(),
		resourcesScript(),
		servicesScript(),
		policiesScript(),
	}
}

func tenantScript() script {
	tenant := func(in *v1.TenantInput, field string) *v1.UpdateTenantRequest {
		return &v1.UpdateTenantRequest{Tenant: in, UpdateMask: paths(field)}
	}
	edit := &v1.UpdateTenantRequest{
		Tenant: &v1.TenantInput{
			Name: "Harbour Yoga & More", TimeZone: "Europe/Vienna", Locale: "de", Currency: "CHF", TakesPayments: true,
			Brand: &v1.Brand{LogoUrl: "https://cdn.example.com/logo.svg", AccentColor: "#2F5D3A"},
		},
		Etag:       "v1",
		UpdateMask: paths("name", "time_zone", "locale", "currency", "takes_payments", "audit_member_reads", "brand"),
	}
	return script{
		mia.calls("Mia reads the tenant", &v1.GetTenantRequest{}),
		portal.calls("The partner reads the tenant", &v1.GetTenantRequest{TenantId: studioID}),
		olga.calls("The owner edits the tenant", edit),
		olga.refused("The owner edits a tenant that has changed", "ETAG_MISMATCH", edit),
		mia.refused("Mia edits the tenant", "PERMISSION_DENIED", edit),
		olga.refused("The owner's time zone is none", "INVALID_FIELD",
			tenant(&v1.TenantInput{TimeZone: "Europe/Atlantis"}, "time_zone")),
		olga.refused("The owner's language is none", "INVALID_FIELD", tenant(&v1.TenantInput{Locale: "xx"}, "locale")),
		olga.refused("The owner's currency is none", "INVALID_FIELD", tenant(&v1.TenantInput{Currency: "QQQ"}, "currency")),
		olga.refused("The owner's logo is on no public host", "INVALID_FIELD",
			tenant(&v1.TenantInput{Brand: &v1.Brand{LogoUrl: "https://localhost/logo.svg"}}, "brand.logo_url")),
		olga.refused("The owner clears the name", "INVALID_FIELD", tenant(&v1.TenantInput{}, "name")),
		olga.calls("The owner clears the color", tenant(&v1.TenantInput{}, "brand.accent_color")),
		mona.calls("Mona reads her own tenant", &v1.GetTenantRequest{}),
	}
}

func locationsScript() script {
	edit := func(id string, in *v1.LocationInput, names ...string) *v1.UpdateLocationRequest {
		return &v1.UpdateLocationRequest{LocationId: id, Location: in, UpdateMask: paths(names...)}
	}
	change := edit(
		"$beach", &v1.LocationInput{Name: "Beach House", TimeZone: "Atlantic/Madeira", Active: new(false)},
		"name", "time_zone", "geo", "active",
	)
	change.Etag = "$created.location.etag"
	channels := edit("$center", &v1.LocationInput{
		Channels: []v1.BookingChannel{v1.BookingChannel_BOOKING_CHANNEL_PHONE, v1.BookingChannel_BOOKING_CHANNEL_ONLINE},
	}, "channels")
	return script{
		olga.calls("The owner adds a location", &v1.CreateLocationRequest{Location: &v1.LocationInput{
			Name: "Beach", TimeZone: "Europe/Lisbon", Geo: &latlng.LatLng{Latitude: 38.7, Longitude: -9.1}, Address: "Praia 1",
		}}).as("created").named("beach"),
		olga.refused("The owner adds it again", "ALREADY_EXISTS",
			&v1.CreateLocationRequest{Location: &v1.LocationInput{Name: "beach"}}),
		cora.refused("The coach adds a location", "PERMISSION_DENIED",
			&v1.CreateLocationRequest{Location: &v1.LocationInput{Name: "Other"}}),
		olga.calls("The owner edits the location", change),
		olga.refused("The owner edits a location that has changed", "ETAG_MISMATCH", change),
		olga.refused("The owner edits no location", "LOCATION_NOT_FOUND", edit(absentID, &v1.LocationInput{}, "active")),
		class("scheduled", on(8, "10:00")),
		olga.refused("The owner moves a location with sessions to another zone", "SESSION_STATE",
			edit("$center", &v1.LocationInput{TimeZone: "UTC"}, "time_zone")),
		olga.calls("The owner sets channels", channels),
		olga.refused("The owner sets channels that have changed", "ETAG_MISMATCH",
			with(channels, &v1.UpdateLocationRequest{Etag: "v1"})),
		mia.calls("Mia reads a location", &v1.GetLocationRequest{LocationId: "$center"}),
		mia.refused("Mia reads no location", "LOCATION_NOT_FOUND", &v1.GetLocationRequest{LocationId: absentID}),
		mona.refused("Mona reads the other tenant's location", "LOCATION_NOT_FOUND",
			&v1.GetLocationRequest{LocationId: "$center"}),
		mia.calls("Mia lists one location", &v1.ListLocationsRequest{PageSize: 1}).as("page"),
		mia.calls("Mia lists the next location", &v1.ListLocationsRequest{PageSize: 1, PageToken: "$page.nextPageToken"}),
		mia.calls("Mia lists all locations", &v1.ListLocationsRequest{Filter: &v1.LocationFilter{Statuses: everyStatus()}}),
	}
}

func resourcesScript() script {
	add := func(location, name string) *v1.CreateResourceRequest {
		return &v1.CreateResourceRequest{LocationId: location, Resource: &v1.ResourceInput{Name: name, Kind: "court"}}
	}
	edit := &v1.UpdateResourceRequest{
		ResourceId: "$created.resource.id",
		Resource:   &v1.ResourceInput{Name: "Court A", Kind: "clay", Active: new(false)},
		UpdateMask: paths("name", "kind", "active"), Etag: "$created.resource.etag",
	}
	return script{
		olga.calls("The owner adds a court", add("$center", "Court 1")).as("created"),
		olga.refused("The owner adds the court again", "ALREADY_EXISTS", add("$center", "court 1")),
		olga.refused("The owner adds a court nowhere", "LOCATION_NOT_FOUND", add(absentID, "Court 1")),
		olga.calls("The owner closes the court", edit),
		olga.refused("The owner edits a court that has changed", "ETAG_MISMATCH", edit),
		olga.refused("The owner edits no court", "RESOURCE_NOT_FOUND",
			&v1.UpdateResourceRequest{ResourceId: absentID, Resource: &v1.ResourceInput{}, UpdateMask: paths("kind")}),
		mia.calls("Mia reads the court", &v1.GetResourceRequest{ResourceId: "$created.resource.id"}),
		mia.refused("Mia reads no court", "RESOURCE_NOT_FOUND", &v1.GetResourceRequest{ResourceId: absentID}),
		mia.calls("Mia lists one resource",
			&v1.ListResourcesRequest{Filter: &v1.ResourceFilter{LocationId: "$center"}, PageSize: 1}).as("page"),
		mia.calls("Mia lists the next resource",
			&v1.ListResourcesRequest{
				Filter: &v1.ResourceFilter{LocationId: "$center"}, PageSize: 1, PageToken: "$page.nextPageToken",
			}),
		olga.calls("The owner lists all resources",
			&v1.ListResourcesRequest{Filter: &v1.ResourceFilter{Statuses: everyStatus()}}),
		mia.refused("Mia lists resources of nothing", "LOCATION_NOT_FOUND",
			&v1.ListResourcesRequest{Filter: &v1.ResourceFilter{LocationId: absentID}}),
	}
}

func servicesScript() script {
	add := func(in *v1.ServiceInput) *v1.CreateServiceRequest { return &v1.CreateServiceRequest{Service: in} }
	edit := func(id string, in *v1.ServiceInput, names ...string) *v1.UpdateServiceRequest {
		return &v1.UpdateServiceRequest{ServiceId: id, Service: in, UpdateMask: paths(names...)}
	}
	change := edit(
		"$created.service.id", &v1.ServiceInput{DefaultWaitlistCapacity: 3, Active: new(true)},
		"default_capacity", "default_waitlist_capacity", "active",
	)
	change.Etag = "$created.service.etag"
	return script{
		clock(on(5, "10:10")),
		olga.calls("The owner adds a service", add(&v1.ServiceInput{
			Name: "Round", Description: "Eighteen holes.", Category: "Golf", Duration: durationpb.New(4 * time.Hour),
			DefaultCapacity: new(int32(4)),
			MinParty:        2, MaxParty: 4, Delivery: v1.DeliveryMode_DELIVERY_MODE_IN_PERSON, Color: "#00ff00",
		})).as("created").named("golf-round"),
		olga.calls(
			"The owner adds a service with nothing but defaults",
			add(
				&v1.ServiceInput{
					Name: "Talk", Duration: durationpb.New(30 * time.Minute), Delivery: v1.DeliveryMode_DELIVERY_MODE_FEED,
				},
			),
		),
		olga.refused("The owner adds the service again", "ALREADY_EXISTS",
			add(&v1.ServiceInput{Name: "ROUND", Duration: durationpb.New(time.Hour)})),
		olga.refused("The owner adds a service without a length", "INVALID_FIELD", add(&v1.ServiceInput{Name: "Short"})),
		olga.calls("The owner edits the service", change),
		olga.refused("The owner edits a service that has changed", "ETAG_MISMATCH", change),
		olga.refused("The owner has parties of three to two", "INVALID_FIELD",
			edit("$created.service.id", &v1.ServiceInput{MinParty: 3, MaxParty: 2}, "min_party", "max_party")),
		olga.refused("The owner has parties of five to four", "INVALID_FIELD",
			edit("$created.service.id", &v1.ServiceInput{MinParty: 5}, "min_party")),
		olga.refused("The owner edits no service", "SERVICE_NOT_FOUND", edit(absentID, &v1.ServiceInput{}, "color")),
		mia.calls("Mia reads the service", &v1.GetServiceRequest{ServiceId: "$created.service.id"}),
		mia.refused("Mia reads no service", "SERVICE_NOT_FOUND", &v1.GetServiceRequest{ServiceId: absentID}),
		mia.calls("Mia lists one service", &v1.ListServicesRequest{PageSize: 1}).as("page"),
		mia.calls("Mia lists the next service", &v1.ListServicesRequest{PageSize: 1, PageToken: "$page.nextPageToken"}),
	}
}

func policiesScript() script {
	layer := func(level v1.SettingLevel, target string, policy *v1.Policy, names ...string) *v1.UpdatePolicyRequest {
		return &v1.UpdatePolicyRequest{
			Level: level, TargetId: target, Policy: policy, UpdateMask: paths(names...),
		}
	}
	const (
		tenantWide = v1.SettingLevel_SETTING_LEVEL_TENANT
		ofLocation = v1.SettingLevel_SETTING_LEVEL_LOCATION
		ofService  = v1.SettingLevel_SETTING_LEVEL_SERVICE
	)
	hours := func(n int) *durationpb.Duration { return durationpb.New(time.Duration(n) * time.Hour) }
	inherit := layer(ofService, "$yoga", &v1.Policy{}, "hold_ttl")
	inherit.Etag = "v1"
	return script{
		cora.calls("The coach reads the policy", &v1.GetPolicyRequest{}),
		mia.refused("Mia reads the policy", "PERMISSION_DENIED", &v1.GetPolicyRequest{}),
		olga.calls("The owner sets a policy", layer(tenantWide, "", &v1.Policy{
			AdvanceWindow: hours(24 * 60), BookingClosesBefore: hours(1), CancellationWindow: hours(12),
			AllowLateCancellation: new(true),
			HoldTtl:               durationpb.New(5 * time.Minute), CheckInOpensBefore: hours(2),
			CheckInClosesAfterEnd: hours(1),
			GpsMaxMeters:          new(int32(500)),
			AutoNoShow:            new(true), AutoNoShowAfter: hours(2), CheckInRequiresQr: new(true),
			TierCancellations: &v1.TierCancellations{Overrides: []*v1.TierCancellation{
				{Tier: "visitor", CancellationWindow: hours(48)},
				{Tier: "gold", CancellationWindow: hours(4), AllowReschedule: new(true)},
			}},
		}, "advance_window", "booking_closes_before", "cancellation_window", "allow_late_cancellation", "allow_reschedule",
			"tier_cancellations", "hold_ttl", "check_in_opens_before", "check_in_closes_after_end", "gps_max_meters",
			"auto_no_show", "auto_no_show_after", "check_in_requires_qr")),
		olga.calls("The owner sets a policy of the center", layer(
			ofLocation, "$center", &v1.Policy{AllowReschedule: new(true), HoldTtl: hours(1)}, "allow_reschedule", "hold_ttl",
		)),
		olga.calls("The owner sets a policy of yoga", layer(
			ofService, "$yoga", &v1.Policy{HoldTtl: hours(2), TierCancellations: &v1.TierCancellations{}}, "hold_ttl",
			"tier_cancellations",
		)),
		cora.calls("The coach reads the policy of yoga at the center",
			&v1.GetPolicyRequest{LocationId: "$center", ServiceId: "$yoga"}),
		olga.calls("The owner inherits again", inherit),
		olga.refused("The owner edits a policy that has changed", "ETAG_MISMATCH", inherit),
		olga.refused("The owner edits the defaults", "INVALID_FIELD", layer(v1.SettingLevel_SETTING_LEVEL_DEFAULT, "",
			&v1.Policy{}, "hold_ttl")),
		olga.refused("The owner sets a policy of nothing", "SERVICE_NOT_FOUND", layer(ofService, absentID,
			&v1.Policy{}, "hold_ttl")),
		olga.refused("The owner's holds last too long", "INVALID_FIELD", layer(tenantWide, "",
			&v1.Policy{HoldTtl: hours(25)}, "hold_ttl")),
		olga.refused("The owner names a tier twice", "INVALID_FIELD", layer(tenantWide, "",
			&v1.Policy{TierCancellations: &v1.TierCancellations{
				Overrides: []*v1.TierCancellation{
					{Tier: "gold", CancellationWindow: hours(1)}, {Tier: "gold", CancellationWindow: hours(2)},
				},
			}}, "tier_cancellations")),
		cora.refused("The coach reads the policy of nothing", "LOCATION_NOT_FOUND",
			&v1.GetPolicyRequest{LocationId: absentID}),
		cora.refused("The coach sets a policy", "PERMISSION_DENIED", layer(tenantWide, "", &v1.Policy{}, "hold_ttl")),
	}
}
