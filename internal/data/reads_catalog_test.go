package data

import (
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/tenant"
)

// What lists of the catalog select.
var (
	inUse = []bool{true}
	both  = []bool{true, false}
)

var catalogReads = []read{
	{catalogdb.ListLocationNames, nil, "fifth=wharf location=Pier other=dock"},
	{catalogdb.ListServiceNames, nil, "other=archery service=Rowing"},
	// What a tenant offers.
	{catalogdb.FindLocation, args{"location"}, "location"},
	{catalogdb.FindLocation, args{"other"}, "other"},
	{catalogdb.ListLocations, args{catalogdb.LocationQuery{Active: inUse, Limit: 9}}, "location fifth"},
	{catalogdb.ListLocations, args{catalogdb.LocationQuery{Active: both, Limit: 9}}, "other location fifth"},
	{catalogdb.ListLocations, args{catalogdb.LocationQuery{Active: both, Limit: 1}}, "other"},
	{catalogdb.ListLocations, args{catalogdb.LocationQuery{
		Active: both, AfterName: "DOCK", AfterID: id[tenant.LocationID]("other"), Limit: 9,
	}}, "location fifth"},
	{catalogdb.HasSessions, args{"other"}, "true"},
	{catalogdb.HasSessions, args{"tenant"}, "false"},
	{catalogdb.FindService, args{"service"}, "service"},
	{catalogdb.FindService, args{"other"}, "other"},
	{catalogdb.ListServices, args{catalogdb.ServiceQuery{Active: inUse, Limit: 9}}, "service"},
	{catalogdb.ListServices, args{catalogdb.ServiceQuery{Active: both, Limit: 9}}, "other service"},
	{catalogdb.ListServices, args{catalogdb.ServiceQuery{Active: both, Limit: 1}}, "other"},
	{catalogdb.ListServices, args{catalogdb.ServiceQuery{Active: both, Category: "sport", Limit: 9}}, "other"},
	{catalogdb.ListServices, args{catalogdb.ServiceQuery{
		Active: both, AfterName: "Archery", AfterID: id[tenant.ServiceID]("other"), Limit: 9,
	}}, "service"},
	{catalogdb.FindResource, args{"resource"}, "resource"},
	{catalogdb.FindResource, args{"third"}, "third"},
	{catalogdb.ListResources, args{catalogdb.ResourceQuery{Active: inUse, Limit: 9}}, "fifth third resource"},
	{catalogdb.ListResources, args{catalogdb.ResourceQuery{Active: both, Limit: 9}}, "fifth other third resource"},
	{catalogdb.ListResources, args{catalogdb.ResourceQuery{Active: both, Limit: 2}}, "fifth other"},
	{catalogdb.ListResources, args{catalogdb.ResourceQuery{
		Location: id[tenant.LocationID]("location"), Active: both, Limit: 9,
	}}, "other resource"},
	{catalogdb.ListResources, args{catalogdb.ResourceQuery{
		Active: both, AfterName: "Bay", AfterID: id[tenant.ResourceID]("other"), Limit: 9,
	}}, "third resource"},
	{catalogdb.FindItem, args{"item"}, "item"},
	{catalogdb.FindItem, args{"other"}, "other"},
	{catalogdb.FindItems, args{"item"}, "item"},
	{catalogdb.ListItems, args{catalogdb.ItemQuery{Active: inUse, Limit: 9}}, "fifth third item"},
	{catalogdb.ListItems, args{catalogdb.ItemQuery{Active: both, Limit: 9}}, "fifth other third item"},
	{catalogdb.ListItems, args{catalogdb.ItemQuery{Active: both, Limit: 2}}, "fifth other"},
	{catalogdb.ListItems, args{catalogdb.ItemQuery{
		Location: id[tenant.LocationID]("location"), Active: both, Limit: 9,
	}}, "other item"},
	{catalogdb.ListItems, args{catalogdb.ItemQuery{
		Active: both, AfterName: "Boat", AfterID: id[tenant.ItemID]("other"), Limit: 9,
	}}, "third item"},
	{catalogdb.FindPlan, args{"plan"}, "plan"},
	{catalogdb.FindPlan, args{"third"}, "third"},
	{catalogdb.ListPlans, args{catalogdb.PlanQuery{Active: inUse, Limit: 9}}, "third plan"},
	{catalogdb.ListNamedPlans, args{[]string{"TEN", "five", "x"}}, "plan"},
	{catalogdb.ListPlans, args{catalogdb.PlanQuery{Active: both, Limit: 9}}, "third other plan"},
	{catalogdb.ListPlans, args{catalogdb.PlanQuery{Active: both, Limit: 2}}, "third other"},
	{catalogdb.ListPlans, args{catalogdb.PlanQuery{Active: []bool{false}, Limit: 9}}, "other"},
	{catalogdb.ListPlans, args{catalogdb.PlanQuery{
		Active: both, AfterName: "Five", AfterID: id[tenant.PlanID]("other"), Limit: 9,
	}}, "plan"},
	{
		catalogdb.ListPolicies, args{"location", "service"},
		"{Level=TENANT Scope=tenant Version=1 UpdatedAt=01T12:00} {Level=LOCATION Scope=location Version=1 " +
			"UpdatedAt=01T12:00} {Level=SERVICE Scope=service CheckInOpensBefore=2h0m0s Version=1 UpdatedAt=01T12:00}",
	},
	{catalogdb.ListPolicies, args{"other", "other"}, "{Level=TENANT Scope=tenant Version=1 UpdatedAt=01T12:00}"},
	{catalogdb.FindBenefitProvider, args{"ARMY"},
		"{Code=ARMY Name=Army Pattern=[0-9]+ Active=true Verification=NONE Version=1 CreatedAt=01T12:00 " +
			"UpdatedAt=01T12:00}"},
	{catalogdb.ListBenefitProviders, nil,
		"{Code=ARMY Name=Army Pattern=[0-9]+ Active=true Verification=NONE Version=1 CreatedAt=01T12:00 " +
			"UpdatedAt=01T12:00} {Code=CLUB Name=Club Pattern=[0-9]+ Active=true Verification=NONE Version=1 " +
			"CreatedAt=01T12:00 UpdatedAt=01T12:00}"},
	{catalogdb.FindBenefitNumber, args{"CLUB", "1", "member"}, "{Listed=true}"},
	{catalogdb.FindBenefitNumber, args{"CLUB", "1", "other"}, "{Listed=true Taken=true}"},
	{catalogdb.FindBenefitNumber, args{"CLUB", "0", "member"}, "{Taken=true}"},
	{catalogdb.FindBenefitNumber, args{"CLUB", "3", "member"}, "{}"},
	{catalogdb.CountBenefitNumbers, args{"CLUB", []string{"2", "4"}, []string{"4"}}, "[1 0]"},
	{catalogdb.FindBenefitMembership, args{"CLUB", "member"}, "member"},
	{catalogdb.FindBenefitMembership, args{"ARMY", "other"}, "none"},
	{
		catalogdb.ListBenefitMemberships, args{catalogdb.MembershipQuery{Provider: "CLUB", Limit: 9}},
		"{Provider=CLUB Member=other Key=0 Number=0- Shared=true CreatedAt=01T12:00 MemberName=bo} " +
			"{Provider=CLUB Member=receiver Key=0 Number=1 Shared=true CreatedAt=01T12:00 MemberName=CY} " +
			"{Provider=CLUB Member=third Key=0 Number=1 Shared=true CreatedAt=01T12:00 MemberName=Cy} " +
			"{Provider=CLUB Member=member Key=1 Number=1 CreatedAt=01T12:00 MemberName=Ana Verified=true}",
	},
	{
		catalogdb.ListBenefitMemberships, args{catalogdb.MembershipQuery{Provider: "ARMY", Limit: 9}},
		"{Provider=ARMY Member=third Key=1 Number=1 CreatedAt=01T12:00 MemberName=Cy}",
	},
	{
		catalogdb.ListBenefitMemberships, args{catalogdb.MembershipQuery{Provider: "CLUB", Limit: 1}},
		"{Provider=CLUB Member=other Key=0 Number=0- Shared=true CreatedAt=01T12:00 MemberName=bo}",
	},
	{
		catalogdb.ListBenefitMemberships, args{catalogdb.MembershipQuery{Provider: "CLUB", Key: "1", Limit: 9}},
		"{Provider=CLUB Member=member Key=1 Number=1 CreatedAt=01T12:00 MemberName=Ana Verified=true}",
	},
	{
		catalogdb.ListBenefitMemberships, args{catalogdb.MembershipQuery{
			Provider: "CLUB", Member: id[tenant.MemberID]("third"), Limit: 9,
		}},
		"{Provider=CLUB Member=third Key=0 Number=1 Shared=true CreatedAt=01T12:00 MemberName=Cy}",
	},
	{
		catalogdb.ListBenefitMemberships,
		args{catalogdb.MembershipQuery{Provider: "CLUB", Verified: new(true), Limit: 9}},
		"{Provider=CLUB Member=member Key=1 Number=1 CreatedAt=01T12:00 MemberName=Ana Verified=true}",
	},
	{
		catalogdb.ListBenefitMemberships,
		args{catalogdb.MembershipQuery{Provider: "CLUB", Verified: new(false), Limit: 1}},
		"{Provider=CLUB Member=other Key=0 Number=0- Shared=true CreatedAt=01T12:00 MemberName=bo}",
	},
	{
		catalogdb.ListBenefitMemberships, args{catalogdb.MembershipQuery{
			Provider: "CLUB", AfterKey: "0", AfterMember: id[tenant.MemberID]("other"), Limit: 9,
		}},
		"{Provider=CLUB Member=receiver Key=0 Number=1 Shared=true CreatedAt=01T12:00 MemberName=CY} " +
			"{Provider=CLUB Member=third Key=0 Number=1 Shared=true CreatedAt=01T12:00 MemberName=Cy} " +
			"{Provider=CLUB Member=member Key=1 Number=1 CreatedAt=01T12:00 MemberName=Ana Verified=true}",
	},
	{catalogdb.CountBenefitNumbers, args{"CLUB", []string{"2", "4"}, []string{"1"}}, "[1 1]"},
	{catalogdb.CountBenefitNumbers, args{"CLUB", []string{"1"}, []string{}}, "[1 0]"},
	{catalogdb.CountBenefitNumbers, args{"ARMY", []string{"1"}, []string{"2"}}, "[0 0]"},
	{catalogdb.FindBenefitProvider, args{"NAVY"}, "none"},
}
