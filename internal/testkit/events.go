package testkit

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/housekeeping"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// SessionEvents lists the types of a session's events in order.
func (s *Studio) SessionEvents(id tenant.SessionID) string {
	s.T.Helper()
	return s.Text(`select coalesce(string_agg(type, ' ' order by xid, id), '') from events
		where tenant_id = $1 and session_id = $2`, s.Tenant, id)
}

// BookingEvents lists the types of a booking's events in order, each with who caused it.
func (s *Studio) BookingEvents(id tenant.BookingID) string {
	s.T.Helper()
	return s.Text(`select string_agg(type || ' ' ||
			case actor when $3 then 'coach' when 'system' then actor else 'member' end, ', ' order by xid, id)
		from events where tenant_id = $1 and booking_id = $2`, s.Tenant, id, s.Coach.Actor())
}

// LastEvent returns the data and facts of the latest event of a type, and what it is about. It is not read like a
// watcher, which waits for the transactions of all others on the server.
func (s *Studio) LastEvent(of event.Type) outbox.Event {
	s.T.Helper()
	var text []byte
	var e outbox.Event
	s.NoError(s.DB.Owner.QueryRow(context.Background(), `select data, session_id, booking_id, member_id, actor from events
		where tenant_id = $1 and type = $2 order by xid desc, id desc limit 1`, s.Tenant, string(of)).
		Scan(&text, &e.Session, &e.Booking, &e.Member, &e.Actor))
	e.Data = expect.Value(event.Decode(of, text))(s.T)
	about := struct {
		Entry *tenant.EntryID `json:"entry_id"`
		Offer *tenant.OfferID `json:"offer_id"`
		*event.Facts
	}{&e.Entry, &e.Offer, &e.Facts}
	s.NoError(json.Unmarshal(text, &about))
	return e
}

// CatalogEvents counts the events about the tenant's catalog since Noon.
func (s *Studio) CatalogEvents() int {
	s.T.Helper()
	return s.Count(`select count(*) from events
		where tenant_id = $1 and type = 'catalog.changed' and occurred_at >= $2`, s.Tenant, Noon)
}

// Audited returns the actions in the tenant's audit log since Noon, the oldest first.
func (s *Studio) Audited() []string {
	s.T.Helper()
	entries := expect.Value(s.App.Accounts.ListAuditEntries(
		context.Background(), s.Owner, accounts.AuditQuery{From: Noon, Limit: 1000},
	))(s.T)
	slices.Reverse(entries)
	actions := make([]string, len(entries))
	for i, e := range entries {
		actions[i] = e.Action
	}
	return actions
}

// LastAudit returns the changes of the last audit entry of an action.
func (s *Studio) LastAudit(action string) map[string]any {
	s.T.Helper()
	var changes map[string]any
	s.NoError(json.Unmarshal([]byte(s.Text(`select changes::text from audit_entries
		where tenant_id = $1 and action = $2 order by id desc limit 1`, s.Tenant, action)), &changes))
	return changes
}

// Sweep runs the sweep of the tenant.
func (s *Studio) Sweep() housekeeping.SweepResult {
	s.T.Helper()
	done := expect.Value(s.App.Housekeeping.SweepTenant(context.Background(), s.Tenant))(s.T)
	return done
}
