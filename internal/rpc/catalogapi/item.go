package catalogapi

import (
	"context"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/catalog"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// CreateItem handles CatalogService.CreateItem.
func (s *Catalog) CreateItem(ctx context.Context, req *v1.CreateItemRequest) (*v1.CreateItemResponse, error) {
	item := itemValue(req.Item)
	item.Location = convert.ID[tenant.LocationID](req.LocationId)
	item, err := s.Service.CreateItem(ctx, request.Caller(ctx), item)
	if err != nil {
		return nil, err
	}
	return &v1.CreateItemResponse{Item: itemMessage(item)}, nil
}

// UpdateItem handles CatalogService.UpdateItem.
func (s *Catalog) UpdateItem(ctx context.Context, req *v1.UpdateItemRequest) (*v1.UpdateItemResponse, error) {
	expect, err := convert.ExpectedVersion(req.Etag)
	if err != nil {
		return nil, err
	}
	edited := itemValue(req.Item)
	item, err := s.Service.UpdateItem(ctx, request.Caller(ctx), convert.ID[tenant.ItemID](req.ItemId), expect,
		func(i *booking.Item) error {
			unknown := convert.Fields{
				"name":         convert.Field(&i.Name, edited.Name),
				"kind":         convert.Field(&i.Kind, edited.Kind),
				"stock":        convert.Field(&i.Stock, edited.Stock),
				"price":        convert.Field(&i.Price, edited.Price),
				"use_duration": convert.Field(&i.UseDuration, edited.UseDuration),
				"active":       convert.Field(&i.Active, edited.Active),
			}.Set(req.UpdateMask.GetPaths())
			if unknown != "" {
				return fault.Invalid("update_mask", "An item has no field %q.", unknown)
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	return &v1.UpdateItemResponse{Item: itemMessage(item)}, nil
}

// GetItem handles CatalogService.GetItem.
func (s *Catalog) GetItem(ctx context.Context, req *v1.GetItemRequest) (*v1.GetItemResponse, error) {
	found, err := s.Service.GetItem(ctx, request.Caller(ctx), convert.ID[tenant.ItemID](req.ItemId))
	if err != nil {
		return nil, err
	}
	return &v1.GetItemResponse{Item: itemMessage(found)}, nil
}

// ListItems handles CatalogService.ListItems.
func (s *Catalog) ListItems(ctx context.Context, req *v1.ListItemsRequest) (*v1.ListItemsResponse, error) {
	page, err := convert.ParsePage[convert.NameCursor](req)
	if err != nil {
		return nil, err
	}
	query := catalog.ItemQuery{
		Location: convert.ID[tenant.LocationID](req.GetFilter().GetLocationId()),
		Active:   activeValues(req.GetFilter().GetStatuses()), Limit: page.Limit(),
	}
	if page.After != nil {
		query.AfterName, query.AfterID = page.After.Name, tenant.ItemID{UUID: page.After.ID}
	}
	items, err := s.Service.ListItems(ctx, request.Caller(ctx), query)
	if err != nil {
		return nil, err
	}
	items, next := convert.Paginate(
		page, items, func(i booking.Item) convert.NameCursor { return convert.NameCursor{Name: i.Name, ID: i.ID.UUID} },
	)
	return &v1.ListItemsResponse{Items: convert.Messages(items, itemMessage), NextPageToken: next}, nil
}

func itemMessage(i booking.Item) *v1.Item {
	return &v1.Item{
		Id: convert.IDText(i.ID), LocationId: convert.IDText(i.Location), Name: i.Name, Kind: i.Kind, Stock: int32(i.Stock),
		Price: convert.MoneyMessage(i.Price), UseDuration: convert.OptionalDurationMessage(i.UseDuration), Active: i.Active,
		Etag: convert.Etag(i.Version),
	}
}

func itemValue(m *v1.ItemInput) booking.Item {
	return booking.Item{
		Name: m.GetName(), Kind: m.GetKind(), Stock: int(m.GetStock()), Price: convert.MoneyValue(m.GetPrice()),
		UseDuration: convert.OptionalDurationValue(m.GetUseDuration()), Active: convert.TrueUnlessSet(m.Active),
	}
}
