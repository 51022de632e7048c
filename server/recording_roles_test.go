package main

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Roles, role assignments, and service accounts.
func rolesScript() script {
	return script{
		roleEditsScript(),
		assignmentsScript(),
		accountsScript(),
	}
}

func roleEditsScript() script {
	greeter := &v1.CreateRoleRequest{Name: "greeter", Role: &v1.RoleInput{
		Title: "Greeter", Description: "Says hello.", Permissions: []string{"checkin.staff", "session.read"},
	}}
	rename := func(name, title string) *v1.UpdateRoleRequest {
		return &v1.UpdateRoleRequest{Name: name, Role: &v1.RoleInput{Title: title}, UpdateMask: paths("title")}
	}
	change := &v1.UpdateRoleRequest{
		Name: "greeter", Role: &v1.RoleInput{Title: "Host", Permissions: []string{"session.read", "booking.roster"}},
		UpdateMask: paths("title", "permissions"), Etag: "$created.role.etag",
	}
	return script{
		cora.calls("The coach lists permissions", &v1.ListPermissionsRequest{}),
		mia.refused("Mia lists permissions", "PERMISSION_DENIED", &v1.ListPermissionsRequest{}),
		adam.calls("The admin makes a role", greeter).as("created"),
		adam.refused("The admin makes it again", "ALREADY_EXISTS", greeter),
		adam.refused("The admin makes a role that flies", "PERMISSION_NOT_FOUND",
			&v1.CreateRoleRequest{Name: "pilot", Role: &v1.RoleInput{Permissions: []string{"plane.fly"}}}),
		adam.refused("The admin's role has a bad name", "INVALID_FIELD",
			&v1.CreateRoleRequest{Name: "No Name"}),
		adam.calls("The admin edits the role", change),
		adam.refused("The admin edits a role that has changed", "ETAG_MISMATCH", change),
		adam.refused("The admin edits what every tenant has", "ROLE_BUILT_IN",
			rename("coach", "Trainer")),
		adam.refused("The admin edits no role", "ROLE_NOT_FOUND", rename("nobody", "")),
		cora.calls("The coach reads a role", &v1.GetRoleRequest{Name: "coach"}),
		cora.refused("The coach reads no role", "ROLE_NOT_FOUND", &v1.GetRoleRequest{Name: "nobody"}),
		cora.calls("The coach lists two roles", &v1.ListRolesRequest{PageSize: 2}).as("page"),
		cora.calls("The coach lists the next two", &v1.ListRolesRequest{PageSize: 2, PageToken: "$page.nextPageToken"}),
		cora.calls("The coach lists the studio's own roles that may check in others", &v1.ListRolesRequest{
			Filter: &v1.RoleFilter{Permission: "checkin.staff", BuiltIn: new(false)},
		}),
		adam.refused("The admin deletes a role that a member has", "ROLE_IN_USE",
			&v1.DeleteRoleRequest{Name: "front_desk"}),
		adam.refused("The admin deletes what every tenant has", "ROLE_BUILT_IN", &v1.DeleteRoleRequest{Name: "member"}),
		adam.refused("The admin deletes a role that has changed", "ETAG_MISMATCH",
			&v1.DeleteRoleRequest{Name: "greeter", Etag: "v1"}),
		cora.refused("The coach deletes a role", "PERMISSION_DENIED", &v1.DeleteRoleRequest{Name: "greeter"}),
	}
}

