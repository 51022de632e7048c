package data

import (
	"time"

	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

var catalogWrites = []write{
	{catalogdb.InsertLocation, args{catalog.Location{
		ID: id[tenant.LocationID]("second"), Name: "Quay", TimeZone: "Europe/Rome", Active: true, CreatedAt: now,
		Channels: []catalog.Channel{catalog.Phone},
	}}, "locations +second {active=true channels=[\"PHONE\"] created_at=2026-03-01T12:00:00+00:00 " +
		"name=Quay time_zone=Europe/Rome updated_at=0001-01-01T00:00:00+00:00}\n" +
		"tenants  {snapshot_version=2}"},
	{catalogdb.InsertService, args{catalog.Service{
		ID: id[tenant.ServiceID]("second"), Name: "Sailing", Duration: time.Hour, MinParty: 1, MaxParty: 2,
		Delivery: catalog.Feed, Active: true, CreatedAt: now,
	}}, "services +second {active=true created_at=2026-03-01T12:00:00+00:00 delivery=FEED " +
		"duration_seconds=3600 max_party=2 min_party=1 name=Sailing " +
		"updated_at=0001-01-01T00:00:00+00:00}\n" +
		"tenants  {snapshot_version=2}"},
	{catalogdb.InsertResource, args{catalog.Resource{
		ID: id[tenant.ResourceID]("second"), Location: id[tenant.LocationID]("location"), Name: "Court 3", Active: true,
		CreatedAt: now,
	}}, "resources +second {active=true created_at=2026-03-01T12:00:00+00:00 location_id=location " +
		"name=Court 3 updated_at=0001-01-01T00:00:00+00:00}"},
	{catalogdb.InsertPlan, args{credit.Plan{
		ID: id[tenant.PlanID]("second"), Name: "Twelve", Kind: credit.Credits, Credits: 12, Active: true, CreatedAt: now,
	}}, "plans +second {active=true created_at=2026-03-01T12:00:00+00:00 credits=12 kind=CREDITS " +
		"name=Twelve updated_at=0001-01-01T00:00:00+00:00}\n" +
		"tenants  {snapshot_version=2}"},
	{catalogdb.InsertItem, args{booking.Item{
		ID: id[tenant.ItemID]("second"), Location: id[tenant.LocationID]("location"), Name: "Paddle", Stock: 5, Active: true,
		CreatedAt: now,
	}}, "items +second {active=true created_at=2026-03-01T12:00:00+00:00 location_id=location " +
		"name=Paddle stock=5 updated_at=0001-01-01T00:00:00+00:00}"},
	{catalogdb.UpdateLocation, args{catalog.Location{
		ID: id[tenant.LocationID]("location"), Name: "Quay", TimeZone: "Europe/Rome", Version: 2, UpdatedAt: start,
		Channels: []catalog.Channel{catalog.Phone},
	}}, "locations location {active=false channels=[\"PHONE\"] name=Quay time_zone=Europe/Rome " +
		"updated_at=2026-03-02T08:00:00+00:00 version=2}\n" +
		"tenants  {snapshot_version=2}"},
	{catalogdb.UpdateService, args{catalog.Service{
		ID: id[tenant.ServiceID]("service"), Name: "Sailing", Duration: time.Hour, MinParty: 1, MaxParty: 2,
		Delivery: catalog.InPerson, Version: 2, UpdatedAt: start,
	}}, `
services service {active=false max_party=2 name=Sailing updated_at=2026-03-02T08:00:00+00:00 version=2}
tenants  {snapshot_version=2}`},
	{catalogdb.UpdateResource, args{catalog.Resource{
		ID: id[tenant.ResourceID]("resource"), Location: id[tenant.LocationID]("location"), Name: "Court 2", Version: 2,
		UpdatedAt: start,
	}}, "resources resource {active=false name=Court 2 updated_at=2026-03-02T08:00:00+00:00 version=2}"},
	{catalogdb.UpdatePlan, args{credit.Plan{
		ID: id[tenant.PlanID]("plan"), Name: "Twelve", Kind: credit.Credits, Credits: 12, Version: 2, UpdatedAt: start,
	}}, "plans plan {active=false credits=12 daily_limit=null name=Twelve " +
		"updated_at=2026-03-02T08:00:00+00:00 version=2 weekly_limit=null}\n" +
		"tenants  {snapshot_version=2}"},
	{catalogdb.UpdateItem, args{booking.Item{
		ID: id[tenant.ItemID]("item"), Name: "Paddle", Stock: 5, Version: 2, UpdatedAt: start,
	}}, "items item {active=false name=Paddle stock=5 updated_at=2026-03-02T08:00:00+00:00 version=2}"},
	{catalogdb.PutPolicy, args{catalog.PolicyLayer{
		Level: catalog.TenantLevel, Scope: uuid("tenant"), HoldTTL: new(time.Minute), Version: 2, UpdatedAt: start,
	}}, `
policies TENANT tenant {hold_ttl_seconds=60 updated_at=2026-03-02T08:00:00+00:00 version=2}
tenants  {snapshot_version=2}`},
	{catalogdb.PutBenefitProvider, args{booking.BenefitProvider{
		Code: "CLUB", Name: "Club 2", Pattern: "[0-9]*", Verification: booking.VerifyByList, Version: 2, UpdatedAt: start,
	}}, "benefit_providers CLUB {active=false name=Club 2 number_pattern=[0-9]* " +
		"updated_at=2026-03-02T08:00:00+00:00 verification=LIST version=2}"},
	{
		catalogdb.AddBenefitNumbers, args{"CLUB", []string{"1", "3"}},
		"benefit_numbers +CLUB 3 {number=3 provider_code=CLUB}",
	},
	{catalogdb.RemoveBenefitNumbers, args{"CLUB", []string{"1", "3"}}, "benefit_numbers -CLUB 1"},
	{catalogdb.KeepBenefitNumbers, args{"CLUB", []string{"1", "3"}}, "benefit_numbers -CLUB 2"},
	{catalogdb.PutBenefitMembership, args{booking.BenefitMembership{
		Provider: "CLUB", Member: id[tenant.MemberID]("member"), Key: "1", Number: "1-", CreatedAt: now,
	}}, ""},
	{catalogdb.PutBenefitMembership, args{booking.BenefitMembership{
		Provider: "CLUB", Member: id[tenant.MemberID]("member"), Key: "7", Number: "7", CreatedAt: now,
	}}, "benefit_memberships CLUB member {entered=7 number=7}"},
	{catalogdb.DeleteBenefitMembership, args{"CLUB", "member"}, "benefit_memberships -CLUB member"},
	{catalogdb.DeleteBenefitMembership, args{"ARMY", "member"}, ""},
	{catalogdb.KeepBenefitNumbers, args{"ARMY", []string{"1", "3"}}, ""},
}
