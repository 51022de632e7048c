package main

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Roles, role assignments, and service accounts.
func recordRoles(s *studio) {
	recordRoleEdits(s)
	recordAssignments(s)
	recordAccounts(s)
}

func recordRoleEdits(s *studio) {
	s.record(s.cora, "The coach lists permissions", &v1.ListPermissionsRequest{})
	s.recordError(s.mia, "Mia lists permissions", "PERMISSION_DENIED", &v1.ListPermissionsRequest{})
	greeter := &v1.Role{
		Name: "greeter", Title: "Greeter", Description: "Says hello.", Permissions: []string{"checkin.staff", "session.read"},
	}
	created := recordResponse[*v1.CreateRoleResponse](
		s.recording, s.adam, "The admin makes a role", &v1.CreateRoleRequest{Role: greeter},
	).GetRole()
	s.recordError(s.adam, "The admin makes it again", "ALREADY_EXISTS", &v1.CreateRoleRequest{Role: greeter})
	s.recordError(s.adam, "The admin makes a role that flies", "PERMISSION_NOT_FOUND",
		&v1.CreateRoleRequest{Role: &v1.Role{Name: "pilot", Permissions: []string{"plane.fly"}}})
	s.recordError(
		s.adam, "The admin's role has a bad name", "INVALID_FIELD", &v1.CreateRoleRequest{Role: &v1.Role{Name: "No Name"}},
	)
	edit := func(in *v1.Role, names ...string) *v1.UpdateRoleRequest {
		return &v1.UpdateRoleRequest{Role: in, UpdateMask: paths(names...)}
	}
	change := edit(
		&v1.Role{
			Name: "greeter", Title: "Host", Permissions: []string{"session.read", "booking.roster"}, Etag: created.GetEtag(),
		},
		"title", "permissions",
	)
	s.record(s.adam, "The admin edits the role", change)
	s.recordError(s.adam, "The admin edits a role that has changed", "ETAG_MISMATCH", change)
	s.recordError(
		s.adam, "The admin edits what every tenant has", "ROLE_BUILT_IN",
		edit(&v1.Role{Name: "coach", Title: "Trainer"}, "title"),
	)
	s.recordError(s.adam, "The admin edits no role", "ROLE_NOT_FOUND", edit(&v1.Role{Name: "nobody"}, "title"))
	page := recordResponse[*v1.ListRolesResponse](
		s.recording, s.cora, "The coach lists two roles", &v1.ListRolesRequest{PageSize: 2},
	)
	s.record(s.cora, "The coach lists the next two", &v1.ListRolesRequest{PageSize: 2, PageToken: page.GetNextPageToken()})
	s.recordError(
		s.adam, "The admin deletes a role that a member has", "ROLE_IN_USE", &v1.DeleteRoleRequest{Role: "front_desk"},
	)
	s.recordError(
		s.adam, "The admin deletes what every tenant has", "ROLE_BUILT_IN", &v1.DeleteRoleRequest{Role: "member"},
	)
	s.recordError(
		s.adam, "The admin deletes a role that has changed", "ETAG_MISMATCH",
		&v1.DeleteRoleRequest{Role: "greeter", Etag: "v1"},
	)
	s.recordError(s.cora, "The coach deletes a role", "PERMISSION_DENIED", &v1.DeleteRoleRequest{Role: "greeter"})
}

