package data

import (
	"time"

	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

var anyAccount = []grant.AccountStatus{grant.AccountActive, grant.AccountRevoked}

var accountReads = []read{
	// People.
	{accountdb.FindMember, args{"member"}, "member [coach]"},
	{accountdb.FindMember, args{"third"}, "third [owner zoo]"},
	{accountdb.FindMemberBySubject, args{"bo"}, "other [owner]"},
	{accountdb.FindMemberBySubject, args{""}, "none"},
	{accountdb.FindIssuer, args{"bo"}, "https://id.example"},
	{accountdb.FindIssuer, args{"ana"}, ""},
	{accountdb.FindIssuer, args{"none"}, ""},
	{accountdb.FindIssuer, args{""}, ""},
	{
		accountdb.ListMembers, args{member.Search{Limit: 9}},
		"member [coach] other [owner] receiver [zoo] third [owner zoo]",
	},
	{accountdb.ListMembers, args{member.Search{Limit: 2}}, "member [coach] other [owner]"},
	{accountdb.ListMembers, args{member.Search{
		After: &member.Cursor{Name: "Bo", ID: id[tenant.MemberID]("other")}, Limit: 9,
	}}, "receiver [zoo] third [owner zoo]"},
	{accountdb.FindTransfer, args{"transfer"}, "none"}, // its sender is no owner
	{accountdb.FindTransfer, args{"other"}, "none"},    // its sender is inactive
	{accountdb.FindTransfer, args{"third"}, "third [{Member=third Name=Cy}] [{Member=receiver Name=CY}]"},
	{accountdb.ListTransfers, args{"receiver", now, 9},
		"third [{Member=third Name=Cy}] [{Member=receiver Name=CY}]"},
	{accountdb.ListTransfers, args{"receiver", start, 9}, ""},
	{accountdb.ListMembers, args{member.Search{Query: "CY", Limit: 9}}, "receiver [zoo] third [owner zoo]"},
	{accountdb.ListMembers, args{member.Search{Query: "ANA@", Limit: 9}}, "member [coach]"},
	{accountdb.ListMembers, args{member.Search{Query: "44 12", Limit: 9}}, "other [owner]"},
	{accountdb.ListMembers, args{member.Search{Query: "%", Limit: 9}}, ""},
	{accountdb.ListMembers, args{member.Search{Query: "_", Limit: 9}}, ""},
	{accountdb.ListMembers, args{member.Search{Query: `\`, Limit: 9}}, ""},
	{accountdb.ListMembers, args{member.Search{Role: "zoo", Limit: 9}}, "receiver [zoo] third [owner zoo]"},
	{accountdb.ListMembers, args{member.Search{Tier: "gold", Limit: 9}}, "other [owner]"},
	{accountdb.ListMembers, args{member.Search{Tag: "vip", Limit: 9}}, "other [owner]"},
	{accountdb.ListMembers, args{member.Search{Statuses: []member.Status{member.Inactive}, Limit: 9}}, "other [owner]"},
	{
		accountdb.ListTaken, args{[]string{"bo@example.com", "", "x"}, []string{"ana", "", "x"}, []string{"cy", "bo", ""}},
		"{Emails={Email=bo@example.com Name=bo} Subjects=ana Names=cy}",
	},
	{accountdb.ListPeople, args{"third"}, "third"},
	{accountdb.FindOtherOwner, args{"member"}, "true"},
	{accountdb.FindOtherOwner, args{"third"}, "false"},
	{accountdb.FindLocaleByPhone, args{"+4413"}, "it"},
	{accountdb.FindLocaleByPhone, args{"+4412"}, ""},
	{accountdb.FindLocaleByPhone, args{"+99"}, ""},
	{accountdb.FindMemberBySubject, args{"foreign"}, "none"},
	{accountdb.FindSignIn, args{sha("secret")}, "sign_in"},
	{accountdb.FindSignIn, args{sha("x")}, "third"},
	{accountdb.FindSignIn, args{sha("abroad")}, "none"},
	{accountdb.HasOldSignIns, args{start}, "false"},
	{accountdb.HasOldSignIns, args{start.Add(time.Microsecond)}, "true"},
	{accountdb.FindRole, args{"zoo"}, "zoo:3:false"},
	{accountdb.FindRole, args{"coach"}, "coach:2:false"},
	{
		accountdb.FindKey, args{"key"},
		"{Key=key Hash=#key Account=account Name=Kiosk}",
	},
	{
		accountdb.ListPendingContacts, args{"third"},
		"third={Kind=EMAIL Address=new@example.com Code=third CodeHash=#code ExpiresAt=01T12:00} {Kind=PHONE " +
			"Address=+4415 Code=fifth CodeHash=#code ExpiresAt=01T12:00}",
	},
	{accountdb.ListPendingContacts, args{"other"}, ""},
	{
		accountdb.ListPendingContacts, args{"member third"},
		"member={Kind=EMAIL Address=new@example.com Code=code CodeHash=#code ExpiresAt=01T12:00} {Kind=PHONE " +
			"Address=+4414 Code=other CodeHash=#code ExpiresAt=01T12:00} third={Kind=EMAIL " +
			"Address=new@example.com Code=third CodeHash=#code ExpiresAt=01T12:00} {Kind=PHONE Address=+4415 " +
			"Code=fifth CodeHash=#code ExpiresAt=01T12:00}",
	},
	{accountdb.FindInvitation, args{"entry"}, "entry [coach]"},
	{accountdb.FindInvitation, args{"member"}, "none"},
	{accountdb.FindInvited, args{"third"}, "third [owner zoo]"},
	{accountdb.FindInvited, args{"member"}, "none"},
	{accountdb.FindInvitationBefore, args{0}, "01T12:00"},
	{accountdb.FindInvitationBefore, args{2}, "01T11:59"},
	{accountdb.FindInvitationBefore, args{3}, "none"},
	{accountdb.ListDueMails, args{now, 9}, "other batch"},
	{accountdb.ListDueMails, args{now.Add(time.Second), 9}, "other batch fourth third"},
	{accountdb.ListDueMails, args{now, 1}, "other"},
	{accountdb.FindNextMail, nil, "01T11:59"},
	{accountdb.CountCodesOf, args{"member", member.ByEmail, now.Add(-time.Second)}, "2"},
	{accountdb.CountCodesOf, args{"member", member.ByEmail, now}, "1"},
	{accountdb.CountCodesOf, args{"member", member.ByPhone, now}, "0"},
	{accountdb.CountCodesTo, args{[][]byte{sha("address"), sha("x")}, now.Add(-time.Second)}, "2"},
	{accountdb.CountCodesTo, args{[][]byte{sha("address")}, now}, "1"},
	{accountdb.CountCodesTo, args{[][]byte{sha("other")}, now.Add(-time.Second)}, "1"},
	{accountdb.CountGuesses, args{[][]byte{sha("address"), sha("x")}, now.Add(-time.Second)}, "4"},
	{accountdb.CountGuesses, args{[][]byte{sha("address")}, now}, "1"},
	{accountdb.CountGuesses, args{[][]byte{sha("x")}, now.Add(-time.Second)}, "0"},
	{accountdb.HasOldCodes, args{now}, "false"},
	{accountdb.HasOldCodes, args{now.Add(time.Microsecond)}, "true"},
	{accountdb.ListZones, nil, "Africa/Cairo Europe/Vienna; en"},
	{accountdb.ListDevices, args{"member"}, "other device"},
	{accountdb.ListDevices, args{"third"}, "notice third fourth"},
	{accountdb.FindDevice, args{"device"}, "device"},
	{accountdb.FindDevice, args{"member"}, "none"},
	{accountdb.SearchDevices, args{member.DeviceSearch{Limit: 9}}, "notice third fourth device other"},
	{accountdb.SearchDevices, args{member.DeviceSearch{Limit: 2}}, "notice third"},
	{
		accountdb.SearchDevices,
		args{member.DeviceSearch{After: id[tenant.DeviceID]("third"), Limit: 9}},
		"fourth device other",
	},
	{accountdb.SearchDevices, args{member.DeviceSearch{Member: id[tenant.MemberID]("member"), Limit: 9}}, "device other"},
	{accountdb.SearchDevices, args{member.DeviceSearch{Kinds: []member.DeviceKind{member.IOS}, Limit: 1}}, "notice"},
	{accountdb.SearchDevices, args{member.DeviceSearch{Kinds: []member.DeviceKind{member.Web}, Limit: 9}}, ""},
	{accountdb.HasDevice, args{"member", "device"}, "true"},
	{accountdb.HasDevice, args{"member", "third"}, "false"},
	{accountdb.HasDevice, args{"member", "second"}, "false"},
	{accountdb.ListUnsealedDevices, args{9}, "other device third notice"},
	{accountdb.ListUnsealedDevices, args{1}, "other"},
	{accountdb.HasStaleDevices, args{now}, "true"},
	{accountdb.HasStaleDevices, args{now.Add(-time.Second)}, "false"},
	{accountdb.ListOwnRoles, nil, "coach:0:false spare:0:false zoo:0:false"},
	{accountdb.ListRoles, args{grant.RoleSearch{Limit: 9}}, "owner:2:true coach:2:false spare:0:false zoo:3:false"},
	{accountdb.ListRoles, args{grant.RoleSearch{Limit: 1}}, "owner:2:true"},
	{accountdb.ListRoles, args{grant.RoleSearch{After: "owner", Limit: 9}}, "coach:2:false spare:0:false zoo:3:false"},
	{accountdb.ListRoles, args{grant.RoleSearch{After: "coach", Limit: 9}}, "spare:0:false zoo:3:false"},
	{accountdb.ListRoles, args{grant.RoleSearch{BuiltIn: new(true), Limit: 9}}, "owner:2:true"},
	{accountdb.ListRoles, args{grant.RoleSearch{BuiltIn: new(false), Limit: 1}}, "coach:2:false"},
	{accountdb.ListRoles, args{grant.RoleSearch{Permission: "admin.manage", Limit: 9}}, "owner:2:true"},
	{accountdb.ListRoles, args{grant.RoleSearch{Permission: "admin.manage", BuiltIn: new(false), Limit: 9}}, ""},
	{accountdb.ListMemberRoles, args{"member", ""}, "coach"},
	{accountdb.ListMemberRoles, args{"other", ""}, ""},
	{accountdb.ListMemberRoles, args{"", "account"}, "coach"},
	{accountdb.ListMemberRoles, args{"", "other"}, ""},
	{accountdb.FindAccount, args{"account"}, "account [key] [coach]"},
	{accountdb.FindAccount, args{"other"}, "other [decision third other] [zoo]"},
	{accountdb.ListAccounts, args{grant.ServiceAccountSearch{Limit: 9}}, "third [] [] account [key] [coach]"},
	{
		accountdb.ListAccounts, args{grant.ServiceAccountSearch{Statuses: anyAccount, Limit: 9}},
		"round [] [] third [] [] other [decision third other] [zoo] account [key] [coach]",
	},
	{accountdb.ListAccounts, args{grant.ServiceAccountSearch{Statuses: anyAccount, Limit: 2}}, "round [] [] third [] []"},
	{
		accountdb.ListAccounts,
		args{
			grant.ServiceAccountSearch{
				Statuses: anyAccount,
				After:    &grant.ServiceAccountCursor{Name: "Door", ID: id[tenant.ServiceAccountID]("other")},
				Limit:    9,
			},
		},
		"account [key] [coach]",
	},
	{accountdb.ListAccounts, args{grant.ServiceAccountSearch{Role: "coach", Limit: 9}}, "account [key] [coach]"},
	{
		accountdb.ListAccounts,
		args{grant.ServiceAccountSearch{Statuses: []grant.AccountStatus{grant.AccountRevoked}, Role: "zoo", Limit: 9}},
		"other [decision third other] [zoo]",
	},

	// What several of these have in common.
	{accountdb.FindTenant, nil, "tenant"},
	{accountdb.FindTenantProfile, nil, "Harbour; en; {}"},
	{accountdb.ListTransfers, args{"other", now, 9}, ""},
	{accountdb.ListTransfers, args{"receiver", now, 1},
		"third [{Member=third Name=Cy}] [{Member=receiver Name=CY}]"},
	{accountdb.ListTransfers, args{"receiver", now, 0}, ""},
	{accountdb.ListTransfers, args{"", now, 9}, "third [{Member=third Name=Cy}] [{Member=receiver Name=CY}]"},
	{accountdb.FindRole, args{"owner"}, "owner:2:true"},
	{accountdb.FindKey, args{"third"}, "{Key=third Hash=#key Account=other Name=door Revoked=true}"},
}
