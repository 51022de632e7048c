package admission

// At the end: what is counted and logged of calls that operators must know about.

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/traffic"
)

// securityEvents are the procedures whose successful calls operators count. What they did is in the audit log.
var securityEvents = map[string]string{
	berthv1connect.AccessServiceAssignRoleProcedure:                 "role_changed",
	berthv1connect.AccessServiceRevokeRoleProcedure:                 "role_changed",
	berthv1connect.AccessServiceCreateRoleProcedure:                 "role_changed",
	berthv1connect.AccessServiceUpdateRoleProcedure:                 "role_changed",
	berthv1connect.AccessServiceDeleteRoleProcedure:                 "role_changed",
	berthv1connect.AccessServiceTransferOwnershipProcedure:          "role_changed",
	berthv1connect.AccessServiceConfirmOwnershipTransferProcedure:   "role_changed",
	berthv1connect.AccessServiceCreateServiceAccountProcedure:       "service_account_changed",
	berthv1connect.AccessServiceRotateServiceAccountKeyProcedure:    "service_account_changed",
	berthv1connect.AccessServiceRevokeServiceAccountProcedure:       "service_account_changed",
	berthv1connect.InvitationServiceAcceptInvitationProcedure:       "invitation_accepted",
	berthv1connect.NotificationServiceSendTestNotificationProcedure: "test_sent",
	berthv1connect.CheckInServiceCreateDisplayLinkProcedure:         "display_link_created",
}

// security counts events of security, and logs some of those that have no tenant. Those are never rows: anyone can
// cause as many as they like.
type security struct {
	events *prometheus.CounterVec
	log    *slog.Logger
	now    func() time.Time

	lock    sync.Mutex
	logged  map[string]time.Time // by event
	omitted map[string]int       // since then
}

// sampleEvery is how often one kind of event is logged.
const sampleEvery = time.Second

func newSecurity(to prometheus.Registerer, log *slog.Logger, now func() time.Time) (*security, error) {
	events, err := traffic.SecurityEvents(to)
	if err != nil {
		return nil, err
	}
	return &security{
		events: events, log: log, now: now, logged: make(map[string]time.Time), omitted: make(map[string]int),
	}, nil
}

// called counts the outcome of a call.
func (s *security) called(ctx context.Context, procedure string, err error) {
	switch event := securityEvents[procedure]; {
	case err == nil && event != "":
		s.events.WithLabelValues(event, "").Inc()
	case procedure == berthv1connect.AccessServiceExchangeKeyProcedure && fault.ReasonOf(err) == fault.KeyInvalid:
		s.refused(ctx, "key_refused", "")
	case fault.ReasonOf(err) == fault.TenantForbidden:
		s.refused(ctx, "token_refused", "tenant")
	}
}

// refused counts a refusal of a caller without a proven tenant, and logs one in sampleEvery.
func (s *security) refused(ctx context.Context, event, reason string) {
	s.events.WithLabelValues(event, reason).Inc()
	if reason == "expired" || reason == "missing" {
		return // apps send such tokens every day
	}
	s.lock.Lock()
	now := s.now()
	due := now.Sub(s.logged[event]) >= sampleEvery
	omitted := s.omitted[event]
	if due {
		s.logged[event], s.omitted[event] = now, 0
	} else {
		s.omitted[event]++
	}
	s.lock.Unlock()
	if due {
		call := request.CallFrom(ctx)
		s.log.LogAttrs(ctx, slog.LevelWarn, "refused",
			slog.String("event", event), slog.String("reason", reason), slog.String("request_id", call.ID),
			slog.String("address", addressOf(call)), slog.String("client", call.Program), slog.Int("omitted", omitted))
	}
}
