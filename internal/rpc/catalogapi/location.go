package catalogapi

import (
	"context"
	"slices"

	"google.golang.org/genproto/googleapis/type/latlng"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	appcatalog "github.com/berthhq/berth/internal/app/catalog"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// editPolicies is the permission of those who choose the channels of a location.
const editPolicies = "policy.write"

// CreateLocation handles CatalogService.CreateLocation.
func (s *Catalog) CreateLocation(
	ctx context.Context, req *v1.CreateLocationRequest,
) (*v1.CreateLocationResponse, error) {
	if len(req.GetLocation().GetChannels()) > 0 {
		if err := request.RequirePermission(ctx, editPolicies); err != nil {
			return nil, err
		}
	}
	l, err := s.Service.CreateLocation(ctx, request.Caller(ctx), locationValue(req.GetLocation()))
	if err != nil {
		return nil, err
	}
	return &v1.CreateLocationResponse{Location: locationMessage(l)}, nil
}

// UpdateLocation handles CatalogService.UpdateLocation.
func (s *Catalog) UpdateLocation(
	ctx context.Context, req *v1.UpdateLocationRequest,
) (*v1.UpdateLocationResponse, error) {
	expect, err := convert.ExpectedVersion(req.GetEtag())
	if err != nil {
		return nil, err
	}
	paths := req.GetUpdateMask().GetPaths()
	if slices.Contains(paths, "channels") {
		if err := request.RequirePermission(ctx, editPolicies); err != nil {
			return nil, err
		}
	}
	l, err := s.Service.UpdateLocation(
		ctx, request.Caller(ctx), convert.ID[tenant.LocationID](req.GetLocationId()), expect,
		editLocation(req.GetLocation(), paths),
	)
	if err != nil {
		return nil, err
	}
	return &v1.UpdateLocationResponse{Location: locationMessage(l)}, nil
}

// GetLocation handles CatalogService.GetLocation.
func (s *Catalog) GetLocation(ctx context.Context, req *v1.GetLocationRequest) (*v1.GetLocationResponse, error) {
	l, err := s.Service.GetLocation(ctx, request.Caller(ctx), convert.ID[tenant.LocationID](req.GetLocationId()))
	if err != nil {
		return nil, err
	}
	return &v1.GetLocationResponse{Location: locationMessage(l)}, nil
}

// ListLocations handles CatalogService.ListLocations.
func (s *Catalog) ListLocations(ctx context.Context, req *v1.ListLocationsRequest) (*v1.ListLocationsResponse, error) {
	page, err := convert.ParsePage[convert.NameCursor](req)
	if err != nil {
		return nil, err
	}
	q := appcatalog.LocationQuery{Active: activeValues(req.GetFilter().GetStatuses()), Limit: page.Limit()}
	if page.After != nil {
		q.AfterName, q.AfterID.UUID = page.After.Name, page.After.ID
	}
	locations, err := s.Service.ListLocations(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	locations, next := convert.Paginate(
		page, locations,
		func(l catalog.Location) convert.NameCursor { return convert.NameCursor{Name: l.Name, ID: l.ID.UUID} },
	)
	return &v1.ListLocationsResponse{
		Locations: convert.Messages(locations, locationMessage), NextPageToken: next,
	}, nil
}

func locationMessage(l catalog.Location) *v1.Location {
	m := &v1.Location{
		Id:         convert.IDText(l.ID),
		Name:       l.Name,
		TimeZone:   l.TimeZone,
		Address:    l.Address,
		Channels:   make([]v1.BookingChannel, 0, len(l.Channels)),
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
			m.Channels = append(m.Channels, convert.Enum[v1.BookingChannel](v1.BookingChannel_value, convert.ChannelPrefix, c))
		}
	}
	return m
}

func locationValue(m *v1.LocationInput) catalog.Location {
	return catalog.Location{
		Name:     m.GetName(),
		TimeZone: m.GetTimeZone(),
		Address:  m.GetAddress(),
		Point:    pointValue(m.GetGeo()),
		Channels: channelValues(m.GetChannels()),
		Active:   convert.TrueUnlessSet(m.Active),
	}
}

func pointValue(m *latlng.LatLng) *catalog.Point {
	if m == nil {
		return nil
	}
	return &catalog.Point{Latitude: m.GetLatitude(), Longitude: m.GetLongitude()}
}

func channelValues(channels []v1.BookingChannel) []catalog.Channel {
	values := make([]catalog.Channel, len(channels))
	for i, c := range channels {
		values[i] = convert.EnumName[catalog.Channel](convert.ChannelPrefix, c)
	}
	return values
}

func editLocation(m *v1.LocationInput, paths []string) func(*catalog.Location) {
	sent := locationValue(m)
	return func(l *catalog.Location) {
		convert.Fields{
			"name":      convert.Field(&l.Name, sent.Name),
			"time_zone": convert.Field(&l.TimeZone, sent.TimeZone),
			"geo":       convert.Field(&l.Point, sent.Point),
			"address":   convert.Field(&l.Address, sent.Address),
			"channels":  convert.Field(&l.Channels, sent.Channels),
			"active":    convert.Field(&l.Active, sent.Active),
		}.Set(paths)
	}
}
