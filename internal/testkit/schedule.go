package testkit

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// Evening is tomorrow at six in the evening, in Berlin.
var Evening = time.Date(2026, 3, 17, 17, 0, 0, 0, time.UTC)

// SessionInput is what it takes to make an ordinary session.
func (h *House) SessionInput(starts time.Time) session.Input {
	return session.Input{Service: h.Service, Location: h.Location, StartsAt: starts}
}

// CreateSession makes a session through the front door.
func (h *House) CreateSession(in session.Input, publish bool) session.Session {
	h.T.Helper()
	s, err := h.App.Schedules.CreateSession(context.Background(), h.Owner, in, publish)
	if err != nil {
		h.T.Fatalf("create session: %v", err)
	}
	return s
}

// GetSession reads a session as the owner.
func (h *House) GetSession(id tenant.SessionID) session.Session {
	h.T.Helper()
	s, err := h.App.Schedules.GetSession(context.Background(), h.Owner, id)
	if err != nil {
		h.T.Fatalf("get session: %v", err)
	}
	return s.Session
}

// SessionEvents lists the types of a session's events in order.
func (h *House) SessionEvents(id tenant.SessionID) string {
	h.T.Helper()
	return h.QueryText(`select coalesce(string_agg(type, ' ' order by xid, id), '') from events where tenant_id = $1 and session_id = $2`, h.Tenant, id)
}

// QueryText runs a query for one text as the owner of the tables.
func (h *House) QueryText(sql string, args ...any) string {
	h.T.Helper()
	var text string
	if err := h.DB.Owner.QueryRow(context.Background(), sql, args...).Scan(&text); err != nil {
		h.T.Fatalf("%s: %v", sql, err)
	}
	return text
}

// LastAudit gives the changes of the last audit entry of an action.
func (h *House) LastAudit(action string) map[string]any {
	h.T.Helper()
	var changes map[string]any
	text := h.QueryText(`select changes::text from audit_entries where tenant_id = $1 and action = $2 order by id desc limit 1`, h.Tenant, action)
	if err := json.Unmarshal([]byte(text), &changes); err != nil {
		h.T.Fatal(err)
	}
	return changes
}

// FaultOf is the fault in an error; nil if there is none.
func FaultOf(err error) *fault.Error {
	f, _ := errors.AsType[*fault.Error](err)
	return f
}
