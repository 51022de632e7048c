package catalogapi

import (
	"google.golang.org/genproto/googleapis/type/latlng"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

func locationMessage(l catalog.Location) *v1.Location {
	m := &v1.Location{
		Id:         convert.IDText(l.ID),
		Name:       l.Name,
		TimeZone:   l.TimeZone,
		Address:    l.Address,
		Channels:   make([]v1.Channel, 0, len(l.Channels)),
		Active:     l.Active,
		Etag:       convert.Etag(l.Version),
		CreateTime: convert.Timestamp(l.CreatedAt),
		UpdateTime: convert.Timestamp(l.UpdatedAt),
	}
	if l.Point != nil {
		m.Geo = &latlng.LatLng{Latitude: l.Point.Latitude, Longitude: l.Point.Longitude}
	}
	for _, c := range catalog.Channels() {
		if l.Accepts(c) {
			m.Channels = append(m.Channels, convert.Enum[v1.Channel](v1.Channel_value, convert.ChannelPrefix, c))
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
		values[i] = convert.EnumName[catalog.Channel](convert.ChannelPrefix, c)
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
		Id:         convert.IDText(r.ID),
		LocationId: convert.IDText(r.Location),
		Name:       r.Name,
		Kind:       r.Kind,
		Active:     r.Active,
		Etag:       convert.Etag(r.Version),
		CreateTime: convert.Timestamp(r.CreatedAt),
		UpdateTime: convert.Timestamp(r.UpdatedAt),
	}
}

func resourceValue(m *v1.Resource) catalog.Resource {
	return catalog.Resource{
		Location: convert.ID[tenant.LocationID](m.GetLocationId()), Name: m.GetName(), Kind: m.GetKind(),
	}
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
		Id:                      convert.IDText(s.ID),
		Name:                    s.Name,
		Description:             s.Description,
		Category:                s.Category,
		Duration:                convert.DurationMessage(s.Duration),
		DefaultCapacity:         convert.OptionalInt32(s.DefaultCapacity),
		DefaultWaitlistCapacity: int32(s.DefaultWaitlistCapacity),
		MinParty:                int32(s.MinParty),
		MaxParty:                int32(s.MaxParty),
		Delivery:                convert.Enum[v1.Delivery](v1.Delivery_value, convert.DeliveryPrefix, s.Delivery),
		Color:                   s.Color,
		Active:                  s.Active,
		Etag:                    convert.Etag(s.Version),
		CreateTime:              convert.Timestamp(s.CreatedAt),
		UpdateTime:              convert.Timestamp(s.UpdatedAt),
	}
}

func serviceValue(m *v1.Service) catalog.Service {
	return catalog.Service{
		Name:                    m.GetName(),
		Description:             m.GetDescription(),
		Category:                m.GetCategory(),
		Duration:                convert.DurationValue(m.GetDuration()),
		DefaultCapacity:         convert.OptionalInt(m.DefaultCapacity),
		DefaultWaitlistCapacity: int(m.GetDefaultWaitlistCapacity()),
		MinParty:                int(m.GetMinParty()),
		MaxParty:                int(m.GetMaxParty()),
		Delivery:                convert.EnumName[catalog.Delivery](convert.DeliveryPrefix, m.GetDelivery()),
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