func assignmentsScript() script {
	assign := func(caller, role string) *v1.AssignRoleRequest {
		return &v1.AssignRoleRequest{MemberId: caller, Role: role}
	}
	revoke := func(caller, role string) *v1.RevokeRoleRequest {
		return &v1.RevokeRoleRequest{MemberId: caller, Role: role}
	}
	narrow := &v1.CreateRoleRequest{
		Name: "assigner", Role: &v1.RoleInput{Permissions: []string{"role.assign", "role.write"}},
	}
	check := func(permission string) *v1.CheckAccessRequest {
		return &v1.CheckAccessRequest{Who: &v1.CheckAccessRequest_MemberId{MemberId: "$mia"}, Permission: permission}
	}
	return script{
		adam.calls("The admin makes Mia a greeter", assign("$mia", "greeter")),
		adam.calls("The admin makes Mia a greeter again", assign("$mia", "greeter")),
		class("roster", on(8, "10:00")),
		mia.calls("Mia reads a roster", &v1.GetSessionRosterRequest{SessionId: "$roster"}),
		adam.refused("The admin assigns no role", "ROLE_NOT_FOUND", assign("$mia", "nobody")),
		adam.refused("The admin assigns a role to an unknown member", "MEMBER_NOT_FOUND", assign(absentID, "greeter")),
		olga.calls("The owner has a second owner", assign("$tom", "owner")),
		tom.calls("The second owner is none any more", revoke("$tom", "owner")),
		olga.refused("The last owner gives up", "LAST_OWNER", revoke("$olga", "owner")),
		adam.refused("The admin makes an admin", "PERMISSION_DENIED", assign("$mia", "admin")),
		ownershipScript(),
		olga.calls("The owner makes a role that assigns", narrow),
		olga.calls("The owner gives it to Noah", assign("$noah", "assigner")),
		noah.refused("Noah makes an admin", "PERMISSION_DENIED", assign("$lena", "admin")),
		noah.refused("Noah makes a role beyond his own", "PERMISSION_DENIED",
			&v1.CreateRoleRequest{Name: "more", Role: &v1.RoleInput{Permissions: []string{"audit.read"}}}),
		adam.calls("The admin asks whether Mia may read rosters", check("booking.roster")),
		adam.calls("The admin asks whether Mia may cancel sessions", check("session.cancel")),
		adam.refused("The admin asks whether Mia may fly", "PERMISSION_NOT_FOUND", check("plane.fly")),
		adam.calls("The admin asks about a subject",
			&v1.CheckAccessRequest{Who: &v1.CheckAccessRequest_Subject{Subject: "ivan"}, Permission: "booking.create"}),
		adam.calls("The admin asks about the partner", &v1.CheckAccessRequest{
			Who: &v1.CheckAccessRequest_ServiceAccountId{ServiceAccountId: "$portal"}, Permission: "booking.hold_for_others",
		}),
		adam.refused("The admin asks about an unknown member", "MEMBER_NOT_FOUND",
			&v1.CheckAccessRequest{Who: &v1.CheckAccessRequest_MemberId{MemberId: absentID}, Permission: "booking.create"}),
		adam.refused("The admin asks about no account", "SERVICE_ACCOUNT_NOT_FOUND", &v1.CheckAccessRequest{
			Who: &v1.CheckAccessRequest_ServiceAccountId{ServiceAccountId: absentID}, Permission: "booking.create",
		}),
		adam.calls("The admin takes the role from Mia", revoke("$mia", "greeter")),
		adam.calls("The admin takes it again", revoke("$mia", "greeter")),
		mia.refused("Mia reads a roster no more", "PERMISSION_DENIED", &v1.GetSessionRosterRequest{SessionId: "$roster"}),
		adam.calls("The admin deletes the role", &v1.DeleteRoleRequest{Name: "greeter"}),
		adam.refused("The admin deletes it again", "ROLE_NOT_FOUND", &v1.DeleteRoleRequest{Name: "greeter"}),
	}
}

func ownershipScript() script {
	transfer := &v1.TransferOwnershipRequest{MemberId: "$tom"}
	return script{
		adam.refused("The admin transfers ownership", "PERMISSION_DENIED", transfer),
		olga.refused("The owner transfers ownership to herself", "INVALID_FIELD",
			&v1.TransferOwnershipRequest{MemberId: "$olga"}),
		olga.calls("The owner offers ownership to Tom", transfer).as("first"),
		tom.calls("Tom sees it", &v1.ListOwnershipTransfersRequest{}),
		mia.calls("Mia does not", &v1.ListOwnershipTransfersRequest{}),
		mia.refused("Mia confirms it", "OWNERSHIP_TRANSFER_NOT_FOUND",
			&v1.ConfirmOwnershipTransferRequest{TransferId: "$first.transfer.id"}),
		tom.calls("Tom declines", &v1.CancelOwnershipTransferRequest{TransferId: "$first.transfer.id"}),
		olga.calls("The owner offers it again", transfer).as("again"),
		tom.calls("Tom confirms", &v1.ConfirmOwnershipTransferRequest{TransferId: "$again.transfer.id"}),
		tom.calls("Tom offers it to Olga", &v1.TransferOwnershipRequest{MemberId: "$olga"}).as("back"),
		olga.calls("Olga confirms", &v1.ConfirmOwnershipTransferRequest{TransferId: "$back.transfer.id"}),
		olga.calls("Olga takes the role of admin from Tom", &v1.RevokeRoleRequest{MemberId: "$tom", Role: "admin"}),
		olga.refused("The owner asks for a sign-in that her token does not state", "STEP_UP_REQUIRED",
			&v1.UpdateTenantRequest{
				Tenant:     &v1.TenantInput{StepUp: &v1.StepUp{MaxAge: durationpb.New(5 * time.Minute)}},
				UpdateMask: paths("step_up"),
			}),
	}
}