func recordAssignments(s *studio) {
	assign := func(caller, role string) *v1.AssignRoleRequest {
		return &v1.AssignRoleRequest{MemberId: caller, Role: role}
	}
	revoke := func(caller, role string) *v1.RevokeRoleRequest {
		return &v1.RevokeRoleRequest{MemberId: caller, Role: role}
	}
	s.record(s.adam, "The admin makes Mia a greeter", assign(s.mia.id, "greeter"))
	s.record(s.adam, "The admin makes Mia a greeter again", assign(s.mia.id, "greeter"))
	class := s.class("roster", on(8, "10:00"))
	s.record(s.mia, "Mia reads a roster", &v1.ListRosterRequest{SessionId: class})
	s.recordError(s.adam, "The admin assigns no role", "ROLE_NOT_FOUND", assign(s.mia.id, "nobody"))
	s.recordError(s.adam, "The admin assigns a role to an unknown member", "MEMBER_NOT_FOUND", assign(absentID, "greeter"))
	s.record(s.olga, "The owner has a second owner", assign(s.tom.id, "owner"))
	s.record(s.tom, "The second owner is none any more", revoke(s.tom.id, "owner"))
	s.recordError(s.olga, "The last owner gives up", "LAST_OWNER", revoke(s.olga.id, "owner"))
	s.recordError(s.adam, "The admin makes an admin", "PERMISSION_DENIED", assign(s.mia.id, "admin"))
	recordOwnership(s)
	narrow := &v1.Role{Name: "assigner", Permissions: []string{"role.assign", "role.write"}}
	s.record(s.olga, "The owner makes a role that assigns", &v1.CreateRoleRequest{Role: narrow})
	s.record(s.olga, "The owner gives it to Noah", assign(s.noah.id, "assigner"))
	s.recordError(s.noah, "Noah makes an admin", "PERMISSION_DENIED", assign(s.lena.id, "admin"))
	s.recordError(
		s.noah, "Noah makes a role beyond his own", "PERMISSION_DENIED",
		&v1.CreateRoleRequest{Role: &v1.Role{Name: "more", Permissions: []string{"audit.read"}}},
	)
	check := func(permission string) *v1.CheckAccessRequest {
		return &v1.CheckAccessRequest{Who: &v1.CheckAccessRequest_MemberId{MemberId: s.mia.id}, Permission: permission}
	}
	s.record(s.adam, "The admin asks whether Mia may read rosters", check("booking.roster"))
	s.record(s.adam, "The admin asks whether Mia may cancel sessions", check("session.cancel"))
	s.recordError(s.adam, "The admin asks whether Mia may fly", "PERMISSION_NOT_FOUND", check("plane.fly"))
	s.record(
		s.adam, "The admin asks about a subject",
		&v1.CheckAccessRequest{Who: &v1.CheckAccessRequest_Subject{Subject: "ivan"}, Permission: "booking.create"},
	)
	s.record(s.adam, "The admin asks about the partner", &v1.CheckAccessRequest{
		Who: &v1.CheckAccessRequest_ServiceAccountId{ServiceAccountId: s.portal.id}, Permission: "booking.hold_for_others",
	})
	s.recordError(s.adam, "The admin asks about an unknown member", "MEMBER_NOT_FOUND",
		&v1.CheckAccessRequest{Who: &v1.CheckAccessRequest_MemberId{MemberId: absentID}, Permission: "booking.create"})
	s.recordError(s.adam, "The admin asks about no account", "SERVICE_ACCOUNT_NOT_FOUND",
		&v1.CheckAccessRequest{
			Who: &v1.CheckAccessRequest_ServiceAccountId{ServiceAccountId: absentID}, Permission: "booking.create",
		})
	s.record(s.adam, "The admin takes the role from Mia", revoke(s.mia.id, "greeter"))
	s.record(s.adam, "The admin takes it again", revoke(s.mia.id, "greeter"))
	s.recordError(s.mia, "Mia reads a roster no more", "PERMISSION_DENIED", &v1.ListRosterRequest{SessionId: class})
	s.record(s.adam, "The admin deletes the role", &v1.DeleteRoleRequest{Role: "greeter"})
	s.recordError(s.adam, "The admin deletes it again", "ROLE_NOT_FOUND", &v1.DeleteRoleRequest{Role: "greeter"})
}

func recordOwnership(s *studio) {
	transfer := &v1.TransferOwnershipRequest{MemberId: s.tom.id}
	s.recordError(s.adam, "The admin transfers ownership", "PERMISSION_DENIED", transfer)
	s.recordError(
		s.olga, "The owner transfers ownership to herself", "INVALID_FIELD", &v1.TransferOwnershipRequest{MemberId: s.olga.id},
	)
	first := recordResponse[*v1.TransferOwnershipResponse](s.recording, s.olga, "The owner offers ownership to Tom", transfer)
	s.record(s.tom, "Tom sees it", &v1.ListOwnershipTransfersRequest{})
	s.record(s.mia, "Mia does not", &v1.ListOwnershipTransfersRequest{})
	s.recordError(s.mia, "Mia confirms it", "OWNERSHIP_TRANSFER_NOT_FOUND",
		&v1.ConfirmOwnershipTransferRequest{TransferId: first.GetTransfer().GetId()})
	s.record(s.tom, "Tom declines", &v1.CancelOwnershipTransferRequest{TransferId: first.GetTransfer().GetId()})
	again := recordResponse[*v1.TransferOwnershipResponse](s.recording, s.olga, "The owner offers it again", transfer)
	s.record(s.tom, "Tom confirms", &v1.ConfirmOwnershipTransferRequest{TransferId: again.GetTransfer().GetId()})
	back := recordResponse[*v1.TransferOwnershipResponse](
		s.recording, s.tom, "Tom offers it to Olga", &v1.TransferOwnershipRequest{MemberId: s.olga.id},
	)
	s.record(s.olga, "Olga confirms", &v1.ConfirmOwnershipTransferRequest{TransferId: back.GetTransfer().GetId()})
	s.record(s.olga, "Olga takes the role of admin from Tom", &v1.RevokeRoleRequest{MemberId: s.tom.id, Role: "admin"})
	s.recordError(s.olga, "The owner asks for a sign-in that her token does not state", "STEP_UP_REQUIRED",
		&v1.UpdateTenantRequest{
			Tenant:     &v1.Tenant{StepUp: &v1.StepUp{MaxAge: durationpb.New(5 * time.Minute)}},
			UpdateMask: paths("step_up"),
		})
}

