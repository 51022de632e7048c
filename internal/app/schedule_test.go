package app_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// tomorrow at six in the evening, in Berlin.
var evening = time.Date(2026, 3, 17, 17, 0, 0, 0, time.UTC)

// sessionInput is what it takes to make an ordinary session.
func (h *house) sessionInput(starts time.Time) session.Input {
	return session.Input{Service: h.Service, Location: h.Location, StartsAt: starts}
}

// createSession makes a session through the front door.
func (h *house) createSession(in session.Input, publish bool) session.Session {
	h.t.Helper()
	s, err := h.app.CreateSession(context.Background(), h.Owner, in, publish)
	if err != nil {
		h.t.Fatalf("create session: %v", err)
	}
	return s
}

// getSession reads a session as the owner.
func (h *house) getSession(id tenant.SessionID) session.Session {
	h.t.Helper()
	s, err := h.app.GetSession(context.Background(), h.Owner, id)
	if err != nil {
		h.t.Fatalf("get session: %v", err)
	}
	return s.Session
}

// newResource makes a room.
func (h *house) newResource(name string) tenant.ResourceID {
	h.t.Helper()
	id := newID[tenant.ResourceID]()
	h.exec(`insert into resources (tenant_id, id, location_id, name, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)`,
		h.Tenant, id, h.Location, name, noon)
	return id
}

// sessionEvents lists the types of a session's events in order.
func (h *house) sessionEvents(id tenant.SessionID) string {
	h.t.Helper()
	return h.queryText(`select coalesce(string_agg(type, ' ' order by xid, id), '') from events where tenant_id = $1 and session_id = $2`, h.Tenant, id)
}

func (h *house) queryText(sql string, args ...any) string {
	h.t.Helper()
	var text string
	if err := h.db.Owner.QueryRow(context.Background(), sql, args...).Scan(&text); err != nil {
		h.t.Fatalf("%s: %v", sql, err)
	}
	return text
}

// lastAudit gives the changes of the last audit entry of an action.
func (h *house) lastAudit(action string) map[string]any {
	h.t.Helper()
	var changes map[string]any
	text := h.queryText(`select changes::text from audit_entries where tenant_id = $1 and action = $2 order by id desc limit 1`, h.Tenant, action)
	if err := json.Unmarshal([]byte(text), &changes); err != nil {
		h.t.Fatal(err)
	}
	return changes
}

func faultOf(err error) *fault.Error {
	f, _ := err.(*fault.Error)
	return f
}

func TestTheScheduleIsItsTenantsOwn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	there := h.another()
	ctx := context.Background()
	id := there.createSession(there.sessionInput(evening), true).ID
	for name, try := range map[string]func() error{
		"get": func() error { _, err := h.app.GetSession(ctx, h.Owner, id); return err },
		"update": func() error {
			_, _, err := h.app.UpdateSession(ctx, h.Owner, id, nil, session.Input{Title: "x"}, session.TitleField)
			return err
		},
		"publish":   func() error { _, err := h.app.PublishSession(ctx, h.Owner, id, nil); return err },
		"unpublish": func() error { _, err := h.app.UnpublishSession(ctx, h.Owner, id, nil); return err },
		"cancel":    func() error { _, err := h.app.CancelSession(ctx, h.Owner, id, "", true); return err },
		"block":     func() error { _, err := h.app.BlockSession(ctx, h.Owner, id, ""); return err },
		"unblock":   func() error { _, _, err := h.app.UnblockSession(ctx, h.Owner, id); return err },
		"workouts":  func() error { _, err := h.app.SetWorkouts(ctx, h.Owner, id, nil, nil); return err },
		"inline":    func() error { _, err := h.app.AddInlineWorkout(ctx, h.Owner, id, "x", ""); return err },
		"their workouts": func() error {
			_, err := h.app.ListSessionWorkouts(ctx, h.Owner, id)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantReason(t, try(), fault.SessionNotFound)
		})
	}
}