func accountsScript() script {
	account := func(name, role string) *v1.CreateServiceAccountRequest {
		return &v1.CreateServiceAccountRequest{ServiceAccount: &v1.ServiceAccountInput{
			Name: name, Description: "In the hall.", Roles: []string{role},
		}}
	}
	create := account("Kiosk", "partner")
	everyStatus := &v1.ServiceAccountFilter{Statuses: []v1.ServiceAccountStatus{
		v1.ServiceAccountStatus_SERVICE_ACCOUNT_STATUS_ACTIVE, v1.ServiceAccountStatus_SERVICE_ACCOUNT_STATUS_REVOKED,
	}}
	const id, kiosk = "$created.serviceAccount.id", caller("kiosk")
	return script{
		clock(on(5, "10:10")),
		adam.calls("The admin makes an account", create).as("created"),
		adam.refused("The admin makes the account again", "ALREADY_EXISTS", create),
		adam.refused("The admin makes an account with no role", "ROLE_NOT_FOUND",
			account("Other", "nobody")),
		cora.refused("The coach makes an account", "PERMISSION_DENIED", create),
		anonymous.calls("The kiosk exchanges its key", &v1.ExchangeKeyRequest{Key: "$created.key"}).signsIn(kiosk),
		kiosk.calls("The kiosk lists services", &v1.ListServicesRequest{}),
		anonymous.refused("The kiosk exchanges its key with the other tenant", "KEY_INVALID",
			&v1.ExchangeKeyRequest{Key: "$created.key", TenantId: golfID}),
		anonymous.refused("A stranger exchanges a forged key", "KEY_INVALID", &v1.ExchangeKeyRequest{Key: "berth_forged"}),
		adam.calls("The admin rotates the key", &v1.RotateServiceAccountKeyRequest{ServiceAccountId: id}).as("rotated"),
		anonymous.refused("The kiosk exchanges its old key", "KEY_INVALID", &v1.ExchangeKeyRequest{Key: "$created.key"}),
		anonymous.calls("The kiosk exchanges its new key", &v1.ExchangeKeyRequest{Key: "$rotated.key"}),
		adam.calls("The admin rotates the key with some overlap",
			&v1.RotateServiceAccountKeyRequest{ServiceAccountId: id, Overlap: durationpb.New(time.Hour)}),
		anonymous.calls("The kiosk exchanges the key before", &v1.ExchangeKeyRequest{Key: "$rotated.key"}),
		adam.refused("The admin rotates no key", "SERVICE_ACCOUNT_NOT_FOUND",
			&v1.RotateServiceAccountKeyRequest{ServiceAccountId: absentID}),
		adam.calls("The admin revokes the account", &v1.RevokeServiceAccountRequest{ServiceAccountId: id}),
		adam.calls("The admin revokes it again", &v1.RevokeServiceAccountRequest{ServiceAccountId: id}),
		kiosk.refused("The kiosk lists services no more", "PERMISSION_DENIED", &v1.ListServicesRequest{}),
		adam.refused("The admin rotates a revoked key", "SERVICE_ACCOUNT_NOT_FOUND",
			&v1.RotateServiceAccountKeyRequest{ServiceAccountId: id}),
		adam.calls("The admin reads the account", &v1.GetServiceAccountRequest{ServiceAccountId: id}),
		cora.refused("The coach reads the account", "PERMISSION_DENIED", &v1.GetServiceAccountRequest{ServiceAccountId: id}),
		adam.refused("The admin reads no account", "SERVICE_ACCOUNT_NOT_FOUND",
			&v1.GetServiceAccountRequest{ServiceAccountId: absentID}),
		adam.calls("The admin lists accounts", &v1.ListServiceAccountsRequest{}),
		adam.calls("The admin lists one account, revoked or not",
			&v1.ListServiceAccountsRequest{Filter: everyStatus, PageSize: 1}).as("page"),
		adam.calls("The admin lists the next account",
			&v1.ListServiceAccountsRequest{Filter: everyStatus, PageSize: 1, PageToken: "$page.nextPageToken"}),
	}
}