func recordAccounts(s *studio) {
	s.startAt(on(5, "10:10"))
	create := &v1.CreateServiceAccountRequest{Name: "Kiosk", Description: "In the hall.", Roles: []string{"partner"}}
	created := recordResponse[*v1.CreateServiceAccountResponse](s.recording, s.adam, "The admin makes an account", create)
	id := created.GetServiceAccount().GetId()
	s.recordError(s.adam, "The admin makes the account again", "ALREADY_EXISTS", create)
	s.recordError(
		s.adam, "The admin makes an account with no role", "ROLE_NOT_FOUND",
		&v1.CreateServiceAccountRequest{Name: "Other", Roles: []string{"nobody"}},
	)
	s.recordError(s.cora, "The coach makes an account", "PERMISSION_DENIED", create)
	got := recordResponse[*v1.ExchangeKeyResponse](
		s.recording, anonymous, "The kiosk exchanges its key", &v1.ExchangeKeyRequest{Key: created.GetKey()},
	)
	kiosk := person{name: "kiosk", token: got.GetAccessToken()}
	s.record(kiosk, "The kiosk lists services", &v1.ListServicesRequest{})
	s.recordError(
		anonymous, "The kiosk exchanges its key with the other tenant", "KEY_INVALID",
		&v1.ExchangeKeyRequest{Key: created.GetKey(), TenantId: s.other},
	)
	s.recordError(
		anonymous, "A stranger exchanges a forged key", "KEY_INVALID",
		&v1.ExchangeKeyRequest{Key: "berth_forged"},
	)
	rotated := recordResponse[*v1.RotateServiceAccountKeyResponse](
		s.recording, s.adam, "The admin rotates the key", &v1.RotateServiceAccountKeyRequest{ServiceAccountId: id},
	)
	s.recordError(
		anonymous, "The kiosk exchanges its old key", "KEY_INVALID", &v1.ExchangeKeyRequest{Key: created.GetKey()},
	)
	s.record(anonymous, "The kiosk exchanges its new key", &v1.ExchangeKeyRequest{Key: rotated.GetKey()})
	s.record(
		s.adam, "The admin rotates the key with some overlap",
		&v1.RotateServiceAccountKeyRequest{ServiceAccountId: id, Overlap: durationpb.New(time.Hour)},
	)
	s.record(anonymous, "The kiosk exchanges the key before", &v1.ExchangeKeyRequest{Key: rotated.GetKey()})
	s.recordError(
		s.adam, "The admin rotates no key", "SERVICE_ACCOUNT_NOT_FOUND",
		&v1.RotateServiceAccountKeyRequest{ServiceAccountId: absentID},
	)
	s.record(s.adam, "The admin revokes the account", &v1.RevokeServiceAccountRequest{ServiceAccountId: id})
	s.record(s.adam, "The admin revokes it again", &v1.RevokeServiceAccountRequest{ServiceAccountId: id})
	s.recordError(kiosk, "The kiosk lists services no more", "PERMISSION_DENIED", &v1.ListServicesRequest{})
	s.recordError(
		s.adam, "The admin rotates a revoked key", "SERVICE_ACCOUNT_NOT_FOUND",
		&v1.RotateServiceAccountKeyRequest{ServiceAccountId: id},
	)
	s.record(s.adam, "The admin lists accounts", &v1.ListServiceAccountsRequest{})
	page := recordResponse[*v1.ListServiceAccountsResponse](
		s.recording, s.adam, "The admin lists one account, revoked or not",
		&v1.ListServiceAccountsRequest{IncludeRevoked: true, PageSize: 1},
	)
	s.record(
		s.adam, "The admin lists the next account",
		&v1.ListServiceAccountsRequest{IncludeRevoked: true, PageSize: 1, PageToken: page.GetNextPageToken()},
	)
}
