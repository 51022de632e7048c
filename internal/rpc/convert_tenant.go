package rpc

import (
	"google.golang.org/genproto/googleapis/type/latlng"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

const (
	channelPrefix  = "CHANNEL_"
	deliveryPrefix = "DELIVERY_"
)

func tenantMessage(t catalog.Tenant) *v1.Tenant {
	return &v1.Tenant{
		Id:            idText(t.ID),
		Name:          t.Name,
		TimeZone:      t.TimeZone,
		Locale:        t.Locale,
		Currency:      t.Currency,
		TakesPayments: t.TakesPayments,
		Brand:         brandMessage(t.Brand),
		Etag:          etag(t.Version),
		CreateTime:    timestamp(t.CreatedAt),
		UpdateTime:    timestamp(t.UpdatedAt),
	}
}

// The functions called edit apply what an update mask names. Names are checked by the contract.

func editTenant(m *v1.Tenant, paths []string) func(*catalog.Tenant) {
	return func(t *catalog.Tenant) {
		for _, path := range paths {
			switch path {
			case "name":
				t.Name = m.GetName()
			case "time_zone":
				t.TimeZone = m.GetTimeZone()
			case "locale":
				t.Locale = m.GetLocale()
			case "currency":
				t.Currency = m.GetCurrency()
			case "takes_payments":
				t.TakesPayments = m.GetTakesPayments()
			case "brand":
				t.Brand = brandValue(m.GetBrand())
			case "brand.logo_url":
				t.Brand.LogoURL = m.GetBrand().GetLogoUrl()
			case "brand.accent_color":
				t.Brand.Accent = m.GetBrand().GetAccentColor()
			}
		}
	}
}

func brandMessage(b brand.Brand) *v1.Brand {
	if b == (brand.Brand{}) {
		return nil
	}
	return &v1.Brand{LogoUrl: b.LogoURL, AccentColor: b.Accent}
}

func brandValue(m *v1.Brand) brand.Brand {
	return brand.Brand{LogoURL: m.GetLogoUrl(), Accent: m.GetAccentColor()}
}

func locationMessage(l catalog.Location) *v1.Location {
	m := &v1.Location{
		Id:         idText(l.ID),
		Name:       l.Name,
		TimeZone:   l.TimeZone,
		Address:    l.Address,
		Channels:   make([]v1.Channel, 0, len(l.Channels)),
		Active:     l.Active,
		Etag:       etag(l.Version),
		CreateTime: timestamp(l.CreatedAt),
		UpdateTime: timestamp(l.UpdatedAt),
	}
	if l.Point != nil {
		m.Geo = &latlng.LatLng{Latitude: l.Point.Latitude, Longitude: l.Point.Longitude}
	}
	for _, c := range catalog.Channels() {
		if l.Takes(c) {
			m.Channels = append(m.Channels, enum[v1.Channel](v1.Channel_value, channelPrefix, c))
		}
	}
	return m
}

func locationValue(m *v1.Location) catalog.Location {
	return catalog.Location{
		Name:     m.GetName(),
		TimeZone: m.GetTimeZone(),
		Address:  m.GetAddress(),
		Point:    pointValue(m.GetGeo()),
	}
}

func pointValue(m *latlng.LatLng) *catalog.Point {
	if m == nil {
		return nil
	}
	return &catalog.Point{Latitude: m.GetLatitude(), Longitude: m.GetLongitude()}
}

func channelValues(channels []v1.Channel) []catalog.Channel {
	values := make([]catalog.Channel, len(channels))
	for i, c := range channels {
		values[i] = word[catalog.Channel](channelPrefix, c)
	}
	return values
}

func editLocation(m *v1.Location, paths []string) func(*catalog.Location) {
	sent := locationValue(m)
	return func(l *catalog.Location) {
		for _, path := range paths {
			switch path {
			case "name":
				l.Name = sent.Name
			case "time_zone":
				l.TimeZone = sent.TimeZone
			case "geo":
				l.Point = sent.Point
			case "address":
				l.Address = sent.Address
			case "channels":
				l.Channels = channelValues(m.GetChannels())
			case "active":
				l.Active = m.GetActive()
			}
		}
	}
}

func resourceMessage(r catalog.Resource) *v1.Resource {
	return &v1.Resource{
		Id:         idText(r.ID),
		LocationId: idText(r.Location),
		Name:       r.Name,
		Kind:       r.Kind,
		Active:     r.Active,
		Etag:       etag(r.Version),
		CreateTime: timestamp(r.CreatedAt),
		UpdateTime: timestamp(r.UpdatedAt),
	}
}

func resourceValue(m *v1.Resource) catalog.Resource {
	return catalog.Resource{Location: id[tenant.LocationID](m.GetLocationId()), Name: m.GetName(), Kind: m.GetKind()}
}

func editResource(m *v1.Resource, paths []string) func(*catalog.Resource) {
	return func(r *catalog.Resource) {
		for _, path := range paths {
			switch path {
			case "name":
				r.Name = m.GetName()
			case "kind":
				r.Kind = m.GetKind()
			case "active":
				r.Active = m.GetActive()
			}
		}
	}
}

func serviceMessage(s catalog.Service) *v1.Service {
	return &v1.Service{
		Id:                      idText(s.ID),
		Name:                    s.Name,
		Description:             s.Description,
		Category:                s.Category,
		Duration:                duration(s.Duration),
		DefaultCapacity:         optionalInt(s.DefaultCapacity),
		DefaultWaitlistCapacity: int32(s.DefaultWaitlistCapacity),
		MinParty:                int32(s.MinParty),
		MaxParty:                int32(s.MaxParty),
		Delivery:                enum[v1.Delivery](v1.Delivery_value, deliveryPrefix, s.Delivery),
		Color:                   s.Color,
		Active:                  s.Active,
		Etag:                    etag(s.Version),
		CreateTime:              timestamp(s.CreatedAt),
		UpdateTime:              timestamp(s.UpdatedAt),
	}
}

func serviceValue(m *v1.Service) catalog.Service {
	return catalog.Service{
		Name:                    m.GetName(),
		Description:             m.GetDescription(),
		Category:                m.GetCategory(),
		Duration:                span(m.GetDuration()),
		DefaultCapacity:         intPointer(m.DefaultCapacity),
		DefaultWaitlistCapacity: int(m.GetDefaultWaitlistCapacity()),
		MinParty:                int(m.GetMinParty()),
		MaxParty:                int(m.GetMaxParty()),
		Delivery:                word[catalog.Delivery](deliveryPrefix, m.GetDelivery()),
		Color:                   m.GetColor(),
	}
}

func editService(m *v1.Service, paths []string) func(*catalog.Service) {
	sent := serviceValue(m)
	return func(s *catalog.Service) {
		for _, path := range paths {
			switch path {
			case "name":
				s.Name = sent.Name
			case "description":
				s.Description = sent.Description
			case "category":
				s.Category = sent.Category
			case "duration":
				s.Duration = sent.Duration
			case "default_capacity":
				s.DefaultCapacity = sent.DefaultCapacity
			case "default_waitlist_capacity":
				s.DefaultWaitlistCapacity = sent.DefaultWaitlistCapacity
			case "min_party":
				s.MinParty = sent.MinParty
			case "max_party":
				s.MaxParty = sent.MaxParty
			case "delivery":
				s.Delivery = sent.Delivery
			case "color":
				s.Color = sent.Color
			case "active":
				s.Active = m.GetActive()
			}
		}
	}
}
