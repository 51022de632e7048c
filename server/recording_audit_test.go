package main

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Reading the audit log.
func recordAudit(s *studio) {
	class := s.class("evening", on(7, "18:00"))
	b := s.book(s.mia, class)
	s.record(s.adam, "The admin blocks the session", &v1.BlockSessionRequest{SessionId: class, Reason: "Wet."})
	s.record(
		s.adam, "The admin cancels Mia's booking", &v1.AdminCancelBookingRequest{BookingId: b.GetId(), Reason: "Wet."},
	)
	s.record(s.olga, "The owner makes Tom a coach", &v1.AssignRoleRequest{MemberId: s.tom.id, Role: "coach"})
	s.record(
		s.olga, "The owner renames the center",
		&v1.UpdateLocationRequest{Location: &v1.Location{Id: s.center, Name: "Middle"}, UpdateMask: paths("name")},
	)
	batch := recordResponse[*v1.BulkCancelResponse](
		s.recording, s.adam, "The admin cancels all sessions",
		&v1.BulkCancelRequest{Filter: &v1.SessionFilter{StartsWithin: week()}},
	).GetBatchId()
	s.record(
		s.otto, "The other owner renames the tenant",
		&v1.UpdateTenantRequest{Tenant: &v1.Tenant{Name: "Hillside"}, UpdateMask: paths("name")},
	)

	s.record(s.adam, "The admin reads what he did", &v1.ListAuditEntriesRequest{ActorId: s.adam.id})
	s.record(
		s.adam, "The admin reads of blocked sessions",
		&v1.ListAuditEntriesRequest{Action: "session.blocked", TargetKind: "session", TargetId: class},
	)
	s.record(s.adam, "The admin reads of the batch", &v1.ListAuditEntriesRequest{BatchId: batch})
	s.record(
		s.adam, "The admin reads what the system did",
		&v1.ListAuditEntriesRequest{ActorKind: v1.AuditActorKind_AUDIT_ACTOR_KIND_SYSTEM, TimeRange: week()},
	)
	page := recordResponse[*v1.ListAuditEntriesResponse](
		s.recording, s.adam, "The admin reads two entries of June",
		&v1.ListAuditEntriesRequest{TimeRange: week(), PageSize: 2},
	)
	s.record(
		s.adam, "The admin reads the next two",
		&v1.ListAuditEntriesRequest{TimeRange: week(), PageSize: 2, PageToken: page.GetNextPageToken()},
	)
	s.recordError(s.cora, "The coach reads the log", "PERMISSION_DENIED", &v1.ListAuditEntriesRequest{})
	s.recordError(
		s.adam, "The admin reads of an action that is none", "INVALID_FIELD",
		&v1.ListAuditEntriesRequest{Action: "Session Blocked"},
	)
}
