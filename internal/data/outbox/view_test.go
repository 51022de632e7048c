package outbox_test

import (
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/tenant"
)

// Events of drafts are for staff only. The event that a session became a draft is for everyone.
func TestReader_SeesDraftsOnlyAsStaff(t *testing.T) {
	t.Parallel()
	draft := func(eventType outbox.Type) *outbox.Record {
		r := &outbox.Record{Event: outbox.Event{Type: eventType}}
		r.To.Draft = true
		return r
	}
	records := []*outbox.Record{
		draft(outbox.SessionCreated), draft(outbox.SessionUpdated), draft(outbox.SessionUnpublished),
		draft(outbox.SessionDeleted),
	}
	for role, want := range map[string]int{tenant.RoleCoach: len(records), tenant.RolePartner: 1, tenant.RoleMember: 1} {
		caller := outbox.Reader{
			Caller: tenant.Caller{Roles: []string{role}}, May: map[string]bool{"session.read": true, "member.read": true},
		}
		seen := caller.See(outbox.Filter{}, records)
		test.EqOp(t, want, len(seen), test.Sprint(role))
	}
}

// What changes seats tells about both sessions of a move, except drafts and sessions without a limit.
func TestRecord_SeatsChanged(t *testing.T) {
	t.Parallel()
	to, from := tenant.New[tenant.SessionID](noon), tenant.New[tenant.SessionID](noon)
	for _, c := range []struct {
		name string
		edit func(*outbox.Record)
		want map[tenant.SessionID]int
	}{
		{"moved", func(*outbox.Record) {}, map[tenant.SessionID]int{to: 1, from: 3}},
		{"from a draft", func(r *outbox.Record) { r.From.Draft = true }, map[tenant.SessionID]int{to: 1}},
		{"to an unlimited session", func(r *outbox.Record) { r.To.SeatsOpen = nil }, map[tenant.SessionID]int{from: 3}},
		{"a reminder", func(r *outbox.Record) { r.Type = outbox.BookingReminderDue }, map[tenant.SessionID]int{}},
	} {
		r := &outbox.Record{Event: event("moved"), FromSession: from, Context: outbox.Context{
			To: outbox.SessionContext{SeatsOpen: new(1)}, From: outbox.SessionContext{SeatsOpen: new(3)},
		}}
		r.Type, r.Session = outbox.BookingRescheduled, to
		c.edit(r)
		got := make(map[tenant.SessionID]int)
		ids := map[tenant.EventID]bool{r.ID: true}
		for _, s := range r.SeatsChanged() {
			got[s.Session], _ = s.Data[outbox.SeatsOpenKey].(int)
			test.False(t, ids[s.ID], test.Sprint("an id of its own"))
			ids[s.ID] = true
		}
		test.Eq(t, c.want, got, test.Sprint(c.name))
	}
}
