package main

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Reading the audit log.
func auditScript() script {
	return script{
		class("evening", on(7, "18:00")),
		mia.books("$evening").as("b"),
		adam.calls("The admin blocks the session", &v1.BlockSessionRequest{SessionId: "$evening", Reason: "Wet."}),
		adam.calls("The admin cancels Mia's booking",
			&v1.CancelBookingRequest{BookingId: "$b.booking.id", Reason: "Wet."}),
		olga.calls("The owner makes Tom a coach", &v1.AssignRoleRequest{MemberId: "$tom", Role: "coach"}),
		olga.calls("The owner renames the center",
			&v1.UpdateLocationRequest{
				LocationId: "$center", Location: &v1.LocationInput{Name: "Middle"}, UpdateMask: paths("name"),
			}),
		adam.calls("The admin cancels all sessions",
			&v1.BulkCancelSessionsRequest{Filter: &v1.SessionFilter{StartsWithin: week()}}).as("batch"),
		otto.calls("The other owner renames the tenant",
			&v1.UpdateTenantRequest{Tenant: &v1.TenantInput{Name: "Hillside"}, UpdateMask: paths("name")}),
		adam.calls("The admin reads what he did", &v1.ListAuditEntriesRequest{Filter: &v1.AuditEntryFilter{
			ActorId: "$adam",
		}}),
		adam.calls("The admin reads of blocked sessions", &v1.ListAuditEntriesRequest{Filter: &v1.AuditEntryFilter{
			Action: "session.blocked", TargetKind: "session", TargetId: "$evening",
		}}),
		adam.calls("The admin reads of the batch", &v1.ListAuditEntriesRequest{Filter: &v1.AuditEntryFilter{
			BatchId: "$batch.batchId",
		}}),
		adam.calls("The admin reads what the system did", &v1.ListAuditEntriesRequest{Filter: &v1.AuditEntryFilter{
			ActorKind: v1.ActorKind_ACTOR_KIND_SYSTEM, OccurredWithin: week(),
		}}),
		adam.calls("The admin reads two entries of June",
			&v1.ListAuditEntriesRequest{Filter: &v1.AuditEntryFilter{OccurredWithin: week()}, PageSize: 2}).as("page"),
		adam.calls("The admin reads the next two", &v1.ListAuditEntriesRequest{
			Filter: &v1.AuditEntryFilter{OccurredWithin: week()}, PageSize: 2, PageToken: "$page.nextPageToken",
		}),
		cora.refused("The coach reads the log", "PERMISSION_DENIED", &v1.ListAuditEntriesRequest{}),
		adam.refused("The admin reads of an action that is none", "INVALID_FIELD",
			&v1.ListAuditEntriesRequest{Filter: &v1.AuditEntryFilter{Action: "Session Blocked"}}),
	}
}
